/* test_addr.c: addresses: parse, print, compare. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/addr.h"
#include "support/suite.h"

static struct addr
ip(const char *from, uint16_t port)
{
	struct addr a;

	ck_assert_msg(addr_parse_ip(&a, from, port) == 0, "%s", from);
	return a;
}

static void
round_trip(const char *from, uint16_t port, const char *wanted)
{
	struct addr a = ip(from, port);
	char out[ADDR_TEXT_MAX];

	ck_assert_str_eq(addr_format(&a, out), wanted);
	ck_assert_uint_eq(a.len,
	    strchr(from, ':') != NULL ? sizeof(struct sockaddr_in6)
				      : sizeof(struct sockaddr_in));
	ck_assert_uint_eq(addr_port(&a), port);
}

START_TEST(numeric)
{
	static const char *const bad[] = { "", "1.2.3", "1.2.3.4.5",
		"256.1.1.1", "host", "::g", "[::1]", "1.2.3.4 ", ":::", "::1%",
		"fe80::1%no-such-interface", "fe80::1%-1", "fe80::1%1x",
		"fe80::1%4294967296", "1.2.3.4%1" };
	struct addr a;
	size_t i;

	round_trip("192.0.2.1", 80, "192.0.2.1:80");
	round_trip("::1", 443, "[::1]:443");
	round_trip("2001:db8:0:0::1", 1, "[2001:db8::1]:1");
	round_trip("fe80::1%1", 9, "[fe80::1%1]:9");
	round_trip("fe80::1%4294967295", 9, "[fe80::1%4294967295]:9");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(
		    addr_parse_ip(&a, bad[i], 1) == -1, "\"%s\"", bad[i]);
}
END_TEST

START_TEST(unix_sockets)
{
	char name[sizeof(((struct sockaddr_un *)0)->sun_path) + 2];
	char out[ADDR_TEXT_MAX];
	struct addr a, b;

	ck_assert(addr_is_unix_text("/run/x"));
	ck_assert(addr_is_unix_text("./x"));
	ck_assert(addr_is_unix_text("@x"));
	ck_assert(!addr_is_unix_text("host:80"));
	ck_assert_int_eq(addr_parse_unix(&a, "./ssh"), 0);
	ck_assert_str_eq(addr_format(&a, out), "./ssh");
	ck_assert_uint_eq(addr_port(&a), 0);
	memset(name, 'x', sizeof(name));
	name[0] = '/';
	name[sizeof(name) - 3] = '\0';
	ck_assert_int_eq(addr_parse_unix(&a, name), 0);
	ck_assert_str_eq(addr_format(&a, out), name);
	name[sizeof(name) - 3] = 'x';
	name[sizeof(name) - 2] = '\0';
	ck_assert_int_eq(addr_parse_unix(&b, name), -1);
	ck_assert_int_eq(errno, ENAMETOOLONG);
	ck_assert_int_eq(addr_parse_unix(&b, ""), -1);
	ck_assert_int_eq(errno, EINVAL);
#ifdef __linux__
	name[0] = '@';
	ck_assert_int_eq(addr_parse_unix(&b, name), 0);
	ck_assert_str_eq(addr_format(&b, out), name);
	ck_assert(!addr_equal(&a, &b));
	ck_assert_int_eq(addr_parse_unix(&b, "@"), -1);
	/* one name that begins like another is another */
	ck_assert_int_eq(addr_parse_unix(&a, "@x"), 0);
	ck_assert_int_eq(addr_parse_unix(&b, "@xy"), 0);
	ck_assert(!addr_equal(&a, &b));
#endif
}
END_TEST

START_TEST(equality)
{
	struct addr a = ip("10.0.0.1", 1), b = ip("10.0.0.1", 2);
	struct addr c = ip("::1", 1), any4 = ip("0.0.0.0", 1);
	struct addr any6 = ip("::", 1), d = ip("::1", 2);
	struct addr near = ip("fe80::1%1", 1), far = ip("fe80::1%2", 1);
	struct addr none = { .len = 0 };

	ck_assert(addr_equal(&a, &a));
	ck_assert(!addr_equal(&a, &b));
	ck_assert(!addr_equal(&a, &c));
	ck_assert(addr_equal(&near, &near));
	ck_assert(!addr_equal(&c, &d));
	ck_assert(!addr_equal(&near, &far));
	ck_assert(addr_equal(&none, &none));
	ck_assert(!addr_equal(&a, &none));
	addr_set_port(&b, 1);
	ck_assert(addr_equal(&a, &b));
	ck_assert(addr_is_any(&any4) && addr_is_any(&any6));
	ck_assert(!addr_is_any(&a) && !addr_is_any(&c));
}
END_TEST

START_TEST(multicast_groups)
{
	static const char *const groups[] = { "224.0.0.0", "239.255.255.255",
		"ff02::1", "ff05::2", "::ffff:224.0.0.1" };
	static const char *const others[] = { "223.255.255.255", "240.0.0.0",
		"255.255.255.255", "fe80::1", "::ffff:10.0.0.1", "::" };
	struct addr a = { .len = 0 };
	size_t i;

	ck_assert(!addr_is_multicast(&a));
	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		ck_assert_int_eq(addr_parse_ip(&a, groups[i], 1), 0);
		ck_assert(addr_is_multicast(&a));
	}
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		ck_assert_int_eq(addr_parse_ip(&a, others[i], 1), 0);
		ck_assert(!addr_is_multicast(&a));
	}
}
END_TEST

START_TEST(who_can_be_asked)
{
	static const char *const groups[] = { "224.0.0.1", "239.255.255.250",
		"240.0.0.1", "255.255.255.255", "ff02::1" };
	static const char *const own[] = { "127.0.0.1", "127.255.0.1", "::1",
		"::ffff:127.1.2.3" };
	static const char *const others[] = { "223.255.255.255", "10.0.0.1",
		"126.0.0.1", "128.0.0.1", "fe80::1", "::", "0.0.0.0",
		"::ffff:128.0.0.1", "::7f00:1" };
	struct addr a, none = { .len = 0 };
	unsigned i;

	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		a = ip(groups[i], 1);
		ck_assert(addr_is_group(&a) && !addr_is_loopback(&a));
	}
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		a = ip(own[i], 1);
		ck_assert(addr_is_loopback(&a) && !addr_is_group(&a));
	}
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		a = ip(others[i], 1);
		ck_assert(!addr_is_loopback(&a) && !addr_is_group(&a));
	}
	ck_assert(!addr_is_loopback(&none) && !addr_is_group(&none));
	ck_assert_int_eq(addr_parse_unix(&a, "/127.0.0.1"), 0);
	ck_assert(!addr_is_loopback(&a) && !addr_is_group(&a));
}
END_TEST

SUITE(test_addr)
{
	Suite *s = suite_create("addr");

	SUITE_ADD(s, numeric, 10);
	SUITE_ADD(s, unix_sockets, 10);
	SUITE_ADD(s, equality, 10);
	SUITE_ADD(s, multicast_groups, 10);
	SUITE_ADD(s, who_can_be_asked, 10);
	return s;
}
