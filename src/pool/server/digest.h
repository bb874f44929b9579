/* digest.h: servers by a number that stands for their name and first address:
 * the same after a restart, in another process, and when the list is ordered
 * anew. Finding one is O(1). The number does not reveal the address, but a
 * guess of the address can be verified. */
#ifndef PEN_POOL_DIGEST_H
#define PEN_POOL_DIGEST_H

#include "pool/server/server.h"

/* A present server is listed by its digest, which becomes server.digest; it
 * leaves the list, if it is in it. */
void digest_list(struct hash_table *list, struct server *s);
void digest_unlist(struct hash_table *list, struct server *s);
/* A server with this digest, any one if several have it; NULL: none. */
struct server *digest_find(const struct hash_table *list, uint64_t digest);

#endif
