/* test_peer.c: who is at the other end: made, printed, compared. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "base/addr.h"
#include "support/suite.h"

static struct peer
peer(const char *from, uint16_t port)
{
	struct addr a;
	struct peer p;

	ck_assert_msg(addr_parse_ip(&a, from, port) == 0, "%s", from);
	memset(&p, 0xaa, sizeof(p)); /* nothing old may shine through */
	peer_from_addr(&p, &a);
	return p;
}

START_TEST(printed)
{
	struct peer four = peer("192.0.2.1", 99), six = peer("2001:db8::1", 7);
	struct peer local = peer("fe80::1%3", 65535);
	char out[PEER_TEXT_MAX];

	ck_assert_str_eq(peer_format(&four, out), "192.0.2.1:99");
	ck_assert_str_eq(peer_format_host(&four, out), "192.0.2.1");
	ck_assert_str_eq(peer_format(&six, out), "[2001:db8::1]:7");
	ck_assert_str_eq(peer_format_host(&six, out), "2001:db8::1");
	ck_assert_str_eq(peer_format(&local, out), "[fe80::1%3]:65535");
	ck_assert_str_eq(peer_format_host(&local, out), "fe80::1%3");
}
END_TEST

/* The longest there is fits. */
START_TEST(printed_long)
{
	static const char longest[] = "fe80:1111:2222:3333:4444:5555:6666:7777"
				      "%4294967295";
	struct peer p = peer(longest, 65535);
	char out[PEER_TEXT_MAX];

	ck_assert_str_eq(peer_format_host(&p, out), longest);
	ck_assert_str_eq(peer_format(&p, out), text("[%s]:65535", longest));
}
END_TEST

START_TEST(and_back)
{
	static const char *const texts[] = { "192.0.2.1", "2001:db8::1",
		"fe80::1%3" };
	struct peer p;
	struct addr a, b;
	size_t i;

	for (i = 0; i < 3; i++) {
		p = peer(texts[i], 99);
		memset(&a, 0xaa, sizeof(a));
		addr_from_peer(&a, &p);
		ck_assert_int_eq(addr_parse_ip(&b, texts[i], 99), 0);
		ck_assert(addr_equal(&a, &b));
		ck_assert_uint_eq(addr_port(&a), 99);
	}
}
END_TEST

/* A client is the same one through an IPv4 and a dual-stack listener. */
START_TEST(mapped)
{
	struct peer four = peer("192.0.2.1", 99);
	struct peer six = peer("::ffff:192.0.2.1", 99);

	ck_assert_int_eq(memcmp(&four, &six, sizeof(four)), 0);
	ck_assert_int_eq(four.family, AF_INET);
	ck_assert(peer_is_ip4(&four));
}
END_TEST

START_TEST(same_host)
{
	struct peer a = peer("192.0.2.1", 1), b = peer("192.0.2.1", 2);
	struct peer c = peer("192.0.2.2", 1), six = peer("::192.0.2.1", 1);
	struct peer near = peer("fe80::1%1", 1), far = peer("fe80::1%2", 1);

	ck_assert(peer_same_host(&a, &b));
	ck_assert(!peer_same_host(&a, &c));
	ck_assert(!peer_same_host(&a, &six));
	ck_assert(!peer_is_ip4(&six));
	ck_assert(!peer_same_host(&near, &far));
}
END_TEST

/* Clients on Unix sockets are all alike, whatever they are bound to. */
START_TEST(unix_sockets)
{
	struct peer p, q, zero = { .family = AF_UNIX };
	char out[PEER_TEXT_MAX];
	struct addr a, b;

	ck_assert_int_eq(addr_parse_unix(&a, "/x"), 0);
	ck_assert_int_eq(addr_parse_unix(&b, "./yy"), 0);
	peer_from_addr(&p, &a);
	peer_from_addr(&q, &b);
	ck_assert_int_eq(memcmp(&p, &zero, sizeof(p)), 0);
	ck_assert(peer_same_host(&p, &q));
	ck_assert(!peer_is_ip4(&p));
	q = peer("::", 0); /* as many zeroes, but an address */
	ck_assert(!peer_same_host(&p, &q));
	ck_assert_str_eq(peer_format(&p, out), "unix");
	ck_assert_str_eq(peer_format_host(&p, out), "unix");
	ck_assert_uint_eq(sizeof(struct peer), 24);
}
END_TEST

static void
own(struct peer *p, uint32_t pid, uint32_t uid)
{
	struct peer_owner owner = { .pid = pid, .uid = uid };

	peer_set_owner(p, &owner);
}

/* Once it is known who they are, processes and users are told apart. */
START_TEST(unix_owners)
{
	struct peer p = { .family = AF_UNIX }, q = p, zero = p;
	char out[PEER_TEXT_MAX];

	own(&p, 4294967295u, 4294967294u);
	ck_assert_str_eq(
	    peer_format(&p, out), "unix:pid=4294967295,uid=4294967294");
	own(&p, 17u, 0u);
	ck_assert_str_eq(peer_format(&p, out), "unix:pid=17,uid=0");
	ck_assert_str_eq(peer_format_host(&p, out), "unix:pid=17,uid=0");
	own(&q, 17u, 0u);
	ck_assert(peer_same_host(&p, &q));
	own(&q, 17u, 1u);
	ck_assert(!peer_same_host(&p, &q));
	own(&q, 18u, 0u);
	ck_assert(!peer_same_host(&p, &q));
	own(&q, 0u, 0u);
	ck_assert_str_eq(peer_format(&q, out), "unix:uid=0");
	ck_assert(!peer_same_host(&q, &zero));
}
END_TEST

SUITE(test_peer)
{
	Suite *s = suite_create("peer");

	SUITE_ADD(s, printed, 10);
	SUITE_ADD(s, printed_long, 10);
	SUITE_ADD(s, mapped, 10);
	SUITE_ADD(s, and_back, 10);
	SUITE_ADD(s, same_host, 10);
	SUITE_ADD(s, unix_sockets, 10);
	SUITE_ADD(s, unix_owners, 10);
	return s;
}
