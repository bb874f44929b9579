/* who_has.h: addresses as keys of the tables that answer "who has": servers,
 * VIPs and the tarpit's. neighbor.c has the functions. */
#ifndef PEN_DSR_WHO_HAS_H
#define PEN_DSR_WHO_HAS_H

#include <string.h>

#include "base/addr.h"
#include "base/hash_table.h"

/* Common to the keys of both tables: family and address. */
struct neighbor_key {
	uint8_t ip[16];
	uint16_t family;
};

uint64_t neighbor_hash(const struct hash_table *t, const struct peer *ip,
    struct neighbor_key *key);
bool neighbor_is(const struct neighbor_key *key, const struct peer *ip);
/* A peer of 16 or, for AF_INET, 4 bytes. */
struct peer neighbor_peer(unsigned family, const uint8_t *ip);
/* Whether an address of that size is all zero: nobody's yet (RFC 5227, 2.1.1;
 * RFC 4862, 5.4). */
static inline bool
neighbor_is_zero(const uint8_t *ip, size_t size)
{
	static const uint8_t zero[16];

	return memcmp(ip, zero, size) == 0;
}

#endif
