/* test_silence.c: servers of datagrams that leave questions unanswered, in a
 * real loop: what that tells of them, and what not. The servers are in this
 * thread: they answer what is good and are silent about the rest. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/udp.h"
#include "support/udp_fixture.h"

enum { SERVERS = 3, BURST = 60, LONGEST = 512 };

static struct endpoint place[SERVERS];
static int server[SERVERS];
static bool mute[SERVERS]; /* it answers nobody */

/* ---- questions ---- */

/* Flags, one question: X.test A IN; X is 'a' in a good one and 's' in one that
 * is left unanswered. The id in front says which one it is. */
static const char query[] = "\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
			    "\x01"
			    "X\x04test\x00\x00\x01\x00\x01";
enum { QUERY = 2 + sizeof(query) - 1, KIND = 13 };

static void
ask(int fd, char kind, unsigned id)
{
	char bytes[QUERY] = { (char)(id >> 8), (char)id };

	memcpy(bytes + 2, query, QUERY - 2);
	bytes[KIND] = kind;
	ck_assert_int_eq(send(fd, bytes, QUERY, 0), QUERY);
}

/* Each server looks at what it has got. */
static void
serve(void)
{
	char bytes[LONGEST];
	struct addr from;
	ssize_t n;
	int i;

	for (i = 0; i < SERVERS; i++) {
		for (;;) {
			from.len = sizeof(from.u);
			n = recvfrom(server[i], bytes, sizeof(bytes),
			    MSG_DONTWAIT, &from.u.sa, &from.len);
			if (n < 0)
				break;
			if (mute[i] || n != QUERY || bytes[KIND] != 'a')
				continue;
			bytes[2] |= (char)0x80;
			ck_assert_int_eq(sendto(server[i], bytes, QUERY, 0,
					     &from.u.sa, from.len),
			    QUERY);
		}
	}
}

/* Reads the answers that are there: `good` of them without an error. */
static int
answers(int fd, int *good)
{
	char bytes[LONGEST];
	int all = 0;

	while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) >= QUERY) {
		all++;
		*good += (bytes[2] & 0x80) != 0 && (bytes[3] & 0x0f) == 0;
	}
	return all;
}

static void
breathe(void)
{
	serve();
	fixture_breathe();
}

static void
run_for(long long ms)
{
	long long end = wait_now_ms() + wait_scaled(ms);

	while (wait_now_ms() < end)
		breathe();
}

static unsigned
failures(void)
{
	unsigned i, sum = 0;

	for (i = 0; i < SERVERS; i++)
		sum +=
		    (unsigned)pool_server(fixture.pool, i)->counters->failures;
	return sum;
}

static void
begin_fixture(bool dns, unsigned retry_ms, unsigned run_ms)
{
	struct pool_options o;
	unsigned i;

	udp_fixture_begin(dns);
	fixture.options.sessions_max = 10000;
	fixture.options.dns.retry_ms = (uint64_t)wait_scaled(retry_ms);
	fixture.options.connect_timeout_ms = (uint64_t)wait_scaled(run_ms);
	o = *pool_options(fixture.pool);
	o.sticky = false;
	ck_assert_int_eq(pool_set_options(fixture.pool, &o), 0);
	for (i = 0; i < SERVERS; i++)
		server[i] = udp_fixture_server(i, &place[i]);
}

static void
end_fixture(void)
{
	int i;

	for (i = 0; i < SERVERS; i++)
		close(server[i]);
	fixture_end();
}

/* ---- DNS ---- */

/* Names that nobody can resolve in time, in bursts, again and again: others are
 * served by all servers throughout. */
START_TEST(slow_names_fail_nobody)
{
	int slow, good, round, rounds = (int)suite_amount(10, 4);
	int i, asked = 0, heard = 0, fine = 0;
	unsigned id = 0;

	begin_fixture(true, 100, 300);
	udp_fixture_front();
	slow = udp_client(&fixture.front);
	good = udp_client(&fixture.front);
	for (round = 0; round < rounds; round++) {
		for (i = 0; i < BURST; i++)
			ask(slow, 's', id++);
		for (i = 0; i < 10; i++) {
			ask(good, 'a', id++);
			asked++;
			run_for(10);
			heard += answers(good, &fine);
		}
	}
	RUN_UNTIL((breathe(), heard += answers(good, &fine), heard == asked));
	ck_assert_int_eq(fine, asked);
	ck_assert_uint_eq(failures(), 0);
	for (i = 0; i < SERVERS; i++)
		ck_assert_uint_gt(
		    pool_server(fixture.pool, (unsigned)i)->counters->received,
		    0);
	RUN_UNTIL((breathe(), fixture_stats()->dns.waiting == 0));
	ck_assert_uint_eq(fixture_stats()->dns.failed, rounds * BURST);
	close(slow);
	close(good);
	end_fixture();
}
END_TEST

/* Queries that were sent together time out together: that is one moment and no
 * run, also when nobody else has asked meanwhile. */
START_TEST(one_burst_is_no_run)
{
	int slow, i;

	begin_fixture(true, 50, 5000);
	udp_fixture_front();
	slow = udp_client(&fixture.front);
	for (i = 0; i < BURST; i++)
		ask(slow, 's', (unsigned)i);
	RUN_UNTIL((breathe(), fixture_stats()->dns.failed == BURST));
	ck_assert_uint_eq(failures(), 0);
	close(slow);
	end_fixture();
}
END_TEST

/* One that answers nobody is found out, and the others are not blamed. */
START_TEST(silent_name_server_fails)
{
	long long end = wait_now_ms() + wait_scaled(8000);
	int client, fine = 0;
	unsigned id = 0;

	begin_fixture(true, 20, 200);
	mute[0] = true;
	udp_fixture_front();
	client = udp_client(&fixture.front);
	while (wait_now_ms() < end && failures() == 0) {
		ask(client, 'a', id++);
		breathe();
		(void)answers(client, &fine);
	}
	ck_assert_uint_gt(pool_server(fixture.pool, 0)->counters->failures, 0);
	ck_assert_uint_eq(
	    failures(), pool_server(fixture.pool, 0)->counters->failures);
	ck_assert_int_gt(fine, 0);
	close(client);
	end_fixture();
}
END_TEST

/* So many names that nobody answers that no more may wait: the oldest give way,
 * once all servers, or one, have had the time to answer. */
START_TEST(silence_keeps_nobody_out)
{
	enum { MANY = 20 };
	int slow, good, i, fine = 0, heard = 0;

	begin_fixture(true, _i == 0 ? 20 : 200, 60000);
	fixture.options.dns.timeout_ms = (uint64_t)wait_scaled(5000);
	fixture.options.dns.max = MANY;
	fixture.options.sessions_max = 1; /* of connections alone */
	udp_fixture_front();
	slow = udp_client(&fixture.front);
	good = udp_client(&fixture.front);
	for (i = 0; i < MANY; i++)
		ask(slow, 's', (unsigned)i);
	RUN_UNTIL((breathe(), fixture_stats()->dns.waiting == MANY));
	/* none has had its time */
	if (_i == 1) {
		ask(good, 'a', 0);
		RUN_UNTIL(
		    (breathe(), fixture_stats()->datagrams.no_memory == 1));
		ck_assert_uint_eq(fixture_stats()->dns.evicted, 0);
	}
	RUN_UNTIL((breathe(), fixture_stats()->retries >= MANY));
	for (i = 0; i < MANY; i++) {
		ask(good, 'a', (unsigned)i);
		RUN_UNTIL(
		    (breathe(), heard += answers(good, &fine), heard == i + 1));
	}
	ck_assert_int_eq(fine, MANY);
	ck_assert_uint_ge(fixture_stats()->dns.evicted, 1);
	ck_assert_uint_le(fixture_stats()->dns.evicted, MANY);
	ck_assert_uint_eq(
	    fixture_stats()->dns.evicted, fixture_stats()->dns.failed);
	close(slow);
	close(good);
	end_fixture();
}
END_TEST

/* ---- flows ---- */

/* Datagrams that all servers rightly ignore make all of them count as silent;
 * who asks something that they answer is served all the same, and at once. */
START_TEST(ignored_datagrams_shut_nobody_out)
{
	int bad, client, fine = 0, i;
	unsigned id = 0;

	/* the servers' threads starve there while this one waits for them */
	if (suite_is_in_valgrind())
		SKIP("takes too long inside valgrind");
	begin_fixture(false, 1000, 100);
	fixture.options.udp.responses = 1;
	fixture.options.udp.each = true;
	udp_fixture_front();
	bad = udp_client(&fixture.front);
	client = udp_client(&fixture.front);
	while (failures() < SERVERS) {
		ask(bad, 's', id++);
		breathe();
	}
	for (i = 0; i < 2 * SERVERS; i++) {
		ask(client, 'a', id++);
		RUN_UNTIL((breathe(), answers(client, &fine) == 1));
	}
	ck_assert_int_eq(fine, 2 * SERVERS);
	ck_assert_uint_eq(fixture_stats()->datagrams.no_server, 0);
	close(bad);
	close(client);
	end_fixture();
}
END_TEST

/* ---- servers that their checks mark down ---- */

static int clients[2], plain[2];

/* Two servers; both clients are at the first one, which answers the second
 * client alone. */
static void
begin_two(void)
{
	struct pool_options o;
	int i;

	udp_fixture_begin(false);
	fixture.options.connect_timeout_ms = (uint64_t)wait_scaled(300);
	o = *pool_options(fixture.pool);
	o.health = (struct health_options){ .rise = 1, .fall = 1 };
	o.sticky = false;
	ck_assert_int_eq(pool_set_options(fixture.pool, &o), 0);
	plain[0] = udp_fixture_server(0, &place[0]);
	udp_fixture_front();
	for (i = 0; i < 2; i++) {
		clients[i] = udp_client(&fixture.front);
		udp_fixture_ask(clients[i]);
		udp_fixture_arrives(plain[0]);
	}
	udp_fixture_answer(plain[0], clients[1]);
	plain[1] = udp_fixture_server(1, &place[1]);
}

static void
end_two(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		close(clients[i]);
		close(plain[i]);
	}
	fixture_end();
}

static void
mark(int i, bool good)
{
	(void)pool_checked(fixture.pool, pool_server(fixture.pool, (unsigned)i),
	    good, "checked", loop_now(fixture.loop));
}

/* The time of the loop is not that of its last event. */
static void
next_ms(void)
{
	uint64_t now = loop_now(fixture.loop);

	RUN_UNTIL(loop_now(fixture.loop) > now);
}

/* Whoever only sends, or was answered before, has the other one with its next
 * datagram, and stays there. */
START_TEST(down_server_loses_flows)
{
	int i;

	begin_two();
	mark(0, false);
	next_ms();
	for (i = 0; i < 2; i++) {
		udp_fixture_ask(clients[i]);
		udp_fixture_arrives(plain[1]);
	}
	mark(0, true);
	for (i = 0; i < 2; i++) {
		udp_fixture_ask(clients[i]);
		udp_fixture_arrives(plain[1]);
	}
	udp_fixture_answer(plain[1], clients[1]);
	ck_assert(!fixture_tells(plain[0]));
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->connections, 0);
	ck_assert_uint_eq(fixture_stats()->flows.opened, 2);
	end_two();
}
END_TEST

/* A flow that it goes on to answer stays, as long as that goes on. */
START_TEST(down_server_that_answers_keeps_flow)
{
	int i;

	begin_two();
	mark(0, false);
	next_ms();
	udp_fixture_answer(plain[0], clients[1]);
	for (i = 0; i < 3; i++) {
		udp_fixture_ask(clients[1]);
		udp_fixture_arrives(plain[0]);
		/* one that comes before the answer */
		udp_fixture_ask(clients[1]);
		udp_fixture_arrives(plain[0]);
		udp_fixture_answer(plain[0], clients[1]);
	}
	udp_fixture_ask(clients[0]);
	udp_fixture_arrives(plain[1]);
	/* now it is silent */
	udp_fixture_ask(clients[1]);
	udp_fixture_arrives(plain[0]);
	RUN_UNTIL((udp_fixture_ask(clients[1]), fixture_breathe(),
	    fixture_tells(plain[1])));
	end_two();
}
END_TEST

/* No other one is left: better one that may be up than none. */
START_TEST(down_server_is_the_last_one)
{
	begin_two();
	mark(1, false);
	mark(0, false);
	next_ms();
	udp_fixture_ask(clients[0]);
	udp_fixture_arrives(plain[0]);
	mark(1, true);
	udp_fixture_ask(clients[0]);
	udp_fixture_arrives(plain[1]);
	end_two();
}
END_TEST

SUITE(test_silence)
{
	Suite *s = suite_create("silence");

	SUITE_ADD(s, slow_names_fail_nobody, 60);
	SUITE_ADD(s, one_burst_is_no_run, 30);
	SUITE_ADD(s, silent_name_server_fails, 30);
	SUITE_ADD_LOOP(s, silence_keeps_nobody_out, 30, 2);
	SUITE_ADD(s, ignored_datagrams_shut_nobody_out, 30);
	SUITE_ADD(s, down_server_loses_flows, 30);
	SUITE_ADD(s, down_server_that_answers_keeps_flow, 30);
	SUITE_ADD(s, down_server_is_the_last_one, 30);
	return s;
}
