/* vip_lock.h: keeps a second director from the same VIP on the same interface:
 * two would forward each frame twice, or to two servers.
 *
 * On Linux a lock is a socket with an abstract name, unix(7): names are those
 * of the network namespace, as interfaces are, and go with the process. Any
 * user may take such a name, so only root's, our own user's and those of a user
 * that the caller names count. While the queue of connections of a lock is full
 * its owner cannot be seen, and it counts: vip_locks_drain() keeps the queue
 * empty. Elsewhere there are no locks. */
#ifndef PEN_DSR_VIP_LOCK_H
#define PEN_DSR_VIP_LOCK_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/addr.h"
#include "base/error.h"

struct vip_locks {
	int *fd; /* owned; -1: not locked */
	struct peer *vip;
	unsigned count;
};

/* Locks these VIPs (port 0: any of that address) on the interface of that
 * number, but for those that `kept` has, which are in the way of none. `user`:
 * the user of this process later, or when other locks were taken. May sleep for
 * half a second when another process starts at the same moment. Returns 0, or
 * -1 with a full message when another process has one of them, or there is no
 * memory. */
int vip_locks_take(struct vip_locks *l, const struct vip_locks *kept,
    unsigned ifindex, uid_t user, const struct peer *vips, unsigned count,
    struct error *e);
/* Whether another process has a lock of that address there, of any port. Takes
 * none. */
bool vip_is_locked(unsigned ifindex, uid_t user, const struct peer *vip);
/* Locks of the process that this one replaces: those of the list that are
 * locks, which are -1 there then. Returns 0, or -1 without memory. */
int vip_locks_import(struct vip_locks *l, int *fd, unsigned count);
/* Lists their descriptors. Returns how many. */
unsigned vip_locks_fds(const struct vip_locks *l, int *list);
/* From now on this process owns the locks, which another process has, too. */
void vip_locks_own(const struct vip_locks *l);

/* Closes the connections of processes that looked the locks up: to be called
 * every now and then. */
void vip_locks_drain(const struct vip_locks *l);
/* `kept` is what `l` was taken for: others of it are undone. `l` is empty
 * then. */
void vip_locks_replace(struct vip_locks *kept, struct vip_locks *l);
void vip_locks_free(struct vip_locks *l); /* zeroes are fine */

#endif
