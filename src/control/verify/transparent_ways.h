/* transparent_ways.h: how what servers answer to clients comes back to this
 * machine, with `transparent`.
 *
 *     ways_read() -> facts about routes -> ways_judge() -> findings
 *
 * Nothing is changed or sent to servers; the judge is pure. */
#ifndef PEN_CONTROL_TRANSPARENT_WAYS_H
#define PEN_CONTROL_TRANSPARENT_WAYS_H

#include <stdbool.h>

#include "base/addr.h"
#include "base/finding.h"

enum way_back {
	WAY_UNKNOWN,  /* not known on this system */
	WAY_HERE,     /* the server is this machine */
	WAY_LOCAL,    /* delivered to this machine */
	WAY_MARKED,   /* the same, if a packet filter marks it */
	WAY_NO_ROUTE, /* a rule for a mark leads to a table without it */
	WAY_NO_RULE,  /* no rule makes it local */
	WAY_FILTERED  /* rp_filter drops it, at least with the mark; 0: it is
		       * not known whether there is a rule */
};

struct way {
	unsigned number;  /* of the server */
	const char *name; /* not owned */
	struct addr at;	  /* with the port that clients' connections reach */
	char interface[16]; /* it is behind; "": not known */
	struct addr own;    /* ours towards it; len 0: not known */
	enum way_back back;
	uint32_t mark, table;
};

/* At most so many are read. */
enum { WAYS_MAX = 64 };

/* A client: 192.0.2.1, 2001:db8::1 (RFC 5737, RFC 3849). */
void ways_client(struct peer *p, int family);
/* Fills in interface, own, back, mark and table of `n` return routes. */
void ways_read(struct way *list, unsigned n);
/* Reports what is wrong, once for all servers behind an interface, and the mark
 * that a packet filter must set, which cannot be seen. Without the right to
 * such sockets that is one finding more. */
void ways_judge(const struct way *list, unsigned n, bool no_right,
    finding_report_fn *report, void *arg);

#endif
