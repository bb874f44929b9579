/* logs.h: the logs about clients that this process writes: of what they send
 * first, of sessions, and of requests of HTTP. */
#ifndef PEN_CONTROL_LOGS_H
#define PEN_CONTROL_LOGS_H

#include <stdbool.h>
#include <sys/types.h>

struct pen;

/* Opens their files again; those that cannot be opened stay as they are, and
 * with `logs` the log of pen reports them. */
void logs_reopen(struct pen *p, bool logs);
/* The same of those that were moved away since. */
void logs_follow(struct pen *p);
/* Makes the user the owner of files that are pen's alone. */
void logs_set_owner(struct pen *p, uid_t user);

#endif
