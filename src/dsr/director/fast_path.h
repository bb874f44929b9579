/* fast_path.h: which flows the link's fast path forwards: frames of those go
 * from the driver to the wire, and are not seen here.
 *
 * A flow is offloaded when it is assured and some more frames of it have come:
 * a short one is not worth a system call. Frames that begin or end it are seen
 * here. A server has one entry for all of its flows, so that one call returns
 * all of their frames to this process. */
#ifndef PEN_DSR_FAST_PATH_H
#define PEN_DSR_FAST_PATH_H

#include "dsr/director/director.h"
#include "dsr/flows/dsr_flows.h"
#include "dsr/forward/nexthop.h"
#include "dsr/forward/vips.h"

struct fast_path {
	/* Set once; they outlive this. */
	struct loop *loop;
	struct pool *pool;
	struct link *link;
	const struct nexthops *hops;
	const struct vips *vips;

	const struct link_fast *ops; /* NULL: the link has none */
	struct link_entry *entries;  /* as they were set last */
	uint32_t entries_n;
	uint32_t epoch;		    /* of all entries, now */
	uint32_t flows;		    /* offloaded */
	bool refused;		    /* the kernel takes no flows */
	struct frame_count cleared; /* its counters when they were cleared */
};

/* How many flows the kernel may have. */
uint32_t fast_path_most(const struct director_options *o);
/* Begins to use the fast path of the link, which was opened. */
void fast_path_open(struct fast_path *f);
/* The link was another process's until now, and so were the entries: frames of
 * all flows come here before the kernel forwards them again. */
void fast_path_take(struct fast_path *f);
/* The flows in the kernel end with the link. */
void fast_path_fini(struct fast_path *f);

/* Sets the entries as servers are now: to be called after a change, and with
 * every tick, because changes of health are not reported here. */
void fast_path_refresh(struct fast_path *f);
/* Makes the next frame of each flow come to pen before the kernel forwards that
 * flow again, as VIPs or servers have changed. */
void fast_path_renew(struct fast_path *f);
/* A frame of that flow was received and is forwarded. Adds the flow to the
 * kernel, or removes it, as its state demands. */
void fast_path_on_frame(struct fast_path *fp, struct dsr_flow *w,
    const struct frame *f, const struct link_frame *l);
/* Removes a flow from the kernel, and takes over what was counted there. */
void fast_path_remove(struct fast_path *f, struct dsr_flow *w);
/* When the last frame of a flow went by the fast path: for
 * dsr_flows.last_frame. */
uint32_t fast_path_last_frame(
    const struct fast_path *f, const struct dsr_flow *w);

void fast_path_clear_counters(struct fast_path *f);
/* See struct director_fast. */
void fast_path_get(const struct fast_path *fp, struct director_fast *f);

#endif
