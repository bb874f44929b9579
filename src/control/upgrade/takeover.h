/* takeover.h: the side of an upgrade that begins to serve; see upgrade.h for
 * the other one, and for the protocol.
 *
 *     takeover_begin()     what the old process passed is at hand
 *     a start as any other, with the sockets of the old process
 *     takeover_wait()      takes its state; then it does not accept
 *     takeover_finish()    we do: the old process drains
 *
 * Nothing here depends on valid or complete messages of the old process: an
 * invalid state is as none. */
#ifndef PEN_CONTROL_TAKEOVER_H
#define PEN_CONTROL_TAKEOVER_H

#include <stdbool.h>

#include "base/error.h"

struct pen;
struct process;

/* The messages between the two sides. This does not depend on the version of
 * the state, and must never change. */
enum {
	/* the old one: */
	TAKEOVER_STATE = 'D', /* a part of the state: its length, 4 bytes; it */
	TAKEOVER_ASK = 'A',   /* have you got all that so far? */
	TAKEOVER_GO = 'G',    /* I do not accept any more */
	/* the new one, to one that passed reports=1: descriptor 3 of those that
	 * were passed, 4, and so on, up to the last one that is not taken */
	TAKEOVER_TAKEN = '+',
	TAKEOVER_UNTAKEN = '-', /* a socket that is not listened on here */
	/* the same to one that passed flows=1: sockets of flows are taken */
	TAKEOVER_SOCKETS = 'F',
	/* and to any: */
	TAKEOVER_PREPARED = 'P', /* all is open: send your state */
	TAKEOVER_LOADED = 'L',	 /* the answer to ASK */
	TAKEOVER_SERVING = 'S'	 /* I accept */
};
enum { TAKEOVER_PART_MAX = 64 * 1024 };

/* Reads PEN_UPGRADE, and removes it: adds the sockets to p->sockets, and
 * gives the pid file to `proc` and the service manager to p->notify. What is
 * not right there is left out. */
void takeover_begin(struct pen *p, struct process *proc);

/* Reports which listening sockets are not taken, before they are closed. */
void takeover_report(const struct pen *p);

/* Everything is open: takes over the state of the old process, until that has
 * stopped accepting, or is gone. Blocks. Returns 0, or -1 with a full message
 * when the old process is silent for too long. */
int takeover_wait(struct pen *p, struct error *e);
/* This process fails after that: the old one gets the message, which is in its
 * answer, and in its log. */
void takeover_blame(const struct pen *p, const struct error *e);
/* Clients are accepted: reports it to the old process, whose socket files are
 * this process's from now on. */
void takeover_finish(struct pen *p);

#endif
