/* test_web_slow.c: clients of the pages that are slow, silent or gone: those of
 * the traffic do not notice, and other clients of the pages are answered. */
#include "config.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/http_clients.h"
#include "support/suite.h"
#include "support/wait.h"
#include "support/web_fixture.h"

/* Clients that say nothing, or not all, take 64 descriptors at most, and those
 * of the traffic do not notice. */
START_TEST(silent_clients)
{
	enum { MANY = 200 };
	int fds[MANY], i, before;

	web_fixture_begin("timeout", "3");
	before = pen_fds(&web_fixture.pen);
	for (i = 0; i < MANY; i++) {
		fds[i] = endpoint_connect(&web_fixture.web);
		if (i % 2 == 0)
			endpoint_send(fds[i], "GET / HT", 8);
	}
	for (i = 0; i < 20; i++)
		ck_assert_str_eq(endpoint_hear(&web_fixture.front), "served");
	ck_assert_int_le(pen_fds(&web_fixture.pen), before + 64 + 8);
	for (i = 0; i < MANY; i++)
		close(fds[i]);
	web_fixture_expect_status("/healthz", 200);
	WAIT_FOR(pen_fds(&web_fixture.pen) <= before + 1, 60000);
	web_fixture_end();
}
END_TEST

/* Pen goes on without, and accepts again when there are some. */
START_TEST(out_of_descriptors)
{
	enum { FILES = 40, MANY = 60 };
	int fds[MANY], i;

	if (getenv("PEN_TEST_WRAPPER") != NULL)
		SKIP("the wrapper has descriptors of its own");
	backend_start(&web_fixture.back, ENDPOINT_TCP4, backend_say, "served");
	endpoint_new(&web_fixture.front, ENDPOINT_TCP4);
	endpoint_new(&web_fixture.web, ENDPOINT_TCP4);
	pen_start_limited(&web_fixture.pen, FILES, "-f", "-O",
	    text("web %s", web_fixture.web.text), "-r", web_fixture.front.text,
	    web_fixture.back.at.text, NULL);
	pen_wait_ready(&web_fixture.pen, &web_fixture.front);
	for (i = 0; i < MANY; i++)
		fds[i] = endpoint_connect(&web_fixture.web);
	WAIT_FOR(pen_fds(&web_fixture.pen) >= FILES, 10000);
	pen_expect_rest(&web_fixture.pen);
	for (i = 0; i < MANY; i++)
		close(fds[i]);
	web_fixture_expect_status("/healthz", 200);
	web_fixture_end();
}
END_TEST

/* Reads to the end, however long, and says whether `what` was in it. */
static bool
comes(int fd, const char *what)
{
	enum { MOST = 8 << 20 };
	char *all = calloc(1, MOST);
	size_t n = 0;
	ssize_t got;
	bool found;

	ck_assert_ptr_nonnull(all);
	while (n < MOST - 1 && (got = read(fd, all + n, MOST - 1 - n)) > 0)
		n += (size_t)got;
	found = strstr(all, what) != NULL;
	free(all);
	return found;
}

/* A client that does not read a long answer, or goes away within it. */
START_TEST(slow_readers)
{
	static const char ask[] =
	    "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
	int fds[20], i;

	web_fixture_begin("timeout", "3");
	web_fixture_add_servers(1000);
	for (i = 0; i < 20; i++) {
		fds[i] = endpoint_connect(&web_fixture.web);
		endpoint_send(fds[i], ask, sizeof(ask) - 1);
	}
	ck_assert_str_eq(endpoint_hear(&web_fixture.front), "served");
	for (i = 0; i < 20; i++)
		close(fds[i]);
	fds[0] = endpoint_connect(&web_fixture.web);
	endpoint_send(fds[0], ask, sizeof(ask) - 1);
	ck_assert(
	    comes(fds[0], "pen_server_received_bytes_total{server=\"999\""));
	close(fds[0]);
	web_fixture_end();
}
END_TEST

/* Begins a long answer, which a Unix socket has no room for. */
static int
ask_for_long(const struct endpoint *at)
{
	static char ask[8192];
	int fd = endpoint_connect(at), n;

	n = snprintf(ask, sizeof(ask),
	    "GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
	    "X-Long: %07000d\r\n\r\n",
	    1);
	endpoint_send(fd, ask, (size_t)n);
	endpoint_recv(fd, ask, 100);
	return fd;
}

static void
begin_long(struct endpoint *unix_web)
{
	endpoint_new(unix_web, ENDPOINT_UNIX);
	web_fixture_begin("timeout", "3");
	web_fixture_add_servers(1000);
	web_fixture_command(text("web %s", unix_web->text));
}

/* As many as that, and then there is rest. Returns resident memory in kB. */
static long
leave_answers(const struct endpoint *at, int n)
{
	int fds = pen_fds(&web_fixture.pen);

	while (n-- > 0)
		close(ask_for_long(at));
	WAIT_FOR(pen_fds(&web_fixture.pen) <= fds, 60000);
	return pen_rss_kb(&web_fixture.pen);
}

/* Clients that go away within a long answer leave nothing behind. */
START_TEST(gone_within_answer)
{
	enum { MANY = 250 };
	struct endpoint at;
	long before;

	begin_long(&at);
	before = leave_answers(&at, MANY);
	(void)leave_answers(&at, MANY);
	web_fixture_expect_growth(before, MANY * 4);
	web_fixture_expect_in(
	    web_fixture_get_from(&at, "/healthz", ""), "\r\n\r\nok\n");
	web_fixture_end();
}
END_TEST

/* What a client sends while it is answered is not collected. */
START_TEST(sends_within_answer)
{
	enum { MOST = 16 << 20 };
	static char bytes[65536];
	struct endpoint at;
	ssize_t n;
	size_t sent = 0;
	struct pollfd p = { .events = POLLOUT };
	int fd;

	begin_long(&at);
	fd = p.fd = ask_for_long(&at);
	/* until it is not taken within a second, or pen ends it */
	while (sent < MOST && poll(&p, 1, 1000) == 1 &&
	    (n = send(fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL)) >
		0)
		sent += (size_t)n;
	ck_assert_uint_lt(sent, MOST);
	close(fd);
	web_fixture_end();
}
END_TEST

/* A connection that has ended leaves its slot at once. */
START_TEST(answers_at_once)
{
	enum { MANY = 640 };
	long long began;
	int i;

	web_fixture_begin("timeout", "3");
	began = wait_now_ms();
	for (i = 0; i < MANY; i++)
		web_fixture_expect_status("/healthz", 200);
	/* ten times all slots: 10 s if each had to wait for the sweep */
	if (pen_is_plain() && pen_workers() == 1)
		ck_assert_int_lt(wait_now_ms() - began, 8000);
	web_fixture_end();
}
END_TEST

/* It sends its FIN behind the request, and gets all of the answer. */
START_TEST(ends_its_request)
{
	static const struct {
		const char *path, *end;
	} pages[] = {
		{ "/metrics", "\r\n0\r\n\r\n" },
		{ "/", "</html>\n" },
	};
	const char *page;
	size_t i, n, m;

	web_fixture_begin("timeout", "3");
	web_fixture_add_servers(20);
	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		page = endpoint_ask(&web_fixture.web,
		    text("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
			pages[i].path));
		n = strlen(page);
		m = strlen(pages[i].end);
		ck_assert_uint_gt(n, 20000);
		ck_assert_str_eq(page + n - m, pages[i].end);
	}
	web_fixture_end();
}
END_TEST

/* A client that asks for a long answer that it does not read, or for half of
 * one. */
static int
slow_client(const struct endpoint *at, bool asks)
{
	static const char ask[] =
	    "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
	int fd = endpoint_connect(at), little = 4096;

	ck_assert_int_eq(
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little)), 0);
	endpoint_send(fd, ask, asks ? sizeof(ask) - 1 : sizeof(ask) - 5);
	return fd;
}

static void
expect_others_served(int n)
{
	while (n-- > 0) {
		ck_assert_str_eq(endpoint_hear(&web_fixture.front), "served");
		web_fixture_expect_status("/healthz", 200);
	}
}

/* Sends a byte more of each header that is not complete. */
static void
drip(const int fds[], int n)
{
	int i;

	for (i = 0; i < n; i += 2)
		(void)send(fds[i], "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Half of them send their headers slowly, half do not read their answers. More
 * than there are slots: those without progress end. */
START_TEST(slow_clients)
{
	enum { SLOW = 50, MANY = 150 };
	long long began;
	int fds[MANY], i;

	web_fixture_begin("timeout", "3");
	web_fixture_add_servers(1000);
	for (i = 0; i < SLOW; i++)
		fds[i] = slow_client(&web_fixture.web, i % 2 != 0);
	drip(fds, SLOW);
	began = wait_now_ms();
	expect_others_served(50);
	for (; i < MANY; i++)
		fds[i] = slow_client(&web_fixture.web, i % 2 != 0);
	for (i = 0; i < 5; i++) {
		drip(fds, MANY);
		expect_others_served(10);
	}
	ck_assert_int_eq(atomic_load(&web_fixture.back.accepted), 100);
	/* less than a header may take; workers are waited for besides */
	if (pen_is_plain() && pen_workers() == 1)
		ck_assert_int_lt(wait_now_ms() - began, 8000);
	for (i = 0; i < MANY; i++)
		close(fds[i]);
	web_fixture_end();
}
END_TEST

/* The first of all, which reads on, has its whole answer: those that do not
 * read theirs go before it. */
START_TEST(slow_is_not_stuck)
{
	static char some[1 << 18];
	int fds[HTTP_CLIENTS], i;

	web_fixture_begin("timeout", "3");
	web_fixture_add_servers(1000);
	for (i = 0; i < HTTP_CLIENTS - 1; i++)
		fds[i] = slow_client(&web_fixture.web, true);
	endpoint_recv(fds[0], some, sizeof(some));
	pen_expect_rest(&web_fixture.pen);
	fds[i] = slow_client(&web_fixture.web, false);
	web_fixture_expect_status("/healthz", 200);
	ck_assert(
	    comes(fds[0], "pen_server_received_bytes_total{server=\"999\""));
	for (i = 0; i < HTTP_CLIENTS; i++)
		close(fds[i]);
	web_fixture_end();
}
END_TEST

SUITE(test_web_slow)
{
	Suite *s = suite_create("web_slow");

	SUITE_ADD(s, silent_clients, 120);
	SUITE_ADD(s, answers_at_once, 60);
	SUITE_ADD(s, slow_is_not_stuck, 60);
	SUITE_ADD(s, slow_clients, 120);
	SUITE_ADD(s, out_of_descriptors, 60);
	SUITE_ADD(s, slow_readers, 120);
	SUITE_ADD(s, gone_within_answer, 120);
	SUITE_ADD(s, sends_within_answer, 60);
	SUITE_ADD(s, ends_its_request, 60);
	return s;
}
