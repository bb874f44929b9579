/* test_dsr_frames.c: frames that are not the plain ones: of the MTU and above,
 * with checksums still to come, with VLAN tags, fragments, and what routers say
 * about answers that are too big for a link. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrnet.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

static struct net_fixture fixture;
static struct dsrnet net;

/* Streams both ways, through both servers. */
static const char PACKET[] = "-Odsr_fast_path off";

static void
expect_streams(const char *vip)
{
	size_t n = (size_t)suite_amount(8 << 20, 1 << 20);
	unsigned i;
	int near, far;

	dsrnet_begin(&net, &fixture, vip, SOCK_STREAM);
	for (i = 0; i < 2; i++) {
		dsrnet_connect(&net, &near, &far);
		dsrnet_pass(near, far, n);
		dsrnet_pass(far, near, n);
		close(near);
		close(far);
	}
	if (net.option != NULL && fixture.is.offload)
		ck_assert_int_gt(
		    report_number(dsrpen_ask(&net.pen, "dsr"), "link_merged"),
		    0);
	dsrnet_end(&net);
}

START_TEST(uploads4)
{
	static const struct net_fixture_options two = { .servers = 2 };

	NEED_DSR();
	NEED_NET_FIXTURE(&fixture, &two);
	expect_streams(NET_FIXTURE_VIP4);
}
END_TEST

START_TEST(uploads6)
{
	static const struct net_fixture_options two = { .servers = 2 };

	NEED_DSR_OF_OURS("IPv6");
	NEED_NET_FIXTURE(&fixture, &two);
	expect_streams(NET_FIXTURE_VIP6);
}
END_TEST

/* As between virtual machines of one host: what the client sends has no
 * checksum, and reaches packet sockets in pieces of up to 64 KiB. */
static void
expect_offloads(const char *vip, const char *link)
{
	static const struct net_fixture_options offloads = { .servers = 2,
		.offload = true };

	NEED_NET_FIXTURE(&fixture, &offloads);
	net.option = link;
	expect_streams(vip);
	net.option = NULL;
}

START_TEST(offloads4)
{
	NEED_DSR_OF_OURS("offloads");
	expect_offloads(NET_FIXTURE_VIP4, NULL);
}
END_TEST

START_TEST(offloads6)
{
	NEED_DSR_OF_OURS("IPv6");
	expect_offloads(NET_FIXTURE_VIP6, NULL);
}
END_TEST

START_TEST(merged4)
{
	NEED_DSR_OF_OURS("offloads");
	expect_offloads(NET_FIXTURE_VIP4, PACKET);
}
END_TEST

START_TEST(merged6)
{
	NEED_DSR_OF_OURS("IPv6");
	expect_offloads(NET_FIXTURE_VIP6, PACKET);
}
END_TEST

static const struct net_fixture_options tags = { .servers = 2, .vlan = 42 };

START_TEST(tags4)
{
	NEED_DSR_OF_OURS("VLANs");
	NEED_NET_FIXTURE(&fixture, &tags);
	expect_streams(NET_FIXTURE_VIP4);
}
END_TEST

START_TEST(tags6)
{
	NEED_DSR_OF_OURS("VLANs");
	NEED_NET_FIXTURE(&fixture, &tags);
	expect_streams(NET_FIXTURE_VIP6);
}
END_TEST

/* The router's "too big" goes to the VIP, and must find the server that has
 * sent what was. */
static const struct net_fixture_options narrow = { .servers = 2,
	.router = true };

START_TEST(narrow_link4)
{
	NEED_DSR_OF_OURS("path MTU discovery");
	NEED_NET_FIXTURE(&fixture, &narrow);
	expect_streams(NET_FIXTURE_VIP4);
}
END_TEST

START_TEST(narrow_link6)
{
	NEED_DSR_OF_OURS("IPv6");
	NEED_NET_FIXTURE(&fixture, &narrow);
	expect_streams(NET_FIXTURE_VIP6);
}
END_TEST

/* All pieces of a datagram must be at one server, and at the one that the
 * client has already. */
static void
expect_fragments(const char *vip)
{
	static const struct net_fixture_options three = { .servers = 3 };
	unsigned i, k, server;
	int near;

	NEED_NET_FIXTURE(&fixture, &three);
	dsrnet_begin(&net, &fixture, vip, SOCK_DGRAM);
	for (i = 0; i < 6; i++) {
		near = dsrnet_dial(&net);
		server = dsrnet_echo(&net, near, 4000, 4000);
		for (k = 0; k < 3; k++)
			ck_assert_uint_eq(
			    dsrnet_echo(&net, near, k == 1 ? 10 : 9000, 4000),
			    server);
		close(near);
	}
	dsrnet_end(&net);
}

START_TEST(fragments4)
{
	NEED_DSR_OF_OURS("fragments");
	expect_fragments(NET_FIXTURE_VIP4);
}
END_TEST

START_TEST(fragments6)
{
	NEED_DSR_OF_OURS("IPv6");
	expect_fragments(NET_FIXTURE_VIP6);
}
END_TEST

/* The fragments of one datagram of 3,000 bytes from that port, the last one
 * first, in headers of our own. */
enum { DATA = 3000, PART = 1400, HEAD6 = 48, HEAD4 = 20 };

static unsigned char datagram[8 + DATA];

static size_t
write_head(unsigned char *p, bool v6, const void *from, const void *to,
    unsigned id, size_t at, size_t n)
{
	bool more = at + n < sizeof(datagram);

	memset(p, 0, HEAD6);
	if (v6) {
		p[0] = 0x60;
		net_fixture_put16(p + 4, (unsigned)(8 + n));
		p[6] = 44;
		p[7] = 64;
		memcpy(p + 8, from, 16);
		memcpy(p + 24, to, 16);
		p[40] = 17;
		net_fixture_put16(p + 42, (unsigned)at | more);
		net_fixture_put16(p + 46, id);
		return HEAD6;
	}
	p[0] = 0x45;
	net_fixture_put16(p + 2, (unsigned)(HEAD4 + n));
	net_fixture_put16(p + 4, id);
	net_fixture_put16(p + 6, (more ? 0x2000u : 0) | (unsigned)at / 8);
	p[8] = 64;
	p[9] = 17;
	memcpy(p + 12, from, 4);
	memcpy(p + 16, to, 4);
	return HEAD4;
}

/* With the sum of its pseudo header; all content is zero. */
static void
write_datagram(
    bool v6, const unsigned char *from, const unsigned char *to, unsigned port)
{
	unsigned char sum[36 + 8] = { 0 };
	size_t width = v6 ? 16 : 4;

	memset(datagram, 0, sizeof(datagram));
	net_fixture_put16(datagram, port);
	net_fixture_put16(datagram + 2, DSRNET_PORT);
	net_fixture_put16(datagram + 4, sizeof(datagram));
	memcpy(sum, from, width);
	memcpy(sum + width, to, width);
	net_fixture_put16(sum + 2 * width, 17);
	net_fixture_put16(sum + 2 * width + 2, sizeof(datagram));
	memcpy(sum + 2 * width + 4, datagram, 8);
	net_fixture_put16(
	    datagram + 6, net_fixture_sum(sum, 2 * width + 4 + 8));
}

static void
send_backwards(int raw, bool v6, const char *vip, unsigned port)
{
	unsigned char from[16], to[16], packet[HEAD6 + PART];
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	size_t at, n, head;

	inet_pton(
	    v6 ? AF_INET6 : AF_INET, v6 ? "fd00:64::1" : "192.168.100.1", from);
	inet_pton(v6 ? AF_INET6 : AF_INET, vip, to);
	memcpy(&in.sin_addr, to, 4);
	memcpy(&in6.sin6_addr, to, 16);
	write_datagram(v6, from, to, port);
	for (at = sizeof(datagram) / PART * PART;; at -= PART) {
		n = sizeof(datagram) - at < PART ? sizeof(datagram) - at : PART;
		head = write_head(packet, v6, from, to, port, at, n);
		memcpy(packet + head, datagram + at, n);
		ck_assert_int_eq(sendto(raw, packet, head + n, 0,
				     v6 ? (void *)&in6 : (void *)&in,
				     v6 ? sizeof(in6) : sizeof(in)),
		    (ssize_t)(head + n));
		if (at == 0)
			return;
	}
}

/* Also a ping's: by what is remembered, or by a hash of the address. */
static void
expect_backwards(bool v6, const char *option, bool by_address)
{
	static const struct net_fixture_options three = { .servers = 3 };
	static char got[DATA + 1];
	const char *vip = net_fixture_vip(v6);
	unsigned i, server, first = 0;
	int raw;

	NEED_NET_FIXTURE(&fixture, &three);
	net.option = option;
	dsrnet_begin(&net, &fixture, vip, SOCK_DGRAM);
	net.option = NULL;
	net_fixture_enter(&fixture, NET_FIXTURE_CLIENT);
	raw = socket(v6 ? AF_INET6 : AF_INET, SOCK_RAW, IPPROTO_RAW);
	net_fixture_leave(&fixture);
	ck_assert_int_ge(raw, 0);
	for (i = 0; i < 12; i++) {
		send_backwards(raw, v6, vip, 40000 + i);
		server = dsrnet_wait(&net);
		ck_assert_int_eq(
		    recv(net.at[server], got, sizeof(got), 0), DATA);
		if (i == 0)
			first = server;
		else if (by_address)
			ck_assert_uint_eq(server, first);
		else
			ck_assert_uint_eq(server, (first + i) % 3);
	}
	ck_assert_int_eq(
	    report_number(dsrpen_ask(&net.pen, "dsr"), "dropped_fragment "), 0);
	close(raw);
	dsrnet_end(&net);
}

START_TEST(fragments_backwards)
{
	NEED_DSR_OF_OURS("fragments");
	expect_backwards(_i == 1, NULL, false);
}
END_TEST

START_TEST(fragments_by_address)
{
	NEED_DSR_OF_OURS("fragments");
	expect_backwards(_i == 1, "-Odsr_flows 0; no roundrobin; hash", true);
}
END_TEST

/* ---- echo ---- */

static int echo;
static struct sockaddr_storage echo_to;

static void
open_echo(bool v6)
{
	struct sockaddr_in6 *in6 = (void *)&echo_to;
	struct sockaddr_in *in = (void *)&echo_to;

	memset(&echo_to, 0, sizeof(echo_to));
	echo_to.ss_family = v6 ? AF_INET6 : AF_INET;
	ck_assert_int_eq(
	    inet_pton(echo_to.ss_family, net_fixture_vip(v6),
		v6 ? (void *)&in6->sin6_addr : (void *)&in->sin_addr),
	    1);
	net_fixture_enter(&fixture, NET_FIXTURE_CLIENT);
	echo = socket(echo_to.ss_family, SOCK_RAW | SOCK_CLOEXEC,
	    v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
	net_fixture_leave(&fixture);
	ck_assert_int_ge(echo, 0);
}

/* An echo request of n bytes, all zero but the type, a number and the sum
 * (RFC 1071), which for IPv6 is the kernel's. */
static void
send_echo(bool v6, unsigned number, size_t n)
{
	static uint8_t m[9000];
	unsigned sum = ~(0x800 + number);

	m[0] = v6 ? 128 : 8;
	m[2] = (uint8_t)(sum >> 8);
	m[3] = (uint8_t)sum;
	m[7] = (uint8_t)number;
	ck_assert_int_eq(
	    sendto(echo, m, n, 0, (struct sockaddr *)&echo_to,
		v6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in)),
	    n);
}

/* Whether the whole answer to it has come; the header of IPv4 comes, too. */
static bool
is_echoed(bool v6, unsigned number, size_t n)
{
	static uint8_t m[10000];
	const uint8_t *icmp = v6 ? m : m + 20;
	ssize_t got;

	while ((got = recv(echo, m, sizeof(m), MSG_DONTWAIT)) > 0)
		if (icmp[0] == (v6 ? 129 : 0) && icmp[7] == number)
			return (size_t)got == n + (v6 ? 0 : 20);
	return false;
}

/* The pieces of each request are at one server; the next one has another. */
static void
expect_echo(bool v6)
{
	static const struct net_fixture_options three = { .servers = 3 };
	static const size_t sizes[] = { 64, 1473 + 8, 4000, 9000 };
	unsigned i;

	NEED_NET_FIXTURE(&fixture, &three);
	dsrnet_begin(&net, &fixture, net_fixture_vip(v6), SOCK_DGRAM);
	open_echo(v6);
	for (i = 0; i < 12; i++) {
		send_echo(v6, i, sizes[i % 4]);
		WAIT_FOR(is_echoed(v6, i, sizes[i % 4]), 5000);
	}
	close(echo);
	dsrnet_end(&net);
}

START_TEST(echo4)
{
	NEED_DSR_OF_OURS("fragments");
	expect_echo(false);
}
END_TEST

START_TEST(echo6)
{
	NEED_DSR_OF_OURS("IPv6");
	expect_echo(true);
}
END_TEST

SUITE(test_dsr_frames)
{
	Suite *s = suite_create("dsr_frames");

	SUITE_ADD(s, uploads4, 90);
	SUITE_ADD(s, uploads6, 90);
	SUITE_ADD(s, offloads4, 90);
	SUITE_ADD(s, offloads6, 90);
	SUITE_ADD(s, merged4, 90);
	SUITE_ADD(s, merged6, 90);
	SUITE_ADD(s, tags4, 90);
	SUITE_ADD(s, tags6, 90);
	SUITE_ADD(s, narrow_link4, 90);
	SUITE_ADD(s, narrow_link6, 90);
	SUITE_ADD(s, fragments4, 90);
	SUITE_ADD(s, fragments6, 90);
	SUITE_ADD_LOOP(s, fragments_backwards, 60, 2);
	SUITE_ADD_LOOP(s, fragments_by_address, 60, 2);
	SUITE_ADD(s, echo4, 90);
	SUITE_ADD(s, echo6, 90);
	return s;
}
