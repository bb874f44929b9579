/* test_dsr_check.c: `check dsr`: servers that do not answer for the clients'
 * address, whatever the reason, get no new clients, and get them again. */
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

enum { SERVERS = 3, CLIENTS = 30, SECOND_PORT = 7008 };

#define FAST                                                         \
	"-O", "check_interval 0.2", "-O", "check_timeout 0.2", "-O", \
	    "dsr_ip " NET_FIXTURE_DSR_IP4, "-O",                     \
	    "dsr_ip " NET_FIXTURE_DSR_IP6, "-r"

static const struct net_fixture_options three = { .servers = SERVERS };
static const struct net_fixture_options tagged = { .servers = SERVERS,
	.vlan = 7 };
static const struct net_fixture_options late = { .servers = SERVERS,
	.offload = true };
static const char *flows = "dsr_flows 100000";
static struct net_fixture fixture;
static struct dsrpen pen;
static struct dsrmany many;
static const char *vip;
static bool v6;

static const char *
server(unsigned i)
{
	return v6 ? net_fixture_server6(i) : net_fixture_server4(i);
}

/* The servers' service; later children would keep listeners of the test
 * open. */
static void
serve(const char *address)
{
	unsigned i;

	vip = address;
	v6 = strchr(vip, ':') != NULL;
	for (i = 0; i < SERVERS; i++)
		dsrmany_serve(&fixture, i);
}

/* Pen as director for that address. */
static void
begin(const char *listen, const char *check)
{
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, vip, FAST, "-O", flows,
	    "-O", check, listen, server(0), server(1), server(2), NULL);
}

static void
begin_all_ports(const char *address, const char *check)
{
	serve(address);
	begin(text(v6 ? "[%s]:0" : "%s:0", vip), check);
}

static void
end(void)
{
	dsrmany_close_all(&many);
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}

/* ---- what checks say ---- */

/* Whether the line of server i has this. */
static bool
line_has(unsigned i, const char *what)
{
	const char *all = dsrpen_ask(&pen, "checks"), *line, *last, *at;
	char start[32];

	snprintf(start, sizeof(start), "\n%u check dsr ", i);
	line = i > 0 ? strstr(all, start) : all;
	if (line == NULL)
		return false;
	last = strchr(line + 1, '\n');
	at = strstr(line, what);
	return at != NULL && (last == NULL || at < last);
}

static bool
is_in_state(unsigned i, bool healthy)
{
	return line_has(i, healthy ? "state up" : "state down");
}

static void
expect_all_well(void)
{
	unsigned i;

	for (i = 0; i < SERVERS; i++)
		WAIT_FOR(line_has(i, "state up result ok"), 10000);
}

/* ---- clients ---- */

/* New clients, of whom none may fail, get these servers and no other. A port
 * used before may lead back to a server, so that shares are no exact ones,
 * those of a hash even less. */
static void
expect_new_at(const char *servers)
{
	bool hash = strcmp(flows, "dsr_flows 0") == 0;
	unsigned i, got, all = 0, few = hash ? 0 : CLIENTS / SERVERS / 2;

	dsrmany_init(&many, &fixture, NULL);
	for (i = 0; i < CLIENTS; i++)
		dsrmany_add(&many, SOCK_STREAM, NULL, vip, DSRMANY_PORT);
	dsrmany_wait_known(&many, 10000);
	ck_assert_uint_eq(dsrmany_open(&many), CLIENTS);
	for (i = 0; i < SERVERS; i++) {
		got = dsrmany_count(&many, (int)i);
		if (strchr(servers, '0' + (int)i) == NULL)
			ck_assert_uint_eq(got, 0);
		else
			ck_assert_uint_gt(got, few);
		all += got;
	}
	ck_assert_uint_eq(all, CLIENTS);
	dsrmany_close_all(&many);
}

/* Whether that is in an answer as JSON. */
static void
expect_json(const char *command, const char *what, bool wanted)
{
#ifdef HAVE_JANSSON
	const char *said = dsrpen_ask(&pen, text("%s json", command));

	ck_assert_int_eq(strstr(said, what) != NULL, wanted);
#else
	(void)command;
	(void)what;
	(void)wanted;
#endif
}

/* Server 1 goes as `reason` says, until it is back. */
static void
expect_out(const char *reason, long long since)
{
	WAIT_FOR(is_in_state(1, false), 15000);
	printf("%s: %s: unhealthy after %lld ms\n", vip, reason,
	    wait_now_ms() - since);
	WAIT_FOR(line_has(1, text("result %s", reason)), 10000);
	ck_assert(is_in_state(0, true) && is_in_state(2, true));
	expect_json("checks",
	    "\"server\":1,\"check\":\"dsr\",\"state\":\"down\"", true);
	ck_assert(child_has_said(&pen.child,
	    text("server down server=1 name=%s reason=\"check dsr ",
		server(1))));
	expect_json("servers", "\"state\":\"down\"", true);
	ck_assert_ptr_nonnull(
	    strstr(dsrpen_ask(&pen, "status"), "class=\"down\""));
	expect_new_at("02");
}

static void
expect_back(const char *reason, long long since)
{
	WAIT_FOR(is_in_state(1, true) && is_in_state(0, true) &&
		is_in_state(2, true),
	    30000);
	printf("%s: %s: healthy again after %lld ms\n", vip, reason,
	    wait_now_ms() - since);
	WAIT_FOR(child_has_said(&pen.child, "server up server=1"), 1000);
	expect_new_at("012");
}

/* ---- an address that is missing ---- */

static void
vip_on_server(bool there)
{
	net_fixture_ip(&fixture, NET_FIXTURE_SERVER + 1,
	    text("address %s %s/%s dev lo%s\n", there ? "add" : "del", vip,
		v6 ? "128" : "32", v6 && there ? " nodad" : ""));
}

/* Clients whose SYNs the server has got in vain, before it is known, try again:
 * they find another. */
static void
expect_second_chances(void)
{
	unsigned i;

	dsrmany_init(&many, &fixture, NULL);
	for (i = 0; i < CLIENTS; i++)
		dsrmany_add(&many, SOCK_STREAM, NULL, vip, DSRMANY_PORT);
	dsrmany_wait_known(&many, 10000);
	ck_assert_uint_eq(dsrmany_open(&many), CLIENTS);
	ck_assert_uint_eq(dsrmany_count(&many, 1), 0);
	dsrmany_close_all(&many);
}

/* The kernel of a server that has
 * not the address passes on what comes for it, if it is told to. */
static void
expect_missing_vip(const char *address, bool router)
{
	const char *name = strchr(address, ':') != NULL
	    ? "ipv6/conf/all/forwarding"
	    : "ipv4/conf/all/forwarding";
	long long gone;

	begin_all_ports(address, text("check dsr %d", DSRMANY_PORT));
	expect_all_well();
	expect_new_at("012");
	if (router)
		net_fixture_set(&fixture, NET_FIXTURE_SERVER + 1, name, "1");
	gone = wait_now_ms();
	vip_on_server(false);
	if (!router)
		expect_second_chances();
	expect_out("timeout", gone);
	vip_on_server(true);
	expect_back("the address is there", wait_now_ms());
	end();
}

/* ---- a service that is dead ---- */

/* A listener of the test itself, at another port. */
static int
open_second(unsigned i)
{
	return net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER + i, SOCK_STREAM, vip, SECOND_PORT);
}

/* Connections that an unhealthy server has go on. Its datagrams go elsewhere:
 * they are answered by another server from now on. */
static void
expect_old_ones(struct dsrmany *tcp, struct dsrmany *udp)
{
	unsigned i;

	for (i = 0; i < CLIENTS; i++) {
		udp->one[i].server = -1;
		dsrmany_ask(tcp, i);
		dsrmany_ask(udp, i);
	}
	ck_assert_uint_eq(dsrmany_wait_answers(tcp, 10000), 0);
	ck_assert_uint_eq(dsrmany_wait_answers(udp, 10000), 0);
	ck_assert_uint_eq(dsrmany_open(tcp), CLIENTS);
	for (i = 0; i < CLIENTS; i++)
		ck_assert(!tcp->one[i].moved);
	ck_assert_uint_gt(dsrmany_count(tcp, 1), 0);
	ck_assert_uint_eq(dsrmany_count(udp, 1), 0);
}

static void
begin_old_ones(struct dsrmany *m, int type)
{
	unsigned i;

	dsrmany_init(m, &fixture, NULL);
	for (i = 0; i < CLIENTS; i++)
		dsrmany_add(m, type, NULL, vip, DSRMANY_PORT);
	dsrmany_wait_known(m, 10000);
	ck_assert_uint_gt(dsrmany_count(m, 1), 0);
}

/* Two ports, each a place: a server must answer at both. */
static void
expect_dead_service(const char *address)
{
	static struct dsrmany tcp, udp;
	int second[SERVERS];
	unsigned i;

	serve(address);
	for (i = 0; i < SERVERS; i++)
		second[i] = open_second(i);
	begin(text(v6 ? "[%s]:%d,[%s]:%d" : "%s:%d,%s:%d", address,
		  DSRMANY_PORT, address, SECOND_PORT),
	    "check dsr");
	expect_all_well();
	expect_new_at("012");
	begin_old_ones(&tcp, SOCK_STREAM);
	begin_old_ones(&udp, SOCK_DGRAM);
	close(second[1]);
	expect_out("refused", wait_now_ms());
	ck_assert(line_has(1, text(":%d ", SECOND_PORT)));
	expect_old_ones(&tcp, &udp);
	second[1] = open_second(1);
	expect_back("the service is there", wait_now_ms());
	for (i = 0; i < SERVERS; i++)
		close(second[i]);
	dsrmany_close_all(&tcp);
	dsrmany_close_all(&udp);
	end();
}

/* ---- a server that is silent ---- */

/* Its address is still known for a while: the questions are lost. */
static void
expect_silence(const char *address)
{
	begin_all_ports(address, text("check dsr %d", DSRMANY_PORT));
	expect_all_well();
	if (v6)
		net_fixture_set(&fixture, NET_FIXTURE_SERVER + 1,
		    "ipv6/conf/all/keep_addr_on_down", "1");
	net_fixture_ip(
	    &fixture, NET_FIXTURE_SERVER + 1, "link set eth0 down\n");
	expect_out("timeout", wait_now_ms());
	WAIT_FOR(line_has(1, "result no address"), 20000);
	net_fixture_ip(&fixture, NET_FIXTURE_SERVER + 1, "link set eth0 up\n");
	/* the neighbour is asked every five seconds */
	expect_back("the link is up", wait_now_ms());
	end();
}

#define CASE_IN(name, where, act)                                         \
	START_TEST(name)                                                  \
	{                                                                 \
		if (dsrpen_is_classic())                                  \
			SKIP("a classic pen has no control socket here"); \
		NEED_DSR();                                               \
		NEED_NET_FIXTURE(&fixture, &where);                       \
		act;                                                      \
	}                                                                 \
	END_TEST

#define CASE(name, act) CASE_IN(name, three, act)

CASE(missing_address, expect_missing_vip(NET_FIXTURE_VIP4, false))
CASE(missing_address_over_ipv6, expect_missing_vip(NET_FIXTURE_VIP6, false))
CASE(missing_address_of_a_router, expect_missing_vip(NET_FIXTURE_VIP4, true))
CASE(missing_address_of_an_ipv6_router,
    expect_missing_vip(NET_FIXTURE_VIP6, true))
CASE(dead_service, expect_dead_service(NET_FIXTURE_VIP4))
CASE(dead_service_over_ipv6, expect_dead_service(NET_FIXTURE_VIP6))
CASE(silence, expect_silence(NET_FIXTURE_VIP4))
CASE(silence_over_ipv6, expect_silence(NET_FIXTURE_VIP6))

/* ---- other segments, other ways to choose ---- */

CASE_IN(with_tags, tagged, expect_missing_vip(NET_FIXTURE_VIP4, false))
CASE_IN(
    with_tags_over_ipv6, tagged, expect_missing_vip(NET_FIXTURE_VIP6, false))

/* Of packets on one machine the checksum may never be computed. */
CASE_IN(with_late_checksums, late, expect_missing_vip(NET_FIXTURE_VIP4, true))
CASE_IN(with_late_checksums_over_ipv6, late,
    expect_missing_vip(NET_FIXTURE_VIP6, true))

static void
expect_hash(const char *address)
{
	flows = "dsr_flows 0";
	expect_missing_vip(address, false);
	flows = "dsr_flows 100000";
}

CASE(by_hash_alone, expect_hash(NET_FIXTURE_VIP4))
CASE(by_hash_alone_over_ipv6, expect_hash(NET_FIXTURE_VIP6))

/* ---- an interface that is down ---- */

static unsigned long long
probes_sent(void)
{
	const char *at = strstr(dsrpen_ask(&pen, "dsr"), "\nprobes ");

	ck_assert_ptr_nonnull(at);
	return strtoull(at + 8, NULL, 10);
}

/* It says nothing about servers: they are as healthy as before. */
static void
expect_patience(void)
{
	unsigned long long asked;

	begin_all_ports(NET_FIXTURE_VIP4, text("check dsr %d", DSRMANY_PORT));
	expect_all_well();
	net_fixture_ip(&fixture, NET_FIXTURE_DIRECTOR, "link set eth0 down\n");
	WAIT_FOR(line_has(0, "result timeout") &&
		line_has(1, "result timeout") && line_has(2, "result timeout"),
	    5000);
	/* questions enough to make them unhealthy */
	asked = probes_sent();
	WAIT_FOR(probes_sent() > asked + 3 * 3 * SERVERS, 10000);
	net_fixture_ip(&fixture, NET_FIXTURE_DIRECTOR, "link set eth0 up\n");
	expect_all_well();
	ck_assert(!child_has_said(&pen.child, "server down"));
	expect_new_at("012");
	end();
}

CASE(own_interface_is_down, expect_patience())

/* ---- settings while it serves ---- */

static bool
is_down(unsigned i)
{
#ifdef HAVE_JANSSON
	const char *at =
	    strstr(dsrpen_ask(&pen, "servers json"), text("\"server\":%u,", i));

	ck_assert_ptr_nonnull(at);
	at = strstr(at, "\"state\":");
	ck_assert_ptr_nonnull(at);
	return strncmp(at, "\"state\":\"down\"", 14) == 0;
#else
	(void)i;
	return false;
#endif
}

/* One that is not asked any more is not down any more, nor does what it was
 * asked just before make it so. */
static void
expect_unchecked(void)
{
	unsigned long long asked;
	int i;

	for (i = 0; i < 5; i++) {
		dsrpen_ask(&pen, "server 1 check off");
		ck_assert(!is_down(1));
		asked = probes_sent();
		WAIT_FOR(probes_sent() > asked + 6 * SERVERS, 20000);
		ck_assert(!is_down(1));
		ck_assert(!line_has(1, "check"));
		dsrpen_ask(&pen, "server 1 check default");
		expect_out("timeout", wait_now_ms());
	}
}

static void
expect_changes(void)
{
	begin_all_ports(NET_FIXTURE_VIP4, "no check");
	vip_on_server(false);
	dsrpen_ask(&pen, "check_fall 1");
	dsrpen_ask(&pen, text("check dsr %d", DSRMANY_PORT));
	expect_out("timeout", wait_now_ms());
	expect_unchecked();
	dsrpen_ask(&pen, "no check");
	expect_json("servers", "\"state\":\"down\"", false);
	/* a port where nobody listens */
	vip_on_server(true);
	dsrpen_ask(&pen, "check dsr 9");
	WAIT_FOR(is_in_state(1, false) && is_in_state(0, false) &&
		is_in_state(2, false),
	    10000);
	dsrpen_ask(&pen, "check_interval 0.1");
	dsrpen_ask(&pen, text("check dsr %d", DSRMANY_PORT));
	expect_back("the right port", wait_now_ms());
	dsrpen_ask(&pen, "server 1 remove");
	ck_assert(!line_has(1, "check"));
	expect_new_at("02");
	end();
}

CASE(settings_change, expect_changes())

/* What others have found out about a server is left to them. */
static void
expect_own_check_stays(void)
{
	static const char down[] = "1 check exec state down";

	begin_all_ports(NET_FIXTURE_VIP4, text("check dsr %d", DSRMANY_PORT));
	expect_all_well();
	dsrpen_ask(&pen, "check_fall 1");
	dsrpen_ask(&pen, "server 1 check exec /bin/false");
	WAIT_FOR(strstr(dsrpen_ask(&pen, "checks"), down), 10000);
	dsrpen_ask(&pen, "check_fall 100");
	dsrpen_ask(&pen, "no check");
	ck_assert_ptr_nonnull(strstr(dsrpen_ask(&pen, "checks"), down));
	end();
}

CASE(own_check_stays, expect_own_check_stays())

/* Server 1 moves from an address that does not answer to one that does: what
 * was asked before is no news of it. */
static void
expect_fresh_start(void)
{
	unsigned i, k;

	begin_all_ports(NET_FIXTURE_VIP4, "check_fall 1");
	dsrpen_ask(
	    &pen, "check_rise 1; check_interval 0.05; check_timeout 0.05");
	dsrpen_ask(&pen, text("check dsr %d", DSRMANY_PORT));
	expect_all_well();
	vip_on_server(false);
	for (i = 0; i < 12; i++) {
		WAIT_FOR(is_in_state(1, false), 10000);
		/* at some moment of a question's life */
		for (k = 0; k < i; k++)
			(void)is_in_state(1, false);
		dsrpen_ask(&pen, text("server 1 address %s", server(2)));
		WAIT_FOR(line_has(1, "state up result ok"), 10000);
		dsrpen_ask(&pen, text("server 1 address %s", server(1)));
	}
	ck_assert(!child_has_said(
	    &pen.child, text("server down server=1 name=%s", server(2))));
	end();
}

CASE(renumbered, expect_fresh_start())

SUITE(test_dsr_check)
{
	Suite *s = suite_create("dsr_check");

	SUITE_ADD(s, missing_address, 60);
	SUITE_ADD(s, missing_address_over_ipv6, 60);
	SUITE_ADD(s, missing_address_of_a_router, 60);
	SUITE_ADD(s, missing_address_of_an_ipv6_router, 60);
	SUITE_ADD(s, dead_service, 60);
	SUITE_ADD(s, dead_service_over_ipv6, 60);
	SUITE_ADD(s, silence, 90);
	SUITE_ADD(s, silence_over_ipv6, 90);
	SUITE_ADD(s, with_tags, 60);
	SUITE_ADD(s, with_tags_over_ipv6, 60);
	SUITE_ADD(s, with_late_checksums, 60);
	SUITE_ADD(s, with_late_checksums_over_ipv6, 60);
	SUITE_ADD(s, by_hash_alone, 60);
	SUITE_ADD(s, by_hash_alone_over_ipv6, 60);
	SUITE_ADD(s, own_interface_is_down, 60);
	SUITE_ADD(s, renumbered, 60);
	SUITE_ADD(s, settings_change, 60);
	SUITE_ADD(s, own_check_stays, 60);
	return s;
}
