/* upgrade_private.h: the inside of an upgrade, for upgrade.c (its steps) and
 * upgrade_end.c (its end, and notifications). */
#ifndef PEN_CONTROL_UPGRADE_PRIVATE_H
#define PEN_CONTROL_UPGRADE_PRIVATE_H

#include "base/buffer.h"
#include "base/list.h"
#include "control/answer/wait.h"
#include "control/handover/handover_state.h"
#include "control/upgrade/upgrade.h"
#include "control/upgrade/upgrade_start.h"
#include "net/loop/loop.h"

/* Bytes that are kept of the new process's output. */
enum { UPGRADE_SAID_MAX = 4096 };

enum upgrade_result { UPGRADE_WAITS, UPGRADE_DONE, UPGRADE_FAILED };

/* A command whose answer waits for the end. */
struct upgrade_waiter {
	struct wait wait;
	struct list link; /* while the result is UPGRADE_WAITS */
	enum upgrade_result result;
	pid_t pid;	  /* of the new process; 0: it has not begun */
	struct error why; /* FAILED: a short message */
};

enum upgrade_stage {
	UPGRADE_STARTING,
	UPGRADE_TELLING,
	UPGRADE_TOLD,
	UPGRADE_SWITCHING,
	UPGRADE_SWITCHED,
	UPGRADE_ENDING
};

struct upgrade {
	struct pen *pen;
	enum upgrade_stage stage;
	struct upgrade_child child;
	struct watch watch, error_watch;
	struct timer timer;
	struct handover_state_writer state;
	bool of_workers;   /* their parts are sent, not this process's */
	bool gathers;	   /* the first one has been */
	struct buffer out; /* not sent yet */
	struct passed sockets; /* of flows: they go with its first byte */
	bool takes_sockets;    /* the new process does */
	uint64_t drain_ms;
	char said[UPGRADE_SAID_MAX];
	size_t said_length;
	const char *why; /* it failed */
	bool hangup;	 /* SIGHUP came meanwhile */
	int steps, reaps;
	int reported; /* descriptors, as taken or not */
	struct list waiters;
	struct task task; /* frees */
};

/* Some lines of the new process can be read. */
void upgrade_receive(struct upgrade *u);
/* Calls those that wait. `why` is of UPGRADE_FAILED, else NULL. */
void upgrade_emit_waiters(
    struct upgrade *u, enum upgrade_result result, const struct error *why);

/* It has failed, which is logged when it has ended; the old process goes on as
 * if nothing had happened. */
void upgrade_fail(struct upgrade *u, const char *why, bool kill_it);
/* The new process has failed, and may have ended by now. */
void upgrade_reap(struct upgrade *u);
/* The new process serves: this one drains. */
void upgrade_finish(struct upgrade *u);
/* Closes all, and frees it later. */
void upgrade_discard(struct upgrade *u);

#endif
