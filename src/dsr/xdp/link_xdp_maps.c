/* link_xdp_maps.c: the program of an AF_XDP link, its maps, and where it is
 * attached. */
#include "config.h"

#include <bpf/bpf.h>
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

/* Loads the program, without a fast path if the kernel refuses that. */
static int
load_program(struct link *l, uint32_t flows)
{
	struct xdp_rings *x = l->inside;
	int error;

	if (flows > 0 && xdp_load_fast(x, flows) == 0)
		return 0;
	error = errno;
	if (xdp_program_load(&x->program, &x->options) != 0)
		return -1;
	if (flows > 0)
		log_warn("fast path not available interface=%s "
			 "error=\"%s\"",
		    l->name, strerror(error));
	return 0;
}

static int
load_failed(const struct link *l, const char *why, struct error *e)
{
	return error_set(
	    e, "interface %s: %s: %s", l->name, why, strerror(errno));
}

int
xdp_load(struct link *l, const struct link_filter *f, struct error *e)
{
	static const char no_program[] = "cannot load the XDP program";
	struct xdp_rings *x = l->inside;

	x->options = (struct xdp_program_options){ .flows = 0 };
	if (x->book->tags_apart) {
		x->options.tags_of = x->options.back = l->ifindex;
		if (load_program(l, f->fast_flows) == 0)
			return 0;
		if (!l->asked)
			return load_failed(l,
			    errno == EPERM ? no_program
					   : "this kernel keeps VLAN tags "
					     "from XDP",
			    e);
		x->options.tags_of = 0;
	}
	return load_program(l, f->fast_flows) == 0
	    ? 0
	    : load_failed(l, no_program, e);
}

int
xdp_connect(
    struct link *l, unsigned queue, const struct xdp_queue *q, struct error *e)
{
	struct xdp_rings *x = l->inside;
	int fd = q->fd;

	if (bpf_map_update_elem(x->program.sockets, &queue, &fd, BPF_ANY) == 0)
		return 0;
	return error_set(e,
	    "interface %s: cannot add the socket of queue %u: %s",
	    l->name, queue, strerror(errno));
}

static int
attach_as(const struct link *l, unsigned flags)
{
	const struct xdp_rings *x = l->inside;
	LIBBPF_OPTS(bpf_link_create_opts, o, .flags = flags);

	return bpf_link_create(x->program.fd, l->ifindex, BPF_XDP, &o);
}

static void
offer_fast(struct link *l)
{
	const struct xdp_rings *x = l->inside;

	l->fast = x->entries != NULL ? &xdp_fast : NULL;
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

/* Another program is attached, in either mode. */
static bool
is_taken(int error)
{
	return error == EBUSY || error == EEXIST;
}

/* Some drivers take no program while LRO is on. */
static int
attach_native(struct link *l, struct xdp_rings *x)
{
	int fd = attach_as(l, XDP_FLAGS_DRV_MODE);

	if (fd >= 0 || errno != EINVAL)
		return fd;
	interface_switch_off(
	    l, &x->changes, ETH_FLAG_LRO, "large receive offload");
	return attach_as(l, XDP_FLAGS_DRV_MODE);
}

/* In generic mode every frame is copied once more, and frames longer than the
 * MTU are lost: only if this kind is set. */
int
xdp_attach(struct link *l, struct error *e)
{
	struct xdp_rings *x = l->inside;
	int error;

	snprintf(x->book->mode, sizeof(x->book->mode), "native");
	x->attached = attach_native(l, x);
	error = errno;
	if (x->attached < 0 && l->asked && !is_taken(error)) {
		snprintf(x->book->mode, sizeof(x->book->mode), "generic");
		/* generic mode refuses a program that is one driver's */
		x->options.tags_of = 0;
		x->attached = xdp_program_load(&x->program, &x->options) == 0
		    ? attach_as(l, XDP_FLAGS_SKB_MODE)
		    : -1;
		error = errno;
	}
	if (x->attached >= 0) {
		offer_fast(l);
		xdp_recheck_fast(l);
		return 0;
	}
	if (is_taken(error) && !l->asked)
		log_warn("another XDP program is attached and may take "
			 "frames, for example that of another director "
			 "interface=%s",
		    l->name);
	return error_set(e, "interface %s: XDP: %s", l->name,
	    is_taken(error) ? "another program is attached already"
			    : strerror(error));
}

/* ---- addresses ---- */

static int
xdp_key_compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct xdp_key));
}

static struct xdp_key
xdp_key_of(const struct peer *p, unsigned bits)
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
		list[i] = xdp_key_of(
		    &f->address[i], f->address[i].family == AF_INET ? 32 : 128);
	for (unsigned i = 0; i < f->nets; i++)
		list[f->count + i] = xdp_key_of(&f->net[i].ip, f->net[i].bits);
	qsort(list, n, sizeof(*list), xdp_key_compare);
	return list;
}

void
xdp_read_addresses(struct xdp_rings *x)
{
	struct xdp_key *grown;
	const struct xdp_key *last;

	x->keys = 0;
	for (;; x->keys++) {
		grown = realloc(x->key, (x->keys + 1) * sizeof(*grown));
		if (grown == NULL)
			break;
		last = x->keys > 0 ? &grown[x->keys - 1] : NULL;
		x->key = grown;
		if (bpf_map_get_next_key(
			x->program.addresses, last, &grown[x->keys]) != 0)
			break;
	}
	qsort(x->key, x->keys, sizeof(*x->key), xdp_key_compare);
}

/* Removes the keys of the first list that are not in the other one. */
static void
remove_others(const struct xdp_rings *x, const struct xdp_key *list, unsigned n,
    const struct xdp_key *keep, unsigned keeps)
{
	for (unsigned i = 0; i < n; i++)
		if (keeps == 0 ||
		    bsearch(&list[i], keep, keeps, sizeof(*keep),
			xdp_key_compare) == NULL)
			bpf_map_delete_elem(x->program.addresses, &list[i]);
}

/* Since Linux 5.19 a process without privileges may change a map. */
static int
set_failed(const struct link *l, const char *what, int error, struct error *e)
{
	return error_set(e,
	    "interface %s: cannot set the %s of the XDP program: %s%s", l->name,
	    what, strerror(error),
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
	uint32_t value = 0;
	unsigned i;
	int error;

	if (list == NULL)
		return error_set(e, "interface %s: out of memory", l->name);
	if (xdp_program_set_mac(&x->program, &l->mac) != 0) {
		error = errno;
		free(list);
		return set_failed(l, "MAC", error, e);
	}
	for (i = 0; i < n; i++) {
		if (bpf_map_update_elem(
			x->program.addresses, &list[i], &value, BPF_ANY) == 0)
			continue;
		error = errno;
		remove_others(x, list, n, x->key, x->keys);
		free(list);
		return set_failed(l, "addresses", error, e);
	}
	remove_others(x, x->key, x->keys, list, n);
	free(x->key);
	x->key = list;
	x->keys = n;
	return 0;
}
