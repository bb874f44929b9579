/* starter.h: a process that starts programs for pen, which gives up the right
 * to do so (control/life/sandbox.h). It was forked before, and so has what
 * programs need.
 *
 *     pen  --- program_start(), upgrade ---> starter
 *      '-- child: the program <--------------- clone(CLONE_PARENT)
 *
 * What it starts is a child of pen, which waits for it, and kills it, as if it
 * had started it itself. It starts two kinds of programs:
 *
 *     permitted   those of starter_permit(), with these arguments; in their
 *                 environment only PEN_* is from the request
 *     successor   pen's own, with its own arguments, PEN_UPGRADE added
 *
 * There are two of them: if the one that is used is killed, the other takes its
 * place, and makes another one to replace itself. They end when pen has ended.
 * Linux only: elsewhere starter_new() returns NULL
 * with errno ENOSYS. */
#ifndef PEN_NET_STARTER_H
#define PEN_NET_STARTER_H

#include <stdbool.h>
#include <sys/types.h>

#include "net/program/program_exec.h"

struct starter;

/* `path` and `argv`, of the successor, outlive it; a NULL path: there is none.
 * With `tries` it starts every program, and what it would refuse is logged.
 * NULL with errno. */
struct starter *starter_new(const char *path, char *const *argv, bool tries);
/* Closes pen's end; NULL is fine. */
void starter_free(struct starter *s);

/* Before starter_fork(): permits a program, whose arguments are patterns
 * (patterns.h). Returns 0, or -1 with errno ENOMEM. */
int starter_permit(struct starter *s, char *const *argv);
/* Before it, too: the successor gets another word in its environment, which is
 * the starter's from now on; NULL: none. */
void starter_bound(struct starter *s, char *word);
/* Whether a program of that path is permitted. */
bool starter_has(const struct starter *s, const char *path);
/* Whether it is permitted with these arguments. */
bool starter_permits(const struct starter *s, char *const *argv);

/* Returns 0 in the new process, its number in pen, or -1 with errno. */
pid_t starter_fork(struct starter *s);
/* Replaces starters that were killed, as long as one of them is left. Called by
 * pen after starter_fork(), and whenever a child has ended. */
void starter_mend(struct starter *s);
/* Whether none is there any more: then nothing can be started. */
bool starter_has_ended(const struct starter *s);
/* In the new process: closes all but the standard files, and serves until pen
 * has ended. Returns the exit status. */
int starter_serve(struct starter *s);

/* As program_exec(). -1 with errno EPIPE when all are gone. A program
 * that is not permitted cannot be executed, EPERM. */
pid_t starter_exec(struct starter *s, const struct program_exec *x, int *error);
/* Starts the successor, with copies of these descriptors, the first as 3, and
 * with `errors` as standard error; `word` is PEN_UPGRADE=... Returns it, a
 * child of this process, or -1 with errno. */
pid_t starter_succeed(struct starter *s, const int *fd, unsigned count,
    int errors, const char *word);

#endif
