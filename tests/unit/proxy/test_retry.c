/* test_retry.c: requests that servers lose, in a real loop. */
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

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

enum { SERVERS = 3 };

static struct backend back[SERVERS];

/* ---- servers; each takes a request first, but for backend_reset ---- */

/* Until its blank line; counts bytes. */
static bool
takes_request(struct backend *b, int fd)
{
	char bytes[32768];
	size_t n = 0;
	ssize_t k;

	do {
		k = recv(fd, bytes + n, sizeof(bytes) - n, 0);
		n += k > 0 ? (size_t)k : 0;
		b->received += k > 0 ? k : 0;
	} while (k > 0 && (n < 4 || memcmp(bytes + n - 4, "\r\n\r\n", 4) != 0));
	return k > 0;
}

static void
answers(struct backend *b, int fd)
{
	while (takes_request(b, fd))
		backend_send(fd, ANSWER, strlen(ANSWER));
}

static void
resets(struct backend *b, int fd)
{
	takes_request(b, fd);
	backend_reset(b, fd);
}

static void
ends(struct backend *b, int fd)
{
	takes_request(b, fd);
}

static void
answers_in_part(struct backend *b, int fd)
{
	takes_request(b, fd);
	backend_send(fd, "H", 1);
	backend_reset(b, fd);
}

static void
greets(struct backend *b, int fd)
{
	backend_send(fd, "220", 3);
	resets(b, fd);
}

static void
answers_one(struct backend *b, int fd)
{
	takes_request(b, fd);
	backend_send(fd, ANSWER, strlen(ANSWER));
	takes_request(b, fd);
	backend_reset(b, fd);
}

static void
waits(struct backend *b, int fd)
{
	char byte;

	takes_request(b, fd);
	(void)recv(fd, &byte, 1, 0);
	backend_reset(b, fd);
}

static atomic_bool go;

/* Takes nothing; breaks off when it is told to. */
static void
resets_later(struct backend *b, int fd)
{
	while (!atomic_load(&go) && !atomic_load(&b->stopping))
		wait_nap();
	backend_reset(b, fd);
}

static void
ends_later(struct backend *b, int fd)
{
	(void)fd;
	while (!atomic_load(&go) && !atomic_load(&b->stopping))
		wait_nap();
}

static backend_fn *const losers[] = { resets, ends, backend_reset };
enum { LOSERS = sizeof(losers) / sizeof(losers[0]) };

/* ---- the fixture ---- */

static void
set_pool(bool sticky, bool stubborn)
{
	struct pool_options o = *pool_options(fixture.pool);

	o.sticky = sticky;
	o.stubborn = stubborn;
	ck_assert_int_eq(pool_set_options(fixture.pool, &o), 0);
}

static void
begin_at(enum endpoint_kind kind, backend_fn *first, backend_fn *second,
    backend_fn *third)
{
	backend_fn *serve[] = { first, second, third };
	unsigned i;

	fixture_begin();
	set_pool(false, false);
	for (i = 0; i < SERVERS; i++) {
		memset(&back[i], 0, sizeof(back[i]));
		if (serve[i] == NULL)
			continue;
		backend_start(&back[i], kind, serve[i], NULL);
		fixture_add_server(i, &back[i].at);
	}
	fixture_front();
}

static void
begin(backend_fn *first, backend_fn *second, backend_fn *third)
{
	begin_at(ENDPOINT_TCP4, first, second, third);
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

static int
asks(const char *what)
{
	int fd = endpoint_connect(&fixture.front);

	endpoint_send(fd, what, strlen(what));
	return fd;
}

static void
set_retries(unsigned n)
{
	fixture.options.retry_requests = n;
	frontend_set_options(fixture.frontend, &fixture.options);
}

/* Not a byte comes, but the session ends. */
static void
is_lost(int fd)
{
	char byte;

	RUN_UNTIL(fixture_tells(fd));
	ck_assert_int_le(recv(fd, &byte, 1, 0), 0);
	close(fd);
	RUN_UNTIL(fixture_stats()->sessions == 0);
}

static int
accepted(int server)
{
	return atomic_load(&back[server].accepted);
}

/* How many connects to it were timed. */
static uint64_t
timed(unsigned server)
{
	const struct duration *d =
	    &pool_server(fixture.pool, server)->counters->connect_durations;
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < DURATION_BUCKETS; i++)
		n += d->bucket[i];
	return n;
}

/* ---- tests ---- */

START_TEST(lost_request_goes_elsewhere)
{
	enum endpoint_kind kind = _i < LOSERS ? ENDPOINT_TCP4 : ENDPOINT_UNIX;
	int fd;

	begin_at(kind, losers[_i % LOSERS], answers, NULL);
	fd = asks(GET);
	fixture_hears(fd, ANSWER);
	/* one that resets at once may not have had the request */
	if (losers[_i % LOSERS] != backend_reset)
		ck_assert_uint_eq(fixture_stats()->requests_retried, 1);
	ck_assert_uint_eq(fixture_stats()->retries, 1);
	ck_assert_int_eq(accepted(0), 1);
	ck_assert_int_eq(back[1].received, (long long)strlen(GET));
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->connections, 0);
	ck_assert_uint_eq(pool_server(fixture.pool, 1)->connections, 1);
	ck_assert_uint_eq(timed(1), 1);
	/* the connection stays, and its next request goes there */
	endpoint_send(fd, GET, strlen(GET));
	fixture_hears(fd, ANSWER);
	close(fd);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	ck_assert_uint_eq(fixture_stats()->down, 2 * strlen(ANSWER));
	ck_assert_uint_eq(
	    pool_server(fixture.pool, 1)->counters->sent, 2 * strlen(GET));
	end();
}
END_TEST

/* The server breaks off, the client asks, and the loop learns of both at once,
 * in either order. */
START_TEST(asked_when_the_server_had_gone)
{
	int fd;

	atomic_store(&go, false);
	begin(resets_later, answers, NULL);
	fd = endpoint_connect(&fixture.front);
	RUN_UNTIL(accepted(0) == 1);
	if (_i == 0)
		endpoint_send(fd, GET, strlen(GET));
	atomic_store(&go, true);
	WAIT_FOR(atomic_load(&back[0].open) == 0, 5000);
	if (_i == 1)
		endpoint_send(fd, GET, strlen(GET));
	fixture_hears(fd, ANSWER);
	ck_assert_uint_eq(fixture_stats()->retries, 1);
	ck_assert_uint_eq(fixture_stats()->requests_retried, 0);
	ck_assert_int_eq(back[1].received, (long long)strlen(GET));
	close(fd);
	end();
}
END_TEST

#define POST "POST / HTTP/1.1\r\nHost: a\r\n\r\n"

static const struct unused {
	backend_fn *serve;
	const char *what;
	bool http;
	enum { SENT_BEFORE, SENT_BETWEEN, SENT_AFTER } when;
	bool client_ends;
} unused[] = {
	{ resets_later, POST, false, SENT_BEFORE, false },
	{ resets_later, POST, false, SENT_BETWEEN, false },
	{ resets_later, POST, false, SENT_AFTER, false },
	{ resets_later, "hello\r\n\r\n", false, SENT_BEFORE, false },
	{ resets_later, "hello\r\n\r\n", false, SENT_BETWEEN, false },
	{ resets_later, "hello\r\n\r\n", false, SENT_AFTER, false },
	{ resets_later, POST, false, SENT_BEFORE, true },
	{ resets_later, GET, false, SENT_AFTER, true },
	{ resets_later, GET, true, SENT_BEFORE, false },
	{ resets_later, POST, true, SENT_BETWEEN, false },
	{ resets_later, POST, true, SENT_AFTER, false },
	{ resets_later, POST, true, SENT_BEFORE, true },
	{ ends_later, GET, false, SENT_AFTER, false },
	{ ends_later, POST, false, SENT_BETWEEN, false },
	{ ends_later, POST, false, SENT_AFTER, false },
	{ ends_later, "hello\r\n\r\n", false, SENT_BETWEEN, true },
	{ ends_later, GET, true, SENT_AFTER, false },
	{ ends_later, POST, true, SENT_BETWEEN, false },
};

static void
says(int fd, const struct unused *u)
{
	endpoint_send(fd, u->what, strlen(u->what));
	if (u->client_ends)
		shutdown(fd, SHUT_WR);
}

/* What a server has no byte of is not sent twice: any protocol goes to another
 * one, whatever is set for requests, and a silent client as often as it
 * takes. */
/* False: this machine was so busy that the server lasted for long. */
static bool
is_left(const struct unused *u)
{
	long long n = (long long)strlen(u->what), since = wait_now_ms();
	bool twice = u->when == SENT_AFTER;
	int fd, last = twice ? 2 : 1;

	atomic_store(&go, false);
	begin(u->serve, twice ? u->serve : answers, answers);
	fixture.options.http.on = u->http;
	set_retries(0);
	fd = endpoint_connect(&fixture.front);
	RUN_UNTIL(accepted(0) == 1);
	if (u->when == SENT_BEFORE)
		says(fd, u);
	atomic_store(&go, true);
	WAIT_FOR(atomic_load(&back[0].open) == 0, 5000);
	if (u->when == SENT_BETWEEN)
		says(fd, u);
	if (wait_now_ms() - since > 300) {
		close(fd);
		end();
		return false;
	}
	if (twice) {
		RUN_UNTIL(accepted(2) == 1);
		says(fd, u);
	}
	fixture_hears(fd, ANSWER);
	ck_assert_int_eq(accepted(1), 1);
	ck_assert_uint_eq(fixture_stats()->retries, (unsigned)last);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->failures, 0);
	if (u->http)
		ck_assert_int_gt(back[last].received, n);
	else
		ck_assert_int_eq(back[last].received, n);
	if (u->client_ends) {
		RUN_UNTIL(fixture_tells(fd));
		endpoint_expect_end(fd);
	}
	close(fd);
	end();
	return true;
}

START_TEST(unused_server_is_left)
{
	int tries = 0;

	while (!is_left(&unused[_i]))
		if (++tries == 20)
			SKIP("this machine is too busy");
}
END_TEST

/* The last one's end is passed on; none was asked twice. */
START_TEST(all_are_left_unused)
{
	int fd, i;

	atomic_store(&go, true);
	begin(ends_later, ends_later, _i == 0 ? ends_later : resets_later);
	fd = endpoint_connect(&fixture.front);
	RUN_UNTIL(fixture_tells(fd));
	if (_i == 0)
		endpoint_expect_end(fd);
	else
		endpoint_expect_reset(fd);
	for (i = 0; i < SERVERS; i++)
		ck_assert_int_eq(accepted(i), 1);
	close(fd);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	end();
}
END_TEST

/* A client that has ended without a word needs no other server. */
START_TEST(silent_client_has_ended)
{
	int fd;

	begin(ends, answers, NULL);
	fd = endpoint_connect(&fixture.front);
	shutdown(fd, SHUT_WR);
	is_lost(fd);
	ck_assert_int_eq(accepted(1), 0);
	end();
}
END_TEST

/* Its client would be greeted twice. */
START_TEST(greeted_client_is_not_moved)
{
	int fd;

	begin(greets, answers, NULL);
	fd = endpoint_connect(&fixture.front);
	fixture_hears(fd, "220");
	endpoint_send(fd, GET, strlen(GET));
	is_lost(fd);
	ck_assert_int_eq(back[1].received, 0);
	ck_assert_uint_eq(fixture_stats()->requests_retried, 0);
	end();
}
END_TEST

static const char *const unrepeatable[] = {
	"POST / HTTP/1.1\r\nHost: a\r\n\r\n",
	"PUT / HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET / HTTP/1.1\r\nContent-Length: 4\r\n\r\n\r\n\r\n",
	GET GET,
	"hello\r\n\r\n",
};

START_TEST(others_are_not_repeated)
{
	begin(losers[_i % 2], answers, NULL);
	is_lost(asks(unrepeatable[_i]));
	ck_assert_int_eq(accepted(1), 0);
	ck_assert_uint_eq(fixture_stats()->requests_retried, 0);
	end();
}
END_TEST

/* As with a second request behind the first, which may come later. */
START_TEST(followed_is_not_repeated)
{
	int fd;

	begin(waits, answers, NULL);
	fd = asks(GET);
	RUN_UNTIL(back[0].received == (long long)strlen(GET));
	endpoint_send(fd, "G", 1);
	is_lost(fd);
	ck_assert_int_eq(accepted(1), 0);
	end();
}
END_TEST

START_TEST(long_is_not_repeated)
{
	static char text[20000];
	int n = snprintf(text, sizeof(text),
	    "GET /%017000d HTTP/1.1\r\n\r\n", 0);

	ck_assert_int_gt(n, 17000);
	begin(resets, answers, NULL);
	is_lost(asks(text));
	ck_assert_int_eq(accepted(1), 0);
	end();
}
END_TEST

START_TEST(partial_answer_is_not_repeated)
{
	int fd;
	char byte;

	begin(answers_in_part, answers, NULL);
	fd = asks(GET);
	fixture_hears(fd, "H");
	RUN_UNTIL(fixture_stats()->sessions == 0);
	ck_assert_int_le(recv(fd, &byte, 1, 0), 0);
	close(fd);
	ck_assert_int_eq(accepted(1), 0);
	end();
}
END_TEST

START_TEST(second_request_is_not_repeated)
{
	int fd;

	begin(answers_one, answers, NULL);
	fd = asks(GET);
	fixture_hears(fd, ANSWER);
	endpoint_send(fd, GET, strlen(GET));
	is_lost(fd);
	ck_assert_int_eq(accepted(1), 0);
	end();
}
END_TEST

/* How often is a setting. What the last server did is passed on; nobody is to
 * blame for what nobody answers. */
START_TEST(no_more_often_than_set)
{
	int i;

	begin(resets, resets, resets);
	if (_i != 1)
		set_retries((unsigned)_i);
	is_lost(asks(GET));
	for (i = 0; i < SERVERS; i++) {
		ck_assert_int_eq(accepted(i), i <= _i);
		ck_assert_uint_eq(
		    pool_server(fixture.pool, (unsigned)i)->counters->failures,
		    0);
	}
	ck_assert_uint_eq(fixture_stats()->requests_retried, (unsigned)_i);
	ck_assert_uint_eq(fixture_stats()->reasons[REASON_SERVER_RESET], 1);
	end();
}
END_TEST

/* As it was: the reset, or the end, of the only one. */
START_TEST(nobody_else_is_there)
{
	int fd;

	begin(losers[_i], NULL, NULL);
	fd = asks(GET);
	RUN_UNTIL(fixture_tells(fd));
	if (losers[_i] == ends)
		endpoint_expect_end(fd);
	else
		endpoint_expect_reset(fd);
	close(fd);
	ck_assert_uint_eq(fixture_stats()->requests_retried, 0);
	end();
}
END_TEST

START_TEST(stubborn_pools_do_not_repeat)
{
	begin(resets, answers, NULL);
	set_pool(false, true);
	is_lost(asks(GET));
	ck_assert_int_eq(accepted(1), 0);
	end();
}
END_TEST

/* It was lost at an address that the server no longer has. */
START_TEST(loser_that_has_moved_is_not_blamed)
{
	struct backend now;
	int fd;

	atomic_store(&go, false);
	begin(resets_later, answers, NULL);
	backend_start(&now, ENDPOINT_TCP4, answers, NULL);
	fd = asks(GET);
	RUN_UNTIL(atomic_load(&back[0].open) == 1 &&
	    pool_server(fixture.pool, 0)->connections == 1);
	fixture_breathe();
	fixture_add_server(0, &now.at);
	atomic_store(&go, true);
	fixture_hears(fd, ANSWER);
	ck_assert_uint_eq(fixture_stats()->requests_retried, 1);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->failures, 0);
	close(fd);
	end();
	backend_stop(&now);
}
END_TEST

#ifdef SO_PEERNAME
/* It has one more, which makes no difference to where the request was lost. */
START_TEST(loser_that_gained_an_address_is_blamed)
{
	struct server_spec spec;
	struct endpoint more;
	int fd;

	atomic_store(&go, false);
	begin(resets_later, answers, NULL);
	fd = asks(GET);
	RUN_UNTIL(atomic_load(&back[0].open) == 1 &&
	    pool_server(fixture.pool, 0)->connections == 1);
	fixture_breathe();
	endpoint_new(&more, ENDPOINT_TCP4);
	server_spec_init(&spec);
	spec.name = (char *)(uintptr_t) "twin";
	spec.addrs.count = 2;
	spec.addrs.addr[0] = fixture_addr(&more);
	spec.addrs.addr[1] = fixture_addr(&back[0].at);
	ck_assert_ptr_nonnull(
	    pool_set_slot(fixture.pool, server_slot(0), &spec));
	atomic_store(&go, true);
	fixture_hears(fd, ANSWER);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->failures, 1);
	close(fd);
	end();
}
END_TEST
#endif

/* The one that another server answered was lost by a server that fails. */
START_TEST(loser_is_blamed)
{
	struct server *s;
	int fd;

	begin(resets, answers, NULL);
	s = pool_server(fixture.pool, 0);
	fd = asks(GET);
	fixture_hears(fd, ANSWER);
	ck_assert_uint_eq(s->counters->failures, 1);
	ck_assert_int_eq(server_state(s), SERVER_BLACKLISTED);
	ck_assert_str_eq(server_reason(s), "closed without an answer");
	close(fd);
	RUN_UNTIL(server_state(s) == SERVER_BLACKLISTED ||
	    fixture_stats()->sessions == 0);
	end();
}
END_TEST

START_TEST(client_is_remembered_with_the_next)
{
	int fd, i;

	begin(resets, answers, NULL);
	set_pool(true, false);
	for (i = 0; i < 3; i++) {
		fd = asks(GET);
		fixture_hears(fd, ANSWER);
		close(fd);
		RUN_UNTIL(fixture_stats()->sessions == 0);
		/* it may come back */
		pool_connected(fixture.pool, pool_server(fixture.pool, 0),
		    loop_now(fixture.loop));
	}
	ck_assert_int_eq(accepted(0), 1);
	ck_assert_int_eq(accepted(1), 3);
	end();
}
END_TEST

/* Its own end goes with the request. */
START_TEST(client_has_ended)
{
	int fd;

	begin(waits, answers, NULL);
	fd = asks(GET);
	RUN_UNTIL(back[0].received == (long long)strlen(GET));
	shutdown(fd, SHUT_WR);
	fixture_hears(fd, ANSWER);
	RUN_UNTIL(fixture_stats()->sessions == 0);
	endpoint_expect_end(fd);
	close(fd);
	ck_assert_uint_eq(fixture_stats()->requests_retried, 1);
	ck_assert_uint_eq(fixture_stats()->reasons[REASON_DONE], 1);
	end();
}
END_TEST

/* A server that is down loses its sessions, also those over connections that
 * were opened in advance: what it has not answered goes elsewhere. */
START_TEST(cut_sessions_go_elsewhere)
{
	struct pool_options o;
	struct server *s;
	int fd;

	begin(waits, answers, NULL);
	o = *pool_options(fixture.pool);
	o.on_down = SERVER_ON_DOWN_CUT;
	ck_assert_int_eq(pool_set_options(fixture.pool, &o), 0);
	fixture.options.preopened = _i == 0 ? 0 : 2;
	frontend_set_options(fixture.frontend, &fixture.options);
	RUN_UNTIL(
	    frontend_preopened(fixture.frontend) == fixture.options.preopened);
	s = pool_server(fixture.pool, 0);
	fd = asks(GET);
	RUN_UNTIL(back[0].received == (long long)strlen(GET));
	while (server_state(s) != SERVER_DOWN)
		pool_checked(
		    fixture.pool, s, false, "test", loop_now(fixture.loop));
	frontend_cut_sessions(fixture.frontend);
	fixture_hears(fd, ANSWER);
	ck_assert_uint_eq(fixture_stats()->requests_retried, 1);
	ck_assert_uint_eq(s->counters->connects, 1);
	close(fd);
	end();
}
END_TEST

/* A connection that waited for a client may have been ended by its server at
 * that moment, which is no fault: it is asked once more. */
START_TEST(preopened_connections_are_not_trusted)
{
	fixture_begin();
	fixture.options.preopened = 1;
	set_pool(false, false);
	memset(back, 0, sizeof(back));
	backend_start(&back[0], ENDPOINT_TCP4, resets, NULL);
	fixture_add_server(0, &back[0].at);
	fixture_front();
	RUN_UNTIL(frontend_preopened(fixture.frontend) == 1);
	is_lost(asks(GET));
	ck_assert_uint_eq(fixture_stats()->requests_retried, 1);
	ck_assert_uint_eq(fixture_stats()->retries, 0);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->failures, 0);
	ck_assert_int_eq(back[0].received, 2 * (long long)strlen(GET));
	end();
}
END_TEST

SUITE(test_retry)
{
	Suite *s = suite_create("retry");

	SUITE_ADD_LOOP(s, lost_request_goes_elsewhere, 10, 2 * LOSERS);
	SUITE_ADD_LOOP(s, others_are_not_repeated, 10,
	    sizeof(unrepeatable) / sizeof(unrepeatable[0]));
	SUITE_ADD_LOOP(s, asked_when_the_server_had_gone, 10, 2);
	SUITE_ADD_LOOP(
	    s, unused_server_is_left, 10, sizeof(unused) / sizeof(unused[0]));
	SUITE_ADD_LOOP(s, all_are_left_unused, 10, 2);
	SUITE_ADD(s, silent_client_has_ended, 10);
	SUITE_ADD(s, greeted_client_is_not_moved, 10);
	SUITE_ADD(s, followed_is_not_repeated, 10);
	SUITE_ADD(s, long_is_not_repeated, 10);
	SUITE_ADD(s, partial_answer_is_not_repeated, 10);
	SUITE_ADD(s, second_request_is_not_repeated, 10);
	SUITE_ADD_LOOP(s, no_more_often_than_set, 10, SERVERS);
	SUITE_ADD_LOOP(s, nobody_else_is_there, 10, LOSERS);
	SUITE_ADD(s, stubborn_pools_do_not_repeat, 10);
	SUITE_ADD(s, loser_that_has_moved_is_not_blamed, 10);
#ifdef SO_PEERNAME
	SUITE_ADD(s, loser_that_gained_an_address_is_blamed, 10);
#endif
	SUITE_ADD(s, loser_is_blamed, 10);
	SUITE_ADD(s, client_is_remembered_with_the_next, 10);
	SUITE_ADD(s, client_has_ended, 10);
	SUITE_ADD_LOOP(s, cut_sessions_go_elsewhere, 10, 2);
	SUITE_ADD(s, preopened_connections_are_not_trusted, 10);
	return s;
}
