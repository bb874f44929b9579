/* fast_path.h: which flows the link's fast path forwards: frames of those go
 * from the driver to the wire, and are not seen here.
 *
 * A flow is offloaded when it is assured and some more frames of it have come:
 * one that is short is not worth a system call. What begins or ends it is seen
 * here. A server has one entry for all its flows, so that it takes one call to
 * have them all come up again; then each is looked at as ever. */
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
/* After the link was opened. */
void fast_path_open(struct fast_path *f);
/* What the kernel knew of flows goes with the link. */
void fast_path_fini(struct fast_path *f);

/* Sets the entries as servers are now: to be called when any of that has
 * changed, and with every tick, as others do not tell what they find out of
 * servers. */
void fast_path_refresh(struct fast_path *f);
/* Flows must be looked at again before the kernel forwards them: what is served
 * has changed. */
void fast_path_renew(struct fast_path *f);
/* A frame of that flow came up and is forwarded: the next ones of it may be the
 * kernel's. */
void fast_path_on_frame(struct fast_path *fp, struct dsr_flow *w,
    const struct frame *f, const struct link_frame *l);
/* A flow ends, or its next frames must be seen here: takes over what the kernel
 * has counted. */
void fast_path_leave(struct fast_path *f, struct dsr_flow *w);
/* For dsr_flows.last_frame. */
uint32_t fast_path_last_frame(
    const struct fast_path *f, const struct dsr_flow *w);

void fast_path_clear_counters(struct fast_path *f);
/* See director_fast(). */
void fast_path_get(const struct fast_path *fp, struct director_fast *f);

#endif
