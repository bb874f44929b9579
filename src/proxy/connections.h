/* connections.h: numbers for sessions: a table from number to session. The
 * lowest free number is the next one given.
 *
 * Free numbers are bits; above each word of bits is one bit that says whether
 * any is set in it, and so on up to one word: O(log64 n). */
#ifndef PEN_PROXY_CONNECTIONS_H
#define PEN_PROXY_CONNECTIONS_H

#include <stdint.h>

struct session;

/* 64 to the power of this are the numbers there can be. */
enum { CONNECTIONS_LEVELS = 5 };

struct connections {
	struct session **session;	    /* by number; NULL: free */
	uint64_t *free[CONNECTIONS_LEVELS]; /* [0]: a bit a number */
	uint32_t end;			    /* numbers ever given are below */
	uint32_t room;			    /* numbers below it fit */
};

void connections_init(struct connections *c);
void connections_fini(struct connections *c);
/* Gives it a number. Returns 0, or -1 with errno ENOMEM. */
int connections_add(struct connections *c, struct session *s, uint32_t *number);
void connections_remove(struct connections *c, uint32_t number);

#endif
