/* sandbox.h: what the process gives up once all is open: the setting sandbox.
 *
 *     programs   a process that was forked before starts those of the
 *                configuration, and pen's own (net/program/starter.h)
 *     files      only in the directories of its own (sandbox_files.h)
 *     calls      only those that serving needs; sockets of Unix and IP alone,
 *                but with direct server return (sandbox_calls.h)
 *
 * None of it can be undone, and processes that are forked have it, too. */
#ifndef PEN_CONTROL_SANDBOX_H
#define PEN_CONTROL_SANDBOX_H

#include <sys/types.h>

#include "base/error.h"
#include "control/life/context.h"

struct sandbox {
	int files; /* a set of rules; -1: none */
};

/* Notes the files of the plan as their paths are now: to be called before the
 * root changes. Nothing without the setting, nor do the next. Returns 0, or -1
 * with a full message. */
int sandbox_open(struct sandbox *s, const struct pen *p, struct error *e);
/* Forks p->starter. Returns 0 in it, its number in pen, or -1 with a full
 * message; 1 where none is needed. */
pid_t sandbox_fork(struct pen *p, struct error *e);
/* Gives everything up. Returns 0, or -1 with a full message. */
int sandbox_enter(struct sandbox *s, struct pen *p, struct error *e);

#endif
