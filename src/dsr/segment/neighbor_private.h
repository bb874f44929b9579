/* neighbor_private.h: what servers, VIPs and a tarpit have in
 * common. */
#ifndef PEN_DSR_NEIGHBOR_PRIVATE_H
#define PEN_DSR_NEIGHBOR_PRIVATE_H

#include "dsr/segment/neighbor.h"

/* Who sent an ARP or NDP message, and how. */
struct claim {
	struct peer ip; /* of the sender; family 0: it has none */
	struct mac mac;
	bool to_us;  /* the frame came to our Ethernet address alone */
	bool answer; /* not a question */
};

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
void neighbors_send_arp(
    struct neighbors *n, const struct mac *to, const struct arp *a);
void neighbors_send_ndp(
    struct neighbors *n, const struct mac *to, const struct ndp *d);

/* ---- neighbor_server.c ---- */

void neighbors_learn(struct neighbors *n, const struct claim *c, uint64_t now);
void neighbors_tick_servers(struct neighbors *n, uint64_t now);

/* ---- neighbor_vip.c ---- */

bool neighbors_have_vip(const struct neighbors *n, const struct peer *ip);
/* Whether it is a claim to a VIP: then nothing else is to be made of it. */
bool neighbors_claimed(
    struct neighbors *n, const struct claim *c, uint64_t now);
void neighbors_free_vips(struct neighbors *n);
void neighbors_tick_vips(struct neighbors *n, uint64_t now);

#endif
