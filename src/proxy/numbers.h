/* numbers.h: numbers for sessions and flows: a table from number to thing. The
 * lowest free number is the next one given.
 *
 * Free numbers are bits; above each word of bits is one bit that says whether
 * any is set in it, and so on up to one word: O(log64 n). */
#ifndef PEN_PROXY_NUMBERS_H
#define PEN_PROXY_NUMBERS_H

#include <stdint.h>

/* 64 to the power of this are the numbers there can be. */
enum { NUMBERS_LEVELS = 5 };

struct numbers {
	void **thing;			/* by number; NULL: free */
	uint64_t *free[NUMBERS_LEVELS]; /* [0]: a bit a number */
	uint32_t end;			/* numbers ever given are below */
	uint32_t room;			/* numbers below it fit */
};

void numbers_init(struct numbers *c);
void numbers_fini(struct numbers *c);
/* Gives it a number. Returns 0, or -1 with errno ENOMEM. */
int numbers_add(struct numbers *c, void *thing, uint32_t *number);
void numbers_remove(struct numbers *c, uint32_t number);

#endif
