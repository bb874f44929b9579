/* test_netrig.c: the rig itself: cables, addresses, MTUs, tags, its end. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/netframe.h"
#include "support/netrig.h"
#include "support/suite.h"
#include "support/wait.h"

static struct netrig rig;
static struct netrig_tap tap;

/* A connection from the client to a server, which sends that many bytes. */
static void
expect_bytes(const char *ip, enum netrig_place server, size_t n)
{
	int listener = netrig_listen(&rig, server, SOCK_STREAM, ip, 7);
	int near = netrig_dial(&rig, NETRIG_CLIENT, SOCK_STREAM, ip, 7), far;
	static char bytes[100000];
	ssize_t got;

	WAIT_FOR(netrig_is_connected(near), 5000);
	WAIT_FOR(netrig_is_readable(listener), 5000);
	far = accept(listener, NULL, NULL);
	ck_assert_int_eq(send(far, bytes, n, 0), (int)n);
	for (; n > 0; n -= (size_t)got) {
		WAIT_FOR(netrig_is_readable(near), 5000);
		got = recv(near, bytes, sizeof(bytes), 0);
		ck_assert_int_gt(got, 0);
	}
	close(far);
	close(near);
	close(listener);
}

static void
expect_talk(const char *ip, enum netrig_place server)
{
	expect_bytes(ip, server, 5);
}

static void
expect_hosts_talk(void)
{
	unsigned i;

	for (i = 0; i < rig.is.servers; i++) {
		expect_talk(netrig_server4(i), NETRIG_SERVER + i);
		expect_talk(netrig_server6(i), NETRIG_SERVER + i);
	}
}

START_TEST(hosts_talk)
{
	struct netrig_options o = { .servers = 4, .two_directors = true };
	struct netrig_counters before, after;

	NEED_NETRIG(&rig, &o);
	before = netrig_counters(&rig, NETRIG_SERVER + 3, "eth0");
	expect_hosts_talk();
	after = netrig_counters(&rig, NETRIG_SERVER + 3, "eth0");
	ck_assert_uint_ge(after.rx_packets, before.rx_packets + 8);
	ck_assert_uint_ge(after.tx_bytes, before.tx_bytes + 8 * 54);
	netrig_down(&rig);
}
END_TEST

START_TEST(hosts_talk_over_own_switch)
{
	struct netrig_options o = { .servers = 2, .own_switch = true };

	NEED_NETRIG(&rig, &o);
	expect_hosts_talk();
	netrig_down(&rig);
}
END_TEST

START_TEST(servers_hide_vips)
{
	static const char *const vips[] = { NETRIG_VIP4, NETRIG_VIP6,
		NETRIG_VIP4_B, NETRIG_VIP6_B };
	struct netrig_options o = { .servers = 2 };
	uint8_t mac[6], want[6];
	unsigned i;

	NEED_NETRIG(&rig, &o);
	netrig_tap(&tap, &rig, NETRIG_CLIENT, "eth0");
	for (i = 0; i < 4; i++)
		ck_assert(!netrig_who_has(&tap, NETRIG_CLIENT, vips[i], mac));
	/* Whoever answered this has had the others before. */
	netrig_mac(NETRIG_SERVER + 1, want);
	WAIT_FOR(
	    netrig_who_has(&tap, NETRIG_CLIENT, netrig_server4(1), mac), 5000);
	ck_assert_mem_eq(mac, want, 6);
	WAIT_FOR(
	    netrig_who_has(&tap, NETRIG_CLIENT, netrig_server6(1), mac), 5000);
	ck_assert_mem_eq(mac, want, 6);
	for (i = 0; i < 4; i++)
		ck_assert(!netrig_who_has(&tap, NETRIG_CLIENT, vips[i], mac));
	netrig_tap_close(&tap);
	netrig_down(&rig);
}
END_TEST

/* What a director does to frames is done here by the client's own table. */
static void
point_vip(enum netrig_place who, const char *vip, enum netrig_place server)
{
	netrig_ip(&rig, who,
	    text("neigh replace %s dev eth0 lladdr 02:00:00:64:00:%02x\n", vip,
		server - NETRIG_SERVER + 3));
}

static void
expect_talk_to_vip(const char *vip, enum netrig_place server)
{
	point_vip(NETRIG_CLIENT, vip, server);
	expect_talk(vip, server);
}

START_TEST(servers_answer_for_vips)
{
	struct netrig_options o = { .servers = 2 };

	NEED_NETRIG(&rig, &o);
	expect_talk_to_vip(NETRIG_VIP4, NETRIG_SERVER);
	expect_talk_to_vip(NETRIG_VIP4, NETRIG_SERVER + 1);
	expect_talk_to_vip(NETRIG_VIP6, NETRIG_SERVER);
	expect_talk_to_vip(NETRIG_VIP6_B, NETRIG_SERVER + 1);
	netrig_down(&rig);
}
END_TEST

/* Sends a datagram from the client to a director, which has no address: a
 * static neighbour tells where. */
static void
send_to_director(const char *ip, size_t n)
{
	static char bytes[60000];
	int fd;

	netrig_ip(&rig, NETRIG_CLIENT,
	    text("neigh replace %s dev eth0 lladdr 02:00:00:64:00:02\n", ip));
	fd = netrig_dial(&rig, NETRIG_CLIENT, SOCK_DGRAM, ip, 7);
	ck_assert_int_eq(send(fd, bytes, n, 0), (int)n);
	close(fd);
}

static bool
sees_datagram(unsigned ethertype_at)
{
	const unsigned char *ip = tap.bytes + ethertype_at + 2;

	return netrig_tap_next(&tap) && !tap.outgoing &&
	    tap.bytes[ethertype_at] == 8 && tap.bytes[ethertype_at + 1] == 0 &&
	    ip[9] == IPPROTO_UDP;
}

START_TEST(director_sees_whole_frames)
{
	struct netrig_options o = { .servers = 2 };
	uint32_t sum = IPPROTO_UDP;
	const unsigned char *p;
	unsigned i, udp;

	NEED_NETRIG(&rig, &o);
	netrig_tap(&tap, &rig, NETRIG_DIRECTOR, "eth0");
	send_to_director(NETRIG_VIP4, 100);
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
	ck_assert_uint_eq(netrig_tap_lost(&tap), 0);
	netrig_tap_close(&tap);
	netrig_down(&rig);
}
END_TEST

START_TEST(director_sees_tags)
{
	struct netrig_options o = { .servers = 2, .vlan = 42 };
	unsigned char frame[256];
	size_t n;
	struct netrig_tap server;

	NEED_NETRIG(&rig, &o);
	netrig_tap(&tap, &rig, NETRIG_DIRECTOR, "eth0");
	netrig_tap(&server, &rig, NETRIG_SERVER, "eth0");
	expect_hosts_talk();
	send_to_director(NETRIG_VIP4, 100);
	WAIT_FOR(sees_datagram(16), 5000);
	ck_assert_uint_eq(tap.length, 18 + 20 + 8 + 100);
	ck_assert_uint_eq(tap.bytes[12], 0x81);
	ck_assert_uint_eq(tap.bytes[15], 42);

	/* and on to a server, which gets it without the tag */
	n = tap.length;
	memcpy(frame, tap.bytes, n);
	netrig_mac(NETRIG_DIRECTOR, frame + 6);
	netrig_mac(NETRIG_SERVER, frame);
	netrig_tap_send(&tap, frame, n);
	do
		WAIT_FOR(netrig_tap_next(&server), 5000);
	while (memcmp(server.bytes, frame, 12) != 0);
	ck_assert_uint_eq(server.length, n - 4);
	ck_assert_mem_eq(server.bytes + 12, frame + 16, n - 16);
	netrig_tap_close(&tap);
	netrig_tap_close(&server);
	netrig_down(&rig);
}
END_TEST

/* A server's long answer does not fit through the router's link. */
static void
expect_too_big(const char *client, const char *server, unsigned kind)
{
	static const char bytes[1400];
	int from = netrig_listen(&rig, NETRIG_SERVER, SOCK_DGRAM, server, 7);
	int fd = netrig_listen(&rig, NETRIG_CLIENT, SOCK_DGRAM, client, 8);
	int to = netrig_dial(&rig, NETRIG_SERVER, SOCK_DGRAM, client, 8);
	unsigned at = kind == 3 ? 34 : 54;

	netrig_tap(&tap, &rig, NETRIG_SERVER, "eth0");
	ck_assert_int_eq(send(to, bytes, sizeof(bytes), 0), sizeof(bytes));
	do
		WAIT_FOR(netrig_tap_next(&tap), 5000);
	while (tap.outgoing || tap.length < at || tap.bytes[at] != kind);
	netrig_tap_close(&tap);
	close(from);
	close(to);
	close(fd);
}

START_TEST(far_client_is_behind_narrow_link)
{
	struct netrig_options o = { .servers = 2, .router = true };

	NEED_NETRIG(&rig, &o);
	expect_hosts_talk();
	expect_too_big(netrig_client4(&rig), netrig_server4(0), 3);
	expect_too_big(netrig_client6(&rig), netrig_server6(0), 2);
	/* Told so at the VIP, servers of streams find out what fits. */
	point_vip(NETRIG_ROUTER, NETRIG_VIP4, NETRIG_SERVER + 1);
	point_vip(NETRIG_ROUTER, NETRIG_VIP6, NETRIG_SERVER + 1);
	expect_bytes(NETRIG_VIP4, NETRIG_SERVER + 1, 100000);
	expect_bytes(NETRIG_VIP6, NETRIG_SERVER + 1, 100000);
	netrig_down(&rig);
}
END_TEST

SUITE(test_netrig)
{
	Suite *s = suite_create("netrig");

	SUITE_ADD(s, hosts_talk, 60);
	SUITE_ADD(s, hosts_talk_over_own_switch, 60);
	SUITE_ADD(s, servers_hide_vips, 60);
	SUITE_ADD(s, servers_answer_for_vips, 60);
	SUITE_ADD(s, director_sees_whole_frames, 60);
	SUITE_ADD(s, director_sees_tags, 60);
	SUITE_ADD(s, far_client_is_behind_narrow_link, 60);
	return s;
}
