/* test_quiet.c: sessions that are asked to end, as they are old or too many for
 * their server, in a real loop. */
#include "config.h"

#include <check.h>
#include <sys/socket.h>
#include <string.h>
#include <unistd.h>

#include "pool/sticky/sticky.h"
#include "proxy/session/session.h"
#include "proxy/wire/route.h"
#include "support/backend.h"
#include "support/fixture.h"
#include "support/suite.h"

enum { MANY = 20, QUIET_MS = 50 };

static void
begin(enum quiet_end which, uint64_t max_age_ms, uint64_t drain_ms)
{
	fixture_begin();
	fixture.options.end = (struct end_options){ .quiet = which,
		.quiet_ms = QUIET_MS,
		.drain_ms = drain_ms,
		.max_age_ms = max_age_ms };
	fixture_with(backend_echo, NULL);
}

static void
end(void)
{
	fixture_end();
	backend_stop(&fixture.backend);
}

/* Lets the loop run for so long. */
static void
pass(long long ms)
{
	long long until = wait_now_ms() + ms;

	RUN_UNTIL(wait_now_ms() >= until);
}

/* In order, and at different times. */
START_TEST(old_sessions_end)
{
	int fd[MANY], i;
	long long began = wait_now_ms();

	begin(QUIET_END_ALL, 1000, 0);
	for (i = 0; i < MANY; i++)
		fd[i] = fixture_talks();
	RUN_UNTIL(fixture_stats()->reasons[REASON_QUIET_END] > 0);
	ck_assert_int_ge(wait_now_ms() - began, 880);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	fixture_ended(REASON_QUIET_END, MANY);
	for (i = 0; i < MANY; i++) {
		endpoint_expect_end(fd[i]);
		close(fd[i]);
	}
	end();
}
END_TEST

/* Set while sessions are there. One without a quiet moment has drain_timeout
 * more. */
START_TEST(old_sessions_are_cut_in_the_end)
{
	long long began;
	int fd;

	begin(QUIET_END_NONE, 0, 400);
	began = wait_now_ms();
	fd = fixture_talks();
	fixture.options.end.max_age_ms = 300;
	frontend_set_options(fixture.frontend, &fixture.options);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	ck_assert_int_ge(wait_now_ms() - began, 600);
	fixture_ended(REASON_MAX_AGE, 1);
	endpoint_expect_reset(fd);
	close(fd);
	end();
}
END_TEST

START_TEST(without_a_limit_they_wait_for_their_moment)
{
	int fd;

	begin(QUIET_END_HTTP, 100, 0);
	fd = fixture_talks();
	pass(600);
	ck_assert_uint_eq(fixture_stats()->sessions, 1);
	ck_assert(!fixture_tells(fd));
	close(fd);
	end();
}
END_TEST

static int
rebalance(unsigned percent)
{
	uint64_t asked;
	struct error e;

	if (sessions_rebalance(
		frontend_sessions(fixture.frontend), percent, &asked, &e) < 0)
		return -1;
	return (int)asked;
}

/* A server comes and is to get its half, but of the other's sessions no more
 * end than was said. Their client is not remembered then. */
START_TEST(rebalancing)
{
	struct backend late;
	int fd[MANY], i, over = 0;

	begin(QUIET_END_ALL, 0, 0);
	for (i = 0; i < MANY; i++)
		fd[i] = fixture_talks();
	backend_start(&late, ENDPOINT_TCP4, backend_echo, NULL);
	fixture_add_server(1, &late.at);
	ck_assert_int_eq(rebalance(10), MANY / 10);
	RUN_UNTIL(fixture_stats()->sessions == MANY - MANY / 10);
	/* of 18 sessions each server's share is 9 */
	ck_assert_int_eq(rebalance(100), (MANY - MANY / 10) / 2);
	RUN_UNTIL(fixture_stats()->sessions == (MANY - MANY / 10) / 2);
	pass(4 * QUIET_MS);
	ck_assert_uint_eq(sticky_count(pool_sticky(fixture.pool)), 0);
	for (i = 0; i < MANY; i++)
		over += fixture_tells(fd[i]);
	ck_assert_uint_eq(
	    fixture_stats()->reasons[REASON_QUIET_END], (unsigned)over);
	ck_assert_uint_eq(fixture_stats()->sessions, (unsigned)(MANY - over));
	for (i = 0; i < MANY; i++)
		close(fd[i]);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	end();
	backend_stop(&late);
}
END_TEST

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

/* To each request, which comes in one piece. */
static void
answers(struct backend *b, int fd)
{
	char bytes[1024];

	while (recv(fd, bytes, sizeof(bytes), 0) > 0)
		backend_send(fd, ANSWER, strlen(ANSWER));
	(void)b;
}

/* One that is never idle for long ends with its next answer, which says so; its
 * client is not remembered then, either. */
START_TEST(rebalancing_of_requests)
{
	struct backend late;
	int fd[2], i;

	fixture_begin();
	fixture.options.end = (struct end_options){ .quiet = QUIET_END_HTTP,
		.quiet_ms = 60000 };
	fixture.options.http.on = true;
	fixture_with(answers, NULL);
	for (i = 0; i < 2; i++) {
		fd[i] = endpoint_connect(&fixture.front);
		endpoint_send(fd[i], GET, strlen(GET));
		fixture_hears(fd[i], ANSWER);
	}
	backend_start(&late, ENDPOINT_TCP4, answers, NULL);
	fixture_add_server(1, &late.at);
	ck_assert_int_eq(rebalance(100), 1);
	ck_assert_uint_eq(sticky_count(pool_sticky(fixture.pool)), 1);
	for (i = 0; i < 2; i++)
		endpoint_send(fd[i], GET, strlen(GET));
	RUN_UNTIL(fixture_tells(fd[0]) && fixture_tells(fd[1]));
	for (i = 0; i < 2; i++)
		close(fd[i]);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	ck_assert_uint_eq(fixture_stats()->reasons[REASON_QUIET_END], 1);
	ck_assert_uint_eq(sticky_count(pool_sticky(fixture.pool)), 0);
	end();
	backend_stop(&late);
}
END_TEST

/* Who may have no other server stays. */
START_TEST(rebalancing_within_routes)
{
	struct routes *r = routes_new(1);
	unsigned slots[] = { server_slot(0), server_slot(1) };
	struct backend late;
	int fd[MANY], i;

	begin(QUIET_END_ALL, 0, 0);
	r->list[0].pattern = strdup("");
	ck_assert_int_eq(server_set_init(&r->list[0].servers, slots, 1), 0);
	routes_prepare(r, NULL);
	frontend_set_routes(fixture.frontend, r);
	for (i = 0; i < MANY; i++)
		fd[i] = fixture_talks();
	backend_start(&late, ENDPOINT_TCP4, backend_echo, NULL);
	fixture_add_server(1, &late.at);
	ck_assert_int_ge(rebalance(100), 1);
	pass(4 * QUIET_MS);
	ck_assert_uint_eq(fixture_stats()->sessions, MANY);
	server_set_fini(&r->list[0].servers);
	ck_assert_int_eq(server_set_init(&r->list[0].servers, slots, 2), 0);
	ck_assert_int_eq(rebalance(100), MANY / 2);
	RUN_UNTIL(fixture_stats()->sessions == MANY / 2);
	for (i = 0; i < MANY; i++)
		close(fd[i]);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	end();
	backend_stop(&late);
}
END_TEST

/* The servers' connections are flows, which are not asked. */
START_TEST(no_session_to_ask)
{
	struct attempts attempts = { .count = 0 };
	struct peer who = { .family = AF_INET };
	struct backend late;
	struct server *s;
	int i;

	begin(QUIET_END_ALL, 0, 0);
	backend_start(&late, ENDPOINT_TCP4, backend_echo, NULL);
	fixture_add_server(1, &late.at);
	s = pool_server(fixture.pool, 0);
	for (i = 0; i < MANY; i++)
		pool_opened(fixture.pool, s, &who, &attempts, 0);
	ck_assert_int_eq(rebalance(100), 0);
	for (i = 0; i < MANY; i++)
		pool_closed(fixture.pool, s, &who, &attempts, 0, 0);
	end();
	backend_stop(&late);
}
END_TEST

START_TEST(rebalancing_refused)
{
	begin(QUIET_END_NONE, 0, 0);
	ck_assert_int_eq(rebalance(50), -1);
	end();
}
END_TEST

SUITE(test_quiet)
{
	Suite *s = suite_create("quiet");

	SUITE_ADD(s, old_sessions_end, 30);
	SUITE_ADD(s, old_sessions_are_cut_in_the_end, 30);
	SUITE_ADD(s, without_a_limit_they_wait_for_their_moment, 30);
	SUITE_ADD(s, rebalancing, 30);
	SUITE_ADD(s, rebalancing_of_requests, 30);
	SUITE_ADD(s, rebalancing_within_routes, 30);
	SUITE_ADD(s, no_session_to_ask, 30);
	SUITE_ADD(s, rebalancing_refused, 30);
	return s;
}
