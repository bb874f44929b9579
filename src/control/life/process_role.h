/* process_role.h: the role of this process among those that serve together.
 *
 *     alone     serves clients itself: as long as the setting workers is 1
 *     leader    has control, pages, checks, names, programs; serves no client
 *     worker    serves clients, and does what the leader sends
 *
 * What leader and workers do for each other is in control/workers; what is
 * below that calls it by the functions here. */
#ifndef PEN_CONTROL_PROCESS_ROLE_H
#define PEN_CONTROL_PROCESS_ROLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "proxy/datagram/flow_past.h"

struct call;
struct passed;
struct pool_share;
struct pen;
struct server;
struct service;
struct wait;
struct worker;
struct workers;

/* The command that is run now, for the workers to run it, too; no line: names
 * were resolved again. */
struct process_role_change {
	const char *line;
	size_t length;
	const char *service; /* that is meant; "": the first */
	/* Configuration files: of a leader those that the command has read, of
	 * a worker those that it has not read yet of these; each its path and
	 * its text, with their NULs. */
	struct buffer files;
};

/* A flow of workers that are gone, or of an older process. */
struct worker_flow {
	struct service *service;
	struct server *server;
	struct flow_past past;
};

struct process_role {
	unsigned size;		  /* workers; 1: alone */
	unsigned member;	  /* of a worker: 1 .. size; 0: no worker */
	struct workers *workers;  /* of a leader, NULL: it is none */
	struct worker *worker;	  /* of a worker, NULL: it is none */
	struct pool_share *share; /* of connections to servers; NULL: alone */
	bool muted; /* all others have made the change that this one makes */
	struct process_role_change change;
	struct buffer flows; /* struct worker_flow: of workers to be forked */

	/* ---- functions of the leader ---- */
	/* Makes the counters of this process the sums over all workers. */
	void (*count)(struct pen *p);
	/* .. those of a server. */
	void (*count_server)(struct pen *p, struct server *s);
	/* Sets the counters of a service to zero. */
	void (*clear)(struct service *svc);
	/* The workers that the command concerns run it; c->wait is set for
	 * their answers. Returns 0, or -1 with a short message. */
	int (*run)(
	    struct call *c, const char *line, size_t length, struct error *e);
	/* What the answer of a command waits for that is in force: if it takes
	 * addresses away, until no worker listens there. NULL: nothing. */
	struct wait *(*await_close)(struct pen *p);
	/* Workers take no new clients; the leader decides when it ends. */
	void (*drain)(struct pen *p);
	/* Whether there are workers yet: one that drains ends after its last
	 * session. Before it drains, clients may wait in its backlogs. */
	bool (*has_workers)(const struct pen *p);
	/* No worker accepts or receives anything from now on, or all do. */
	void (*pause)(struct pen *p, bool pause);
	/* Another process has all listeners, and new clients: workers serve
	 * those that they have to their end. */
	void (*hand_over)(struct pen *p);
	/* Appends a piece of what the workers have of their clients: of the
	 * client tables, or of the flows when they are paused, as
	 * handover_state.h has them, and the sockets of these to `sockets`
	 * unless that is NULL. Each walk begins with `first`. Returns 1 if
	 * there is more, 0 after the last piece, -1 without memory. */
	int (*gather)(struct pen *p, bool flows, bool first, struct buffer *out,
	    struct passed *sockets);
	/* All workers read what is read again on SIGHUP. */
	void (*hang_up)(struct pen *p);
	/* ---- of both ---- */
	/* There may be new services, servers and routes. */
	void (*join)(struct pen *p);
	/* The state of a server has changed. */
	void (*share_state)(struct service *svc, struct server *s);
};

/* A command begins, on a draft, and ends. */
void process_role_begin_change(
    struct pen *p, const char *line, size_t length, const char *service);
void process_role_end_change(struct pen *p);
/* A configuration file has been read. Returns 0, or -1 with a full message. */
int process_role_add_file(struct pen *p, const char *path,
    const struct buffer *text, struct error *e);
/* The same file for a worker, with its NUL, appended to `text`. Returns 0, or
 * -1 with a full message: its leader has read another one. */
int process_role_next_file(
    struct pen *p, const char *path, struct buffer *text, struct error *e);

/* A worker that repeats a change of its leader is muted meanwhile: it logs
 * nothing, and sends nothing to others. Afterwards the log level is that of the
 * plan. */
void process_role_mute(struct pen *p, bool muted);

/* Numbers of sessions and flows are those of their worker, in turn, so that no
 * two have the same. */
static inline uint64_t
worker_number(const struct process_role *t, uint64_t own)
{
	return t->member == 0 ? own : own * t->size + (t->member - 1);
}

static inline uint64_t
worker_own_number(const struct process_role *t, uint64_t number)
{
	return t->member == 0 ? number : number / t->size;
}

#endif
