/* dispatch.h: which server a frame's flow has or gets, and what servers count
 * of their flows. */
#ifndef PEN_DSR_DISPATCH_H
#define PEN_DSR_DISPATCH_H

#include "dsr/director/fast_path.h"
#include "dsr/flows/dsr_flows.h"
#include "dsr/flows/dsr_fragments.h"
#include "dsr/forward/nexthop.h"

struct dispatch {
	struct loop *loop;
	struct pool *pool;
	struct nexthops *hops;
	struct dsr_flows flows;
	struct dsr_fragments fragments;
	struct fast_path fast;
	bool draining; /* no flow begins any more */
	/* See director_on_flow(). */
	void (*on_flow)(void *arg, uint32_t number);
	void *on_flow_arg;
};

/* A frame of a batch, and the key of its flow. */
struct arrival {
	struct frame frame;
	struct dsr_key key;
	uint64_t hash;
};

/* Sets the callbacks of the table of flows, which must be open. */
void dispatch_open(struct dispatch *d);
void dispatch_fini(struct dispatch *d);

/* The server that the flow of a frame has, or gets; NULL: none. A flow whose
 * server is unreachable keeps it until another one can be chosen. */
struct server *dispatch_server(
    struct dispatch *d, struct arrival *a, const struct link_frame *l);
/* See director_learn_flow(). */
bool dispatch_learn(struct dispatch *d, const struct dsr_report *r);
/* See director_restore_flow(). */
bool dispatch_restore(
    struct dispatch *d, const struct director_flow *f, const struct server *s);
/* Whether it is of a connection that began while its port was served. */
bool dispatch_keeps(struct dispatch *d, const struct arrival *a);
/* Chooses a server for a frame of that client that belongs to no flow in the
 * table; NULL: none. */
struct server *dispatch_choose(struct dispatch *d, const struct peer *client);
/* Whether that is all that there is to know of a frame: its ports, or another
 * frame, change nothing. */
bool dispatch_is_by_address(const struct dispatch *d);

#endif
