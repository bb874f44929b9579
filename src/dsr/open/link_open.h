/* link_open.h: opens an interface with the best kind of link. */
#ifndef PEN_DSR_LINK_OPEN_H
#define PEN_DSR_LINK_OPEN_H

#include "dsr/link/link.h"

/* The name of the i-th kind of this build; NULL: there are no more. */
const char *link_kind(unsigned i);

/* Opens the interface with the kind of that name; NULL: with the first one of
 * the table that works. Needs what packet(7) needs (CAP_NET_RAW); afterwards no
 * privileges are needed. Nothing of `f` is kept. Returns 0, or -1 with a full
 * message in `e` and nothing open. When another kind than the first one opens,
 * the message has the reason why not the first. */
int link_open(struct link *l, const char *kind, const char *ifname,
    const struct link_filter *f, struct error *e);
#endif
