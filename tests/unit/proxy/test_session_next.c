/* test_session_next.c: connections of HTTP that are kept, in a real loop: their
 * requests go to another server when theirs dies, before it is asked or after.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/fixture.h"
#include "support/suite.h"

#define GET  "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define POST "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok"
#define ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

enum { SERVERS = 3, SEVERAL = 8 };

static struct backend back[SERVERS];

/* ---- servers ---- */

/* Until its blank line; counts requests. */
static bool
takes_request(struct backend *b, int fd)
{
	char last[4] = "";

	do {
		memmove(last, last + 1, 3);
		if (recv(fd, last + 3, 1, 0) <= 0)
			return false;
	} while (memcmp(last, "\r\n\r\n", 4) != 0);
	atomic_fetch_add(&b->received, 1);
	return true;
}

static void
answers(struct backend *b, int fd)
{
	while (takes_request(b, fd))
		backend_send(fd, ANSWER, strlen(ANSWER));
}

static void
answers_one(struct backend *b, int fd)
{
	takes_request(b, fd);
	backend_send(fd, ANSWER, strlen(ANSWER));
}

static void
ends_at_second(struct backend *b, int fd)
{
	answers_one(b, fd);
	takes_request(b, fd);
}

static void
resets_at_second(struct backend *b, int fd)
{
	ends_at_second(b, fd);
	backend_reset(b, fd);
}

static void
begins_second(struct backend *b, int fd)
{
	ends_at_second(b, fd);
	backend_send(fd, "H", 1);
	backend_reset(b, fd);
}

#define HINTS "HTTP/1.1 103 a\r\n\r\n"

static void
hints_at_second(struct backend *b, int fd)
{
	ends_at_second(b, fd);
	backend_send(fd, HINTS, strlen(HINTS));
}

/* The second answer, which goes with the first, is interim. */
static void
hints_beside_first(struct backend *b, int fd)
{
	takes_request(b, fd);
	takes_request(b, fd);
	backend_send(fd, ANSWER HINTS, strlen(ANSWER HINTS));
}

static void
hints_in_part(struct backend *b, int fd)
{
	takes_request(b, fd);
	takes_request(b, fd);
	backend_send(fd, HINTS, strlen(HINTS) - 2);
}

#define GO_ON "HTTP/1.1 100 Continue\r\n\r\n"

/* And waits for what follows, or for ever. */
static void
lets_go_on(struct backend *b, int fd)
{
	char byte;

	takes_request(b, fd);
	backend_send(fd, GO_ON, strlen(GO_ON));
	do {
		if (recv(fd, &byte, 1, 0) <= 0)
			return;
	} while (byte != '!');
}

/* Answers before the body has come, and ends when it has, with a request. */
static void
answers_early(struct backend *b, int fd)
{
	answers_one(b, fd);
	takes_request(b, fd);
}

static char heard[100];

static void
hears_first(struct backend *b, int fd)
{
	ssize_t n = recv(fd, heard, sizeof(heard) - 1, MSG_PEEK);

	heard[n > 0 ? n : 0] = '\0';
	answers(b, fd);
}

static void
says_close(struct backend *b, int fd)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nConnection: close\r\n"
				     "Content-Length: 0\r\n\r\n";

	takes_request(b, fd);
	backend_send(fd, answer, strlen(answer));
}

static backend_fn *const losers[] = { resets_at_second, ends_at_second };
enum { LOSERS = sizeof(losers) / sizeof(losers[0]) };

/* ---- the fixture ---- */

static void
begin(backend_fn *first, backend_fn *second, backend_fn *third)
{
	backend_fn *serve[] = { first, second, third };
	struct pool_options o;
	unsigned i;

	fixture_begin();
	o = *pool_options(fixture.pool);
	o.sticky = false;
	ck_assert_int_eq(pool_set_options(fixture.pool, &o), 0);
	fixture.options.http.on = true;
	for (i = 0; i < SERVERS; i++) {
		memset(&back[i], 0, sizeof(back[i]));
		if (serve[i] == NULL)
			continue;
		backend_start(&back[i], ENDPOINT_TCP4, serve[i], NULL);
		fixture_add_server(i, &back[i].at);
	}
	fixture_front();
}

static void
end(void)
{
	int i;

	fixture_end();
	for (i = 0; i < SERVERS; i++)
		if (back[i].serve != NULL)
			backend_stop(&back[i]);
}

static void
say(int fd, const char *what)
{
	endpoint_send(fd, what, strlen(what));
}

/* A client whose first request server 0 has answered. */
static int
has_answer(void)
{
	int fd = endpoint_connect(&fixture.front);

	say(fd, GET);
	fixture_hears(fd, ANSWER);
	return fd;
}

static int
requests(int server)
{
	return (int)atomic_load(&back[server].received);
}

static void
is_lost(int fd)
{
	char byte;

	RUN_UNTIL(fixture_tells(fd));
	ck_assert_int_le(recv(fd, &byte, 1, 0), 0);
	close(fd);
	RUN_UNTIL(fixture_stats()->sessions == 0);
}

/* ---- a server dies with a request ---- */

START_TEST(kept_request_goes_elsewhere)
{
	int fd;

	begin(losers[_i], answers, NULL);
	fd = has_answer();
	say(fd, GET);
	fixture_hears(fd, ANSWER);
	ck_assert_uint_eq(fixture_stats()->requests_retried, 1);
	ck_assert_int_eq(requests(0), 2);
	ck_assert_int_eq(requests(1), 1);
	say(fd, GET);
	fixture_hears(fd, ANSWER);
	close(fd);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	ck_assert_uint_eq(fixture_stats()->down, 3 * strlen(ANSWER));
	ck_assert_uint_eq(
	    pool_server(fixture.pool, 0)->counters->received, strlen(ANSWER));
	ck_assert_uint_eq(pool_server(fixture.pool, 1)->counters->received,
	    2 * strlen(ANSWER));
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->failures, 0);
	end();
}
END_TEST

/* Each server that one has is tried for each request, not once for all. */
START_TEST(again_and_again)
{
	int fd, i;

	begin(losers[_i], losers[_i], losers[_i]);
	fd = has_answer();
	for (i = 0; i < SEVERAL; i++) {
		say(fd, GET);
		fixture_hears(fd, ANSWER);
	}
	ck_assert_uint_eq(fixture_stats()->requests_retried, SEVERAL);
	close(fd);
	end();
}
END_TEST

/* The rest of a body that came with it was of a request that had its answer: to
 * the next server it would be a request. */
START_TEST(rest_of_a_body_is_not_repeated)
{
	int fd;

	begin(answers_early, hears_first, NULL);
	fd = endpoint_connect(&fixture.front);
	say(fd, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n");
	fixture_hears(fd, ANSWER);
	say(fd, "BAD /bad " GET);
	RUN_UNTIL(fixture_tells(fd) || requests(1) > 0);
	fixture_breathe();
	ck_assert_msg(strstr(heard, "BAD") == NULL, "%s", heard);
	close(fd);
	end();
}
END_TEST

/* However it comes. */
START_TEST(long_header_in_pieces)
{
	static char text[15000];
	size_t i, n = (size_t)snprintf(text, sizeof(text),
	    "GET / HTTP/1.1\r\nHost: a\r\nCookie: %012000d\r\n\r\n", 0);
	int fd;

	begin(losers[0], answers, NULL);
	fd = has_answer();
	for (i = 0; i < n; i += 1000) {
		endpoint_send(fd, text + i, n - i < 1000 ? n - i : 1000);
		fixture_breathe();
	}
	fixture_hears(fd, ANSWER);
	ck_assert_uint_eq(fixture_stats()->requests_retried, 1);
	close(fd);
	end();
}
END_TEST

/* Neither has had an answer. */
START_TEST(two_at_once)
{
	int fd;

	begin(losers[_i], answers, NULL);
	fd = has_answer();
	say(fd, GET "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
	fixture_hears(fd, ANSWER);
	fixture_hears(fd, ANSWER);
	ck_assert_int_eq(requests(1), 2);
	close(fd);
	end();
}
END_TEST

static const char *const unrepeatable[] = {
	POST,
	"PUT / HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok",
	"GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\n"
	"Upgrade: websocket\r\n\r\n",
	GET POST,
	POST GET,
};

/* A close resets where the server has not read all. */
START_TEST(others_are_not_repeated)
{
	enum reason why =
	    _i == 1 || _i == 3 ? REASON_NO_ANSWER : REASON_SERVER_RESET;
	int fd;

	begin(losers[_i % 2], answers, NULL);
	fd = has_answer();
	say(fd, unrepeatable[_i]);
	is_lost(fd);
	ck_assert_int_eq(requests(1), 0);
	ck_assert_uint_eq(fixture_stats()->requests_retried, 0);
	fixture_ended(why, 1);
	end();
}
END_TEST

/* A client that ends, having asked or not all, may lose nothing. */
START_TEST(client_that_breaks_off)
{
	int fd;

	begin(ends_at_second, answers, NULL);
	fd = has_answer();
	say(fd, unrepeatable[1]);
	shutdown(fd, SHUT_WR);
	is_lost(fd);
	fixture_ended(REASON_DONE, 1);
	end();
}
END_TEST

START_TEST(partial_answer_is_not_repeated)
{
	int fd;

	begin(begins_second, answers, NULL);
	fd = has_answer();
	say(fd, GET);
	is_lost(fd);
	ck_assert_int_eq(requests(1), 0);
	end();
}
END_TEST

/* ---- interim answers ---- */

/* The client may get several (RFC 9110, 15.2): it has no answer yet. */
START_TEST(request_with_hints_goes_elsewhere)
{
	int fd;

	begin(hints_at_second, answers, NULL);
	fd = has_answer();
	say(fd, GET);
	fixture_hears(fd, HINTS);
	fixture_hears(fd, ANSWER);
	ck_assert_uint_eq(fixture_stats()->requests_retried, 1);
	close(fd);
	end();
}
END_TEST

static backend_fn *const with_hints[] = { hints_beside_first, hints_in_part };

/* An answer came before that of the last request, or a part of one. */
START_TEST(hints_too_late)
{
	int fd;

	begin(with_hints[_i], answers, NULL);
	fd = endpoint_connect(&fixture.front);
	say(fd, GET GET);
	if (_i == 0)
		fixture_hears(fd, ANSWER);
	if (_i == 0)
		fixture_hears(fd, HINTS);
	is_lost(fd);
	ck_assert_int_eq(requests(1), 0);
	end();
}
END_TEST

/* Its server may have done what it asks for: it is not sent again. */
START_TEST(page_after_an_interim_answer)
{
	int fd;

	begin(lets_go_on, answers, NULL);
	fixture.options.http.status = true;
	fixture.options.idle_timeout_ms = _i == 0 ? 0 : 200;
	frontend_set_options(fixture.frontend, &fixture.options);
	fd = endpoint_connect(&fixture.front);
	say(fd, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
		"Expect: 100-continue\r\n\r\n");
	fixture_hears(fd, GO_ON);
	say(fd, _i == 0 ? "!" : "x");
	fixture_hears(fd, _i == 0 ? "HTTP/1.1 502 " : "HTTP/1.1 504 ");
	ck_assert_int_eq(requests(1), 0);
	close(fd);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	fixture_ended(_i == 0 ? REASON_NO_ANSWER : REASON_IDLE_TIMEOUT, 1);
	end();
}
END_TEST

/* ---- a server ends before it is asked ---- */

/* Its client may ask at that moment: what no server has seen goes to the next
 * one, whatever it is. */
START_TEST(idle_connection_survives_its_server)
{
	const char *what = _i == 0 ? GET : POST;
	int fd;

	begin(answers_one, answers, NULL);
	fd = has_answer();
	RUN_UNTIL(atomic_load(&back[0].open) == 0);
	fixture_breathe();
	say(fd, what);
	fixture_hears(fd, ANSWER);
	ck_assert_int_eq(requests(0), 1);
	ck_assert_int_eq(requests(1), 1);
	ck_assert_uint_eq(fixture_stats()->requests_retried, 0);
	close(fd);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	ck_assert_uint_eq(fixture_stats()->down, 2 * strlen(ANSWER));
	end();
}
END_TEST

/* The cookie that the first answer has set names the server from then on. */
START_TEST(cookie_of_the_first_answer)
{
	char digest[17];
	int fd;

	begin(answers_one, answers, NULL);
	strcpy(fixture.options.http.sticky, "SRV");
	frontend_set_options(fixture.frontend, &fixture.options);
	snprintf(digest, sizeof(digest), "%016llx",
	    (unsigned long long)pool_server(fixture.pool, 0)->digest);
	fd = endpoint_connect(&fixture.front);
	say(fd, GET);
	fixture_hears(fd, "HTTP/1.1 200 OK\r\nSet-Cookie: SRV=");
	fixture_hears(fd, digest);
	fixture_hears(fd,
	    "; Path=/; HttpOnly; SameSite=Lax\r\nContent-Length: 0\r\n\r\n");
	RUN_UNTIL(atomic_load(&back[0].open) == 0);
	fixture_breathe();
	say(fd, GET);
	fixture_hears(fd, ANSWER);
	ck_assert_int_eq(requests(0), 2);
	close(fd);
	end();
}
END_TEST

/* A client that asks no more gets the end. */
START_TEST(silent_client_gets_the_end)
{
	int fd;

	begin(answers_one, answers, NULL);
	fd = has_answer();
	RUN_UNTIL(fixture_tells(fd));
	endpoint_expect_end(fd);
	close(fd);
	ck_assert_int_eq(atomic_load(&back[1].accepted), 0);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	ck_assert_uint_eq(fixture_stats()->reasons[REASON_DONE], 1);
	end();
}
END_TEST

static void
cut_first_server(void)
{
	struct pool_options o = *pool_options(fixture.pool);
	struct server *s = pool_server(fixture.pool, 0);

	o.on_down = SERVER_ON_DOWN_CUT;
	ck_assert_int_eq(pool_set_options(fixture.pool, &o), 0);
	while (server_state(s) != SERVER_DOWN)
		pool_checked(
		    fixture.pool, s, false, "test", loop_now(fixture.loop));
	frontend_cut_sessions(fixture.frontend);
	RUN_UNTIL(atomic_load(&back[0].open) == 0);
}

/* Or it is down, and not the one that reset the connection. */
START_TEST(idle_connection_of_a_server_that_is_down)
{
	int fd;

	begin(answers, answers, NULL);
	fd = has_answer();
	cut_first_server();
	if (_i == 0) { /* its client goes on with another one */
		say(fd, GET);
		fixture_hears(fd, ANSWER);
		ck_assert_int_eq(requests(1), 1);
		close(fd);
	}
	RUN_UNTIL(fixture_stats()->sessions == 0);
	fixture_ended(_i == 0 ? REASON_DONE : REASON_SERVER_DOWN, 1);
	if (_i == 1)
		close(fd);
	end();
}
END_TEST

START_TEST(client_that_ends_meanwhile)
{
	int fd;

	begin(answers_one, answers, NULL);
	fd = has_answer();
	RUN_UNTIL(atomic_load(&back[0].open) == 0);
	close(fd);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	ck_assert_int_eq(atomic_load(&back[1].accepted), 0);
	ck_assert_uint_eq(fixture_stats()->reasons[REASON_DONE], 1);
	end();
}
END_TEST

/* ---- the next server refuses, or is full ---- */

static void
pass_ms(long long ms)
{
	long long until = wait_now_ms() + ms;

	RUN_UNTIL(wait_now_ms() >= until);
}

static void
set_options(void)
{
	frontend_set_options(fixture.frontend, &fixture.options);
}

/* How long it waits begins with the refusal, not with the connection. */
START_TEST(old_connection_waits_for_a_restart)
{
	struct endpoint at;
	int fd;

	begin(answers, NULL, NULL);
	fixture.options.retry_ms = 1100;
	set_options();
	fd = has_answer();
	pass_ms(700);
	at = back[0].at;
	backend_stop(&back[0]);
	fixture_breathe();
	say(fd, GET);
	RUN_UNTIL(pool_server(fixture.pool, 0)->counters->failures == 1);
	backend_start_at(&back[0], &at, answers, NULL);
	fixture_hears(fd, ANSWER);
	close(fd);
	end();
}
END_TEST

/* And so does that of each request. */
START_TEST(old_connection_waits_for_a_place)
{
	int fd, other;

	begin(answers_one, NULL, NULL);
	pool_server(fixture.pool, 0)->set.soft = 1;
	fixture.options.queue_ms = 60000;
	set_options();
	other = endpoint_connect(&fixture.front);
	RUN_UNTIL(atomic_load(&back[0].open) == 1);
	fd = endpoint_connect(&fixture.front);
	say(fd, GET);
	RUN_UNTIL(fixture_stats()->queued == 1);
	pass_ms(200);
	close(other);
	fixture_hears(fd, ANSWER);
	RUN_UNTIL(atomic_load(&back[0].open) == 0);
	fixture.options.queue_ms = 200;
	set_options();
	other = endpoint_connect(&fixture.front);
	RUN_UNTIL(atomic_load(&back[0].open) == 1);
	say(fd, GET);
	RUN_UNTIL(fixture_stats()->queued == 1);
	fixture.options.queue_ms = 60000;
	set_options();
	close(other);
	fixture_hears(fd, ANSWER);
	ck_assert_uint_eq(fixture_stats()->queued_total, 2);
	close(fd);
	end();
}
END_TEST

/* A bad request gets its page all the same. */
START_TEST(bad_request_meanwhile)
{
	int fd;

	begin(answers_one, answers, NULL);
	fd = has_answer();
	RUN_UNTIL(atomic_load(&back[0].open) == 0);
	say(fd, "GET\r\n\r\n");
	fixture_hears(fd, "HTTP/1.1 400 Bad Request\r\n");
	close(fd);
	end();
}
END_TEST

/* Then the end is no surprise. */
START_TEST(announced_end_is_passed_on)
{
	int fd;

	begin(says_close, answers, NULL);
	fd = endpoint_connect(&fixture.front);
	say(fd, GET);
	fixture_hears(fd,
	    "HTTP/1.1 200 OK\r\nConnection: close\r\n"
	    "Content-Length: 0\r\n\r\n");
	RUN_UNTIL(atomic_load(&back[0].open) == 0);
	say(fd, GET);
	is_lost(fd);
	ck_assert_int_eq(requests(1), 0);
	end();
}
END_TEST

/* ---- the session is asked to end ---- */

/* The next answer says that it is the last one: a client that asks all the time
 * goes, and loses nothing. */
START_TEST(next_answer_is_the_last)
{
	int fd;

	begin(answers, answers, NULL);
	fd = has_answer();
	if (_i == 0) {
		frontend_drain(fixture.frontend);
	} else {
		fixture.options.end.max_age_ms = 1;
		frontend_set_options(fixture.frontend, &fixture.options);
		fixture_breathe();
	}
	say(fd, GET);
	fixture_hears(fd,
	    "HTTP/1.1 200 OK\r\nConnection: close\r\n"
	    "Content-Length: 0\r\n\r\n");
	RUN_UNTIL(fixture_tells(fd));
	endpoint_expect_end(fd);
	close(fd);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	ck_assert_uint_eq(fixture_stats()->reasons[REASON_QUIET_END], 1);
	end();
}
END_TEST

SUITE(test_session_next)
{
	Suite *s = suite_create("session_next");

	SUITE_ADD_LOOP(s, kept_request_goes_elsewhere, 10, LOSERS);
	SUITE_ADD_LOOP(s, again_and_again, 10, LOSERS);
	SUITE_ADD(s, rest_of_a_body_is_not_repeated, 10);
	SUITE_ADD(s, long_header_in_pieces, 10);
	SUITE_ADD_LOOP(s, two_at_once, 10, LOSERS);
	SUITE_ADD_LOOP(s, others_are_not_repeated, 10,
	    sizeof(unrepeatable) / sizeof(unrepeatable[0]));
	SUITE_ADD(s, client_that_breaks_off, 10);
	SUITE_ADD(s, partial_answer_is_not_repeated, 10);
	SUITE_ADD(s, request_with_hints_goes_elsewhere, 10);
	SUITE_ADD_LOOP(s, hints_too_late, 10, 2);
	SUITE_ADD_LOOP(s, page_after_an_interim_answer, 10, 2);
	SUITE_ADD_LOOP(s, idle_connection_survives_its_server, 10, 2);
	SUITE_ADD(s, cookie_of_the_first_answer, 10);
	SUITE_ADD(s, silent_client_gets_the_end, 10);
	SUITE_ADD_LOOP(s, idle_connection_of_a_server_that_is_down, 10, 2);
	SUITE_ADD(s, client_that_ends_meanwhile, 10);
	SUITE_ADD(s, old_connection_waits_for_a_restart, 10);
	SUITE_ADD(s, old_connection_waits_for_a_place, 10);
	SUITE_ADD(s, bad_request_meanwhile, 10);
	SUITE_ADD(s, announced_end_is_passed_on, 10);
	SUITE_ADD_LOOP(s, next_answer_is_the_last, 10, 2);
	return s;
}
