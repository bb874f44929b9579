/* ports.h: the local ports of one address, for UDP sockets.
 *
 *     first                 first + free
 *       | free, longest first  |  taken  |      (a ring)
 *
 * The kernel binds an unbound socket to a random port that is free on the host,
 * and searches long when few are left. pen keeps a ring of free ports instead:
 * it need not search, and a port rests before it is used again, so that late
 * datagrams for its last user do not reach the next one. */
#ifndef PEN_NET_PORTS_H
#define PEN_NET_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

struct ports {
	uint16_t *ring; /* owned */
	unsigned room;	/* all ports; 0: not known, left to the kernel */
	unsigned first, free;
	struct hash_key secret; /* the next one cannot be predicted */
	uint64_t drawn;
};

/* The ports that the system gives out. On Linux that is
 * net.ipv4.ip_local_port_range less ip_local_reserved_ports (ip(7)); elsewhere
 * none are known, and the kernel chooses. The texts of the two settings are
 * "32768\t60999\n" and "8080,9000-9100\n"; `settings` is how the paths of their
 * files begin. Returns 0, or -1 with errno ENOMEM. */
#define PORTS_SETTINGS "/proc/sys/net/ipv4/ip_local_"
int ports_init(struct ports *p, const char *settings);
/* The first port that the system gives out; 0: not known. */
uint16_t ports_first(const char *settings);
/* The same ports for another address: a copy of `from`, of which none is
 * taken. */
int ports_init_like(struct ports *p, const struct ports *from);
/* Other ports are drawn than by a copy of this, as in another process. */
void ports_become(struct ports *p);
void ports_fini(struct ports *p);

/* How many may be taken at a time: a twentieth is left to other programs, and
 * to rest. */
unsigned ports_most(const struct ports *p);
/* Whether so many are. */
bool ports_are_short(const struct ports *p);
/* A random one of those that have rested longest; 0: there is none. Another
 * program may have it: then the caller gives it back and takes another. */
uint16_t ports_take(struct ports *p);
/* Takes that one, which a socket has already. Returns it, or 0: it is none of
 * these, or is taken. Costs as much as there are ports. */
uint16_t ports_take_one(struct ports *p, uint16_t port);
/* 0 is fine. */
void ports_release(struct ports *p, uint16_t port);

#endif
