/* test_guide_ecmp.c: the files of examples/guide for directors that share an
 * address: real BIRDs announce it to a router, which has a BIRD, too; one
 * director is added, one is killed, one is stopped. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/ctl.h"
#include "support/dsrmany.h"
#include "support/guide.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

#define VIP "192.0.2.20"

enum { SOON = 30000, SERVERS = 2, HOSTS = 50, DIRECTORS = 3 };

static const struct net_fixture_options network = { .servers = SERVERS + 1,
	.two_directors = true,
	.router = true };
static struct guide guide = { .name = "ecmp" };
static struct dsrmany many;
static struct child router;

static struct director {
	enum net_fixture_place where;
	const char *differs[7];
	const char *ctl;
	struct pen pen;
	struct child bird, announcer;
} directors[DIRECTORS] = {
	{ .where = NET_FIXTURE_DIRECTOR },
	{ .where = NET_FIXTURE_DIRECTOR2,
	    .differs = { "192.0.2.11", "192.0.2.12", "192.0.2.31",
		"192.0.2.32" } },
	/* a host that could be a server */
	{ .where = (enum net_fixture_place)(NET_FIXTURE_SERVER + SERVERS),
	    .differs = { "192.0.2.11", "192.0.2.13", "192.0.2.31",
		"192.0.2.33" } },
};

/* ---- hosts ---- */

static void
carry_out(enum net_fixture_place where, const char *lines)
{
	net_fixture_run(
	    &guide.fixture, where, SOON, "sh", "-e", "-c", lines, NULL);
}

static void
give_address(enum net_fixture_place where, int number)
{
	carry_out(where,
	    text("ip addr flush dev eth0; ip addr flush dev lo\n"
		 "ip addr add 192.0.2.%d/24 dev eth0\n",
		number));
}

static void
start_bird(struct child *c, enum net_fixture_place where, const char *lines)
{
	const char *conf = guide_path("/run/bird/bird.conf");

	write_file(conf, lines);
	net_fixture_run(&guide.fixture, where, SOON, child_find("bird"), "-p",
	    "-c", conf, NULL);
	net_fixture_start(&guide.fixture, where, c,
	    (const char *[]){ child_find("bird"), "-f", "-c", conf, "-s",
		guide_path("/run/bird/bird.ctl"), "-P",
		guide_path("/run/bird/pid"), NULL });
	WAIT_FOR(access(guide_path("/run/bird/bird.ctl"), F_OK) == 0, SOON);
}

static void
prepare_router(void)
{
	guide_machine(&guide, "router-");
	carry_out(NET_FIXTURE_ROUTER,
	    "ip addr flush dev eth0; ip addr add 192.0.2.1/24 dev eth0");
	net_fixture_set(&guide.fixture, NET_FIXTURE_ROUTER,
	    "ipv4/fib_multipath_hash_policy", "1");
	start_bird(&router, NET_FIXTURE_ROUTER,
	    guide_quote("ecmp-bird.conf",
		"these lines in bird.conf, and no change"));
}

static void
prepare_servers(void)
{
	int i;

	for (i = 0; i < SERVERS; i++) {
		give_address(NET_FIXTURE_SERVER + i, 21 + i);
		carry_out(NET_FIXTURE_SERVER + i,
		    guide_quote("dsr.conf", "On each server, at each boot"));
		carry_out(NET_FIXTURE_SERVER + i,
		    "ip addr add " NET_FIXTURE_VIP6 "/128 dev lo nodad\n"
		    "ip route add default via 192.0.2.1\n");
		dsrmany_serve_at(&guide.fixture, (unsigned)i, VIP);
		/* for the checks, whose clients the kernel accepts */
		(void)net_fixture_listen(&guide.fixture, NET_FIXTURE_SERVER + i,
		    SOCK_STREAM, VIP, 80);
	}
}

/* The files as they stand, with the addresses of this host. */
static void
start_director(int i)
{
	struct director *d = &directors[i];
	const char *script;

	guide_machine(&guide, text("d%d-", i));
	guide_differs(d->differs);
	give_address(d->where, 11 + i);
	carry_out(
	    d->where, guide_quote("dsr.conf", "On this host, at each boot:"));
	guide_start_at(&guide, &d->pen, d->where);
	d->ctl = guide_path("/run/pen-ecmp/ctl");
	start_bird(&d->bird, d->where, guide_text("ecmp-bird.conf"));
	script = guide_path("/etc/pen/ecmp-announce.sh");
	write_file(script, guide_text("ecmp-announce.sh"));
	net_fixture_start(&guide.fixture, d->where, &d->announcer,
	    (const char *[]){ "/bin/sh", script, NULL });
}

static const char *
ask(const struct director *d, const char *line)
{
	return net_fixture_run(&guide.fixture, d->where, SOON, ctl_client(),
	    d->ctl, line, NULL);
}

/* ---- paths ---- */

/* Whether the router has exactly those. */
static bool
has_paths(const bool wanted[DIRECTORS])
{
	const char *route = net_fixture_run(&guide.fixture, NET_FIXTURE_ROUTER,
	    SOON, "ip", "route", "show", VIP, NULL);
	int i;

	for (i = 0; i < DIRECTORS; i++)
		if ((strstr(route, text("via 192.0.2.%d ", 31 + i)) != NULL) !=
		    wanted[i])
			return false;
	return true;
}

static void
wait_paths(bool first, bool second, bool third)
{
	const bool wanted[DIRECTORS] = { first, second, third };
	long long began = wait_now_ms();

	WAIT_FOR(has_paths(wanted), SOON);
	printf("paths %d %d %d after %lld ms\n", first, second, third,
	    wait_now_ms() - began);
}

/* ---- connections ---- */

static void
open_flows(void)
{
	unsigned i, n = getenv("PEN_TEST_FULL") != NULL ? 500 : 200;

	dsrmany_init(&many, &guide.fixture, NULL);
	for (i = 0; i < n; i++)
		dsrmany_add(&many, SOCK_STREAM,
		    text("192.168.200.%u", 100 + i % HOSTS), VIP, DSRMANY_PORT);
	dsrmany_wait_known(&many, SOON);
	for (i = 0; i < SERVERS; i++)
		ck_assert_uint_gt(dsrmany_count(&many, (int)i), 0);
}

static long
forwarded(const struct director *d)
{
	return report_number(ask(d, "dsr"), "forwarded");
}

/* All connections are as they were, at the server that they began at. */
static void
expect_all(const char *when)
{
	unsigned i, lost = 0;

	for (i = 0; i < many.count; i++)
		dsrmany_ask(&many, i);
	ck_assert_uint_eq(dsrmany_wait_answers(&many, SOON), 0);
	for (i = 0; i < many.count; i++)
		lost += many.one[i].fate != DSRMANY_GOES_ON ||
		    many.one[i].moved;
	printf("%s: %u of %u broken or moved\n", when, lost, many.count);
	ck_assert_uint_eq(lost, 0);
}

START_TEST(three_directors)
{
	static const char *const programs[] = { "bird", "birdc", "sysctl" };
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		NEED_PROGRAM(programs[i]);
	if (geteuid() != 0)
		SKIP("BIRD needs root");
	NEED_NET_FIXTURE(&guide.fixture, &network);
	net_fixture_more_clients(&guide.fixture, "192.168.200", HOSTS);
	prepare_servers();
	prepare_router();
	start_director(0);
	start_director(1);
	wait_paths(true, true, false);
	open_flows();
	ck_assert_int_gt(forwarded(&directors[0]), 0);
	ck_assert_int_gt(forwarded(&directors[1]), 0);
	start_director(2);
	wait_paths(true, true, true);
	expect_all("one added");
	ck_assert_int_gt(forwarded(&directors[2]), 0);
	child_stop(&directors[0].pen.child, SIGKILL);
	wait_paths(false, true, true);
	expect_all("one killed");
	/* it withdraws first: the router has no path to a pen that is gone */
	ck_assert_int_eq(kill(directors[1].pen.child.pid, SIGQUIT), 0);
	wait_paths(false, false, true);
	expect_all("one stopping");
	/* without servers the address is not reachable at all */
	ask(&directors[2], "server 0 maint; server 1 maint");
	wait_paths(false, false, false);
	ask(&directors[2], "server 0 up; server 1 up");
	wait_paths(false, false, true);
	expect_all("servers are back");
	dsrmany_close_all(&many);
	for (i = 0; i < DIRECTORS; i++)
		child_stop(&directors[i].announcer, SIGKILL);
	net_fixture_down(&guide.fixture);
}
END_TEST

SUITE(test_guide_ecmp)
{
	Suite *s = suite_create("guide_ecmp");

	SUITE_ADD(s, three_directors, 240);
	return s;
}
