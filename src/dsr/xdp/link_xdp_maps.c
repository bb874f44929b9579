/* link_xdp_maps.c: the program of an AF_XDP link, what it looks into, and where
 * it is attached. All of it goes when its descriptors are closed, however this
 * process ends. */
#include "config.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "dsr/xdp/link_xdp.h"
#include "dsr/xdp/xdp_features.h"
#include "dsr/xdp/xdp_program.h"

/* Linux 6.3 */
#ifndef BPF_F_XDP_DEV_BOUND_ONLY
#define BPF_F_XDP_DEV_BOUND_ONLY (1U << 6)
#endif

/* The number of the kernel's function that tells of a tag; 0: it has none. */
static int
find_tag_function(void)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	int id;

	if (kernel == NULL)
		return 0;
	id = btf__find_by_name_kind(
	    kernel, "bpf_xdp_metadata_rx_vlan_tag", BTF_KIND_FUNC);
	btf__free(kernel);
	return id > 0 ? id : 0;
}

static int
load_program(const struct link *l, const struct xdp_rings *x, int tag)
{
	LIBBPF_OPTS(bpf_prog_load_opts, o);
	struct xdp_program p;

	if (tag != 0) {
		o.prog_flags = BPF_F_XDP_DEV_BOUND_ONLY;
		o.prog_ifindex = (uint32_t)l->ifindex;
	}
	xdp_program_write(&p, &l->mac, tag, &x->maps);
	return bpf_prog_load(
	    BPF_PROG_TYPE_XDP, "pen", "Dual BSD/GPL", p.at, p.count, &o);
}

static int
make_maps(struct xdp_maps *m)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_NO_PREALLOC);

	m->addresses = bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, "pen_addresses",
	    sizeof(struct xdp_key), sizeof(uint32_t), XDP_ADDRESSES, &o);
	m->sockets = bpf_map_create(BPF_MAP_TYPE_XSKMAP, "pen_sockets",
	    sizeof(uint32_t), sizeof(uint32_t), XDP_QUEUES, NULL);
	return m->addresses < 0 || m->sockets < 0 ? -1 : 0;
}

/* With a fast path, or without it when the kernel refuses that. */
static int
load_some_program(struct link *l, int tag)
{
	struct xdp_rings *x = l->inside;
	int fd = load_program(l, x, tag);

	if (fd >= 0 || x->maps.flows < 0)
		return fd;
	log_warn(
	    "no fast path interface=%s error=\"%s\"", l->name, strerror(errno));
	xdp_close_fast(x);
	return load_program(l, x, tag);
}

int
xdp_load(struct link *l, const struct link_filter *f, struct error *e)
{
	struct xdp_rings *x = l->inside;
	int tag;

	if (make_maps(&x->maps) != 0)
		return error_set(e, "interface %s: no map for XDP: %s", l->name,
		    strerror(errno));
	if (f->fast_flows > 0 && xdp_make_fast(x, f->fast_flows) != 0)
		log_warn("no fast path interface=%s error=\"%s\"", l->name,
		    strerror(errno));
	if (x->tags_apart)
		x->maps.back = l->ifindex;
	if (x->tags_apart && (tag = find_tag_function()) != 0)
		x->program = load_some_program(l, tag);
	if (x->program < 0 && x->tags_apart && !l->asked)
		return error_set(e,
		    "interface %s: this kernel keeps VLAN tags from XDP: %s",
		    l->name, strerror(errno));
	if (x->program < 0)
		x->program = load_some_program(l, 0);
	if (x->program < 0)
		return error_set(e, "interface %s: no program for XDP: %s",
		    l->name, strerror(errno));
	return 0;
}

int
xdp_connect(
    struct link *l, unsigned queue, const struct xdp_queue *q, struct error *e)
{
	struct xdp_rings *x = l->inside;
	int fd = xsk_socket__fd(q->socket);

	if (bpf_map_update_elem(x->maps.sockets, &queue, &fd, BPF_ANY) == 0)
		return 0;
	return error_set(e, "interface %s: no socket for queue %u: %s", l->name,
	    queue, strerror(errno));
}

static int
attach_as(const struct link *l, unsigned flags)
{
	const struct xdp_rings *x = l->inside;
	LIBBPF_OPTS(bpf_link_create_opts, o, .flags = flags);

	return bpf_link_create(x->program, l->ifindex, BPF_XDP, &o);
}

static void
offer_fast(struct link *l)
{
	const struct xdp_rings *x = l->inside;

	l->fast = x->maps.flows >= 0 ? &xdp_fast : NULL;
}

int
xdp_check_driver(struct link *l, struct error *e)
{
	uint64_t features;

	if (!l->asked && xdp_features((unsigned)l->ifindex, &features) == 0 &&
	    (features & XDP_FEATURE_BASIC) == 0)
		return error_set(e,
		    "interface %s: its driver runs no XDP programs", l->name);
	offer_fast(l);
	return 0;
}

/* In either mode: the other one is refused, too. */
static bool
is_taken(int error)
{
	return error == EBUSY || error == EEXIST;
}

/* Some drivers take no program while cards merge frames. */
static int
attach_native(struct link *l, struct xdp_rings *x)
{
	int fd = attach_as(l, XDP_FLAGS_DRV_MODE);

	if (fd >= 0 || errno != EINVAL)
		return fd;
	interface_switch_off(
	    l, &x->wants, ETH_FLAG_LRO, "large receive offload");
	return attach_as(l, XDP_FLAGS_DRV_MODE);
}

/* Without the driver's help every frame is copied once more, and merged ones
 * are lost: only for who insists. */
int
xdp_attach(struct link *l, struct error *e)
{
	struct xdp_rings *x = l->inside;
	int error;

	l->mode = "native";
	x->attached = attach_native(l, x);
	error = errno;
	if (x->attached < 0 && l->asked && !is_taken(error)) {
		l->mode = "generic";
		/* the one for this driver alone is refused here */
		close(x->program);
		x->program = load_program(l, x, 0);
		x->attached = attach_as(l, XDP_FLAGS_SKB_MODE);
		error = errno;
	}
	if (x->attached >= 0) {
		offer_fast(l);
		xdp_look_at_fast(l);
		return 0;
	}
	if (is_taken(error) && !l->asked)
		log_warn("an XDP program is there already and may take frames "
			 "away, as another director's does interface=%s",
		    l->name);
	return error_set(e, "interface %s: XDP: %s", l->name,
	    is_taken(error) ? "another program is attached already"
			    : strerror(error));
}

/* ---- addresses ---- */

static int
compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct xdp_key));
}

static struct xdp_key
key_of(const struct peer *p, unsigned bits)
{
	struct xdp_key k = { .bits = xdp_key_bits(p->family, bits),
		.family = p->family };

	memcpy(k.ip, p->ip, sizeof(k.ip));
	return k;
}

/* The keys of the filter, in order; NULL: out of memory. */
static struct xdp_key *
make_keys(const struct link_filter *f)
{
	unsigned n = f->count + f->nets;
	struct xdp_key *list = calloc((size_t)n + 1, sizeof(*list));

	if (list == NULL)
		return NULL;
	for (unsigned i = 0; i < f->count; i++)
		list[i] = key_of(
		    &f->address[i], f->address[i].family == AF_INET ? 32 : 128);
	for (unsigned i = 0; i < f->nets; i++)
		list[f->count + i] = key_of(&f->net[i].ip, f->net[i].bits);
	qsort(list, n, sizeof(*list), compare);
	return list;
}

/* Those of the first list that are not in the other one go. */
static void
remove_others(const struct xdp_rings *x, const struct xdp_key *list, unsigned n,
    const struct xdp_key *keep, unsigned keeps)
{
	for (unsigned i = 0; i < n; i++)
		if (keeps == 0 ||
		    bsearch(&list[i], keep, keeps, sizeof(*keep), compare) ==
			NULL)
			bpf_map_delete_elem(x->maps.addresses, &list[i]);
}

static int
add_all(const struct xdp_rings *x, const struct xdp_key *list, unsigned n)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < n; i++)
		if (bpf_map_update_elem(
			x->maps.addresses, &list[i], &value, BPF_ANY) != 0)
			return -1;
	return 0;
}

/* The kernel lets nobody in particular change a map only since version 5.19. */
static int
set_failed(const struct link *l, int error, struct error *e)
{
	return error_set(e, "interface %s: no filter: %s%s", l->name,
	    strerror(error),
	    error == EPERM ? "; this kernel needs CAP_BPF for XDP's maps, "
			     "dsr_link packet needs nothing"
			   : "");
}

int
xdp_set_addresses(struct link *l, const struct link_filter *f, struct error *e)
{
	struct xdp_rings *x = l->inside;
	struct xdp_key *list = make_keys(f);
	unsigned n = f->count + f->nets;
	int error;

	if (list == NULL)
		return error_set(e, "interface %s: out of memory", l->name);
	if (add_all(x, list, n) != 0) {
		error = errno;
		remove_others(x, list, n, x->key, x->keys);
		free(list);
		return set_failed(l, error, e);
	}
	remove_others(x, x->key, x->keys, list, n);
	free(x->key);
	x->key = list;
	x->keys = n;
	return 0;
}
