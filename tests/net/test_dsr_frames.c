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
		    report_number(
			dsrpen_ask(&net.pen, &fixture, "dsr"), "link_merged"),
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
	ck_assert_int_eq(sendto(echo, m, n, 0, (struct sockaddr *)&echo_to,
			     v6 ? sizeof(struct sockaddr_in6)
				: sizeof(struct sockaddr_in)),
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
	SUITE_ADD(s, echo4, 90);
	SUITE_ADD(s, echo6, 90);
	return s;
}
