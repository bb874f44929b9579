/* neighbor_private.h: what servers and VIPs have in common. */
#ifndef PEN_DSR_NEIGHBOR_PRIVATE_H
#define PEN_DSR_NEIGHBOR_PRIVATE_H

#include "dsr/segment/neighbor.h"
#include "dsr/segment/who_has.h"

/* Who sent an ARP or NDP message, and how. */
struct announcement {
	struct peer ip; /* of the sender; family 0: it has none */
	struct mac mac;
	bool to_us;  /* the frame came to our Ethernet address alone */
	bool answer; /* not a request */
};

void neighbors_send_arp(
    struct neighbors *n, const struct mac *to, const struct arp *a);
void neighbors_send_ndp(
    struct neighbors *n, const struct mac *to, const struct ndp *d);

/* ---- neighbor_server.c ---- */

void neighbors_learn(
    struct neighbors *n, const struct announcement *c, uint64_t now);
void neighbors_tick_servers(struct neighbors *n, uint64_t now);

/* ---- neighbor_vip.c ---- */

bool neighbors_have_vip(const struct neighbors *n, const struct peer *ip);
/* Whether it is a claim to a VIP: then nothing else is to be made of it. */
bool neighbors_claimed(
    struct neighbors *n, const struct announcement *c, uint64_t now);
void neighbors_free_vips(struct neighbors *n);
void neighbors_tick_vips(struct neighbors *n, uint64_t now);

#endif
