/* test_connections.c: the numbers of connections: always the lowest free one,
 * however many there are; and what can be asked and done by number. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy/core/id_table.h"
#include "proxy/session/connections.h"
#include "proxy/session/session_private.h"
#include "support/fixture.h"
#include "support/suite.h"

/* The table never looks at a session, so that any address will do. */
static char sessions[70000];

static struct session *
session(uint32_t i)
{
	return (struct session *)(void *)&sessions[i];
}

static uint32_t
add(struct id_table *c, uint32_t i)
{
	uint32_t number = UINT32_MAX;

	if (id_table_add(c, session(i), &number) < 0)
		ck_abort_msg("no memory for %u", (unsigned)i);
	return number;
}

/* Adds `n` more; they are to get the numbers from `first` on. */
static void
fill(struct id_table *c, uint32_t first, uint32_t n)
{
	uint32_t i, number;

	for (i = first; i < first + n; i++) {
		number = add(c, i);
		if (number != i || c->entry[i] != session(i))
			ck_abort_msg(
			    "%u instead of %u", (unsigned)number, (unsigned)i);
	}
	ck_assert_uint_eq(c->end, first + n);
}

/* An idle connection is this, what malloc(3) adds, and a pointer in the table;
 * README.md has it. */
START_TEST(a_session_is_small)
{
	if (sizeof(void *) == 8)
		ck_assert_uint_le(sizeof(struct session), 280);
}
END_TEST

START_TEST(in_order)
{
	struct id_table c;

	id_table_init(&c);
	ck_assert_uint_eq(c.end, 0);
	fill(&c, 0, sizeof(sessions));
	id_table_fini(&c);
}
END_TEST

START_TEST(lowest_first)
{
	/* around the limits of words at each level, in no order */
	static const uint32_t gone[] = { 4097, 63, 64, 262, 4096, 0, 65, 4095 };
	static const uint32_t sorted[] = { 0, 63, 64, 65, 262, 4095, 4096,
		4097 };
	struct id_table c;
	unsigned i, n = sizeof(gone) / sizeof(gone[0]);

	id_table_init(&c);
	fill(&c, 0, 5000);
	for (i = 0; i < n; i++) {
		id_table_remove(&c, gone[i]);
		ck_assert_ptr_null(c.entry[gone[i]]);
	}
	for (i = 0; i < n; i++)
		ck_assert_uint_eq(add(&c, sorted[i]), sorted[i]);
	fill(&c, 5000, 5000);
	id_table_fini(&c);
}
END_TEST

/* Whatever comes and goes: the same numbers as a plain search would give. */
START_TEST(like_a_search)
{
	static bool taken[3000];
	struct id_table c;
	uint32_t seed = 1, at, want;
	int i, turns = (int)suite_amount(20000, 2000);

	memset(taken, 0, sizeof(taken));
	id_table_init(&c);
	for (i = 0; i < turns; i++) {
		seed = seed * 1103515245u + 12345u;
		at = seed >> 8;
		if (c.end > 0 && taken[at % c.end] && (at >> 16) % 8 < 3) {
			taken[at % c.end] = false;
			id_table_remove(&c, at % c.end);
			continue;
		}
		for (want = 0; taken[want]; want++)
			if (want + 1 == sizeof(taken))
				break;
		if (taken[want])
			continue;
		at = add(&c, want);
		taken[want] = true;
		if (at != want)
			ck_abort_msg("%u instead of %u in turn %d",
			    (unsigned)at, (unsigned)want, i);
	}
	ck_assert_uint_gt(c.end, 64);
	id_table_fini(&c);
}
END_TEST

/* A table that grows while low numbers are free does not forget them. */
START_TEST(grown_and_emptied)
{
	struct id_table c;
	uint32_t i;

	id_table_init(&c);
	fill(&c, 0, 300);
	for (i = 0; i < 300; i++)
		id_table_remove(&c, i);
	ck_assert_uint_eq(c.end, 300);
	for (i = 0; i < 300; i++)
		ck_assert_uint_eq(add(&c, i), i);
	fill(&c, 300, 300);
	id_table_fini(&c);
}
END_TEST

/* ---- in a frontend ---- */

/* All sessions are over, `n` of them for this reason and none for another. */
static void
ended(enum reason why, uint64_t n)
{
	RUN_UNTIL(
	    fixture_stats()->accepted >= n && fixture_stats()->sessions == 0);
	ck_assert_uint_eq(fixture_stats()->accepted, n);
	ck_assert_uint_eq(fixture_stats()->reasons[why], n);
}

static struct sessions *
all(void)
{
	return frontend_sessions(fixture.frontend);
}

static struct connection_info
asked(uint64_t number)
{
	struct connection_info info;

	memset(&info, 0x5a, sizeof(info));
	ck_assert_msg(connection_find(all(), number, &info),
	    "no connection %llu", (unsigned long long)number);
	ck_assert_uint_eq(info.number, number);
	return info;
}

/* The session of the client who has just come. */
static struct connection_info
talking(int fd)
{
	struct sockaddr_in own;
	socklen_t len = sizeof(own);
	struct connection_info info;
	uint64_t n = 0;

	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&own, &len), 0);
	for (; connection_next(all(), n, &info); n = info.number + 1)
		if (info.client.port == ntohs(own.sin_port))
			return info;
	ck_abort_msg("no such connection");
	return info;
}

START_TEST(snapshot)
{
	struct connection_info info;
	char name[PEER_TEXT_MAX];
	int fd;

	fixture_begin();
	fixture_with(backend_echo, NULL);
	ck_assert_uint_eq(all()->ids.end, 0);
	ck_assert(!connection_find(all(), 0, &info));
	ck_assert(!connection_next(all(), 0, &info));
	fd = fixture_talks();
	info = talking(fd);
	ck_assert_uint_eq(info.number, 0);
	ck_assert_uint_eq(all()->ids.end, 1);
	ck_assert_str_eq(info.state, "relaying");
	ck_assert_str_eq(peer_format_host(&info.client, name), "127.0.0.1");
	ck_assert_ptr_eq(info.server, pool_server(fixture.pool, 0));
	ck_assert_int_ge(info.down_fd, 0);
	ck_assert_int_ge(info.up_fd, 0);
	ck_assert_int_eq(connection_of_fd(all(), info.down_fd), 0);
	ck_assert_int_eq(connection_of_fd(all(), info.up_fd), 0);
	ck_assert_int_eq(connection_of_fd(all(), fd), -1);
	ck_assert_int_eq(connection_of_fd(all(), -1), -1);
	ck_assert_uint_eq(info.up, 5);
	ck_assert_uint_eq(info.down, 5);
	ck_assert_uint_eq(info.pending_up, 0);
	ck_assert_uint_eq(info.pending_down, 0);
	RUN_UNTIL(asked(0).age_ms >= 20 && asked(0).idle_ms >= 20);
	endpoint_send(fd, "again", 5);
	fixture_hears(fd, "again");
	info = asked(0);
	ck_assert_uint_gt(info.age_ms, info.idle_ms);
	ck_assert_uint_eq(info.up, 10);
	close(fd);
	ended(REASON_DONE, 1);
	ck_assert(!connection_find(all(), 0, &info));
	ck_assert(!connection_find(all(), UINT64_MAX, &info));
	ck_assert(!connection_next(all(), UINT64_MAX, &info));
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

/* Bytes that the server does not take are pending on their way up. */
START_TEST(pending)
{
	static char bytes[1 << 16];
	int fd;

	fixture_begin();
	fixture_with(backend_hang, NULL);
	fd = endpoint_connect(&fixture.front);
	ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	RUN_UNTIL(send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) < 0 &&
	    asked(0).pending_up > 0);
	ck_assert_uint_gt(asked(0).up, 0);
	ck_assert_uint_eq(asked(0).pending_down, 0);
	endpoint_reset(fd);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

/* No server answers yet: there is one, but no descriptor. */
START_TEST(connecting)
{
	struct connection_info info;
	struct endpoint full;
	struct addr a;
	int fd, listener, more;

	fixture_begin();
	endpoint_new(&full, ENDPOINT_UNIX);
	listener = endpoint_listen(&full, 0);
	a = fixture_addr(&full);
	do {
		more = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		ck_assert_int_ge(more, 0);
	} while (connect(more, &a.u.sa, a.len) == 0);
	close(more);
	fixture_add_server(0, &full);
	fixture_front();
	fd = endpoint_connect(&fixture.front);
	RUN_UNTIL(fixture_stats()->connecting == 1);
	info = asked(0);
	ck_assert_str_eq(info.state, "connecting");
	ck_assert_ptr_eq(info.server, pool_server(fixture.pool, 0));
	ck_assert_int_eq(info.up_fd, -1);
	ck_assert(connection_close(all(), 0));
	endpoint_expect_reset(fd);
	ended(REASON_STOPPED, 1);
	close(fd);
	close(listener);
	fixture_end();
}
END_TEST

/* The lowest number is given again, and a walk sees each connection once. */
START_TEST(numbers)
{
	struct connection_info info;
	int fds[5], i;

	fixture_begin();
	fixture_with(backend_echo, NULL);
	for (i = 0; i < 5; i++) {
		fds[i] = fixture_talks();
		ck_assert_uint_eq(talking(fds[i]).number, (unsigned)i);
	}
	close(fds[3]);
	close(fds[1]);
	RUN_UNTIL(fixture_stats()->sessions == 3);
	ck_assert(connection_next(all(), 1, &info));
	ck_assert_uint_eq(info.number, 2);
	ck_assert(connection_next(all(), 3, &info));
	ck_assert_uint_eq(info.number, 4);
	ck_assert(!connection_next(all(), 5, &info));
	fds[1] = fixture_talks();
	ck_assert_uint_eq(talking(fds[1]).number, 1);
	fds[3] = fixture_talks();
	ck_assert_uint_eq(talking(fds[3]).number, 3);
	ck_assert_uint_eq(all()->ids.end, 5);
	for (i = 0; i < 5; i++)
		close(fds[i]);
	ended(REASON_DONE, 7);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

/* A watch that closes connections 0 and 1 in its own callback, whatever else
 * the same wake-up has brought. */
static void
on_order(struct watch *w, unsigned ready)
{
	(void)ready;
	connection_close(all(), 0);
	connection_close(all(), 1);
	watch_stop(fixture.loop, w);
}

/* All at once: bytes and ends for both sessions, and the order to close them,
 * which comes before, between or after theirs. Memory checkers watch. */
START_TEST(closed_in_the_same_wakeup)
{
	int order[2], fds[2];
	struct watch w;

	fixture_begin();
	fixture_with(backend_echo, NULL);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, order), 0);
	watch_init(&w);
	if (_i == 0)
		ck_assert_int_eq(watch_start(fixture.loop, &w, order[0],
				     READY_READ, on_order),
		    0);
	fds[0] = fixture_talks();
	if (_i == 1)
		ck_assert_int_eq(watch_start(fixture.loop, &w, order[0],
				     READY_READ, on_order),
		    0);
	fds[1] = fixture_talks();
	if (_i == 2)
		ck_assert_int_eq(watch_start(fixture.loop, &w, order[0],
				     READY_READ, on_order),
		    0);
	if (_i == 2)
		endpoint_send(fds[0], "x", 1);
	endpoint_send(fds[1], "x", 1);
	endpoint_send(order[1], "x", 1);
	if (_i != 2)
		endpoint_send(fds[0], "x", 1);
	ended(REASON_STOPPED, 2);
	ck_assert(!connection_close(all(), 0));
	close(fds[0]);
	close(fds[1]);
	close(order[0]);
	close(order[1]);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

SUITE(test_connections)
{
	Suite *s = suite_create("connections");
	TCase *c = tcase_create("closed_in_the_same_wakeup");

	SUITE_ADD(s, a_session_is_small, 5);
	SUITE_ADD(s, in_order, 30);
	SUITE_ADD(s, lowest_first, 30);
	SUITE_ADD(s, like_a_search, 30);
	SUITE_ADD(s, grown_and_emptied, 30);
	SUITE_ADD(s, snapshot, 30);
	SUITE_ADD(s, pending, 30);
	SUITE_ADD(s, connecting, 30);
	SUITE_ADD(s, numbers, 30);
	tcase_set_timeout(c, 30);
	tcase_add_loop_test(c, closed_in_the_same_wakeup, 0, 3);
	suite_add_tcase(s, c);
	return s;
}
