/* socket.h: the control socket: one line in, one answer out, closed.
 *
 * Any number of addresses, TCP or Unix, many clients at once, each with the
 * access its socket and its user give it. A client gets a fixed time to send
 * its line and, from its last progress on, the same time to read the answer; a
 * silent or slow one costs a descriptor until then and nothing else; when there
 * are too many the one that is silent longest makes room. Errors answer one
 * line beginning "error: ". */
#ifndef PEN_CONTROL_SOCKET_H
#define PEN_CONTROL_SOCKET_H

#include "base/error.h"

struct apply_all;
struct pen;
struct control;

/* Closes everything; NULL is fine. */
void control_free(struct control *c);

/* Accepts from now on; a listener that cannot do so yet retries by itself. */
void control_start(struct control *c);
/* Accepts no client until control_start(); existing clients continue. */
void control_pause(struct control *c);
/* In a child process: all of it is its parent's, clients too. `c` is freed;
 * NULL is fine. */
void control_close_in_child(struct control *c);

/* The control sockets of a plan, as a participant of the start; see apply.h. */
int control_prepare(struct apply_all *a, struct error *e);
void control_cancel(struct apply_all *a);

#endif
