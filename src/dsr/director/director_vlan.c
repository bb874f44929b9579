/* director_vlan.c: the tag of the segment: requests to servers have it. */
#include "config.h"

#include "base/log.h"
#include "dsr/director/director_private.h"

/* So many frames in a row with another tag have the segment's. */
enum { OTHERS = 3 };

static void
set_vlan(struct director *d, uint16_t vlan)
{
	struct nexthops *n = &d->forward.hops;

	d->forward.wire.vlan = vlan;
	n->neighbors.options.vlan = vlan;
	/* Servers did not get the requests that had another tag. */
	neighbors_resume(&n->neighbors, loop_now(d->loop));
	nexthops_announce(n);
}

/* A host that can send frames with another one could cut the servers off. A tag
 * that servers reply to is right; else the first frame counts, or several in a
 * row. */
void
director_note_vlan(struct director *d, const struct frame *f)
{
	uint16_t vlan = f->vlan & FRAME_VLAN_ID;

	if (vlan != d->forward.wire.vlan) {
		if (d->forward.hops.neighbors.reachable > 0)
			return;
		if (vlan != d->vlan_other)
			d->vlan_others = 0;
		d->vlan_other = vlan;
		if (++d->vlan_others < (d->vlan_confirmed ? OTHERS : 1))
			return;
	}
	d->vlan_confirmed = true;
	d->vlan_others = 0;
	if (vlan == d->forward.wire.vlan)
		return;
	log_info("segment has a VLAN tag vlan=%u", vlan);
	set_vlan(d, vlan);
	checks_reset(&d->checks);
}

/* Learns the tag of the segment from an ARP or NDP message: one for a VIP, or,
 * until one has come, one of a server or for one, as a standby gets no
 * others. */
void
director_learn_vlan(
    struct director *d, const struct frame *f, const struct who_has *m)
{
	struct neighbors *n = &d->forward.hops.neighbors;

	if (vips_have_address(&d->vips, &m->target) ||
	    (!d->vlan_confirmed &&
		(neighbors_find(n, &m->sender) != NULL ||
		    neighbors_find(n, &m->target) != NULL)))
		director_note_vlan(d, f);
}

void
director_suggest_vlan(struct director *d, uint16_t vlan)
{
	vlan &= FRAME_VLAN_ID;
	if (vlan != d->forward.wire.vlan)
		d->vlan_suggested = vlan;
}

/* A standby on a silent segment, where hosts refresh what they know from host
 * to host, gets no message. */
void
director_try_vlan(struct director *d)
{
	uint16_t now = d->forward.wire.vlan;

	if (d->vlan_confirmed || d->vlan_suggested == now ||
	    !neighbors_have_failed(&d->forward.hops.neighbors))
		return;
	set_vlan(d, d->vlan_suggested);
	d->vlan_suggested = now;
}
