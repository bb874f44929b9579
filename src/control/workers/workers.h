/* workers.h: several processes that serve the same clients, each with a loop of
 * its own; see process_role.h.
 *
 *     leader --fork--> worker 1   sockets 1 of all listeners, sessions, flows
 *        |   --fork--> worker 2   sockets 2
 *        |
 *        |-- a change that is in force here: workers make it, too
 *        |-- counters: in shared memory, added up for each report
 *        |-- lists: requested from the workers, joined
 *        '-- states of servers: sent to all by the first to notice
 *
 * The leader keeps the listening sockets of all open. Clients of a worker that
 * is gone wait in its backlogs for the next one, which the leader forks: it has
 * the plan and the states that are in force. */
#ifndef PEN_CONTROL_WORKERS_H
#define PEN_CONTROL_WORKERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct apply;
struct apply_all;
struct pen;
struct worker;
struct workers;

/* How many a plan wants: `auto` is the number of processors at the first
 * call. */
struct plan;
unsigned workers_wanted(struct pen *p, const struct plan *plan);

/* Makes this process the leader of `count` workers, which are not forked yet;
 * an older set serves its sessions to the end. Returns 0, or -1 with a full
 * message. */
int workers_open(struct pen *p, unsigned count, struct error *e);
/* Ends all workers, which reset what sessions they have. NULL is fine. */
void workers_free(struct workers *w);
/* The same of a worker. */
void worker_free(struct worker *w);
/* Forks all of them, and waits until they turn. None accepts before
 * workers_go(). In the child it returns 0 with pen.role.member set; in the
 * leader 0 with none, or -1 with a full message, and none is there. */
int workers_fork_set(struct pen *p, struct error *e);
/* Nothing can fail any more: they accept. Does nothing where there are none. */
void workers_go(struct pen *p);
/* Whether one is to be forked; then the loop has stopped for it. */
bool workers_are_due(const struct pen *p);
/* Forks those that are to be; what fails is logged, and tried again. Returns
 * what workers_fork_set() does. */
int workers_fork(struct pen *p, struct error *e);

/* Whether it is one of this leader. */
bool workers_have(const struct pen *p, pid_t pid);

/* Participants of an apply: what several workers cannot do; and the last one,
 * which has the workers do the same. */
int workers_check(struct apply_all *a, struct error *e);
int workers_check_service(struct apply *a, struct error *e);
int workers_prepare(struct apply_all *a, struct error *e);
void workers_commit(struct apply_all *a);

#endif
