/* test_dsr_trouble.c: a director's server that is cut off, and a client behind
 * a link that is narrower than the servers know. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "support/dsrmany.h"
#include "support/dsrpen.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SERVERS = 3, CLIENTS = 30, PAGE = 1024000 };

static const struct net_fixture_options three = { .servers = SERVERS };
static const struct net_fixture_options narrow = { .servers = SERVERS,
	.router = true };
static struct net_fixture fixture;
static struct dsrpen pen;
static struct dsrmany many, later;
static struct nginx web[SERVERS];

static const char *
server(bool v6, unsigned i)
{
	return v6 ? net_fixture_server6(i) : net_fixture_server4(i);
}

static int
unknown_macs(void)
{
	return count_in(dsrpen_ask(&pen, "dsr"), "mac unknown");
}

static void
begin(const char *vip, bool v6, const char *mode, const char *flows)
{
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, vip, mode, "-O", flows,
	    v6 ? text("[%s]:0", vip) : text("%s:0", vip), server(v6, 0),
	    server(v6, 1), server(v6, 2), NULL);
	WAIT_FOR(unknown_macs() == 0, 5000);
}

static void
end(void)
{
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}

/* ---- a server that is cut off ---- */

static void
add(struct dsrmany *m, unsigned n, const char *vip)
{
	for (; n > 0; n--)
		dsrmany_add(m, SOCK_STREAM, NULL, vip, DSRMANY_PORT);
	dsrmany_wait_known(m, 20000);
}

static void
ask_all(struct dsrmany *m)
{
	unsigned i;

	for (i = 0; i < m->count; i++)
		dsrmany_ask(m, i);
	ck_assert_uint_eq(dsrmany_wait_answers(m, 20000), 0);
}

/* Its addresses stay while it is down, IPv6's only if asked for. */
static void
cut_off(bool v6)
{
	if (v6)
		net_fixture_set(&fixture, NET_FIXTURE_SERVER + 1,
		    "ipv6/conf/all/keep_addr_on_down", "1");
	net_fixture_ip(
	    &fixture, NET_FIXTURE_SERVER + 1, "link set eth0 down\n");
}

/* A client may get a port that another one had, and with it that one's
 * server. */
static void
is_about(unsigned got, unsigned n)
{
	ck_assert_uint_ge(got + 2, n);
	ck_assert_uint_le(got, n + 2);
}

/* New ones go to the other two; `go_on` of the old ones live. */
static void
expect_others(const char *vip, unsigned go_on)
{
	dsrmany_init(&later, &fixture, NULL);
	add(&later, CLIENTS, vip);
	is_about(dsrmany_count(&later, 0), CLIENTS / 2);
	is_about(dsrmany_count(&later, 2), CLIENTS / 2);
	ask_all(&many);
	ck_assert_uint_eq(dsrmany_open(&many), go_on);
}

static void
expect_failover(const char *vip, bool v6)
{
	long long down, noticed;
	unsigned i, its;

	for (i = 0; i < SERVERS; i++)
		dsrmany_serve(&fixture, i);
	begin(vip, v6, "-r", "dsr_flows 1000");
	dsrmany_init(&many, &fixture, NULL);
	add(&many, CLIENTS, vip);
	its = dsrmany_count(&many, 1);
	ck_assert_uint_eq(its, CLIENTS / SERVERS);
	cut_off(v6);
	down = wait_now_ms();
	/* Those that come now wait, if it is their server, until it is
	 * known. */
	add(&many, 3, vip);
	noticed = wait_now_ms() - down;
	ck_assert_uint_eq(dsrmany_count(&many, 1), its);
	WAIT_FOR(
	    child_has_said(&pen.child, "server blacklisted server=1"), 40000);
	printf("%s: failure noticed after %lld ms, the last of three clients"
	       " served after %lld ms\n",
	    vip, wait_now_ms() - down, noticed);
	for (i = 0; i < many.count; i++)
		if (many.one[i].server == 1)
			dsrmany_close(&many, i);
	expect_others(vip, CLIENTS + 3 - its);
	down = wait_now_ms();
	net_fixture_ip(&fixture, NET_FIXTURE_SERVER + 1, "link set eth0 up\n");
	WAIT_FOR(unknown_macs() == 0, 15000);
	printf("%s: back after %lld ms\n", vip, wait_now_ms() - down);
	add(&later, CLIENTS, vip);
	is_about(dsrmany_count(&later, 1), CLIENTS / SERVERS);
	ask_all(&later);
	ck_assert_uint_eq(dsrmany_open(&later), 2 * CLIENTS);
	end();
}

START_TEST(server_is_cut_off)
{
	if (dsrpen_is_classic())
		SKIP("a classic pen has no control socket here");
	NEED_DSR();
	NEED_NET_FIXTURE(&fixture, &three);
	expect_failover(NET_FIXTURE_VIP4, false);
}
END_TEST

START_TEST(server_is_cut_off_over_ipv6)
{
	if (dsrpen_is_classic())
		SKIP("a classic pen has no control socket here");
	NEED_DSR();
	NEED_NET_FIXTURE(&fixture, &three);
	expect_failover(NET_FIXTURE_VIP6, true);
}
END_TEST

/* No flow remembered, no client that asks again: its silence alone tells. */
START_TEST(silence_is_noticed_without_clients)
{
	NEED_DSR_OF_OURS("this");
	NEED_NET_FIXTURE(&fixture, &three);
	begin(NET_FIXTURE_VIP4, false, "-rh", "dsr_flows 0");
	cut_off(false);
	WAIT_FOR(
	    child_has_said(&pen.child, "server blacklisted server=1"), 12000);
	end();
}
END_TEST

/* ---- an interface that goes for good ---- */

/* A supervisor hears of it, and starts it anew when there is one again. */
static void
expect_the_end(const char *kind)
{
	begin(NET_FIXTURE_VIP4, false, "-r", kind);
	net_fixture_ip(&fixture, NET_FIXTURE_DIRECTOR, "link del eth0\n");
	WAIT_FOR(child_has_ended(&pen.child), 10000);
	ck_assert_int_eq(pen.child.status, 1);
	ck_assert(child_has_said(&pen.child, "interface removed"));
	net_fixture_down(&fixture);
}

START_TEST(interface_is_removed)
{
	NEED_DSR_OF_OURS("this");
	NEED_NET_FIXTURE(&fixture, &three);
	expect_the_end("dsr_fast_path off");
}
END_TEST

START_TEST(interface_is_removed_with_a_fast_path)
{
	NEED_DSR_OF_OURS("this");
	NEED_NET_FIXTURE(&fixture, &three);
	expect_the_end("dsr_fast_path on");
}
END_TEST

/* Its name is not it. */
START_TEST(interface_is_renamed)
{
	NEED_DSR_OF_OURS("this");
	NEED_NET_FIXTURE(&fixture, &three);
	begin(NET_FIXTURE_VIP4, false, "-r", "dsr_link packet");
	net_fixture_ip(&fixture, NET_FIXTURE_DIRECTOR,
	    "link set eth0 down\nlink set eth0 name lan0\nlink set lan0 up\n");
	WAIT_FOR(
	    child_has_said(&pen.child, "link is back interface=lan0"), 10000);
	ck_assert_ptr_nonnull(
	    strstr(dsrpen_ask(&pen, "dsr"), "interface lan0\n"));
	cut_off(false);
	WAIT_FOR(
	    child_has_said(&pen.child, "server blacklisted server=1"), 12000);
	end();
}
END_TEST

/* ---- a narrow link ---- */

static void
get_pages(const char *vip, unsigned n)
{
	unsigned i;

	dsrmany_init(&many, &fixture, "GET /page\r\n");
	for (i = 0; i < n; i++)
		dsrmany_add(&many, SOCK_STREAM, NULL, vip, 80);
	WAIT_FOR((dsrmany_turn(&many, 10), dsrmany_open(&many) == 0), 20000);
	for (i = 0; i < n; i++) {
		ck_assert_int_eq(many.one[i].fate, DSRMANY_ENDED);
		ck_assert_uint_eq(many.one[i].got, PAGE);
		ck_assert(!many.one[i].moved);
	}
}

/* Whether the server was told that something is too big. */
static bool
is_told(unsigned i, bool v6)
{
	const char *counters = net_fixture_run(&fixture, NET_FIXTURE_SERVER + i,
	    10000, "cat", v6 ? "/proc/net/snmp6" : "/proc/net/snmp", NULL);

	if (!v6)
		return strstr(counters, "IcmpMsg: InType3") != NULL;
	return report_number(counters, "Icmp6InPktTooBigs") > 0;
}

/* The router's errors reach those whose pages they are about, and nobody
 * else. */
static void
expect_errors_at_servers(const char *vip, bool v6, const char *flows)
{
	bool served[SERVERS] = { false };
	unsigned i, k;

	for (i = 0; i < SERVERS; i++)
		dsrmany_web(&fixture, i, &web[i], PAGE);
	begin(vip, v6, strstr(flows, " 0") != NULL ? "-rh" : "-r", flows);
	for (k = 0; k < SERVERS + 1; k++) {
		get_pages(vip, 1);
		served[many.one[0].server] = true;
		for (i = 0; i < SERVERS; i++)
			ck_assert_int_eq(is_told(i, v6), served[i]);
	}
	get_pages(vip, CLIENTS);
	end();
}

#define NARROW(name, vip, v6, flows)                                      \
	START_TEST(name)                                                  \
	{                                                                 \
		if (dsrpen_is_classic())                                  \
			SKIP("a classic pen has no control socket here"); \
		NEED_PROGRAM("nginx");                                    \
		NEED_DSR();                                               \
		NEED_NET_FIXTURE(&fixture, &narrow);                      \
		expect_errors_at_servers(vip, v6, flows);                 \
	}                                                                 \
	END_TEST

NARROW(narrow_link, NET_FIXTURE_VIP4, false, "dsr_flows 1000")
NARROW(narrow_link_and_hash, NET_FIXTURE_VIP4, false, "dsr_flows 0")
NARROW(narrow_link_over_ipv6, NET_FIXTURE_VIP6, true, "dsr_flows 1000")
NARROW(narrow_link_and_hash_over_ipv6, NET_FIXTURE_VIP6, true, "dsr_flows 0")

SUITE(test_dsr_trouble)
{
	Suite *s = suite_create("dsr_trouble");

	SUITE_ADD(s, server_is_cut_off, 120);
	SUITE_ADD(s, silence_is_noticed_without_clients, 60);
	SUITE_ADD(s, interface_is_removed, 30);
	SUITE_ADD(s, interface_is_removed_with_a_fast_path, 30);
	SUITE_ADD(s, interface_is_renamed, 60);
	SUITE_ADD(s, server_is_cut_off_over_ipv6, 120);
	SUITE_ADD(s, narrow_link, 60);
	SUITE_ADD(s, narrow_link_and_hash, 60);
	SUITE_ADD(s, narrow_link_over_ipv6, 60);
	SUITE_ADD(s, narrow_link_and_hash_over_ipv6, 60);
	return s;
}
