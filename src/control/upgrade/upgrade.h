/* upgrade.h: the side of an upgrade that serves until now: it starts the
 * program on disk, which takes over; see takeover.h for that side.
 *
 *     old: upgrade_begin()                        new
 *     STARTING   starts it, with the sockets -->  opens all that it needs
 *     TELLING    what it has learned         <--  PREPARED
 *                STATE .. ASK                -->  takes it
 *     SWITCHING  stops accepting             <--  LOADED
 *                flows: STATE .. GO          -->  takes them, accepts
 *                drains                      <--  SERVING
 *
 * Both have the same listening sockets, so a client that comes while nobody
 * accepts waits. Until the last step all is as it was: if the new process ends,
 * fails or takes longer than half a minute, or two seconds while nobody
 * accepts, it is killed, and the old one goes on. Sessions and flows of the old
 * one go on to their end. */
#ifndef PEN_CONTROL_UPGRADE_H
#define PEN_CONTROL_UPGRADE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/list.h"

struct pen;
struct upgrade;

/* Somebody who wants to know how an upgrade goes; all zero: nobody. */
enum upgrade_result {
	UPGRADE_NONE,
	UPGRADE_WAITS, /* it is under way */
	UPGRADE_DONE,
	UPGRADE_FAILED
};
struct upgrade_waiter {
	struct list link;
	enum upgrade_result result;
	pid_t pid;	  /* of the new process */
	struct error why; /* FAILED: a phrase */
	/* Called when it is over, and every five seconds until then. */
	void (*on_news)(struct upgrade_waiter *w);
};

/* Starts an upgrade; how it ends is logged. Sessions that are left `drain_ms`
 * after it are ended; 0: they have all the time they want. `who` asks for it,
 * for the log. Returns 0, or -1 with a phrase that says why there can be none
 * now. */
int upgrade_begin(
    struct pen *p, uint64_t drain_ms, const char *who, struct error *e);
/* Whether one is under way: nothing may change its configuration then, or the
 * new process would have another one. */
bool upgrade_is_under_way(const struct pen *p);
/* Tells `w`, whose on_news is set, of the upgrade that is under way. */
void upgrade_wait(struct pen *p, struct upgrade_waiter *w);
/* Tells it nothing more; fine on nobody. */
void upgrade_wait_cancel(struct upgrade_waiter *w);
/* SIGHUP came. It is passed on to the process that has taken over; one that
 * comes during an upgrade is kept for whoever serves after it. */
void upgrade_pass_hangup(struct pen *p);
/* Kills the new process, if one is under way. Frees. NULL is fine. */
void upgrade_free(struct upgrade *u);

#endif
