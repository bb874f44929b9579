/* team.h: what this process is among those that serve together.
 *
 *     alone     serves clients itself: as long as the setting workers is 1
 *     leader    has control, pages, checks, names, programs; serves no client
 *     worker    serves clients, and does what the leader sends
 *
 * What leader and workers do for each other is in control/workers; what stands
 * below it comes to it by the functions here. */
#ifndef PEN_CONTROL_TEAM_H
#define PEN_CONTROL_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct call;
struct pool_share;
struct pen;
struct server;
struct service;
struct worker;
struct workers;

/* The command that is applied now, for the workers to do the same; no line:
 * names were looked up again. */
struct team_change {
	const char *line;
	size_t length;
	const char *service; /* that is meant; "": the first */
};

struct team {
	unsigned size;		  /* workers; 1: alone */
	unsigned member;	  /* of a worker: 1 .. size; 0: no worker */
	struct workers *workers;  /* of a leader, NULL: it is none */
	struct worker *worker;	  /* of a worker, NULL: it is none */
	struct pool_share *share; /* of connections to servers; NULL: alone */
	bool quiet; /* what is changed here is known to all the others */
	struct team_change change;

	/* ---- functions of the leader ---- */
	/* Makes the counters of this process the sums over all workers. */
	void (*count)(struct pen *p);
	/* Those whom the command concerns carry it out; c->wait is set for
	 * their answers. Returns 0, or -1 with a short message. */
	int (*ask)(
	    struct call *c, const char *line, size_t length, struct error *e);
	/* Workers take no new clients; when it ends is the leader's to say. */
	void (*drain)(struct pen *p);
	/* All workers read what is read again on SIGHUP. */
	void (*hang_up)(struct pen *p);
	/* ---- of both ---- */
	/* The state of a server has changed. */
	void (*tell_state)(struct service *svc, const struct server *s);
};

/* A worker that does what its leader does, too, is quiet meanwhile: nothing is
 * logged, nor sent to others. The level of the log is the plan's afterwards. */
void team_hush(struct pen *p, bool quiet);

/* Numbers of sessions and flows are those of their worker, in turn, so that no
 * two have the same. */
static inline uint64_t
team_number(const struct team *t, uint64_t own)
{
	return t->member == 0 ? own : own * t->size + (t->member - 1);
}

static inline uint64_t
team_own_number(const struct team *t, uint64_t number)
{
	return t->member == 0 ? number : number / t->size;
}

#endif
