/* test_guide_ecmp.c: the files of examples/guide for directors that share an
 * address: real BIRDs announce it to a router, which has a BIRD, too; one
 * director is added, one is killed, one is stopped. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "net/ecmp_fixture.h"
#include "support/ctl.h"
#include "support/dsrmany.h"
#include "support/suite.h"
#include "support/wait.h"

#define VIP "192.0.2.20"

enum { SOON = ECMP_SOON, CLIENTS = 50 };

static struct guide guide = { .name = "ecmp" };
static struct dsrmany many;

/* ---- hosts ---- */

static void
prepare_servers(void)
{
	int i;

	for (i = 0; i < ECMP_SERVERS; i++) {
		ecmp_carry_out(&guide, NET_FIXTURE_SERVER + i,
		    guide_quote("dsr.conf", "On each server, at each boot"));
		ecmp_carry_out(&guide, NET_FIXTURE_SERVER + i,
		    "ip addr add " NET_FIXTURE_VIP6 "/128 dev lo nodad\n"
		    "ip route add default via 192.0.2.1\n");
		dsrmany_serve_at(&guide.fixture, (unsigned)i, VIP);
		/* for the checks, whose clients the kernel accepts */
		(void)net_fixture_listen(&guide.fixture, NET_FIXTURE_SERVER + i,
		    SOCK_STREAM, VIP, 80);
	}
}

static const char *
at_boot(void)
{
	return guide_quote("dsr.conf", "On this host, at each boot:");
}

static const char *
bird(void)
{
	return guide_text("ecmp-bird.conf");
}

static const char *
ask(int host, const char *line)
{
	guide_machine(&guide, text("d%d-", host));
	return net_fixture_run(&guide.fixture, ecmp_hosts[host].where, SOON,
	    ctl_client(), guide_path("/run/pen-ecmp/ctl"), line, NULL);
}

/* ---- paths ---- */

/* Whether the router has exactly those. */
static bool
has_paths(const bool wanted[ECMP_HOSTS])
{
	const char *route = ecmp_routes(&guide, VIP);
	int i;

	for (i = 0; i < ECMP_HOSTS; i++)
		if ((strstr(route, text("via 192.0.2.%d ", 31 + i)) != NULL) !=
		    wanted[i])
			return false;
	return true;
}

static void
wait_paths(bool first, bool second, bool third)
{
	const bool wanted[ECMP_HOSTS] = { first, second, third };
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
		    text("192.168.200.%u", 100 + i % CLIENTS), VIP,
		    DSRMANY_PORT);
	dsrmany_wait_known(&many, SOON);
	for (i = 0; i < ECMP_SERVERS; i++)
		ck_assert_uint_gt(dsrmany_count(&many, (int)i), 0);
}

static long
forwarded(int host)
{
	return report_number(ask(host, "dsr"), "forwarded");
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
		lost +=
		    many.one[i].fate != DSRMANY_GOES_ON || many.one[i].moved;
	printf("%s: %u of %u broken or moved\n", when, lost, many.count);
	ck_assert_uint_eq(lost, 0);
}

START_TEST(three_directors)
{
	NEED_ECMP(&guide);
	net_fixture_more_clients(&guide.fixture, "192.168.200", CLIENTS);
	prepare_servers();
	ecmp_start(&guide, 0, at_boot, bird);
	ecmp_start(&guide, 1, at_boot, bird);
	wait_paths(true, true, false);
	open_flows();
	ck_assert_int_gt(forwarded(0), 0);
	ck_assert_int_gt(forwarded(1), 0);
	ecmp_start(&guide, 2, at_boot, bird);
	wait_paths(true, true, true);
	expect_all("one added");
	ck_assert_int_gt(forwarded(2), 0);
	child_stop(&ecmp_hosts[0].pen.child, SIGKILL);
	wait_paths(false, true, true);
	expect_all("one killed");
	/* it withdraws first: the router has no path to a pen that is gone */
	ck_assert_int_eq(kill(ecmp_hosts[1].pen.child.pid, SIGQUIT), 0);
	wait_paths(false, false, true);
	expect_all("one stopping");
	/* without servers the address is not reachable at all */
	ask(2, "server 0 maint; server 1 maint");
	wait_paths(false, false, false);
	ask(2, "server 0 up; server 1 up");
	wait_paths(false, false, true);
	expect_all("servers are back");
	dsrmany_close_all(&many);
	ecmp_down(&guide);
}
END_TEST

SUITE(test_guide_ecmp)
{
	Suite *s = suite_create("guide_ecmp");

	SUITE_ADD(s, three_directors, 240);
	return s;
}
