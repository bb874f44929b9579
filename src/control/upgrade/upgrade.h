/* upgrade.h: the side of an upgrade that serves until now: it starts the
 * program on disk, which takes over; see takeover.h for that side.
 *
 *     old: upgrade_begin()                        new
 *     STARTING   starts it, with the sockets -->  opens all that it needs
 *                keeps those that it has not <--  reports, which it takes,
 *                                                 and if it takes SOCKETS
 *     TELLING    its state                   <--  PREPARED
 *                STATE .. ASK                -->  takes it
 *     SWITCHING  stops accepting             <--  LOADED
 *                flows: STATE .. GO          -->  takes them, accepts
 *                (with their sockets)
 *                drains                      <--  SERVING
 *
 * Both have the same listening sockets, so a client that comes while no process
 * accepts waits. Until the last step all is as it was: if the new process ends,
 * fails or takes longer than half a minute, or two seconds while no process
 * accepts, it is killed, and the old one continues. Sessions of the old one run
 * to completion, and so do flows whose sockets it did not hand over. */
#ifndef PEN_CONTROL_UPGRADE_H
#define PEN_CONTROL_UPGRADE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct pen;
struct upgrade;
struct wait;

/* Starts an upgrade; how it ends is logged. Sessions that are left `drain_ms`
 * after it are ended; 0: no limit. `who` requests it, for the log. Returns 0,
 * or -1 with a short message why there can be none now. */
int upgrade_begin(
    struct pen *p, uint64_t drain_ms, const char *who, struct error *e);
/* Waits for the end of the upgrade that is under way when the wait begins, with
 * a line every five seconds. NULL with errno ENOMEM. */
struct wait *upgrade_wait_new(void);
/* The stop of this process is requested: an upgrade that is under way has
 * failed. */
void upgrade_cancel(struct pen *p);
/* SIGHUP came. It is passed on to the process that has taken over; one that
 * comes during an upgrade is kept for the process that serves after it. */
void upgrade_pass_hangup(struct pen *p);
/* Whether it is the new process of an upgrade that is under way. */
bool upgrade_awaits(const struct pen *p, pid_t pid);
/* In a child of this process: the upgrade is its parent's. */
void upgrade_forget(struct pen *p);
/* Kills the new process, if one is under way. Frees. NULL is fine. */
void upgrade_free(struct upgrade *u);

#endif
