/* sticky.h: the client table: which server each client used last, and how many
 * bytes it moved.
 *
 * Clients are identified by address, not by port. Of an IPv6 address only the
 * leading bits count: one client has a whole /64 (RFC 6177) and could fill the
 * memory with it. An entry is one cache line, in an array that grows by slabs.
 * Chains and the order of last use link entries by 32-bit numbers, so finding,
 * remembering and forgetting a client are O(1) and touch few cache lines, even
 * with a million clients.
 *
 * A client is proven once it must have received an answer at its address: after
 * accept() of a connection, when a datagram follows our answer, or when a flow
 * of TCP by direct server return is assured (dsr_flows.h), which two forged
 * frames can do, too. When the memory is full, the client seen longest ago is
 * forgotten, a proven one only if there is no other: datagrams with spoofed
 * sources displace only each other. A client that was not seen for the tracking
 * time counts as forgotten.
 *
 * What a peer, another pen, has reported of a client is kept apart: it is
 * forgotten before what was proven here, and never displaces that. Once the
 * client comes here it is as any other. */
#ifndef PEN_POOL_STICKY_H
#define PEN_POOL_STICKY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "pool/sticky/sticky_away.h"

struct sticky_client {
	uint8_t ip[16]; /* as in struct peer; where it was seen last */
	uint16_t scope;
	uint8_t family;
	bool proven : 1;
	bool reported : 1;	 /* from a peer, and not proven here since */
	unsigned server; /* its number */
	uint64_t seen;	 /* ms */
	uint32_t connects;
	uint32_t newer, older, chain; /* numbers of entries; private */
	uint64_t sent;		      /* bytes to the client */
	uint64_t received;	      /* bytes from it */
};

/* A guess at the number of a client's entry; 0: none. A session keeps it so
 * that its client is looked up only once. Every use checks it, as the entry may
 * have been given to another client meanwhile. */
typedef uint32_t sticky_hint;

struct sticky; /* private */

/* Returns a memory for up to `max` (1..2^31) clients, or NULL with errno
 * ENOMEM. */
struct sticky *sticky_new(size_t max);
void sticky_free(struct sticky *s);
/* Calls `fn` with the position, see sticky_at(), of each proven client that
 * gets an entry or another server here, and of others once in each second in
 * which they are seen. NULL: of none. */
typedef void sticky_change_fn(void *arg, uint32_t position);
void sticky_on_change(struct sticky *s, sticky_change_fn *fn, void *arg);
/* Makes room for up to `max` clients; never shrinks. Returns 0, or -1 with
 * errno ENOMEM. */
int sticky_grow(struct sticky *s, size_t max);
/* Sets how many leading bits of an IPv6 address identify a client, 1..128; at
 * first all do. Of clients that become the same one, a proven client is found
 * before others, and else the one seen last. */
void sticky_set_prefix6(struct sticky *s, unsigned bits);
/* Notes from now on, or no more, where clients come from: 8 bytes each. */
void sticky_follow(struct sticky *s, bool on);
/* The note about the client whose entry sticky_find() has just found and put
 * into the hint; NULL: there is none. */
const struct sticky_away *sticky_away(
    const struct sticky *s, sticky_hint found);
/* One of the client's connections was closed. */
void sticky_closed(
    struct sticky *s, const struct peer *who, sticky_hint *hint);
size_t sticky_count(const struct sticky *s);

/* Returns the client if it is remembered and was seen in the last `max_age` ms
 * (0: at any time), else NULL. Valid until the next sticky_remember(). */
struct sticky_client *sticky_find(struct sticky *s, const struct peer *who,
    sticky_hint *hint, uint64_t now, uint64_t max_age);
/* Remembers one more connection of `who`, to the server of that number. Forgets
 * another client if the memory is full. A proven client stays proven. Returns
 * 0, or -1 with errno ENOMEM. */
int sticky_remember(struct sticky *s, const struct peer *who, sticky_hint *hint,
    unsigned server, bool proven, uint64_t now);
/* The client belongs to that server from now on, as if it had been there: it is
 * remembered if it was not, and is away from nowhere. Returns 0, or -1 with
 * errno ENOMEM. */
int sticky_move(struct sticky *s, const struct peer *who, unsigned server,
    uint64_t now);
/* Returns whether the client was remembered. */
bool sticky_remove(struct sticky *s, const struct peer *who);
/* Marks the client as proven, unless it has been forgotten meanwhile. */
void sticky_prove(struct sticky *s, const struct peer *who, sticky_hint *hint);
/* Adds bytes to the client's counters, unless it has been forgotten
 * meanwhile. */
void sticky_count_bytes(struct sticky *s, const struct peer *who,
    sticky_hint *hint, uint64_t sent, uint64_t received);
/* Remembers a client with the values of `c`, but not its links; all that were
 * seen later have to follow. Returns 0, or -1 with errno ENOMEM. */
int sticky_restore(struct sticky *s, const struct sticky_client *c);
/* The same with what a peer has reported, in any order: where nothing newer is
 * known, and as far as there is room for it. Returns whether it was new: not
 * known, or with another server. */
bool sticky_learn(struct sticky *s, const struct sticky_client *c);
/* Returns client `i`, which is below sticky_count(); clients are in no order. A
 * walk may be done in portions: a client keeps its number until it is
 * forgotten; sticky_remove() gives its number to the last one. */
const struct sticky_client *sticky_at(const struct sticky *s, size_t i);

#endif
