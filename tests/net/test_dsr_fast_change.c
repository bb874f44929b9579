/* test_dsr_fast_change.c: servers, places and a cable change while the kernel
 * passes flows on itself: it hears of it. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrfast.h"
#include "support/dsrpen.h"
#include "support/netframe.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SEGMENT = 1448 };

static const struct net_fixture_options one = { .servers = 1 };
static const struct net_fixture_options two = { .servers = 2 };
static struct net_fixture fixture;
static struct dsrnet net;
static struct net_fixture_tap tap; /* at a server */

static const char *
ask(const char *line)
{
	return dsrfast_ask(&net, line);
}

static long
count(const char *name)
{
	return dsrfast_count(&net, name);
}

/* ---- a server goes down ---- */

/* TCP or UDP that has come to the server, by now. */
static unsigned
frames_there(void)
{
	unsigned n = 0, protocol;

	while (net_fixture_tap_next(&tap)) {
		if (tap.outgoing || tap.length < 34)
			continue;
		protocol = tap.bytes[12] == 8 ? tap.bytes[23] : tap.bytes[20];
		n += protocol == IPPROTO_TCP || protocol == IPPROTO_UDP;
	}
	return n;
}

static bool
is_reset(int fd)
{
	char byte;

	return recv(fd, &byte, 1, 0) < 0 && errno == ECONNRESET;
}

START_TEST(connections_end_with_their_server)
{
	int near, far;
	unsigned who;
	long before;

	NEED_DSRFAST(&net, &fixture, &two, net_fixture_vip(_i), SOCK_STREAM);
	who = dsrfast_connect(&net, &near, &far);
	net_fixture_tap(&tap, &fixture, NET_FIXTURE_SERVER + who, "eth0");
	dsrnet_pass(near, far, SEGMENT);
	ck_assert_uint_gt(frames_there(), 0);
	before = count("fast_frames");
	(void)ask(text("server %u down", who));
	ck_assert_int_eq(send(near, "x", 1, 0), 1);
	WAIT_FOR(is_reset(near), 10000);
	ck_assert_uint_eq(frames_there(), 0);
	ck_assert(!net_fixture_is_readable(far));
	ck_assert_int_eq(count("fast_frames"), before);
	ck_assert_int_eq(count("fast_flows"), 0);
	net_fixture_tap_close(&tap);
	close(near);
	close(far);
	dsrnet_end(&net);
}
END_TEST

static long
sent_to(unsigned server)
{
	const char *line = strstr(ask("servers"), text("%u addr ", server));

	ck_assert_ptr_nonnull(line);
	return report_number(line, " sx ");
}

/* What the server has had is its own. */
START_TEST(datagrams_change_their_server)
{
	unsigned who;
	long before, bytes;
	int near;

	NEED_DSRFAST(&net, &fixture, &two, net_fixture_vip(_i), SOCK_DGRAM);
	near = dsrnet_dial(&net);
	who = dsrfast_echo(&net, near);
	net_fixture_tap(&tap, &fixture, NET_FIXTURE_SERVER + who, "eth0");
	before = count("fast_frames");
	bytes = count("fast_bytes") + count("forwarded_bytes");
	(void)ask(text("server %u down", who));
	ck_assert_uint_eq(
	    dsrnet_echo(&net, near, DSRFAST_SIZE, DSRFAST_SIZE), 1 - who);
	ck_assert_int_eq(count("fast_frames"), before);
	ck_assert_int_eq(count("fast_flows"), 0);
	ck_assert_int_eq(sent_to(who), bytes);
	ck_assert_int_eq(sent_to(1 - who), 0);
	ck_assert_uint_eq(dsrfast_echo(&net, near), 1 - who);
	ck_assert_uint_eq(frames_there(), 0);
	/* it stays where it is */
	(void)ask(text("server %u up", who));
	ck_assert_uint_eq(dsrfast_echo(&net, near), 1 - who);
	ck_assert_int_eq(count("fast_flows"), 1);
	net_fixture_tap_close(&tap);
	close(near);
	dsrnet_end(&net);
}
END_TEST

/* ---- servers and places change ---- */

/* Once its new address is believed, the next frames have it; it announces
 * it. */
START_TEST(servers_move)
{
	char byte;
	int near;

	NEED_DSRFAST(&net, &fixture, &one, net_fixture_vip(_i), SOCK_DGRAM);
	near = dsrnet_dial(&net);
	(void)dsrfast_echo(&net, near);
	net_fixture_set(
	    &fixture, NET_FIXTURE_SERVER, "ipv4/conf/eth0/arp_notify", "1");
	net_fixture_set(
	    &fixture, NET_FIXTURE_SERVER, "ipv6/conf/eth0/ndisc_notify", "1");
	net_fixture_ip(&fixture, NET_FIXTURE_SERVER,
	    "link set eth0 address 02:00:00:64:00:55\n");
	WAIT_FOR(count("neighbor_moves") == 1, 20000);
	ck_assert_int_eq(send(near, "x", 1, 0), 1);
	WAIT_FOR(net_fixture_is_readable(net.at[0]), 1000);
	ck_assert_int_eq(recv(net.at[0], &byte, 1, 0), 1);
	(void)dsrfast_echo(&net, near);
	ck_assert_int_eq(count("fast_flows"), 1);
	close(near);
	dsrnet_end(&net);
}
END_TEST

static void
listen_elsewhere(int i)
{
	(void)ask(text(
	    i == 0 ? "listen %s:80" : "listen [%s]:80", net_fixture_vip(i)));
}

START_TEST(connections_outlast_their_port)
{
	int near, far;
	long before;

	NEED_DSRFAST(&net, &fixture, &one, net_fixture_vip(_i), SOCK_STREAM);
	(void)dsrfast_connect(&net, &near, &far);
	listen_elsewhere(_i);
	before = count("fast_frames");
	dsrnet_pass(near, far, DSRFAST_SOME);
	dsrnet_pass(far, near, DSRFAST_SOME);
	ck_assert_int_gt(count("fast_frames"), before);
	ck_assert_int_eq(count("fast_flows"), 1);
	ck_assert_int_eq(count("dropped_not_local"), 0);
	close(near);
	close(far);
	dsrnet_end(&net);
}
END_TEST

START_TEST(datagrams_end_with_their_port)
{
	long before, others;
	int near;

	NEED_DSRFAST(&net, &fixture, &one, net_fixture_vip(_i), SOCK_DGRAM);
	near = dsrnet_dial(&net);
	(void)dsrfast_echo(&net, near);
	listen_elsewhere(_i);
	before = count("fast_frames");
	others = count("dropped_not_local");
	ck_assert_int_eq(send(near, "x", 1, 0), 1);
	WAIT_FOR(count("dropped_not_local") > others, 5000);
	ck_assert(!net_fixture_is_readable(net.at[0]));
	ck_assert_int_eq(count("fast_frames"), before);
	close(near);
	dsrnet_end(&net);
}
END_TEST

/* ---- another director takes over ---- */

START_TEST(nothing_passes_one_that_stands_by)
{
	int near, far;
	long others;

	NEED_DSRFAST(&net, &fixture, &one, net_fixture_vip(_i), SOCK_STREAM);
	(void)dsrfast_connect(&net, &near, &far);
	(void)ask("dsr standby");
	others = count("dropped_not_local");
	ck_assert_int_eq(send(near, "x", 1, 0), 1);
	WAIT_FOR(count("dropped_not_local") > others, 10000);
	ck_assert(!net_fixture_is_readable(far));
	(void)ask("dsr takeover");
	WAIT_FOR(net_fixture_is_readable(far), 10000);
	close(near);
	close(far);
	dsrnet_end(&net);
}
END_TEST

/* ---- a cable that takes nothing from XDP ---- */

static bool
has_fast_path(void)
{
	return strstr(ask("dsr"), "\nfast_path yes\n") != NULL;
}

START_TEST(without_gro_nothing_is_lost)
{
	unsigned who;
	long long end;
	int near;

	NEED_DSRFAST(&net, &fixture, &two, net_fixture_vip(_i), SOCK_DGRAM);
	dsrpen_down(&net.pen);
	dsrfast_switch_merges(&net, false);
	dsrpen_up(&net.pen, &fixture, NET_FIXTURE_DIRECTOR, net.vip, "-rU",
	    net.option, text(_i == 0 ? "%s:0" : "[%s]:0", net.vip),
	    net_fixture_server4(0), net_fixture_server4(1), NULL);
	ck_assert(!has_fast_path());
	ck_assert(child_has_said(
	    &net.pen.child, "fast path not used: the veth peer drops frames"));
	near = dsrnet_dial(&net);
	/* on a quiet machine gates would be open by then */
	end = wait_now_ms() + 1000;
	who = dsrnet_echo(&net, near, DSRFAST_SIZE, DSRFAST_SIZE);
	while (wait_now_ms() < end)
		if (dsrnet_echo(&net, near, 100, 100) != who)
			ck_abort_msg("another server than %u", who);
	ck_assert_int_eq(count("fast_flows"), 0);
	ck_assert_int_eq(count("fast_frames"), 0);
	close(near);
	dsrnet_end(&net);
}
END_TEST

static bool
comes_up(int near, int far)
{
	long before = count("fast_frames");

	dsrnet_pass(near, far, DSRFAST_SOME);
	return count("fast_frames") == before;
}

/* TCP sends again what was lost until it was noticed. */
START_TEST(gro_goes_and_comes)
{
	int near, far;
	long before;

	NEED_DSRFAST(&net, &fixture, &two, net_fixture_vip(_i), SOCK_STREAM);
	(void)dsrfast_connect(&net, &near, &far);
	dsrfast_switch_merges(&net, false);
	dsrnet_pass(near, far, DSRFAST_SOME);
	WAIT_FOR(!has_fast_path(), 5000);
	WAIT_FOR(comes_up(near, far), 5000);
	ck_assert(comes_up(near, far));
	dsrfast_switch_merges(&net, true);
	before = count("fast_frames");
	WAIT_FOR(dsrfast_passes(&net, near, far, before), 5000);
	ck_assert(has_fast_path());
	close(near);
	close(far);
	dsrnet_end(&net);
}
END_TEST

SUITE(test_dsr_fast_change)
{
	Suite *s = suite_create("dsr_fast_change");

	DSRFAST_ADD(s, connections_end_with_their_server, 2);
	DSRFAST_ADD(s, datagrams_change_their_server, 2);
	DSRFAST_ADD(s, servers_move, 2);
	DSRFAST_ADD(s, connections_outlast_their_port, 2);
	DSRFAST_ADD(s, datagrams_end_with_their_port, 2);
	DSRFAST_ADD(s, nothing_passes_one_that_stands_by, 2);
	DSRFAST_ADD(s, without_gro_nothing_is_lost, 2);
	DSRFAST_ADD(s, gro_goes_and_comes, 2);
	return s;
}
