/* test_pool.c: who serves the next client: order, failover, limits, time. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pool/balance.h"
#include "pool/server/server_set.h"
#include "pool/sticky/sticky.h"
#include "support/acladd.h"
#include "support/pooladmin.h"
#include "support/suite.h"

enum { NONE = -1 };

static struct pool *pool;
static struct pool_options options;
static uint64_t now;

/* Servers 10.0.0.1:80, 10.0.0.2:80 ... */
static void
set_server(unsigned i, unsigned weight, int prio, uint64_t soft, uint64_t hard)
{
	char name[32];
	struct server_spec spec;

	server_spec_init(&spec);
	snprintf(name, sizeof(name), "10.0.%u.%u", i / 250, i % 250 + 1);
	spec.name = name;
	spec.addrs.count = 1;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0], name, 80), 0);
	spec.set.weight = weight;
	spec.set.prio = prio;
	spec.set.soft = soft;
	spec.set.hard = hard;
	ck_assert_ptr_nonnull(pool_set_slot(pool, server_slot(i), &spec));
}

static void
set_balance(const char *name, bool sticky)
{
	options.balance = balance_find(name);
	ck_assert_ptr_nonnull(options.balance);
	options.sticky = sticky;
	ck_assert_int_eq(pool_set_options(pool, &options), 0);
}

static void
begin(unsigned servers, const char *balance, bool sticky)
{
	unsigned i;

	now = 1000;
	pool = pool_new();
	ck_assert_ptr_nonnull(pool);
	pool_options_init(&options);
	for (i = 0; i < servers; i++)
		set_server(i, 0, 0, 0, 0);
	set_balance(balance, sticky);
}

static void
end(void)
{
	pool_free(pool);
}

static struct peer
client(unsigned n)
{
	struct addr a;
	struct peer p;
	char text[40];

	snprintf(text, sizeof(text), "192.%u.%u.%u", n >> 16 & 255,
	    n >> 8 & 255, n & 255);
	ck_assert_int_eq(addr_parse_ip(&a, text, 1024), 0);
	peer_from_addr(&p, &a);
	return p;
}

static int
try_next(unsigned n, struct attempts *attempts)
{
	struct peer who = client(n);
	struct server *s = pool_choose(pool, &who, attempts, now);

	return s == NULL ? NONE : (int)s->number;
}

/* The first choice of client n, without a connection. */
static int
pick(unsigned n)
{
	struct attempts attempts = { 0 };

	return try_next(n, &attempts);
}

/* The same with a connection that stays open. */
static int
open_one(unsigned n)
{
	struct attempts attempts = { 0 };
	struct peer who = client(n);
	struct server *s = pool_choose(pool, &who, &attempts, now);

	if (s == NULL)
		return NONE;
	pool_opened(pool, s, &who, &attempts, now);
	pool_connected(pool, s, now);
	return (int)s->number;
}

static void
close_one(unsigned n, int server)
{
	struct attempts attempts = { 0 };
	struct peer who = client(n);

	pool_closed(
	    pool, pool_server(pool, (unsigned)server), &who, &attempts, 10, 20);
}

static void
blacklist(unsigned server)
{
	pool_failed(pool, pool_server(pool, server), "a test", now);
}

/* ---- algorithms ---- */

START_TEST(roundrobin_takes_turns)
{
	int i;

	begin(3, "roundrobin", false);
	for (i = 0; i < 9; i++)
		ck_assert_int_eq(pick(7), i % 3);
	pool_remove_server(pool, pool_server(pool, 1));
	ck_assert_int_eq(pick(7), 0);
	ck_assert_int_eq(pick(7), 2);
	ck_assert_int_eq(pick(7), 0);
	end();
}
END_TEST

/* It is there, and gets its clients once it has an address. */
START_TEST(server_waits_for_its_address)
{
	struct server_spec spec;
	struct server *s;

	begin(2, "roundrobin", false);
	server_spec_init(&spec);
	spec.name = (char *)(uintptr_t) "web.test";
	s = pool_set_slot(pool, server_slot(1), &spec);
	ck_assert_ptr_nonnull(s);
	ck_assert_uint_eq(pool_unresolved(pool), 1);
	ck_assert_int_eq(server_state(s), SERVER_DOWN);
	ck_assert_str_eq(server_reason(s), "no address");
	ck_assert(server_is_known(s));
	ck_assert_int_eq(pick(7), 0);
	ck_assert_int_eq(pick(7), 0);
	spec.admin = SERVER_DISABLED;
	ck_assert_ptr_eq(pool_set_slot(pool, server_slot(1), &spec), s);
	ck_assert_int_eq(server_state(s), SERVER_MAINT);
	spec.admin = SERVER_ENABLED;
	ck_assert_ptr_eq(pool_set_slot(pool, server_slot(1), &spec), s);
	ck_assert_int_eq(server_state(s), SERVER_DOWN);
	ck_assert_uint_eq(pool_unresolved(pool), 1);
	set_server(1, 0, 0, 0, 0);
	ck_assert_uint_eq(pool_unresolved(pool), 0);
	ck_assert_int_eq(server_state(s), SERVER_UP);
	ck_assert_int_eq(open_one(7), 1);
	ck_assert_ptr_eq(pool_set_slot(pool, server_slot(1), &spec), s);
	ck_assert_uint_gt(s->addrs.count, 0); /* for its connection */
	close_one(7, 1);
	ck_assert_uint_eq(s->addrs.count, 0);
	ck_assert_str_eq(s->name, "web.test");
	pool_remove_server(pool, s);
	ck_assert_uint_eq(pool_unresolved(pool), 0);
	ck_assert_int_eq(server_state(s), SERVER_EMPTY);
	ck_assert_ptr_null(s->name);
	end();
}
END_TEST

/* Where services are many, most slots are empty, and most servers idle. */
START_TEST(empty_slots_are_small)
{
	const struct server *emergency, *s;

	ck_assert_uint_le(sizeof(*s), 384);
	begin(1, "roundrobin", false);
	emergency = pool_slot(pool, SLOT_EMERGENCY);
	ck_assert(!server_counts(emergency));
	ck_assert_uint_eq(emergency->counters->connects, 0);
	ck_assert_uint_eq(emergency->addrs.count, 0);
	ck_assert_str_eq(server_reason(emergency), "");
	pool_clear_counters(pool);
	s = pool_server(pool, 0);
	ck_assert(server_counts(s));
	ck_assert_ptr_null(s->fault);
	end();
}
END_TEST

/* Weights 5, 1, 1: exact shares, and never more than three in a row. */
START_TEST(wrr_is_exact_and_smooth)
{
	int got[3] = { 0 }, i, run = 0, last = NONE, s;

	begin(3, "wrr", false);
	set_server(0, 5, 0, 0, 0);
	set_server(1, 1, 0, 0, 0);
	set_server(2, 1, 0, 0, 0);
	for (i = 0; i < 7000; i++) {
		s = pick(1);
		run = s == last ? run + 1 : 1;
		ck_assert_int_le(run, 3);
		ck_assert(s == 0 || s != last);
		last = s;
		got[s]++;
	}
	ck_assert_int_eq(got[0], 5000);
	ck_assert_int_eq(got[1], 1000);
	ck_assert_int_eq(got[2], 1000);
	end();
}
END_TEST

START_TEST(wrr_weight_zero_gets_nothing)
{
	int i;

	begin(2, "wrr", false);
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(pick(1), i % 2);
	set_server(1, 3, 0, 0, 0);
	for (i = 0; i < 10; i++)
		ck_assert_int_eq(pick(1), 1);
	end();
}
END_TEST

START_TEST(leastconn_levels)
{
	int got[4] = { 0 }, i;

	begin(4, "leastconn", false);
	for (i = 0; i < 40; i++)
		got[open_one((unsigned)i)]++;
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(got[i], 10);
	close_one(0, 2);
	close_one(0, 2);
	ck_assert_int_eq(open_one(1), 2);
	ck_assert_int_eq(open_one(1), 2);
	/* one at a time: equals take turns */
	for (i = 0; i < 4; i++)
		got[i] = 0;
	for (i = 0; i < 40; i++) {
		int s = open_one(9);

		got[s]++;
		close_one(9, s);
	}
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(got[i], 10);
	end();
}
END_TEST

START_TEST(wleastconn_follows_weights)
{
	int got[3] = { 0 }, i;

	begin(3, "wleastconn", false);
	set_server(0, 1, 0, 0, 0);
	set_server(1, 2, 0, 0, 0);
	for (i = 0; i < 300; i++)
		got[open_one((unsigned)i)]++;
	ck_assert_int_eq(got[0], 100);
	ck_assert_int_eq(got[1], 200);
	ck_assert_int_eq(got[2], 0);
	end();
}
END_TEST

START_TEST(prio_lowest_first)
{
	begin(3, "prio", false);
	set_server(0, 0, 5, 0, 0);
	set_server(1, 0, 2, 0, 0);
	set_server(2, 0, 2, 0, 0);
	ck_assert_int_eq(pick(1), 1);
	ck_assert_int_eq(pick(1), 2);
	ck_assert_int_eq(pick(1), 1);
	blacklist(1);
	ck_assert_int_eq(pick(1), 2);
	ck_assert_int_eq(pick(1), 2);
	blacklist(2);
	ck_assert_int_eq(pick(1), 0);
	end();
}
END_TEST

/* Clients that come one by one: how many each of five servers gets. */
static void
expect_shares(int clients, int a, int b, int c, int d, int e)
{
	int want[] = { a, b, c, d, e }, got[5] = { 0 }, i;

	for (i = 0; i < clients; i++)
		got[pick((unsigned)i)]++;
	for (i = 0; i < 5; i++)
		ck_assert_int_eq(got[i], want[i]);
}

/* Also when a level has waited for long; who has no weight weighs 1. */
START_TEST(prio_equals_share)
{
	begin(5, "prio", false);
	set_server(0, 0, 2, 0, 0);
	set_server(1, 3, 1, 0, 0);
	set_server(2, 4, 2, 0, 0);
	set_server(3, 1, 1, 0, 0);
	set_server(4, 0, 3, 0, 0);
	expect_shares(400, 0, 300, 0, 100, 0);
	pool_set_admin(pool, pool_server(pool, 1), SERVER_DRAINING);
	expect_shares(40, 0, 0, 0, 40, 0);
	pool_set_admin(pool, pool_server(pool, 3), SERVER_DRAINING);
	expect_shares(50, 10, 0, 40, 0, 0);
	pool_set_admin(pool, pool_server(pool, 1), SERVER_ENABLED);
	pool_set_admin(pool, pool_server(pool, 3), SERVER_ENABLED);
	expect_shares(4, 0, 3, 0, 1, 0);
	expect_shares(400, 0, 300, 0, 100, 0);
	set_server(1, 0, 3, 0, 0);
	expect_shares(4, 0, 0, 0, 4, 0);
	end();
}
END_TEST

/* A client whose server fails gets the best of the others, whether failures
 * blacklist or not. */
START_TEST(prio_after_a_failure)
{
	struct attempts attempts = { 0 };

	begin(4, "prio", false);
	options.blacklist_ms *= (uint64_t)_i;
	ck_assert_int_eq(pool_set_options(pool, &options), 0);
	set_server(0, 0, 4, 0, 0);
	set_server(1, 0, 1, 0, 0);
	set_server(2, 0, 3, 0, 0);
	set_server(3, 0, 1, 0, 0);
	ck_assert_int_eq(try_next(1, &attempts), 1);
	blacklist(1);
	ck_assert_int_eq(try_next(1, &attempts), 3);
	blacklist(3);
	ck_assert_int_eq(try_next(1, &attempts), 2);
	blacklist(2);
	ck_assert_int_eq(try_next(1, &attempts), 0);
	end();
}
END_TEST

START_TEST(p2c_prefers_the_less_busy)
{
	int got[10] = { 0 }, i, most = 0;

	begin(10, "p2c", false);
	for (i = 0; i < 1000; i++)
		got[open_one((unsigned)i)]++;
	for (i = 0; i < 10; i++)
		most = got[i] > most ? got[i] : most;
	/* at random alone the fullest would have about 115 */
	ck_assert_int_le(most, 106);
	end();
}
END_TEST

/* A process that was forked draws other servers than its parent does, and any
 * algorithm takes it. */
START_TEST(fork_draws_for_itself)
{
	enum { MANY = 60 };
	static const char *const names[] = { "p2c", "hash", "roundrobin" };
	int to[2], i, same = 0, status;
	unsigned char own[MANY], theirs[MANY];
	pid_t child;

	begin(10, names[_i], false);
	ck_assert_int_eq(pipe(to), 0);
	child = fork();
	if (child == 0)
		pool_become(pool);
	for (i = 0; i < MANY; i++)
		own[i] = (unsigned char)open_one((unsigned)i);
	if (child == 0)
		_exit(write(to[1], own, MANY) == MANY ? 0 : 1);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(read(to[0], theirs, MANY), MANY);
	for (i = 0; i < MANY; i++)
		same += own[i] == theirs[i];
	ck_assert_int_eq(same == MANY, _i > 0);
	close(to[0]);
	close(to[1]);
	end();
}
END_TEST

static void
check_share(int got, int all, int percent)
{
	ck_assert_int_ge(got, all * (percent - 3) / 100);
	ck_assert_int_le(got, all * (percent + 3) / 100);
}

/* Weights 10, 20, 70 and 0, whether connections stay or end at once. */
static void
check_p2c_shares(void)
{
	int open[4] = { 0 }, turns[4] = { 0 }, i, s;

	set_server(0, 10, 0, 0, 0);
	set_server(1, 20, 0, 0, 0);
	set_server(2, 70, 0, 0, 0);
	set_server(3, 0, 0, 0, 0);
	for (i = 0; i < 5000; i++) {
		s = open_one((unsigned)i);
		turns[s]++;
		close_one((unsigned)i, s);
	}
	for (i = 0; i < 1000; i++)
		open[open_one((unsigned)i)]++;
	check_share(turns[0], 5000, 10);
	check_share(turns[1], 5000, 20);
	check_share(turns[2], 5000, 70);
	check_share(open[0], 1000, 10);
	check_share(open[1], 1000, 20);
	check_share(open[2], 1000, 70);
	ck_assert_int_eq(turns[3] + open[3], 0);
	for (s = 0; s < 4; s++)
		for (i = 0; i < open[s]; i++)
			close_one(1, s);
}

START_TEST(p2c_follows_weights)
{
	unsigned i;

	begin(4, "p2c", false);
	check_p2c_shares();
	/* Whoever came and went meanwhile, with another weight than now. */
	for (i = 0; i < 200; i++) {
		set_server(i * 7 % 40, i * 13 % 300, 0, 0, 0);
		if (i % 7 == 0)
			blacklist(i * 7 % 40);
		if (i % 5 == 0)
			close_one(i, open_one(i));
	}
	for (i = 0; i < 40; i++)
		pool_remove_server(pool, pool_server(pool, i));
	check_p2c_shares();
	end();
}
END_TEST

/* A client comes, its connect takes so long, and it goes again. */
static int
serve_timed(const unsigned *us)
{
	int i = open_one(1);

	pool_took(pool, pool_server(pool, (unsigned)i), us[i]);
	close_one(1, i);
	return i;
}

static void
serve_all_timed(int got[3], const unsigned *us, int clients)
{
	memset(got, 0, 3 * sizeof(*got));
	while (clients-- > 0)
		got[serve_timed(us)]++;
}

/* The fast one gets nearly all, the slow ones so many that it is seen when they
 * become the fast ones. */
START_TEST(least_time_follows_times)
{
	static const unsigned first[] = { 200, 10000, 3200 };
	static const unsigned later[] = { 5000, 200, 5000 };
	int got[3];

	begin(3, "least_time", false);
	ck_assert(pool_wants_times(pool));
	serve_all_timed(got, first, 3000);
	ck_assert_int_gt(got[0], 2900);
	ck_assert_int_ge(got[1], 3);
	ck_assert_int_gt(got[2], got[1]);
	serve_all_timed(got, later, 1500);
	serve_all_timed(got, later, 1000);
	ck_assert_int_gt(got[1], 950);
	/* a SYN that was lost once in a hundred costs little */
	pool_took(pool, pool_server(pool, 1), 1000000);
	serve_all_timed(got, later, 1000);
	ck_assert_int_gt(got[1], 900);
	end();
}
END_TEST

/* The noise of a machine: most samples are up to half away from the mean, some
 * are far above it. The generator is that of Numerical Recipes. */
static unsigned
noisy(unsigned us, uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	if (*state >> 26 == 0)
		return us * 10;
	return us / 2 + (unsigned)((uint64_t)us * (*state >> 16) >> 16);
}

/* Servers that are alike share the clients, be they one or two at a time: which
 * of them connected some microseconds sooner says nothing. */
START_TEST(least_time_equals_take_turns)
{
	static const unsigned us[] = { 40, 400, 4000 };
	int got[3], open[2] = { NONE, NONE }, i, s, last, run, longest;
	uint32_t state = (uint32_t)_i;

	begin(_i % 2 + 2, "least_time", false);
	memset(got, 0, sizeof(got));
	last = NONE;
	run = longest = 0;
	for (i = 0; i < 300; i++) {
		if (open[i % (1 + _i / 6)] != NONE)
			close_one(1, open[i % (1 + _i / 6)]);
		s = open_one(1);
		open[i % (1 + _i / 6)] = s;
		pool_took(pool, pool_server(pool, (unsigned)s),
		    noisy(us[_i % 3], &state));
		got[s]++;
		run = s == last ? run + 1 : 1;
		longest = run > longest ? run : longest;
		last = s;
	}
	for (i = 0; i < _i % 2 + 2; i++) {
		ck_assert_int_gt(got[i], 300 / (_i % 2 + 2) * 3 / 4);
		ck_assert_int_lt(got[i], 300 / (_i % 2 + 2) * 5 / 4);
	}
	ck_assert_int_lt(longest, 30);
	end();
}
END_TEST

/* Connections that stay, and weights, count as much as times. */
START_TEST(least_time_follows_connections_and_weights)
{
	static const unsigned us[] = { 4000, 4000, 16000 };
	int got[3] = { 0 }, i;

	begin(3, "least_time", false);
	set_server(0, 1, 0, 0, 0);
	set_server(1, 4, 0, 0, 0);
	set_server(2, 4, 0, 0, 0);
	for (i = 0; i < 700; i++) {
		int s = open_one((unsigned)i);

		pool_took(pool, pool_server(pool, (unsigned)s), us[s]);
		got[s]++;
	}
	/* 1 : 4 : 1 */
	ck_assert_int_ge(got[0], 95);
	ck_assert_int_le(got[0], 140);
	ck_assert_int_ge(got[1], 420);
	ck_assert_int_le(got[1], 500);
	end();
}
END_TEST

/* Each connection counts, and each unit of weight: two are not as three, nor
 * four as five. */
START_TEST(least_time_follows_small_numbers)
{
	int got[2] = { 0 }, weight = _i + 1, all = 100 * (2 * weight + 1), i;

	begin(2, "least_time", false);
	set_server(0, (unsigned)weight, 0, 0, 0);
	set_server(1, (unsigned)weight + 1, 0, 0, 0);
	for (i = 0; i < all; i++) {
		int s = open_one((unsigned)i);

		pool_took(pool, pool_server(pool, (unsigned)s), 4000);
		got[s]++;
	}
	ck_assert_int_le(abs(got[0] - 100 * weight), all * 4 / 100);
	end();
}
END_TEST

/* Who is new or back is average until it is timed, not the first choice of all:
 * nor after an hour in which nobody came. */
START_TEST(least_time_newcomers_get_a_share)
{
	static const unsigned us[] = { 200, 200, 200, 200 };
	int got[4] = { 0 }, i;

	begin(3, "least_time", false);
	for (i = 0; i < 2000; i++)
		(void)serve_timed(us);
	set_server(3, 0, 0, 0, 0);
	now += 3600 * 1000;
	/* a burst of which nobody has connected yet */
	for (i = 0; i < 400; i++)
		got[open_one((unsigned)i)]++;
	for (i = 0; i < 4; i++) {
		ck_assert_int_ge(got[i], 80);
		ck_assert_int_le(got[i], 120);
	}
	end();
}
END_TEST

/* ---- failures ---- */

/* Each eligible server once, in list order from the first on, then the
 * blacklisted one, then nobody. */
START_TEST(failover_visits_each_once)
{
	struct attempts attempts = { 0 };
	int i;

	begin(5, "roundrobin", false);
	blacklist(3);
	ck_assert_int_eq(pick(1), 0);
	ck_assert_int_eq(pick(1), 1);
	ck_assert_int_eq(try_next(1, &attempts), 2);
	ck_assert_int_eq(try_next(1, &attempts), 4);
	ck_assert_int_eq(try_next(1, &attempts), 0);
	ck_assert_int_eq(try_next(1, &attempts), 1);
	ck_assert_int_eq(try_next(1, &attempts), 3);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(try_next(1, &attempts), NONE);
	end();
}
END_TEST

START_TEST(blacklist_ends_on_time)
{
	begin(2, "roundrobin", false);
	blacklist(0);
	now += options.blacklist_ms - 1;
	ck_assert_int_eq(pick(1), 1);
	ck_assert_int_eq(pick(1), 1);
	now += 1;
	ck_assert_int_eq(pick(1), 0);
	blacklist(0);
	/* a connect that succeeds after all ends it at once */
	pool_connected(pool, pool_server(pool, 0), now);
	ck_assert_int_eq(pick(1), 1);
	ck_assert_int_eq(pick(1), 0);
	end();
}
END_TEST

/* When nobody is left: whose time is up first; each once a client; and who
 * comes while one of them is being tried gets another one. */
START_TEST(blacklisted_ones_are_the_last_resort)
{
	struct attempts attempts = { 0 }, other = { 0 };
	unsigned i;

	begin(3, "roundrobin", false);
	for (i = 0; i < 3; i++) {
		blacklist((i + 1) % 3);
		now += 1000;
	}
	ck_assert_int_eq(try_next(1, &attempts), 1);
	now++;
	ck_assert_int_eq(try_next(2, &other), 2);
	now++;
	ck_assert_int_eq(try_next(1, &attempts), 0);
	ck_assert_int_eq(try_next(2, &other), 1);
	ck_assert_int_eq(try_next(1, &attempts), 2);
	ck_assert_int_eq(try_next(1, &attempts), NONE);
	ck_assert_int_eq(try_next(2, &other), 0);
	ck_assert_int_eq(try_next(2, &other), NONE);
	/* who answers is back in rotation at once */
	pool_connected(pool, pool_server(pool, 2), now);
	for (i = 0; i < 5; i++)
		ck_assert_int_eq(pick(i), 2);
	ck_assert_uint_ne(pool_server(pool, 0)->blacklisted_until, 0);
	end();
}
END_TEST

/* A server that refuses this client is not tried again for it, however often it
 * is for others; and one that came back meanwhile is found. */
START_TEST(last_resort_ends_for_each_client)
{
	struct attempts attempts = { 0 };

	begin(2, "roundrobin", false);
	ck_assert_int_eq(try_next(1, &attempts), 0);
	blacklist(0);
	ck_assert_int_eq(try_next(1, &attempts), 1);
	blacklist(1);
	ck_assert_int_eq(try_next(1, &attempts), NONE);
	attempts = (struct attempts){ 0 };
	ck_assert_int_eq(try_next(1, &attempts), 0);
	blacklist(0);
	pool_connected(pool, pool_server(pool, 1), now);
	ck_assert_int_eq(try_next(1, &attempts), 1);
	ck_assert_int_eq(try_next(1, &attempts), NONE);
	end();
}
END_TEST

/* Three clients at a time, `rounds` times; server `dead` fails each that it
 * gets. got[] counts those that the others have. */
static void
serve_with_one_dead(int dead, int rounds, int got[])
{
	struct attempts attempts[3];
	int i, c, s[3];

	for (i = 0; i < rounds; i++) {
		memset(attempts, 0, sizeof(attempts));
		for (c = 0; c < 3; c++)
			s[c] = try_next(1, &attempts[c]);
		for (c = 0; c < 3; c++) {
			while (s[c] == dead) {
				pool_refused(pool,
				    pool_server(pool, (unsigned)dead), "a test",
				    now);
				s[c] = try_next(1, &attempts[c]);
			}
			ck_assert_int_ne(s[c], NONE);
			got[s[c]]++;
		}
		now += 100;
	}
}

/* The clients of one that fails are shared by the others, blacklisted or not,
 * one after the other or several at once. */
START_TEST(who_fails_over_takes_a_turn)
{
	static const char *const names[] = { "roundrobin", "wrr", "prio" };
	int dead, n;

	for (n = 0; n < 6; n++)
		for (dead = 0; dead < 3; dead++) {
			int got[3] = { 0 }, a = (dead + 1) % 3,
			    b = (dead + 2) % 3;

			begin(3, names[n % 3], false);
			options.blacklist_ms = n < 3 ? 0 : 1000;
			ck_assert_int_eq(pool_set_options(pool, &options), 0);
			serve_with_one_dead(dead, 100, got);
			ck_assert_int_eq(got[a] + got[b], 300);
			ck_assert_int_le(abs(got[a] - got[b]), 2);
			end();
		}
}
END_TEST

/* A server that fails is chosen no more often because clients were passed on,
 * in a route either. */
START_TEST(failures_earn_no_turns)
{
	static const unsigned slots[] = { SLOTS_SPECIAL, SLOTS_SPECIAL + 1,
		SLOTS_SPECIAL + 2 };
	struct server_set route;
	struct attempts a;
	int got[3] = { 0 }, i, s;

	begin(3, _i == 0 ? "wrr" : "prio", false);
	options.blacklist_ms = 0;
	ck_assert_int_eq(pool_set_options(pool, &options), 0);
	ck_assert_int_eq(server_set_init(&route, slots, 3), 0);
	for (i = 0; i < 300; i++) {
		a = (struct attempts){ .allowed = &route };
		s = try_next(1, &a);
		ck_assert_int_ge(s, 0);
		got[s]++;
		if (s == 0)
			ck_assert_int_gt(try_next(1, &a), 0);
	}
	ck_assert_int_le(abs(got[0] - 100), 2);
	server_set_fini(&route);
	end();
}
END_TEST

/* Each server once, also where one of great weight has nearly all turns. */
START_TEST(turns_end_for_each_client)
{
	struct attempts attempts = { 0 };
	int i, seen = 0;

	begin(4, "wrr", false);
	options.blacklist_ms = 0;
	ck_assert_int_eq(pool_set_options(pool, &options), 0);
	for (i = 0; i < 4; i++)
		set_server((unsigned)i, i == 2 ? 1000 : 1, 0, 0, 0);
	for (i = 0; i < 4; i++)
		seen |= 1 << try_next(1, &attempts);
	ck_assert_int_eq(seen, 15);
	ck_assert_int_eq(try_next(1, &attempts), NONE);
	end();
}
END_TEST

/* More servers than a client's bits: each once, all of them. */
START_TEST(many_servers_are_all_tried)
{
	struct attempts attempts = { 0 };
	int i, seen[100] = { 0 };

	begin(100, "roundrobin", false);
	for (i = 0; i < 100; i++)
		seen[try_next(1, &attempts)]++;
	for (i = 0; i < 100; i++)
		ck_assert_int_eq(seen[i], 1);
	ck_assert_int_eq(try_next(1, &attempts), NONE);
	end();
}
END_TEST

static void
set_specials(void)
{
	char name[] = "10.9.9.9";
	struct server_spec spec;

	server_spec_init(&spec);
	spec.name = name;
	spec.addrs.count = 1;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0], name, 80), 0);
	ck_assert_ptr_nonnull(pool_set_slot(pool, SLOT_EMERGENCY, &spec));
	ck_assert_ptr_nonnull(pool_set_slot(pool, SLOT_ABUSE, &spec));
}

/* No answer ends it and no failure shortens it; a longer one lasts longer. */
START_TEST(operator_takes_a_server_out)
{
	struct server *s;

	begin(2, "roundrobin", true);
	s = pool_server(pool, 0);
	s->set.blacklist_ms = 60000;
	pool_take_out(pool, s, now);
	ck_assert_int_eq(open_one(1), 1);
	pool_connected(pool, s, now);
	ck_assert_uint_eq(s->blacklisted_until, now + 60000);
	s->set.blacklist_ms = 5000;
	pool_failed(pool, s, "a test", now);
	ck_assert_uint_eq(s->blacklisted_until, now + 60000);
	/* a failure late in that time is no reason to end it with an answer */
	pool_failed(pool, s, "a test", now + 56000);
	pool_connected(pool, s, now + 57000);
	ck_assert_uint_eq(s->blacklisted_until, now + 60000);
	ck_assert_int_eq(pick(2), 1);
	now += 60000;
	while (pick(3) != 0)
		;
	s->set.blacklist_ms = 5000;
	pool_take_out(pool, s, now);
	s->set.blacklist_ms = 0;
	pool_take_out(pool, s, now);
	ck_assert_uint_eq(s->blacklisted_until, 0);
	ck_assert_uint_eq(s->counters->failures, 2);
	end();
}
END_TEST

/* Who stops all traffic in this way gets what was asked for: it is not tried as
 * the last resort, nor does a flow stay with it, until its time is over. */
START_TEST(operator_takes_the_last_server_out)
{
	struct server_elsewhere past;
	struct server *s;
	int stubborn;

	for (stubborn = 0; stubborn < 2; stubborn++) {
		begin(2, "roundrobin", true);
		options.stubborn = stubborn;
		ck_assert_int_eq(pool_set_options(pool, &options), 0);
		s = pool_server(pool, 0);
		s->set.blacklist_ms = 5000;
		pool_take_out(pool, s, now);
		blacklist(1);
		ck_assert_int_eq(pick(4), 1);
		ck_assert(pool_may_stay(pool, pool_server(pool, 1), now));
		ck_assert(!pool_may_stay(pool, s, now));
		pool_server(pool, 1)->set.blacklist_ms = 5000;
		pool_take_out(pool, pool_server(pool, 1), now);
		ck_assert_int_eq(pick(4), NONE);
		/* a process that takes over knows whose wish it was */
		past = (struct server_elsewhere){
			.blacklisted_ms = s->blacklisted_until - now,
			.by_operator = s->by_operator
		};
		s->set.blacklist_ms = 0;
		pool_take_out(pool, s, now);
		ck_assert_int_eq(pick(4), 0);
		pool_restore(pool, s, &past, now);
		ck_assert_int_eq(pick(4), NONE);
		now += 5000;
		ck_assert_int_ne(pick(4), NONE);
		end();
	}
}
END_TEST

/* Whoever they are: of the list, the emergency server, blacklisted ones, and
 * those of another round. */
START_TEST(tries_end_for_each_client)
{
	struct attempts attempts = { 0 };
	struct server *s;
	int i;

	begin(3, "roundrobin", false);
	set_specials();
	options.tries = 2;
	ck_assert_int_eq(pool_set_options(pool, &options), 0);
	ck_assert_int_eq(try_next(1, &attempts), 0);
	ck_assert_int_eq(try_next(1, &attempts), 1);
	ck_assert_int_eq(try_next(1, &attempts), NONE);
	ck_assert(!pool_has_tries_left(pool, &attempts));
	attempts = (struct attempts){ .given = 1 };
	ck_assert_int_eq(try_next(1, &attempts), 2);
	ck_assert_int_eq(try_next(1, &attempts), NONE);
	for (i = 0; i < 3; i++)
		blacklist((unsigned)i);
	attempts = (struct attempts){ 0 };
	ck_assert_int_eq(try_next(1, &attempts), NUMBER_EMERGENCY);
	s = pool_server(pool, (unsigned)try_next(1, &attempts));
	ck_assert_uint_ne(s->blacklisted_until, 0);
	ck_assert_int_eq(try_next(1, &attempts), NONE);
	/* one that comes again may try as many again */
	pool_begin_round(&attempts);
	ck_assert_int_eq(try_next(1, &attempts), NUMBER_EMERGENCY);
	(void)try_next(1, &attempts);
	ck_assert_int_eq(try_next(1, &attempts), NONE);
	end();
}
END_TEST

START_TEST(single_server_is_always_tried)
{
	struct attempts attempts;
	int i;

	begin(1, "roundrobin", true);
	for (i = 0; i < 3; i++) {
		attempts = (struct attempts){ 0 };
		ck_assert_int_eq(try_next(1, &attempts), 0);
		blacklist(0);
		ck_assert_int_eq(try_next(1, &attempts), NONE);
	}
	/* with -s too */
	options.stubborn = true;
	ck_assert_int_eq(pool_set_options(pool, &options), 0);
	ck_assert_int_eq(pick(1), 0);
	end();
}
END_TEST

/* Connections of the last 4096 ms, in tenths a second. */
START_TEST(connections_have_a_rate)
{
	int i;

	begin(1, "roundrobin", false);
	for (i = 0; i < 40; i++)
		(void)open_one(1);
	ck_assert_uint_eq(
	    rate_tenths(&pool_server(pool, 0)->counters->rate, now), 98);
	end();
}
END_TEST

/* How long server 0 is out, by a refusal now. */
static uint64_t
refused_for(void)
{
	struct server *s = pool_server(pool, 0);

	pool_refused(pool, s, "a test", now);
	return s->blacklisted_until == 0 ? 0 : s->blacklisted_until - now;
}

/* Twice as long with each refusal, up to the blacklist time; many at the same
 * moment are one; an answer ends all of it. */
START_TEST(refusals_are_forgiven_sooner)
{
	static const uint64_t waits[] = { 1000, 2000, 4000, 8000, 16000, 30000,
		30000 };
	unsigned i;

	begin(2, "roundrobin", false);
	for (i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		ck_assert_uint_eq(refused_for(), waits[i]);
		ck_assert_uint_eq(refused_for(), waits[i]);
		now += waits[i] - 1;
		ck_assert_int_eq(pick(1), 1);
		now += 1;
		while (pick(1) != 0)
			;
	}
	(void)refused_for();
	pool_connected(pool, pool_server(pool, 0), now);
	ck_assert_uint_eq(refused_for(), 1000);
	/* silence counts in full, whatever came before */
	blacklist(0);
	ck_assert_uint_eq(pool_server(pool, 0)->blacklisted_until, now + 30000);
	ck_assert_uint_eq(refused_for(), 30000);
	options.blacklist_ms = 0;
	ck_assert_int_eq(pool_set_options(pool, &options), 0);
	pool_connected(pool, pool_server(pool, 0), now);
	ck_assert_uint_eq(refused_for(), 0);
	end();
}
END_TEST

/* A server that has just refused the last client that tried it is not up: a
 * refusal within the time counts from then, but not twice. */
START_TEST(refused_while_blacklisted)
{
	struct server *s;

	begin(1, "roundrobin", false);
	s = pool_server(pool, 0);
	ck_assert_uint_eq(refused_for(), 1000);
	now += 999;
	ck_assert_uint_eq(refused_for(), 1000);
	now += 1000;
	ck_assert_uint_eq(refused_for(), 2000);
	now += 500;
	ck_assert_uint_eq(refused_for(), 1500);
	s->set.blacklist_ms = 300;
	now += 1400;
	ck_assert_uint_eq(refused_for(), 300);
	pool_take_out(pool, s, now);
	ck_assert_uint_eq(refused_for(), 300);
	now += 200;
	ck_assert_uint_eq(refused_for(), 100);
	end();
}
END_TEST

/* Who is out by a check, drain, down or a limit stays out, blacklisted or
 * not. */
START_TEST(last_resort_spares_who_is_out_otherwise)
{
	int i;

	begin(4, "roundrobin", false);
	for (i = 0; i < 3; i++)
		pool_checked(pool, pool_server(pool, 0), false, "a test", now);
	pool_set_admin(pool, pool_server(pool, 1), SERVER_DRAINING);
	pool_set_admin(pool, pool_server(pool, 2), SERVER_DISABLED);
	set_server(3, 0, 0, 1, 0);
	for (i = 0; i < 4; i++)
		blacklist((unsigned)i);
	ck_assert_int_eq(open_one(1), 3);
	blacklist(3);
	ck_assert_int_eq(pick(1), NONE);
	close_one(1, 3);
	ck_assert_int_eq(pick(1), 3);
	pool_set_admin(pool, pool_server(pool, 3), SERVER_DRAINING);
	ck_assert_int_eq(pick(1), NONE);
	/* back from it, it is still blacklisted, and tried */
	pool_set_admin(pool, pool_server(pool, 2), SERVER_ENABLED);
	ck_assert_int_eq(pick(1), 2);
	end();
}
END_TEST

static void
count_eligible(void *arg, unsigned slot)
{
	(void)slot;
	++*(int *)arg;
}

/* Who finds all servers at their limits may wait, as long as nothing else keeps
 * one of them out; whatever makes a place is told. */
START_TEST(full_servers_are_waited_for)
{
	struct peer who = client(9);
	int places = 0;

	begin(2, "roundrobin", false);
	set_server(0, 0, 0, 1, 0);
	set_server(1, 0, 0, 0, 2);
	pool_on_eligible(pool, count_eligible, &places);
	ck_assert(!pool_may_wait(pool, &who, &(struct attempts){ .count = 0 }));
	ck_assert_int_eq(open_one(1), 0);
	ck_assert_int_eq(open_one(2), 1);
	ck_assert(pool_has_eligible(pool));
	ck_assert_int_eq(open_one(3), 1);
	ck_assert_int_eq(pick(4), NONE);
	ck_assert(!pool_has_eligible(pool));
	ck_assert(pool_may_wait(pool, &who, &(struct attempts){ .count = 0 }));
	ck_assert_int_eq(places, 0);
	close_one(3, 1);
	ck_assert_int_eq(places, 1);
	ck_assert(pool_has_eligible(pool));
	ck_assert_int_eq(open_one(3), 1);
	pool_set_admin(pool, pool_server(pool, 0), SERVER_DRAINING);
	ck_assert(pool_may_wait(pool, &who, &(struct attempts){ .count = 0 }));
	blacklist(1);
	ck_assert(!pool_may_wait(pool, &who, &(struct attempts){ .count = 0 }));
	pool_set_admin(pool, pool_server(pool, 0), SERVER_ENABLED);
	ck_assert(pool_may_wait(pool, &who, &(struct attempts){ .count = 0 }));
	ck_assert_int_eq(places, 1);
	set_server(0, 0, 0, 2, 0);
	ck_assert_int_eq(places, 2);
	ck_assert(!pool_may_wait(pool, &who, &(struct attempts){ .count = 0 }));
	ck_assert_int_eq(open_one(4), 0);
	options.stubborn = true;
	set_balance("roundrobin", false);
	ck_assert(!pool_may_wait(pool, &who, &(struct attempts){ .count = 0 }));
	options.stubborn = false;
	set_balance("roundrobin", false);
	ck_assert(pool_may_wait(pool, &who, &(struct attempts){ .count = 0 }));
	pool_remove_server(pool, pool_server(pool, 0));
	ck_assert(!pool_may_wait(pool, &who, &(struct attempts){ .count = 0 }));
	end();
}
END_TEST

static const struct balance *counted;
static struct balance counting;
static unsigned entered, left;

static int
count_enter(void *order, struct server *s)
{
	entered++;
	return counted->enter(order, s);
}

static void
count_leave(void *order, struct server *s)
{
	left++;
	counted->leave(order, s);
}

static void
moved(unsigned servers)
{
	ck_assert_uint_eq(entered, servers);
	ck_assert_uint_eq(left, servers);
	entered = left = 0;
}

/* A server that is set is moved, and no other; all are when the first weight
 * comes, as then those without a weight get nothing. */
START_TEST(one_server_moves_alone)
{
	begin(500, "leastconn", false);
	counted = options.balance;
	counting = *counted;
	counting.enter = count_enter;
	counting.leave = count_leave;
	options.balance = &counting;
	ck_assert_int_eq(pool_set_options(pool, &options), 0);
	entered = left = 0;
	ck_assert_int_eq(pool_set_options(pool, &options), 0);
	moved(0);
	set_server(7, 0, 0, 5, 5);
	moved(1);
	set_server(7, 3, 0, 5, 5);
	moved(501);
	set_server(7, 4, 0, 5, 5);
	moved(1);
	pool_begin_changes(pool, NULL);
	set_server(8, 4, 0, 5, 5);
	set_server(9, 4, 0, 5, 5);
	ck_assert_int_eq(pool_end_changes(pool), 0);
	moved(2);
	end();
}
END_TEST

/* A client whose server is blacklisted stays with it when nobody else is
 * left. */
START_TEST(client_stays_when_nobody_is_left)
{
	struct server *a, *b;

	begin(2, "roundrobin", false);
	a = pool_server(pool, 0);
	b = pool_server(pool, 1);
	blacklist(0);
	ck_assert(!pool_may_stay(pool, a, now));
	ck_assert(pool_may_stay(pool, b, now));
	blacklist(1);
	ck_assert(pool_may_stay(pool, a, now));
	pool_set_admin(pool, a, SERVER_DISABLED);
	ck_assert(!pool_may_stay(pool, a, now));
	pool_connected(pool, b, now);
	ck_assert(pool_may_stay(pool, b, now));
	end();
}
END_TEST

/* The special servers are in the list from the start, empty until they are
 * set, and are no part of what operators count. */
START_TEST(special_servers_have_slots)
{
	static const enum server_role roles[] = { SERVER_EMERGENCY,
		SERVER_ABUSE, SERVER_REGULAR, SERVER_REGULAR };
	static const unsigned numbers[] = { NUMBER_EMERGENCY, NUMBER_ABUSE, 0,
		1 };
	const struct server *s;
	unsigned slot;

	begin(2, "roundrobin", false);
	ck_assert_uint_eq(pool_slots(pool), 4);
	ck_assert_uint_eq(pool_count(pool), 2);
	for (slot = 0; slot < 4; slot++) {
		s = pool_slot(pool, slot);
		ck_assert_uint_eq(s->slot, slot);
		ck_assert_uint_eq(s->number, numbers[slot]);
		ck_assert_int_eq(s->role, roles[slot]);
		ck_assert_int_eq(s->present, slot >= SLOTS_SPECIAL);
	}
	ck_assert_ptr_eq(pool_server(pool, 1), pool_slot(pool, 3));
	ck_assert_ptr_null(pool_slot(pool, 4));
	ck_assert_ptr_null(pool_server(pool, 2));
	ck_assert_ptr_null(pool_server(pool, NUMBER_ABUSE));
	ck_assert_ptr_null(pool_server(pool, UINT32_MAX));
	set_specials();
	ck_assert(pool_slot(pool, SLOT_EMERGENCY)->present);
	pool_remove_server(pool, pool_slot(pool, SLOT_EMERGENCY));
	ck_assert(!pool_slot(pool, SLOT_EMERGENCY)->present);
	ck_assert_uint_eq(pool_slots(pool), 4);
	end();
}
END_TEST

START_TEST(emergency_and_abuse)
{
	struct attempts attempts = { 0 };

	begin(2, "roundrobin", false);
	set_specials();
	ck_assert_int_eq(try_next(1, &attempts), 0);
	ck_assert_int_eq(try_next(1, &attempts), 1);
	ck_assert_int_eq(try_next(1, &attempts), NUMBER_EMERGENCY);
	ck_assert_int_eq(try_next(1, &attempts), NONE);
	ck_assert_int_eq(
	    acl_add(pool_acl(pool, 0), false, "192.0.0.1", NULL), 0);
	ck_assert_int_eq(pick(1), NUMBER_ABUSE);
	ck_assert_int_eq(pick(2), 0);
	blacklist(0);
	blacklist(1);
	ck_assert_int_eq(pick(2), NUMBER_EMERGENCY);
	/* when it is out too, all are tried, each once */
	now++;
	pool_failed(pool, pool_slot(pool, SLOT_EMERGENCY), "a test", now);
	attempts = (struct attempts){ 0 };
	ck_assert_int_eq(try_next(2, &attempts), 0);
	ck_assert_int_eq(try_next(2, &attempts), 1);
	ck_assert_int_eq(try_next(2, &attempts), NUMBER_EMERGENCY);
	ck_assert_int_eq(try_next(2, &attempts), NONE);
	now += options.blacklist_ms;
	ck_assert_int_eq(pick(2), 1);
	end();
}
END_TEST

START_TEST(stubborn_has_no_second_choice)
{
	struct attempts attempts = { 0 };
	int first;

	begin(3, "roundrobin", true);
	set_specials();
	options.stubborn = true;
	ck_assert_int_eq(pool_set_options(pool, &options), 0);
	ck_assert_int_eq(try_next(1, &attempts), 0);
	ck_assert_int_eq(try_next(1, &attempts), NONE);
	first = open_one(5);
	blacklist((unsigned)first);
	ck_assert_int_eq(pick(5), NONE);
	ck_assert_int_ne(pick(6), NONE);
	end();
}
END_TEST

START_TEST(empty_slots_are_never_chosen)
{
	int i;

	begin(0, "roundrobin", false);
	ck_assert_int_eq(pick(1), NONE);
	set_server(4, 0, 0, 0, 0);
	ck_assert_uint_eq(pool_count(pool), 5);
	for (i = 0; i < 5; i++)
		ck_assert_int_eq(pick(1), 4);
	pool_remove_server(pool, pool_server(pool, 4));
	ck_assert_int_eq(pick(1), NONE);
	end();
}
END_TEST

/* ---- limits and memory ---- */

/* soft keeps new clients away, hard those that were there before too. */
START_TEST(soft_and_hard_limits)
{
	int s;

	begin(2, "prio", true);
	set_server(0, 0, 1, 2, 3);
	set_server(1, 0, 2, 0, 0);
	ck_assert_int_eq(open_one(1), 0);
	ck_assert_int_eq(open_one(2), 0);
	ck_assert_int_eq(open_one(3), 1);
	ck_assert_int_eq(open_one(1), 0);
	ck_assert_int_eq(open_one(2), 1);
	close_one(1, 0);
	close_one(1, 0);
	s = open_one(4);
	ck_assert_int_eq(s, 0);
	end();
}
END_TEST

START_TEST(clients_go_back)
{
	unsigned i;
	int first[50], s;

	begin(5, "roundrobin", true);
	for (i = 0; i < 50; i++)
		first[i] = open_one(i);
	for (i = 0; i < 50; i++)
		ck_assert_int_eq(open_one(i), first[i]);
	/* draining: nobody comes, those who know it go elsewhere and stay */
	pool_set_admin(pool, pool_server(pool, 1), SERVER_DRAINING);
	for (i = 0; i < 50; i++) {
		s = open_one(i);
		ck_assert_int_ne(s, 1);
		if (first[i] != 1)
			ck_assert_int_eq(s, first[i]);
		ck_assert_int_eq(open_one(i), s);
	}
	for (i = 100; i < 120; i++)
		ck_assert_int_ne(open_one(i), 1);
	pool_set_admin(pool, pool_server(pool, 1), SERVER_DISABLED);
	for (i = 0; i < 50; i++)
		ck_assert_int_ne(open_one(i), 1);
	end();
}
END_TEST

START_TEST(server_lists_clients_it_takes)
{
	char name[] = "10.0.0.1";
	struct server_spec spec;
	unsigned i;

	begin(2, "roundrobin", false);
	server_spec_init(&spec);
	spec.name = name;
	spec.addrs.count = 1;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0], name, 80), 0);
	spec.set.acl = 3;
	ck_assert_ptr_nonnull(pool_set_slot(pool, server_slot(0), &spec));
	ck_assert_int_eq(
	    acl_add(pool_acl(pool, 3), true, "192.0.0.0/31", NULL), 0);
	for (i = 2; i < 10; i++)
		ck_assert_int_eq(pick(i), 1);
	ck_assert(pick(0) != pick(0));
	blacklist(1);
	ck_assert_int_eq(pick(1), 0);
	blacklist(0);
	/* the last resort is for those that the server takes */
	ck_assert_int_eq(pick(5), 1);
	now += 1;
	ck_assert_int_eq(pick(5), 1);
	end();
}
END_TEST

/* The same address keeps its counters; another one starts anew. */
START_TEST(counters_follow_the_address)
{
	struct server *s;

	begin(1, "roundrobin", false);
	s = pool_server(pool, 0);
	open_one(1);
	close_one(1, 0);
	ck_assert_uint_eq(s->counters->sent, 10);
	set_server(0, 7, 0, 0, 0);
	ck_assert_uint_eq(s->counters->sent, 10);
	ck_assert_uint_eq(s->counters->received, 20);
	ck_assert_uint_eq(s->connections, 0);
	end();
}
END_TEST

/* A thousand servers, all but one dead: the one is found, and in order. */
START_TEST(many_dead_servers)
{
	struct attempts attempts = { 0 };
	unsigned i;

	begin(1000, "roundrobin", false);
	for (i = 0; i < 1000; i++)
		if (i != 777)
			blacklist(i);
	ck_assert_int_eq(pick(1), 777);
	ck_assert_int_eq(try_next(1, &attempts), 777);
	/* the others are the last resort: a bounded number of them */
	for (i = 1; try_next(1, &attempts) != NONE; i++)
		;
	ck_assert_uint_eq(i, 64);
	now += options.blacklist_ms;
	for (i = 0; i < 1000; i++)
		ck_assert_int_eq(pick(1), (int)((778 + i) % 1000));
	end();
}
END_TEST

SUITE(test_pool)
{
	Suite *s = suite_create("pool");

	SUITE_ADD(s, server_waits_for_its_address, 10);
	SUITE_ADD(s, roundrobin_takes_turns, 10);
	SUITE_ADD(s, wrr_is_exact_and_smooth, 10);
	SUITE_ADD(s, wrr_weight_zero_gets_nothing, 10);
	SUITE_ADD(s, leastconn_levels, 10);
	SUITE_ADD(s, wleastconn_follows_weights, 10);
	SUITE_ADD(s, prio_lowest_first, 10);
	SUITE_ADD(s, prio_equals_share, 10);
	SUITE_ADD_LOOP(s, prio_after_a_failure, 10, 2);
	SUITE_ADD(s, p2c_prefers_the_less_busy, 10);
	SUITE_ADD_LOOP(s, fork_draws_for_itself, 10, 3);
	SUITE_ADD(s, p2c_follows_weights, 10);
	SUITE_ADD(s, least_time_follows_times, 10);
	SUITE_ADD_LOOP(s, least_time_equals_take_turns, 10, 12);
	SUITE_ADD(s, least_time_follows_connections_and_weights, 10);
	SUITE_ADD_LOOP(s, least_time_follows_small_numbers, 10, 5);
	SUITE_ADD(s, least_time_newcomers_get_a_share, 10);
	SUITE_ADD(s, failover_visits_each_once, 10);
	SUITE_ADD(s, blacklist_ends_on_time, 10);
	SUITE_ADD(s, blacklisted_ones_are_the_last_resort, 10);
	SUITE_ADD(s, last_resort_ends_for_each_client, 10);
	SUITE_ADD(s, who_fails_over_takes_a_turn, 10);
	SUITE_ADD_LOOP(s, failures_earn_no_turns, 10, 2);
	SUITE_ADD(s, turns_end_for_each_client, 10);
	SUITE_ADD(s, many_servers_are_all_tried, 10);
	SUITE_ADD(s, tries_end_for_each_client, 10);
	SUITE_ADD(s, operator_takes_the_last_server_out, 10);
	SUITE_ADD(s, operator_takes_a_server_out, 10);
	SUITE_ADD(s, single_server_is_always_tried, 10);
	SUITE_ADD(s, connections_have_a_rate, 10);
	SUITE_ADD(s, refusals_are_forgiven_sooner, 10);
	SUITE_ADD(s, refused_while_blacklisted, 10);
	SUITE_ADD(s, last_resort_spares_who_is_out_otherwise, 10);
	SUITE_ADD(s, full_servers_are_waited_for, 10);
	SUITE_ADD(s, client_stays_when_nobody_is_left, 10);
	SUITE_ADD(s, special_servers_have_slots, 10);
	SUITE_ADD(s, emergency_and_abuse, 10);
	SUITE_ADD(s, stubborn_has_no_second_choice, 10);
	SUITE_ADD(s, empty_slots_are_never_chosen, 10);
	SUITE_ADD(s, soft_and_hard_limits, 10);
	SUITE_ADD(s, clients_go_back, 10);
	SUITE_ADD(s, server_lists_clients_it_takes, 10);
	SUITE_ADD(s, counters_follow_the_address, 10);
	SUITE_ADD(s, many_dead_servers, 20);
	SUITE_ADD(s, one_server_moves_alone, 10);
	SUITE_ADD(s, empty_slots_are_small, 10);
	return s;
}
