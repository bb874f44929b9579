/* dsr_flows_memory.c: slabs of flows, servers, and what is asked about them. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dsr/dsr_flows_private.h"

enum { LINE = 64, HUGE_PAGE = 1 << 21 };

/* ---- life ---- */

int
dsr_flows_init(struct dsr_flows *fs, uint32_t max, uint32_t fragments)
{
	memset(fs, 0, sizeof(*fs));
	fs->timeouts = dsr_timeouts_default;
	if (table_init(&fs->table) < 0 ||
	    dsr_fragments_init(&fs->fragments, fragments) < 0 ||
	    dsr_flows_resize(fs, max) < 0) {
		dsr_flows_fini(fs);
		errno = ENOMEM;
		return -1;
	}
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
	table_fini(&fs->table);
	dsr_fragments_fini(&fs->fragments);
	memset(fs, 0, sizeof(*fs));
}

int
dsr_flows_resize(struct dsr_flows *fs, uint32_t max)
{
	size_t n = ((size_t)max + DSR_SLAB - 1) / DSR_SLAB;
	struct dsr_flow **slabs;

	if (n > fs->slabs_n) {
		slabs = realloc(fs->slabs, n * sizeof(*slabs));
		if (slabs == NULL)
			return -1;
		memset(
		    slabs + fs->slabs_n, 0, (n - fs->slabs_n) * sizeof(*slabs));
		fs->slabs = slabs;
		fs->slabs_n = n;
	}
	fs->max = max;
	return 0;
}

/* ---- flows ---- */

/* Only the part that is touched takes memory. Once the first slab is full the
 * next ones ask for huge pages, which spares the walk through page tables for
 * each flow that is far from the last. */
static struct dsr_flow *
new_slab(bool huge)
{
	size_t size = DSR_SLAB * sizeof(struct dsr_flow);
	struct dsr_flow *slab;

	size = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	slab = aligned_alloc(huge ? HUGE_PAGE : LINE, size);
#ifdef MADV_HUGEPAGE
	if (slab != NULL && huge)
		(void)madvise(slab, size, MADV_HUGEPAGE);
#endif
	return slab;
}

struct dsr_flow *
dsr_flow_take(struct dsr_flows *fs)
{
	struct dsr_flow **slab, *w;

	if (fs->unused != 0) {
		w = dsr_flow_at(fs, fs->unused);
		fs->unused = w->older;
		return w;
	}
	slab = &fs->slabs[fs->made >> DSR_SLAB_BITS];
	if (*slab == NULL && (*slab = new_slab(fs->made > 0)) == NULL)
		return NULL;
	w = dsr_flow_at(fs, ++fs->made);
	w->number = fs->made;
	return w;
}

void
dsr_flow_give_back(struct dsr_flows *fs, struct dsr_flow *w)
{
	w->state = DSR_STATES;
	w->older = fs->unused;
	fs->unused = w->number;
}

/* ---- servers ---- */

int
dsr_flows_know_server(struct dsr_flows *fs, uint32_t server)
{
	uint32_t n = fs->servers_n > 0 ? fs->servers_n : 16;
	struct dsr_server *servers;

	if (server < fs->servers_n)
		return 0;
	while (n <= server)
		n *= 2;
	servers = realloc(fs->servers, n * sizeof(*servers));
	if (servers == NULL)
		return -1;
	memset(
	    servers + fs->servers_n, 0, (n - fs->servers_n) * sizeof(*servers));
	fs->servers = servers;
	fs->servers_n = n;
	return 0;
}

void
dsr_flows_forget(struct dsr_flows *fs, uint32_t server)
{
	struct dsr_server *s;

	if (server >= fs->servers_n)
		return;
	s = &fs->servers[server];
	*s = (struct dsr_server){ .generation = (uint16_t)(s->generation + 1) };
}

struct dsr_server
dsr_flows_of(const struct dsr_flows *fs, uint32_t server)
{
	if (server >= fs->servers_n)
		return (struct dsr_server){ .generation = 0 };
	return fs->servers[server];
}

/* ---- fragments ---- */

void
dsr_flows_first_fragment(struct dsr_flows *fs,
    const struct dsr_fragment_key *key, uint32_t server, uint64_t now)
{
	if (dsr_flows_know_server(fs, server) == 0)
		dsr_fragments_add(&fs->fragments, key, server,
		    fs->servers[server].generation, now);
}

bool
dsr_flows_fragment(struct dsr_flows *fs, const struct dsr_fragment_key *key,
    uint32_t *server, uint64_t now)
{
	uint32_t generation;

	return dsr_fragments_find(
		   &fs->fragments, key, now, server, &generation) &&
	    generation == fs->servers[*server].generation;
}

/* ---- what control asks ---- */

const char *
dsr_state_name(enum dsr_state state)
{
	static const char *const names[DSR_STATES] = {
		[DSR_SYN] = "syn",
		[DSR_MIDDLE] = "middle",
		[DSR_UDP_NEW] = "udp_new",
		[DSR_CLOSE] = "close",
		[DSR_FIN] = "fin",
		[DSR_UDP] = "udp",
		[DSR_ESTABLISHED] = "established",
	};

	return names[state];
}

const struct dsr_flow *
dsr_flows_at(const struct dsr_flows *fs, uint32_t i)
{
	const struct dsr_flow *w =
	    i > 0 && i <= fs->made ? dsr_flow_at(fs, i) : NULL;

	if (w == NULL || w->state == DSR_STATES ||
	    w->generation != fs->servers[w->server].generation)
		return NULL;
	return w;
}

uint32_t
dsr_flow_age_s(const struct dsr_flow *w, uint64_t now)
{
	return (dsr_second(now) - w->began) & DSR_BEGAN_MASK;
}

uint32_t
dsr_flow_idle_s(const struct dsr_flow *w, uint64_t now)
{
	return dsr_second(now) - w->seen;
}
