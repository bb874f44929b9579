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
static struct xdp_program xdp;
static int xdp_socket;
static struct xdp_entry *entry_at; /* of a fast path */
static const char *missing;

/* No frame gets to the socket: only where frames would go counts. */
static inline void
xdprun_up(const struct mac *mac, bool fast)
{
	struct xdp_program_options o = { .flows = fast ? 1000 : 0 };
	uint32_t queue = 0;

	missing = NULL;
	xdp_socket = socket(AF_XDP, SOCK_RAW, 0);
	if (xdp_socket < 0 || xdp_program_load(&xdp, &o) != 0) {
		missing = text("no XDP: %s", strerror(errno));
		ck_assert_int_eq(errno, EPERM);
		return;
	}
	ck_assert_int_eq(xdp_program_set_mac(&xdp, mac), 0);
	ck_assert_int_eq(
	    bpf_map_update_elem(xdp.sockets, &queue, &xdp_socket, 0), 0);
	if (!fast)
		return;
	entry_at = mmap(NULL, XDP_ENTRIES * sizeof(*entry_at),
	    PROT_READ | PROT_WRITE, MAP_SHARED, xdp.entries, 0);
	ck_assert_ptr_ne(entry_at, MAP_FAILED);
}

static inline void
xdprun_down(void)
{
	xdp_program_close(&xdp);
	close(xdp_socket);
}

static inline void
add_xdp(const struct peer *p, unsigned bits)
{
	struct xdp_key k = { .bits = xdp_key_bits(p->family, bits),
		.family = p->family };
	uint32_t value = 0;

	memcpy(k.ip, p->ip, sizeof(k.ip));
	ck_assert_int_eq(
	    bpf_map_update_elem(xdp.addresses, &k, &value, BPF_ANY), 0);
}

static inline void
xdprun_attach(const struct link_filter *filter)
{
	struct xdp_key k;

	while (bpf_map_get_next_key(xdp.addresses, NULL, &k) == 0)
		bpf_map_delete_elem(xdp.addresses, &k);
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

	ck_assert_int_eq(bpf_prog_test_run_opts(xdp.fd, &o), 0);
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
	return xdp.object != NULL;
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
