/* test_ports.c: local ports: the kernel's settings of them, and who has
 * which. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "net/ports.h"
#include "support/suite.h"

static struct ports p;

static void
init(const char *range, const char *reserved)
{
	write_file(scratch("port_range"), range);
	write_file(scratch("reserved_ports"), reserved);
	ck_assert_int_eq(ports_init(&p, scratch("")), 0);
}

static unsigned
count(const char *range, const char *reserved)
{
	unsigned n;

	init(range, reserved);
	n = p.room;
	ports_fini(&p);
	return n;
}

START_TEST(ranges)
{
	ck_assert_uint_eq(count("32768\t60999\n", "\n"), 28232);
	ck_assert_uint_eq(count("1024 65535", ""), 64512);
	ck_assert_uint_eq(count("5000 5000\n", ""), 1);
	/* what is none */
	ck_assert_uint_eq(count("", ""), 0);
	ck_assert_uint_eq(count("nothing", ""), 0);
	ck_assert_uint_eq(count("9 8", ""), 0);
	ck_assert_uint_eq(count("1 70000", ""), 0);
}
END_TEST

/* Only those within the range are missing from it. */
START_TEST(reserved)
{
	ck_assert_uint_eq(count("32768\t60999\n", "8080,9100-9200\n"), 28232);
	ck_assert_uint_eq(
	    count("32768\t60999\n", "8080,30000-32767,40000\n"), 28231);
	ck_assert_uint_eq(
	    count("32768\t60999\n", "30000-32768,60999-70000\n"), 28230);
	ck_assert_uint_eq(count("100 199", "1-65535\n"), 0);
}
END_TEST

/* A range of reserved ports only is like none, for its copies too. */
START_TEST(none_left)
{
	struct ports copy;

	init("100 199", "1-65535");
	ck_assert_ptr_null(p.ring);
	ck_assert_int_eq(ports_init_like(&copy, &p), 0);
	ports_fini(&copy);
	ports_fini(&p);
}
END_TEST

/* Each is taken once until it is given back; the last ones are not for us. */
START_TEST(taken_once)
{
	static bool seen[65536];
	unsigned i, port, ordered = 0, before = 0;

	init("1000 1999", "1500\n");
	ck_assert_uint_eq(ports_most(&p), 949);
	memset(seen, 0, sizeof(seen));
	for (i = 0; !ports_are_short(&p); i++) {
		port = ports_take(&p);
		ck_assert(port >= 1000 && port < 2000 && port != 1500);
		ck_assert(!seen[port]);
		seen[port] = true;
		ordered += port == before + 1;
		before = port;
	}
	ck_assert_uint_eq(i, 949);
	ck_assert_uint_lt(ordered, 100);
	while ((port = ports_take(&p)) != 0)
		i++;
	ck_assert_uint_eq(i, 999);
	ports_fini(&p);
}
END_TEST

/* One that was given back is not taken again soon. */
START_TEST(given_back_rests)
{
	unsigned i, port, last;

	init("1000 1099", "");
	while (!ports_are_short(&p))
		ck_assert_uint_ne(ports_take(&p), 0);
	last = ports_take(&p);
	ports_release(&p, (uint16_t)last);
	for (i = 0; i < 2; i++) {
		port = ports_take(&p);
		ck_assert_uint_ne(port, last);
		ports_release(&p, (uint16_t)port);
	}
	ports_release(&p, 0);
	ck_assert_uint_eq(p.free, 5);
	ports_fini(&p);
}
END_TEST

/* A socket has it already. */
START_TEST(taken_by_number)
{
	bool seen[9000] = { false };
	unsigned i, port;

	init("8000\t8019", "8010");
	ck_assert_uint_eq(ports_take_one(&p, 8005), 8005);
	ck_assert_uint_eq(ports_take_one(&p, 8005), 0);
	ck_assert_uint_eq(ports_take_one(&p, 8010), 0);
	ck_assert_uint_eq(ports_take_one(&p, 9999), 0);
	ck_assert_uint_eq(ports_take_one(&p, 8000), 8000);
	ck_assert_uint_eq(ports_take_one(&p, 8019), 8019);
	ck_assert_uint_eq(p.free, 16);
	for (i = 0; i < 16; i++) {
		port = ports_take(&p);
		ck_assert_uint_ge(port, 8000);
		ck_assert(!seen[port - 8000]);
		seen[port - 8000] = true;
		ck_assert(port != 8000 && port != 8005 && port != 8019);
	}
	ck_assert_uint_eq(ports_take_one(&p, 8001), 0);
	ports_release(&p, 8005);
	ck_assert_uint_eq(ports_take_one(&p, 8005), 8005);
	ports_fini(&p);
}
END_TEST

/* What is not known is nobody's limit. */
START_TEST(not_known)
{
	init("", "");
	ck_assert_uint_eq(ports_take(&p), 0);
	ck_assert(!ports_are_short(&p));
	ports_fini(&p);
	ck_assert_int_eq(ports_init(&p, PORTS_SETTINGS), 0);
	ck_assert_uint_lt(p.room, 65536);
	ports_fini(&p);
}
END_TEST

/* Nothing of what the memory had before is taken for a list. */
START_TEST(as_the_kernel_has_them)
{
	enum { MUCH = 64 * 1024 };
	const char *range = contents(PORTS_SETTINGS "port_range"),
		   *reserved_ = contents(PORTS_SETTINGS "reserved_ports");
	char *before = malloc(MUCH);
	unsigned i;

	ck_assert_ptr_nonnull(before);
	for (i = 0; i < MUCH; i += 8)
		memcpy(before + i, "1-65535,", 8);
	free(before);
	ck_assert_int_eq(ports_init(&p, PORTS_SETTINGS), 0);
	i = p.room;
	ports_fini(&p);
	ck_assert_uint_eq(i, count(range, reserved_));
	ck_assert_uint_eq(
	    ports_first(PORTS_SETTINGS), strtoul(range, NULL, 10));
	ck_assert_uint_eq(ports_first(scratch("none")), 0);
}
END_TEST

SUITE(test_ports)
{
	Suite *s = suite_create("ports");

	SUITE_ADD(s, ranges, 10);
	SUITE_ADD(s, reserved, 10);
	SUITE_ADD(s, none_left, 10);
	SUITE_ADD(s, taken_once, 10);
	SUITE_ADD(s, given_back_rests, 10);
	SUITE_ADD(s, taken_by_number, 10);
	SUITE_ADD(s, not_known, 10);
	SUITE_ADD(s, as_the_kernel_has_them, 10);
	return s;
}
