/* fit_guard.h: removes the files of fit.h when pen has been killed.
 *
 *     pen --pipe--> guard --socket--> twin
 *
 * The end of the pipe is pen's. The twin takes the place of a guard that is
 * killed, and the guard forks another one for a twin that is. Both have a name
 * of their own, "fit-guard", a session of their own, and ignore all signals but
 * SIGKILL, so that what is sent to pen does not end them. */
#ifndef PEN_CONTROL_FIT_GUARD_H
#define PEN_CONTROL_FIT_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

#include "control/life/executable.h"

struct fit_guard {
	int fd;	    /* the pipe: pen's end, in the guard its own; -1: none */
	char *ours; /* memory that both share: whether pen has the files */
};

/* Returns 0 in the guard, its number in pen, or -1 with errno. */
pid_t fit_guard_fork(struct fit_guard *g);
/* The guard: returns when pen has ended, and the files, ended by NULL, are gone
 * if they were pen's. `x` is of pen, whose memory becomes the name. */
void fit_guard_serve(
    struct fit_guard *g, const char *const *files, struct executable *x);
/* Leaves the files to the guard; in pen, and in its children. */
void fit_guard_close(struct fit_guard *g);

/* Whether a process keeps the file, and has it locked. */
bool fit_is_kept(const char *file);

#endif
