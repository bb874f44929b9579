/* predecessor.h: the process that this one takes over from; see takeover.h. */
#ifndef PEN_CONTROL_PREDECESSOR_H
#define PEN_CONTROL_PREDECESSOR_H

#include <stdbool.h>

#include "net/passed.h"

struct link_past;
struct predecessor_link; /* private: of an interface of a director */

struct predecessor {
	int fd;	      /* to the old process; -1: there is none */
	int error_fd; /* its standard error; -1: none */
	int blame_fd; /* where it reads why this one fails; -1: not yet */
	bool reports; /* it expects reports about its sockets */
	bool flows;   /* it hands over sockets of flows */
	bool rooted;  /* in the root directory of the configuration already */
	struct predecessor_link *links; /* owned */
	struct passed sockets; /* of flows, which have come with its state */
};

void predecessor_init(struct predecessor *t);
void predecessor_fini(struct predecessor *t);
/* Adds what it had of an interface: without descriptors yet, of which there may
 * be DIRECTOR_FDS_MAX, and which are owned until they are -1. NULL without
 * memory. */
struct link_past *predecessor_add_link(
    struct predecessor *t, const char *interface, const char *kind);
/* What the older process had open on the interface; NULL: nothing. */
struct link_past *predecessor_link(
    const struct predecessor *t, const char *interface);
static inline bool
predecessor_is_there(const struct predecessor *t)
{
	return t->fd >= 0;
}

#endif
