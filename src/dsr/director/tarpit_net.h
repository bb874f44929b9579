/* tarpit_net.h: the tarpit of a director: which addresses it may take, and
 * which frames the link must pass for that. */
#ifndef PEN_DSR_TARPIT_NET_H
#define PEN_DSR_TARPIT_NET_H

#include "dsr/forward/nexthop.h"
#include "dsr/segment/tarpit.h"
#include "pool/acl/acl.h"

struct tarpit_net {
	/* Set once; they outlive this. */
	struct nexthops *hops;
	struct vips *vips;

	struct tarpit tarpit;
	struct acl list;       /* what it may take; empty: no tarpit */
	struct link_net *nets; /* all that the list permits is in them */
	unsigned nets_n;
};

/* See director_set_tarpit(). */
int tarpit_net_set(
    struct tarpit_net *t, const struct acl *list, struct error *e);
void tarpit_net_fini(struct tarpit_net *t);

/* The filter that passes frames for the VIPs `list` (see vips_filter()) and for
 * the tarpit. */
struct link_filter tarpit_net_filter(
    const struct tarpit_net *t, struct peer *list, unsigned count);

void tarpit_net_on_message(struct tarpit_net *t, const struct who_has *m);
/* A frame that is for no VIP. Returns whether it was the tarpit's. `unsummed`:
 * its checksum was left to a network card. */
bool tarpit_net_on_flow(
    struct tarpit_net *t, const struct frame *f, bool unsummed);

#endif
