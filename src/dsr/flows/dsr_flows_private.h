/* dsr_flows_private.h: the memory of flows, numbered from 1 on; 0: none. */
#ifndef PEN_DSR_DSR_FLOWS_PRIVATE_H
#define PEN_DSR_DSR_FLOWS_PRIVATE_H

#include "dsr/flows/dsr_flows.h"

/* SLAB flows are three huge pages. */
enum { DSR_SLAB_BITS = 16, DSR_SLAB = 1 << DSR_SLAB_BITS };

static inline uint32_t
dsr_second(uint64_t now)
{
	return (uint32_t)(now / 1000);
}

static inline struct dsr_flow *
dsr_flow_at(const struct dsr_flows *fs, uint32_t number)
{
	return &fs->slabs[(number - 1) >> DSR_SLAB_BITS]
			 [(number - 1) & (DSR_SLAB - 1)];
}

/* Takes an unused flow: it is in no list, has a number, and the rest is
 * undefined. NULL: the table is full. */
struct dsr_flow *dsr_flow_take(struct dsr_flows *fs);
void dsr_flow_release(struct dsr_flows *fs, struct dsr_flow *w);
/* Makes fs->servers[server] exist. Returns 0, or -1 without memory. */
int dsr_flows_add_server(struct dsr_flows *fs, uint32_t server);

#endif
