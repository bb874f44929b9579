/* bitmap.c: a hierarchical bitmap grows and is searched. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"

#define ROOM_MAX (UINT32_C(1) << 31)
enum { ROOM_MIN = 64 };

void
bitmap_init(struct bitmap *b)
{
	memset(b, 0, sizeof(*b));
}

void
bitmap_fini(struct bitmap *b)
{
	unsigned k;

	/* bitmap_grow() may have left memory at levels that are not in use */
	for (k = 0; k < BITMAP_LEVELS; k++)
		free(b->level[k]);
	bitmap_init(b);
}

/* Gives each level the words that `room` numbers need. A level that is larger
 * than its count of words, because memory ran out later, does no harm. */
static int
grow_levels(struct bitmap *b, uint32_t room, struct bitmap *sizes)
{
	uint32_t words = room;
	uint64_t *level;

	do {
		words = (words + 63) / 64;
		level = realloc(
		    b->level[sizes->levels], words * sizeof(*level));
		if (level == NULL)
			return -1;
		b->level[sizes->levels] = level;
		sizes->words[sizes->levels++] = words;
	} while (words > 1);
	return 0;
}

int
bitmap_grow(struct bitmap *b, uint32_t n)
{
	uint32_t room = b->room > 0 ? b->room : ROOM_MIN;
	struct bitmap sizes = { .levels = 0 };
	unsigned k;

	if (n <= b->room)
		return 0;
	if (n > ROOM_MAX) {
		errno = ENOMEM;
		return -1;
	}
	while (room < n)
		room *= 2;
	if (grow_levels(b, room, &sizes) < 0)
		return -1;
	for (k = 0; k < sizes.levels; k++) {
		memset(b->level[k] + b->words[k], 0,
		    (sizes.words[k] - b->words[k]) * sizeof(uint64_t));
		b->words[k] = sizes.words[k];
		/* The level below had one word and no bit for it until now. */
		if (k > 0 && k >= b->levels)
			b->level[k][0] = b->level[k - 1][0] != 0;
	}
	b->levels = sizes.levels;
	b->room = room;
	return 0;
}

void
bitmap_set_range(struct bitmap *b, uint32_t first, uint32_t end)
{
	while (first < end) {
		bitmap_set(b, first);
		if (first % 64 == 0 && end - first >= 64) {
			b->level[0][first / 64] = UINT64_MAX;
			first += 64;
		} else {
			first++;
		}
	}
}

/* Climbs until a word has a bit at or behind the number's position, then goes
 * down along the lowest bits. */
int64_t
bitmap_next(const struct bitmap *b, uint32_t from)
{
	unsigned k = 0;
	uint32_t at = from;
	uint64_t word;

	for (;; k++, at = at / 64 + 1) {
		if (k == b->levels || at / 64 >= b->words[k])
			return BITMAP_NONE;
		word = b->level[k][at / 64] >> (at % 64);
		if (word != 0)
			break;
	}
	at += (uint32_t)__builtin_ctzll(word);
	while (k-- > 0)
		at = at * 64 + (uint32_t)__builtin_ctzll(b->level[k][at]);
	return at;
}
