/* numbers.c: the table, and the bits of free numbers. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "proxy/numbers.h"

enum { TOP = NUMBERS_LEVELS - 1, ROOM_MIN = 64, ROOM_MAX = 1 << 30 };

void
numbers_init(struct numbers *c)
{
	*c = (struct numbers){ .thing = NULL };
}

void
numbers_fini(struct numbers *c)
{
	unsigned k;

	free(c->thing);
	for (k = 0; k < NUMBERS_LEVELS; k++)
		free(c->free[k]);
}

/* ---- free numbers ---- */

/* Words of a level that has bits for `room` numbers. */
static size_t
words(uint32_t room, unsigned level)
{
	unsigned shift = 6 * (level + 1);

	return ((size_t)room + ((size_t)1 << shift) - 1) >> shift;
}

static void
set_free(struct numbers *c, uint32_t n)
{
	unsigned k;

	for (k = 0; k < NUMBERS_LEVELS; k++, n /= 64)
		c->free[k][n / 64] |= UINT64_C(1) << (n % 64);
}

static void
set_taken(struct numbers *c, uint32_t n)
{
	unsigned k;

	for (k = 0; k < NUMBERS_LEVELS; k++, n /= 64) {
		c->free[k][n / 64] &= ~(UINT64_C(1) << (n % 64));
		if (c->free[k][n / 64] != 0)
			return;
	}
}

/* There must be one. */
static uint32_t
lowest_free(const struct numbers *c)
{
	uint32_t n = 0;
	unsigned k = NUMBERS_LEVELS;

	while (k-- > 0)
		n = n * 64 + (uint32_t)__builtin_ctzll(c->free[k][n]);
	return n;
}

/* ---- the table ---- */

/* Marks the numbers from the old room to the new one as free. */
static void
free_new(struct numbers *c, uint32_t room)
{
	uint32_t n;
	unsigned k;

	for (n = c->room / 64; n < room / 64; n++)
		c->free[0][n] = UINT64_MAX;
	for (k = 1; k < NUMBERS_LEVELS; k++) {
		for (n = (uint32_t)words(c->room, k); n < words(room, k); n++)
			c->free[k][n] = 0;
		/* the words below that have new bits */
		n = c->room >> (6 * k);
		for (; n < words(room, k - 1); n++)
			c->free[k][n / 64] |= UINT64_C(1) << (n % 64);
	}
}

/* What grew before memory ran out is merely larger than needed. */
static int
grow(struct numbers *c)
{
	uint32_t room = c->room > 0 ? 2 * c->room : ROOM_MIN;
	void **things;
	uint64_t *bits;
	unsigned k;

	if (room > ROOM_MAX) {
		errno = ENOMEM;
		return -1;
	}
	things = realloc(c->thing, room * sizeof(void *));
	if (things == NULL)
		return -1;
	c->thing = things;
	for (k = 0; k < NUMBERS_LEVELS; k++) {
		bits = realloc(c->free[k], words(room, k) * sizeof(*bits));
		if (bits == NULL)
			return -1;
		c->free[k] = bits;
	}
	free_new(c, room);
	c->room = room;
	return 0;
}

int
numbers_add(struct numbers *c, void *thing, uint32_t *number)
{
	if ((c->room == 0 || c->free[TOP][0] == 0) && grow(c) < 0)
		return -1;
	*number = lowest_free(c);
	set_taken(c, *number);
	if (*number >= c->end)
		c->end = *number + 1;
	c->thing[*number] = thing;
	return 0;
}

void
numbers_remove(struct numbers *c, uint32_t number)
{
	c->thing[number] = NULL;
	set_free(c, number);
}
