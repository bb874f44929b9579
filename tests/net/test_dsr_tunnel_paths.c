/* test_dsr_tunnel_paths.c: tunnels whose path is narrower than the link, next
 * hops that go away, servers with tunnels beside others, and changes while all
 * that is in use. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/ctl.h"
#include "support/decap.h"
#include "support/dsrmany.h"
#include "support/dsrnet.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

static struct net_fixture fixture;
static struct dsrnet net;
static struct dsrmany many;

#define OWN \
	"-Odsr_ip " NET_FIXTURE_DSR_IP4, "-Odsr_ip " NET_FIXTURE_DSR_IP6
#define FAR_MAC	    "02:00:00:64:00:09"
#define FAR_GATEWAY "-Odsr_gateway 192.168.100.9"

static const char *
ask(const char *line)
{
	return dsrpen_ask(&net.pen, line);
}

static bool
begins(const char *text_, const char *with)
{
	return strncmp(text_, with, strlen(with)) == 0;
}

static bool
says(const char *line, const char *what)
{
	return strstr(ask(line), what) != NULL;
}

static void
wait_for_hops(void)
{
	WAIT_FOR(!says("dsr", "unknown"), 5000);
}

static void
close_all(void)
{
	unsigned i;

	dsrpen_down(&net.pen);
	for (i = 0; i < fixture.is.servers; i++)
		close(net.at[i]);
	net_fixture_down(&fixture);
}

static void
pass_both_ways(int near, int far)
{
	size_t n = (size_t)suite_amount(2 << 20, 1 << 20);

	dsrnet_pass(near, far, n);
	dsrnet_pass(far, near, n);
}

/* ---- narrow paths ---- */

static void
begin_far(const char *vip, const char *next, bool outer6, const char *mode)
{
	dsrnet_open(&net, &fixture, vip, SOCK_STREAM);
	dsrpen_up(&net.pen, &fixture, NET_FIXTURE_DIRECTOR, vip, mode,
	    "-Odsr_forward tunnel", OWN, next,
	    strchr(vip, ':') != NULL ? text("[%s]:0", vip) : text("%s:0", vip),
	    outer6 ? text("[%s]", net_fixture_far6(0)) : net_fixture_far4(0),
	    outer6 ? text("[%s]", net_fixture_far6(1)) : net_fixture_far4(1),
	    NULL);
	wait_for_hops();
}

/* An upload goes through, and what the router has said is known then. */
static void
expect_narrow(const char *vip, const char *next, bool outer6, unsigned mtu)
{
	int near, far;
	unsigned i, told;

	begin_far(vip, next, outer6, "-r");
	for (i = 0; i < 2; i++) {
		told = dsrnet_connect(&net, &near, &far);
		pass_both_ways(near, far);
		close(near);
		close(far);
		/* by now the client sends nothing that is too big */
		if (i > 0 && mtu >= 1400)
			continue;
		ck_assert_msg(
		    says("dsr",
			text("\n%u mac %s forward tunnel path_mtu %u\n", told,
			    strstr(next, "no ") != NULL ? "route" : FAR_MAC,
			    mtu)),
		    "%s", ask("dsr"));
	}
	close_all();
}

#define NARROW(name, vip, next, outer6, mtu)                        \
	START_TEST(name)                                            \
	{                                                           \
		static const struct net_fixture_options narrow = {  \
			.servers = 2, .beyond = 2, .far_mtu = (mtu) \
		};                                                  \
		NEED_TUNNELS(&fixture, &narrow);                    \
		if (strstr(next, "no ") != NULL)                    \
			net_fixture_make_route(&fixture);           \
		expect_narrow(vip, next, outer6, mtu);              \
	}                                                           \
	END_TEST

NARROW(narrow_gateway, NET_FIXTURE_VIP4, FAR_GATEWAY, false, 1400)
NARROW(narrow_gateway6, NET_FIXTURE_VIP6, FAR_GATEWAY, true, 1400)
NARROW(narrow_route, NET_FIXTURE_VIP4, "-Ono dsr_gateway", false, 1400)
NARROW(narrow_route6, NET_FIXTURE_VIP6, "-Ono dsr_gateway", true, 1400)
/* packets of IPv6 cannot become as small as what fits */
NARROW(least_gateway, NET_FIXTURE_VIP6, FAR_GATEWAY, false, 1280)
NARROW(least_gateway6, NET_FIXTURE_VIP6, FAR_GATEWAY, true, 1280)
NARROW(least_route, NET_FIXTURE_VIP6, "-Ono dsr_gateway", false, 1280)
NARROW(least_route6, NET_FIXTURE_VIP6, "-Ono dsr_gateway", true, 1280)

static const struct net_fixture_options near_two = { .servers = 2 };

/* ---- merged frames ---- */

/* Packet sockets get them. */

static void
expect_merged(const char *vip, const char *next, bool outer6)
{
	int near, far;

	begin_far(vip, next, outer6, "-rOdsr_fast_path off");
	dsrnet_connect(&net, &near, &far);
	pass_both_ways(near, far);
	/* each was several packets */
	ck_assert_int_gt(report_number(ask("dsr"), "tunnelled"),
	    report_number(ask("dsr"), "forwarded"));
	close(near);
	close(far);
	close_all();
}

static const struct net_fixture_options offload = {
	.servers = 2, .beyond = 2, .offload = true
};

START_TEST(merged)
{
	NEED_TUNNELS(&fixture, &offload);
	expect_merged(NET_FIXTURE_VIP4, FAR_GATEWAY, false);
}
END_TEST

START_TEST(merged_on_route)
{
	NEED_TUNNELS(&fixture, &offload);
	net_fixture_make_route(&fixture);
	expect_merged(NET_FIXTURE_VIP6, "-Ono dsr_gateway", true);
}
END_TEST

/* ---- beside others ---- */

enum { CLIENTS = 60, SERVERS = 3 };

START_TEST(mixed)
{
	static const struct net_fixture_options some = { .servers = SERVERS,
		.beyond = 2 };
	unsigned i, k;

	NEED_TUNNELS(&fixture, &some);
	for (i = 0; i < SERVERS; i++)
		dsrmany_serve(&fixture, i);
	dsrpen_up(&net.pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4,
	    "-W", OWN, FAR_GATEWAY, NET_FIXTURE_VIP4 ":0",
	    text("%s:0:0:0:1", net_fixture_server4(0)),
	    text("%s:0:0:0:2", net_fixture_far4(1)),
	    text("%s:0:0:0:3", net_fixture_far4(2)), NULL);
	ask("server 1 forward tunnel; server 2 forward tunnel");
	wait_for_hops();
	ck_assert(says("dsr", "\n0 mac 02:00:00:64:00:03 forward mac\n"));
	ck_assert(says("dsr", "\n1 mac " FAR_MAC " forward tunnel "));
	for (k = 0; k < 2; k++) {
		dsrmany_init(&many, &fixture, NULL);
		for (i = 0; i < CLIENTS; i++)
			dsrmany_add(&many, k == 0 ? SOCK_STREAM : SOCK_DGRAM,
			    NULL, NET_FIXTURE_VIP4, DSRMANY_PORT);
		dsrmany_wait_known(&many, 10000);
		for (i = 0; i < SERVERS; i++) {
			unsigned n = dsrmany_count(&many, (int)i);

			printf("mixed: server %u: %u\n", i, n);
			ck_assert_uint_ge(n + 1, CLIENTS * (i + 1) / 6);
			ck_assert_uint_le(n, CLIENTS * (i + 1) / 6 + 1);
		}
		dsrmany_close_all(&many);
	}
	dsrpen_down(&net.pen);
	net_fixture_down(&fixture);
}
END_TEST

/* ---- changes ---- */

/* A connection goes on by each way there is to a server on the segment; the
 * kernel knows none. */
START_TEST(changes)
{
	static const char *const lines[] = { "dsr_forward mac",
		"server all forward tunnel", "dsr_gateway 02:00:00:64:00:03",
		"no dsr_gateway", "server all forward default",
		"dsr_forward tunnel" };
	unsigned long tunnelled, more;
	unsigned i;
	int near, far;

	NEED_TUNNELS(&fixture, &near_two);
	dsrnet_open(&net, &fixture, NET_FIXTURE_VIP4, SOCK_STREAM);
	dsrpen_up(&net.pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4,
	    "-r", "-Odsr_forward tunnel", OWN, NET_FIXTURE_VIP4 ":0",
	    net_fixture_server4(0), NULL);
	wait_for_hops();
	dsrnet_connect(&net, &near, &far);
	dsrnet_pass(near, far, 100000);
	tunnelled = (unsigned long)report_number(ask("dsr"), "tunnelled");
	ck_assert_uint_gt(tunnelled, 0);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		ask(lines[i]);
		dsrnet_pass(near, far, 100000);
		more = (unsigned long)report_number(ask("dsr"), "tunnelled");
		if (i == 0 || i == 4)
			ck_assert_uint_eq(more, tunnelled);
		else
			ck_assert_uint_gt(more, tunnelled);
		tunnelled = more;
	}
	ck_assert_uint_eq(
	    (unsigned long)report_number(ask("dsr"), "dropped_neighbor"), 0);
	close(near);
	close(far);
	close_all();
}
END_TEST

/* A client that has sent all its question may still read the answer for long:
 * its server may be removed, and another one come, meanwhile. */
static void
expect_half_closed_to_go_on(const char *way)
{
	int near, far;

	dsrnet_open(&net, &fixture, NET_FIXTURE_VIP4, SOCK_STREAM);
	dsrpen_up(&net.pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4,
	    "-r", way, OWN, NET_FIXTURE_VIP4 ":0", net_fixture_server4(0),
	    NULL);
	wait_for_hops();
	dsrnet_connect(&net, &near, &far);
	dsrnet_pass(near, far, 1000);
	ck_assert_int_eq(shutdown(near, SHUT_WR), 0);
	WAIT_FOR(report_number(ask("dsr"), "flows_fin") == 1, 5000);
	ask("server 0 remove");
	ask(text("server add %s", net_fixture_server4(1)));
	dsrnet_pass(far, near, 2 << 20);
	close(near);
	close(far);
	close_all();
}

START_TEST(half_closed)
{
	NEED_TUNNELS(&fixture, &near_two);
	expect_half_closed_to_go_on("-Odsr_forward mac");
}
END_TEST

START_TEST(half_closed_in_a_tunnel)
{
	NEED_TUNNELS(&fixture, &near_two);
	expect_half_closed_to_go_on("-Odsr_forward tunnel");
}
END_TEST

/* Without rights there are no raw sockets; a gateway needs none. */
START_TEST(refused)
{
	NEED_TUNNELS(&fixture, &near_two);
	dsrpen_up(&net.pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4,
	    "-r", OWN, NET_FIXTURE_VIP4 ":0", net_fixture_server4(0), NULL);
	ck_assert(dsrpen_is_refused(&net.pen, &fixture,
	    "server 0 forward tunnel", "Operation not permitted"));
	ck_assert(dsrpen_is_refused(&net.pen, &fixture, "dsr_forward tunnel",
	    "Operation not permitted"));
	ck_assert(says("dsr", "forward mac"));
	ask("dsr_gateway 192.168.100.4; dsr_forward tunnel");
	ck_assert(dsrpen_is_refused(
	    &net.pen, &fixture, "no dsr_gateway", "Operation not permitted"));
	WAIT_FOR(
	    says("dsr", "mac 02:00:00:64:00:04 forward tunnel path_mtu 1500"),
	    5000);
	dsrpen_down(&net.pen);
	net_fixture_down(&fixture);
}
END_TEST

/* Servers that come when there are no rights any more get what was prepared. */
START_TEST(later_ones)
{
	NEED_TUNNELS(&fixture, &near_two);
	dsrpen_up(&net.pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4,
	    "-r", OWN, "-Odsr_forward tunnel", "-Oserver 0 forward mac",
	    NET_FIXTURE_VIP4 ":0", net_fixture_server4(0), NULL);
	ck_assert(says("dsr", "forward mac"));
	ask(text("server add %s", net_fixture_server4(1)));
	WAIT_FOR(
	    says("dsr", "mac 02:00:00:64:00:04 forward tunnel path_mtu 1500"),
	    5000);
	dsrpen_down(&net.pen);
	net_fixture_down(&fixture);
}
END_TEST

static const struct net_fixture_options two = { .servers = 2, .beyond = 2 };

/* ---- checks ---- */

/* A question of a probe goes the way of clients' packets. */
static void
expect_checks(const char *vip, const char *next)
{
	bool v6 = strchr(vip, ':') != NULL;

	begin_far(vip, next, v6, "-r");
	ask(text("check_interval 0.2; check_timeout 0.2; check dsr %d",
	    DSRNET_PORT));
	WAIT_FOR(says("checks", "\n1 check dsr state up result ok") &&
		begins(ask("checks"), "0 check dsr state up result ok"),
	    10000);
	net_fixture_ip(&fixture, NET_FIXTURE_SERVER + 1,
	    text("addr del %s/%d dev lo\n", vip, v6 ? 128 : 32));
	WAIT_FOR(
	    says("checks", "\n1 check dsr state down result timeout"), 10000);
	close_all();
}

START_TEST(checks)
{
	NEED_TUNNELS(&fixture, &two);
	expect_checks(NET_FIXTURE_VIP4, FAR_GATEWAY);
}
END_TEST

START_TEST(checks_on_route)
{
	NEED_TUNNELS(&fixture, &two);
	net_fixture_make_route(&fixture);
	expect_checks(NET_FIXTURE_VIP6, "-Ono dsr_gateway");
}
END_TEST

/* ---- next hops that go away ---- */

static void
expect_failure(const char *next)
{
	int near, k;

	begin_far(NET_FIXTURE_VIP4, next, false, "-r");
	net_fixture_ip(&fixture, NET_FIXTURE_FAR_ROUTER,
	    strstr(next, "no ") != NULL ? "link set d1 arp off\n"
					: "link set eth0 arp off\n");
	if (strstr(next, "no ") != NULL)
		net_fixture_run(&fixture, NET_FIXTURE_DIRECTOR, 5000, "ip",
		    "neigh", "flush", "dev", "eth1", NULL);
	/* they need not get anywhere */
	for (k = 0; k < 4; k++) {
		near = dsrnet_dial(&net);
		close(near);
	}
	near = dsrnet_dial(&net);
	WAIT_FOR(
	    child_has_said(&net.pen.child, "server blacklisted server=0") ||
		child_has_said(&net.pen.child, "server blacklisted server=1"),
	    45000);
	close(near);
	close_all();
}

START_TEST(gateway_goes)
{
	NEED_TUNNELS(&fixture, &two);
	expect_failure(FAR_GATEWAY);
}
END_TEST

START_TEST(route_goes)
{
	NEED_TUNNELS(&fixture, &two);
	net_fixture_make_route(&fixture);
	expect_failure("-Ono dsr_gateway");
}
END_TEST

SUITE(test_dsr_tunnel_paths)
{
	Suite *s = suite_create("dsr_tunnel_paths");

	SUITE_ADD(s, narrow_gateway, 60);
	SUITE_ADD(s, narrow_gateway6, 60);
	SUITE_ADD(s, narrow_route, 60);
	SUITE_ADD(s, narrow_route6, 60);
	SUITE_ADD(s, least_gateway, 60);
	SUITE_ADD(s, least_gateway6, 60);
	SUITE_ADD(s, least_route, 60);
	SUITE_ADD(s, least_route6, 60);
	SUITE_ADD(s, merged, 60);
	SUITE_ADD(s, merged_on_route, 60);
	SUITE_ADD(s, mixed, 60);
	SUITE_ADD(s, changes, 60);
	SUITE_ADD(s, half_closed, 60);
	SUITE_ADD(s, half_closed_in_a_tunnel, 60);
	SUITE_ADD(s, refused, 60);
	SUITE_ADD(s, later_ones, 60);
	SUITE_ADD(s, checks, 60);
	SUITE_ADD(s, checks_on_route, 60);
	SUITE_ADD(s, gateway_goes, 90);
	SUITE_ADD(s, route_goes, 90);
	return s;
}
