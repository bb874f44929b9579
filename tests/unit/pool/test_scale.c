/* test_scale.c: the time of a choice with a million clients and a thousand
 * servers, beside that with ten clients and two. Printed, not judged but for a
 * bound that only a linear search would break. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "pool/balance.h"
#include "pool/sticky/sticky.h"
#include "support/suite.h"

enum { BOUND = 50, OPEN = 64 };

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct pool *
make_pool(unsigned servers, unsigned clients, const char *balance, bool sticky)
{
	struct pool *p = pool_new();
	struct server_spec spec;
	struct pool_options o;
	char name[32];
	unsigned i;

	for (i = 0; i < servers; i++) {
		server_spec_init(&spec);
		snprintf(name, sizeof(name), "10.0.%u.%u", i / 250, i % 250);
		spec.name = name;
		spec.addrs.count = 1;
		spec.set.weight = 1;
		addr_parse_ip(&spec.addrs.addr[0], name, 80);
		ck_assert_ptr_nonnull(pool_set_slot(p, server_slot(i), &spec));
	}
	pool_options_init(&o);
	o.balance = balance_find(balance);
	o.sticky = sticky;
	o.clients_max = clients;
	ck_assert_int_eq(pool_set_options(p, &o), 0);
	return p;
}

static struct peer
client(uint64_t n)
{
	struct peer p = { .family = AF_INET6 };
	uint64_t x = hash_mix(n + 1);

	memcpy(p.ip, &x, sizeof(x));
	return p;
}

static struct server *
open_one(struct pool *p, const struct peer *who, struct attempts *attempts)
{
	struct server *s;

	memset(attempts, 0, sizeof(*attempts));
	s = pool_choose(p, who, attempts, 1000);
	pool_opened(p, s, who, attempts, 1000);
	pool_connected(p, s, 1000);
	return s;
}

/* Nanoseconds for one session: choose, open, close. Clients come in no order;
 * some sessions are always open. */
static double
measure(struct pool *p, unsigned clients, unsigned sessions)
{
	struct server *open[OPEN] = { NULL };
	struct attempts attempts[OPEN];
	struct peer who[OPEN];
	double began;
	unsigned i, k;

	if (pool_sticky(p) != NULL)
		for (i = 0; i < clients; i++) {
			struct peer c = client(i);

			open[0] = open_one(p, &c, &attempts[0]);
			pool_closed(p, open[0], &c, &attempts[0], 1, 1);
		}
	open[0] = NULL;
	began = seconds();
	for (i = 0; i < sessions; i++) {
		k = i % OPEN;
		if (open[k] != NULL)
			pool_closed(p, open[k], &who[k], &attempts[k], 1, 1);
		who[k] = client(hash_mix(i) % clients);
		open[k] = open_one(p, &who[k], &attempts[k]);
	}
	return (seconds() - began) / sessions * 1e9;
}

static void
compare(const char *balance, bool sticky)
{
	unsigned sessions = (unsigned)suite_amount(1000000, 20000);
	unsigned many = (unsigned)suite_amount(1000000, 20000);
	struct pool *small = make_pool(2, 10, balance, sticky);
	struct pool *large = make_pool(1000, many, balance, sticky);
	double a = measure(small, 10, sessions);
	double b = measure(large, many, sessions);

	printf("%-12s%s: %4.0f ns with 10 clients and 2 servers, %4.0f ns "
	       "with %u and 1000, ratio %.2f\n",
	    balance, sticky ? " sticky" : "", a, b, many, b / a);
	ck_assert(b < a * BOUND);
	pool_free(small);
	pool_free(large);
}

START_TEST(choices)
{
	int i;

	for (i = 0; balance_table[i] != NULL; i++)
		compare(balance_table[i]->name, false);
	compare("roundrobin", true);
}
END_TEST

/* Milliseconds until a list of so many servers is in force by hash, and until
 * it is with another weight. */
static double
change_hash(unsigned servers)
{
	struct pool *p = make_pool(servers, 1, "roundrobin", false);
	struct pool_options o = *pool_options(p);
	char name[] = "10.0.0.0";
	struct server_spec spec;
	double began;

	server_spec_init(&spec);
	spec.name = name;
	spec.addrs.count = 1;
	spec.set.weight = 7;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0], name, 80), 0);
	o.balance = balance_find("hash");
	began = seconds();
	ck_assert_int_eq(pool_set_options(p, &o), 0);
	ck_assert_ptr_nonnull(pool_set_slot(p, server_slot(0), &spec));
	began = seconds() - began;
	pool_free(p);
	return began * 1e3;
}

/* Nobody waits for a table of all slots and servers. */
START_TEST(hash_takes_a_list_at_once)
{
	double a = change_hash(10), b = change_hash(1000);

	printf("hash: a list of 10 in force after %.2f ms, of 1000 after "
	       "%.2f ms, ratio %.1f\n",
	    a, b, b / a);
	ck_assert(b < a * BOUND);
}
END_TEST

static void
set_weight(struct pool *p, unsigned number, unsigned weight)
{
	struct server_spec spec;
	char name[] = "10.1.1.1";

	server_spec_init(&spec);
	spec.name = name;
	spec.addrs.count = 1;
	spec.set.weight = weight;
	ck_assert_int_eq(
	    addr_parse_ip(&spec.addrs.addr[0], name, (uint16_t)number), 0);
	ck_assert_ptr_nonnull(pool_set_slot(p, server_slot(number), &spec));
}

/* Microseconds of the fastest of some changes: a server gets another weight,
 * one is added. */
static double
change_one(const char *balance, unsigned servers)
{
	struct pool *p = make_pool(servers, 1, balance, false);
	double best = 1e9, began, took;
	unsigned i;

	for (i = 0; i < 20; i++) {
		began = seconds();
		set_weight(p, 0, 2 + i);
		set_weight(p, servers + i, 1);
		took = seconds() - began;
		best = took < best ? took : best;
	}
	pool_free(p);
	return best * 1e6;
}

/* A change of one server concerns no other: 10 us more are for caches. Hash
 * sorts its list anew, which is not for each client. */
START_TEST(a_change_does_not_grow_with_the_list)
{
	unsigned many = (unsigned)suite_amount(4096, 1000);
	double a, b;
	int i;

	for (i = 0; balance_table[i] != NULL; i++) {
		a = change_one(balance_table[i]->name, 10);
		b = change_one(balance_table[i]->name, many);
		printf("%-12s: a weight and a server more of 10 take %.1f us, "
		       "of %u %.1f us\n",
		    balance_table[i]->name, a, many, b);
		ck_assert(strcmp(balance_table[i]->name, "hash") == 0 ||
		    b < (a + 10) * 10);
	}
}
END_TEST

/* Microseconds of the fastest of some times that settings are set. */
static double
set_options(struct pool *p, bool other)
{
	struct pool_options o = *pool_options(p);
	double best = 1e9, began, took;
	unsigned i;

	for (i = 0; i < 20; i++) {
		o.tracking_ms += other;
		began = seconds();
		ck_assert_int_eq(pool_set_options(p, &o), 0);
		took = seconds() - began;
		best = took < best ? took : best;
	}
	return best * 1e6;
}

/* Each command sets those of the pool, too: servers are not visited for it. */
START_TEST(the_same_settings_cost_nothing)
{
	struct pool *p = make_pool(4096, 1, "roundrobin", false);
	double same = set_options(p, false), other = set_options(p, true);

	printf("settings of a pool of 4096: the same %.2f us, others "
	       "%.1f us\n",
	    same, other);
	ck_assert(same * 10 < other);
	pool_free(p);
}
END_TEST

SUITE(test_scale)
{
	Suite *s = suite_create("scale");

	SUITE_ADD(s, choices, 120);
	SUITE_ADD(s, hash_takes_a_list_at_once, 120);
	SUITE_ADD(s, the_same_settings_cost_nothing, 120);
	SUITE_ADD(s, a_change_does_not_grow_with_the_list, 120);
	return s;
}
