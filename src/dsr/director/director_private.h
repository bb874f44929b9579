/* director_private.h: a director: the objects it joins, for director.c (frames,
 * time, life), director_vlan.c and director_control.c (what control reads and
 * sets). */
#ifndef PEN_DSR_DIRECTOR_PRIVATE_H
#define PEN_DSR_DIRECTOR_PRIVATE_H

#include "dsr/director/checks.h"
#include "dsr/director/director.h"
#include "dsr/director/dispatch.h"
#include "dsr/director/early.h"
#include "dsr/director/role.h"
#include "dsr/director/tarpit_net.h"
#include "dsr/director/traffic.h"
#include "dsr/forward/forward.h"
#include "dsr/forward/vips.h"

/* A frame meets them in this order. */
struct director {
	struct vips vips;
	struct dispatch dispatch;
	struct forward forward;
	struct early early; /* fragments */
	/* Which tag the segment has: see director_vlan.c. */
	bool vlan_confirmed;  /* a frame had it */
	uint16_t vlan_other;  /* the tag of the last frames with another, */
	unsigned vlan_others; /* so many in a row */
	uint16_t vlan_suggested; /* by another director */
	struct checks checks;
	struct tarpit_net tarpit;
	struct role role;
	struct traffic traffic;

	struct loop *loop;
	struct pool *pool;
	uid_t user;	  /* of the process, later */
	unsigned ifindex; /* until the link is open: then the link has it */
	bool open;	  /* the link is */
	bool ended;	  /* the interface is gone */
	bool pauses;	  /* this system can, for a short time */
	struct watch watch;
	struct timer tick;
	/* The link's own counters when they were cleared. */
	struct link_counters link_cleared;
};

/* Connects the objects. */
void director_join(struct director *d, struct loop *l, struct pool *p);
/* A frame for a VIP came: notes the segment's tag. */
void director_note_vlan(struct director *d, const struct frame *f);
/* The same of ARP or NDP, if it is about a VIP, or a server. */
void director_learn_vlan(
    struct director *d, const struct frame *f, const struct who_has *m);
/* The same message may be another host's claim of a VIP. */
void director_note_claim(struct director *d, const struct who_has *m);
/* Active, or a standby, since then (ms). */
void director_set_role(struct director *d, bool standby, uint64_t since);
/* Called with each tick: measures the rate of frames. */
void director_note_traffic(struct director *d, uint64_t now);
/* No server answers with the tag that is in use: tries the suggested one, and
 * the one before by turns. */
void director_try_vlan(struct director *d);

#endif
