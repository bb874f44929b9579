/* test_dsr_cable.c: a director's cable is out for a while, or its switch passes
 * nothing on, as after a start: connections that were there go on afterwards.
 * PEN_TEST_FULL=1: for 12 and for 60 seconds, by all ways to choose that may
 * give the next frame of a connection another server. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrmany.h"
#include "support/dsrpen.h"
#include "support/net_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SERVERS = 3, CONNECTIONS = 60, SAY_MS = 1000, SAY_MORE_MS = 5000 };

static const struct net_fixture_options three = { .servers = SERVERS };
static const char *const ways[] = { "roundrobin", "leastconn", "wrr", "p2c" };
static struct net_fixture fixture;
static struct dsrpen pen;
static struct dsrmany many;
static long long next[CONNECTIONS];

/* What the director's port of the switch goes through. */
static const struct {
	const char *name, *out, *in;
} troubles[] = {
	{ "cable out", "link set d1 down\n", "link set d1 up\n" },
	{ "switch silent", "link set d1 type bridge_slave state 4\n",
	    "link set d1 type bridge_slave state 3\n" },
};

/* Each connection says a byte every 1 to 6 seconds. */
static void
talk(int ms)
{
	long long end = wait_now_ms() + ms, now;
	unsigned i;

	while ((now = wait_now_ms()) < end) {
		for (i = 0; i < many.count; i++) {
			if (now < next[i])
				continue;
			if (next[i] != 0)
				dsrmany_ask(&many, i);
			next[i] = now + SAY_MS + rand() % SAY_MORE_MS;
		}
		dsrmany_turn(&many, 50);
	}
}

/* Some ended when they were reset; who was moved would have been. */
static unsigned
lost(void)
{
	unsigned i, n = 0;

	for (i = 0; i < many.count; i++)
		n += many.one[i].fate != DSRMANY_GOES_ON || many.one[i].moved;
	return n;
}

static void
expect_none_lost(unsigned way, unsigned trouble, int seconds)
{
	unsigned i, waiting;

	for (i = 0; i < SERVERS; i++)
		dsrmany_serve(&fixture, i);
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4, "-O",
	    text("balance %s", ways[way]), "-O",
	    text("fit_file %s", scratch("fit")), NET_FIXTURE_VIP4 ":0",
	    net_fixture_server4(0), net_fixture_server4(1),
	    net_fixture_server4(2), NULL);
	dsrmany_init(&many, &fixture, NULL);
	memset(next, 0, sizeof(next));
	for (i = 0; i < CONNECTIONS; i++)
		dsrmany_add(
		    &many, SOCK_STREAM, NULL, NET_FIXTURE_VIP4, DSRMANY_PORT);
	dsrmany_wait_known(&many, 20000);
	talk(500);
	WAIT_FOR(access(scratch("fit"), F_OK) == 0, 10000);
	net_fixture_ip(&fixture, NET_FIXTURE_SWITCH, troubles[trouble].out);
	talk(1000 * seconds);
	net_fixture_ip(&fixture, NET_FIXTURE_SWITCH, troubles[trouble].in);
	WAIT_FOR(access(scratch("fit"), F_OK) == 0, 10000);
	/* a client waits twice as long for its next try each time */
	waiting = dsrmany_wait_answers(&many, 20000 + 2500 * seconds);
	printf("%s for %d s, %s: %u of %u connections reset\n",
	    troubles[trouble].name, seconds, ways[way], lost(), CONNECTIONS);
	fflush(stdout);
	ck_assert_uint_eq(lost(), 0);
	ck_assert_uint_eq(waiting, 0);
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}

#define NEED_THIS()                                 \
	do {                                        \
		NEED_DSR_OF_OURS("balance");        \
		NEED_NET_FIXTURE(&fixture, &three); \
	} while (0)

START_TEST(cable_is_out)
{
	NEED_THIS();
	expect_none_lost(1, 0, 2);
	ck_assert(child_has_said(&pen.child, "link is back interface=eth0"));
	ck_assert(child_has_said(&pen.child, "reason=\"no carrier\""));
	ck_assert(!child_has_said(&pen.child, "server blacklisted"));
}
END_TEST

/* The interface gets another MAC: clients and servers learn it, and frames to
 * it are received, with a fast path and without. A connection
 * goes on, and a new one begins. */
START_TEST(another_hardware_address)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 0x77 };
	struct net_fixture_tap tap;
	uint8_t is[6] = { 0 };

	NEED_THIS();
	dsrmany_serve(&fixture, 0);
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4,
	    _i == 0 ? "-Odsr_fast_path on" : "-Odsr_fast_path off",
	    NET_FIXTURE_VIP4 ":0", net_fixture_server4(0), NULL);
	dsrmany_init(&many, &fixture, NULL);
	dsrmany_add(
	    &many, SOCK_STREAM, NULL, NET_FIXTURE_VIP4, DSRMANY_PORT);
	dsrmany_wait_known(&many, 20000);
	net_fixture_ip(&fixture, NET_FIXTURE_DIRECTOR,
	    "link set eth0 address 02:00:00:00:00:77\n");
	net_fixture_tap(&tap, &fixture, NET_FIXTURE_CLIENT, "eth0");
	WAIT_FOR(net_fixture_who_has(
		     &tap, NET_FIXTURE_CLIENT, NET_FIXTURE_VIP4, is) &&
		memcmp(is, mac, 6) == 0,
	    10000);
	net_fixture_tap_close(&tap);
	dsrmany_ask(&many, 0);
	dsrmany_add(
	    &many, SOCK_STREAM, NULL, NET_FIXTURE_VIP4, DSRMANY_PORT);
	ck_assert_uint_eq(dsrmany_wait_answers(&many, 20000), 0);
	ck_assert_uint_eq(lost(), 0);
	dsrmany_close_all(&many);
	ck_assert(child_has_said(&pen.child, "hardware address changed"));
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}
END_TEST

/* Each way, each trouble. */
START_TEST(out_for_12_s)
{
	NEED_THIS();
	expect_none_lost((unsigned)_i / 2, (unsigned)_i % 2, 12);
}
END_TEST

START_TEST(out_for_60_s)
{
	NEED_THIS();
	expect_none_lost((unsigned)_i / 2, (unsigned)_i % 2, 60);
}
END_TEST

static void
add_loop(Suite *s, const TTest *test)
{
	TCase *t = tcase_create("full");

	tcase_set_timeout(t, 400);
	tcase_add_loop_test(t, test, 0, 8);
	suite_add_tcase(s, t);
}

SUITE(test_dsr_cable)
{
	Suite *s = suite_create("dsr_cable");

	SUITE_ADD(s, cable_is_out, 60);
	SUITE_ADD_LOOP(s, another_hardware_address, 60, 2);
	if (suite_is_full()) {
		add_loop(s, out_for_12_s);
		add_loop(s, out_for_60_s);
	}
	return s;
}
