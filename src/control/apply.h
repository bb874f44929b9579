/* apply.h: the one way in which a plan comes into force: at the start, by a
 * command, by a reload.
 *
 *     draft -> check -> prepare --> commit    the draft is in force
 *                |         |
 *                |         '-> cancel         nothing has changed
 *                '--------------------------> nothing has changed
 *
 * What a plan decides is done by participants, in the order of the array in
 * apply.c. All of them check the draft, which opens nothing. Then all of them
 * prepare: they open what is new, beside what is there, and may fail; if one
 * does, those before it cancel what they prepared, in reverse. Then all of them
 * commit, which cannot fail.
 *
 * A start is the first apply: it goes the same way, with nothing there yet. */
#ifndef PEN_CONTROL_APPLY_H
#define PEN_CONTROL_APPLY_H

#include "control/names.h"
#include "control/pen.h"

/* A server to be set; without an address, to be removed. */
struct change {
	unsigned slot;
	struct server_addrs addrs;
};

struct changes {
	struct change *list;
	size_t count, room;
};

/* One draft on its way. */
struct apply {
	struct pen *pen;
	const struct plan *now; /* in force until the commit */
	struct plan *wanted;	/* the draft */
	const struct names *names;
	bool first; /* nothing is open yet: all is new */
	unsigned changes; /* of servers, PLAN_*; all of them at the first time */

	/* What participants have prepared. */
	struct changes servers;
	struct secure_change tls;
	struct requestlog *log;
	bool log_changed;
};

/* Notes the names that `draft` needs and that are not known; all of its names
 * when they are to be looked up again. Returns 0, or -1 with errno ENOMEM. */
int apply_want_names(
    const struct pen *p, const struct plan *draft, bool fresh, struct names *n);
/* Makes `draft` the plan in force, and everything that runs accordingly:
 * servers that stay keep connections, counters, clients and health, those that
 * are gone get no new client. `draft` is the pen's from now on: it is in force,
 * or freed. Returns 0, or -1 with a sentence; then nothing has changed. */
int apply_plan(struct pen *p, struct plan *draft, const struct names *n,
    struct error *e);
/* Both, looking names up on the way, which blocks: at the start only. */
int apply_plan_now(struct pen *p, struct plan *draft, struct error *e);

/* ---- the parts of participants; each is called by apply.c alone ---- */

/* Finds out which servers the draft changes, and their addresses. */
int apply_servers_check(struct apply *a, struct error *e);

/* The frontend and its settings. */
int apply_frontend_check(struct apply *a, struct error *e);
int apply_frontend_prepare(struct apply *a, struct error *e);
void apply_frontend_commit(struct apply *a);
void apply_frontend_cancel(struct apply *a);

/* Where clients come in: sockets, or the VIPs of direct server return. */
int apply_listen_prepare(struct apply *a, struct error *e);
void apply_listen_cancel(struct apply *a);

/* The log of requests. */
int apply_log_prepare(struct apply *a, struct error *e);
void apply_log_commit(struct apply *a);
void apply_log_cancel(struct apply *a);
/* Where it goes: an address (names are looked up at the start only), or none: a
 * file. Returns 0, or -1 with a phrase. */
int apply_log_find(
    const struct pen *p, const char *text, struct addr *to, struct error *e);

#endif
