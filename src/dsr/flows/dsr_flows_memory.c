/* dsr_flows_memory.c: slabs of flows, servers, and their lookups. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/huge.h"
#include "dsr/flows/dsr_flows_private.h"

/* ---- life ---- */

int
dsr_flows_init(struct dsr_flows *fs, uint32_t max)
{
	static const struct dsr_timeouts usual = { 900, 120, 300 };
	size_t slabs = ((size_t)max + DSR_SLAB - 1) / DSR_SLAB;

	memset(fs, 0, sizeof(*fs));
	dsr_flows_set_timeouts(fs, &usual);
	fs->max = max;
	if (hash_table_init(&fs->table) < 0 ||
	    (fs->slabs = calloc(slabs + 1, sizeof(*fs->slabs))) == NULL) {
		dsr_flows_fini(fs);
		errno = ENOMEM;
		return -1;
	}
	fs->slabs_n = slabs;
	return 0;
}

void
dsr_flows_fini(struct dsr_flows *fs)
{
	size_t i;

	for (i = 0; i < fs->slabs_n; i++)
		free(fs->slabs[i]);
	free(fs->slabs);
	free(fs->servers);
	hash_table_fini(&fs->table);
	memset(fs, 0, sizeof(*fs));
}

/* ---- flows ---- */

struct dsr_flow *
dsr_flow_take(struct dsr_flows *fs)
{
	struct dsr_flow **slab, *w;

	if (fs->unused != 0) {
		w = dsr_flow_at(fs, fs->unused);
		fs->unused = w->older;
		return w;
	}
	/* New numbers count up, so that slabs fill in order. */
	slab = &fs->slabs[fs->made >> DSR_SLAB_BITS];
	if (*slab == NULL &&
	    (*slab = huge_next_slab(fs->made > 0 ? slab[-1] : NULL,
		 DSR_SLAB * sizeof(**slab))) == NULL)
		return NULL;
	w = dsr_flow_at(fs, ++fs->made);
	w->number = fs->made;
	return w;
}

void
dsr_flow_release(struct dsr_flows *fs, struct dsr_flow *w)
{
	/* A state of no list; `older` is free for the chain of unused ones. */
	w->state = DSR_STATES;
	w->older = fs->unused;
	fs->unused = w->number;
}

/* ---- servers ---- */

int
dsr_flows_add_server(struct dsr_flows *fs, uint32_t server)
{
	uint32_t *grown =
	    array_grow(fs->servers, &fs->servers_n, sizeof(*grown), server);

	if (grown == NULL)
		return -1;
	fs->servers = grown;
	return 0;
}

uint32_t
dsr_flows_of(const struct dsr_flows *fs, uint32_t server)
{
	return server < fs->servers_n ? fs->servers[server] : 0;
}

/* ---- for control ---- */

const char *
dsr_state_name(enum dsr_state state)
{
	static const char *const names[DSR_STATES] = {
		[DSR_SYN] = "syn",
		[DSR_PICKUP] = "middle",
		[DSR_UDP_NEW] = "udp_new",
		[DSR_CLOSE] = "close",
		[DSR_FIN] = "fin",
		[DSR_UDP] = "udp",
		[DSR_ESTABLISHED] = "established",
	};

	return names[state];
}
