/* test_heap.c: the heap against a plain search. */
#include "config.h"

#include <check.h>
#include <errno.h>

#include "base/hash.h"
#include "base/heap.h"
#include "support/suite.h"

enum { ROOM = 300 };

static int64_t
model_top(const bool *in, const uint64_t *key)
{
	int64_t best = HEAP_EMPTY;
	int i;

	for (i = 0; i < ROOM; i++)
		if (in[i] && (best == HEAP_EMPTY || key[i] < key[best]))
			best = i;
	return best;
}

START_TEST(against_a_model)
{
	bool in[ROOM] = { false };
	uint64_t key[ROOM], x = 7;
	struct heap h;
	int i, n;

	heap_init(&h);
	ck_assert_int_eq(heap_top(&h), HEAP_EMPTY);
	ck_assert_int_eq(heap_reserve(&h, 10), 0);
	ck_assert_int_eq(heap_reserve(&h, ROOM), 0);
	for (i = 0; i < suite_rounds(30000); i++) {
		x = hash_mix(x + (uint64_t)i);
		n = (int)(x % ROOM);
		if (x >> 20 & 3) {
			in[n] = true;
			key[n] = x >> 40 & 1023; /* equals are common */
			heap_set(&h, (uint32_t)n, key[n]);
		} else {
			in[n] = false;
			heap_remove(&h, (uint32_t)n);
		}
		ck_assert_int_eq(heap_has(&h, (uint32_t)n), in[n]);
		ck_assert_int_eq(heap_top(&h), model_top(in, key));
	}
	while ((n = (int)heap_top(&h)) != HEAP_EMPTY) {
		ck_assert_int_eq(n, model_top(in, key));
		ck_assert_uint_eq(heap_top_key(&h), key[n]);
		heap_remove(&h, (uint32_t)n);
		in[n] = false;
	}
	ck_assert(!heap_has(&h, UINT32_MAX));
	heap_fini(&h);
}
END_TEST

/* More than memory can have is refused, not wrapped around. */
START_TEST(too_much_room)
{
	struct heap h;

	heap_init(&h);
	ck_assert_int_eq(heap_reserve(&h, 5), 0);
	heap_set(&h, 3, 30);
	ck_assert_int_eq(heap_reserve(&h, UINT32_MAX), -1);
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_int_eq(heap_top(&h), 3);
	heap_fini(&h);
}
END_TEST

SUITE(test_heap)
{
	Suite *s = suite_create("heap");

	SUITE_ADD(s, against_a_model, 30);
	SUITE_ADD(s, too_much_room, 10);
	return s;
}
