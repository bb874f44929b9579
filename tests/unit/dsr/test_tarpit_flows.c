/* test_tarpit_flows.c: what clients of a tarpit hear. */
#include "config.h"

#include "unit/dsr/tarpit_fixture.h"

static struct tcp_segment
seg(uint8_t flags, uint32_t seq, uint32_t ack)
{
	return (struct tcp_segment){
		.flags = flags, .seq = seq, .ack = ack, .window = 1000
	};
}

/* The client 1:port says that to port 80 of `to`. Returns whether it was
 * answered; then the answer is right but for numbers and flags. */
static bool
say_to(const struct mac *mac, uint32_t to, uint16_t port, struct tcp_segment s)
{
	unsigned char b[FRAME_MADE_MAX];
	struct frame_head head = { .to = *mac, .from = caller, .vlan = TAG };
	struct peer from = at(1), dest = at(to);
	unsigned before = sent_n;
	struct mac m;
	struct frame f;
	bool known;

	from.port = port;
	dest.port = 80;
	frame_parse(
	    &f, b, frame_make_tcp(b, sizeof(b), &head, &from, &dest, &s));
	known = tarpit_on_flow(&t, &f, now);
	if (sent_n == before)
		return false;
	ck_assert(known);
	m = frame_mac_to(&sent);
	ck_assert(mac_equal(&m, &caller));
	ck_assert_int_eq(sent.kind, FRAME_FLOW);
	ck_assert(frame_checksum_ok(&sent));
	ck_assert_uint_eq(sent.vlan, TAG);
	ck_assert_mem_eq(sent.to.ip, from.ip, 16);
	ck_assert_mem_eq(sent.from.ip, dest.ip, 16);
	ck_assert_uint_eq(sent.to.port, port);
	ck_assert_uint_eq(sent.from.port, 80);
	ck_assert_uint_eq(segment.window, 0);
	return true;
}

static bool
say(uint32_t to, struct tcp_segment s)
{
	return say_to(&own, to, 1234, s);
}

/* Begins at `first`; returns our first number. */
static uint32_t
open_from(uint32_t first)
{
	ck_assert(say(50, seg(FRAME_SYN, first, 0)));
	ck_assert_uint_eq(segment.flags, FRAME_SYN | FRAME_ACK);
	ck_assert_uint_eq(segment.ack, first + 1);
	ck_assert_uint_eq(segment.window, 0);
	return segment.seq;
}

static void
is_held(uint32_t first, uint32_t ours)
{
	ck_assert_uint_eq(segment.flags, FRAME_ACK);
	ck_assert_uint_eq(segment.seq, ours + 1);
	ck_assert_uint_eq(segment.ack, first + 1);
}

START_TEST(a_client_is_held)
{
	static const uint32_t firsts[] = { 0, 1000, UINT32_MAX, 0x80000000 };

	begin(_i);
	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
		uint32_t first = firsts[i], ours = open_from(first);

		/* the same when it asks again */
		ck_assert_uint_eq(open_from(first), ours);
		ck_assert(say(50, seg(FRAME_ACK, first + 1, ours + 1)));
		is_held(first, ours);
		/* about the window: Linux; BSD, with a byte; all it has */
		now += UINT64_C(10) * 24 * 3600 * 1000;
		ck_assert(say(50, seg(FRAME_ACK, first, ours + 1)));
		is_held(first, ours);
		ck_assert(
		    say(50, seg(FRAME_ACK | FRAME_PSH, first + 1, ours + 1)));
		is_held(first, ours);
		ck_assert(say(50, seg(FRAME_ACK, first + 1460, ours + 1)));
		is_held(first, ours);
	}
	ck_assert_uint_eq(t.stats.syn, 8);
	ck_assert_uint_eq(t.stats.ack, 16);
	tarpit_fini(&t);
}
END_TEST

START_TEST(nothing_else_is_answered)
{
	static const uint8_t flags[] = { 0, FRAME_RST, FRAME_RST | FRAME_ACK,
		FRAME_FIN, FRAME_FIN | FRAME_ACK, FRAME_SYN | FRAME_ACK,
		FRAME_SYN | FRAME_RST, FRAME_SYN | FRAME_FIN };
	uint32_t ours;

	begin(_i);
	ours = open_from(1000);
	for (size_t i = 0; i < sizeof(flags); i++)
		ck_assert(!say(50, seg(flags[i], 1001, ours + 1)));
	/* not of this connection */
	ck_assert(!say(50, seg(FRAME_ACK, 1001, ours + 3)));
	ck_assert(!say(50, seg(FRAME_ACK, 1001, ours - 70000)));
	ck_assert(!say(50, seg(FRAME_ACK, 999, ours + 1)));
	ck_assert(!say(50, seg(FRAME_ACK, 1001 + 70000, ours + 1)));
	ck_assert(!say(51, seg(FRAME_ACK, 1001, ours + 1)));
	ck_assert(!say_to(&own, 50, 1235, seg(FRAME_ACK, 1001, ours + 1)));
	/* not ours */
	ck_assert(!say(20, seg(FRAME_SYN, 1, 0)));
	ck_assert(!say_to(&other, 50, 1234, seg(FRAME_SYN, 1, 0)));
	ck_assert(!say_to(&mac_broadcast, 50, 1234, seg(FRAME_SYN, 1, 0)));
	ck_assert(say(50, seg(FRAME_ACK, 1001, ours + 1)));
	ck_assert_uint_eq(t.stats.syn + t.stats.ack, 2);
	ck_assert_uint_eq(sent_n, 2);
	tarpit_fini(&t);
}
END_TEST

START_TEST(what_is_in_use_is_left_alone)
{
	uint32_t ours;

	begin(_i);
	ours = open_from(1000);
	claim(50, false);
	ck_assert(!say(50, seg(FRAME_SYN, 1000, 0)));
	ck_assert(!say(50, seg(FRAME_ACK, 1001, ours + 1)));
	now += TARPIT_USED_MS;
	ck_assert(say(50, seg(FRAME_ACK, 1001, ours + 1)));
	tarpit_fini(&t);
}
END_TEST

/* Whoever sees the answer to one port cannot tell that to another. */
START_TEST(numbers_differ)
{
	enum { PORTS = 200 };
	uint32_t seen[PORTS];

	begin(_i);
	for (unsigned i = 0; i < PORTS; i++) {
		ck_assert(say_to(
		    &own, 50, (uint16_t)(5000 + i), seg(FRAME_SYN, 7, 0)));
		seen[i] = segment.seq;
		for (unsigned k = 0; k < i; k++)
			if (seen[k] == seen[i])
				ck_abort_msg("%u and %u", k, i);
	}
	tarpit_fini(&t);
}
END_TEST

START_TEST(no_more_than_the_rate)
{
	unsigned i;

	begin(_i);
	get(50);
	for (i = 0; i < TARPIT_BURST - 1; i++)
		if (!say(50, seg(FRAME_SYN, i, 0)))
			ck_abort_msg("%u", i);
	ck_assert(!say(50, seg(FRAME_SYN, i, 0)));
	ck_assert_uint_eq(ask(50), 0);
	ck_assert_uint_eq(t.stats.limited, 2);
	now += 500;
	for (i = 0; say(50, seg(FRAME_SYN, i, 0));)
		i++;
	ck_assert_uint_eq(i, TARPIT_RATE / 2);
	tarpit_fini(&t);
}
END_TEST

SUITE(test_tarpit_flows)
{
	Suite *s = suite_create("tarpit_flows");
	TCase *c = tcase_create("tarpit_flows");

	tcase_set_timeout(c, 20);
	tcase_add_loop_test(c, a_client_is_held, 0, 2);
	tcase_add_loop_test(c, nothing_else_is_answered, 0, 2);
	tcase_add_loop_test(c, what_is_in_use_is_left_alone, 0, 2);
	tcase_add_loop_test(c, numbers_differ, 0, 2);
	tcase_add_loop_test(c, no_more_than_the_rate, 0, 2);
	suite_add_tcase(s, c);
	return s;
}
