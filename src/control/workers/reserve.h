/* reserve.h: processes that do nothing, and end for others to take their
 * places: whether the system has room for so many (RLIMIT_NPROC, pids.max,
 * memory) shows only when they are there. */
#ifndef PEN_CONTROL_RESERVE_H
#define PEN_CONTROL_RESERVE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "net/sock_group.h"

struct reserve {
	unsigned count;
	int fd; /* they end with it, if count > 0 */
	pid_t pid[SOCK_GROUP_MAX];
};

/* Begins so many, SOCK_GROUP_MAX at most, instead of those that are there.
 * Returns 0, or -1 with a full message; then there is none. */
int reserve_fill(struct reserve *r, unsigned count, struct error *e);
/* Ends one, if there is one: a process may begin in its place. */
void reserve_take(struct reserve *r);
bool reserve_has(const struct reserve *r, pid_t pid);
/* Ends all. */
void reserve_empty(struct reserve *r);
/* In a child process: leaves the processes of the reserve to its parent. */
void reserve_forget(struct reserve *r);

#endif
