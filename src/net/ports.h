/* ports.h: the local ports of one address, for sockets of datagrams.
 *
 *     first                 first + free
 *       | free, longest first  |  taken  |      (a ring)
 *
 * The kernel binds an unbound socket to a random port that is free in the whole
 * host, and searches long for one of the last. Who knows which ports are its own
 * need not search, and can let a port rest before it is used again, so that what
 * was meant for its last user does not reach the next. */
#ifndef PEN_NET_PORTS_H
#define PEN_NET_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

struct ports {
	uint16_t *ring; /* owned */
	unsigned room;	/* all ports; 0: not known, ask the kernel */
	unsigned first, free;
	struct hash_key secret; /* nobody can foretell which is next */
	uint64_t drawn;
};

/* Those that the system gives out. On Linux that is net.ipv4.ip_local_port_range
 * less ip_local_reserved_ports (ip(7)); elsewhere none are known. Returns 0, or -1
 * with errno ENOMEM. */
int ports_init(struct ports *p);
/* The same from the texts of the two settings, "32768\t60999\n" and
 * "8080,9000-9100\n". */
int ports_init_from(struct ports *p, const char *range, const char *reserved);
/* Those of another address: `from`, of which none has been taken, once more. */
int ports_init_like(struct ports *p, const struct ports *from);
void ports_fini(struct ports *p);

/* How many may be taken at a time: a twentieth is left to others, and to rest. */
unsigned ports_most(const struct ports *p);
/* Whether so many are. */
bool ports_are_short(const struct ports *p);
/* One of those that have rested longest, at random; 0: there is none. Others on
 * this host may have it: then it is to be given back. */
uint16_t ports_take(struct ports *p);
/* 0 is fine. */
void ports_give(struct ports *p, uint16_t port);

#endif
