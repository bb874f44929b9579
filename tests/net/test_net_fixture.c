/* test_net_fixture.c: the fixture itself: cables, addresses, MTUs, tags, its
 * end. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/netframe.h"
#include "support/net_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

static struct net_fixture fixture;
static struct net_fixture_tap tap;

/* A connection from the client to a server, which sends that many bytes. */
static void
expect_bytes(const char *ip, enum net_fixture_place server, size_t n)
{
	int listener = net_fixture_listen(&fixture, server, SOCK_STREAM, ip, 7);
	int near = net_fixture_dial(
		&fixture, NET_FIXTURE_CLIENT, SOCK_STREAM, ip, 7),
	    far;
	static char bytes[100000];
	ssize_t got;

	WAIT_FOR(net_fixture_is_connected(near), 5000);
	WAIT_FOR(net_fixture_is_readable(listener), 5000);
	far = accept(listener, NULL, NULL);
	ck_assert_int_eq(send(far, bytes, n, 0), (int)n);
	for (; n > 0; n -= (size_t)got) {
		WAIT_FOR(net_fixture_is_readable(near), 5000);
		got = recv(near, bytes, sizeof(bytes), 0);
		ck_assert_int_gt(got, 0);
	}
	close(far);
	close(near);
	close(listener);
}

static void
expect_talk(const char *ip, enum net_fixture_place server)
{
	expect_bytes(ip, server, 5);
}

static void
expect_hosts_talk(void)
{
	unsigned i;

	for (i = 0; i < fixture.is.servers; i++) {
		expect_talk(net_fixture_server4(i), NET_FIXTURE_SERVER + i);
		expect_talk(net_fixture_server6(i), NET_FIXTURE_SERVER + i);
	}
}

START_TEST(hosts_talk)
{
	struct net_fixture_options o = { .servers = 4, .two_directors = true };
	struct net_fixture_counters before, after;

	NEED_NET_FIXTURE(&fixture, &o);
	before = net_fixture_counters(&fixture, NET_FIXTURE_SERVER + 3, "eth0");
	expect_hosts_talk();
	after = net_fixture_counters(&fixture, NET_FIXTURE_SERVER + 3, "eth0");
	ck_assert_uint_ge(after.rx_packets, before.rx_packets + 8);
	ck_assert_uint_ge(after.tx_bytes, before.tx_bytes + 8 * 54);
	net_fixture_down(&fixture);
}
END_TEST

START_TEST(hosts_talk_over_own_switch)
{
	struct net_fixture_options o = { .servers = 2, .own_switch = true };

	NEED_NET_FIXTURE(&fixture, &o);
	expect_hosts_talk();
	net_fixture_down(&fixture);
}
END_TEST

START_TEST(servers_hide_vips)
{
	static const char *const vips[] = { NET_FIXTURE_VIP4, NET_FIXTURE_VIP6,
		NET_FIXTURE_VIP4_B, NET_FIXTURE_VIP6_B };
	struct net_fixture_options o = { .servers = 2 };
	uint8_t mac[6], want[6];
	unsigned i;

	NEED_NET_FIXTURE(&fixture, &o);
	net_fixture_tap(&tap, &fixture, NET_FIXTURE_CLIENT, "eth0");
	for (i = 0; i < 4; i++)
		ck_assert(!net_fixture_who_has(
		    &tap, NET_FIXTURE_CLIENT, vips[i], mac));
	/* Whoever answered this has had the others before. */
	net_fixture_mac(NET_FIXTURE_SERVER + 1, want);
	WAIT_FOR(net_fixture_who_has(
		     &tap, NET_FIXTURE_CLIENT, net_fixture_server4(1), mac),
	    5000);
	ck_assert_mem_eq(mac, want, 6);
	WAIT_FOR(net_fixture_who_has(
		     &tap, NET_FIXTURE_CLIENT, net_fixture_server6(1), mac),
	    5000);
	ck_assert_mem_eq(mac, want, 6);
	for (i = 0; i < 4; i++)
		ck_assert(!net_fixture_who_has(
		    &tap, NET_FIXTURE_CLIENT, vips[i], mac));
	net_fixture_tap_close(&tap);
	net_fixture_down(&fixture);
}
END_TEST

/* What a director does to frames is done here by the client's own table. */
static void
point_vip(
    enum net_fixture_place who, const char *vip, enum net_fixture_place server)
{
	net_fixture_ip(&fixture, who,
	    text("neigh replace %s dev eth0 lladdr 02:00:00:64:00:%02x\n", vip,
		server - NET_FIXTURE_SERVER + 3));
}

static void
expect_talk_to_vip(const char *vip, enum net_fixture_place server)
{
	point_vip(NET_FIXTURE_CLIENT, vip, server);
	expect_talk(vip, server);
}

START_TEST(servers_answer_for_vips)
{
	struct net_fixture_options o = { .servers = 2 };

	NEED_NET_FIXTURE(&fixture, &o);
	expect_talk_to_vip(NET_FIXTURE_VIP4, NET_FIXTURE_SERVER);
	expect_talk_to_vip(NET_FIXTURE_VIP4, NET_FIXTURE_SERVER + 1);
	expect_talk_to_vip(NET_FIXTURE_VIP6, NET_FIXTURE_SERVER);
	expect_talk_to_vip(NET_FIXTURE_VIP6_B, NET_FIXTURE_SERVER + 1);
	net_fixture_down(&fixture);
}
END_TEST

/* Sends a datagram from the client to a director, which has no address: a
 * static neighbour tells where. */
static void
send_to_director(const char *ip, size_t n)
{
	static char bytes[60000];
	int fd;

	net_fixture_ip(&fixture, NET_FIXTURE_CLIENT,
	    text("neigh replace %s dev eth0 lladdr 02:00:00:64:00:02\n", ip));
	fd = net_fixture_dial(&fixture, NET_FIXTURE_CLIENT, SOCK_DGRAM, ip, 7);
	ck_assert_int_eq(send(fd, bytes, n, 0), (int)n);
	close(fd);
}

static bool
sees_datagram(unsigned ethertype_at)
{
	const unsigned char *ip = tap.bytes + ethertype_at + 2;

	return net_fixture_tap_next(&tap) && !tap.outgoing &&
	    tap.bytes[ethertype_at] == 8 && tap.bytes[ethertype_at + 1] == 0 &&
	    ip[9] == IPPROTO_UDP;
}

START_TEST(director_sees_whole_frames)
{
	struct net_fixture_options o = { .servers = 2 };
	uint32_t sum = IPPROTO_UDP;
	const unsigned char *p;
	unsigned i, udp;

	NEED_NET_FIXTURE(&fixture, &o);
	net_fixture_tap(&tap, &fixture, NET_FIXTURE_DIRECTOR, "eth0");
	send_to_director(NET_FIXTURE_VIP4, 100);
	WAIT_FOR(sees_datagram(12), 5000);
	ck_assert_uint_eq(tap.length, 14 + 20 + 8 + 100);
	/* the checksum is in it already */
	p = tap.bytes + 14;
	udp = (unsigned)p[24] << 8 | p[25];
	for (i = 12; i < 20 + udp; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	sum += udp;
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	ck_assert_uint_eq(sum, 0xffff);
	ck_assert_uint_eq(net_fixture_tap_lost(&tap), 0);
	net_fixture_tap_close(&tap);
	net_fixture_down(&fixture);
}
END_TEST

START_TEST(director_sees_tags)
{
	struct net_fixture_options o = { .servers = 2, .vlan = 42 };
	unsigned char frame[256];
	size_t n;
	struct net_fixture_tap server;

	NEED_NET_FIXTURE(&fixture, &o);
	net_fixture_tap(&tap, &fixture, NET_FIXTURE_DIRECTOR, "eth0");
	net_fixture_tap(&server, &fixture, NET_FIXTURE_SERVER, "eth0");
	expect_hosts_talk();
	send_to_director(NET_FIXTURE_VIP4, 100);
	WAIT_FOR(sees_datagram(16), 5000);
	ck_assert_uint_eq(tap.length, 18 + 20 + 8 + 100);
	ck_assert_uint_eq(tap.bytes[12], 0x81);
	ck_assert_uint_eq(tap.bytes[15], 42);

	/* and on to a server, which gets it without the tag */
	n = tap.length;
	memcpy(frame, tap.bytes, n);
	net_fixture_mac(NET_FIXTURE_DIRECTOR, frame + 6);
	net_fixture_mac(NET_FIXTURE_SERVER, frame);
	net_fixture_tap_send(&tap, frame, n);
	do
		WAIT_FOR(net_fixture_tap_next(&server), 5000);
	while (memcmp(server.bytes, frame, 12) != 0);
	ck_assert_uint_eq(server.length, n - 4);
	ck_assert_mem_eq(server.bytes + 12, frame + 16, n - 16);
	net_fixture_tap_close(&tap);
	net_fixture_tap_close(&server);
	net_fixture_down(&fixture);
}
END_TEST

/* A server's long answer does not fit through the router's link. */
static void
expect_too_big(const char *client, const char *server, unsigned kind)
{
	static const char bytes[1400];
	int from = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER, SOCK_DGRAM, server, 7);
	int fd = net_fixture_listen(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_DGRAM, client, 8);
	int to = net_fixture_dial(
	    &fixture, NET_FIXTURE_SERVER, SOCK_DGRAM, client, 8);
	unsigned at = kind == 3 ? 34 : 54;

	net_fixture_tap(&tap, &fixture, NET_FIXTURE_SERVER, "eth0");
	ck_assert_int_eq(send(to, bytes, sizeof(bytes), 0), sizeof(bytes));
	do
		WAIT_FOR(net_fixture_tap_next(&tap), 5000);
	while (tap.outgoing || tap.length < at || tap.bytes[at] != kind);
	net_fixture_tap_close(&tap);
	close(from);
	close(to);
	close(fd);
}

START_TEST(far_client_is_behind_narrow_link)
{
	struct net_fixture_options o = { .servers = 2, .router = true };

	NEED_NET_FIXTURE(&fixture, &o);
	expect_hosts_talk();
	expect_too_big(
	    net_fixture_client4(&fixture), net_fixture_server4(0), 3);
	expect_too_big(
	    net_fixture_client6(&fixture), net_fixture_server6(0), 2);
	/* Told so at the VIP, servers of streams find out what fits. */
	point_vip(NET_FIXTURE_ROUTER, NET_FIXTURE_VIP4, NET_FIXTURE_SERVER + 1);
	point_vip(NET_FIXTURE_ROUTER, NET_FIXTURE_VIP6, NET_FIXTURE_SERVER + 1);
	expect_bytes(NET_FIXTURE_VIP4, NET_FIXTURE_SERVER + 1, 100000);
	expect_bytes(NET_FIXTURE_VIP6, NET_FIXTURE_SERVER + 1, 100000);
	net_fixture_down(&fixture);
}
END_TEST

SUITE(test_net_fixture)
{
	Suite *s = suite_create("net_fixture");

	SUITE_ADD(s, hosts_talk, 60);
	SUITE_ADD(s, hosts_talk_over_own_switch, 60);
	SUITE_ADD(s, servers_hide_vips, 60);
	SUITE_ADD(s, servers_answer_for_vips, 60);
	SUITE_ADD(s, director_sees_whole_frames, 60);
	SUITE_ADD(s, director_sees_tags, 60);
	SUITE_ADD(s, far_client_is_behind_narrow_link, 60);
	return s;
}
