/* test_server_index.c: servers by the words that may mean them, whoever shares
 * one; and thousands at one address. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "control/plan/server_index.h"
#include "support/suite.h"

enum { SERVERS = 60, HOSTS = 8 };

static struct server_index *x;
static struct server server[SERVERS];
static char names[SERVERS][32];
static uint64_t state;

static unsigned
draw(unsigned n)
{
	return (unsigned)((hash_mix(++state) >> 32) * n >> 32);
}

/* Puts server `i` there, or takes it out: host 0. */
static void
put(struct server *s, char *name, unsigned slot, unsigned host)
{
	*s = (struct server){ .slot = slot,
		.role = SERVER_REGULAR,
		.name = name,
		.present = host > 0 };
	if (host > 0) {
		snprintf(name, 32, "10.0.0.%u", host);
		s->addrs.count = 1;
		ck_assert_int_eq(
		    addr_parse_ip(&s->addrs.addr[0], name, 80), 0);
	}
	ck_assert_int_eq(server_index_set(x, s), 0);
}

static void
count(void *arg, unsigned slot)
{
	unsigned *seen = arg;

	seen[slot]++;
}

static void
assert_index(const unsigned *host)
{
	unsigned h, i;

	for (h = 1; h <= HOSTS; h++) {
		unsigned seen[SERVERS] = { 0 };

		server_index_each(x, text("10.0.0.%u", h), count, seen);
		for (i = 0; i < SERVERS; i++)
			ck_assert_uint_eq(seen[i], host[i] == h);
	}
}

START_TEST(each_server_is_found_once)
{
	unsigned host[SERVERS] = { 0 }, i, round;

	x = server_index_new();
	ck_assert_ptr_nonnull(x);
	for (round = 0; round < 500; round++) {
		i = draw(SERVERS);
		host[i] = draw(3) == 0 ? 0 : 1 + draw(HOSTS);
		put(&server[i], names[i], i, host[i]);
		assert_index(host);
	}
	server_index_free(x);
}
END_TEST

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Nanoseconds for each of `servers`, which all have one address, to come, to be
 * set again and to go. */
static double
change_all(unsigned servers)
{
	double began = seconds();
	struct server s;
	char name[32];
	unsigned i;

	x = server_index_new();
	ck_assert_ptr_nonnull(x);
	for (i = 0; i < servers; i++)
		put(&s, name, i, 1);
	for (i = 0; i < servers; i++)
		put(&s, name, i, 1);
	for (i = 0; i < servers; i++)
		put(&s, name, i, 0);
	server_index_free(x);
	return (seconds() - began) / servers * 1e9;
}

/* A walk along all of them for each took eight times as long. */
START_TEST(thousands_at_one_address)
{
	double few = change_all(100), many = change_all(20000);

	printf("of 100 servers at one address %.0f ns each, of 20000 %.0f ns\n",
	    few, many);
	ck_assert(many < few * 4);
}
END_TEST

SUITE(test_server_index)
{
	Suite *s = suite_create("server_index");

	SUITE_ADD(s, each_server_is_found_once, 20);
	SUITE_ADD(s, thousands_at_one_address, 60);
	return s;
}
