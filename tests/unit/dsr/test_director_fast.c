/* test_director_fast.c: what a director tells a fast path, which is none but takes
 * notes. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/director_private.h"
#include "support/suite.h"

/* Servers 0 and 1 have numbers 2 and 3. */
enum { GATES = 4, SERVERS = 4, FIRST = 2, MTU = 1500, MANY = 32 };

static const struct mac ours = { { 2, 0, 0, 0, 0, 1 } },
			hop = { { 2, 0, 0, 0, 0, 2 } };
static const struct peer client = { .family = AF_INET,
	.port = 40000,
	.ip = { [10] = 0xff, 0xff, 198, 51, 100, 7 } },
			 vip = { .family = AF_INET,
				 .port = 443,
				 .ip = { [10] = 0xff, 0xff, 192, 0, 2, 1 } };

static struct {
	struct link_gate gate[GATES];
	unsigned sets;
	bool refuses, carries;
	uint64_t frames;
} fast;

static struct director d;
static unsigned char bytes[FRAME_MADE_MAX];
static struct frame frame;
static struct link_frame on_link;
static struct dsr_flow *flow;

/* ---- a fast path ---- */

static int
set_gate(struct link *l, uint32_t gate, const struct link_gate *g)
{
	(void)l;
	fast.sets++;
	if (!fast.refuses && gate < GATES) {
		fast.gate[gate] = *g;
		return 0;
	}
	errno = fast.refuses ? EPERM : E2BIG;
	return -1;
}

static int
carry(struct link *l, const struct dsr_key *key, uint32_t gate, uint32_t ticket)
{
	(void)l;
	(void)key;
	ck_assert_uint_eq(fast.gate[gate].ticket, ticket);
	fast.carries = true;
	return 0;
}

static bool
carried(const struct link *l, const struct dsr_key *key, struct link_carried *c)
{
	(void)l;
	(void)key;
	*c = (struct link_carried){ .ticket = d.ticket };
	return fast.carries;
}

static bool
forget(struct link *l, const struct dsr_key *key, struct link_carried *c)
{
	bool carries = carried(l, key, c);

	fast.carries = false;
	return carries;
}

static struct tally
totals(const struct link *l)
{
	(void)l;
	return (struct tally){ .frames = fast.frames, .bytes = fast.frames };
}

static const struct link_fast taker = { .gates = GATES,
	.set_gate = set_gate,
	.carry = carry,
	.carried = carried,
	.forget = forget,
	.totals = totals };

/* ---- a director ---- */

static void
add_server(unsigned i)
{
	struct server_spec spec;
	struct server *s;
	char name[20];

	server_spec_init(&spec);
	snprintf(name, sizeof(name), "10.0.0.%u", i + 1);
	spec.name = name;
	spec.addrs.count = 1;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0], name, 0), 0);
	s = pool_set_server(d.pool, i, &spec);
	ck_assert_ptr_nonnull(s);
	d.targets[FIRST + i] =
	    (struct target){ .hop = HOP_GIVEN, .generation = s->generation };
}

static void
up(void)
{
	struct error e;
	unsigned i;

	memset(&fast, 0, sizeof(fast));
	memset(&d, 0, sizeof(d));
	d.loop = loop_new(NULL, &e);
	d.pool = pool_new();
	d.places = calloc(1, sizeof(*d.places));
	d.targets = calloc(FIRST + SERVERS, sizeof(*d.targets));
	ck_assert(d.loop && d.pool && d.places && d.targets);
	d.targets_n = FIRST + SERVERS;
	for (i = 0; i < SERVERS; i++)
		add_server(i);
	d.places[0] = vip;
	d.count = 1;
	d.forward.gateway_mac = hop;
	d.link.fast = &taker;
	d.link.mac = ours;
	d.link.mtu = MTU;
	director_open_fast(&d);
	ck_assert_int_eq(dsr_flows_init(&d.flows, 10, 1), 0);
	director_open_flows(&d);
}

static void
down(void)
{
	director_close_fast(&d);
	dsr_flows_fini(&d.flows);
	free(d.targets);
	free(d.places);
	pool_free(d.pool);
	loop_free(d.loop);
}

/* A connection to server 0, so far without frames. */
static void
connect_client(void)
{
	struct frame_head head = { .to = ours };
	struct segment s = { .flags = FRAME_ACK };
	struct dsr_key key;
	size_t n =
	    frame_make_tcp(bytes, sizeof(bytes), &head, &client, &vip, &s);

	ck_assert_uint_gt(n, 0);
	frame_parse(&frame, bytes, n);
	ck_assert_int_eq(frame.kind, FRAME_FLOW);
	on_link = (struct link_frame){ .bytes = bytes, .length = (unsigned)n };
	dsr_key_make(&key, &client, &vip, IPPROTO_TCP);
	flow = dsr_flows_add(&d.flows, &key, dsr_flows_hash(&d.flows, &key),
	    FIRST, FRAME_ACK, on_link.length, loop_now(d.loop));
	ck_assert_ptr_nonnull(flow);
}

/* Its frames come up. */
static void
pass(unsigned frames)
{
	for (; frames > 0; frames--) {
		dsr_flows_on_frame(&d.flows, flow, FRAME_ACK, on_link.length,
		    loop_now(d.loop));
		director_on_fast(&d, flow, &frame, &on_link);
	}
}

/* ---- gates ---- */

/* Those that the link does not have are not asked for. */
START_TEST(servers_without_a_gate)
{
	unsigned sets;

	director_set_gates(&d);
	ck_assert_uint_eq(fast.gate[FIRST].longest, MTU + FRAME_HEAD);
	ck_assert_mem_eq(fast.gate[FIRST].to.byte, hop.byte, 6);
	ck_assert_uint_eq(fast.gate[0].longest, 0);
	sets = fast.sets;
	director_set_gates(&d);
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

START_TEST(no_right_to_set_gates)
{
	struct director_fast f;

	fast.refuses = true;
	director_set_gates(&d);
	ck_assert_uint_eq(fast.sets, 1);
	director_set_gates(&d);
	ck_assert_uint_eq(fast.sets, 1);
	connect_client();
	pass(MANY);
	ck_assert(!fast.carries);
	director_fast(&d, &f);
	ck_assert(f.on && f.fails);
}
END_TEST

/* ---- flows ---- */

/* What had come up before a VIP went must not take its flow back to the kernel. */
START_TEST(last_frames_of_a_vip)
{
	director_set_gates(&d);
	connect_client();
	d.count = 0;
	director_renew_gates(&d);
	pass(MANY);
	ck_assert(!fast.carries);
	d.count = 1;
	pass(MANY);
	ck_assert(fast.carries);
}
END_TEST

/* Frames that are not heard have no tag: one with a tag is no news of the segment. */
START_TEST(tags_beside_a_fast_path)
{
	struct frame tagged = { .vlan = 7 };

	director_set_gates(&d);
	connect_client();
	pass(MANY);
	ck_assert_uint_eq(d.fast_flows, 1);
	d.vlan_heard = 1;
	fast.frames++;
	director_tick_fast(&d, loop_now(d.loop));
	director_note_vlan(&d, &tagged);
	ck_assert_uint_eq(d.vlan, 0);
	/* when none have gone that way it is */
	d.vlan_heard = 1;
	director_tick_fast(&d, loop_now(d.loop));
	director_note_vlan(&d, &tagged);
	ck_assert_uint_eq(d.vlan, 7);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("director_fast");
	TCase *t = tcase_create("director_fast");

	tcase_add_checked_fixture(t, up, down);
	tcase_add_test(t, servers_without_a_gate);
	tcase_add_test(t, no_right_to_set_gates);
	tcase_add_test(t, last_frames_of_a_vip);
	tcase_add_test(t, tags_beside_a_fast_path);
	suite_add_tcase(s, t);
	return suite_main(s);
}
