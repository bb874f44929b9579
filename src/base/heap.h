/* heap.h: numbers in the order of their keys, smallest key first.
 *
 * A four-way heap of (key, number) pairs, with the position of each number in
 * an array beside it. Adding, removing and changing any number is O(log n) and
 * touches only these two compact arrays. Of equal keys the smallest number
 * comes first. */
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
/* Adds a number that fits, or changes its key. */
void heap_set(struct heap *h, uint32_t number, uint64_t key);
/* Removes a number; does nothing if it is not in the heap. */
void heap_remove(struct heap *h, uint32_t number);
bool heap_has(const struct heap *h, uint32_t number);
/* The number with the smallest key, or HEAP_EMPTY. */
int64_t heap_top(const struct heap *h);
/* The smallest key; the heap is not empty. */
uint64_t heap_top_key(const struct heap *h);

#endif
