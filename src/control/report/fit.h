/* fit.h: files that are there while this process, or a service of it, is fit to
 * have its address: for programs that move or announce addresses (keepalived,
 * BIRD).
 *
 *     pen ----- creates it: "1\n"; removes it ----> fit_file
 *      '-pipe-> guard --- removes it when pen has been killed --^
 *
 * A service is fit if the process serves and is not stopping, and it has a
 * server that is up and, with direct return, a carrier; after a start, where
 * servers are checked, one that has passed a check. The process is fit if any
 * service that listens is: where servers are down, they are so for all hosts,
 * and an address that all withdraw takes the other services with it. Which
 * files there are is set by the start. The guard is a process forked before the
 * sandbox; it does nothing else. A file is locked as long as its process
 * lives. With workers all of this is the leader's. */
#ifndef PEN_CONTROL_FIT_H
#define PEN_CONTROL_FIT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct executable;
struct pen;
struct service;

/* Whether a service can serve: as its file shows, once it was fit. */
bool fit_service(const struct service *svc);

/* Checks, after privileges were dropped, whether the files that are wanted
 * could be made, and are different ones. Returns 0, or -1 with a full
 * message. */
int fit_try(const struct pen *p, struct error *e);
/* Then: forks the guard if files are wanted, and removes what an earlier
 * process has left, unless that still serves. Returns 0 in the guard, its
 * number or 1 in pen, -1 with a message. */
pid_t fit_fork(struct pen *p, struct error *e);
/* The guard (fit_guard.h): returns when pen has ended. `x` is pen's. */
void fit_guard(const struct pen *p, struct executable *x);
/* A start has failed: removes what an earlier process has left. No effect if
 * another process keeps the file. */
void fit_clear(const struct pen *p);

/* Keeps the files up to date from now on; no effect without one, as below. */
void fit_start(struct pen *p);
/* Another process keeps them from now on. */
void fit_hand_over(struct pen *p);
/* In a worker: leaves the files to its leader. */
void fit_stop_in_child(struct pen *p);
/* Removes the files. */
void fit_free(struct pen *p);

#endif
