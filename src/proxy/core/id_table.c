/* id_table.c: gives numbers and takes them back. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "proxy/core/id_table.h"

enum { ROOM_MIN = 64, ROOM_MAX = 1 << 28 };

void
id_table_init(struct id_table *t)
{
	*t = (struct id_table){ .entry = NULL };
	bitmap_init(&t->free);
}

void
id_table_fini(struct id_table *t)
{
	free(t->entry);
	bitmap_fini(&t->free);
}

/* Twice the numbers. What grew before memory ran out is merely larger than
 * needed. Entries of numbers that were never given are not touched: they take
 * no memory. */
static int
grow(struct id_table *t)
{
	uint32_t before = t->room, room = before > 0 ? 2 * before : ROOM_MIN;
	void **entry;

	if (room > ROOM_MAX) {
		errno = ENOMEM;
		return -1;
	}
	if (bitmap_grow(&t->free, room) < 0)
		return -1;
	entry = realloc(t->entry, room * sizeof(*entry));
	if (entry == NULL)
		return -1;
	t->entry = entry;
	t->room = room;
	bitmap_set_range(&t->free, before, room);
	return 0;
}

int
id_table_add(struct id_table *t, void *entry, uint32_t *number)
{
	if (bitmap_is_empty(&t->free) && grow(t) < 0)
		return -1;
	*number = bitmap_first(&t->free);
	bitmap_clear(&t->free, *number);
	if (*number >= t->end)
		t->end = *number + 1;
	t->entry[*number] = entry;
	return 0;
}

void
id_table_remove(struct id_table *t, uint32_t number)
{
	t->entry[number] = NULL;
	bitmap_set(&t->free, number);
}

void
id_table_walk(const struct id_table *t, struct id_walk *w,
    void (*visit)(void *entry))
{
	unsigned i;

	for (i = 0; i < ID_WALK_PORTION && w->left > 0; i++, w->left--) {
		if (w->next >= t->end)
			w->next = 0;
		if (t->entry[w->next] != NULL)
			visit(t->entry[w->next]);
		w->next++;
	}
}
