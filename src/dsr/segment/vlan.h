/* vlan.h: which 802.1Q tag the segment has, learnt from frames for the
 * VIPs. Pure. */
#ifndef PEN_DSR_VLAN_H
#define PEN_DSR_VLAN_H

#include <stdbool.h>
#include <stdint.h>

struct vlan {
	bool confirmed;	 /* a frame for a VIP had the segment's tag */
	uint16_t other;	 /* the tag of the last frames with another one, */
	unsigned others; /* so many in a row */
};

/* A frame for a VIP had the segment's tag. */
static inline void
vlan_confirm(struct vlan *v)
{
	v->confirmed = true;
	v->others = 0;
}

/* A frame for a VIP had another tag. Returns whether that is the segment's from
 * now on: only if no server replies to the known one (`reachable`: how many
 * do), and it is the first frame, or one of several in a row. */
bool vlan_on_other(struct vlan *v, uint16_t tag, unsigned reachable);

#endif
