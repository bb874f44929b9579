/* test_timeouts.c: the wheel against a plain model of it. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "net/loop/timeouts.h"
#include "support/suite.h"

enum { THINGS = 200, SPAN_MS = 120 };

static struct loop *loop;
static struct timeouts queue;
static struct expiry things[THINGS];
static bool waiting[THINGS]; /* the model */
static int expired, left;
static uint64_t last_due, seed;

static void
begin(void (*on_expired)(struct timeouts *t, struct expiry *x))
{
	struct error e;
	int i;

	loop = loop_new(NULL, &e);
	ck_assert_ptr_nonnull(loop);
	timeouts_init(&queue, loop, on_expired, NULL);
	for (i = 0; i < THINGS; i++) {
		expiry_init(&things[i]);
		ck_assert(!expiry_is_waiting(&things[i]));
		waiting[i] = false;
	}
	expired = left = 0;
	last_due = 0;
}

static void
end(void)
{
	timeouts_fini(&queue);
	loop_free(loop);
}

static uint64_t
draw(uint64_t n)
{
	seed = hash_mix(seed + 1);
	return (seed >> 8) % n;
}

static void
add(int i, uint64_t ms)
{
	ck_assert(!waiting[i]);
	timeouts_add(&queue, &things[i], loop_now(loop) + ms);
	waiting[i] = true;
	left++;
	ck_assert(expiry_is_waiting(&things[i]));
}

static void
cancel(int i)
{
	expiry_cancel(&things[i]);
	ck_assert(!expiry_is_waiting(&things[i]));
	left -= waiting[i];
	waiting[i] = false;
}

/* Whatever expires was to, is due, and comes in order of expiry; then some
 * others are cancelled or added. */
static void
on_any(struct timeouts *t, struct expiry *x)
{
	int i = (int)(x - things), other = (int)draw(THINGS);

	ck_assert_ptr_eq(t, &queue);
	ck_assert(waiting[i]);
	ck_assert(!expiry_is_waiting(x));
	ck_assert_uint_le(x->due, loop_now(loop));
	ck_assert_uint_ge(x->due, last_due);
	last_due = x->due;
	waiting[i] = false;
	left--;
	if (++expired < 3 * THINGS) {
		switch (draw(4)) {
		case 0:
			cancel(other);
			break;
		case 1:
			if (!waiting[other])
				add(other, 1 + draw(SPAN_MS));
			break;
		case 2:
			add(i, 1 + draw(SPAN_MS));
			break;
		default:
			break;
		}
	}
	if (left == 0)
		loop_stop(loop);
}

START_TEST(as_the_model_says)
{
	int i;

	seed = 4711 + (uint64_t)_i;
	begin(on_any);
	for (i = 0; i < THINGS; i++)
		add(i, 1 + draw(SPAN_MS));
	for (i = 0; i < THINGS; i += 3)
		cancel(i);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(left, 0);
	for (i = 0; i < THINGS; i++)
		ck_assert(!expiry_is_waiting(&things[i]));
	ck_assert_int_ge(expired, THINGS / 3);
	end();
}
END_TEST

static void
on_order(struct timeouts *t, struct expiry *x)
{
	(void)t;
	ck_assert_ptr_eq(x, &things[expired]);
	if (++expired == 5)
		loop_stop(loop);
}

/* What is overdue expires at once, before what is due later. */
START_TEST(overdue)
{
	uint64_t now;
	int i;

	begin(on_order);
	now = loop_now(loop);
	for (i = 4; i > 0; i--)
		timeouts_add(&queue, &things[i], now + 10u + (unsigned)i);
	timeouts_add(&queue, &things[0], now > 0 ? now - 1 : 0);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(expired, 5);
	end();
}
END_TEST

/* A head that is cancelled holds nobody up; one that is sooner is not held up
 * by the timer of a later one. */
START_TEST(heads_change)
{
	uint64_t now;

	begin(on_order);
	expired = 3;
	now = loop_now(loop);
	timeouts_add(&queue, &things[9], now + 1000 * 1000);
	timeouts_add(&queue, &things[8], now + 1);
	timeouts_add(&queue, &things[4], now + 30);
	timeouts_add(&queue, &things[3], now + 20);
	expiry_cancel(&things[8]);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(expired, 5);
	ck_assert_uint_ge(loop_now(loop) - now, 30);
	ck_assert(expiry_is_waiting(&things[9]));
	end();
	/* forgotten, not dangling */
	ck_assert(!expiry_is_waiting(&things[9]));
}
END_TEST

static struct expiry *crowd;
static int crowd_size;
static int most; /* of the crowd in one wake-up */

static void
on_one_of_crowd(struct timeouts *t, struct expiry *x)
{
	(void)t;
	ck_assert(x >= crowd && x < crowd + crowd_size);
	if (++expired == crowd_size)
		loop_stop(loop);
}

static void
crowd_in(uint64_t due, uint64_t step)
{
	int i;

	begin(on_one_of_crowd);
	crowd_size = (int)suite_amount(300 * 1000, 30 * 1000);
	crowd = calloc((size_t)crowd_size, sizeof(*crowd));
	ck_assert_ptr_nonnull(crowd);
	for (i = 0; i < crowd_size; i++) {
		expiry_init(&crowd[i]);
		timeouts_add(&queue, &crowd[i],
		    loop_now(loop) + due - step * (unsigned)i /
			    ((unsigned)crowd_size / 300));
	}
}

static void
crowd_out(void)
{
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(expired, crowd_size);
	free(crowd);
	end();
}

/* Each one comes before all others: a queue that looks for its place among them
 * takes minutes. */
START_TEST(added_backwards)
{
	crowd_in(600, 1);
	crowd_out();
}
END_TEST

static void
on_readable(struct watch *w, unsigned ready)
{
	static int before;

	(void)w;
	(void)ready;
	if (expired - before > most)
		most = expired - before;
	before = expired;
}

/* All are due at once; sockets get their turn between portions of them. */
START_TEST(crowd_lets_others_in)
{
	struct watch w;
	int fd[2];

	most = 0;
	crowd_in(200, 0);
	ck_assert_int_eq(pipe(fd), 0);
	ck_assert_int_eq(write(fd[1], "x", 1), 1);
	ck_assert_int_eq(watch_start(loop, &w, fd[0], READY_READ | WATCH_LEVEL,
			     on_readable),
	    0);
	crowd_out();
	ck_assert_int_gt(most, 0);
	ck_assert_int_le(most, 4 * TIMEOUTS_PORTION);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

static uint64_t put_off_until;
static int asked;

static uint64_t
on_asked(struct expiry *x)
{
	(void)x;
	asked++;
	return put_off_until;
}

/* One that is put off while it waits expires at its true time, and is not asked
 * more often than it sinks by a level. */
START_TEST(put_off)
{
	uint64_t now;

	begin(on_order);
	queue.true_due = on_asked;
	asked = 0;
	expired = 4;
	now = loop_now(loop);
	put_off_until = now + 300;
	timeouts_add(&queue, &things[4], now + 5);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_uint_ge(loop_now(loop), now + 300);
	ck_assert_int_le(asked, 4);
	end();
}
END_TEST

/* Far times, near ones and those beyond the wheel's reach know each other. */
START_TEST(far_times)
{
	uint64_t now;
	unsigned i;

	begin(on_order);
	now = loop_now(loop);
	for (i = 5; i < 45; i++)
		timeouts_add(
		    &queue, &things[i], now + (UINT64_C(1) << (i + 15)));
	timeouts_add(&queue, &things[45], UINT64_MAX);
	for (i = 0; i < 5; i++)
		timeouts_add(&queue, &things[i], now + 1 + i * 70);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(expired, 5);
	for (i = 5; i <= 45; i++)
		ck_assert(expiry_is_waiting(&things[i]));
	end();
}
END_TEST

SUITE(test_timeouts)
{
	Suite *s = suite_create("timeouts");
	TCase *c = tcase_create("model");

	tcase_set_timeout(c, 30);
	tcase_add_loop_test(c, as_the_model_says, 0, 5);
	suite_add_tcase(s, c);
	SUITE_ADD(s, overdue, 10);
	SUITE_ADD(s, added_backwards, 30);
	SUITE_ADD(s, crowd_lets_others_in, 30);
	SUITE_ADD(s, put_off, 10);
	SUITE_ADD(s, far_times, 10);
	SUITE_ADD(s, heads_change, 10);
	return s;
}
