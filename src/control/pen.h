/* pen.h: the one context of the program: what the operator wants, and the rooms
 * that do it.
 *
 * Life: pen_new() -> options make a draft -> pen_adopt() -> pen_start() opens
 * everything -> loop_run(), drafts and pen_adopt() -> pen_free(). */
#ifndef PEN_CONTROL_PEN_H
#define PEN_CONTROL_PEN_H

#include <stdbool.h>

#include "base/error.h"
#include "control/names.h"
#include "control/plan.h"
#include "control/reply.h"
#include "control/secure.h"

struct control;
struct director;
struct request;
struct requestlog;

struct pen {
	struct plan *plan;  /* in force */
	struct plan *given; /* by the command line; a reload begins here */
	struct loop *loop;  /* NULL until pen_start(), as those below */
	struct pool *pool;  /* always there */
	struct frontend *frontend;
	struct secure secure;
	struct director *director; /* NULL: no direct return */
	struct control *control;
	struct resolver *resolver;
	struct requestlog *log;	  /* NULL: none */
	struct request *reload;	  /* of SIGHUP, while it waits for names */
	size_t descriptors;	  /* the process may have; 0: not known yet */
	uint64_t control_clients; /* at a time */
};

/* A context with default settings and an empty pool, or NULL (ENOMEM). */
struct pen *pen_new(void);
/* Stops and frees everything; NULL is fine. */
void pen_free(struct pen *p);

/* Opens the loop and the listeners, catches signals. Nothing is accepted until
 * pen_run(). Returns 0, or -1 with a sentence. */
int pen_start(struct pen *p, struct error *e);
/* Serves until told to stop. Returns 0, or -1 with a sentence when the loop failed or
 * the director's interface is gone. */
int pen_run(struct pen *p, struct error *e);

/* ---- adopt.c: plans become true ---- */

/* Notes the names that `draft` needs and that are not known; all of its names
 * when they are to be looked up again. Returns 0, or -1 with errno ENOMEM. */
int pen_want_names(
    const struct pen *p, const struct plan *draft, bool fresh, struct names *n);
/* Makes `draft` the plan in force, and everything that runs accordingly:
 * servers that stay keep connections, counters, clients and health, those that
 * are gone get no new client. Returns 0, or -1 with a sentence; then nothing has
 * changed. `draft` stays the caller's. */
int pen_adopt(struct pen *p, const struct plan *draft, const struct names *n,
    struct error *e);
/* Both, looking names up on the way, which blocks: at the start only. */
int pen_adopt_now(struct pen *p, const struct plan *draft, struct error *e);

#endif
