/* pen.h: the one context of the program: what the operator wants, and what does
 * it.
 *
 *     PLANNING   pen_new(): options and files make a draft; apply_plan()
 *        |       checks it and sets its servers, and opens nothing
 *     STARTING   pen_start(): the first apply, which opens everything
 *        |
 *     SERVING    pen_run(): commands and reloads make drafts, apply_plan()
 *        |
 *     DRAINING   stopping_begin(): the same without new clients; left out when
 *        |       the program ends at once
 *        |
 *     STOPPING   pen_stop(): the loop ends, pen_free() */
#ifndef PEN_CONTROL_PEN_H
#define PEN_CONTROL_PEN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "control/life/recent.h"
#include "control/upgrade/executable.h"
#include "control/apply/names.h"
#include "control/life/notify.h"
#include "control/plan/plan.h"
#include "control/answer/reply.h"
#include "control/apply/secure.h"
#include "control/upgrade/takeover.h"
#include "net/inherited.h"
#include "net/loop.h"
#include "net/pieces.h"
#include "control/life/stopping.h"

struct checker;
struct acl_loads;
struct control;
struct director;
struct geoip;
struct on_state;
struct programs;
struct process;
struct refresh;
struct request;
struct requestlog;
struct sessionlog;
struct upgrade;
struct web;

enum phase {
	PHASE_PLANNING,
	PHASE_STARTING,
	PHASE_SERVING,
	PHASE_DRAINING,
	PHASE_STOPPING
};

struct pen {
	enum phase phase;
	struct plan *plan;  /* in force */
	struct plan *given; /* by the command line; a reload begins here */
	struct loop *loop;  /* from STARTING on, as those below */
	struct pool *pool;  /* always there */
	struct frontend *frontend;
	struct secure secure;
	struct checker *checker;
	struct director *director; /* NULL: no direct return */
	struct control *control;
	struct pieces replies; /* of control and web, together */
	struct geoip *geoip; /* NULL: no database of countries */
	struct resolver *resolver;
	struct refresh *refresh; /* of names; from SERVING on */
	uint64_t names_ttl_ms;	 /* of those that the start has looked up */
	struct requestlog *log;	  /* NULL: none */
	struct sessionlog *sessionlog; /* NULL: none */
	struct web *web; /* pages; NULL: none */
	uint64_t started_ms; /* of the loop */
	int64_t started_wall; /* seconds since 1970 */
	int64_t loaded_wall;  /* the same: the last reload that succeeded, or
			       * the start */
	bool reload_failed;   /* the last one */
	struct request *reload;	  /* of SIGHUP, while it waits for names */
	struct programs *programs;
	struct on_state *on_state;
	const char *who;      /* gave the command that is applied; or NULL */
	bool remote;		  /* and is on TCP: may not set programs */
	struct acl_loads *loads; /* of that command; NULL: it may wait */
	struct server_index *index; /* of the servers in force */
	struct timer revival; /* see states.h */
	struct recent recent;
	struct stopping stopping; /* in DRAINING */
	size_t descriptors;	  /* the process may have; 0: not known yet */
	uint64_t control_clients; /* at a time */
	/* Listening sockets of others, until the first apply is over. */
	struct inherited inherited;
	struct notify notify; /* the service manager */
	struct executable executable;
	struct process *process;  /* main's; NULL: none */
	struct takeover takeover; /* from another process, at the start */
	struct upgrade *upgrade;  /* to another one; NULL: none */
	bool replaced;		  /* another one serves, and this one drains */
	pid_t successor;	  /* that one; 0: it has ended */
};

/* A context with default settings and an empty pool, or NULL (ENOMEM). */
struct pen *pen_new(void);
/* Stops and frees everything; NULL is fine. */
void pen_free(struct pen *p);

/* Opens the loop and everything that the plan in force wants, and catches
 * signals. Nothing is accepted until pen_run(). Returns 0, or -1 with a
 * sentence. */
int pen_start(struct pen *p, struct error *e);
/* Serves until told to stop. Returns 0, or -1 with a sentence if the loop has
 * failed or the director's interface is gone. */
int pen_run(struct pen *p, struct error *e);
/* Ends pen_run(). Has no effect before the program serves. */
void pen_stop(struct pen *p);
/* The same, with a log line: `who` has asked for it. */
void pen_stop_by(struct pen *p, const char *who);

/* Opens the control sockets of a plan. Returns 0, or -1 with a sentence and
 * none open. */
int pen_open_control(struct pen *p, const struct plan *plan, struct error *e);
void pen_close_control(struct pen *p);

#endif
