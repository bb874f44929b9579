/* bitmap.h: a set of numbers, with fast searches for members.
 *
 *     level 2:  1                      one bit for each word of level 1
 *     level 1:  1001                   one bit for each word of level 0
 *     level 0:  0110.. 0000 0000 1000.. one bit for each number
 *
 * A bit above level 0 is set if its word in the level below has any bit set.
 * Searches and changes take O(log64 n) steps: three up to 262,144 numbers. */
#ifndef PEN_BASE_BITMAP_H
#define PEN_BASE_BITMAP_H

#include <stdbool.h>
#include <stdint.h>

enum { BITMAP_LEVELS = 6, BITMAP_NONE = -1 };

struct bitmap {
	uint64_t *level[BITMAP_LEVELS];
	uint32_t words[BITMAP_LEVELS];
	unsigned levels; /* in use; the last one has one word */
	uint32_t room;	 /* numbers below it fit */
};

/* An empty bitmap, in which no number fits yet; it owns no memory. */
void bitmap_init(struct bitmap *b);
void bitmap_fini(struct bitmap *b);
/* Makes numbers below `n` fit, at most 2^31; the set stays the same. Returns 0,
 * or -1 with errno ENOMEM and the bitmap unchanged. */
int bitmap_grow(struct bitmap *b, uint32_t n);
/* Adds the numbers from `first` up to, but not including, `end`; they fit. */
void bitmap_set_range(struct bitmap *b, uint32_t first, uint32_t end);
/* The smallest member that is not below `from`, or BITMAP_NONE. */
int64_t bitmap_next(const struct bitmap *b, uint32_t from);

/* Any number may be given. */
static inline bool
bitmap_has(const struct bitmap *b, uint32_t n)
{
	return n < b->room && (b->level[0][n / 64] >> (n % 64) & 1);
}

static inline bool
bitmap_is_empty(const struct bitmap *b)
{
	return b->levels == 0 || b->level[b->levels - 1][0] == 0;
}

/* Adds a number that fits; it may be a member already. */
static inline void
bitmap_set(struct bitmap *b, uint32_t n)
{
	unsigned k;
	uint64_t *word, before;

	for (k = 0; k < b->levels; k++, n /= 64) {
		word = &b->level[k][n / 64];
		before = *word;
		*word |= UINT64_C(1) << (n % 64);
		if (before != 0) /* the levels above have this word's bit */
			return;
	}
}

/* Removes a number that fits; it need not be a member. */
static inline void
bitmap_clear(struct bitmap *b, uint32_t n)
{
	unsigned k;
	uint64_t *word;

	for (k = 0; k < b->levels; k++, n /= 64) {
		word = &b->level[k][n / 64];
		*word &= ~(UINT64_C(1) << (n % 64));
		if (*word != 0)
			return;
	}
}

/* The smallest member of a set that is not empty. */
static inline uint32_t
bitmap_first(const struct bitmap *b)
{
	uint32_t n = 0;
	unsigned k = b->levels;

	while (k-- > 0)
		n = n * 64 + (uint32_t)__builtin_ctzll(b->level[k][n]);
	return n;
}

#endif
