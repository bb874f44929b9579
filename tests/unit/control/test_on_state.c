/* test_on_state.c: which programs run, in which order, how many, and what they
 * are told. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/life/on_state.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SERVERS = 6 };

static struct loop *loop;
static struct programs *programs;
static struct on_state *on_state;
static struct pool *pool;
static struct server *server[SERVERS];
static struct timer tick;

static void
on_tick(struct timer *t)
{
	(void)timer_start(loop, t, 2);
	loop_stop(loop);
}

#define RUN_UNTIL(expr)                                               \
	do {                                                          \
		long long end = wait_now_ms() + wait_scaled(10000);   \
		while (!(expr)) {                                     \
			ck_assert_msg(                                \
			    wait_now_ms() < end, "never: %s", #expr); \
			ck_assert_int_eq(loop_run(loop), 0);          \
		}                                                     \
	} while (0)

static void
add_server(unsigned i)
{
	struct server_spec spec;
	char name[8];

	snprintf(name, sizeof(name), "web%u", i);
	server_spec_init(&spec);
	spec.name = name;
	spec.addrs.count = 1;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0],
			     i == 1 ? "::1" : "10.0.0.1", (uint16_t)(8000 + i)),
	    0);
	server[i] = pool_set_slot(pool, server_slot(i), &spec);
	ck_assert_ptr_nonnull(server[i]);
}

static void
begin(void)
{
	struct error e;
	unsigned i;

	/* another test of this process may have left it */
	(void)remove(scratch("said"));
	loop = loop_new(NULL, &e);
	ck_assert_ptr_nonnull(loop);
	programs = programs_new(loop, SERVERS + ON_STATE_RUNNING, &e);
	ck_assert_ptr_nonnull(programs);
	on_state = on_state_new(loop, programs);
	ck_assert_ptr_nonnull(on_state);
	pool = pool_new();
	ck_assert_ptr_nonnull(pool);
	for (i = 0; i < SERVERS; i++)
		add_server(i);
	timer_init(&tick, on_tick);
	ck_assert_int_eq(timer_start(loop, &tick, 2), 0);
}

static void
finish(void)
{
	on_state_free(on_state);
	programs_free(programs);
	timer_fini(&tick);
	pool_free(pool);
	loop_free(loop);
}

/* A program that appends to the file "said" what the script prints. */
static const char *
program(const char *script)
{
	return scratch_program(
	    "program", text("exec >>%s\n%s", scratch("said"), script));
}

static void
add(unsigned i, const char *path, enum server_state was, enum server_state is)
{
	struct server_change c = { .was = was, .is = is };

	on_state_add(on_state, path, "default", server[i], &c);
}

static unsigned
lines(void)
{
	const char *s = contents(scratch("said"));
	unsigned n = 0;

	for (; (s = strchr(s, '\n')) != NULL; s++)
		n++;
	return n;
}

START_TEST(told)
{
	const char *path =
	    program("echo $PEN_SERVER $PEN_NAME $PEN_ADDRESS "
		    "$PEN_PORT $PEN_STATE $PEN_WAS \"$PEN_REASON\"");

	begin();
	server_set_reason(&server[1]->reason, "by a test");
	add(1, path, SERVER_UP, SERVER_DOWN);
	/* as it was at the moment of the change */
	server_set_reason(&server[1]->reason, "later");
	RUN_UNTIL(lines() == 1);
	ck_assert_str_eq(
	    contents(scratch("said")), "1 web1 ::1 8001 down up by a test\n");
	finish();
}
END_TEST

/* However long the first one takes. */
START_TEST(in_order)
{
	const char *path = program("[ $PEN_STATE = down ] && sleep 0.1\n"
				   "echo $PEN_STATE");
	int i;

	begin();
	for (i = 0; i < 3; i++) {
		add(0, path, SERVER_UP, SERVER_DOWN);
		add(0, path, SERVER_DOWN, SERVER_UP);
	}
	RUN_UNTIL(lines() == 6);
	ck_assert_str_eq(
	    contents(scratch("said")), "down\nup\ndown\nup\ndown\nup\n");
	RUN_UNTIL(programs_count(programs) == 0);
	finish();
}
END_TEST

/* Those of a slow server keep no other waiting; but there are not too many. */
START_TEST(side_by_side)
{
	const char *slow = program("echo $PEN_SERVER; sleep 1000");
	unsigned i;

	begin();
	for (i = 0; i < SERVERS; i++) {
		add(i, slow, SERVER_UP, SERVER_DOWN);
		add(i, slow, SERVER_UP, SERVER_DOWN);
	}
	RUN_UNTIL(lines() == ON_STATE_RUNNING);
	ck_assert_uint_eq(programs_count(programs), ON_STATE_RUNNING);
	finish(); /* which kills them */
}
END_TEST

START_TEST(too_many)
{
	const char *path = program("echo $PEN_SERVER");
	unsigned i;

	begin();
	for (i = 0; i < 3 * ON_STATE_WAITING; i++)
		add(0, path, SERVER_UP, SERVER_DOWN);
	on_state_free(on_state);
	on_state = on_state_new(loop, programs);
	/* one that cannot be executed, or fails, does not stop the others */
	add(0, "/nonexistent/program", SERVER_UP, SERVER_DOWN);
	add(0, "/bin/false", SERVER_UP, SERVER_DOWN);
	add(0, path, SERVER_UP, SERVER_DOWN);
	for (i = 3; i < 3 * ON_STATE_WAITING; i++)
		add(0, "/bin/true", SERVER_UP, SERVER_DOWN);
	RUN_UNTIL(lines() == 1);
	ck_assert_str_eq(contents(scratch("said")), "0\n");
	finish();
}
END_TEST

SUITE(test_on_state)
{
	Suite *s = suite_create("on_state");

	SUITE_ADD(s, told, 20);
	SUITE_ADD(s, in_order, 20);
	SUITE_ADD(s, side_by_side, 20);
	SUITE_ADD(s, too_many, 20);
	return s;
}
