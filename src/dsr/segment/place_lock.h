/* place_lock.h: one director on an interface for an address and port of clients':
 * two would pass each frame on twice, or to two servers.
 *
 * On Linux a lock is a socket with an abstract name, unix(7): names are those of the
 * network namespace, as interfaces are, and go with the process. Anybody may take
 * such a name, so only root's, our own user's and those of a user that the caller names
 * count. A lock whose queue of connections is full tells nobody whose it is, and
 * counts: place_locks_drain() keeps it empty. Elsewhere there are no locks. */
#ifndef PEN_DSR_PLACE_LOCK_H
#define PEN_DSR_PLACE_LOCK_H

#include <sys/types.h>

#include "base/addr.h"
#include "base/error.h"

struct place_locks {
	int *fd; /* owned; -1: not locked */
	struct peer *place;
	unsigned count;
};

/* Locks these places (port 0: any of that address) on the interface of that number, but
 * for those that `held` has. `user`: whom this process will be, or was when other
 * locks were taken. May sleep for a tenth of a second when another process begins at
 * the same moment. Returns 0, or -1 with a sentence when another process has one of
 * them, or there is no memory. */
int place_locks_take(struct place_locks *l, const struct place_locks *held,
    unsigned ifindex, uid_t user, const struct peer *places, unsigned count,
    struct error *e);
/* Lets go who has asked for the locks: to be called every now and then. */
void place_locks_drain(const struct place_locks *l);
/* `held` is what `l` was taken for: others of it are undone. `l` is empty then. */
void place_locks_replace(struct place_locks *held, struct place_locks *l);
void place_locks_free(struct place_locks *l); /* zeroes are fine */

#endif
