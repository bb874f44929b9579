/* test_slow_readers.c: many clients that each read a large answer slowly,
 * plain, by TLS, and with -H: every byte arrives, and pen keeps next to nothing
 * for one. And a client that stops for a while: 20 s with PEN_TEST_FULL=1. */
#include "config.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/either.h"
#include "support/load.h"
#include "support/pattern.h"
#include "support/suite.h"
#include "support/wait.h"

enum { MANY = 100, FEW = 10, SIZE = 1 << 19, HEAD_MAX = 200 };
/* How often, and how much of it, each of them reads while it is slow. */
enum { ROUNDS = 20, ROUND_MS = 25, PART = 4096 };

/* What pen may keep for one, kB. A buffer for each takes 16 and more; OpenSSL
 * keeps 20 or so, and its bytes are kept when they are sealed: 64. */
enum { PLAIN_KB = 8, TLS_KB = 120 };

struct reader {
	struct either end;
	uint64_t got;
};

struct crowd {
	struct load load;
	struct backend server;
	struct reader readers[MANY];
	int n;
	bool tls;
};

/* ---- the server ---- */

/* "GET /7 ..": the pattern of that number, and FIN. */
static void
answer(struct backend *b, int fd)
{
	static const char format[] = "HTTP/1.1 200 OK\r\n"
				     "Content-Length: %d\r\n"
				     "Connection: close\r\n\r\n";
	char request[2048], head[HEAD_MAX], bytes[PART];
	size_t n = 0, at;
	ssize_t k;
	unsigned long seed;

	do {
		k = recv(fd, request + n, sizeof(request) - 1 - n, 0);
		n += k > 0 ? (size_t)k : 0;
		request[n] = '\0';
	} while (k > 0 && strstr(request, "\r\n\r\n") == NULL);
	if (k <= 0)
		return;
	seed = strtoul(request + strlen("GET /"), NULL, 10);
	(void)snprintf(head, sizeof(head), format, (int)SIZE);
	if (!backend_send(fd, head, strlen(head)))
		return;
	for (at = 0; at < SIZE && !b->stopping; at += PART) {
		pattern_fill(seed, at, bytes, PART);
		if (!backend_send(fd, bytes, PART))
			return;
	}
}

/* ---- the clients ---- */

/* The kernel of a slow client takes little, but as much as a segment of the
 * loopback: less would make the sender wait for its probes of the window. */
static struct either
connect_slow(const struct crowd *c)
{
	static const struct tls_wish any;
	const int little = 32 * 1024;
	struct either e = { .fd = endpoint_connect(&c->load.front) };

	ck_assert_int_eq(setsockopt(e.fd, SOL_SOCKET, SO_RCVBUF, &little,
			     sizeof(little)),
	    0);
	if (!c->tls)
		return e;
	e.peer = tls_peer_open(e.fd, &any);
	ck_assert_msg(e.peer != NULL, "%s", tls_peer_error());
	e.ssl = tls_peer_ssl(e.peer);
	return e;
}

/* Reads up to the end of the header, byte by byte. */
static void
read_head(struct either *e)
{
	char head[HEAD_MAX] = "";
	size_t n = 0;

	while (strstr(head, "\r\n\r\n") == NULL) {
		ck_assert_uint_lt(n, sizeof(head) - 1);
		ck_assert_int_eq(either_read(e, head + n++, 1), 1);
	}
	ck_assert_ptr_nonnull(strstr(head, "200 OK"));
}

static void
begin_reader(struct crowd *c, int i)
{
	struct reader *r = &c->readers[i];
	const char *request = text("GET /%d HTTP/1.1\r\nHost: a\r\n\r\n", i);

	*r = (struct reader){ .end = connect_slow(c) };
	ck_assert(either_write(&r->end, request, strlen(request)));
}

/* Reads once, some; false: the end. */
static bool
read_part(struct crowd *c, int i)
{
	struct reader *r = &c->readers[i];
	char bytes[PART];
	ssize_t n;

	if (r->got == 0)
		read_head(&r->end);
	n = either_read(&r->end, bytes, sizeof(bytes));
	ck_assert_msg(n >= 0, "reader %d after %d bytes", i, (int)r->got);
	pattern_check((uint64_t)i, r->got, bytes, (size_t)n);
	r->got += (uint64_t)n;
	return n > 0;
}

static void
read_rest(struct crowd *c, int i)
{
	while (read_part(c, i))
		continue;
	ck_assert_uint_eq(c->readers[i].got, SIZE);
	either_close(&c->readers[i].end);
}

/* All of them, a part each, in each round. */
static void
read_slowly(struct crowd *c, int rounds)
{
	long long next = wait_now_ms();
	int i;

	while (rounds-- > 0) {
		for (i = 0; i < c->n; i++)
			ck_assert(read_part(c, i));
		next += ROUND_MS;
		(void)poll(NULL, 0,
		    next > wait_now_ms() ? (int)(next - wait_now_ms()) : 0);
	}
}

/* ---- the tests ---- */

/* Sockets with buffers that a few parts fill. */
static void
begin(struct crowd *c, int n, bool tls, const char *more)
{
	struct load *s = &c->load;

	c->n = n;
	c->tls = tls;
	backend_start(&c->server, ENDPOINT_TCP4, answer, NULL);
	load_prepare(s);
	load_begin(s,
	    (const char *const[]){ "-O", "sndbuf 16k", "-O", "rcvbuf 32k", more,
		tls ? "-E" : NULL, s->cert_file, NULL },
	    (const char *const[]){ c->server.at.text, NULL });
}

static void
end(struct crowd *c)
{
	load_rest(&c->load);
	load_end(&c->load);
	backend_stop(&c->server);
	free(c);
}

/* The most that pen has for each of them while they read slowly, kB. What is
 * made for the first client of all is no part of that. */
static void
expect_little(bool tls, const char *more, long most_kb)
{
	struct crowd *c = calloc(1, sizeof(*c));
	long before, kb, peak = 0;
	int i;

	ck_assert_ptr_nonnull(c);
	begin(c, (int)suite_amount(MANY, FEW), tls, more);
	begin_reader(c, 0);
	read_rest(c, 0);
	before = load_rss_kb(&c->load);
	for (i = 0; i < c->n; i++)
		begin_reader(c, i);
	read_slowly(c, 2);
	for (i = 0; i < ROUNDS / 2; i++) {
		read_slowly(c, 2);
		kb = load_rss_kb(&c->load) - before;
		peak = kb > peak ? kb : peak;
	}
	printf("%d slow readers%s, %s: %ld kB each\n", c->n, tls ? ", TLS" : "",
	    more, peak / c->n);
	fflush(stdout);
	if (before > 0 && !suite_is_light())
		ck_assert_int_le(peak / c->n, most_kb);
	for (i = 0; i < c->n; i++)
		read_rest(c, i);
	end(c);
}

START_TEST(plain_readers)
{
	expect_little(false, "-r", PLAIN_KB);
}
END_TEST

START_TEST(tls_readers)
{
	expect_little(true, "-r", TLS_KB);
}
END_TEST

START_TEST(http_readers)
{
	expect_little(false, "-H", PLAIN_KB);
}
END_TEST

START_TEST(http_tls_readers)
{
	expect_little(true, "-H", TLS_KB);
}
END_TEST

/* Longer than the kernel waits between its probes of a closed window, at
 * first. */
static void
stop_for_a_while(bool tls, const char *more)
{
	struct crowd *c = calloc(1, sizeof(*c));
	int i;

	ck_assert_ptr_nonnull(c);
	begin(c, FEW, tls, more);
	for (i = 0; i < c->n; i++)
		begin_reader(c, i);
	read_slowly(c, 2);
	(void)poll(NULL, 0, suite_is_full() ? 20000 : 1000);
	read_slowly(c, 2);
	for (i = 0; i < c->n; i++)
		read_rest(c, i);
	end(c);
}

START_TEST(a_plain_reader_stops)
{
	stop_for_a_while(false, "-r");
}
END_TEST

START_TEST(a_tls_reader_stops)
{
	stop_for_a_while(true, "-r");
}
END_TEST

START_TEST(an_http_reader_stops)
{
	stop_for_a_while(false, "-H");
}
END_TEST

SUITE(test_slow_readers)
{
	Suite *s = suite_create("slow_readers");

	SUITE_ADD(s, plain_readers, 60);
	SUITE_ADD(s, tls_readers, 60);
	SUITE_ADD(s, http_readers, 60);
	SUITE_ADD(s, http_tls_readers, 60);
	SUITE_ADD(s, a_plain_reader_stops, 60);
	SUITE_ADD(s, a_tls_reader_stops, 60);
	SUITE_ADD(s, an_http_reader_stops, 60);
	return s;
}
