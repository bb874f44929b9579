/* wait.h: what the answer of a command waits for, once the command is in force:
 * that a server has no connections, or the end of an upgrade. A handler makes
 * one, the caller of the handler owns it. */
#ifndef PEN_CONTROL_WAIT_H
#define PEN_CONTROL_WAIT_H

#include "base/buffer.h"
#include "base/error.h"

struct service;
struct wait;

enum wait_result { WAIT_ON, WAIT_DONE, WAIT_FAILED };

struct wait_kind {
	/* The command is in force. on_wake is set. */
	void (*begin)(struct wait *w, struct service *svc);
	/* After begin(), and whenever on_wake() was called: adds to the reply.
	 * WAIT_FAILED comes with a full message. */
	enum wait_result (*go_on)(
	    struct wait *w, struct buffer *out, struct error *e);
	/* Ends the wait, which may have begun, and frees it. */
	void (*end)(struct wait *w);
};

/* The first member of what a kind keeps. */
struct wait {
	const struct wait_kind *kind;
	void (*on_wake)(struct wait *w);
	void *arg; /* the owner's */
};

#endif
