/* heap.c: a four-way heap: half as deep as a binary one, and the children of
 * a node share a cache line. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"

enum { WAYS = 4, ROOM_MIN = 4 };

void
heap_init(struct heap *h)
{
	*h = (struct heap){ .items = NULL };
}

void
heap_fini(struct heap *h)
{
	free(h->items);
	free(h->position);
	heap_init(h);
}

int
heap_reserve(struct heap *h, uint32_t room)
{
	uint32_t size = h->room > 0 ? h->room : ROOM_MIN;
	struct heap_item *items;
	uint32_t *position;

	if (room <= h->room)
		return 0;
	if (room > UINT32_MAX / (2 * sizeof(*items))) {
		errno = ENOMEM; /* the doubled room or its bytes would wrap */
		return -1;
	}
	while (size < room)
		size *= 2;
	items = realloc(h->items, size * sizeof(*items));
	if (items == NULL)
		return -1;
	h->items = items;
	position = realloc(h->position, size * sizeof(*position));
	if (position == NULL)
		return -1;
	memset(position + h->room, 0, (size - h->room) * sizeof(*position));
	h->position = position;
	h->room = size;
	return 0;
}

static bool
less(const struct heap_item *a, const struct heap_item *b)
{
	return a->key < b->key || (a->key == b->key && a->number < b->number);
}

static void
heap_put(struct heap *h, uint32_t i, struct heap_item item)
{
	h->items[i] = item;
	h->position[item.number] = i + 1;
}

/* Position `i` is free: moves `item` up from there to where it belongs. */
static void
move_up(struct heap *h, uint32_t i, struct heap_item item)
{
	while (i > 0 && less(&item, &h->items[(i - 1) / WAYS])) {
		heap_put(h, i, h->items[(i - 1) / WAYS]);
		i = (i - 1) / WAYS;
	}
	heap_put(h, i, item);
}

static void
move_down(struct heap *h, uint32_t i, struct heap_item item)
{
	uint32_t child, best, k;

	while ((child = WAYS * i + 1) < h->count) {
		best = child;
		for (k = child + 1; k < child + WAYS && k < h->count; k++)
			if (less(&h->items[k], &h->items[best]))
				best = k;
		if (!less(&h->items[best], &item))
			break;
		heap_put(h, i, h->items[best]);
		i = best;
	}
	heap_put(h, i, item);
}

static void
heap_settle(struct heap *h, uint32_t i, struct heap_item item)
{
	if (i > 0 && less(&item, &h->items[(i - 1) / WAYS]))
		move_up(h, i, item);
	else
		move_down(h, i, item);
}

void
heap_set(struct heap *h, uint32_t number, uint64_t key)
{
	struct heap_item item = { .key = key, .number = number };

	if (h->position[number] == 0)
		move_up(h, h->count++, item);
	else if (h->items[h->position[number] - 1].key != key)
		heap_settle(h, h->position[number] - 1, item);
}

void
heap_remove(struct heap *h, uint32_t number)
{
	uint32_t i;

	if (!heap_has(h, number))
		return;
	i = h->position[number] - 1;
	h->position[number] = 0;
	h->count--;
	if (i < h->count)
		heap_settle(h, i, h->items[h->count]);
}

bool
heap_has(const struct heap *h, uint32_t number)
{
	return number < h->room && h->position[number] != 0;
}

int64_t
heap_top(const struct heap *h)
{
	return h->count > 0 ? (int64_t)h->items[0].number : HEAP_EMPTY;
}

uint64_t
heap_top_key(const struct heap *h)
{
	return h->items[0].key;
}
