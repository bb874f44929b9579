/* test_link_xdp_chunks.c: chunks for frames of AF_XDP links, against a kernel
 * made of rings in memory of this process: none is ever lost, or in two
 * hands. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/link/link_kinds.h"
#include "dsr/xdp/link_xdp.h"
#include "support/suite.h"

enum {
	QUEUES = 3,
	FILL = 64,   /* chunks that a queue can have */
	SPARE = 100, /* fewer than can be on their way: some must wait */
	CHUNKS = QUEUES * FILL + SPARE,
	OUT = 64,
	DONE = 128,
	BATCH = 64,
	RING = 128, /* of those above, the largest */
	SIZE = XDP_SMALL
};

struct ring {
	uint32_t producer, consumer, flags;
	union {
		uint64_t address[RING];
		struct xdp_desc frame[RING];
	} u;
};

static struct ring fill[QUEUES], in[QUEUES], done[QUEUES], out;
static struct xdp_queue queue[QUEUES];
static struct xdp_rings x;
static struct link l;
static _Alignas(4096) unsigned char memory[CHUNKS * SIZE];
static struct xdp_book book;
static uint32_t received[CHUNKS];
static uint8_t state[CHUNKS];
static uint64_t on_the_way[DONE];
static unsigned leaving;
/* Marks of frames in the order in which they are to be sent, and of those on
 * their way. */
static uint32_t expected[OUT], expected_first, expected_last, way_mark[DONE];

static void
set_up(struct ring *r, uint32_t size, uint32_t *mask, uint32_t *n,
    uint32_t **producer, uint32_t **consumer, void **ring, uint32_t **flags)
{
	memset(r, 0, sizeof(*r));
	*mask = size - 1;
	*n = size;
	*producer = &r->producer;
	*consumer = &r->consumer;
	*ring = &r->u;
	*flags = &r->flags;
}

#define SET_UP(r, many, p)                                      \
	set_up(r, many, &(p)->mask, &(p)->size, &(p)->producer, \
	    &(p)->consumer, &(p)->ring, &(p)->flags)

static void
up(void)
{
	memset(&x, 0, sizeof(x));
	memset(&l, 0, sizeof(l));
	memset(queue, 0, sizeof(queue));
	memset(&book, 0, sizeof(book));
	memset(state, 0, sizeof(state));
	leaving = expected_first = expected_last = 0;
	x.changes.fd = x.netlink = -1;
	x.memory = memory;
	x.size = sizeof(memory);
	book.shift = 11;
	book.chunks = CHUNKS;
	x.book = &book;
	x.out_fd = -1;
	x.received = received;
	x.state = state;
	x.queue = queue;
	book.queues = QUEUES;
	for (book.free_n = 0; book.free_n < CHUNKS; book.free_n++)
		book.free[book.free_n] = book.free_n;
	SET_UP(&out, OUT, &x.ring);
	x.ring.cached_cons = OUT;
	for (unsigned i = 0; i < QUEUES; i++) {
		SET_UP(&fill[i], FILL, &queue[i].fill);
		queue[i].fill.cached_cons = FILL;
		SET_UP(&in[i], FILL, &queue[i].in);
		SET_UP(&done[i], DONE, &queue[i].done);
		queue[i].fd = -1;
		book.due[i] = FILL;
		xdp_fill(&x, &queue[i]);
	}
	l = (struct link){ .ops = &link_xdp,
		.fd = -1,
		.mtu = 1500,
		.up = true,
		.inside = &x,
		.name = "none" };
}

/* ---- the kernel ---- */

static uint32_t
mark_at(uint64_t address)
{
	uint32_t mark;

	memcpy(&mark, memory + address, sizeof(mark));
	return mark;
}

/* A frame comes in; false: the queue has no chunk. */
static bool
comes(unsigned i, uint32_t mark)
{
	uint64_t at;

	if (fill[i].consumer == fill[i].producer ||
	    in[i].producer - in[i].consumer == FILL)
		return false;
	at = fill[i].u.address[fill[i].consumer++ % FILL];
	memset(memory + at + XDP_FRONT, 0, 60);
	memcpy(memory + at + XDP_FRONT, &mark, sizeof(mark));
	in[i].u.frame[in[i].producer % FILL] =
	    (struct xdp_desc){ .addr = at + XDP_FRONT, .len = 60 };
	__atomic_store_n(&in[i].producer, in[i].producer + 1, __ATOMIC_RELEASE);
	return true;
}

/* The kernel begins to send; returns false: nothing waits, or no room. */
static bool
goes(void)
{
	const struct xdp_desc *d;

	if (out.consumer == out.producer ||
	    leaving + (done[0].producer - done[0].consumer) == DONE)
		return false;
	d = &out.u.frame[out.consumer % OUT];
	if (mark_at(d->addr) != expected[expected_first % OUT])
		ck_abort_msg("another frame is sent");
	way_mark[leaving] = expected[expected_first++ % OUT];
	on_the_way[leaving++] = d->addr;
	__atomic_store_n(&out.consumer, out.consumer + 1, __ATOMIC_RELEASE);
	return true;
}

/* One of those on their way, in no order, has left. */
static bool
has_gone(void)
{
	unsigned i;

	if (leaving == 0)
		return false;
	i = (unsigned)rand() % leaving;
	if (mark_at(on_the_way[i]) != way_mark[i])
		ck_abort_msg("a frame on its way was written over");
	done[0].u.address[done[0].producer % DONE] = on_the_way[i];
	on_the_way[i] = on_the_way[--leaving];
	way_mark[i] = way_mark[leaving];
	__atomic_store_n(
	    &done[0].producer, done[0].producer + 1, __ATOMIC_RELEASE);
	return true;
}

/* ---- where all chunks are ---- */

static void
count(unsigned n[CHUNKS], uint64_t address)
{
	if (address / SIZE >= CHUNKS)
		ck_abort_msg("no chunk at all");
	n[address / SIZE]++;
}

/* Each is in one hand, but for those that are the caller's and the kernel's. */
static void
expect_all_places(void)
{
	unsigned n[CHUNKS] = { 0 }, sent[CHUNKS] = { 0 };

	for (unsigned i = 0; i < book.free_n; i++)
		n[book.free[i]]++;
	for (unsigned i = 0; i < x.received_n; i++)
		n[received[i]]++;
	for (unsigned q = 0; q < QUEUES; q++) {
		for (uint32_t i = fill[q].consumer; i != fill[q].producer; i++)
			count(n, fill[q].u.address[i % FILL]);
		for (uint32_t i = in[q].consumer; i != in[q].producer; i++)
			count(n, in[q].u.frame[i % FILL].addr);
	}
	for (uint32_t i = out.consumer; i != out.producer; i++)
		count(sent, out.u.frame[i % OUT].addr);
	for (unsigned i = 0; i < leaving; i++)
		count(sent, on_the_way[i]);
	for (uint32_t i = done[0].consumer; i != done[0].producer; i++)
		count(sent, done[0].u.address[i % DONE]);
	for (unsigned i = 0; i < CHUNKS; i++) {
		bool both = state[i] == XDP_SENT && n[i] == 1 && sent[i] == 1;

		if (n[i] + sent[i] != 1 && !both)
			ck_abort_msg("chunk %u: %u and %u, state %u", i, n[i],
			    sent[i], state[i]);
	}
}

static void
expect_nothing_lost(void)
{
	link_release(&l);
	for (unsigned i = 0; i < 4; i++) {
		while (goes() || has_gone())
			;
		link_refresh(&l);
	}
	expect_all_places();
	ck_assert_uint_eq(book.free_n, SPARE);
	for (unsigned i = 0; i < QUEUES; i++) {
		ck_assert_uint_eq(book.due[i], 0);
		ck_assert_uint_eq(fill[i].producer - fill[i].consumer, FILL);
	}
}

/* ---- the caller ---- */

static struct link_frame list[CHUNKS]; /* received since the last release */
static unsigned listed;
static unsigned char own[BATCH][60];

static void
receive(void)
{
	unsigned most = 1 + (unsigned)rand() % BATCH;
	int n;

	if (listed + most > CHUNKS)
		return;
	n = link_receive(&l, list + listed, most);
	if (n < 0 || (unsigned)n > most)
		ck_abort_msg("%d frames", n);
	listed += (unsigned)n;
}

/* Frames received, some twice, and some of our own, all mixed. */
static void
send_some(void)
{
	struct link_frame send[BATCH];
	unsigned n = (unsigned)rand() % BATCH;
	uint32_t mark;
	int taken;

	for (unsigned i = 0; i < n; i++) {
		if (listed > 0 && rand() % 4 > 0) {
			send[i] = list[(unsigned)rand() % listed];
			continue;
		}
		mark = (uint32_t)rand();
		memcpy(own[i], &mark, sizeof(mark));
		send[i] = (struct link_frame){ .bytes = own[i], .length = 60 };
	}
	taken = link_send(&l, send, n);
	if (taken < 0 || (unsigned)taken > n)
		ck_abort_msg("%d sent of %u", taken, n);
	for (int i = 0; i < taken; i++)
		memcpy(&expected[expected_last++ % OUT], send[i].bytes,
		    sizeof(mark));
	memset(own, 0xff, sizeof(own));
}

static void
step(void)
{
	unsigned n = 1 + (unsigned)rand() % 32, what = (unsigned)rand() % 16;
	unsigned q = (unsigned)rand() % QUEUES;

	if (what < 4)
		while (n-- > 0 && comes(q, (uint32_t)rand()))
			;
	else if (what < 7)
		while (n-- > 0 && goes())
			;
	else if (what < 9)
		while (n-- > 0 && has_gone())
			;
	else if (what < 12)
		receive();
	else if (what < 15)
		send_some();
	else {
		link_release(&l);
		listed = 0;
	}
}

START_TEST(no_place_is_lost_or_in_two_hands)
{
	enum { STEPS = 200000, SEEDS = 4 };

	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		up();
		srand(seed);
		listed = 0;
		for (unsigned i = 0; i < STEPS / SEEDS; i++) {
			step();
			expect_all_places();
		}
		while (link_receive(&l, list, BATCH) > 0)
			link_release(&l);
		expect_nothing_lost();
		ck_assert_uint_gt(l.count.sent, 1000);
		ck_assert_uint_gt(l.count.received, 1000);
	}
}
END_TEST

/* All that a queue had is on its way: it hears nothing, and nobody asks it. */
START_TEST(a_queue_without_places_gets_some_again)
{
	struct link_frame got[FILL];

	up();
	listed = 0;
	while (expected_last < SPARE) {
		unsigned n = SPARE - expected_last;

		n = n < BATCH ? n : BATCH;
		for (unsigned i = 0; i < n; i++)
			got[i] = (struct link_frame){ .bytes = own[i],
				.length = 60 };
		memset(own, 0, sizeof(own));
		ck_assert_int_eq(link_send(&l, got, n), (int)n);
		for (unsigned i = 0; i < n; i++)
			expected[expected_last++ % OUT] = 0;
		while (goes())
			;
	}
	ck_assert_uint_eq(book.free_n, 0);
	for (unsigned i = 0; i < FILL; i++)
		ck_assert(comes(1, 0));
	ck_assert_int_eq(link_receive(&l, got, FILL), FILL);
	ck_assert_int_eq(link_send(&l, got, FILL / 2), FILL / 2);
	for (unsigned i = 0; i < FILL / 2; i++)
		expected[expected_last++ % OUT] = 0;
	while (goes())
		;
	ck_assert_int_eq(link_send(&l, got + FILL / 2, 28), 28);
	for (unsigned i = 0; i < 28; i++)
		expected[expected_last++ % OUT] = 0;
	link_release(&l);
	for (unsigned i = 0; i < FILL; i++)
		(void)comes(1, 0);
	while (link_receive(&l, got, FILL) > 0)
		;
	expect_nothing_lost();
}
END_TEST

START_TEST(a_full_queue_does_not_keep_others_waiting)
{
	struct link_frame got[16];
	bool heard = false;

	up();
	for (unsigned i = 0; i < FILL; i++)
		ck_assert(comes(0, 1));
	ck_assert(comes(2, 7));
	for (unsigned round = 0; round < 2; round++) {
		int n = link_receive(&l, got, 16);

		for (int i = 0; i < n; i++)
			heard = heard || got[i].bytes[0] == 7 ||
			    got[i].bytes[3] == 7;
	}
	ck_assert(heard);
	link_release(&l);
	while (link_receive(&l, got, 16) > 0)
		link_release(&l);
	expect_nothing_lost();
}
END_TEST

/* The interface took none of them and will not say when it can. */
START_TEST(frames_that_wait_are_told_of)
{
	struct link_frame own_frame = { .bytes = own[0], .length = 60 };

	up();
	x.copies = true;
	memset(own, 0, sizeof(own));
	expected[0] = expected[1] = 0;
	ck_assert_int_eq(link_send(&l, &own_frame, 1), 1);
	ck_assert(l.waits);
	out.flags = XDP_RING_NEED_WAKEUP;
	ck_assert_int_eq(link_send(&l, &own_frame, 1), 1);
	ck_assert(l.waits);
	while (goes())
		;
	ck_assert_int_eq(link_send(&l, NULL, 0), 0);
	ck_assert(!l.waits);
}
END_TEST

SUITE(test_link_xdp_chunks)
{
	Suite *s = suite_create("link_xdp_chunks");

	SUITE_ADD(s, no_place_is_lost_or_in_two_hands, 60);
	SUITE_ADD(s, a_queue_without_places_gets_some_again, 10);
	SUITE_ADD(s, a_full_queue_does_not_keep_others_waiting, 10);
	SUITE_ADD(s, frames_that_wait_are_told_of, 10);
	return s;
}
