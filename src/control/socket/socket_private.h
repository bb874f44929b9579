/* socket_private.h: the inside of the control socket, for socket.c (addresses,
 * access) and client.c (lines and answers). */
#ifndef PEN_CONTROL_SOCKET_PRIVATE_H
#define PEN_CONTROL_SOCKET_PRIVATE_H

#include "base/addr.h"
#include "base/list.h"
#include "control/value/access.h"
#include "net/loop/timeouts.h"

struct pen;

struct control {
	struct pen *pen;
	struct loop *loop;
	struct list listeners;
	struct list clients;  /* struct client; the longest silent one first */
	unsigned count, most; /* clients */
	struct timeouts idle;
};

/* How long one may be silent, or not read. */
enum { IDLE_MS = 30000 };

/* Serves the client `who` on `fd`, which it takes over. */
void client_start(
    struct control *c, int fd, const struct peer *who, enum access access);
/* Closes the one that has been silent longest. */
void client_close_oldest(struct control *c);
/* Closes all, without a word. */
void clients_close_in_child(struct control *c);
/* One was silent for too long: for the queue of timeouts. */
void client_on_idle(struct timeouts *t, struct expiry *x);

#endif
