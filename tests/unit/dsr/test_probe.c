/* test_probe.c: rounds of requests, with servers and a clock of our own. */
#include "config.h"

#include "unit/dsr/probe_fixture.h"

/* ---- one server ---- */

static void
pass_until_result(void)
{
	uint64_t end = now + INTERVAL + TIMEOUT + 2000;

	while (results[0] == 0 && now < end)
		pass(1000);
	ck_assert_uint_eq(results[0], 1);
}

START_TEST(alive)
{
	begin(1, 1);
	ck_assert_int_eq(probes_last(&p, 0)->result, PROBE_NONE);
	pass(INTERVAL + 1000);
	ck_assert_uint_ge(results[0], 1);
	ck_assert_int_eq(last[0].result, PROBE_OK);
	ck_assert_uint_eq(last[0].rtt, 300);
	ck_assert_uint_eq(last[0].vip.port, 80);
	ck_assert_int_eq(probes_last(&p, 0)->result, PROBE_OK);
	/* the request, and what takes it back */
	ck_assert_uint_eq(sent[0].s.flags, FRAME_SYN);
	ck_assert_uint_eq(sent[0].s.mss, 1460);
	ck_assert_uint_eq(sent[1].s.flags, FRAME_RST);
	ck_assert_uint_eq(sent[1].s.seq, sent[0].s.seq + 1);
	ck_assert_uint_eq(sent[1].from.port, sent[0].from.port);
	ck_assert_uint_ge(sent[0].from.port, 32768);
	/* and so on, each interval */
	pass(10 * INTERVAL);
	ck_assert_uint_ge(results[0], 10);
	ck_assert_uint_le(results[0], 13);
	ck_assert_uint_eq(count(FRAME_SYN), results[0]);
	probes_fini(&p);
}
END_TEST

START_TEST(each_place_counts)
{
	begin(1, VIPS);
	pass_until_result();
	ck_assert_uint_eq(count(FRAME_SYN), VIPS);
	ck_assert_int_eq(last[0].result, PROBE_OK);
	manner[0][1] = REFUSES;
	pass(INTERVAL * 5 / 4);
	ck_assert_int_eq(last[0].result, PROBE_REFUSED);
	ck_assert_uint_eq(last[0].vip.port, 443);
	ck_assert_uint_eq(last[0].rtt, 0);
	manner[0][2] = SILENT;
	pass(INTERVAL * 5 / 4 + TIMEOUT);
	ck_assert_int_eq(last[0].result, PROBE_TIMEOUT);
	ck_assert_uint_eq(last[0].vip.family, AF_INET6);
	manner[0][1] = manner[0][2] = WELL;
	pass(INTERVAL * 5 / 4 + TIMEOUT);
	ck_assert_int_eq(last[0].result, PROBE_OK);
	probes_fini(&p);
}
END_TEST

START_TEST(own_address_of_the_family)
{
	unsigned i;

	begin(1, VIPS);
	pass(INTERVAL + 1000);
	for (i = 0; i < sent_n; i++) {
		struct peer own =
		    sent[i].to.family == AF_INET ? ip4(2, 0) : ip6(2, 0);

		ck_assert(peer_same_host(&sent[i].from, &own));
		if (sent[i].s.flags == FRAME_SYN)
			ck_assert_uint_eq(
			    sent[i].s.mss, own.family == AF_INET ? 1460 : 1440);
	}
	probes_fini(&p);
}
END_TEST

START_TEST(silence)
{
	uint64_t began;

	begin(1, 1);
	manner[0][0] = SILENT;
	while (sent_n == 0)
		pass(1000);
	began = now;
	while (sent_n == 1)
		pass(1000);
	/* again, the same, after half of the time */
	ck_assert_uint_ge(now - began, TIMEOUT / 2 - 2000);
	ck_assert_uint_le(now - began, TIMEOUT / 2 + 2000);
	ck_assert_uint_eq(sent[1].s.seq, sent[0].s.seq);
	ck_assert_uint_eq(sent[1].from.port, sent[0].from.port);
	pass_until_result();
	ck_assert_uint_ge(now - began, TIMEOUT - 2000);
	ck_assert_uint_le(now - began, TIMEOUT + 2000);
	ck_assert_int_eq(last[0].result, PROBE_TIMEOUT);
	/* taken back, should it have been heard */
	ck_assert_uint_eq(sent_n, 3);
	ck_assert_uint_eq(sent[2].s.flags, FRAME_RST);
	ck_assert_uint_eq(sent[2].s.seq, sent[0].s.seq + 1);
	/* too late */
	ck_assert(
	    !hand_in(&sent[0], FRAME_SYN | FRAME_ACK, 1, sent[0].s.seq + 1));
	manner[0][0] = DEAF_ONCE;
	pass(INTERVAL * 5 / 4 + TIMEOUT);
	ck_assert_int_eq(last[0].result, PROBE_OK);
	ck_assert_uint_ge(last[0].rtt, TIMEOUT / 2);
	probes_fini(&p);
}
END_TEST

START_TEST(no_address)
{
	unsigned i;

	begin(1, VIPS);
	manner[0][0] = manner[0][1] = manner[0][2] = ABSENT;
	pass_until_result();
	ck_assert_int_eq(last[0].result, PROBE_NO_ADDRESS);
	ck_assert_uint_eq(sent_n, 0);
	/* it gets lost between two vips */
	manner[0][0] = SILENT;
	for (i = 0; i < 2; i++)
		pass(INTERVAL * 5 / 4 + TIMEOUT);
	ck_assert_int_eq(last[0].result, PROBE_NO_ADDRESS);
	ck_assert_uint_ge(results[0], 2);
	probes_fini(&p);
}
END_TEST

/* ---- answers that are none ---- */

START_TEST(others_cannot_answer)
{
	struct sent q;
	uint8_t yes = FRAME_SYN | FRAME_ACK;

	begin(1, VIPS);
	manner[0][0] = manner[0][1] = manner[0][2] = SILENT;
	while (sent_n < VIPS)
		pass(1000);
	/* not to a request of ours */
	q = sent[0];
	q.from.port = sent[0].from.port == 65000 ? 65001 : 65000;
	ck_assert(!hand_in(&q, yes, 1, q.s.seq + 1));
	q = sent[0];
	q.from.port = 80;
	ck_assert(!hand_in(&q, yes, 1, q.s.seq + 1));
	q = sent[0];
	q.from = ip4(3, q.from.port);
	ck_assert(!hand_in(&q, yes, 1, q.s.seq + 1));
	q = sent[0];
	q.to.port++;
	ck_assert(!hand_in(&q, yes, 1, q.s.seq + 1));
	q = sent[0];
	q.to = ip4(11, q.to.port);
	ck_assert(!hand_in(&q, yes, 1, q.s.seq + 1));
	ck_assert_uint_eq(sent_n, VIPS);
	/* another sequence: taken back, and the request stays */
	q = sent[0];
	ck_assert(hand_in(&q, yes, 1, q.s.seq));
	ck_assert(hand_in(&q, FRAME_ACK, 1, 12345));
	ck_assert_uint_eq(sent_n, VIPS + 2);
	ck_assert_uint_eq(sent[VIPS].s.flags, FRAME_RST);
	ck_assert_uint_eq(sent[VIPS].s.seq, q.s.seq);
	ck_assert_uint_eq(sent[VIPS + 1].s.seq, 12345);
	/* resets that anybody can send, and what says nothing */
	ck_assert(hand_in(&q, FRAME_RST | FRAME_ACK, 0, q.s.seq));
	ck_assert(hand_in(&q, FRAME_RST, 0, 0));
	ck_assert(hand_in(&q, FRAME_SYN, 1, q.s.seq + 1));
	ck_assert(hand_in(&q, FRAME_ACK, 1, q.s.seq + 1));
	ck_assert_uint_eq(sent_n, VIPS + 2);
	ck_assert_uint_eq(results[0], 0);
	/* and now the right one; once */
	ck_assert(hand_in(&q, yes, 1, q.s.seq + 1));
	ck_assert(!hand_in(&q, yes, 1, q.s.seq + 1));
	probes_fini(&p);
}
END_TEST

START_TEST(questions_differ)
{
	unsigned i, k, ports = 0;

	begin(1, 1);
	pass(20 * INTERVAL);
	for (i = 0; i < sent_n; i++)
		for (k = 0; k < i; k++) {
			if (sent[i].s.flags != FRAME_SYN ||
			    sent[k].s.flags != FRAME_SYN)
				continue;
			if (sent[i].s.seq == sent[k].s.seq)
				ck_abort_msg("a sequence comes again");
			ports += sent[i].from.port != sent[k].from.port;
		}
	ck_assert_uint_gt(ports, 0);
	probes_fini(&p);
}
END_TEST

/* ---- many servers ---- */

/* A thousand are asked evenly: no millisecond gets more than a few. */
START_TEST(many_do_not_burst)
{
	unsigned i, most = 0;
	uint64_t end;

	begin(SERVERS, 1);
	for (end = now + 2 * INTERVAL; now < end;) {
		sent_n = 0;
		pass(10000);
		if (count(FRAME_SYN) > most)
			most = count(FRAME_SYN);
	}
	/* five are the mean of ten milliseconds */
	ck_assert_uint_le(most, 40);
	for (i = 0; i < SERVERS; i++)
		if (results[i] < 1 || results[i] > 3)
			ck_abort_msg("%u: %u results", i, results[i]);
	probes_fini(&p);
}
END_TEST

/* When nobody looked for a while all are due. */
START_TEST(many_after_a_pause)
{
	unsigned i;
	uint64_t wait;

	begin(SERVERS, 1);
	now += 10 * INTERVAL;
	for (i = 0; i < SERVERS; i += PROBES_AT_ONCE) {
		wait = probes_tick(&p, now);
		ck_assert_uint_eq(count(FRAME_SYN),
		    i + PROBES_AT_ONCE < SERVERS ? i + PROBES_AT_ONCE
						 : SERVERS);
		ck_assert_int_eq(wait == 0, i + PROBES_AT_ONCE < SERVERS);
	}
	probes_fini(&p);
}
END_TEST

/* With more requests under way than there may be, each server still has its
 * turn. */
START_TEST(many_are_silent)
{
	unsigned i, k;
	uint64_t end;

	begin(SERVERS, VIPS);
	for (i = 0; i < SERVERS; i++)
		for (k = 0; k < VIPS; k++)
			manner[i][k] = SILENT;
	for (end = now + 4 * INTERVAL + 4 * TIMEOUT; now < end;) {
		sent_n = 0;
		pass(1000);
	}
	for (i = 0; i < SERVERS; i++) {
		if (results[i] < 2)
			ck_abort_msg("%u: %u results", i, results[i]);
		if (last[i].result != PROBE_TIMEOUT)
			ck_abort_msg("%u: %d", i, (int)last[i].result);
	}
	probes_fini(&p);
}
END_TEST

/* ---- changes ---- */

START_TEST(servers_come_and_go)
{
	struct sent q;

	begin(2, 1);
	manner[0][0] = SILENT;
	while (results[1] == 0 || sent_n < 3)
		pass(1000);
	probes_drop(&p, 1);
	probes_drop(&p, 1);
	probes_drop(&p, 4000000);
	ck_assert_ptr_null(probes_last(&p, 1));
	ck_assert_ptr_null(probes_last(&p, 4000000));
	results[1] = 0;
	pass(2 * INTERVAL);
	ck_assert_uint_eq(results[1], 0);
	ck_assert_uint_gt(results[0], 0);
	/* one that waits for a reply */
	for (sent_n = 0; sent_n == 0;)
		pass(1000);
	q = sent[0];
	probes_drop(&p, 0);
	ck_assert(!hand_in(&q, FRAME_SYN | FRAME_ACK, 1, q.s.seq + 1));
	ck_assert_uint_eq(probes_tick(&p, now), UINT64_MAX);
	/* the same number, another server */
	ck_assert_int_eq(probes_add(&p, 1, 1, now), 0);
	pass(INTERVAL + 1000);
	ck_assert_int_eq(probes_last(&p, 1)->result, PROBE_OK);
	ck_assert_int_eq(probes_add(&p, 1, 1, now), 0);
	ck_assert_int_eq(probes_last(&p, 1)->result, PROBE_OK);
	ck_assert_uint_eq(versions[1], 1);
	ck_assert_int_eq(probes_add(&p, 1, 2, now), 0);
	ck_assert_int_eq(probes_last(&p, 1)->result, PROBE_NONE);
	pass(INTERVAL + 1000);
	ck_assert_uint_eq(versions[1], 2);
	probes_fini(&p);
}
END_TEST

START_TEST(plans_change)
{
	struct sent q;
	unsigned i, back = 0;

	begin(2, VIPS);
	manner[0][0] = SILENT;
	while (sent_n == 0 || sent[sent_n - 1].server != 0)
		pass(1000);
	/* the one that has no answer */
	for (i = 0; sent[i].server != 0 || place_of(&sent[i].to) != 0; i++)
		;
	q = sent[i];
	sent_n = 0;
	set_plan(0);
	/* a server that has had the request need not wait for more */
	for (i = 0; i < sent_n; i++)
		back += sent[i].server == 0 && sent[i].s.flags == FRAME_RST &&
		    sent[i].from.port == q.from.port &&
		    sent[i].s.seq == q.s.seq + 1;
	ck_assert_uint_eq(back, 1);
	ck_assert_ptr_null(probes_last(&p, 0));
	ck_assert(!hand_in(&q, FRAME_SYN | FRAME_ACK, 1, q.s.seq + 1));
	ck_assert_uint_eq(probes_tick(&p, now), UINT64_MAX);
	sent_n = 0;
	ck_assert_int_eq(probes_add(&p, 2, 1, now), 0);
	pass(2 * INTERVAL);
	ck_assert_uint_eq(sent_n, 0);
	manner[0][0] = WELL;
	memset(results, 0, sizeof(results));
	set_plan(1);
	pass(INTERVAL + 1000);
	ck_assert_uint_ge(results[0], 1);
	ck_assert_uint_ge(results[1], 1);
	ck_assert_uint_ge(results[2], 1);
	probes_fini(&p);
}
END_TEST

/* What is due next is never later than said. */
START_TEST(says_when)
{
	uint64_t wait;
	unsigned i;

	begin(3, 1);
	manner[1][0] = SILENT;
	for (i = 0; i < 200; i++) {
		wait = probes_tick(&p, now);
		ck_assert_uint_le(wait, INTERVAL * 11 / 10 + 1);
		ck_assert_uint_gt(wait, 0);
		sent_n = 0;
		(void)probes_tick(&p, now + wait - 1);
		ck_assert_uint_eq(sent_n, 0);
		now += wait;
		(void)probes_tick(&p, now);
		ck_assert_uint_ge(sent_n, 1);
		for (unsigned k = 0; k < sent_n; k++)
			answer(&sent[k]);
	}
	probes_fini(&p);
}
END_TEST

SUITE(test_probe)
{
	Suite *s = suite_create("probe");

	SUITE_ADD(s, alive, 10);
	SUITE_ADD(s, each_place_counts, 10);
	SUITE_ADD(s, own_address_of_the_family, 10);
	SUITE_ADD(s, silence, 10);
	SUITE_ADD(s, no_address, 10);
	SUITE_ADD(s, others_cannot_answer, 10);
	SUITE_ADD(s, questions_differ, 10);
	SUITE_ADD(s, many_do_not_burst, 20);
	SUITE_ADD(s, many_after_a_pause, 20);
	SUITE_ADD(s, many_are_silent, 20);
	SUITE_ADD(s, servers_come_and_go, 10);
	SUITE_ADD(s, plans_change, 10);
	SUITE_ADD(s, says_when, 10);
	return s;
}
