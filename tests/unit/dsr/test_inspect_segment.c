/* test_inspect_segment.c: what is asked of a segment, what answers are taken
 * for, and what is said about them. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/inspect/inspect.h"
#include "support/suite.h"
#include "unit/dsr/findings.h"

enum { SERVERS = 20, VLAN = 7 };

static struct inspect_segment s;
static struct inspect_request w;
static struct peer vip[2];
static struct inspect_server server[SERVERS];
static const struct mac own = { { 2, 0, 0, 0, 0, 0xee } };
static unsigned char bytes[FRAME_MADE_MAX];

static struct mac
mac(uint8_t last)
{
	struct mac m = { { 2, 0, 0, 0, 0, last } };

	return m;
}

/* A VIP of each family, dsr_ip, and servers of both families in turn. */
static void
open_with(unsigned servers)
{
	unsigned i;

	memset(&w, 0, sizeof(w));
	vip[0] = ip("192.0.2.10");
	vip[1] = ip("2001:db8::10");
	for (i = 0; i < servers; i++)
		server[i] = (struct inspect_server){
			ip(text(i % 2 == 0 ? "192.0.2.%u" : "2001:db8::%u",
			    100 + i)),
			i, "host"
		};
	w.interface = "eth0";
	w.vip = vip;
	w.vips = 2;
	w.server = server;
	w.servers = servers;
	w.own[0] = ip("192.0.2.2");
	w.own[1] = ip("2001:db8::2");
	ck_assert_int_eq(inspect_segment_init(&s, &w), 0);
	s.link = "packet";
	s.asked = true;
	s.mac = own;
}

static void
setup(void)
{
	open_with(2);
}

static void
teardown(void)
{
	inspect_segment_fini(&s);
}

static unsigned
judge(void)
{
	found_n = 0;
	inspect_judge_segment(&s, &w, hear, found);
	return found_n;
}

/* The finding that begins like this has this level and command. */
static void
expect(enum finding_level level, const char *what, const char *fix)
{
	unsigned i;

	judge();
	for (i = 0; i < found_n; i++)
		if (strncmp(found[i].what, what, strlen(what)) == 0)
			break;
	ck_assert_msg(i < found_n, "not found: %s", what);
	ck_assert_int_eq(found[i].level, level);
	ck_assert_str_eq(found[i].fix, fix);
}

static void
pass(size_t n)
{
	struct frame f;

	ck_assert_uint_gt(n, 0);
	frame_parse(&f, bytes, n);
	ck_assert_int_ne(f.kind, FRAME_BAD);
	inspect_hear(&s, &f);
}

/* Somebody with that MAC says, or asks in the name of, an address. */
static void
says(const char *who, struct mac from, bool answer, const char *target,
    uint16_t vlan)
{
	struct frame_head head = { .to = own, .from = from, .vlan = vlan };
	struct peer p = ip(who), t = ip(target);
	struct arp a = { .sender_mac = from, .request = !answer };
	struct ndp d = { .advertisement = answer,
		.solicited = answer,
		.override = answer,
		.has_mac = true,
		.mac = from };

	if (p.family == AF_INET) {
		memcpy(a.sender, p.ip + 12, 4);
		memcpy(a.target, t.ip + 12, 4);
		pass(frame_make_arp(bytes, sizeof(bytes), &head, &a));
		return;
	}
	memcpy(d.from, p.ip, 16);
	memcpy(d.to, t.ip, 16);
	memcpy(d.target, answer ? p.ip : t.ip, 16);
	pass(frame_make_ndp(bytes, sizeof(bytes), &head, &d));
}

static void
answers(const char *who, uint8_t from)
{
	says(who, mac(from), true,
	    strchr(who, ':') != NULL ? "2001:db8::2" : "192.0.2.2", s.vlan);
}

/* Both servers are there. */
static void
be_well(void)
{
	answers("192.0.2.100", 100);
	answers("2001:db8::101", 101);
}

START_TEST(a_segment_that_is_right)
{
	be_well();
	ck_assert_uint_eq(judge(), 1);
	ck_assert_int_eq(found[0].level, FINDING_NOTE);
	ck_assert_str_eq(found[0].what, "frames are moved by packet");
	s.better = "xdp";
	error_set(&s.error, "interface eth0: busy");
	expect(FINDING_NOTE,
	    "frames are moved by packet; not by xdp: interface eth0: busy", "");
	/* others may talk as they like */
	answers("192.0.2.77", 77);
	says("192.0.2.77", mac(77), false, "192.0.2.100", 0);
	ck_assert_uint_eq(judge(), 1);
}
END_TEST

START_TEST(a_link_without_a_fast_path)
{
	be_well();
	w.fast = true;
	s.better = "xdp";
	error_set(&s.error, "interface eth0: busy");
	expect(FINDING_WARNING,
	    "dsr_fast_path has no effect: frames are moved by packet", "");
	ck_assert_uint_eq(found_n, 2);
	s.link = "xdp";
	s.better = NULL;
	expect(FINDING_WARNING,
	    "dsr_fast_path has no effect: the kernel rejects its program", "");
	s.fast = true;
	ck_assert_uint_eq(judge(), 1);
	s.fast = w.fast = false;
	ck_assert_uint_eq(judge(), 1);
	/* packet was asked for, or is the best: judged with the machine */
	w.fast = true;
	s.link = "packet";
	ck_assert_uint_eq(judge(), 1);
}
END_TEST

START_TEST(a_link_that_does_not_open)
{
	s.link = NULL;
	s.asked = false;
	error_set(&s.error, "interface eth0: no ring");
	expect(FINDING_ERROR, "interface eth0: no ring", "");
	ck_assert_uint_eq(found_n, 1);
	/* or one that ends before there was an answer */
	s.link = "packet";
	expect(
	    FINDING_ERROR, "interface eth0 went down", "ip link set eth0 up");
	ck_assert_uint_eq(found_n, 2);
}
END_TEST

START_TEST(servers_that_are_silent)
{
	answers("192.0.2.100", 100);
	expect(FINDING_WARNING,
	    "server 1 (host) does not answer NDP for 2001:db8::101",
	    "ip addr show to 2001:db8::101");
	ck_assert_uint_eq(found_n, 2);
	teardown();
	open_with(SERVERS);
	expect(FINDING_ERROR, "no server answers", "ip -s link show dev eth0");
	ck_assert_uint_eq(found_n, 1 + 8 + 1);
	answers("192.0.2.100", 100);
	expect(FINDING_WARNING, "19 servers of 20 do not answer", "");
	ck_assert_uint_eq(found_n, 1 + 8 + 1);
	w.servers += 5;
	expect(FINDING_NOTE, "5 more servers were not probed", "");
}
END_TEST

/* The default route leads anywhere, so it says nothing. */
START_TEST(servers_that_are_elsewhere)
{
	struct inspect_route r = { .way = INSPECT_ROUTE,
		.interface = "eth1",
		.prefix = 64 };
	unsigned i;

	answers("192.0.2.100", 100);
	for (i = 0; i < s.questions; i++)
		s.question[i].route = r;
	expect(FINDING_WARNING,
	    "server 1 (host) does not answer NDP for 2001:db8::101, the route "
	    "there leads through eth1: if the server is not on the segment of "
	    "eth0, it needs a tunnel, and must decapsulate its packets",
	    "dsr_forward tunnel");
	ck_assert_uint_eq(found_n, 2);
	r.interface[3] = '0';
	r.router = true;
	for (i = 0; i < s.questions; i++)
		s.question[i].route = r;
	expect(FINDING_WARNING,
	    "server 1 (host) does not answer NDP for 2001:db8::101, the route "
	    "there leads to a router on eth0: ",
	    "dsr_forward tunnel");
	for (i = 0; i < s.questions; i++)
		s.question[i].route.prefix = 0;
	expect(FINDING_WARNING,
	    "server 1 (host) does not answer NDP for 2001:db8::101: it is "
	    "down, or not on this segment and needs a tunnel (dsr_forward "
	    "tunnel)",
	    "ip addr show to 2001:db8::101");
}
END_TEST

START_TEST(servers_that_are_two_or_one)
{
	be_well();
	answers("192.0.2.100", 100);
	answers("192.0.2.100", 55);
	expect(FINDING_WARNING,
	    "server 0 (host) is 2 hosts: 02:00:00:00:00:64 and "
	    "02:00:00:00:00:37 answer for 192.0.2.100",
	    "ip addr flush to 192.0.2.100");
	ck_assert_uint_eq(found_n, 2);
	teardown();
	setup();
	answers("192.0.2.100", 9);
	answers("2001:db8::101", 9);
	expect(FINDING_WARNING,
	    "servers 0 (host) and 1 (host) have one hardware address, "
	    "02:00:00:00:00:09",
	    "sysctl -w net.ipv6.conf.all.proxy_ndp=0");
	ck_assert_uint_eq(found_n, 2);
	/* no end of claims is remembered */
	for (unsigned i = 0; i < 20; i++)
		answers("192.0.2.100", (uint8_t)(10 + i));
	expect(FINDING_WARNING, "server 0 (host) is 4 hosts", found[1].fix);
}
END_TEST

START_TEST(vips_that_are_taken)
{
	be_well();
	answers("192.0.2.10", 100);
	expect(FINDING_ERROR,
	    "server 0 (host, 02:00:00:00:00:64) answers for VIP 192.0.2.10",
	    "sysctl -w net.ipv4.conf.all.arp_ignore=1 "
	    "net.ipv4.conf.all.arp_announce=2; "
	    "ip addr flush to 192.0.2.10; ip addr add 192.0.2.10/32 dev lo");
	answers("2001:db8::10", 101);
	expect(FINDING_ERROR,
	    "server 1 (host, 02:00:00:00:00:65) answers for VIP 2001:db8::10",
	    "ip -6 addr flush to 2001:db8::10; "
	    "ip -6 addr add 2001:db8::10 dev lo");
	answers("192.0.2.10", 77);
	expect(FINDING_ERROR,
	    "VIP 192.0.2.10 is taken: 02:00:00:00:00:4d answers for it",
	    "ip addr flush to 192.0.2.10");
	ck_assert_uint_eq(found_n, 4);
	w.shared = true;
	expect(FINDING_WARNING, "VIP 192.0.2.10 is taken",
	    "ip addr flush to 192.0.2.10");
}
END_TEST

/* To ask in the name of an address is a claim, too. */
START_TEST(own_addresses_that_are_taken)
{
	be_well();
	says("192.0.2.2", mac(77), false, "192.0.2.100", 0);
	expect(FINDING_ERROR,
	    "dsr_ip 192.0.2.2 is taken: 02:00:00:00:00:4d answers for it",
	    "ip addr flush to 192.0.2.2");
	says("2001:db8::2", mac(78), false, "2001:db8::101", 0);
	expect(FINDING_ERROR,
	    "dsr_ip 2001:db8::2 is taken: 02:00:00:00:00:4e answers for it",
	    "ip addr flush to 2001:db8::2");
	ck_assert_uint_eq(found_n, 3);
	/* a server that has it may keep it */
	says("192.0.2.2", mac(100), true, "192.0.2.100", 0);
	expect(FINDING_ERROR,
	    "dsr_ip 192.0.2.2 is taken: server 0 (host, 02:00:00:00:00:64)",
	    "");
}
END_TEST

/* Neither is what we say ourselves, nor what nobody can say. */
START_TEST(what_is_no_claim)
{
	struct mac group = { { 3, 0, 0, 0, 0, 1 } };

	be_well();
	says("192.0.2.10", own, true, "192.0.2.2", 0);
	says("2001:db8::10", own, true, "2001:db8::2", 0);
	says("192.0.2.10", group, true, "192.0.2.2", 0);
	/* somebody else who only wants to know */
	says("0.0.0.0", mac(77), false, "192.0.2.10", 0);
	/* elsewhere */
	says("192.0.2.10", mac(77), true, "192.0.2.2", VLAN);
	says("2001:db8::10", mac(77), true, "2001:db8::2", VLAN);
	ck_assert_uint_eq(judge(), 1);
}
END_TEST

START_TEST(tags_are_learnt_from_who_asks_for_a_vip)
{
	struct frame f;
	size_t n;

	says("192.0.2.77", mac(77), false, "192.0.2.100", VLAN);
	ck_assert_uint_eq(s.vlan, 0);
	says("192.0.2.77", mac(77), false, "192.0.2.10", VLAN);
	ck_assert_uint_eq(s.vlan, VLAN);
	be_well();
	ck_assert_uint_eq(judge(), 1);
	n = inspect_make(bytes, sizeof(bytes), &s, &s.question[0], NULL);
	frame_parse(&f, bytes, n);
	ck_assert_uint_eq(f.vlan, VLAN);
	says("2001:db8::77", mac(77), false, "2001:db8::10", 0);
	ck_assert_uint_eq(s.vlan, 0);
}
END_TEST

/* VIPs, own addresses, servers, in this order. */
START_TEST(questions)
{
	struct frame f;
	struct mac to;
	struct arp a;
	struct ndp d;
	uint8_t zero[16] = { 0 };
	unsigned i;

	ck_assert_uint_eq(s.questions, 6);
	for (i = 0; i < 6; i++) {
		const struct inspect_question *q = &s.question[i];
		const struct peer *from =
		    _i == 0 ? NULL : &w.own[q->ip.family == AF_INET6];
		size_t n = inspect_make(bytes, sizeof(bytes), &s, q, from);

		frame_parse(&f, bytes, n);
		to = frame_mac_to(&f);
		ck_assert(to.byte[0] & 1);
		ck_assert_int_eq(q->role,
		    i < 2	? INSPECT_VIP
			: i < 4 ? INSPECT_OWN
				: INSPECT_SERVER);
		if (q->ip.family == AF_INET) {
			ck_assert(frame_read_arp(&f, &a) && a.request);
			ck_assert_mem_eq(a.target, q->ip.ip + 12, 4);
			ck_assert_mem_eq(
			    a.sender, _i == 0 ? zero : w.own[0].ip + 12, 4);
			ck_assert(mac_equal(&a.sender_mac, &own));
			continue;
		}
		ck_assert(frame_read_ndp(&f, &d) && !d.advertisement);
		ck_assert_mem_eq(d.target, q->ip.ip, 16);
		ck_assert_mem_eq(d.from, _i == 0 ? zero : w.own[1].ip, 16);
		ck_assert_int_eq(d.has_mac, _i == 1);
	}
}
END_TEST

/* The list of a big site is cut. */
START_TEST(many_servers)
{
	unsigned n = INSPECT_QUESTIONS + 3, i;
	struct inspect_server *many = calloc(n, sizeof(*many));

	ck_assert_ptr_nonnull(many);
	inspect_segment_fini(&s);
	for (i = 0; i < n; i++)
		many[i] = (struct inspect_server){ ip("192.0.2.100"), i, "x" };
	w.server = many;
	w.servers = n;
	ck_assert_int_eq(inspect_segment_init(&s, &w), 0);
	s.link = "packet";
	s.asked = true;
	s.mac = own;
	ck_assert_uint_eq(s.questions, 4 + INSPECT_QUESTIONS);
	answers("192.0.2.100", 100);
	expect(FINDING_NOTE, "3 more servers were not probed", "");
	ck_assert_uint_eq(found_n, 2);
	free(many);
}
END_TEST

SUITE(test_inspect_segment)
{
	Suite *suite = suite_create("inspect_segment");
	TCase *c = tcase_create("segment");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, a_segment_that_is_right);
	tcase_add_test(c, a_link_without_a_fast_path);
	tcase_add_test(c, a_link_that_does_not_open);
	tcase_add_test(c, servers_that_are_silent);
	tcase_add_test(c, servers_that_are_elsewhere);
	tcase_add_test(c, servers_that_are_two_or_one);
	tcase_add_test(c, vips_that_are_taken);
	tcase_add_test(c, own_addresses_that_are_taken);
	tcase_add_test(c, what_is_no_claim);
	tcase_add_test(c, tags_are_learnt_from_who_asks_for_a_vip);
	tcase_add_loop_test(c, questions, 0, 2);
	tcase_add_test(c, many_servers);
	suite_add_tcase(suite, c);
	return suite;
}
