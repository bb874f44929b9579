/* heap.c: a binary heap whose items know their place. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"

static void
set_place(const struct heap *h, void *item, size_t place)
{
	memcpy((char *)item + h->place_offset, &place, sizeof(place));
}

static size_t
get_place(const struct heap *h, const void *item)
{
	size_t place;

	memcpy(&place, (const char *)item + h->place_offset, sizeof(place));
	return place;
}

static void
put(struct heap *h, size_t i, void *item)
{
	h->items[i] = item;
	set_place(h, item, i);
}

/* Lets `item`, whose place is free, rise from `i` to where it belongs. */
static void
rise(struct heap *h, size_t i, void *item)
{
	while (i > 0 && h->less(item, h->items[(i - 1) / 2])) {
		put(h, i, h->items[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	put(h, i, item);
}

static void
sink(struct heap *h, size_t i, void *item)
{
	size_t child;

	while ((child = 2 * i + 1) < h->count) {
		if (child + 1 < h->count &&
		    h->less(h->items[child + 1], h->items[child]))
			child++;
		if (!h->less(h->items[child], item))
			break;
		put(h, i, h->items[child]);
		i = child;
	}
	put(h, i, item);
}

void
heap_init(struct heap *h, heap_less_fn *less, size_t place_offset)
{
	*h = (struct heap){ .less = less, .place_offset = place_offset };
}

void
heap_fini(struct heap *h)
{
	free(h->items);
	h->items = NULL;
	h->count = h->room = 0;
}

int
heap_reserve(struct heap *h, size_t count)
{
	size_t room = h->room > 0 ? h->room : 16;
	void **items;

	if (count <= h->room)
		return 0;
	while (room < count)
		room *= 2;
	items = realloc(h->items, room * sizeof(*items));
	if (items == NULL)
		return -1;
	h->items = items;
	h->room = room;
	return 0;
}

int
heap_insert(struct heap *h, void *item)
{
	if (heap_reserve(h, h->count + 1) < 0)
		return -1;
	rise(h, h->count++, item);
	return 0;
}

void
heap_remove(struct heap *h, void *item)
{
	size_t i = get_place(h, item);
	void *last;

	if (i == HEAP_NOWHERE)
		return;
	set_place(h, item, HEAP_NOWHERE);
	last = h->items[--h->count];
	if (i == h->count)
		return;
	put(h, i, last);
	heap_update(h, last);
}

void
heap_update(struct heap *h, void *item)
{
	size_t i = get_place(h, item);

	if (i > 0 && h->less(item, h->items[(i - 1) / 2]))
		rise(h, i, item);
	else
		sink(h, i, item);
}

void *
heap_top(const struct heap *h)
{
	return h->count > 0 ? h->items[0] : NULL;
}
