/* heap.h: numbered things in the order of their keys, smallest first.
 *
 * A four-way heap of (key, number) pairs with the position of each number
 * beside it: adding, removing and changing any of them is O(log n) and touches
 * nothing but these two compact arrays. Equal keys come in the order of
 * numbers. */
#ifndef PEN_BASE_HEAP_H
#define PEN_BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct heap_item {
	uint64_t key;
	uint32_t number;
};

struct heap {
	struct heap_item *items;
	uint32_t *position; /* of each number in items, plus 1; 0: not in it */
	uint32_t count;
	uint32_t room; /* numbers below it fit */
};

enum { HEAP_EMPTY = -1 };

void heap_init(struct heap *h);
void heap_fini(struct heap *h);
/* Makes numbers below `room` fit. Returns 0, or -1 with errno ENOMEM. */
int heap_reserve(struct heap *h, uint32_t room);
/* Puts a number in, or gives it another key. */
void heap_set(struct heap *h, uint32_t number, uint64_t key);
/* Takes a number out; harmless when it is not in. */
void heap_remove(struct heap *h, uint32_t number);
bool heap_has(const struct heap *h, uint32_t number);
/* The number with the smallest key, or HEAP_EMPTY; its key. */
int64_t heap_top(const struct heap *h);
uint64_t heap_top_key(const struct heap *h);

#endif
