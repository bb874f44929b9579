/* eligible.c: a bitmap and a dense array of the same servers. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pool/server/eligible.h"

void
eligible_init(struct eligible *e)
{
	memset(e, 0, sizeof(*e));
	bitmap_init(&e->bits);
}

void
eligible_fini(struct eligible *e)
{
	bitmap_fini(&e->bits);
	free(e->dense);
	free(e->position);
	eligible_init(e);
}

int
eligible_grow(struct eligible *e, unsigned n)
{
	unsigned *array, room = e->room;

	if (n <= room)
		return 0;
	if (bitmap_grow(&e->bits, n) < 0)
		return -1;
	array = array_grow(e->dense, &room, sizeof(*array), n - 1);
	if (array == NULL)
		return -1;
	e->dense = array;
	/* `room` counts what fits in both arrays. If memory runs out here the
	 * first one is longer than it needs to be. */
	room = e->room;
	array = array_grow(e->position, &room, sizeof(*array), n - 1);
	if (array == NULL)
		return -1;
	e->position = array;
	e->room = room;
	return 0;
}

void
eligible_add(struct eligible *e, unsigned i)
{
	if (eligible_has(e, i))
		return;
	bitmap_set(&e->bits, i);
	e->position[i] = e->count;
	e->dense[e->count++] = i;
}

void
eligible_remove(struct eligible *e, unsigned i)
{
	unsigned last;

	if (!eligible_has(e, i))
		return;
	bitmap_clear(&e->bits, i);
	/* the last member fills the gap */
	last = e->dense[--e->count];
	e->dense[e->position[i]] = last;
	e->position[last] = e->position[i];
}

long
eligible_next(const struct eligible *e, unsigned from)
{
	return (long)bitmap_next(&e->bits, from);
}

long
eligible_next_around(const struct eligible *e, unsigned from)
{
	long i = eligible_next(e, from);

	return i != ELIGIBLE_NONE || from == 0 ? i : eligible_next(e, 0);
}
