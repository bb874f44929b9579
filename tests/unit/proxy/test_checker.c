/* test_checker.c: who is asked when, by a clock of the test's own, and a kind
 * of check that answers when the test says. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/loop/loop_private.h"
#include "proxy/check/checker_private.h"
#include "support/suite.h"

enum { SERVERS = 200, INTERVAL = 1000, TIMEOUT = 300, STEP = 5 };

static struct loop *loop;
static struct pool *pool;
static struct checker *checker;
static struct checker_options options;
static struct check_spec *spec;

/* Of the server in each slot. */
static struct asked {
	struct check *check; /* that runs */
	unsigned starts, stops;
	uint64_t first, last, gap; /* when it was asked; the last gap */
	uint16_t port;		   /* that was asked */
} asked[SERVERS + SLOTS_SPECIAL];
static unsigned most; /* that ran at a time */

/* ---- the kind ---- */

static void
start(struct check *c)
{
	struct asked *a = &asked[c->server->slot];

	ck_assert_ptr_null(a->check);
	a->check = c;
	a->gap = loop->now - a->last;
	a->last = loop->now;
	if (a->starts++ == 0)
		a->first = loop->now;
	a->port = addr_port(&c->at);
	c->waiting = "nothing";
	if (checker_stats(checker)->running > most)
		most = checker_stats(checker)->running;
}

static void
stop(struct check *c)
{
	struct asked *a = &asked[c->server->slot];

	ck_assert_ptr_eq(a->check, c);
	a->check = NULL;
	a->stops++;
}

static const struct check_kind kind = {
	.name = "test", .state_size = 8, .start = start, .stop = stop
};

/* ---- the fixture ---- */

static struct server *
put_server(unsigned number, unsigned addresses)
{
	char name[] = "server";
	struct server_spec s;
	unsigned i;

	server_spec_init(&s);
	s.name = name;
	s.addrs.count = addresses;
	for (i = 0; i < addresses; i++)
		addr_parse_ip(&s.addrs.addr[i], "192.0.2.1",
		    (uint16_t)(1000 + number + 300 * i));
	return pool_set_slot(pool, server_slot(number), &s);
}

static void
begin(void)
{
	struct words none = { .count = 0 };
	struct error e;

	memset(asked, 0, sizeof(asked));
	most = 0;
	loop = loop_new(NULL, &e);
	loop->now = 1000000;
	pool = pool_new();
	checker = checker_new(loop, pool, NULL);
	options = (struct checker_options){ .interval_ms = INTERVAL,
		.timeout_ms = TIMEOUT,
		.running_max = SERVERS };
	checker_set_options(checker, &options);
	spec = check_spec_of(&kind, &none, &e);
}

static void
end(void)
{
	checker_free(checker);
	check_spec_drop(spec);
	pool_free(pool);
	loop_free(loop);
}

static void
check_slot(unsigned slot, bool soon)
{
	struct checker_target t = { .spec = spec };

	ck_assert_int_eq(checker_reserve(checker, slot), 0);
	checker_set(checker, slot, &t, soon);
}

static struct asked *
of(unsigned number)
{
	return &asked[server_slot(number)];
}

static void
run(uint64_t ms)
{
	uint64_t until = loop->now + ms;

	for (; loop->now < until; loop->now += STEP)
		checker_tick(checker);
}

/* Ends all checks that run. */
static void
answer(enum check_result result)
{
	unsigned i;

	for (i = 0; i < SERVERS + SLOTS_SPECIAL; i++)
		if (asked[i].check != NULL)
			check_end(asked[i].check, result, "said so");
}

static void
run_answering(uint64_t ms, enum check_result result)
{
	uint64_t until = loop->now + ms;

	while (loop->now < until) {
		run(STEP);
		answer(result);
	}
}

/* One server, which is checked, and until its check runs. */
static struct server *
begin_with_one(void)
{
	struct server *s;

	begin();
	s = put_server(0, 1);
	check_slot(s->slot, true);
	run(STEP);
	ck_assert_ptr_nonnull(of(0)->check);
	return s;
}

/* Until the next check of server 0 runs. */
static void
run_to_next(void)
{
	unsigned before = of(0)->starts;

	while (of(0)->starts == before)
		run(STEP);
}

static struct checker_report
report(void)
{
	struct checker_report r;

	ck_assert(checker_report(checker, server_slot(0), &r));
	return r;
}

/* ---- when ---- */

START_TEST(servers_are_asked_evenly)
{
	unsigned i, early = 0;

	begin();
	for (i = 0; i < SERVERS; i++)
		check_slot(put_server(i, 1)->slot, false);
	run_answering(INTERVAL + 2 * STEP, CHECK_GOOD);
	for (i = 0; i < SERVERS; i++) {
		ck_assert_uint_ge(of(i)->starts, 1);
		early += of(i)->first < 1000000 + INTERVAL / 2;
	}
	ck_assert_uint_gt(early, SERVERS / 4);
	ck_assert_uint_lt(early, SERVERS - SERVERS / 4);
	run_answering(2 * INTERVAL, CHECK_GOOD);
	for (i = 0; i < 10; i++) {
		run_answering(INTERVAL, CHECK_GOOD);
		ck_assert_uint_ge(of(i)->gap, INTERVAL * 9 / 10 - STEP);
		ck_assert_uint_le(of(i)->gap, INTERVAL * 11 / 10 + STEP);
	}
	end();
}
END_TEST

START_TEST(no_more_run_at_a_time_than_may)
{
	unsigned i;

	begin();
	options.running_max = 10;
	checker_set_options(checker, &options);
	for (i = 0; i < SERVERS; i++)
		check_slot(put_server(i, 1)->slot, true);
	run(100);
	ck_assert_uint_eq(checker_stats(checker)->running, 10);
	answer(CHECK_GOOD);
	run(STEP);
	ck_assert_uint_eq(checker_stats(checker)->running, 10);
	ck_assert_uint_eq(checker_stats(checker)->begun, 20);
	ck_assert_uint_eq(most, 10);
	end();
}
END_TEST

/* A server that could not be asked for want of descriptors has no result, and
 * is asked again before the others; one with a result can wait. */
START_TEST(one_that_could_not_be_asked_is_asked_soon)
{
	int i;

	begin_with_one();
	check_end(of(0)->check, CHECK_NONE, "Too many open files");
	run(INTERVAL / 4);
	ck_assert_uint_eq(of(0)->starts, 2);
	answer(CHECK_GOOD);
	for (i = 0; i < 2 * INTERVAL / STEP && of(0)->check == NULL; i++)
		run(STEP);
	ck_assert_uint_eq(of(0)->starts, 3);
	check_end(of(0)->check, CHECK_NONE, "Too many open files");
	run(INTERVAL / 2);
	ck_assert_uint_eq(of(0)->starts, 3);
	end();
}
END_TEST

START_TEST(silence_is_a_failure)
{
	begin_with_one();
	run(TIMEOUT - 2 * STEP);
	ck_assert_uint_eq(of(0)->stops, 0);
	run(4 * STEP);
	ck_assert_uint_eq(of(0)->stops, 1);
	ck_assert_int_eq(report().result, CHECK_BAD);
	ck_assert_str_eq(report().reason, "timed out waiting for nothing");
	end();
}
END_TEST

/* A check that has not begun when its time is over says nothing of the
 * server. */
START_TEST(its_turn_never_came)
{
	int i;

	begin_with_one();
	for (i = 0; i < 10; i++) {
		if (of(0)->check != NULL)
			of(0)->check->waiting = NULL;
		run(TIMEOUT);
	}
	ck_assert_uint_ge(of(0)->stops, 2);
	ck_assert_int_eq(report().result, CHECK_NONE);
	end();
}
END_TEST

/* Its time does not begin before. */
START_TEST(its_turn_came_late)
{
	begin_with_one();
	of(0)->check->waiting = NULL;
	run(TIMEOUT - 2 * STEP);
	of(0)->check->waiting = "the end";
	check_begins(of(0)->check);
	run(TIMEOUT - 2 * STEP);
	ck_assert_uint_eq(of(0)->stops, 0);
	run(4 * STEP);
	ck_assert_uint_eq(of(0)->stops, 1);
	ck_assert_str_eq(report().reason, "timed out waiting for the end");
	end();
}
END_TEST

/* Unless nobody serves, or the operator has set a time. */
START_TEST(server_that_is_down_is_asked_as_often)
{
	struct server *s = begin_with_one();
	int i;

	while (!s->health.down) {
		answer(CHECK_BAD);
		run_to_next();
	}
	for (i = 0; i < 5; i++) {
		answer(CHECK_BAD);
		run_to_next();
		ck_assert_uint_le(of(0)->gap, INTERVAL * 11 / 10 + STEP);
	}
	put_server(1, 1);
	options.interval_down_ms = INTERVAL / 4;
	checker_set_options(checker, &options);
	for (i = 0; i < 5; i++) {
		answer(CHECK_BAD);
		run_to_next();
		ck_assert_uint_le(of(0)->gap, INTERVAL / 4 * 11 / 10 + STEP);
	}
	end();
}
END_TEST

/* A longer and longer time passes between checks of a server that is down, but
 * no more than CHECKER_BACKOFF intervals, until it answers. */
START_TEST(server_that_is_down_is_asked_less_often)
{
	struct server *s = begin_with_one();
	int i;

	put_server(1, 1);
	for (i = 0; i < 2; i++) {
		ck_assert(!s->health.down);
		answer(CHECK_BAD);
		run_to_next();
		ck_assert_uint_le(of(0)->gap, INTERVAL / 2 * 11 / 10 + STEP);
	}
	answer(CHECK_BAD);
	run_to_next();
	ck_assert(s->health.down);
	ck_assert_uint_ge(of(0)->gap, INTERVAL * 18 / 10 - STEP);
	ck_assert_uint_le(of(0)->gap, INTERVAL * 22 / 10 + STEP);
	for (i = 0; i < 5; i++) {
		answer(CHECK_BAD);
		run_to_next();
		ck_assert_uint_le(
		    of(0)->gap, CHECKER_BACKOFF * INTERVAL * 11 / 10 + STEP);
	}
	ck_assert_uint_ge(of(0)->gap, CHECKER_BACKOFF * INTERVAL * 9 / 10);
	answer(CHECK_GOOD);
	run_to_next();
	ck_assert_uint_le(of(0)->gap, INTERVAL / 2 * 11 / 10 + STEP);
	ck_assert(s->health.down);
	answer(CHECK_GOOD);
	ck_assert(!s->health.down);
	end();
}
END_TEST

/* A storm of failures asks once, until the next regular check. */
START_TEST(server_that_failed_a_client_is_asked_at_once)
{
	struct server *s = begin_with_one();
	int i;

	answer(CHECK_GOOD);
	for (i = 0; i < 100; i++)
		checker_hurry(checker, s);
	run(STEP);
	ck_assert_uint_eq(of(0)->starts, 2);
	answer(CHECK_GOOD);
	checker_hurry(checker, s);
	run(INTERVAL / 2);
	ck_assert_uint_eq(of(0)->starts, 2);
	run_to_next();
	answer(CHECK_GOOD);
	checker_hurry(checker, s);
	run(STEP);
	ck_assert_uint_eq(of(0)->starts, 4);
	end();
}
END_TEST

START_TEST(lazy_asks_only_who_is_not_heard_of)
{
	struct server *s;
	int i;

	begin();
	options.lazy = true;
	checker_set_options(checker, &options);
	s = put_server(0, 1);
	check_slot(s->slot, true);
	for (i = 0; i < 100; i++) {
		pool_connected(pool, s, loop->now);
		run(INTERVAL / 10);
	}
	ck_assert_uint_eq(of(0)->starts, 0);
	ck_assert_uint_ge(checker_stats(checker)->skipped, 9);
	checker_hurry(checker, s);
	run(STEP);
	ck_assert_uint_eq(of(0)->starts, 1);
	answer(CHECK_GOOD);
	run(INTERVAL * 3);
	ck_assert_uint_ge(of(0)->starts, 2);
	end();
}
END_TEST

START_TEST(shorter_interval_counts_at_once)
{
	begin_with_one();
	answer(CHECK_GOOD);
	options.interval_ms = 50;
	checker_set_options(checker, &options);
	run(100);
	ck_assert_uint_ge(of(0)->starts, 2);
	end();
}
END_TEST

/* Also one of servers that are down, whatever it was and the other one is. */
START_TEST(shorter_interval_down_counts_at_once)
{
	static const struct {
		uint64_t before, after, up, within;
	} row[] = {
		{ 100 * INTERVAL, INTERVAL, INTERVAL, INTERVAL },
		{ 100 * INTERVAL, 0, INTERVAL, INTERVAL },
		{ 0, INTERVAL / 10, INTERVAL, INTERVAL / 10 },
		{ 100 * INTERVAL, INTERVAL, 10 * INTERVAL, INTERVAL },
	};
	struct server *s = begin_with_one();
	unsigned before;

	put_server(1, 1);
	options.interval_ms = row[_i].up;
	options.interval_down_ms = row[_i].before;
	checker_set_options(checker, &options);
	while (!s->health.down) {
		answer(CHECK_BAD);
		if (!s->health.down)
			run_to_next();
	}
	before = of(0)->starts;
	options.interval_down_ms = row[_i].after;
	checker_set_options(checker, &options);
	run(row[_i].within + STEP);
	ck_assert_uint_gt(of(0)->starts, before);
	end();
}
END_TEST

/* ---- what comes of it ---- */

START_TEST(rise_and_fall_make_the_state)
{
	struct server *s = begin_with_one();
	int i;

	for (i = 0; i < 2; i++) {
		answer(CHECK_BAD);
		run_to_next();
	}
	answer(CHECK_GOOD); /* begins the count again */
	for (i = 0; i < 3; i++) {
		ck_assert(!s->health.down);
		run_to_next();
		answer(CHECK_BAD);
	}
	ck_assert(s->health.down);
	ck_assert(!server_is_healthy(s));
	end();
}
END_TEST

START_TEST(shortage_of_ours_says_nothing)
{
	struct server *s = begin_with_one();
	int i;

	for (i = 0; i < 10; i++) {
		check_end_errno(of(0)->check, EMFILE);
		run_to_next();
	}
	ck_assert(!s->health.down);
	ck_assert_int_eq(report().result, CHECK_NONE);
	check_end_errno(of(0)->check, ECONNREFUSED);
	ck_assert_int_eq(report().result, CHECK_BAD);
	end();
}
END_TEST

/* Until one of them has answered, as clients do. */
START_TEST(all_addresses_are_asked)
{
	begin();
	check_slot(put_server(0, 3)->slot, true);
	run(STEP);
	ck_assert_uint_eq(of(0)->port, 1000);
	answer(CHECK_BAD);
	ck_assert_uint_eq(of(0)->port, 1300);
	answer(CHECK_BAD);
	ck_assert_uint_eq(of(0)->port, 1600);
	answer(CHECK_BAD);
	ck_assert_ptr_null(of(0)->check);
	run_to_next();
	ck_assert_uint_eq(of(0)->port, 1000);
	check_reached(of(0)->check);
	answer(CHECK_BAD);
	ck_assert_ptr_null(of(0)->check);
	end();
}
END_TEST

/* Silent addresses behind the first one share its time; one that answers has
 * all of it. */
START_TEST(silent_addresses_share_the_time)
{
	begin();
	check_slot(put_server(0, 4)->slot, true);
	run(STEP);
	run(2 * TIMEOUT + 4 * STEP);
	ck_assert_uint_eq(of(0)->stops, 4);
	ck_assert_int_eq(report().result, CHECK_BAD);
	check_slot(put_server(1, 4)->slot, true);
	run(STEP);
	run(TIMEOUT + 4 * STEP);
	ck_assert_uint_eq(of(1)->port, 1301);
	check_reached(of(1)->check);
	run(TIMEOUT - 4 * STEP);
	ck_assert_uint_eq(of(1)->stops, 1);
	end();
}
END_TEST

/* But a program, whose time begins when it has its turn, has all of it. */
START_TEST(program_has_its_time_at_each_address)
{
	struct server *s;
	unsigned i;

	begin();
	s = put_server(0, 4);
	check_slot(s->slot, true);
	run(STEP);
	for (i = 1; i <= 4; i++) {
		ck_assert_uint_eq(of(0)->starts, i);
		check_begins(of(0)->check);
		run(TIMEOUT - 2 * STEP);
		ck_assert_ptr_nonnull(of(0)->check);
		check_end(of(0)->check, CHECK_BAD, "exit status 1");
	}
	ck_assert_ptr_null(of(0)->check);
	end();
}
END_TEST

/* Clients have found out meanwhile that another address works. */
START_TEST(each_address_is_asked_once)
{
	struct server *s;

	begin();
	s = put_server(0, 2);
	check_slot(s->slot, true);
	run(STEP);
	ck_assert_uint_eq(of(0)->port, 1000);
	s->addr_first = 1;
	answer(CHECK_BAD);
	ck_assert_uint_eq(of(0)->port, 1300);
	answer(CHECK_GOOD);
	run_to_next();
	ck_assert_uint_eq(of(0)->port, 1300);
	end();
}
END_TEST

START_TEST(reasons_are_fit_to_print)
{
	begin_with_one();
	check_end(of(0)->check, CHECK_BAD, "a \"b\"\r\n\x80");
	ck_assert_str_eq(report().reason, "a 'b'???");
	end();
}
END_TEST

/* ---- servers and settings ---- */

START_TEST(same_check_goes_on)
{
	struct server *s = begin_with_one();

	check_slot(s->slot, true);
	ck_assert_uint_eq(of(0)->stops, 0);
	put_server(0, 1);
	check_slot(s->slot, true);
	ck_assert_uint_eq(of(0)->stops, 0);
	put_server(0, 2); /* is another server */
	check_slot(s->slot, true);
	ck_assert_uint_eq(of(0)->stops, 1);
	run(STEP);
	ck_assert_uint_eq(of(0)->starts, 2);
	end();
}
END_TEST

START_TEST(removed_server_is_not_asked)
{
	struct server *s = begin_with_one();
	struct checker_report r;

	pool_remove_server(pool, s);
	check_slot(s->slot, false);
	ck_assert_uint_eq(of(0)->stops, 1);
	run(3 * INTERVAL);
	ck_assert_uint_eq(of(0)->starts, 1);
	ck_assert(!checker_report(checker, s->slot, &r));
	checker_hurry(checker, s);
	run(STEP);
	ck_assert_uint_eq(of(0)->starts, 1);
	end();
}
END_TEST

START_TEST(end_stops_what_runs)
{
	begin_with_one();
	end();
	ck_assert_uint_eq(of(0)->stops, 1);
}
END_TEST

START_TEST(other_port_and_address_are_asked)
{
	struct checker_target t;
	unsigned slot;

	begin();
	slot = put_server(0, 2)->slot;
	ck_assert_int_eq(checker_reserve(checker, slot), 0);
	t = (struct checker_target){ .spec = spec, .port = 81 };
	checker_set(checker, slot, &t, true);
	run(STEP);
	ck_assert_uint_eq(of(0)->port, 81);
	addr_parse_ip(&t.at, "192.0.2.9", 82);
	t.port = 0;
	checker_set(checker, slot, &t, true);
	run(STEP);
	ck_assert_uint_eq(of(0)->port, 82);
	answer(CHECK_BAD); /* is the only one */
	ck_assert_ptr_null(of(0)->check);
	end();
}
END_TEST

SUITE(test_checker)
{
	Suite *s = suite_create("checker");

	SUITE_ADD(s, servers_are_asked_evenly, 10);
	SUITE_ADD(s, no_more_run_at_a_time_than_may, 10);
	SUITE_ADD(s, its_turn_never_came, 10);
	SUITE_ADD(s, its_turn_came_late, 10);
	SUITE_ADD(s, one_that_could_not_be_asked_is_asked_soon, 20);
	SUITE_ADD(s, silence_is_a_failure, 10);
	SUITE_ADD(s, server_that_is_down_is_asked_less_often, 10);
	SUITE_ADD(s, server_that_failed_a_client_is_asked_at_once, 10);
	SUITE_ADD(s, lazy_asks_only_who_is_not_heard_of, 10);
	SUITE_ADD(s, server_that_is_down_is_asked_as_often, 10);
	SUITE_ADD(s, shorter_interval_counts_at_once, 10);
	SUITE_ADD_LOOP(s, shorter_interval_down_counts_at_once, 10, 4);
	SUITE_ADD(s, rise_and_fall_make_the_state, 10);
	SUITE_ADD(s, shortage_of_ours_says_nothing, 10);
	SUITE_ADD(s, all_addresses_are_asked, 10);
	SUITE_ADD(s, silent_addresses_share_the_time, 10);
	SUITE_ADD(s, program_has_its_time_at_each_address, 10);
	SUITE_ADD(s, each_address_is_asked_once, 10);
	SUITE_ADD(s, reasons_are_fit_to_print, 10);
	SUITE_ADD(s, same_check_goes_on, 10);
	SUITE_ADD(s, removed_server_is_not_asked, 10);
	SUITE_ADD(s, end_stops_what_runs, 10);
	SUITE_ADD(s, other_port_and_address_are_asked, 10);
	return s;
}
