/* sticky.h: the memory of clients: which server each used last, and its traffic.
 *
 * A hash table keyed by the client's address (not its port) and a list in
 * order of last use. Finding, remembering and forgetting are O(1) at a million
 * clients. When it is full the client seen longest ago is forgotten; a client
 * not seen for the tracking time counts as forgotten. */
#ifndef PEN_POOL_STICKY_H
#define PEN_POOL_STICKY_H

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/list.h"
#include "base/table.h"

struct sticky_client {
	struct table_node node;
	struct list by_use; /* most recent first */
	struct peer who;
	unsigned server; /* index */
	uint64_t seen;	 /* ms */
	uint64_t connects;
	uint64_t sent;	   /* bytes to the client */
	uint64_t received; /* bytes from it */
};

struct sticky; /* private */

/* A memory for up to `max` clients, or NULL with errno ENOMEM. */
struct sticky *sticky_new(size_t max);
void sticky_free(struct sticky *s);
void sticky_set_max(struct sticky *s, size_t max);
size_t sticky_count(const struct sticky *s);

/* The client, if remembered and seen within `max_age` ms (0: ever), else NULL. */
struct sticky_client *sticky_find(
    struct sticky *s, const struct peer *who, uint64_t now, uint64_t max_age);
/* Remembers `who` with `server` as seen now, forgetting the oldest when full.
 * Returns its entry, or NULL with errno ENOMEM (nothing remembered). */
struct sticky_client *sticky_remember(
    struct sticky *s, const struct peer *who, unsigned server, uint64_t now);
/* Adds traffic to a client that may have been forgotten meanwhile. */
void sticky_count_bytes(struct sticky *s, const struct peer *who, uint64_t sent,
    uint64_t received);
/* Calls `visit` for each client from the most recent on, until it returns
 * false. */
void sticky_each(struct sticky *s,
    bool (*visit)(const struct sticky_client *c, void *arg), void *arg);

#endif
