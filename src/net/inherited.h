/* inherited.h: listening sockets that another process has opened for this one:
 * systemd (sd_listen_fds(3)), or the pen that this one replaces. A listener is
 * looked up here first, by its address. */
#ifndef PEN_NET_INHERITED_H
#define PEN_NET_INHERITED_H

#include <stdbool.h>

#include "base/addr.h"
#include "base/error.h"

struct inherited_socket {
	int fd; /* owned; -1: taken */
	struct addr at;
	bool datagram;
	bool v6_only;
	bool file_is_ours; /* the file of a Unix socket is removed in the end */
};

/* All zero is an empty list. */
struct inherited {
	struct inherited_socket *list;
	unsigned count;
	uint32_t room;
};

/* Closes what was not taken. */
void inherited_fini(struct inherited *in);

/* Adds a descriptor, and makes it non-blocking and close-on-exec. Returns 0, or
 * -1 with a short message when it is no socket that clients can come to; then
 * it stays the caller's. */
int inherited_add(
    struct inherited *in, int fd, bool file_is_ours, struct error *e);

/* Takes the socket at that address: the descriptor is the caller's then. An
 * IPv6 wildcard fits only where it takes IPv4 clients, or not, as `v6_only`.
 * *file_is_ours: whether its file was made by the one that has passed it.
 * Returns -1 when there is none; `in` may be NULL. */
int inherited_take(struct inherited *in, const struct addr *at, bool datagram,
    bool v6_only, bool *file_is_ours);

/* Whether there is one. */
bool inherited_has(const struct inherited *in, const struct addr *at,
    bool datagram, bool v6_only);

/* The first one at that address, taken or not; NULL: there is none. `in` may be
 * NULL. */
const struct inherited_socket *inherited_find(
    const struct inherited *in, const struct addr *at, bool datagram);

/* Closes those that were not taken, and logs each. */
void inherited_close_rest(struct inherited *in);

#endif
