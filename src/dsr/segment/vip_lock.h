/* vip_lock.h: keeps a second director from the same VIP on the same interface:
 * two would forward each frame twice, or to two servers.
 *
 * On Linux a lock is a socket with an abstract name, unix(7): names are those
 * of the network namespace, as interfaces are, and go with the process. Anybody
 * may take such a name, so only root's, our own user's and those of a user that
 * the caller names count. A lock whose queue of connections is full tells
 * nobody whose it is, and counts: vip_locks_drain() keeps it empty. Elsewhere
 * there are no locks. */
#ifndef PEN_DSR_VIP_LOCK_H
#define PEN_DSR_VIP_LOCK_H

#include <sys/types.h>

#include "base/addr.h"
#include "base/error.h"

struct vip_locks {
	int *fd; /* owned; -1: not locked */
	struct peer *vip;
	unsigned count;
};

/* Locks these VIPs (port 0: any of that address) on the interface of that
 * number, but for those that `held` has. `user`: whom this process will be, or
 * was when other locks were taken. May sleep for a tenth of a second when
 * another process begins at the same moment. Returns 0, or -1 with a sentence
 * when another process has one of them, or there is no memory. */
int vip_locks_take(struct vip_locks *l, const struct vip_locks *held,
    unsigned ifindex, uid_t user, const struct peer *vips, unsigned count,
    struct error *e);
/* Lets go who has asked for the locks: to be called every now and then. */
void vip_locks_drain(const struct vip_locks *l);
/* `held` is what `l` was taken for: others of it are undone. `l` is empty
 * then. */
void vip_locks_replace(struct vip_locks *held, struct vip_locks *l);
void vip_locks_free(struct vip_locks *l); /* zeroes are fine */

#endif
