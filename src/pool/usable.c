/* usable.c: a hierarchical bitmap with a dense twin. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pool/usable.h"

void
usable_init(struct usable *u)
{
	memset(u, 0, sizeof(*u));
}

void
usable_fini(struct usable *u)
{
	unsigned k;

	for (k = 0; k < u->levels; k++)
		free(u->level[k]);
	free(u->dense);
	free(u->place);
	usable_init(u);
}

/* A set for twice the numbers, with the members of the old one. */
int
usable_grow(struct usable *u, unsigned n)
{
	struct usable new;
	unsigned room = u->room > 0 ? u->room : 64, words, i;

	if (n <= u->room)
		return 0;
	while (room < n)
		room *= 2;
	usable_init(&new);
	new.room = room;
	words = room;
	do {
		words = (words + 63) / 64;
		new.level[new.levels] = calloc(words, sizeof(uint64_t));
		new.words[new.levels] = words;
		if (new.level[new.levels++] == NULL)
			goto no_memory;
	} while (words > 1);
	new.dense = calloc(room, sizeof(*new.dense));
	new.place = calloc(room, sizeof(*new.place));
	if (new.dense == NULL || new.place == NULL)
		goto no_memory;
	for (i = 0; i < u->count; i++)
		usable_add(&new, u->dense[i]);
	usable_fini(u);
	*u = new;
	return 0;
no_memory:
	usable_fini(&new);
	errno = ENOMEM;
	return -1;
}

bool
usable_has(const struct usable *u, unsigned i)
{
	return i < u->room && u->level[0][i / 64] >> (i % 64) & 1;
}

void
usable_add(struct usable *u, unsigned i)
{
	unsigned k, at = i;

	if (usable_has(u, i))
		return;
	for (k = 0; k < u->levels; k++, at /= 64)
		u->level[k][at / 64] |= UINT64_C(1) << (at % 64);
	u->place[i] = u->count;
	u->dense[u->count++] = i;
}

void
usable_remove(struct usable *u, unsigned i)
{
	unsigned k, at = i, last;

	if (!usable_has(u, i))
		return;
	for (k = 0; k < u->levels; k++, at /= 64) {
		u->level[k][at / 64] &= ~(UINT64_C(1) << (at % 64));
		if (u->level[k][at / 64] != 0)
			break;
	}
	last = u->dense[--u->count];
	u->dense[u->place[i]] = last;
	u->place[last] = u->place[i];
}

/* Climbs until a word has a bit at or behind the place, then goes down along
 * the lowest bits. */
long
usable_next(const struct usable *u, unsigned from)
{
	unsigned k = 0, at = from;
	uint64_t word;

	for (;; k++, at = at / 64 + 1) {
		if (k == u->levels || at / 64 >= u->words[k])
			return USABLE_NONE;
		word = u->level[k][at / 64] >> (at % 64);
		if (word != 0)
			break;
	}
	at += (unsigned)__builtin_ctzll(word);
	while (k-- > 0)
		at = at * 64 + (unsigned)__builtin_ctzll(u->level[k][at]);
	return (long)at;
}

long
usable_next_around(const struct usable *u, unsigned from)
{
	long i = usable_next(u, from);

	return i != USABLE_NONE || from == 0 ? i : usable_next(u, 0);
}
