/* test_dsr_seen.c: what an operator sees of two directors: which one is active,
 * since when, which host has claimed the VIP, how many frames go to servers;
 * and that an upgrade changes none of it. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrnet.h"
#include "support/dsrpen.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"

enum { SERVERS = 2, WEB = 8011, ROUNDS = 50, WORD = 100 };
enum { FRAME = 14 + 20 + 8 + WORD }; /* Ethernet, IPv4, UDP */

static const struct net_fixture_options pair = { .servers = SERVERS,
	.two_directors = true };
static struct net_fixture fixture;
static struct dsrnet net; /* n->pen is the first director */
static struct dsrpen second;

#define SETTINGS                                              \
	"-r", "-O", text("web %d", WEB), "-O", "dsr_standby", \
	    NET_FIXTURE_VIP4 ":0", net_fixture_server4(0),    \
	    net_fixture_server4(1), NULL

/* Two that stand by at first, as keepalived wants them. */
static void
begin(void)
{
	dsrnet_open(&net, &fixture, NET_FIXTURE_VIP4, SOCK_DGRAM);
	dsrpen_start(&net.pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4,
	    SETTINGS);
	dsrpen_start(&second, &fixture, NET_FIXTURE_DIRECTOR2, NET_FIXTURE_VIP4,
	    SETTINGS);
	WAIT_FOR(access(net.pen.control, F_OK) == 0, 10000);
	WAIT_FOR(access(second.control, F_OK) == 0, 10000);
}

static void
end(bool both)
{
	unsigned i;

	dsrpen_down(&net.pen);
	if (both)
		dsrpen_down(&second);
	for (i = 0; i < SERVERS; i++)
		close(net.at[i]);
	net_fixture_down(&fixture);
}

static const char *
services(const struct dsrpen *p)
{
	return dsrpen_ask(p, "services");
}

static bool
tells(const struct dsrpen *p, const char *words)
{
	return strstr(services(p), words) != NULL;
}

static const char *
metrics(const struct dsrpen *p)
{
	return net_fixture_run(&fixture, p->where, 10000, "curl", "-sf",
	    text("http://127.0.0.1:%d/metrics", WEB), NULL);
}

static void
expect_json(const struct dsrpen *p, const char *words)
{
	const char *got = net_fixture_run(&fixture, p->where, 10000, "curl",
	    "-s", text("http://127.0.0.1:%d/status.json", WEB), NULL);

	ck_assert_msg(strstr(got, words) != NULL ||
		strstr(got, "without Jansson") != NULL,
	    "no %s in %s", words, got);
}

static const char *
mac_of(enum net_fixture_place where)
{
	uint8_t m[6];

	net_fixture_mac(where, m);
	return text("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3],
	    m[4], m[5]);
}

/* The one that has taken the VIP, and the other one, which has heard it. */
static void
expect_roles(const struct dsrpen *active, const struct dsrpen *standby)
{
	const char *claim = text(" claimed_by %s claimed_address %s claimed_s ",
	    mac_of(active->where), NET_FIXTURE_VIP4);

	WAIT_FOR(tells(standby, claim), 10000);
	ck_assert(tells(standby, " state standby "));
	ck_assert(tells(standby, " role standby "));
	ck_assert(tells(active, " state up "));
	ck_assert(tells(active, " role active "));
	ck_assert(!tells(active, "claimed"));
	ck_assert_ptr_nonnull(
	    strstr(metrics(standby), "\npen_dsr_standby 1\n"));
	ck_assert_ptr_nonnull(strstr(metrics(active), "\npen_dsr_standby 0\n"));
	ck_assert_ptr_nonnull(
	    strstr(metrics(active), "\npen_dsr_role_seconds "));
	expect_json(standby,
	    text("\"dsr\":{\"interface\":\"eth0\",\"role\":\"standby\","
		 "\"claimed_by\":\"%s\"",
		mac_of(active->where)));
	expect_json(active,
	    "\"dsr\":{\"interface\":\"eth0\",\"role\":\"active\","
	    "\"claimed_by\":null");
}

START_TEST(which_one_is_active)
{
	NEED_PROGRAM("curl");
	NEED_DSR_OF_OURS("standby");
	NEED_NET_FIXTURE(&fixture, &pair);
	begin();
	ck_assert(tells(&net.pen, " state standby "));
	ck_assert(tells(&second, " state standby "));
	ck_assert(!tells(&second, "claimed"));
	(void)dsrpen_ask(&net.pen, "dsr takeover");
	expect_roles(&net.pen, &second);
	/* since when: that of the one that changes begins anew */
	WAIT_FOR(report_number(services(&second), " role_s ") >= 2, 10000);
	(void)dsrpen_ask(&net.pen, "dsr standby");
	(void)dsrpen_ask(&second, "dsr takeover");
	expect_roles(&second, &net.pen);
	WAIT_FOR(report_number(services(&net.pen), " role_s ") >= 2, 10000);
	WAIT_FOR(report_number(services(&second), " role_s ") >= 2, 10000);
	(void)dsrpen_ask(&second, "dsr takeover");
	ck_assert_int_ge(report_number(services(&second), " role_s "), 2);
	end(true);
}
END_TEST

/* Two that are active: each has a claim of the other. */
START_TEST(both_are_active)
{
	NEED_DSR_OF_OURS("standby");
	NEED_NET_FIXTURE(&fixture, &pair);
	begin();
	(void)dsrpen_ask(&net.pen, "dsr takeover");
	(void)dsrpen_ask(&second, "dsr takeover");
	WAIT_FOR(tells(&net.pen,
		     text(" role active claimed_by %s ",
			 mac_of(NET_FIXTURE_DIRECTOR2))),
	    10000);
	WAIT_FOR(tells(&second,
		     text(" role active claimed_by %s ",
			 mac_of(NET_FIXTURE_DIRECTOR))),
	    30000);
	end(true);
}
END_TEST

static long
count(const struct dsrpen *p, const char *name)
{
	return report_number(dsrpen_ask(p, "dsr"), text("\n%s ", name));
}

static struct net_fixture_counters
of_servers(void)
{
	struct net_fixture_counters all = { 0, 0, 0, 0, 0, 0 }, one;
	int i;

	for (i = 0; i < SERVERS; i++) {
		one = net_fixture_counters(
		    &fixture, NET_FIXTURE_SERVER + i, "eth0");
		all.rx_bytes += one.rx_bytes;
		all.rx_packets += one.rx_packets;
		all.rx_dropped += one.rx_dropped;
	}
	return all;
}

/* Interfaces count what finds neighbors, too: fewer frames than a second copy
 * of each would be, and none of them as large as these. */
static void
expect_on_wire(const struct net_fixture_counters *before,
    const struct net_fixture_counters *after)
{
	unsigned long long more =
	    after->rx_packets - before->rx_packets - ROUNDS;
	unsigned long long bytes = after->rx_bytes - before->rx_bytes -
	    (unsigned long long)ROUNDS * FRAME;

	ck_assert_uint_ge(after->rx_packets, before->rx_packets + ROUNDS);
	ck_assert_uint_lt(more, ROUNDS);
	ck_assert_uint_ge(bytes, more * 42);
	ck_assert_uint_le(bytes, more * (FRAME - 1));
}

/* As many as servers have got, of both, and their interfaces. */
START_TEST(frames_are_counted)
{
	struct net_fixture_counters before, after;
	int near;
	unsigned i;

	NEED_DSR_OF_OURS("standby");
	NEED_NET_FIXTURE(&fixture, &pair);
	begin();
	(void)dsrpen_ask(&net.pen, "dsr takeover");
	near = dsrnet_dial(&net);
	before = of_servers();
	for (i = 0; i < ROUNDS; i++)
		(void)dsrnet_echo(&net, near, WORD, 4);
	after = of_servers();
	expect_on_wire(&before, &after);
	ck_assert_int_eq(count(&net.pen, "forwarded"), ROUNDS);
	ck_assert_int_eq(count(&net.pen, "forwarded_bytes"), ROUNDS * FRAME);
	ck_assert_int_eq(count(&second, "forwarded"), 0);
	ck_assert(tells(&net.pen, " flows 1 "));
	ck_assert(!tells(&net.pen, " frame_rate 0.0 "));
	ck_assert(tells(&second, " frame_rate 0.0 byte_rate 0 "));
	/* over with the frames */
	WAIT_FOR(tells(&net.pen, " frame_rate 0.0 byte_rate 0 "), 30000);
	close(near);
	end(true);
}
END_TEST

START_TEST(an_upgrade_changes_nothing)
{
	const char *claim = text(" claimed_by %s claimed_address %s claimed_s ",
	    mac_of(NET_FIXTURE_DIRECTOR), NET_FIXTURE_VIP4);
	const char *said;
	long before, pid;

	NEED_DSR_OF_OURS("standby");
	NEED_UPGRADES(upgrading_install_both());
	NEED_NET_FIXTURE(&fixture, &pair);
	begin();
	(void)dsrpen_ask(&net.pen, "dsr takeover");
	WAIT_FOR(tells(&second, claim), 10000);
	WAIT_FOR((before = report_number(services(&second), " role_s ")) >= 3,
	    20000);
	said = strrchr(dsrpen_ask(&second, "upgrade"), 'p');
	ck_assert_ptr_nonnull(said);
	ck_assert_int_eq(sscanf(said, "process %ld serves", &pid), 1);
	ck_assert(tells(&second, " role standby "));
	ck_assert(tells(&second, claim));
	ck_assert_int_ge(report_number(services(&second), " role_s "), before);
	ck_assert_int_eq(child_wait(&second.child, 20000), 0);
	upgrading_end((pid_t)pid);
	end(false);
}
END_TEST

SUITE(test_dsr_seen)
{
	Suite *s = suite_create("dsr_seen");

	SUITE_ADD(s, which_one_is_active, 60);
	SUITE_ADD(s, both_are_active, 60);
	SUITE_ADD(s, frames_are_counted, 90);
	SUITE_ADD(s, an_upgrade_changes_nothing, 60);
	return s;
}
