/* xdprun.h: the program of AF_XDP links, run by the kernel on frames by
 * themselves, bpf(2): needs its privileges. Included once by each program. */
#ifndef PEN_TEST_XDPRUN_H
#define PEN_TEST_XDPRUN_H

#include <check.h>
#include <string.h>
#ifdef HAVE_LINK_XDP
#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dsr/xdp/xdp_program.h"
#endif

#include "dsr/link/link.h"
#include "support/suite.h"

#ifdef HAVE_LINK_XDP
static struct xdp_maps maps;
static struct xdp_gate *gate_at; /* of a fast path */
static int xdp = -1;
static const char *missing;

/* Maps of a fast path, all entries closed. */
static inline void
xdprun_make_fast(uint32_t flows, uint32_t entries)
{
	LIBBPF_OPTS(bpf_map_create_opts, memory, .map_flags = BPF_F_MMAPABLE);

	maps.flows = bpf_map_create(BPF_MAP_TYPE_HASH, "flows",
	    sizeof(struct xdp_flow_key), sizeof(struct xdp_flow), flows, NULL);
	maps.entries = bpf_map_create(BPF_MAP_TYPE_ARRAY, "entries", 4,
	    sizeof(struct xdp_gate), entries, &memory);
	if (maps.entries < 0)
		return;
	gate_at = mmap(NULL, entries * sizeof(*gate_at), PROT_READ | PROT_WRITE,
	    MAP_SHARED, maps.entries, 0);
	ck_assert_ptr_ne(gate_at, MAP_FAILED);
	maps.totals = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "totals", 4,
	    sizeof(struct frame_count), 1, NULL);
}

/* In place of sockets: where frames go does not count, and a device is easier
 * to come by. */
static inline void
xdprun_up(const struct mac *mac, bool fast)
{
	struct xdp_program p;
	uint32_t queue = 0, loopback = 1;
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_NO_PREALLOC);

	missing = NULL;
	maps.addresses = bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, "addresses",
	    sizeof(struct xdp_key), 4, 4000, &o);
	maps.flows = maps.entries = maps.totals = -1;
	maps.sockets =
	    bpf_map_create(BPF_MAP_TYPE_DEVMAP, "devices", 4, 4, 1, NULL);
	if (fast)
		xdprun_make_fast(1000, 4);
	if (maps.addresses < 0 || maps.sockets < 0) {
		missing = text("no maps: %s", strerror(errno));
		ck_assert_int_eq(errno, EPERM);
		return;
	}
	ck_assert_int_eq(
	    bpf_map_update_elem(maps.sockets, &queue, &loopback, BPF_ANY), 0);
	/* the longest one, which only a driver's own interface takes */
	xdp_program_write(&p, mac, 1, &maps);
	ck_assert_uint_lt(p.count, XDP_PROGRAM_MAX);
	xdp_program_write(&p, mac, 0, &maps);
	xdp = bpf_prog_load(
	    BPF_PROG_TYPE_XDP, "test", "GPL", p.at, p.count, NULL);
	ck_assert_int_ge(xdp, 0);
}

static inline void
xdprun_down(void)
{
	close(xdp);
	close(maps.addresses);
	close(maps.sockets);
	if (maps.flows >= 0) {
		close(maps.flows);
		close(maps.entries);
		close(maps.totals);
	}
	xdp = -1;
}

static inline void
add_xdp(const struct peer *p, unsigned bits)
{
	struct xdp_key k = { .bits = xdp_key_bits(p->family, bits),
		.family = p->family };
	uint32_t value = 0;

	memcpy(k.ip, p->ip, sizeof(k.ip));
	ck_assert_int_eq(
	    bpf_map_update_elem(maps.addresses, &k, &value, BPF_ANY), 0);
}

static inline void
xdprun_attach(const struct link_filter *filter)
{
	struct xdp_key k;

	while (bpf_map_get_next_key(maps.addresses, NULL, &k) == 0)
		bpf_map_delete_elem(maps.addresses, &k);
	for (unsigned i = 0; i < filter->count; i++)
		add_xdp(&filter->address[i],
		    filter->address[i].family == AF_INET ? 32 : 128);
	for (unsigned i = 0; i < filter->nets; i++)
		add_xdp(&filter->net[i].ip, filter->net[i].bits);
}

/* What becomes of the frame, which is in `got` afterwards. */
static inline enum xdp_action
xdprun_run(unsigned char *frame, size_t n, unsigned char *got, size_t room)
{
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = frame,
	    .data_size_in = (uint32_t)n, .data_out = got,
	    .data_size_out = (uint32_t)room, .repeat = 1);

	ck_assert_int_eq(bpf_prog_test_run_opts(xdp, &o), 0);
	ck_assert_uint_eq(o.data_size_out, n);
	return o.retval;
}

/* The kernel runs nothing that has no Ethernet header. */
static inline bool
xdprun_passes(unsigned char *frame, size_t n)
{
	unsigned char got[256];
	enum xdp_action verdict;

	if (n < 14)
		return false;
	verdict = xdprun_run(frame, n, got, sizeof(got));
	ck_assert(verdict == XDP_PASS || verdict == XDP_REDIRECT);
	ck_assert_mem_eq(got, frame, n);
	return verdict == XDP_REDIRECT;
}
static inline bool
xdprun_is_up(void)
{
	return xdp >= 0;
}
#define NEED_XDP()                     \
	do {                           \
		if (missing != NULL)   \
			SKIP(missing); \
	} while (0)
#else
static inline bool
xdprun_is_up(void)
{
	return false;
}
static inline void
xdprun_attach(const struct link_filter *filter)
{
	(void)filter;
}
static inline bool
xdprun_passes(unsigned char *frame, size_t n)
{
	(void)frame;
	return n == 0;
}
#define NEED_XDP() (void)0
#endif

#endif
