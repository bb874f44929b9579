/* connections.h: numbers for sessions: a table from number to session. A number
 * that became free is the next one given. */
#ifndef PEN_PROXY_CONNECTIONS_H
#define PEN_PROXY_CONNECTIONS_H

#include <stdint.h>

struct session;

struct connections {
	struct session **session; /* by number; NULL: free */
	uint32_t *next_free;	  /* of a free number, the one free before it */
	uint32_t free;		  /* the first; `end` when there is none */
	uint32_t end, room;	  /* numbers are below `end` */
};

void connections_init(struct connections *c);
void connections_fini(struct connections *c);
/* Gives it a number. Returns 0, or -1 with errno ENOMEM. */
int connections_add(struct connections *c, struct session *s, uint32_t *number);
void connections_remove(struct connections *c, uint32_t number);

#endif
