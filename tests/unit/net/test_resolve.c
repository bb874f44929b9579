/* test_resolve.c: ports, services and hosts. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "net/resolve/resolve.h"
#include "support/suite.h"

static struct error e;
static struct resolved r;

static void
is_port(const char *word, unsigned wanted)
{
	uint16_t port = 0;

	ck_assert_msg(resolve_port(word, &port, &e) == 0, "%s", e.text);
	ck_assert_uint_eq(port, wanted);
}

static void
no_port(const char *word, const char *why)
{
	uint16_t port = 4711;

	ck_assert_int_eq(resolve_port(word, &port, &e), -1);
	ck_assert_str_eq(e.text, why);
	ck_assert_uint_eq(port, 4711);
}

START_TEST(ports)
{
	is_port("1", 1);
	is_port("80", 80);
	is_port("65535", 65535);
	if (getservbyname("smtp", "tcp") == NULL)
		SKIP("no services known here");
	is_port("smtp", 25);
	is_port("https", 443);
}
END_TEST

/* Some have only UDP. */
START_TEST(ports_of_datagrams)
{
	if (getservbyname("tftp", "udp") == NULL)
		SKIP("no services known here");
	is_port("tftp", 69);
}
END_TEST

START_TEST(bad_ports)
{
	static const char *const bad[] = { "0", "65536", "99999",
		"18446744073709551617", "99999999999999999999999999" };
	unsigned i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		no_port(bad[i], "port out of range 1..65535");
	no_port("", "\"\" is not a valid port or service name");
	no_port("-1", "\"-1\" is not a valid port or service name");
	no_port("80 ", "\"80 \" is not a valid port or service name");
	no_port("0x50", "\"0x50\" is not a valid port or service name");
	no_port("nosuch", "\"nosuch\" is not a valid port or service name");
}
END_TEST

static void
is_host(const char *host, uint16_t port, const char *wanted)
{
	char name[ADDR_TEXT_MAX];

	ck_assert_msg(
	    resolve_host(host, port, RESOLVE_NAMES, &r, &e) == 0, "%s", e.text);
	ck_assert_uint_eq(r.count, 1);
	ck_assert_str_eq(addr_format(&r.addr[0], name), wanted);
}

START_TEST(numeric_hosts)
{
	is_host("10.1.2.3", 80, "10.1.2.3:80");
	is_host("0.0.0.0", 1, "0.0.0.0:1");
	is_host("::1", 443, "[::1]:443");
	is_host("2001:db8::7", 0, "[2001:db8::7]:0");
	is_host("10.1", 80, "10.0.0.1:80");
	is_host("2130706433", 80, "127.0.0.1:80");
}
END_TEST

/* To some programs 010 is 8, to others it is 10. */
START_TEST(leading_zeros)
{
	static const char *const bad[] = { "010.0.0.1", "10.0.0.01", "0x7f.1",
		"00", "0.0.0.09", "0x7f000001" };
	unsigned i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(
		    resolve_host(bad[i], 80, RESOLVE_NAMES, &r, &e) == -1,
		    "\"%s\"", bad[i]);
		ck_assert_str_eq(e.text,
		    "an IPv4 address has decimal numbers without leading "
		    "zeros");
		ck_assert_uint_eq(r.count, 0);
	}
	ck_assert_int_eq(resolve_address("fe80::1%nosuch", 80, &r, &e), -1);
	ck_assert_int_eq(resolve_address("0x.test", 80, &r, &e), 0);
	ck_assert_int_eq(resolve_address("01.test", 80, &r, &e), 0);
	ck_assert_int_eq(resolve_address("1.2.3.256", 80, &r, &e), 0);
}
END_TEST

/* The file descriptors a resolver would open cannot be had: numbers need
 * none. */
START_TEST(numbers_ask_nobody)
{
	struct rlimit old, none;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	is_host("192.0.2.77", 80, "192.0.2.77:80");
	is_host("2001:db8::77", 80, "[2001:db8::77]:80");
	is_port("8080", 8080);
	ck_assert_int_eq(
	    resolve_host("no-such-host.invalid", 1, RESOLVE_NAMES, &r, &e), -1);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
}
END_TEST

/* However often the resolver says it, each address counts once. */
START_TEST(local_name)
{
	char name[ADDR_TEXT_MAX];
	unsigned i, k;

	if (resolve_host("localhost", 7, RESOLVE_NAMES, &r, &e) < 0)
		SKIP("localhost is unknown here");
	ck_assert_uint_ge(r.count, 1);
	ck_assert_uint_le(r.count, RESOLVE_MAX);
	for (i = 0; i < r.count; i++) {
		ck_assert_uint_eq(addr_port(&r.addr[i]), 7);
		addr_format_host(&r.addr[i], name);
		ck_assert(
		    strcmp(name, "::1") == 0 || strncmp(name, "127.", 4) == 0);
		for (k = 0; k < i; k++)
			ck_assert(!addr_equal(&r.addr[i], &r.addr[k]));
	}
}
END_TEST

START_TEST(bad_hosts)
{
	static const char *const bad[] = { "", "no-such-host.invalid",
		"1.2.3.4.5", "a b", "[::1]", ":::" };
	unsigned i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		e.text[0] = '\0';
		ck_assert_msg(
		    resolve_host(bad[i], 80, RESOLVE_NAMES, &r, &e) == -1,
		    "\"%s\"", bad[i]);
		ck_assert_str_ne(e.text, "");
		ck_assert_uint_eq(r.count, 0);
	}
}
END_TEST

/* While the loop runs nothing may wait for a resolver. */
START_TEST(numeric_only)
{
	ck_assert_int_eq(
	    resolve_host("127.0.0.1", 1, RESOLVE_NUMERIC, &r, &e), 0);
	ck_assert_uint_eq(r.count, 1);
	ck_assert_int_eq(
	    resolve_host("localhost", 1, RESOLVE_NUMERIC, &r, &e), -1);
}
END_TEST

/* Adds 10.0.0.1 to 10.0.0.N, upwards or downwards. */
static void
add_many(struct resolved *to, unsigned n, bool up)
{
	struct resolved_service is = { .there = true };
	char host[32];
	struct addr a;
	unsigned i;

	resolved_init(to);
	for (i = 1; i <= n; i++) {
		is.prio = (uint16_t)(up ? i : n + 1 - i);
		snprintf(host, sizeof(host), "10.0.0.%u", is.prio);
		ck_assert_int_eq(addr_parse_ip(&a, host, 0), 0);
		resolve_add(to, &a.u.sa, a.len, 80, 0, &is);
	}
}

/* Of too many addresses the same ones are kept, in whatever order they come,
 * each with what its record says. */
START_TEST(too_many)
{
	struct resolved up, down;
	unsigned i, k;

	add_many(&up, RESOLVE_MAX + 8, true);
	add_many(&down, RESOLVE_MAX + 8, false);
	ck_assert_uint_eq(up.count, RESOLVE_MAX);
	ck_assert_uint_eq(down.count, RESOLVE_MAX);
	for (i = 0; i < RESOLVE_MAX; i++) {
		for (k = 0; k < RESOLVE_MAX; k++)
			if (addr_equal(&up.addr[i], &down.addr[k]))
				break;
		ck_assert_uint_lt(k, RESOLVE_MAX);
		ck_assert_uint_eq(up.service[i].prio, down.service[k].prio);
	}
}
END_TEST

/* What a target that failed had may be there still, what another had not. */
START_TEST(half_an_answer)
{
	struct resolved half;
	struct addr v4, v6;

	ck_assert_int_eq(addr_parse_ip(&v4, "10.0.0.1", 80), 0);
	ck_assert_int_eq(addr_parse_ip(&v6, "fd00::1", 80), 0);
	resolved_init(&half);
	ck_assert(!resolved_may_have(&half, NULL, &v4));
	ck_assert_int_eq(resolved_add_host(&half, "one.test"), 0);
	ck_assert_int_eq(resolved_add_host(&half, "two.test"), 1);
	ck_assert(resolved_may_have(&half, "one.test", &v4));
	half.host[0].failed = 0;
	half.host[1].failed = RESOLVE_IPV6;
	ck_assert(!resolved_may_have(&half, "one.test", &v6));
	ck_assert(!resolved_may_have(&half, "two.test", &v4));
	ck_assert(resolved_may_have(&half, "two.test", &v6));
	ck_assert(!resolved_may_have(&half, NULL, &v6));
	ck_assert(!resolved_may_have(&half, "three.test", &v6));
	resolve_add(&half, &v4.u.sa, v4.len, 80, 1, NULL);
	ck_assert_str_eq(resolved_target(&half, 0), "two.test");
	resolved_fini(&half);
}
END_TEST

SUITE(test_resolve)
{
	Suite *s = suite_create("resolve");

	SUITE_ADD(s, ports, 20);
	SUITE_ADD(s, ports_of_datagrams, 20);
	SUITE_ADD(s, numeric_only, 10);
	SUITE_ADD(s, bad_ports, 20);
	SUITE_ADD(s, numeric_hosts, 10);
	SUITE_ADD(s, leading_zeros, 10);
	SUITE_ADD(s, numbers_ask_nobody, 10);
	SUITE_ADD(s, local_name, 30);
	SUITE_ADD(s, bad_hosts, 60);
	SUITE_ADD(s, half_an_answer, 10);
	SUITE_ADD(s, too_many, 10);
	return s;
}
