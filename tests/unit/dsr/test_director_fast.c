/* test_director_fast.c: what a director tells a fast path, which is none but
 * takes notes. */
#include "config.h"

#include <errno.h>

#include "unit/dsr/director_fixture.h"

enum { ENTRIES = 4, MANY = 32 };

static struct {
	struct link_entry entry[ENTRIES];
	unsigned sets, tries;
	int refusal; /* errno */
	bool carries;
	uint64_t frames;
} fast;

static struct dsr_flow *flow;

/* ---- a fast path ---- */

static void
set_entry(struct link *l, uint32_t entry, const struct link_entry *g)
{
	(void)l;
	fast.sets++;
	ck_assert_uint_lt(entry, ENTRIES);
	fast.entry[entry] = *g;
}

static int
carry(struct link *l, const struct dsr_key *key, uint32_t entry, uint32_t epoch)
{
	(void)l;
	(void)key;
	ck_assert_uint_eq(fast.entry[entry].epoch, epoch);
	fast.tries++;
	if (fast.refusal == 0) {
		fast.carries = true;
		return 0;
	}
	errno = fast.refusal;
	return -1;
}

static bool
carried(
    const struct link *l, const struct dsr_key *key, struct link_offloaded *c)
{
	(void)l;
	(void)key;
	*c = (struct link_offloaded){ .epoch = d.dispatch.fast.epoch };
	return fast.carries;
}

static bool
forget(struct link *l, const struct dsr_key *key, struct link_offloaded *c)
{
	bool carries = carried(l, key, c);

	fast.carries = false;
	return carries;
}

static struct frame_count
totals(const struct link *l)
{
	(void)l;
	return (
	    struct frame_count){ .frames = fast.frames, .bytes = fast.frames };
}

/* Another process had epoch 7. */
static uint32_t
clear(struct link *l)
{
	(void)l;
	memset(fast.entry, 0, sizeof(fast.entry));
	return 7;
}

static const struct link_fast taker = { .entries = ENTRIES,
	.set_entry = set_entry,
	.clear = clear,
	.add = carry,
	.find = carried,
	.remove = forget,
	.totals = totals };

/* ---- a director ---- */

static void
up(void)
{
	memset(&fast, 0, sizeof(fast));
	director_fixture_up();
	d.forward.wire.link.fast = &taker;
	fast_path_open(&d.dispatch.fast);
}

static void
down(void)
{
	fast_path_fini(&d.dispatch.fast);
	director_fixture_down();
}

/* A connection to server 0, so far without frames. */
static void
connect_client(void)
{
	director_fixture_frame(client.port, FRAME_ACK);
	flow = dsr_flows_add(&d.dispatch.flows, &arrival.key, arrival.hash,
	    FIRST, FRAME_ACK, on_link.length, loop_now(d.loop));
	ck_assert_ptr_nonnull(flow);
}

/* Its frames come up. */
static void
pass(unsigned frames)
{
	for (; frames > 0; frames--) {
		dsr_flows_on_frame(&d.dispatch.flows, flow, FRAME_ACK,
		    on_link.length, loop_now(d.loop));
		fast_path_on_frame(
		    &d.dispatch.fast, flow, &arrival.frame, &on_link);
	}
}

/* ---- entries ---- */

/* Those that the link does not have are not asked for. */
START_TEST(servers_without_a_gate)
{
	unsigned sets;

	fast_path_refresh(&d.dispatch.fast);
	ck_assert_uint_eq(fast.entry[FIRST].longest, MTU + FRAME_HEAD);
	ck_assert_mem_eq(fast.entry[FIRST].to.byte, hop.byte, 6);
	ck_assert_uint_eq(fast.entry[0].longest, 0);
	sets = fast.sets;
	fast_path_refresh(&d.dispatch.fast);
	ck_assert_uint_eq(fast.sets, sets);
	connect_client();
	flow->server = FIRST + SERVERS - 1;
	pass(MANY);
	ck_assert(!fast.carries);
	flow->server = FIRST;
	pass(MANY);
	ck_assert(fast.carries);
}
END_TEST

/* It is asked for once; that there is no room may change. */
START_TEST(no_right_to_emit_of_flows)
{
	struct director_status s;

	fast_path_refresh(&d.dispatch.fast);
	connect_client();
	fast.refusal = E2BIG;
	pass(MANY);
	ck_assert_uint_eq(fast.tries, 2);
	fast.refusal = EPERM;
	pass(MANY);
	ck_assert_uint_eq(fast.tries, 3);
	ck_assert(!fast.carries);
	director_status(&d, &s);
	ck_assert(s.fast.on && s.fast.fails);
}
END_TEST

/* The kernel's and the link's too, which nobody sets back; flows stay. */
START_TEST(counters_begin_anew)
{
	struct director_status s;

	connect_client();
	pass(3);
	d.forward.wire.stats.received = d.tarpit.tarpit.stats.syn =
	    d.forward.hops.neighbors.stats.moves = 7;
	d.forward.wire.link.count.sent = 7;
	fast.frames = 7;
	director_clear_counters(&d);
	fast.frames += 2;
	d.forward.wire.link.count.sent += 2;
	director_status(&d, &s);
	ck_assert_uint_eq(s.fast.passed.frames, 2);
	ck_assert_uint_eq(s.fast.passed.bytes, 2);
	ck_assert_uint_eq(s.counters.sent, 2);
	ck_assert_uint_eq(s.frames->received, 0);
	ck_assert_uint_eq(d.tarpit.tarpit.stats.syn, 0);
	ck_assert_uint_eq(d.forward.hops.neighbors.stats.moves, 0);
	ck_assert_uint_eq(d.dispatch.flows.stats.opened, 0);
	ck_assert_uint_eq(d.dispatch.flows.stats.peak, 1);
	ck_assert_uint_eq(d.dispatch.flows.count, 1);
}
END_TEST

/* ---- flows ---- */

/* What had come up before a VIP went must not take its flow back to the
 * kernel. */
START_TEST(last_frames_of_a_vip)
{
	fast_path_refresh(&d.dispatch.fast);
	connect_client();
	d.vips.count = 0;
	fast_path_renew(&d.dispatch.fast);
	pass(MANY);
	ck_assert(!fast.carries);
	d.vips.count = 1;
	pass(MANY);
	ck_assert(fast.carries);
}
END_TEST

/* An upload that GRO merges goes by the fast path; what lacks its checksum
 * before the driver does not. */
START_TEST(merged_frames_are_plain)
{
	fast_path_refresh(&d.dispatch.fast);
	connect_client();
	on_link.offload.flags = LINK_CHECKSUM;
	pass(MANY);
	ck_assert(!fast.carries);
	on_link.offload.type = LINK_GSO_TCP4;
	pass(MANY);
	ck_assert(fast.carries);
}
END_TEST

START_TEST(a_fast_path_of_another_process)
{
	struct director_flow f = { .server = FIRST,
		.past = { .state = DSR_ESTABLISHED, .offloaded = true } };

	fast_path_refresh(&d.dispatch.fast);
	fast.frames = 100;
	fast_path_take(&d.dispatch.fast);
	ck_assert_uint_eq(fast.entry[FIRST].epoch, 8);
	ck_assert_uint_eq(fast.entry[FIRST].longest, MTU + FRAME_HEAD);
	director_fixture_frame(client.port, FRAME_ACK);
	f.key = arrival.key;
	fast.carries = true;
	ck_assert(director_restore_flow(&d, &f, pool_server(d.pool, 0)));
	ck_assert(fast.carries);
	ck_assert_uint_eq(d.dispatch.fast.flows, 1);
	f.key.client_port++;
	ck_assert(!director_restore_flow(&d, &f, NULL));
	ck_assert(!fast.carries);
}
END_TEST

SUITE(test_director_fast)
{
	Suite *s = suite_create("director_fast");
	TCase *t = tcase_create("director_fast");

	tcase_add_checked_fixture(t, up, down);
	tcase_add_test(t, servers_without_a_gate);
	tcase_add_test(t, no_right_to_emit_of_flows);
	tcase_add_test(t, counters_begin_anew);
	tcase_add_test(t, last_frames_of_a_vip);
	tcase_add_test(t, merged_frames_are_plain);
	tcase_add_test(t, a_fast_path_of_another_process);
	suite_add_tcase(s, t);
	return s;
}
