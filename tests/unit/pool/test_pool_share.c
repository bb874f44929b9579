/* test_pool_share.c: limits of servers hold for several processes, and
 * algorithms go by the connections of all; here each has a pool of its own in
 * one. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number.h"
#include "pool/balance.h"
#include "pool/explain.h"
#include "pool/pool_share.h"
#include "pool/surplus.h"
#include "support/suite.h"

enum { PROCESSES = 2, HARD = 3, MANY = 1000 };

static struct pool_share share, parts[PROCESSES];
static struct pool *pools[PROCESSES];
static struct attempts attempts;
static uint64_t now = 1000;

static struct pool *
new_pool(const char *algorithm, unsigned servers, unsigned hard)
{
	struct pool *p = pool_new();
	struct server_spec spec;
	struct pool_options o;
	unsigned i;

	pool_options_init(&o);
	o.sticky = false;
	o.balance = balance_find(algorithm);
	ck_assert_int_eq(pool_set_options(p, &o), 0);
	for (i = 0; i < servers; i++) {
		server_spec_init(&spec);
		spec.name = (char *)(uintptr_t)text(
		    "10.0.%u.%u", i / 250, i % 250);
		spec.addrs.count = 1;
		spec.set.hard = hard;
		addr_parse_ip(&spec.addrs.addr[0], spec.name, 80);
		ck_assert_ptr_nonnull(pool_set_slot(p, server_slot(i), &spec));
	}
	return p;
}

static void
begin_with(const char *algorithm, unsigned servers, unsigned hard)
{
	unsigned i;

	ck_assert_int_eq(pool_share_open(&share, PROCESSES), 0);
	for (i = 0; i < PROCESSES; i++) {
		parts[i] = share;
		parts[i].own = i;
		pools[i] = new_pool(algorithm, servers, hard);
		pool_join(pools[i], &parts[i]);
	}
	share.used = parts[0].used;
}

static void
begin(void)
{
	begin_with("roundrobin", 2, HARD);
}

static void
end(void)
{
	unsigned i;

	for (i = 0; i < PROCESSES; i++) {
		pool_part(pools[i]);
		pool_free(pools[i]);
	}
	pool_share_close(&share);
}

static struct server *
choose(unsigned i)
{
	struct peer who = { .family = AF_INET };

	attempts = (struct attempts){ .set = 0 };
	return pool_choose(pools[i], &who, &attempts, ++now);
}

static struct server *
open_one(unsigned i)
{
	struct peer who = { .family = AF_INET };
	struct server *s = choose(i);

	if (s != NULL)
		pool_opened(pools[i], s, &who, &attempts, now);
	return s;
}

static void
open_at(unsigned i, unsigned server)
{
	struct peer who = { .family = AF_INET };

	attempts = (struct attempts){ .set = 0 };
	pool_opened(
	    pools[i], pool_server(pools[i], server), &who, &attempts, ++now);
}

static void
close_one(unsigned i, unsigned server)
{
	struct peer who = { .family = AF_INET };

	pool_closed(
	    pools[i], pool_server(pools[i], server), &who, &attempts, 0, 0);
}

/* Whoever opens them. */
START_TEST(no_more_than_the_limit)
{
	int i, opened = 0;

	begin();
	for (i = 0; i < 20; i++)
		opened += open_one((unsigned)i % PROCESSES) != NULL;
	ck_assert_int_eq(opened, 2 * HARD);
	ck_assert(pool_may_recover(pools[0]));
	end();
}
END_TEST

/* A place that one gives back the other gets. */
START_TEST(places_come_back)
{
	int i;

	begin();
	for (i = 0; i < 2 * HARD; i++)
		ck_assert_ptr_nonnull(open_one(0));
	ck_assert_ptr_null(open_one(1));
	close_one(0, 1);
	ck_assert_uint_eq(open_one(1)->number, 1);
	ck_assert_ptr_null(open_one(0));
	end();
}
END_TEST

/* What is chosen and not opened is no more than one place, until the next. */
START_TEST(nothing_is_kept_for_nobody)
{
	int i;

	begin();
	for (i = 0; i < 50; i++)
		ck_assert_ptr_nonnull(choose(0));
	for (i = 0; i < 2 * HARD - 1; i++)
		ck_assert_ptr_nonnull(open_one(1));
	ck_assert_ptr_null(open_one(1));
	ck_assert_ptr_nonnull(open_one(0));
	end();
}
END_TEST

/* A process that is gone has none. */
START_TEST(one_dies)
{
	int i;

	begin();
	for (i = 0; i < 2 * HARD; i++)
		ck_assert_ptr_nonnull(open_one(0));
	pool_share_clear(&share, 0);
	for (i = 0; i < 2 * HARD; i++)
		ck_assert_ptr_nonnull(open_one(1));
	ck_assert_ptr_null(open_one(1));
	end();
}
END_TEST

/* A process that has no connection to a server that is removed forgets it; one
 * that opens none itself knows it as long as others have some. */
START_TEST(removed_servers)
{
	static const struct server_counters none;
	struct server *s;
	unsigned i;

	begin();
	open_at(0, 0);
	open_at(0, 1);
	pool_remove_server(pools[1], pool_server(pools[1], 0));
	ck_assert(!server_is_known(pool_server(pools[1], 0)));
	parts[1].own = PROCESSES;
	s = pool_server(pools[1], 1);
	pool_remove_server(pools[1], s);
	ck_assert(server_is_known(s));
	for (i = 0; i < 2; i++) {
		pool_remove_server(pools[0], pool_server(pools[0], i));
		ck_assert(server_is_known(pool_server(pools[0], i)));
		close_one(0, i);
		ck_assert(!server_is_known(pool_server(pools[0], i)));
	}
	pool_take_counters(s, &none);
	ck_assert(!server_is_known(s));
	end();
}
END_TEST

/* Each number alone is added and taken off, also one that a later version has
 * more: whatever stands before the recent times. */
START_TEST(each_counter_of_processes_is_added)
{
	const size_t past = offsetof(struct server_counters, connect_times);
	struct server_counters one, sum;
	const uint64_t n = 7;
	size_t at;

	for (at = 0; at < past; at += sizeof(n)) {
		memset(&one, 0, sizeof(one));
		memset(&sum, 0, sizeof(sum));
		memcpy((char *)&one + at, &n, sizeof(n));
		if (at >= offsetof(struct server_counters, connect_durations))
			one.connects = 1; /* what is timed was a connect */
		server_counters_add(&sum, &one);
		server_counters_add(&sum, &one);
		ck_assert_uint_eq(number_at(&sum, at, sizeof(n)), 2 * n);
		server_counters_subtract(&sum, &one);
		ck_assert_mem_eq(&sum, &one, past);
	}
}
END_TEST

/* ---- algorithms ---- */

static const char *const by_connections[] = { "leastconn", "wleastconn", "p2c",
	"least_time" };

/* What one has opened keeps the clients of the other from that server. */
START_TEST(the_connections_of_all_count)
{
	int i;

	begin_with(by_connections[_i], 2, 0);
	for (i = 0; i < 10; i++)
		open_at(0, 0);
	for (i = 0; i < 8; i++)
		ck_assert_uint_eq(open_one(1)->number, 1);
	for (i = 0; i < 8; i++)
		close_one(0, 0);
	for (i = 0; i < 4; i++)
		ck_assert_uint_eq(open_one(1)->number, 0);
	pool_share_clear(&share, 1);
	ck_assert_uint_eq(open_one(0)->number, 1);
	end();
}
END_TEST

/* More servers than can be added up for each choice; most clients are of one
 * process, and the other one has opened connections at some. */
START_TEST(many_servers)
{
	unsigned i, n, least = UINT32_MAX, most = 0;

	begin_with("leastconn", MANY, 0);
	for (i = 0; i < MANY / 2; i++)
		open_at(0, i);
	for (i = 0; i < 10 * MANY - MANY / 2; i++)
		ck_assert_ptr_nonnull(open_one(i % 10 != 0));
	for (i = 0; i < MANY; i++) {
		n = (unsigned)pool_connections(pool_server(pools[0], i));
		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	ck_assert_uint_ge(least, 9);
	ck_assert_uint_le(most, 11);
	end();
}
END_TEST

/* Each is to close its part of what a server has too many. */
START_TEST(a_surplus_is_of_all)
{
	uint64_t surplus[SLOTS_SPECIAL + 2];
	int i;

	begin_with("leastconn", 2, 0);
	for (i = 0; i < 12; i++)
		open_at(i % 3 == 0, 0);
	for (i = 0; i < 4; i++)
		open_at(1, 1);
	ck_assert_uint_eq(pool_surplus(pools[0], 100, surplus), 2);
	ck_assert_uint_eq(pool_surplus(pools[1], 100, surplus), 1);
	for (i = 0; i < 8; i++)
		open_at(0, 1);
	ck_assert_uint_eq(pool_surplus(pools[0], 100, surplus), 0);
	end();
}
END_TEST

START_TEST(a_full_server_is_explained)
{
	struct peer who = { .family = AF_INET };
	struct explanation x;
	int i;

	begin();
	for (i = 0; i < HARD; i++)
		open_at(0, 0);
	attempts = (struct attempts){ .set = 0 };
	pool_explain(pools[1], &who, &attempts, now, &x);
	ck_assert_int_eq(pool_obstacle(pool_server(pools[1], 0), &who, &x),
	    OBSTACLE_HARD);
	ck_assert_int_eq(pool_obstacle(pool_server(pools[1], 1), &who, &x),
	    OBSTACLE_NONE);
	end();
}
END_TEST

/* ---- at the same time ---- */

/* One of two processes that open and close; `open` is what each server has, as
 * the server would count. Returns how often that was too much. */
static int
compete(unsigned own, unsigned rounds, atomic_int *open)
{
	struct server *s;
	unsigned i, n;
	int bad = 0;

	for (i = 0; i < rounds; i++) {
		s = open_one(own);
		if (s != NULL && atomic_fetch_add(&open[s->number], 1) >= HARD)
			bad++;
		for (n = 0; i % 5 == 0 && n < 2; n++) {
			s = pool_server(pools[own], n);
			while (s->connections > 0) {
				atomic_fetch_sub(&open[n], 1);
				close_one(own, n);
			}
		}
	}
	return bad;
}

START_TEST(at_the_same_time)
{
	unsigned rounds = (unsigned)suite_amount(300000, 3000);
	atomic_int *open = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0, bad;
	pid_t child;

	begin();
	child = fork();
	if (child == 0)
		_exit(compete(1, rounds, open) != 0);
	bad = compete(0, rounds, open);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(bad, 0);
	end();
}
END_TEST

SUITE(test_pool_share)
{
	Suite *s = suite_create("pool_share");
	TCase *c = tcase_create("the_connections_of_all_count");

	tcase_add_loop_test(c, the_connections_of_all_count, 0,
	    sizeof(by_connections) / sizeof(*by_connections));
	suite_add_tcase(s, c);
	SUITE_ADD(s, no_more_than_the_limit, 10);
	SUITE_ADD(s, places_come_back, 10);
	SUITE_ADD(s, nothing_is_kept_for_nobody, 10);
	SUITE_ADD(s, one_dies, 10);
	SUITE_ADD(s, removed_servers, 10);
	SUITE_ADD(s, each_counter_of_processes_is_added, 10);
	SUITE_ADD(s, many_servers, 10);
	SUITE_ADD(s, a_surplus_is_of_all, 10);
	SUITE_ADD(s, a_full_server_is_explained, 10);
	SUITE_ADD(s, at_the_same_time, 60);
	return s;
}
