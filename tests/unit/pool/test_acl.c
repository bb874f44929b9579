/* test_acl.c: first match decides, else the opposite of the last entry. */
#include "config.h"

#include <check.h>
#include <stdio.h>

#include "base/hash.h"
#include "pool/acl/acl_private.h"
#include "support/acladd.h"
#include "support/suite.h"

static struct acl list;

static bool
permits(const char *ip)
{
	struct addr a;
	struct peer p;

	ck_assert_int_eq(addr_parse_ip(&a, ip, 1), 0);
	peer_from_addr(&p, &a);
	return acl_permits(&list, &p);
}

static void
add(bool permit, const char *address, const char *mask)
{
	ck_assert_int_eq(acl_add(&list, permit, address, mask), 0);
}

static void
refuse(const char *address, const char *mask)
{
	size_t count = list.count;

	ck_assert_int_eq(acl_add(&list, true, address, mask), -1);
	ck_assert_uint_eq(list.count, count);
}

START_TEST(order_decides)
{
	acl_init(&list);
	ck_assert(permits("10.0.0.1"));
	add(false, "10.0.0.1", NULL);
	ck_assert(!permits("10.0.0.1"));
	ck_assert(permits("10.0.0.2"));
	ck_assert(permits("::1"));
	add(true, "10.0.0.0/8", NULL);
	ck_assert(!permits("10.0.0.1"));
	ck_assert(permits("10.255.0.1"));
	ck_assert(!permits("11.0.0.1"));
	ck_assert(!permits("::1"));
	acl_fini(&list);
	ck_assert(permits("10.0.0.1"));
	acl_fini(&list);
}
END_TEST

START_TEST(masks_and_prefixes)
{
	acl_init(&list);
	add(true, "192.0.2.77", "255.255.255.0");
	add(true, "2001:db8::/33", NULL);
	add(true, "198.51.100.0/31", NULL);
	ck_assert(permits("192.0.2.1"));
	ck_assert(permits("::ffff:192.0.2.9"));
	ck_assert(!permits("192.0.3.1"));
	ck_assert(permits("2001:db8:7fff::1"));
	ck_assert(!permits("2001:db8:8000::1"));
	ck_assert(permits("198.51.100.1"));
	ck_assert(!permits("198.51.100.2"));
	add(true, "0.0.0.0/0", NULL);
	ck_assert(permits("203.0.113.1"));
	ck_assert(!permits("2001:db9::1"));
	add(true, "::/0", NULL);
	ck_assert(permits("2001:db9::1"));
	acl_fini(&list);
}
END_TEST

START_TEST(bad_entries)
{
	acl_init(&list);
	refuse("", NULL);
	refuse("host", NULL);
	refuse("10.0.0.1/33", NULL);
	refuse("10.0.0.1/", NULL);
	refuse("10.0.0.1/-1", NULL);
	refuse("::1/129", NULL);
	refuse("::1", "255.0.0.0");
	refuse("10.0.0.1", "255.0.0");
	acl_fini(&list);
}
END_TEST

/* ::/0 is nothing of IPv4, whatever stands behind it. */
START_TEST(ipv6_entries_are_of_ipv6)
{
	acl_init(&list);
	add(true, "::/0", NULL);
	add(false, "127.0.0.0/8", NULL);
	ck_assert(!permits("127.0.0.1"));
	ck_assert(permits("10.0.0.1"));
	ck_assert(permits("2001:db8::1"));
	acl_fini(&list);
	add(false, "::/80", NULL);
	add(true, "127.0.0.0/8", NULL);
	ck_assert(permits("127.0.0.1"));
	ck_assert(!permits("::1"));
	acl_fini(&list);
	add(false, "::ffff:0:0/96", NULL);
	add(true, "::/0", NULL);
	ck_assert(!permits("192.0.2.1"));
	ck_assert(permits("::1"));
	acl_fini(&list);
}
END_TEST

/* Clients on Unix sockets match no entry but their own. */
START_TEST(unix_clients)
{
	struct peer p = { .family = AF_UNIX };

	acl_init(&list);
	add(true, "0.0.0.0/0", NULL);
	add(true, "::/0", NULL);
	ck_assert(!acl_permits(&list, &p));
	add(false, "10.0.0.1", NULL);
	ck_assert(acl_permits(&list, &p));
	add(false, "unix", NULL);
	ck_assert(!acl_permits(&list, &p));
	ck_assert(permits("10.0.0.2"));
	acl_fini(&list);
	add(true, "unix", NULL);
	ck_assert(acl_permits(&list, &p));
	ck_assert(!permits("10.0.0.2"));
	refuse("unix", "255.0.0.0");
	refuse("unix/8", NULL);
	acl_fini(&list);
}
END_TEST

START_TEST(cut_addresses_are_known)
{
	char text[ACL_TEXT_MAX];

	acl_init(&list);
	add(true, "10.0.0.1/8", NULL);
	ck_assert(acl_at(&list, 0)->was_cut);
	ck_assert_str_eq(acl_format_entry(acl_at(&list, 0), text),
	    "permit 10.0.0.0 255.0.0.0");
	add(true, "10.0.0.0/8", NULL);
	ck_assert(!acl_at(&list, 1)->was_cut);
	add(true, "10.0.3.0", "255.0.255.0");
	ck_assert(!acl_at(&list, 2)->was_cut);
	add(true, "10.1.3.0", "255.0.255.0");
	ck_assert(acl_at(&list, 3)->was_cut);
	add(true, "2001:db8::1/32", NULL);
	ck_assert(acl_at(&list, 4)->was_cut);
	refuse("10.0.0.0/8", "255.0.0.0");
	refuse("fe80::1%lo", NULL);
	acl_fini(&list);
}
END_TEST

/* ---- long lists ---- */

static const char *
overruled(bool permit, const char *address)
{
	static char said[ACL_TEXT_MAX];
	const struct acl_entry *by;
	struct acl_entry entry;
	struct error e;

	ck_assert_int_eq(acl_entry_parse(&entry, permit, address, NULL, &e), 0);
	by = acl_overruling(&list, &entry);
	return by != NULL ? acl_format_entry(by, said) : "";
}

/* What an entry before already decides for all of its clients. */
START_TEST(earlier_entries_overrule)
{
	int i;

	acl_init(&list);
	ck_assert_str_eq(overruled(false, "10.1.0.0/16"), "");
	add(true, "10.0.0.0/8", NULL);
	add(false, "2001:db8::/32", NULL);
	add(true, "unix", NULL);
	ck_assert_str_eq(
	    overruled(false, "10.1.0.0/16"), "permit 10.0.0.0 255.0.0.0");
	ck_assert_str_eq(
	    overruled(false, "10.0.0.0/8"), "permit 10.0.0.0 255.0.0.0");
	ck_assert_str_eq(overruled(true, "10.1.0.0/16"), "");
	ck_assert_str_eq(overruled(false, "0.0.0.0/0"), "");
	ck_assert_str_eq(overruled(false, "11.0.0.0/16"), "");
	ck_assert_str_eq(overruled(false, "::/0"), "");
	ck_assert_str_eq(
	    overruled(true, "2001:db8::7"), "deny 2001:db8::/32");
	ck_assert_str_eq(overruled(true, "2001:db8::/31"), "");
	ck_assert_str_eq(overruled(false, "unix"), "permit unix");
	/* only so many are compared */
	for (i = 0; i < ACL_COMPARED - 1; i++)
		add(true, "192.0.2.1", NULL);
	ck_assert_str_eq(overruled(false, "unix"), "permit unix");
	add(true, "192.0.2.1", NULL);
	ck_assert_str_eq(overruled(false, "unix"), "");
	acl_fini(&list);
}
END_TEST

static uint64_t state;

static unsigned
draw(unsigned n)
{
	state += UINT64_C(0x9e3779b97f4a7c15);
	return (unsigned)((hash_mix(state) >> 32) * n >> 32);
}

/* An address of few bits that differ, so that entries nest and repeat. */
static struct peer
draw_peer(void)
{
	struct peer p = { .family = AF_INET6 };
	unsigned i, first = 0;

	if (draw(40) == 0)
		return (struct peer){ .family = AF_UNIX };
	if (draw(2) == 0) {
		p.family = AF_INET;
		p.ip[10] = p.ip[11] = 0xff;
		first = 12;
	}
	for (i = first; i < 16; i++)
		if (draw(3) == 0)
			p.ip[i] = (uint8_t)(0x81u >> draw(8));
	return p;
}

static void
add_drawn(void)
{
	static const char *const gaps[] = { "255.0.255.0", "0.0.0.255",
		"255.255.0.129" };
	struct peer p = draw_peer();
	char ip[PEER_TEXT_MAX], with_length[PEER_TEXT_MAX + 8];
	const char *mask = NULL;

	peer_format_host(&p, ip);
	if (p.family == AF_INET && draw(16) == 0)
		mask = gaps[draw(3)];
	else if (p.family != AF_UNIX) {
		snprintf(with_length, sizeof(with_length), "%s/%u", ip,
		    draw(p.family == AF_INET ? 33 : 129));
		add(draw(2) == 0, with_length, NULL);
		return;
	}
	add(draw(2) == 0, ip, mask);
}

static bool
reference(const struct acl *l, const struct peer *who)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		if (acl_matches(acl_at(l, i), who))
			return acl_at(l, i)->permit;
	return l->count == 0 || !acl_at(l, l->count - 1)->permit;
}

static void
compare(const struct acl *l, unsigned clients)
{
	while (clients-- > 0) {
		struct peer who = draw_peer();
		char name[PEER_TEXT_MAX];

		ck_assert_msg(acl_permits(l, &who) == reference(l, &who),
		    "%s of %zu entries", peer_format_host(&who, name),
		    l->count);
	}
}

/* The first match decides in lists of all lengths, while they grow. */
START_TEST(long_lists_match_as_walked)
{
	unsigned round, i, rounds = (unsigned)suite_amount(60, 6);

	for (round = 0; round < rounds; round++) {
		unsigned entries = 1 + draw(1 << draw(11));

		acl_init(&list);
		for (i = 0; i < entries; i++) {
			add_drawn();
			if (draw(8) == 0)
				compare(&list, 4);
		}
		compare(&list, 200);
		acl_fini(&list);
	}
}
END_TEST

/* Random addresses, few of which share more than their first bits. */
START_TEST(wide_lists_match_as_walked)
{
	char ip[64];
	unsigned i;

	acl_init(&list);
	for (i = 0; i < 4000; i++) {
		snprintf(ip, sizeof(ip), "%u.%u.%u.%u/%u", draw(256), draw(256),
		    draw(256), draw(256), 4 + draw(29));
		add(draw(2) == 0, ip, NULL);
		snprintf(ip, sizeof(ip), "2001:db8:%x:%x::%x/%u", draw(65536),
		    draw(65536), draw(65536), 28 + draw(101));
		add(draw(2) == 0, ip, NULL);
	}
	for (i = 0; i < 2000; i++) {
		const struct acl_entry *near = acl_at(&list, draw(8000));
		struct peer who = { .family = near->family };

		memcpy(who.ip, near->ip, sizeof(who.ip));
		who.ip[15] ^= (uint8_t)draw(4);
		ck_assert(acl_permits(&list, &who) == reference(&list, &who));
	}
	acl_fini(&list);
}
END_TEST

/* A copy is what the list was, whatever either appends from then on. */
START_TEST(copies_part)
{
	struct acl copies[40];
	size_t counts[40];
	unsigned i, k;

	acl_init(&list);
	for (i = 0; i < 40; i++) {
		for (k = 0; k < 3; k++)
			add_drawn();
		acl_copy(&copies[i], &list);
		counts[i] = list.count;
		ck_assert(acl_equal(&copies[i], &list));
	}
	for (i = 0; i < 40; i++) {
		ck_assert_uint_eq(copies[i].count, counts[i]);
		compare(&copies[i], 100);
	}
	for (i = 0; i < 40; i++) {
		struct acl old = list;

		list = copies[i];
		add_drawn();
		copies[i] = list;
		list = old;
		ck_assert_uint_eq(copies[i].count, counts[i] + 1);
		ck_assert(!acl_equal(&copies[i], &list));
		compare(&copies[i], 100);
	}
	compare(&list, 100);
	for (i = 0; i < 40; i++)
		acl_fini(&copies[i]);
	acl_fini(&list);
}
END_TEST

SUITE(test_acl)
{
	Suite *s = suite_create("acl");

	SUITE_ADD(s, order_decides, 10);
	SUITE_ADD(s, masks_and_prefixes, 10);
	SUITE_ADD(s, bad_entries, 10);
	SUITE_ADD(s, ipv6_entries_are_of_ipv6, 10);
	SUITE_ADD(s, unix_clients, 10);
	SUITE_ADD(s, cut_addresses_are_known, 10);
	SUITE_ADD(s, earlier_entries_overrule, 10);
	SUITE_ADD(s, long_lists_match_as_walked, 60);
	SUITE_ADD(s, wide_lists_match_as_walked, 60);
	SUITE_ADD(s, copies_part, 60);
	return s;
}
