/* heap.h: a binary heap of pointers, smallest first, each item knowing its
 * place, so that changing or removing any item is O(log n).
 *
 * The items stay the caller's; each has a `size_t` place inside it, found by
 * the offset given at heap_init(). HEAP_NOWHERE marks an item not in the heap. */
#ifndef PEN_BASE_HEAP_H
#define PEN_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_NOWHERE SIZE_MAX

typedef bool heap_less_fn(const void *a, const void *b);

struct heap {
	void **items;
	size_t count, room;
	size_t place_offset;
	heap_less_fn *less;
};

/* `place_offset` is offsetof(struct item, place). */
void heap_init(struct heap *h, heap_less_fn *less, size_t place_offset);
void heap_fini(struct heap *h);
/* Room for `count` items, so that heap_insert() cannot fail up to there.
 * Returns 0, or -1 with errno ENOMEM. */
int heap_reserve(struct heap *h, size_t count);
/* Returns 0, or -1 with errno ENOMEM. The item must not be in it. */
int heap_insert(struct heap *h, void *item);
/* Harmless for an item whose place is HEAP_NOWHERE. */
void heap_remove(struct heap *h, void *item);
/* The item's order has changed: puts it where it belongs now. */
void heap_update(struct heap *h, void *item);
/* The smallest, or NULL. */
void *heap_top(const struct heap *h);

#endif
