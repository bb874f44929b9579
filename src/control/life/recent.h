/* recent.h: the last changes of servers' states, for the page: a ring of fixed
 * size, which lives in its owner. All zero: none yet. */
#ifndef PEN_CONTROL_RECENT_H
#define PEN_CONTROL_RECENT_H

#include "control/answer/reply.h"
#include "control/value/row.h"
#include "pool/pool.h"

enum {
	RECENT_CHANGES = 20,
	RECENT_NAME_MAX = 128 /* bytes of a name, with its NUL */
};

struct recent_change {
	uint64_t at_ms; /* as history.since_ms */
	int64_t wall;	/* seconds since 1970 */
	char service[SERVICE_NAME_MAX + 1];
	unsigned server;
	enum server_role role;
	enum server_state was, is;
	char name[RECENT_NAME_MAX]; /* cut to its size */
	char reason[SERVER_REASON_MAX];
};

struct recent {
	struct recent_change list[RECENT_CHANGES];
	unsigned next, count;
};

/* Notes what the pool of a service reports of a server. */
void recent_note(struct recent *c, const char *service, const struct server *s,
    const struct server_change *what);
/* Adds them to an answer, a list of JSON: the latest first; `several`: each
 * with the name of its service. `now_ms` is as `at_ms`. */
void recent_report(
    const struct recent *c, uint64_t now_ms, bool several, struct reply *r);

#endif
