/* test_xdp_fast.c: the fast path of the program, run by the kernel: what
 * it sends is what the parser calls a plain frame of a flow, and all of
 * that. */
#include "config.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dsr/flows/dsr_flows.h"
#include "dsr/frame/frame.h"
#include "dsr/xdp/xdp_program.h"
#include "support/framegen.h"
#include "support/suite.h"
#include "support/veth.h"
#ifdef HAVE_BPF_CLANG
#include "unit/dsr/xdp_tree.h"
#endif

enum { ENTRY = 2, EPOCH = 77, LONGEST = 1514, ROOM = 4096 };

static const struct mac ours = { { 2, 0, 0, 0xaa, 0xbb, 0xcc } },
			server = { { 2, 1, 2, 3, 4, 5 } };

static unsigned char got[ROOM];
static struct xdp_program xdp;
static struct xdp_entry *entry_at;
static const char *missing;

#define NEED_XDP()                     \
	do {                           \
		if (missing != NULL)   \
			SKIP(missing); \
	} while (0)

/* The program, run by the kernel on frames by themselves, bpf(2). */
typedef int loader(struct xdp_program *p, const struct xdp_program_options *o);

static void
up_program(loader *load)
{
	struct xdp_program_options o = { .flows = 1000 };

	missing = NULL;
	if (load(&xdp, &o) != 0) {
		missing = text("no XDP: %s", strerror(errno));
		ck_assert_int_eq(errno, EPERM);
		return;
	}
	ck_assert_int_eq(xdp_program_set_mac(&xdp, &ours), 0);
	entry_at = mmap(NULL, XDP_ENTRIES * sizeof(*entry_at),
	    PROT_READ | PROT_WRITE, MAP_SHARED, xdp.entries, 0);
	ck_assert_ptr_ne(entry_at, MAP_FAILED);
}

static void
up(void)
{
	up_program(xdp_program_load);
}

#ifdef HAVE_BPF_CLANG
static void
up_tree(void)
{
	up_program(xdp_tree_load);
}
#endif

static void
down(void)
{
	xdp_program_close(&xdp);
}

static enum xdp_action
xdprun_run(unsigned char *frame, size_t n, unsigned char *out, size_t room)
{
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = frame,
	    .data_size_in = (uint32_t)n, .data_out = out,
	    .data_size_out = (uint32_t)room, .repeat = 1);

	ck_assert_int_eq(bpf_prog_test_run_opts(xdp.fd, &o), 0);
	ck_assert_uint_eq(o.data_size_out, n);
	return o.retval;
}

static void
set_entry(uint16_t longest, uint32_t epoch)
{
	struct link_entry g = {
		.to = server, .longest = longest, .epoch = epoch
	};

	xdp_entry_set(&entry_at[ENTRY], &g);
}

static struct xdp_flow_key
key_of(const struct frame *f)
{
	struct xdp_flow_key key;

	memset(&key, 0, sizeof(key));
	dsr_key_make(&key.flow, &f->from, &f->to, f->protocol);
	return key;
}

/* Tells of the flow that the frame is of. */
static void
carry(const struct frame *f)
{
	struct xdp_flow_key key = key_of(f);
	struct xdp_flow flow = { .entry = ENTRY, .epoch = EPOCH };

	ck_assert_int_eq(bpf_map_update_elem(xdp.flows, &key, &flow, 0), 0);
}

static struct xdp_flow
flow_of(const struct frame *f)
{
	struct xdp_flow_key key = key_of(f);
	struct xdp_flow flow;

	ck_assert_int_eq(bpf_map_lookup_elem(xdp.flows, &key, &flow), 0);
	return flow;
}

/* Whether the frame goes on as it must, or is left to the kernel, as it was. */
static bool
goes(unsigned char *frame, size_t n)
{
	enum xdp_action verdict = xdprun_run(frame, n, got, sizeof(got));

	if (verdict != XDP_TX) {
		ck_assert_int_eq(verdict, XDP_PASS);
		ck_assert_mem_eq(got, frame, n);
		return false;
	}
	ck_assert_mem_eq(got, server.byte, 6);
	ck_assert_mem_eq(got + 6, ours.byte, 6);
	ck_assert_mem_eq(got + 12, frame + 12, n - 12);
	return true;
}

/* ---- one flow ---- */

static const struct peer client4 = { .family = AF_INET,
	.port = 40000,
	.ip = { [10] = 0xff, 0xff, 198, 51, 100, 7 } },
			 vip4 = { .family = AF_INET,
				 .port = 443,
				 .ip = { [10] = 0xff, 0xff, 192, 0, 2, 1 } },
			 client6 = { .family = AF_INET6,
				 .port = 40000,
				 .ip = { 0x20, 1, 0xd, 0xb8, [15] = 7 } },
			 vip6 = { .family = AF_INET6,
				 .port = 443,
				 .ip = { 0x20, 1, 0xd, 0xb8, 1, [15] = 1 } };

/* An ACK of a connection, to us. */
static size_t
segment(unsigned char *out, bool v6, uint8_t flags)
{
	struct frame_head head = { .to = ours,
		.from = { { 2, 9, 9, 9, 9, 9 } } };
	struct tcp_segment s = {
		.seq = 1, .ack = 2, .flags = flags, .window = 99
	};
	size_t n = frame_make_tcp(
	    out, ROOM, &head, v6 ? &client6 : &client4, v6 ? &vip6 : &vip4, &s);

	ck_assert_uint_gt(n, 0);
	return n;
}

static void
begin(unsigned char *out, size_t *n, bool v6)
{
	struct frame f;

	*n = segment(out, v6, FRAME_ACK);
	frame_parse(&f, out, *n);
	ck_assert_int_eq(f.kind, FRAME_FLOW);
	carry(&f);
	set_entry(LONGEST, EPOCH);
}

START_TEST(a_flow_that_it_was_told_of)
{
	unsigned char frame[ROOM];
	struct frame_count *totals;
	struct xdp_flow flow;
	uint64_t frames = 0, bytes = 0;
	uint32_t first = 0;
	struct frame f;
	size_t n;
	int i, all = libbpf_num_possible_cpus();

	NEED_XDP();
	n = segment(frame, _i, FRAME_ACK);
	frame_parse(&f, frame, n);
	set_entry(LONGEST, EPOCH);
	ck_assert(!goes(frame, n));
	carry(&f);
	for (i = 0; i < 3; i++)
		ck_assert(goes(frame, n));
	flow = flow_of(&f);
	ck_assert_uint_eq(flow.frames, 3);
	ck_assert_uint_eq(flow.bytes, 3 * n);
	ck_assert_uint_gt(flow.used_ns, 0);
	totals = calloc((size_t)all, sizeof(*totals));
	ck_assert_ptr_nonnull(totals);
	ck_assert_int_eq(bpf_map_lookup_elem(xdp.totals, &first, totals), 0);
	for (i = 0; i < all; i++) {
		frames += totals[i].frames;
		bytes += totals[i].bytes;
	}
	free(totals);
	ck_assert_uint_eq(frames, 3);
	ck_assert_uint_eq(bytes, 3 * n);
}
END_TEST

START_TEST(entries)
{
	unsigned char frame[ROOM];
	size_t n;

	NEED_XDP();
	begin(frame, &n, _i);
	ck_assert(goes(frame, n));
	set_entry(0, EPOCH);
	ck_assert(!goes(frame, n));
	set_entry((uint16_t)(n - 1), EPOCH);
	ck_assert(!goes(frame, n));
	set_entry((uint16_t)n, EPOCH);
	ck_assert(goes(frame, n));
	set_entry(LONGEST, EPOCH + 1);
	ck_assert(!goes(frame, n));
	set_entry(LONGEST, EPOCH);
	ck_assert(goes(frame, n));
}
END_TEST

/* ---- an entry that changes while frames are forwarded ---- */

static const struct mac one = { { 2, 0x11, 0x11, 0x11, 0x11, 0x11 } },
			other = { { 2, 0x22, 0x22, 0x22, 0x22, 0x22 } };
static atomic_bool over;

static void
change_entries(const struct link_entry *list, unsigned n)
{
	for (unsigned i = 0; !over; i++)
		xdp_entry_set(&entry_at[ENTRY], &list[i % n]);
}

/* To one server, to none, to the other one, to none .. */
static void *
change_mac(void *arg)
{
	const struct link_entry list[] = {
		{ .to = one, .longest = LONGEST, .epoch = EPOCH },
		{ .longest = 0, .epoch = EPOCH },
		{ .to = other, .longest = LONGEST, .epoch = EPOCH },
		{ .longest = 0, .epoch = EPOCH }
	};

	(void)arg;
	change_entries(list, 4);
	return NULL;
}

/* To another server in another epoch, as when servers are replaced. */
static void *
change_epoch(void *arg)
{
	const struct link_entry list[] = {
		{ .to = one, .longest = LONGEST, .epoch = EPOCH },
		{ .to = other, .longest = LONGEST, .epoch = EPOCH + 1 }
	};

	(void)arg;
	change_entries(list, 2);
	return NULL;
}

/* Runs frames while the entry changes. None may go to a MAC but these two. */
static void
run_while(void *(*change)(void *), const struct mac *a, const struct mac *b)
{
	unsigned char frame[ROOM];
	long i, sent = 0, wrong = 0;
	pthread_t changer;
	size_t n;

	begin(frame, &n, false);
	set_entry(0, EPOCH);
	over = false;
	ck_assert_int_eq(pthread_create(&changer, NULL, change, NULL), 0);
	for (i = 0; i < suite_amount(300000, 10000) || sent == 0; i++) {
		if (xdprun_run(frame, n, got, sizeof(got)) != XDP_TX)
			continue;
		sent++;
		wrong += memcmp(got, a->byte, 6) != 0 &&
		    memcmp(got, b->byte, 6) != 0;
	}
	over = true;
	pthread_join(changer, NULL);
	ck_assert_int_eq(wrong, 0);
}

START_TEST(no_entry_is_half_set)
{
	NEED_XDP();
	if (suite_is_in_valgrind())
		SKIP("one thread at a time tears nothing");
	run_while(change_mac, &one, &other);
}
END_TEST

START_TEST(no_frame_goes_to_another_epoch)
{
	NEED_XDP();
	if (suite_is_in_valgrind())
		SKIP("one thread at a time tears nothing");
	run_while(change_epoch, &one, &one);
}
END_TEST

START_TEST(other_macs_and_groups)
{
	unsigned char frame[ROOM];
	size_t n;

	NEED_XDP();
	begin(frame, &n, _i);
	frame[5] ^= 1;
	ck_assert(!goes(frame, n));
	memset(frame, 0xff, 6);
	ck_assert(!goes(frame, n));
	memcpy(frame, ours.byte, 6);
	ck_assert(goes(frame, n));
}
END_TEST

/* Frames are to the new one only, and leave from it. */
START_TEST(another_mac)
{
	static const struct mac now = { { 2, 0, 0, 0, 0, 0x77 } };
	unsigned char frame[ROOM];
	size_t n;

	NEED_XDP();
	begin(frame, &n, _i);
	ck_assert_int_eq(xdp_program_set_mac(&xdp, &now), 0);
	ck_assert(!goes(frame, n));
	memcpy(frame, now.byte, 6);
	ck_assert_int_eq(xdprun_run(frame, n, got, sizeof(got)), XDP_TX);
	ck_assert_mem_eq(got, server.byte, 6);
	ck_assert_mem_eq(got + 6, now.byte, 6);
}
END_TEST

/* Connections begin and end where flows are known. */
START_TEST(flags_of_tcp)
{
	unsigned char frame[ROOM];
	uint8_t flags;
	size_t n;

	NEED_XDP();
	begin(frame, &n, _i);
	for (flags = 0; flags < 64; flags++) {
		n = segment(frame, _i, flags);
		ck_assert_msg(goes(frame, n) ==
			((flags &
			     (FRAME_SYN | FRAME_FIN | FRAME_RST | FRAME_ACK)) ==
			    FRAME_ACK),
		    "flags %u", flags);
	}
}
END_TEST

/* ---- by dice ---- */

static uint16_t
word(const unsigned char *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

/* The checksum's field is what a sender leaves to its card. */
static bool
is_left_to_do(const struct frame *f)
{
	const unsigned char *ip = f->bytes + f->net,
			    *at = f->bytes + f->transport;
	unsigned width = f->family == AF_INET ? 4 : 16;
	const unsigned char *from = ip + (f->family == AF_INET ? 12 : 8);
	unsigned bytes = f->net + f->packet - f->transport, i;
	bool udp = f->protocol == IPPROTO_UDP;
	uint32_t sum;

	if (udp)
		bytes = word(at + 4);
	sum = bytes + f->protocol;
	for (i = 0; i < 2 * width; i += 2)
		sum += word(from + i);
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return word(at + (udp ? 6 : 16)) == sum;
}

static bool
is_plain(const struct frame *f)
{
	unsigned head = f->family == AF_INET ? 20 : 40;

	return f->kind == FRAME_FLOW && f->net == FRAME_HEAD &&
	    f->transport == f->net + head && !f->first_fragment &&
	    (f->protocol == IPPROTO_UDP ||
		(f->tcp_flags &
		    (FRAME_SYN | FRAME_FIN | FRAME_RST | FRAME_ACK)) ==
		    FRAME_ACK) &&
	    f->length <= LONGEST && !is_left_to_do(f);
}

static void
carry_if_it_is_of_one(const struct frame *f)
{
	if (f->kind == FRAME_FLOW)
		carry(f);
}

static void
forget_all(void)
{
	struct xdp_flow_key key;

	while (bpf_map_get_next_key(xdp.flows, NULL, &key) == 0)
		bpf_map_delete_elem(xdp.flows, &key);
}

/* Three of four are made to be TCP in the middle of a connection, where they
 * are TCP. */
static void
calm(struct framegen_frame *m, struct framegen *g)
{
	struct frame f;

	frame_parse(&f, m->bytes, m->length);
	if (f.kind == FRAME_FLOW && f.protocol == IPPROTO_TCP &&
	    framegen_below(g, 4) != 0)
		m->bytes[f.transport + 13] = FRAME_ACK;
	memcpy(m->bytes, ours.byte, 6);
}

/* A corrupted frame may still have the addresses and ports that its flow had.
 */
static unsigned
roll_frames(bool corrupt, unsigned rounds, unsigned *sent)
{
	static struct framegen g = { .anybody = true };
	static struct framegen_frame m;
	unsigned n = 0;

	set_entry(LONGEST, EPOCH);
	*sent = 0;
	for (unsigned i = 0; i < rounds; i++) {
		struct frame f, before;
		const char *way = "good";

		framegen_seed(&g, i);
		framegen_next(&g, &m);
		calm(&m, &g);
		frame_parse(&before, m.bytes, m.length);
		carry_if_it_is_of_one(&before);
		if (corrupt)
			way = framegen_corrupt(&g, &m);
		if (m.length < FRAME_HEAD)
			continue;
		memcpy(m.bytes, ours.byte, 6);
		frame_parse(&f, m.bytes, m.length);
		carry_if_it_is_of_one(&f);
		if (goes(m.bytes, m.length) != is_plain(&f))
			ck_abort_msg("seed %u (%s): %s", i, way,
			    is_plain(&f) ? "was not sent" : "was sent");
		*sent += is_plain(&f);
		n++;
		forget_all();
	}
	return n;
}

START_TEST(good_frames_by_dice)
{
	unsigned rounds = (unsigned)suite_rounds(10000), sent;

	NEED_XDP();
	ck_assert_uint_gt(roll_frames(false, rounds, &sent), rounds / 10 * 9);
	ck_assert_uint_gt(sent, rounds / 20);
}
END_TEST

START_TEST(corrupted_frames_by_dice)
{
	unsigned rounds = (unsigned)suite_rounds(10000), sent;

	NEED_XDP();
	ck_assert_uint_gt(roll_frames(true, rounds, &sent), rounds / 10 * 9);
	ck_assert_uint_gt(sent, rounds / 100);
}
END_TEST

#ifdef HAVE_BPF_CLANG
/* The kernel takes it for a driver that has tags apart. */
START_TEST(tags_apart_of_the_sources)
{
	const char *why = veth_up();
	struct xdp_program_options o = { .flows = 1000 };

	if (why != NULL)
		SKIP(why);
	NEED_XDP();
	o.tags_of = o.back = (int)if_nametoindex("near");
	xdp_program_close(&xdp);
	ck_assert_msg(
	    xdp_tree_load(&xdp, &o) == 0, "%s", strerror(errno));
}
END_TEST
#endif

static TCase *
add_case(Suite *s, const char *name, void (*start)(void))
{
	TCase *t = tcase_create(name);

	tcase_add_checked_fixture(t, start, down);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, a_flow_that_it_was_told_of, 0, 2);
	tcase_add_loop_test(t, entries, 0, 2);
	tcase_add_test(t, no_entry_is_half_set);
	tcase_add_test(t, no_frame_goes_to_another_epoch);
	tcase_add_loop_test(t, other_macs_and_groups, 0, 2);
	tcase_add_loop_test(t, another_mac, 0, 2);
	tcase_add_loop_test(t, flags_of_tcp, 0, 2);
	tcase_add_test(t, good_frames_by_dice);
	tcase_add_test(t, corrupted_frames_by_dice);
	suite_add_tcase(s, t);
	return t;
}

/* Of another version of clang, the bytes in the sources are not those of this
 * build, but decide alike. */
SUITE(test_xdp_fast)
{
	Suite *s = suite_create("xdp_fast");

	add_case(s, "xdp_fast", up);
#ifdef HAVE_BPF_CLANG
	if (xdp_tree_differs())
		tcase_add_test(add_case(s, "tree", up_tree),
		    tags_apart_of_the_sources);
#endif
	return s;
}
