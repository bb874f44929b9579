/* link_xdp_fast.c: the fast path of an AF_XDP link, seen from user space: the
 * maps of its program. */
#include "config.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "dsr/xdp/link_xdp.h"

static int
map_entries(struct xdp_rings *x)
{
	void *at = mmap(NULL, XDP_ENTRIES * sizeof(struct xdp_entry),
	    PROT_READ | PROT_WRITE, MAP_SHARED, x->program.entries, 0);

	if (at == MAP_FAILED)
		return -1;
	x->entries = at;
	return 0;
}

int
xdp_map_fast(struct xdp_rings *x)
{
	int processors = libbpf_num_possible_cpus();

	if (processors > 0)
		x->totals = calloc((size_t)processors, sizeof(*x->totals));
	if (x->totals == NULL) {
		errno = ENOMEM;
		return -1;
	}
	x->processors = (unsigned)processors;
	return map_entries(x);
}

int
xdp_load_fast(struct xdp_rings *x, uint32_t flows)
{
	int error;

	/* a target would be written in two steps */
	if (sizeof(void *) < sizeof(uint64_t)) {
		errno = ENOTSUP;
		return -1;
	}
	x->options.flows = flows;
	if (xdp_program_load(&x->program, &x->options) == 0 &&
	    xdp_map_fast(x) == 0)
		return 0;
	error = errno;
	xdp_close_fast(x);
	xdp_program_close(&x->program);
	errno = error;
	return -1;
}

void
xdp_close_fast(struct xdp_rings *x)
{
	if (x->entries != NULL)
		munmap(x->entries, XDP_ENTRIES * sizeof(struct xdp_entry));
	x->entries = NULL;
	free(x->totals);
	x->totals = NULL;
	x->options.flows = 0;
}

void
xdp_recheck_fast(struct link *l)
{
	bool fails;

	if (l->fast == NULL)
		return;
	fails = !xdp_can_send_back(l);
	if (fails && !l->fast_fails)
		log_warn("fast path not used: the veth peer drops frames from "
			 "XDP; to run there: ethtool -K PEER gro on "
			 "interface=%s",
		    l->name);
	if (!fails && l->fast_fails)
		log_info("the fast path can be used interface=%s", l->name);
	l->fast_fails = fails;
}

static void
set_entry(struct link *l, uint32_t entry, const struct link_entry *g)
{
	const struct xdp_rings *x = l->inside;

	xdp_entry_set(&x->entries[entry], g);
}

static uint32_t
clear_entries(struct link *l)
{
	static const struct link_entry none = { .longest = 0 };
	const struct xdp_rings *x = l->inside;
	uint32_t highest = 0;

	for (unsigned i = 0; i < XDP_ENTRIES; i++) {
		if (x->entries[i].epoch > highest)
			highest = x->entries[i].epoch;
		xdp_entry_set(&x->entries[i], &none);
	}
	return highest;
}

static struct xdp_flow_key
xdp_flow_key_of(const struct dsr_key *flow)
{
	struct xdp_flow_key key;

	memset(&key, 0, sizeof(key));
	key.flow = *flow;
	return key;
}

static int
fast_add(
    struct link *l, const struct dsr_key *flow, uint32_t entry, uint32_t epoch)
{
	const struct xdp_rings *x = l->inside;
	struct xdp_flow_key key = xdp_flow_key_of(flow);
	struct xdp_flow f = { .entry = entry,
		.epoch = epoch,
		.used_ns = clock_monotonic_us() * 1000 };

	return bpf_map_update_elem(x->program.flows, &key, &f, BPF_ANY) == 0
	    ? 0
	    : -1;
}

static struct link_offloaded
offloaded_of(const struct xdp_flow *f)
{
	uint64_t now = clock_monotonic_us() * 1000;

	return (struct link_offloaded){ .frames = f->frames,
		.bytes = f->bytes,
		.epoch = f->epoch,
		/* the kernel's clock may be ahead of this one, or behind */
		.idle_ms =
		    now > f->used_ns ? (now - f->used_ns) / 1000000 : 0 };
}

static bool
fast_find(
    const struct link *l, const struct dsr_key *flow, struct link_offloaded *c)
{
	const struct xdp_rings *x = l->inside;
	struct xdp_flow_key key = xdp_flow_key_of(flow);
	struct xdp_flow f;

	if (bpf_map_lookup_elem(x->program.flows, &key, &f) != 0)
		return false;
	*c = offloaded_of(&f);
	return true;
}

/* Reads and removes at once, so that no frame is counted between the two. */
static bool
fast_remove(
    struct link *l, const struct dsr_key *flow, struct link_offloaded *c)
{
	const struct xdp_rings *x = l->inside;
	struct xdp_flow_key key = xdp_flow_key_of(flow);
	struct xdp_flow f;

	if (bpf_map_lookup_and_delete_elem(x->program.flows, &key, &f) == 0) {
		*c = offloaded_of(&f);
		return true;
	}
	/* before Linux 5.14 */
	if (errno != ENOENT && fast_find(l, flow, c))
		return bpf_map_delete_elem(x->program.flows, &key) == 0;
	return false;
}

static struct frame_count
totals(const struct link *l)
{
	const struct xdp_rings *x = l->inside;
	struct frame_count all = { 0 };
	uint32_t first = 0;

	if (bpf_map_lookup_elem(x->program.totals, &first, x->totals) != 0)
		return all;
	for (unsigned i = 0; i < x->processors; i++)
		frame_count_add(&all, x->totals[i].frames, x->totals[i].bytes);
	return all;
}

const struct link_fast xdp_fast = { .entries = XDP_ENTRIES,
	.set_entry = set_entry,
	.clear = clear_entries,
	.add = fast_add,
	.find = fast_find,
	.remove = fast_remove,
	.totals = totals };
