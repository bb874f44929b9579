/* test_dsr_choice.c: which server a client gets from a director: in turn, the
 * same for all of a connection, over TCP and UDP, IPv4 and IPv6. */
#include "config.h"

#include <check.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrnet.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SERVERS = 3, ROUNDS = 8 };

static const struct net_fixture_options three = { .servers = SERVERS };
static struct net_fixture fixture;
static struct dsrnet net;
/* Kept, as a flow outlives its socket and the next one may get the same
 * port. */
static int clients[SERVERS * ROUNDS];
static unsigned count;

/* One connection with a word each way; returns its server. */
static unsigned
talk_tcp(void)
{
	int near, far;
	unsigned i = dsrnet_connect(&net, &near, &far);

	dsrnet_pass(near, far, 4);
	dsrnet_pass(far, near, 4);
	close(near);
	close(far);
	return i;
}

/* Datagrams of one client's port; all at one server. */
static unsigned
talk_udp(void)
{
	int near = dsrnet_dial(&net);
	unsigned i = dsrnet_echo(&net, near, 4, 4), k;

	for (k = 0; k < 4; k++)
		ck_assert_uint_eq(dsrnet_echo(&net, near, 4, 4), i);
	clients[count++] = near;
	return i;
}

/* A classic pen goes by a hash of the client's address and port there. */
static void
expect_in_turn(const char *vip, int type)
{
	unsigned got[SERVERS] = { 0 }, last = SERVERS, now, i;

	dsrnet_begin(&net, &fixture, vip, type);
	for (i = 0; i < SERVERS * ROUNDS; i++) {
		now = type == SOCK_STREAM ? talk_tcp() : talk_udp();
		if (last != SERVERS && !dsrpen_is_classic())
			ck_assert_uint_eq(now, (last + 1) % SERVERS);
		got[now]++;
		last = now;
	}
	for (i = 0; i < SERVERS; i++)
		if (dsrpen_is_classic())
			ck_assert_uint_gt(got[i], 0);
		else
			ck_assert_uint_eq(got[i], ROUNDS);
	while (count > 0)
		close(clients[--count]);
	dsrnet_end(&net);
}

START_TEST(tcp4_in_turn)
{
	NEED_DSR();
	NEED_NET_FIXTURE(&fixture, &three);
	expect_in_turn(NET_FIXTURE_VIP4, SOCK_STREAM);
}
END_TEST

START_TEST(udp4_in_turn)
{
	NEED_DSR();
	NEED_NET_FIXTURE(&fixture, &three);
	expect_in_turn(NET_FIXTURE_VIP4, SOCK_DGRAM);
}
END_TEST

START_TEST(tcp6_in_turn)
{
	NEED_DSR_OF_OURS("IPv6");
	NEED_NET_FIXTURE(&fixture, &three);
	expect_in_turn(NET_FIXTURE_VIP6, SOCK_STREAM);
}
END_TEST

START_TEST(udp6_in_turn)
{
	NEED_DSR_OF_OURS("IPv6");
	NEED_NET_FIXTURE(&fixture, &three);
	expect_in_turn(NET_FIXTURE_VIP6, SOCK_DGRAM);
}
END_TEST

/* Clients of one datagram each are over: they keep nobody out. */
static void
expect_all_served(const char *vip)
{
	enum { CLIENTS = 4 * SERVERS };
	int near[CLIENTS];
	unsigned i;

	dsrnet_begin(&net, &fixture, vip, SOCK_DGRAM);
	for (i = 0; i < SERVERS; i++)
		(void)dsrpen_ask(&net.pen, text("server %u hard 1", i));
	for (i = 0; i < CLIENTS; i++) {
		near[i] = dsrnet_dial(&net);
		(void)dsrnet_echo(&net, near[i], 4, 4);
	}
	ck_assert_uint_eq(
	    report_number(dsrpen_ask(&net.pen, "dsr"), "dropped_no_server"), 0);
	for (i = 0; i < CLIENTS; i++)
		close(near[i]);
}

/* Then their flows end when the setting says so. */
static void
expect_forgotten(void)
{
	ck_assert_int_ge(report_number(dsrpen_ask(&net.pen, "dsr"), "\nflows "),
	    4 * SERVERS);
	(void)dsrpen_ask(&net.pen, "dsr_udp_timeout 1");
	WAIT_FOR(
	    report_number(dsrpen_ask(&net.pen, "dsr"), "\nflows ") == 0, 20000);
}

START_TEST(datagrams_take_no_place)
{
	NEED_DSR_OF_OURS("limits");
	NEED_NET_FIXTURE(&fixture, &three);
	expect_all_served(net_fixture_vip(_i));
	expect_forgotten();
	dsrnet_end(&net);
}
END_TEST

/* A server that has lost the VIP and forwards packets sends frames back: once
 * each, and that is said once. */
START_TEST(a_server_that_sends_back)
{
	enum { SENT = 30 };
	int near[SENT];
	unsigned i;

	NEED_DSR_OF_OURS("loops");
	NEED_NET_FIXTURE(&fixture, &three);
	net_fixture_ip(&fixture, NET_FIXTURE_SERVER,
	    "addr del " NET_FIXTURE_VIP4 "/32 dev lo\n"
	    "addr del " NET_FIXTURE_VIP6 "/128 dev lo\n");
	net_fixture_set(
	    &fixture, NET_FIXTURE_SERVER, "ipv4/conf/all/forwarding", "1");
	net_fixture_set(
	    &fixture, NET_FIXTURE_SERVER, "ipv4/conf/all/send_redirects", "0");
	net_fixture_set(
	    &fixture, NET_FIXTURE_SERVER, "ipv4/conf/eth0/send_redirects", "0");
	net_fixture_set(
	    &fixture, NET_FIXTURE_SERVER, "ipv6/conf/all/forwarding", "1");
	dsrpen_up(&net.pen, &fixture, NET_FIXTURE_DIRECTOR, net_fixture_vip(_i),
	    "-r", text(_i == 0 ? "%s:0" : "[%s]:0", net_fixture_vip(_i)),
	    _i == 0 ? net_fixture_server4(0) : net_fixture_server6(0), NULL);
	for (i = 0; i < SENT; i++) {
		near[i] = net_fixture_dial(&fixture, NET_FIXTURE_CLIENT,
		    SOCK_DGRAM, net_fixture_vip(_i), 53);
		(void)send(near[i], "x", 1, 0);
	}
	WAIT_FOR(
	    report_number(dsrpen_ask(&net.pen, "dsr"), "dropped_loop ") >= 3,
	    20000);
	for (i = 0; i < SENT; i++)
		close(near[i]);
	/* without an end each would come 60 times */
	ck_assert_int_le(
	    report_number(dsrpen_ask(&net.pen, "dsr"), "received "), 3 * SENT);
	ck_assert_int_eq(count_in(child_err(&net.pen.child),
			     "server sends frames back server=0"),
	    1);
	dsrpen_down(&net.pen);
	net_fixture_down(&fixture);
}
END_TEST

SUITE(test_dsr_choice)
{
	Suite *s = suite_create("dsr_choice");

	SUITE_ADD(s, tcp4_in_turn, 60);
	SUITE_ADD(s, udp4_in_turn, 60);
	SUITE_ADD(s, tcp6_in_turn, 60);
	SUITE_ADD(s, udp6_in_turn, 60);
	SUITE_ADD_LOOP(s, datagrams_take_no_place, 60, 2);
	SUITE_ADD_LOOP(s, a_server_that_sends_back, 60, 2);
	return s;
}
