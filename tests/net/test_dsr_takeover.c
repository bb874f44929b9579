/* test_dsr_takeover.c: a director dies, another one takes its VIP, and
 * connections that are open go on, for both choose servers by the same hash;
 * and two that share a VIP, behind a route with both as next hops. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/dsrmany.h"
#include "support/dsrpen.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SERVERS = 3, FLOWS = 1000, HOSTS = 50 };

static const struct net_fixture_options pair = { .servers = SERVERS,
	.two_directors = true };
static struct net_fixture fixture;
static struct dsrpen first, second;
static struct dsrmany many;

/* IPv4 clients have addresses of their own, IPv6 ones ports. */
static void
open_flows(const char *vip, bool v6)
{
	unsigned i;

	dsrmany_init(&many, &fixture, NULL);
	for (i = 0; i < FLOWS; i++)
		dsrmany_add(&many, SOCK_STREAM,
		    v6 ? NULL : text("192.168.100.%u", 100 + i % HOSTS), vip,
		    DSRMANY_PORT);
	dsrmany_wait_known(&many, 20000);
	for (i = 0; i < SERVERS; i++)
		ck_assert_uint_ge(dsrmany_count(&many, (int)i), FLOWS / 6);
}

static void
ask_all(void)
{
	unsigned i;

	for (i = 0; i < many.count; i++)
		dsrmany_ask(&many, i);
	ck_assert_uint_eq(dsrmany_wait_answers(&many, 30000), 0);
}

static unsigned long long
answers(void)
{
	unsigned long long n = 0;
	unsigned i;

	for (i = 0; i < many.count; i++)
		n += many.one[i].got;
	return n;
}

/* One after the other asks, so that the time is not that of a client's TCP,
 * which waits ever longer between its tries. */
static long long
wait_for_an_answer(long long since)
{
	unsigned long long had = answers();
	unsigned next = 0;

	while (answers() == had) {
		ck_assert_msg(wait_now_ms() < since + wait_scaled(10000),
		    "no answer: %s", child_err(&second.child));
		dsrmany_ask(&many, next++ % FLOWS);
		dsrmany_turn(&many, 2);
	}
	return wait_now_ms() - since;
}

static unsigned
lost(void)
{
	unsigned i, n = 0;

	for (i = 0; i < many.count; i++)
		n += many.one[i].fate != DSRMANY_GOES_ON || many.one[i].moved;
	return n;
}

static void
expect_takeover(const char *vip, bool v6, const char *flows)
{
	const char *where = v6 ? text("[%s]:0", vip) : text("%s:0", vip);
	const char *mode = v6 ? "-rh" : "-h", *at[SERVERS];
	long long killed, ms;
	unsigned i;

	for (i = 0; i < SERVERS; i++) {
		dsrmany_serve(&fixture, i);
		at[i] = v6 ? net_fixture_server6(i) : net_fixture_server4(i);
	}
	dsrpen_up(&first, &fixture, NET_FIXTURE_DIRECTOR, vip, mode, "-O",
	    flows, where, at[0], at[1], at[2], NULL);
	open_flows(vip, v6);
	ask_all();
	killed = wait_now_ms();
	child_stop(&first.child, SIGKILL);
	dsrpen_start(&second, &fixture, NET_FIXTURE_DIRECTOR2, vip, mode, "-O",
	    flows, where, at[0], at[1], at[2], NULL);
	ms = wait_for_an_answer(killed);
	ask_all();
	ask_all();
	printf("%s, %s: first answer %lld ms after the kill, all %lld ms;"
	       " %u of %u moved or broken\n",
	    where, flows, ms, wait_now_ms() - killed, lost(), many.count);
	ck_assert_uint_lt(lost(), FLOWS / 100);
	dsrmany_close_all(&many);
	dsrpen_down(&second);
	net_fixture_down(&fixture);
}

START_TEST(hash_alone)
{
	if (dsrpen_is_classic())
		SKIP("a classic pen has no dsr_flows");
	NEED_DSR();
	NEED_NET_FIXTURE(&fixture, &pair);
	net_fixture_more_clients(&fixture, "192.168.100", HOSTS);
	expect_takeover(NET_FIXTURE_VIP4, false, "dsr_flows 0");
}
END_TEST

START_TEST(hash_and_flows)
{
	if (dsrpen_is_classic())
		SKIP("a classic pen has no dsr_flows");
	NEED_DSR();
	NEED_NET_FIXTURE(&fixture, &pair);
	net_fixture_more_clients(&fixture, "192.168.100", HOSTS);
	expect_takeover(NET_FIXTURE_VIP4, false, "dsr_flows 10000");
}
END_TEST

START_TEST(hash_alone_over_ipv6)
{
	if (dsrpen_is_classic())
		SKIP("a classic pen has no dsr_flows");
	NEED_DSR();
	NEED_NET_FIXTURE(&fixture, &pair);
	expect_takeover(NET_FIXTURE_VIP6, true, "dsr_flows 0");
}
END_TEST

START_TEST(hash_and_flows_over_ipv6)
{
	if (dsrpen_is_classic())
		SKIP("a classic pen has no dsr_flows");
	NEED_DSR();
	NEED_NET_FIXTURE(&fixture, &pair);
	expect_takeover(NET_FIXTURE_VIP6, true, "dsr_flows 10000");
}
END_TEST

/* ---- two at a time ---- */

static void
share_up(
    struct dsrpen *p, enum net_fixture_place where, bool v6, const char *own)
{
	const char *vip = net_fixture_vip(v6);

	dsrpen_up(p, &fixture, where, vip, v6 ? "-rh" : "-h", "-O",
	    "dsr_flows 0", "-O", "no dsr_announce", "-O",
	    text("dsr_ip %s", own),
	    v6 ? text("[%s]:0", vip) : text("%s:0", vip),
	    v6 ? net_fixture_server6(0) : net_fixture_server4(0),
	    v6 ? net_fixture_server6(1) : net_fixture_server4(1),
	    v6 ? net_fixture_server6(2) : net_fixture_server4(2), NULL);
}

static void
route(bool v6, const char *hops)
{
	net_fixture_ip(&fixture, NET_FIXTURE_CLIENT,
	    text("route replace %s %s\n",
		v6 ? NET_FIXTURE_VIP6 "/128" : NET_FIXTURE_VIP4 "/32", hops));
}

static long
forwarded(const struct dsrpen *p)
{
	return report_number(dsrpen_ask(p, "dsr"), "forwarded");
}

/* Flows that change from one to the other meet the same servers. */
static void
expect_sharing(bool v6)
{
	const char *one = v6 ? NET_FIXTURE_DSR_IP6 : NET_FIXTURE_DSR_IP4;
	const char *other = v6 ? NET_FIXTURE_DSR_IP6_B : NET_FIXTURE_DSR_IP4_B;
	unsigned i;

	for (i = 0; i < SERVERS; i++)
		dsrmany_serve(&fixture, i);
	share_up(&first, NET_FIXTURE_DIRECTOR, v6, one);
	share_up(&second, NET_FIXTURE_DIRECTOR2, v6, other);
	net_fixture_set(&fixture, NET_FIXTURE_CLIENT,
	    v6 ? "ipv6/fib_multipath_hash_policy"
	       : "ipv4/fib_multipath_hash_policy",
	    "1");
	route(v6, text("nexthop via %s nexthop via %s", one, other));
	open_flows(net_fixture_vip(v6), v6);
	ask_all();
	ck_assert_int_ge(forwarded(&first), FLOWS);
	ck_assert_int_ge(forwarded(&second), FLOWS);
	route(v6, text("via %s", one));
	ask_all();
	route(v6, text("via %s", other));
	ask_all();
	ck_assert_uint_eq(lost(), 0);
	dsrmany_close_all(&many);
	dsrpen_down(&first);
	dsrpen_down(&second);
	net_fixture_down(&fixture);
}

START_TEST(two_share_a_vip)
{
	NEED_DSR_OF_OURS("several directors");
	NEED_NET_FIXTURE(&fixture, &pair);
	net_fixture_more_clients(&fixture, "192.168.100", HOSTS);
	expect_sharing(false);
}
END_TEST

START_TEST(two_share_a_vip_over_ipv6)
{
	NEED_DSR_OF_OURS("several directors");
	NEED_NET_FIXTURE(&fixture, &pair);
	expect_sharing(true);
}
END_TEST

/* ---- two that report their flows to each other ---- */

#define PEER_A "10.77.0.1"
#define PEER_B "10.77.0.2"

/* By turns, so that no other director can know a flow's server; with a network
 * of their own on the same wire. */
static void
peer_up(struct dsrpen *p, enum net_fixture_place where, const char *setting)
{
	bool is_first = where == NET_FIXTURE_DIRECTOR;
	const char *dsr_ip =
	    is_first ? NET_FIXTURE_DSR_IP4 : NET_FIXTURE_DSR_IP4_B;
	const char *own = is_first ? PEER_A : PEER_B;
	const char *other = is_first ? PEER_B : PEER_A;
	const char *key = scratch("peer.key");

	write_file(key, "a secret of more than 32 bytes, shared");
	ck_assert_int_eq(chmod(key, 0600), 0);
	net_fixture_ip(
	    &fixture, where, text("addr replace %s/24 dev eth0\n", own));
	dsrpen_up(p, &fixture, where, dsr_ip, "-r", "-O", "dsr_flows 10000",
	    "-O", setting, "-O", text("dsr_ip %s", dsr_ip), "-O",
	    text("peer %s:7000 key %s", other, key), "-O",
	    text("peer_listen %s:7000 key %s", own, key), NET_FIXTURE_VIP4 ":0",
	    net_fixture_server4(0), net_fixture_server4(1),
	    net_fixture_server4(2), NULL);
}

static long
learned(const struct dsrpen *p)
{
	return report_number(
	    dsrpen_ask(p, "statistics"), "peer_flows_received");
}

/* All flows of one director go on at the other one, which has them again when
 * it was away, and passes nothing back. */
START_TEST(flows_of_a_peer)
{
	unsigned i;

	NEED_DSR_OF_OURS("peers");
	NEED_NET_FIXTURE(&fixture, &pair);
	net_fixture_more_clients(&fixture, "192.168.100", HOSTS);
	for (i = 0; i < SERVERS; i++)
		dsrmany_serve(&fixture, i);
	peer_up(&first, NET_FIXTURE_DIRECTOR, "no dsr_announce");
	peer_up(&second, NET_FIXTURE_DIRECTOR2, "no dsr_announce");
	route(false, "via " NET_FIXTURE_DSR_IP4);
	open_flows(NET_FIXTURE_VIP4, false);
	ask_all();
	WAIT_FOR(learned(&second) >= FLOWS, 20000);
	ck_assert_int_eq(learned(&first), 0);
	route(false, "via " NET_FIXTURE_DSR_IP4_B);
	ask_all();
	ck_assert_uint_eq(lost(), 0);
	ck_assert_int_ge(forwarded(&second), FLOWS);
	/* what the second has seen itself it reports */
	ask_all();
	ask_all();
	ask_all();
	WAIT_FOR(learned(&first) >= FLOWS, 20000);
	child_stop(&first.child, SIGKILL);
	peer_up(&first, NET_FIXTURE_DIRECTOR, "no dsr_announce");
	WAIT_FOR(learned(&first) >= FLOWS, 20000);
	route(false, "via " NET_FIXTURE_DSR_IP4);
	ask_all();
	ck_assert_uint_eq(lost(), 0);
	dsrmany_close_all(&many);
	dsrpen_down(&first);
	dsrpen_down(&second);
	net_fixture_down(&fixture);
}
END_TEST

/* ---- a VIP that is somebody else's for the time being ---- */

/* How many frames from the director tell all that it has a VIP, .10 or .11. */
static unsigned
announcements(struct net_fixture_tap *tap, enum net_fixture_place where)
{
	uint8_t director[6];
	unsigned n = 0;

	net_fixture_mac(where, director);
	while (net_fixture_tap_next(tap)) {
		const unsigned char *f = tap->bytes;

		if (memcmp(f + 6, director, 6) != 0 || !(f[0] & 1))
			continue;
		n += f[12] == 8 && f[13] == 6 && f[31] >= 10 &&
		    memcmp(f + 28, f + 38, 4) == 0;
		n += f[12] == 0x86 && f[13] == 0xdd && f[20] == 58 &&
		    f[54] == 136;
	}
	return n;
}

/* The client says that the VIP is at its MAC. */
static void
claim_vip(const struct net_fixture_tap *tap)
{
	static const uint8_t claim[42] = { 255, 255, 255, 255, 255, 255, 2, 0,
		0, 0x64, 0, 1, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0x64, 0,
		1, 192, 168, 100, 10, 0, 0, 0, 0, 0, 0, 192, 168, 100, 10 };

	net_fixture_tap_send(tap, claim, sizeof(claim));
}

/* At the start, when another one claims a VIP, and when there is one more. */
static void
expect_announcements(const char *setting, bool wanted)
{
	struct net_fixture_tap tap, other;
	uint8_t mac[6];
	unsigned n;

	net_fixture_tap(&tap, &fixture, NET_FIXTURE_CLIENT, "eth0");
	dsrpen_up(&first, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4,
	    "-O", setting, NET_FIXTURE_VIP4 ":0,[" NET_FIXTURE_VIP6 "]:0",
	    net_fixture_server4(0), NULL);
	n = announcements(&tap, NET_FIXTURE_DIRECTOR);
	ck_assert(wanted ? n >= 2 : n == 0);
	claim_vip(&tap);
	WAIT_FOR(child_has_said(&first.child, "address conflict"), 10000);
	WAIT_FOR(child_has_said(&first.child, "dsr_flows 0, or peer"), 10000);
	dsrpen_ask(
	    &first, "listen " NET_FIXTURE_VIP4 ":0," NET_FIXTURE_VIP4_B ":0");
	/* what it had to say comes before an answer */
	net_fixture_tap(&other, &fixture, NET_FIXTURE_CLIENT, "eth0");
	WAIT_FOR(net_fixture_who_has(
		     &other, NET_FIXTURE_CLIENT, NET_FIXTURE_VIP4_B, mac),
	    10000);
	n = announcements(&tap, NET_FIXTURE_DIRECTOR);
	ck_assert(wanted ? n >= 2 : n == 0);
	net_fixture_tap_close(&tap);
	net_fixture_tap_close(&other);
	dsrpen_down(&first);
}

START_TEST(announced_or_not)
{
	NEED_DSR_OF_OURS("no dsr_announce");
	NEED_NET_FIXTURE(&fixture, &pair);
	expect_announcements("dsr_announce", true);
	expect_announcements("no dsr_announce", false);
	net_fixture_down(&fixture);
}
END_TEST

/* ---- one stands by ---- */

static const char *
client_has_vip_at(void)
{
	return net_fixture_run(&fixture, NET_FIXTURE_CLIENT, 10000, "ip",
	    "neigh", "show", "to", NET_FIXTURE_VIP4, "dev", "eth0", NULL);
}

static void
expect_no_owner(void)
{
	int fd = net_fixture_dial(&fixture, NET_FIXTURE_CLIENT, SOCK_STREAM,
	    NET_FIXTURE_VIP4, DSRMANY_PORT);

	WAIT_FOR(strstr(client_has_vip_at(), "FAILED") != NULL, 20000);
	close(fd);
}

static long
number(const struct dsrpen *p, const char *name)
{
	return report_number(dsrpen_ask(p, "dsr"), text("\n%s", name));
}

static void
take_over(struct dsrpen *p)
{
	struct net_fixture_tap tap;
	unsigned n = 0;

	net_fixture_tap(&tap, &fixture, NET_FIXTURE_CLIENT, "eth0");
	ck_assert_str_eq(dsrpen_ask(p, "dsr takeover"), "");
	WAIT_FOR((n += announcements(&tap, p->where)) >= 3, 20000);
	net_fixture_tap_close(&tap);
	ck_assert_int_eq(number(p, "standby"), 0);
}

/* Frames come although it has not said that it has the VIP. */
static void
expect_nothing_forwarded(struct dsrpen *p)
{
	uint8_t m[6];
	long before = number(p, "dropped_not_local");

	net_fixture_mac(p->where, m);
	net_fixture_ip(&fixture, NET_FIXTURE_CLIENT,
	    text("neigh replace " NET_FIXTURE_VIP4
		 " lladdr %x:%x:%x:%x:%x:%x nud permanent dev eth0\n",
		m[0], m[1], m[2], m[3], m[4], m[5]));
	dsrmany_ask(&many, 0);
	WAIT_FOR(number(p, "dropped_not_local") > before, 20000);
	ck_assert_int_eq(forwarded(p), 0);
	net_fixture_ip(&fixture, NET_FIXTURE_CLIENT,
	    "neigh del " NET_FIXTURE_VIP4 " dev eth0\n");
}

/* Neither has the VIP at the start; flows go on when it changes hands, and it
 * stays where it is when the configuration is read again. */
START_TEST(standby)
{
	unsigned i;

	NEED_DSR_OF_OURS("dsr_standby");
	NEED_NET_FIXTURE(&fixture, &pair);
	net_fixture_more_clients(&fixture, "192.168.100", HOSTS);
	for (i = 0; i < SERVERS; i++)
		dsrmany_serve(&fixture, i);
	peer_up(&first, NET_FIXTURE_DIRECTOR, "dsr_standby");
	peer_up(&second, NET_FIXTURE_DIRECTOR2, "dsr_standby");
	expect_no_owner();
	take_over(&first);
	open_flows(NET_FIXTURE_VIP4, false);
	ask_all();
	WAIT_FOR(learned(&second) >= FLOWS, 20000);
	expect_nothing_forwarded(&second);
	ck_assert_str_eq(dsrpen_ask(&first, "dsr standby"), "");
	take_over(&second);
	ck_assert_str_eq(dsrpen_ask(&second, "reload"), "");
	ask_all();
	ck_assert_uint_eq(lost(), 0);
	ck_assert_int_ge(forwarded(&second), FLOWS);
	ck_assert_int_eq(number(&first, "standby"), 1);
	ck_assert_int_eq(number(&second, "standby"), 0);
	dsrmany_close_all(&many);
	dsrpen_down(&first);
	dsrpen_down(&second);
	net_fixture_down(&fixture);
}
END_TEST

/* Another one may have had the VIP for a while, unnoticed. */
START_TEST(announced_by_each_takeover)
{
	NEED_DSR_OF_OURS("dsr_standby");
	NEED_NET_FIXTURE(&fixture, &pair);
	dsrpen_up(&first, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_DSR_IP4,
	    "-O", "dsr_standby", "-O", "dsr_ip " NET_FIXTURE_DSR_IP4,
	    NET_FIXTURE_VIP4 ":0", net_fixture_server4(0), NULL);
	take_over(&first);
	take_over(&first);
	dsrpen_down(&first);
	net_fixture_down(&fixture);
}
END_TEST

SUITE(test_dsr_takeover)
{
	Suite *s = suite_create("dsr_takeover");

	SUITE_ADD(s, hash_alone, 90);
	SUITE_ADD(s, hash_and_flows, 90);
	SUITE_ADD(s, hash_alone_over_ipv6, 90);
	SUITE_ADD(s, hash_and_flows_over_ipv6, 90);
	SUITE_ADD(s, announced_or_not, 60);
	SUITE_ADD(s, announced_by_each_takeover, 60);
	SUITE_ADD(s, flows_of_a_peer, 120);
	SUITE_ADD(s, standby, 120);
	SUITE_ADD(s, two_share_a_vip, 90);
	SUITE_ADD(s, two_share_a_vip_over_ipv6, 90);
	return s;
}
