/* test_timeouts.c: the queue against a plain model of it. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "base/hash.h"
#include "net/timeouts.h"
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
	timeouts_init(&queue, loop, on_expired);
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

/* Equal times expire first come, first served; what is overdue, at once. */
START_TEST(equal_times)
{
	uint64_t now;
	int i;

	begin(on_order);
	now = loop_now(loop);
	for (i = 1; i < 5; i++)
		timeouts_add(&queue, &things[i], now + 10);
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

int
main(void)
{
	Suite *s = suite_create("timeouts");
	TCase *c = tcase_create("model");

	tcase_set_timeout(c, 30);
	tcase_add_loop_test(c, as_the_model_says, 0, 5);
	suite_add_tcase(s, c);
	SUITE_ADD(s, equal_times, 10);
	SUITE_ADD(s, heads_change, 10);
	return suite_main(s);
}
