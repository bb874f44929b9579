/* neighbor_private.h: what servers and VIPs have in common. */
#ifndef PEN_DSR_NEIGHBOR_PRIVATE_H
#define PEN_DSR_NEIGHBOR_PRIVATE_H

#include "dsr/segment/neighbor.h"

/* The Ethernet header of a frame of ours. */
struct frame_head neighbors_head(
    const struct neighbors *n, const struct mac *to);
/* Sends a frame that who_has_make_X() wrote; a length of 0: none. */
void neighbors_send(
    struct neighbors *n, const unsigned char *bytes, size_t length);

/* ---- neighbor_server.c ---- */

void neighbors_learn(
    struct neighbors *n, const struct who_has *m, uint64_t now);
void neighbors_tick_servers(struct neighbors *n, uint64_t now);

/* ---- neighbor_vip.c ---- */

bool neighbors_have_vip(const struct neighbors *n, const struct peer *ip);
/* Whether the sender claims a VIP: then the message means nothing else. */
bool neighbors_claimed(
    struct neighbors *n, const struct who_has *m, uint64_t now);
void neighbors_tick_vips(struct neighbors *n, uint64_t now);

#endif
