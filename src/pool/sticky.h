/* sticky.h: the memory of clients: which server each used last, and its traffic.
 *
 * Keyed by the client's address, not its port; of IPv6 by its leading bits alone,
 * as one client has a whole /64 (RFC 6177) and could fill the memory with it. An
 * entry is one cache line in an array that grows by slabs; chains and the order
 * of last use are 32-bit numbers in it, so that finding, remembering and
 * forgetting are O(1) and touch few lines of memory at a million clients.
 *
 * A client is proven once it must have had an answer at its address: by accept()
 * of a connection, by a datagram behind an answer. When the memory is full the
 * client seen longest ago is forgotten, a proven one only when there is no other:
 * datagrams with made-up sources drive out their like. One not seen for the
 * tracking time counts as forgotten. */
#ifndef PEN_POOL_STICKY_H
#define PEN_POOL_STICKY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

struct sticky_client {
	uint8_t ip[16]; /* as in struct peer; where it was seen last */
	uint16_t scope;
	uint8_t family;
	bool proven;
	unsigned server; /* index */
	uint64_t seen;	 /* ms */
	uint32_t connects;
	uint32_t newer, older, chain; /* entry numbers; private */
	uint64_t sent;		      /* bytes to the client */
	uint64_t received;	      /* bytes from it */
};

struct sticky; /* private */

/* A memory for up to `max` (1..2^31) clients, or NULL with errno ENOMEM. */
struct sticky *sticky_new(size_t max);
void sticky_free(struct sticky *s);
/* Makes room for up to `max`; never less than before. Returns 0, or -1 with
 * errno ENOMEM. */
int sticky_grow(struct sticky *s, size_t max);
/* How many leading bits of an IPv6 address tell clients apart (1..128); all, at
 * first. Of clients that become one, a proven one is found before others, and
 * else the one seen last. */
void sticky_set_prefix6(struct sticky *s, unsigned bits);
size_t sticky_count(const struct sticky *s);

/* A guess where a client's entry is, kept by who serves it, so that it is looked
 * up once a session; 0: none. It is checked before it is believed: entries are
 * given to other clients when the memory is full. */
typedef uint32_t sticky_hint;

/* The client, if remembered and seen within `max_age` ms (0: ever), else NULL.
 * Valid until the next call that remembers. */
struct sticky_client *sticky_find(struct sticky *s, const struct peer *who,
    sticky_hint *hint, uint64_t now, uint64_t max_age);
/* Remembers one more connection of `who`, to `server`, as seen now. Forgets
 * the oldest client when full. Who is proven once stays it. Returns 0, or -1
 * with errno ENOMEM. */
int sticky_remember(struct sticky *s, const struct peer *who, sticky_hint *hint,
    unsigned server, bool proven, uint64_t now);
/* The client is proven now; nothing if it has been forgotten meanwhile. */
void sticky_prove(struct sticky *s, const struct peer *who, sticky_hint *hint);
/* Adds traffic to a client; nothing if it has been forgotten meanwhile. */
void sticky_count_bytes(struct sticky *s, const struct peer *who,
    sticky_hint *hint, uint64_t sent, uint64_t received);
/* The client with number `i` below sticky_count(), in no order, for walks in
 * pieces: a client keeps its number until it is forgotten. */
const struct sticky_client *sticky_at(const struct sticky *s, size_t i);

#endif
