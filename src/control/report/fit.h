/* fit.h: a file that is there while this process is fit to have the service's
 * address: for programs that move or announce addresses (keepalived, BIRD).
 *
 *     pen ----- creates it: "1\n"; removes it ----> fit_file
 *      '-pipe-> guard --- removes it when pen has been killed --^
 *
 * Fit means: serving and not stopping, each service that listens has a server
 * that is up and, with direct return, a carrier; after a start, where servers
 * are checked, one has passed a check. The guard is a process forked before the
 * sandbox; it does nothing else. The file is locked as long as its process
 * lives. With workers all of this is the leader's. */
#ifndef PEN_CONTROL_FIT_H
#define PEN_CONTROL_FIT_H

#include <sys/types.h>

#include "base/error.h"

struct executable;
struct pen;

/* After the privileges are dropped: whether the file, if one is wanted, could
 * be made. Returns 0, or -1 with a full message. */
int fit_try(const struct pen *p, struct error *e);
/* Then: forks the guard if a file is wanted, and removes what an earlier
 * process has left, unless that still serves. Returns 0 in the guard, its
 * number or 1 in pen, -1 with a message. */
pid_t fit_fork(struct pen *p, struct error *e);
/* The guard (fit_guard.h): returns when pen has ended. `x` is pen's. */
void fit_guard(const struct pen *p, struct executable *x);
/* A start has failed: removes what an earlier process has left. No effect if
 * another process keeps the file. */
void fit_clear(const struct pen *p);

/* Keeps the file up to date from now on; no effect without one, as below. */
void fit_start(struct pen *p);
/* Another process keeps it from now on. */
void fit_leave(struct pen *p);
/* In a worker: its leader keeps it. */
void fit_forget(struct pen *p);
/* Removes the file. */
void fit_free(struct pen *p);

#endif
