/* test_http_answers.c: pen -H before servers that send more than an answer,
 * less than one, or end it oddly: each request has its own answer, at once. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

#define OK	"HTTP/1.1 200 OK\r\n"
#define LENGTH	"Content-Length: 4\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n"
#define CLOSE	"Connection: close\r\n"
#define FORGED	OK "Content-Length: 6\r\n\r\nforged"
#define CHUNKS	"2\r\nbo\r\n2;a=b\r\ndy\r\n0\r\n\r\n"

/* How its connection ends after the answer. */
enum ending { STAYS, ENDS, RESETS };
/* What its client gets. */
enum fate { ANSWERED, CLOSED, BROKEN, REFUSED };

static const struct kind {
	const char *answer; /* up to its end */
	const char *excess; /* behind it */
	enum ending ending;
	enum fate fate;
	bool head; /* to HEAD */
	bool bare; /* it has no body */
} kinds[] = {
	{ .answer = OK LENGTH "\r\nbody" },
	{ .answer = OK CHUNKED "\r\n" CHUNKS },
	{ .answer = OK CHUNKED "\r\n4\nbody\n0\r\nSum: 1\r\n\r\n" },
	{ .answer = OK CHUNKED CHUNKED "\r\n" CHUNKS },
	{ .answer = OK CHUNKED "Content-Length: 9\r\n\r\n" CHUNKS },
	{ .answer = OK "Content-Length: 9\r\n" CHUNKED "\r\n" CHUNKS },
	{ .answer = OK "A: b;\r\n c=d\r\n" LENGTH "\r\nbody" },
	{ .answer = "HTTP/1.1 103 Hints\r\nLink: a\r\n\r\n"
		    "HTTP/1.1 102 a\r\n\r\n" OK LENGTH "\r\nbody" },
	{ .answer = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" LENGTH
		    "\r\nbody" },
	/* more than an answer */
	{ .answer = OK LENGTH "\r\nbody", .excess = FORGED },
	{ .answer = OK LENGTH "\r\nbody", .excess = "\r\n" },
	{ .answer = OK LENGTH "\r\nbody",
	    .excess = "HTTP/1.1 408 Request Timeout\r\n" CLOSE
		      "Content-Length: 0\r\n\r\n",
	    .ending = ENDS },
	{ .answer = OK CHUNKED "\r\n" CHUNKS, .excess = FORGED },
	{ .answer = OK LENGTH "\r\n", .excess = FORGED, .head = true },
	{ .answer = OK CHUNKED "\r\n", .excess = "0\r\n\r\n", .head = true },
	{ .answer = "HTTP/1.1 204 No\r\n\r\n", .excess = FORGED, .bare = true },
	{ .answer = "HTTP/1.1 304 No\r\n" LENGTH "\r\n",
	    .excess = FORGED,
	    .bare = true },
	/* the connection ends */
	{ .answer = OK LENGTH "\r\nbody", .ending = RESETS },
	{ .answer = OK CHUNKED "\r\n" CHUNKS, .ending = ENDS },
	{ .answer = OK CLOSE LENGTH "\r\nbody", .fate = CLOSED },
	{ .answer = OK CLOSE LENGTH "\r\nbody",
	    .excess = FORGED,
	    .fate = CLOSED },
	{ .answer = OK CLOSE CHUNKED "\r\n" CHUNKS,
	    .ending = RESETS,
	    .fate = CLOSED },
	{ .answer = "HTTP/1.0 200 OK\r\n" LENGTH "\r\nbody", .fate = CLOSED },
	{ .answer = OK "\r\nbody", .ending = ENDS, .fate = CLOSED },
	{ .answer = "HTTP/1.0 200 OK\r\n\r\nbody",
	    .ending = ENDS,
	    .fate = CLOSED },
	{ .answer = OK "Transfer-Encoding: x\r\n" LENGTH "\r\nbody",
	    .ending = ENDS,
	    .fate = CLOSED },
	/* less than an answer, or none */
	{ .answer = OK "Content-Length: 9\r\n\r\nbody",
	    .ending = ENDS,
	    .fate = BROKEN },
	{ .answer = OK CHUNKED "\r\n2\r\nbo\r\n",
	    .ending = ENDS,
	    .fate = BROKEN },
	{ .answer = OK CHUNKED "\r\n2\r\nbo\r\nx\r\n" FORGED, .fate = BROKEN },
	{ .answer = OK CHUNKED "\r\n2\r\nbody\r\n", .fate = BROKEN },
	{ .answer = OK LENGTH "Content-Length: 5\r\n\r\nbody",
	    .fate = REFUSED },
	{ .answer = "HTTP/2 200\r\n\r\n", .fate = REFUSED },
	{ .answer = "HTTP/1.1 101 a\r\n\r\n", .fate = REFUSED },
	{ .answer = "\x15\3\1\0\2\2\x28", .fate = REFUSED },
	{ .answer = OK "A: b", .ending = ENDS, .fate = REFUSED },
};
enum {
	KINDS = sizeof(kinds) / sizeof(kinds[0]),
	REQUESTS = 400,
	LATE_MS = 5000
};

static struct backend server;
static struct pen pen;
static struct endpoint front, ctl;
static atomic_int over; /* connections that pen, or the server, ended */

/* ---- the server ---- */

static unsigned
next(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16;
}

/* Its number is in its path: "GET /17 HTTP/1.1". */
static int
takes_request(int fd)
{
	static _Thread_local char text[4096];
	size_t n = 0;
	const char *slash;

	do {
		if (n == sizeof(text) - 1 || recv(fd, text + n, 1, 0) <= 0)
			return -1;
		text[++n] = '\0';
	} while (n < 4 || memcmp(text + n - 4, "\r\n\r\n", 4) != 0);
	slash = strchr(text, '/');
	return slash != NULL ? atoi(slash + 1) : -1;
}

/* In some pieces, by the number; the last one has the excess. */
static void
sends(int fd, const struct kind *k, unsigned number)
{
	static _Thread_local char bytes[4096];
	unsigned seed = number;
	/* what is unsent would go with a reset */
	unsigned cuts = k->ending == RESETS ? 0 : next(&seed) % 4;
	size_t n, at = 0, part;

	n = (size_t)snprintf(bytes, sizeof(bytes), "%s%s", k->answer,
	    k->excess != NULL ? k->excess : "");
	while (cuts-- > 0 && n - at > 8) {
		part = 1 + next(&seed) % (strlen(k->answer) - at);
		if (at + part >= strlen(k->answer))
			break;
		backend_send(fd, bytes + at, part);
		at += part;
		usleep(500);
	}
	backend_send(fd, bytes + at, n - at);
}

static void
serves(struct backend *b, int fd)
{
	int number;

	while ((number = takes_request(fd)) >= 0) {
		const struct kind *k = &kinds[number % KINDS];

		sends(fd, k, (unsigned)number);
		if (k->ending == RESETS)
			backend_reset(b, fd);
		if (k->ending != STAYS)
			break;
	}
	atomic_fetch_add(&over, 1);
}

/* ---- the client ---- */

struct heard {
	char bytes[4096];
	size_t length;
	bool ended;
};

/* Takes what comes until the text is there, at its end, or the end is. */
static void
hears_until(int fd, struct heard *h, const char *text)
{
	size_t n = strlen(text);
	ssize_t got;

	while (!h->ended &&
	    (h->length < n || memcmp(h->bytes + h->length - n, text, n) != 0)) {
		got = recv(fd, h->bytes + h->length, 1, 0);
		h->ended = got <= 0;
		h->length += got > 0;
		ck_assert_uint_lt(h->length, sizeof(h->bytes) - 1);
	}
	h->bytes[h->length] = '\0';
}

/* The header of the answer, behind interim ones. */
static void
hears_head(int fd, struct heard *h)
{
	do {
		h->length = 0;
		hears_until(fd, h, "\r\n\r\n");
	} while (!h->ended && strncmp(h->bytes, "HTTP/1.1 10", 11) == 0 &&
	    strncmp(h->bytes, "HTTP/1.1 101", 12) != 0);
}

/* What stands in it, without chunks; "forged" nowhere. */
static void
hears_body(int fd, struct heard *h, const struct kind *k, const char *about)
{
	bool chunked = strstr(h->bytes, CHUNKED) != NULL;

	ck_assert_msg(strstr(h->bytes, CHUNKED) == NULL ||
		strstr(h->bytes, "Content-Length") == NULL,
	    "%s: %s", about, h->bytes);
	if (strstr(k->answer, "Sum: ") != NULL)
		hears_until(fd, h, "Sum: 1\r\n\r\n");
	else if (!k->head && !k->bare)
		hears_until(fd, h, chunked ? "0\r\n\r\n" : "body");
}

/* Whether the connection goes on. */
static bool
has_answer(int fd, unsigned number)
{
	const struct kind *k = &kinds[number % KINDS];
	static char about[64];
	static struct heard h;
	long long began = wait_now_ms();

	h.ended = false;
	snprintf(about, sizeof(about), "%u, kind %u", number, number % KINDS);
	hears_head(fd, &h);
	if (k->fate == ANSWERED || k->fate == CLOSED) {
		ck_assert_msg(!h.ended, "%s: %s", about, h.bytes);
		ck_assert_msg(
		    strstr(h.bytes, "408") == NULL, "%s: %s", about, h.bytes);
		hears_body(fd, &h, k, about);
		ck_assert_msg(!h.ended, "%s: %s", about, h.bytes);
	}
	if (k->fate == CLOSED)
		ck_assert_msg(strstr(h.bytes, CLOSE) != NULL ||
			strncmp(h.bytes, "HTTP/1.0", 8) == 0,
		    "%s: %s", about, h.bytes);
	if (k->fate != ANSWERED)
		hears_until(fd, &h, "no such text");
	if (k->fate == REFUSED)
		ck_assert_msg(
		    h.length == 0 || strncmp(h.bytes, "HTTP/1.1 502 ", 13) == 0,
		    "%s: %s", about, h.bytes);
	ck_assert_msg(
	    strstr(h.bytes, "forged") == NULL, "%s: %s", about, h.bytes);
	ck_assert_msg(wait_now_ms() - began < LATE_MS, "%s: late", about);
	return k->fate == ANSWERED;
}

static void
asks(int fd, unsigned number, const char *more)
{
	const struct kind *k = &kinds[number % KINDS];
	const char *request = text("%s /%u HTTP/1.1\r\nHost: a\r\n%s\r\n",
	    k->head ? "HEAD" : "GET", number, more);

	endpoint_send(fd, request, strlen(request));
}

/* ---- the tests ---- */

static void
begin(const char *settings)
{
	atomic_store(&over, 0);
	backend_start(&server, ENDPOINT_TCP4, serves, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-H", "-C", ctl.text, "-O", settings,
	    front.text, server.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
}

static void
end(void)
{
	pen_down(&pen);
	backend_stop(&server);
}

static const char *const settings[] = { "http_status", "http_sticky SRV",
	"retry_requests 0", "buffer 100000", "idlers 3" };
enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

/* The client asks on after what was excess or the end of a connection was seen:
 * before, nobody can tell it from an answer. */
START_TEST(each_request_has_its_answer)
{
	unsigned i, seed = (unsigned)_i + 1;
	int fd = -1, before;

	begin(settings[_i]);
	for (i = 0; i < REQUESTS / SETTINGS; i++) {
		unsigned number = next(&seed);
		const struct kind *k = &kinds[number % KINDS];

		before = atomic_load(&over);
		if (fd < 0)
			fd = endpoint_connect(&front);
		endpoint_set_deadline(fd, 2 * LATE_MS);
		asks(fd, number, "");
		if (!has_answer(fd, number)) {
			close(fd);
			fd = -1;
		} else if (k->excess != NULL || k->ending != STAYS) {
			WAIT_FOR(atomic_load(&over) > before, 10000);
			if (k->excess == NULL) {
				close(fd);
				fd = -1;
			}
		}
	}
	if (fd >= 0)
		close(fd);
	end();
}
END_TEST

/* Each kind by itself, so that a failure names it; an answer to the last
 * request is the end, whatever the server does. */
START_TEST(the_last_request)
{
	const struct kind *k = &kinds[_i];
	static struct heard h;
	int fd;

	begin("http_status");
	fd = endpoint_connect(&front);
	endpoint_set_deadline(fd, 2 * LATE_MS);
	asks(fd, (unsigned)_i, CLOSE);
	if (has_answer(fd, (unsigned)_i)) {
		h.ended = false;
		h.length = 0;
		hears_until(fd, &h, "no such text");
		ck_assert_uint_eq(h.length, 0);
	}
	close(fd);
	WAIT_FOR(strstr(endpoint_ask(&ctl, "connections\n"), "client") == NULL,
	    5000);
	if (k->fate == ANSWERED || k->fate == CLOSED)
		WAIT_FOR(strstr(endpoint_ask(&ctl, "statistics\n"),
			     "closed_done 1\n") != NULL,
		    5000);
	end();
}
END_TEST

SUITE(test_http_answers)
{
	Suite *s = suite_create("http_answers");

	SUITE_ADD_LOOP(s, each_request_has_its_answer, 60, SETTINGS);
	SUITE_ADD_LOOP(s, the_last_request, 30, KINDS);
	return s;
}
