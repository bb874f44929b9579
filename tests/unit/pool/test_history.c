/* test_history.c: the state of a server, and who is told of its changes. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "pool/pool.h"
#include "support/pooladmin.h"
#include "support/suite.h"

static struct pool *pool;
static uint64_t now;
static int64_t wall;

/* What was told last, and how often. */
static struct {
	unsigned times;
	struct server_change change;
	char reason[SERVER_REASON_MAX];
	enum server_state noted;
} told;

static uint64_t
now_ms(void *arg)
{
	(void)arg;
	return now;
}

static int64_t
now_wall(void *arg)
{
	(void)arg;
	return wall;
}

static void
on_state(void *arg, struct server *s, const struct server_change *c)
{
	(void)arg;
	told.times++;
	told.change = *c;
	told.noted = s->history.state;
	strcpy(told.reason, server_reason(s));
}

static struct server *
set_marked(unsigned i, const char *ip, int admin)
{
	struct server_spec spec;
	struct server *s;

	server_spec_init(&spec);
	spec.name = (char *)(uintptr_t)ip;
	spec.addrs.count = 1;
	spec.admin = admin;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0], ip, 80), 0);
	s = pool_set_slot(pool, server_slot(i), &spec);
	ck_assert_ptr_nonnull(s);
	return s;
}

static struct server *
set_server(unsigned i, const char *ip)
{
	return set_marked(i, ip, -1);
}

static struct server *
begin(void)
{
	struct pool_watcher w = {
		.now = now_ms, .wall = now_wall, .on_state = on_state
	};

	now = 1000;
	wall = 1000000;
	pool = pool_new();
	ck_assert_ptr_nonnull(pool);
	pool_watch(pool, &w);
	memset(&told, 0, sizeof(told));
	return set_server(0, "10.0.0.1");
}

/* Exactly one call since the last look at it. */
static void
expect_told(enum server_state was, enum server_state is, const char *reason)
{
	ck_assert_uint_eq(told.times, 1);
	ck_assert_str_eq(
	    server_state_name(told.change.was), server_state_name(was));
	ck_assert_str_eq(
	    server_state_name(told.change.is), server_state_name(is));
	ck_assert_str_eq(told.reason, reason);
	ck_assert_int_eq(told.noted, is);
	told.times = 0;
}

static void
admin(struct server *s, enum server_admin how, const char *who)
{
	pool_begin_changes(pool, who);
	pool_set_admin(pool, s, how);
	ck_assert_int_eq(pool_end_changes(pool), 0);
}

static void
check(struct server *s, bool good, unsigned times)
{
	while (times-- > 0)
		(void)pool_checked(
		    pool, s, good, good ? "it is well" : "it is ill", now);
}

/* ---- states ---- */

/* What ends uncovers what was below. */
START_TEST(precedence)
{
	struct server *s = begin();

	ck_assert_int_eq(
	    server_state(pool_slot(pool, SLOT_ABUSE)), SERVER_EMPTY);
	ck_assert_int_eq(server_state(s), SERVER_UP);
	pool_failed(pool, s, "no answer", now);
	expect_told(SERVER_UP, SERVER_BLACKLISTED, "no answer");
	pool_begin_checks(pool, s);
	expect_told(SERVER_BLACKLISTED, SERVER_SUSPECT, "no answer");
	check(s, false, 3);
	expect_told(SERVER_SUSPECT, SERVER_DOWN, "it is ill");
	admin(s, SERVER_DRAINING, "by me");
	expect_told(SERVER_DOWN, SERVER_DRAIN, "by me");
	admin(s, SERVER_DISABLED, "by you");
	expect_told(SERVER_DRAIN, SERVER_MAINT, "by you");
	s->connections = 1;
	pool_begin_changes(pool, "by him");
	pool_remove_server(pool, s);
	ck_assert_int_eq(pool_end_changes(pool), 0);
	expect_told(SERVER_MAINT, SERVER_REMOVED, "by him");
	ck_assert_uint_eq(s->history.changes, 6);
	s->connections = 0;
	pool_free(pool);
}
END_TEST

START_TEST(states_have_names)
{
	int i;

	for (i = 0; i < SERVER_STATES; i++)
		ck_assert_ptr_nonnull(server_state_name((enum server_state)i));
	ck_assert_str_eq(server_state_name(SERVER_MAINT), "maint");
}
END_TEST

/* ---- who is told ---- */

START_TEST(once_a_change)
{
	struct server *s = begin();
	int i;

	for (i = 0; i < 100; i++)
		pool_refused(pool, s, "Connection refused", now);
	expect_told(SERVER_UP, SERVER_BLACKLISTED, "Connection refused");
	for (i = 0; i < 100; i++)
		pool_failed(pool, s, "another reason", now++);
	ck_assert_uint_eq(told.times, 0);
	ck_assert_str_eq(server_reason(s), "Connection refused");
	for (i = 0; i < 100; i++)
		pool_connected(pool, s, now);
	expect_told(SERVER_BLACKLISTED, SERVER_UP, "answered");
	ck_assert_uint_eq(s->counters->failures, 200);
	ck_assert_uint_eq(s->history.changes, 2);
	pool_free(pool);
}
END_TEST

START_TEST(times_are_noted)
{
	struct server *s = begin();

	ck_assert_uint_eq(s->history.since_ms, 1000);
	ck_assert_int_eq(s->history.since_wall, 1000000);
	now += 312000;
	wall += 313;
	pool_failed(pool, s, "no answer", now);
	ck_assert_uint_eq(told.change.lasted_ms, 312000);
	ck_assert_uint_eq(s->history.since_ms, now);
	ck_assert_int_eq(s->history.since_wall, wall);
	pool_free(pool);
}
END_TEST

START_TEST(the_end_of_a_blacklisting)
{
	struct server *s = begin();

	ck_assert_uint_eq(pool_next_revival(pool), UINT64_MAX);
	pool_failed(pool, s, "no answer", now);
	expect_told(SERVER_UP, SERVER_BLACKLISTED, "no answer");
	ck_assert_uint_eq(pool_next_revival(pool), now + 30000);
	now += 29999;
	pool_revive(pool, now);
	ck_assert_uint_eq(told.times, 0);
	pool_revive(pool, ++now);
	expect_told(SERVER_BLACKLISTED, SERVER_UP, "blacklist time expired");
	ck_assert_uint_eq(told.change.lasted_ms, 30000);
	ck_assert_uint_eq(pool_next_revival(pool), UINT64_MAX);
	pool_free(pool);
}
END_TEST

/* A reason is cut, and cannot break a log line or JSON. */
START_TEST(reasons_are_plain)
{
	char longest[2 * SERVER_REASON_MAX];
	struct server *s = begin();

	pool_failed(pool, s, "says \"no\"\r\n\xff", now);
	expect_told(SERVER_UP, SERVER_BLACKLISTED, "says 'no'???");
	pool_connected(pool, s, now);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	pool_failed(pool, s, longest, now);
	ck_assert_uint_eq(strlen(server_reason(s)), SERVER_REASON_MAX - 1);
	pool_free(pool);
}
END_TEST

/* Without a blacklist time a failure changes nothing, which callers learn. */
START_TEST(no_blacklist_time)
{
	struct server *s = begin();
	struct pool_options o;

	ck_assert(pool_failed(pool, s, "no answer", now));
	pool_connected(pool, s, now);
	pool_options_init(&o);
	o.blacklist_ms = 0;
	ck_assert_int_eq(pool_set_options(pool, &o), 0);
	told.times = 0;
	ck_assert(!pool_failed(pool, s, "no answer", now));
	ck_assert(!pool_refused(pool, s, "no answer", now));
	ck_assert_uint_eq(told.times, 0);
	pool_free(pool);
}
END_TEST

/* A server that drains, and gets another address, is not up in between. */
START_TEST(marks_go_along)
{
	struct server *s = begin();

	set_marked(0, "10.0.0.1", SERVER_DRAINING);
	expect_told(SERVER_UP, SERVER_DRAIN, "");
	set_server(0, "10.0.0.1");
	set_marked(0, "10.0.0.2", SERVER_DRAINING);
	ck_assert_uint_eq(told.times, 0);
	ck_assert_int_eq(server_state(s), SERVER_DRAIN);
	set_server(0, "10.0.0.3");
	expect_told(SERVER_DRAIN, SERVER_UP, "");
	pool_free(pool);
}
END_TEST

/* ---- suspicion ---- */

/* Checks clear a suspicion, `rise` of them in a row since the last failure, and
 * never what the operator has said. */
START_TEST(suspects)
{
	struct server *s = begin();

	pool_begin_checks(pool, s);
	check(s, true, 5);
	pool_failed(pool, s, "no answer", now);
	expect_told(SERVER_UP, SERVER_SUSPECT, "no answer");
	check(s, true, 1);
	check(s, false, 1);
	check(s, true, 1);
	pool_failed(pool, s, "no answer", now);
	check(s, true, 1);
	ck_assert_uint_eq(told.times, 0);
	check(s, true, 1);
	expect_told(SERVER_SUSPECT, SERVER_UP, "it is well");
	s->set.blacklist_ms = 5000;
	pool_begin_changes(pool, "by me");
	pool_take_out(pool, s, now);
	ck_assert_int_eq(pool_end_changes(pool), 0);
	expect_told(SERVER_UP, SERVER_BLACKLISTED, "by me");
	check(s, true, 9);
	pool_connected(pool, s, now);
	ck_assert_uint_eq(told.times, 0);
	pool_free(pool);
}
END_TEST

/* While its last check was bad a suspect server does not come up by time: its
 * checks take it down, or clear it. One whose last check was good does. */
START_TEST(time_does_not_clear_a_bad_check)
{
	struct server *s = begin();

	pool_begin_checks(pool, s);
	check(s, true, 5);
	pool_refused(pool, s, "refused", now);
	expect_told(SERVER_UP, SERVER_SUSPECT, "refused");
	check(s, false, 1);
	now += 3600 * 1000;
	pool_revive(pool, now);
	ck_assert_uint_eq(told.times, 0);
	check(s, false, 9);
	expect_told(SERVER_SUSPECT, SERVER_DOWN, "it is ill");
	now += 3600 * 1000;
	pool_revive(pool, now);
	check(s, true, 9);
	expect_told(SERVER_DOWN, SERVER_UP, "it is well");
	pool_refused(pool, s, "refused", now);
	expect_told(SERVER_UP, SERVER_SUSPECT, "refused");
	check(s, false, 1);
	check(s, true, 1);
	now += 3600 * 1000;
	pool_revive(pool, now);
	expect_told(SERVER_SUSPECT, SERVER_UP, "blacklist time expired");
	pool_free(pool);
}
END_TEST

START_TEST(no_longer_checked)
{
	struct server *s = begin();

	check(s, false, 3);
	expect_told(SERVER_UP, SERVER_DOWN, "it is ill");
	pool_unchecked(pool, s);
	expect_told(SERVER_DOWN, SERVER_UP, "no longer checked");
	pool_failed(pool, s, "no answer", now);
	expect_told(SERVER_UP, SERVER_BLACKLISTED, "no answer");
	pool_free(pool);
}
END_TEST

/* What an operator's drain hid is why the server is down, not the operator. */
START_TEST(an_operator_uncovers_a_fault)
{
	struct server *s = begin();

	check(s, false, 3);
	expect_told(SERVER_UP, SERVER_DOWN, "it is ill");
	admin(s, SERVER_DRAINING, "by me");
	expect_told(SERVER_DOWN, SERVER_DRAIN, "by me");
	admin(s, SERVER_DISABLED, "by me");
	expect_told(SERVER_DRAIN, SERVER_MAINT, "by me");
	admin(s, SERVER_ENABLED, "by me");
	expect_told(SERVER_MAINT, SERVER_DOWN, "it is ill");
	check(s, true, 9);
	expect_told(SERVER_DOWN, SERVER_UP, "it is well");
	/* what happened in the meantime */
	admin(s, SERVER_DISABLED, "by me");
	expect_told(SERVER_UP, SERVER_MAINT, "by me");
	(void)pool_checked(pool, s, false, "it is gone", now);
	check(s, false, 2);
	ck_assert_uint_eq(told.times, 0);
	admin(s, SERVER_ENABLED, "by me");
	expect_told(SERVER_MAINT, SERVER_DOWN, "it is ill");
	admin(s, SERVER_DISABLED, "by me");
	expect_told(SERVER_DOWN, SERVER_MAINT, "by me");
	check(s, true, 9);
	admin(s, SERVER_ENABLED, "by me");
	expect_told(SERVER_MAINT, SERVER_UP, "by me");
	pool_free(pool);
}
END_TEST

START_TEST(an_operator_uncovers_a_blacklisting)
{
	struct server *s = begin();

	admin(s, SERVER_DRAINING, "by me");
	expect_told(SERVER_UP, SERVER_DRAIN, "by me");
	pool_failed(pool, s, "no answer", now);
	admin(s, SERVER_ENABLED, "by me");
	expect_told(SERVER_DRAIN, SERVER_BLACKLISTED, "no answer");
	pool_free(pool);
}
END_TEST

/* ---- another server in the slot ---- */

START_TEST(another_server)
{
	struct server *s = begin();

	ck_assert_uint_eq(told.times, 0); /* nor is a new one told */
	check(s, false, 3);
	expect_told(SERVER_UP, SERVER_DOWN, "it is ill");
	now += 5000;
	set_server(0, "10.0.0.1");
	ck_assert_uint_eq(told.times, 0);
	ck_assert_uint_eq(s->history.since_ms, 1000);
	set_server(0, "10.0.0.2");
	expect_told(SERVER_DOWN, SERVER_UP, "");
	now += 5000;
	set_server(0, "10.0.0.3");
	ck_assert_uint_eq(told.times, 0);
	ck_assert_uint_eq(s->history.changes, 0);
	ck_assert_uint_eq(s->history.since_ms, now);
	pool_remove_server(pool, s);
	expect_told(SERVER_UP, SERVER_REMOVED, "");
	ck_assert_int_eq(server_state(s), SERVER_EMPTY);
	set_server(0, "10.0.0.4");
	ck_assert_uint_eq(told.times, 0);
	ck_assert_int_eq(s->history.state, SERVER_UP);
	pool_free(pool);
}
END_TEST

SUITE(test_history)
{
	Suite *s = suite_create("history");

	SUITE_ADD(s, precedence, 10);
	SUITE_ADD(s, states_have_names, 10);
	SUITE_ADD(s, once_a_change, 10);
	SUITE_ADD(s, times_are_noted, 10);
	SUITE_ADD(s, the_end_of_a_blacklisting, 10);
	SUITE_ADD(s, reasons_are_plain, 10);
	SUITE_ADD(s, no_blacklist_time, 10);
	SUITE_ADD(s, marks_go_along, 10);
	SUITE_ADD(s, suspects, 10);
	SUITE_ADD(s, time_does_not_clear_a_bad_check, 10);
	SUITE_ADD(s, no_longer_checked, 10);
	SUITE_ADD(s, an_operator_uncovers_a_fault, 10);
	SUITE_ADD(s, an_operator_uncovers_a_blacklisting, 10);
	SUITE_ADD(s, another_server, 10);
	return s;
}
