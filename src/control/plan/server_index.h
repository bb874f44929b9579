/* server_index.h: servers in force by name and by address, for commands that
 * name one: found in O(1), however many there are.
 *
 * A key is a host name in lower case, a path, or an IP address as
 * addr_format_host() prints it. Several servers may have the same; a hash may
 * lead to a server that has another: callers check what they find. */
#ifndef PEN_CONTROL_SERVER_INDEX_H
#define PEN_CONTROL_SERVER_INDEX_H

#include "pool/server/server.h"

struct server_index;

/* Empty. NULL with errno ENOMEM. */
struct server_index *server_index_new(void);
void server_index_free(struct server_index *x); /* NULL is fine */

/* The server is as it is now, or is gone. Returns 0, or -1 with errno ENOMEM:
 * it may not be found then. */
int server_index_set(struct server_index *x, const struct server *s);

/* Calls `visit` with the slot of each server that may have the key. */
void server_index_each(const struct server_index *x, const char *key,
    void (*visit)(void *arg, unsigned slot), void *arg);

#endif
