/* test_pieces.c: long work in pieces, in turn, some in each turn of the
 * loop. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "net/loop/pieces.h"
#include "support/suite.h"

enum { WORKERS = 5, BUDGET = 2 };

static struct worker {
	struct task task;
	int pieces; /* still to do */
	char name;
} workers[WORKERS];

static struct loop *loop;
static struct pieces pieces;
static struct task watcher;
static char order[64]; /* who did pieces; '|' where a turn ended */

static void
note(char c)
{
	size_t n = strlen(order);

	ck_assert_uint_lt(n + 1, sizeof(order));
	order[n] = c;
}

static void
do_piece(struct task *t)
{
	struct worker *w = container_of(t, struct worker, task);

	note(w->name);
	if (--w->pieces > 0)
		pieces_soon(&pieces, t);
}

/* Has its turn as traffic has. */
static void
watch_turns(struct task *t)
{
	note('|');
	if (list_is_empty(&pieces.waiting))
		loop_stop(loop);
	else
		loop_soon(loop, t);
}

static void
begin(void)
{
	struct error e;
	int i;

	memset(order, 0, sizeof(order));
	loop = loop_new(NULL, &e);
	ck_assert_ptr_nonnull(loop);
	pieces_init(&pieces, loop, BUDGET);
	watcher.run = watch_turns;
	list_init(&watcher.link);
	for (i = 0; i < WORKERS; i++) {
		workers[i].task.run = do_piece;
		list_init(&workers[i].task.link);
		workers[i].name = (char)('a' + i);
	}
}

static void
ask(int i, int n)
{
	workers[i].pieces = n;
	pieces_soon(&pieces, &workers[i].task);
}

static void
run(void)
{
	loop_soon(loop, &watcher);
	ck_assert_int_eq(loop_run(loop), 0);
}

/* However many have work, and however much, others are served between. */
START_TEST(so_many_in_a_turn)
{
	begin();
	ask(0, 3);
	ask(1, 1);
	ask(2, 2);
	run();
	ck_assert_str_eq(order, "ab|ca|ca|");
	loop_free(loop);
}
END_TEST

/* One that waits already keeps its position, one that is gone is left out. */
START_TEST(once_and_not_gone)
{
	begin();
	ask(0, 1);
	ask(1, 1);
	ask(2, 1);
	ask(0, 1);
	list_remove(&workers[1].task.link);
	run();
	ck_assert_str_eq(order, "ac|");
	ask(3, 1);
	ask(4, 1);
	ask(1, 1);
	run();
	ck_assert_str_eq(order, "ac|de|b|");
	loop_free(loop);
}
END_TEST

/* What is left when the loop ends is no harm. */
START_TEST(loop_ends_before)
{
	begin();
	ask(0, 1);
	ask(1, 1);
	ask(2, 1);
	loop_free(loop);
	ck_assert_str_eq(order, "abc");
}
END_TEST

SUITE(test_pieces)
{
	Suite *s = suite_create("pieces");

	SUITE_ADD(s, so_many_in_a_turn, 10);
	SUITE_ADD(s, once_and_not_gone, 10);
	SUITE_ADD(s, loop_ends_before, 10);
	return s;
}
