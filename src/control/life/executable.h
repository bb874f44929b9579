/* executable.h: the program that this process was started from, and its
 * arguments, to start it again when there is another version of it. */
#ifndef PEN_CONTROL_EXECUTABLE_H
#define PEN_CONTROL_EXECUTABLE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct executable {
	char *path;  /* absolute; NULL: not known */
	char **argv; /* as given; ends with NULL */
	char supervisor[16]; /* the parent, if it restarts what has ended */
	pid_t parent;
};

/* Finds out where argv[0] is, in PATH if it has no slash. Symbolic links stay
 * in the path: they may lead to another version later. To be called before the
 * directory, the root or `argv` change. */
void executable_note(struct executable *x, int argc, char *const *argv);
void executable_fini(struct executable *x);

/* Sets the name of a child process that executes no program, at most 15 bytes,
 * also in place of its arguments. */
void executable_rename(struct executable *x, const char *name);

/* Whether the parent of this process is still one of runit, s6, daemontools or
 * supervisord, which follow one process: when it ends, they start another one,
 * though its successor serves. */
bool executable_is_supervised(const struct executable *x);
/* Whether it can be executed now. Returns 0, or -1 with a short message. */
int executable_check(const struct executable *x, struct error *e);

#endif
