/* xdp_fast.c: the fast path of a link: loads and attaches the program, and
 * handles its maps. The program stays attached as long as a process has the
 * descriptor for that. */
#include "config.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "dsr/link/link_interface.h"
#include "dsr/xdp/xdp_fast.h"
#include "dsr/xdp/xdp_features.h"
#include "dsr/xdp/xdp_program.h"

/* Refreshes of the link, to the next check of the veth peer. */
enum { PEER_EVERY = 4 };

/* The descriptors that another process takes, in this order. */
enum { FD_ATTACHED, FD_MAC, FD_FLOWS, FD_ENTRIES, FD_TOTALS };

struct xdp_fast {
	struct xdp_program program;
	int attached;			    /* -1: it is not */
	struct xdp_entry *entries;	    /* the map's memory */
	struct frame_count *totals;	    /* owned: one of each processor */
	unsigned processors;
	struct mac mac; /* as it was set */
	bool other_mac; /* the program has another than the link */
	bool veth;
	bool peer_drops; /* frames that the program sends to a veth peer */
	unsigned refreshes;
};

static struct xdp_fast *
fast_of(const struct link *l)
{
	return l->fast_inside;
}

/* ---- entries ---- */

static void
fast_set_entry(struct link *l, uint32_t entry, const struct link_entry *g)
{
	xdp_entry_set(&fast_of(l)->entries[entry], g);
}

static uint32_t
fast_clear(struct link *l)
{
	static const struct link_entry none = { .longest = 0 };
	struct xdp_entry *entries = fast_of(l)->entries;
	uint32_t highest = 0;

	for (unsigned i = 0; i < XDP_ENTRIES; i++) {
		if (entries[i].epoch > highest)
			highest = entries[i].epoch;
		xdp_entry_set(&entries[i], &none);
	}
	return highest;
}

/* ---- flows ---- */

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
	struct xdp_flow_key key = xdp_flow_key_of(flow);
	struct xdp_flow f = { .entry = entry,
		.epoch = epoch,
		.used_ns = clock_monotonic_us() * 1000 };

	return bpf_map_update_elem(
		   fast_of(l)->program.flows, &key, &f, BPF_ANY) == 0
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
	struct xdp_flow_key key = xdp_flow_key_of(flow);
	struct xdp_flow f;

	if (bpf_map_lookup_elem(fast_of(l)->program.flows, &key, &f) != 0)
		return false;
	*c = offloaded_of(&f);
	return true;
}

/* Reads and removes at once, so that no frame is counted between the two. */
static bool
fast_remove(
    struct link *l, const struct dsr_key *flow, struct link_offloaded *c)
{
	int flows = fast_of(l)->program.flows;
	struct xdp_flow_key key = xdp_flow_key_of(flow);
	struct xdp_flow f;

	if (bpf_map_lookup_and_delete_elem(flows, &key, &f) == 0) {
		*c = offloaded_of(&f);
		return true;
	}
	/* before Linux 5.14 */
	if (errno != ENOENT && fast_find(l, flow, c))
		return bpf_map_delete_elem(flows, &key) == 0;
	return false;
}

static struct frame_count
fast_totals(const struct link *l)
{
	const struct xdp_fast *x = fast_of(l);
	struct frame_count all = { 0 };
	uint32_t first = 0;

	if (bpf_map_lookup_elem(x->program.totals, &first, x->totals) != 0)
		return all;
	for (unsigned i = 0; i < x->processors; i++)
		frame_count_add(&all, x->totals[i].frames, x->totals[i].bytes);
	return all;
}

/* ---- what changes ---- */

/* Whether the peer of a veth interface drops frames from XDP; if that is
 * unknown, true. */
static bool
drops_frames(const struct link *l)
{
	return fast_of(l)->veth &&
	    xdp_peer((unsigned)l->ifindex) != XDP_PEER_TAKES;
}

/* `wanted`: the log gets a line if frames would be lost: not at the start of a
 * fast path that is not set. */
static void
check_peer(struct link *l, bool wanted)
{
	struct xdp_fast *x = fast_of(l);
	bool drops = drops_frames(l);

	if (drops && !x->peer_drops && wanted)
		log_warn("fast path not used: the veth peer drops frames from "
			 "XDP; to run there: ethtool -K PEER gro on "
			 "interface=%s",
		    l->name);
	if (!drops && x->peer_drops)
		log_info("the fast path can be used interface=%s", l->name);
	x->peer_drops = drops;
	l->fast_fails = drops || x->other_mac;
}

/* Since Linux 5.19 a process without privileges may change a map. */
static void
follow_mac(struct link *l)
{
	struct xdp_fast *x = fast_of(l);

	if (mac_equal(&x->mac, &l->mac))
		return;
	x->mac = l->mac;
	x->other_mac = xdp_program_set_mac(&x->program, &l->mac) != 0;
	if (x->other_mac)
		log_warn("fast path not used: cannot set its MAC: %s "
			 "interface=%s",
		    strerror(errno), l->name);
	l->fast_fails = x->peer_drops || x->other_mac;
}

static void
fast_refresh(struct link *l)
{
	struct xdp_fast *x = fast_of(l);

	follow_mac(l);
	if (++x->refreshes % PEER_EVERY == 0)
		check_peer(l, true);
}

static unsigned
fast_fds(const struct link *l, int *list)
{
	const struct xdp_fast *x = fast_of(l);

	list[FD_ATTACHED] = x->attached;
	list[FD_MAC] = x->program.mac;
	list[FD_FLOWS] = x->program.flows;
	list[FD_ENTRIES] = x->program.entries;
	list[FD_TOTALS] = x->program.totals;
	return LINK_FAST_FDS;
}

static void
fast_close(struct link *l)
{
	struct xdp_fast *x = fast_of(l);

	if (x->attached >= 0)
		close(x->attached);
	if (x->entries != NULL)
		munmap(x->entries, XDP_ENTRIES * sizeof(struct xdp_entry));
	free(x->totals);
	xdp_program_close(&x->program);
	free(x);
	l->fast_inside = NULL;
	l->fast = NULL;
	l->mode = NULL;
}

static const struct link_fast fast = { .entries = XDP_ENTRIES,
	.set_entry = fast_set_entry,
	.clear = fast_clear,
	.add = fast_add,
	.find = fast_find,
	.remove = fast_remove,
	.totals = fast_totals,
	.refresh = fast_refresh,
	.fds = fast_fds,
	.close = fast_close };

/* ---- opens ---- */

static int
fast_failed(const struct link *l, const char *what, int error, struct error *e)
{
	return error_set(e, "interface %s: %s: %s", l->name, what,
	    strerror(error));
}

/* Maps what the loaded program has. Returns 0, or -1 with errno. */
static int
map_memory(struct xdp_fast *x)
{
	int processors = libbpf_num_possible_cpus();
	void *at;

	/* The program in the kernel reads entries while they are written, so
	 * that a MAC must be one store. */
	if (sizeof(void *) < sizeof(uint64_t)) {
		errno = ENOTSUP;
		return -1;
	}
	if (processors > 0)
		x->totals = calloc((size_t)processors, sizeof(*x->totals));
	if (x->totals == NULL) {
		errno = ENOMEM;
		return -1;
	}
	x->processors = (unsigned)processors;
	at = mmap(NULL, XDP_ENTRIES * sizeof(struct xdp_entry),
	    PROT_READ | PROT_WRITE, MAP_SHARED, x->program.entries, 0);
	if (at == MAP_FAILED)
		return -1;
	x->entries = at;
	return 0;
}

static int
attach_as(const struct link *l, unsigned flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, o, .flags = flags);

	return bpf_link_create(
	    fast_of(l)->program.fd, l->ifindex, BPF_XDP, &o);
}

/* Attaches the program in the driver. If the driver cannot run it, the generic
 * mode is used, but only where the operator insists, since the kernel then
 * copies each frame once more; and not on a veth interface, as a generic
 * program does not see tags apart from the frame. */
static int
attach(struct link *l, const struct link_filter *f, struct error *e)
{
	struct xdp_fast *x = fast_of(l);
	int error;

	l->mode = "native";
	x->attached = attach_as(l, XDP_FLAGS_DRV_MODE);
	error = errno;
	if (x->attached < 0 && f->fast == LINK_FAST_ON && error != EBUSY &&
	    error != EEXIST && !x->veth) {
		l->mode = "generic";
		x->attached = attach_as(l, XDP_FLAGS_SKB_MODE);
		error = errno;
	}
	if (x->attached >= 0)
		return 0;
	return error == EBUSY || error == EEXIST
	    ? error_set(e,
		  "interface %s: another XDP program is attached, for example "
		  "that of another director",
		  l->name)
	    : fast_failed(l, "its driver takes no XDP program", error, e);
}

/* A tag that a card has removed would be unseen. Some drivers take no program
 * while LRO is on, which links switch off anyway. */
static int
keep_tags(struct link *l, struct error *e)
{
	return interface_switch_off(
		   l, l->changes, ETH_FLAG_RXVLAN, "removal of VLAN tags")
	    ? 0
	    : error_set(e, "interface %s keeps VLAN tags from XDP", l->name);
}

/* Loads the XDP program, prepares its maps and attaches it to the interface. An
 * interface that cannot run it, or whose veth peer would drop its frames, is
 * refused first, unless the operator insists (LINK_FAST_ON). */
static int
open_new(struct link *l, const struct link_filter *f, struct error *e)
{
	struct xdp_program_options o = { .flows = f->fast_flows };
	struct xdp_fast *x = fast_of(l);
	uint64_t features;

	/* Before anything is changed there: a veth interface with a program
	 * also queues less. */
	if (f->fast != LINK_FAST_ON && drops_frames(l))
		return error_set(e,
		    "interface %s: its veth peer drops frames from XDP",
		    l->name);
	if (f->fast != LINK_FAST_ON &&
	    xdp_features((unsigned)l->ifindex, &features) == 0 &&
	    (features & XDP_FEATURE_BASIC) == 0)
		return error_set(e,
		    "interface %s: its driver runs no XDP programs", l->name);
	if (x->veth)
		o.tags_of = o.back = l->ifindex;
	if (xdp_program_load(&x->program, &o) != 0)
		return fast_failed(l, "cannot load the XDP program", errno, e);
	x->mac = l->mac;
	if (map_memory(x) != 0 ||
	    xdp_program_set_mac(&x->program, &l->mac) != 0)
		return fast_failed(l, "cannot use XDP's maps", errno, e);
	return (!x->veth && keep_tags(l, e) != 0) || attach(l, f, e) != 0 ? -1
									  : 0;
}

static void
note_mode(struct link *l)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, o);

	l->mode = bpf_xdp_query(l->ifindex, 0, &o) == 0 &&
		o.attach_mode == XDP_ATTACHED_SKB
	    ? "generic"
	    : "native";
}

/* Takes the descriptors of the past; the program remains attached. */
static int
take_over(struct link *l, int *fd, struct error *e)
{
	struct xdp_fast *x = fast_of(l);

	x->attached = fd[FD_ATTACHED];
	x->program = (struct xdp_program){ .fd = -1,
		.mac = fd[FD_MAC],
		.flows = fd[FD_FLOWS],
		.entries = fd[FD_ENTRIES],
		.totals = fd[FD_TOTALS],
		.adopted = true };
	for (unsigned i = 0; i < LINK_FAST_FDS; i++)
		fd[i] = -1;
	if (map_memory(x) != 0)
		return fast_failed(
		    l, "cannot take over the fast path", errno, e);
	note_mode(l);
	follow_mac(l);
	return 0;
}

static int
print_nothing(enum libbpf_print_level level, const char *format, va_list list)
{
	(void)level;
	(void)format;
	(void)list;
	return 0;
}

int
xdp_fast_open(struct link *l, const struct link_filter *f, struct error *e)
{
	struct xdp_fast *x = calloc(1, sizeof(*x));
	int *past = f->past != NULL ? link_past_fast(f->past) : NULL;

	if (x == NULL)
		return error_set(e, "interface %s: out of memory", l->name);
	libbpf_set_print(print_nothing);
	x->attached = -1;
	x->program.fd = -1;
	x->veth = interface_is_veth(l->name, l->changes->fd);
	l->fast_inside = x;
	if ((past != NULL ? take_over(l, past, e) : open_new(l, f, e)) != 0) {
		fast_close(l);
		interface_switch_back(l, l->changes, ETH_FLAG_RXVLAN);
		return -1;
	}
	l->fast = &fast;
	check_peer(l, f->fast == LINK_FAST_ON);
	return 0;
}

const char *
xdp_library_version(void)
{
	return libbpf_version_string();
}
