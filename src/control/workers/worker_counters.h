/* worker_counters.h: counters of workers, in memory that they share with their
 * leader: a record for each service, server and route. Each worker writes its
 * own part; the last part is the leader's, which reads all of them at any
 * time. That part has what workers counted that have ended, less the sums at
 * the last `clear`: what is reported is the sum of all parts.
 *
 * A record has its place once: a new set of workers has memory of its own, and
 * the same places. Peaks and recent times cannot be taken off a sum: `clear`
 * sets them to zero in the parts of workers, which begin them anew. */
#ifndef PEN_CONTROL_WORKER_COUNTERS_H
#define PEN_CONTROL_WORKER_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/workers/shared_memory.h"

struct pen;
struct server;
struct service;

/* Gives places to records that have none. In a worker they count there from now
 * on; with `begins` all do, from zero. The leader's part gets what they have
 * counted before. */
void worker_counters_join(struct pen *p, struct shared_memory *m, bool begins);

/* ---- in the leader ---- */
/* Sets the leader's own counters to the sums of all parts. Peaks are added up
 * over the workers that get new clients, and never get smaller. */
void worker_counters_sum(struct pen *p);
void worker_counters_sum_server(struct pen *p, struct server *s);
/* The leader's part of `to` gets what a part of `from` has, whose process is
 * gone. */
void worker_counters_move(struct pen *p, const struct shared_memory *to,
    const struct shared_memory *from, unsigned part);
/* A service counts anew. */
void worker_counters_clear(struct service *svc);
/* Where lines of the leader's log that are lost count. */
uint64_t *worker_counters_lines_lost(
    const struct pen *p, const struct shared_memory *m);

#endif
