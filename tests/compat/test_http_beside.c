/* test_http_beside.c: -H of classic Pen and ours side by side: the same
 * requests to both. What servers and clients see is the same, or different for
 * the reason that stands with the case. Needs Debian's package of Pen 0.34.1.
 */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "support/classic.h"
#include "support/scripted.h"
#include "support/suite.h"
#include "support/wait.h"

#define HOST  "Host: a\r\n"
#define PROTO "X-Forwarded-Proto: http\r\n"
#define FOR   "X-Forwarded-For: 127.0.0.1\r\n"
#define TOLD  PROTO FOR
#define END   "\r\n"
#define GET1  "GET /1 HTTP/1.1\r\n" HOST
#define GET2  "GET /2 HTTP/1.1\r\n" HOST
#define POST  "POST / HTTP/1.1\r\n" HOST
#define FIRST "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"
#define HEAD  "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
#define NEXT  "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2"
#define BAD   "HTTP/1.1 400 Bad Request\r\n"

enum { PARTS = 4 };

/* How the parts of what a client sends are kept apart. */
enum { AFTER_ANSWER, AFTER_HEARD, AFTER_HEADER };

struct beside {
	const char *parts[PARTS]; /* what the client sends, in so many writes */
	int apart;
	const char *up;	  /* what the server hears */
	const char *down; /* what the client hears, to begin with */
	/* the same of classic Pen, where it is different */
	const char *classic_up, *classic_down;
	const struct scripted_step *server; /* NULL: answers */
};

/* ---- one of the two ---- */

struct side {
	struct twin twin;
	struct scripted server;
};

static struct side ours, classic;

/* The end of each header is answered. */
static const struct scripted_step answers[] = { { "\r\n\r\n", FIRST },
	{ "\r\n\r\n", NEXT }, { NULL, NULL } };

/* The same without its body, as to HEAD. */
static const struct scripted_step answers_head[] = { { "\r\n\r\n", HEAD },
	{ NULL, NULL } };

/* An empty line that belongs to the body comes second: one answer, behind
 * it. */
static const struct scripted_step answers_body[] = { { "\r\n\r\n", "" },
	{ "\r\n\r\n", FIRST }, { NULL, NULL } };

static void
start_both(const char *const options[], const struct scripted_step *server)
{
	scripted_start(&ours.server, server);
	scripted_start(&classic.server, server);
	twin_start_ours(&ours.twin, options,
	    (const char *[]){ ours.server.backend.at.text, NULL });
	twin_start_classic(&classic.twin, options,
	    (const char *[]){ classic.server.backend.at.text, NULL });
}

static void
stop_both(void)
{
	twin_stop(&ours.twin);
	twin_stop(&classic.twin);
	scripted_stop(&ours.server);
	scripted_stop(&classic.server);
}

static void
expect_bytes(int fd, const char *what)
{
	char got[1024] = "";

	ck_assert_uint_lt(strlen(what), sizeof(got));
	endpoint_recv(fd, got, strlen(what));
	ck_assert_str_eq(got, what);
}

static void
visit(struct side *s, const struct beside *b, const char *up, const char *down)
{
	int fd = endpoint_connect(&s->twin.front), i;
	const char *blank = strstr(up, "\r\n\r\n");
	size_t head = blank != NULL ? (size_t)(blank + 4 - up) : 0, sent = 0;

	for (i = 0; i < PARTS && b->parts[i] != NULL; i++) {
		if (i > 0 && b->apart == AFTER_ANSWER) {
			expect_bytes(fd, FIRST);
			down += strlen(FIRST);
		} else if (i > 0 && b->apart == AFTER_HEADER) {
			WAIT_FOR(
			    scripted_has_heard(&s->server, up, head), 10000);
		} else if (i > 0 && s == &classic) {
			WAIT_FOR(
			    scripted_has_heard(&s->server, up, sent), 10000);
		}
		endpoint_send(fd, b->parts[i], strlen(b->parts[i]));
		sent += strlen(b->parts[i]);
	}
	expect_bytes(fd, down);
	scripted_expect(&s->server, up);
	close(fd);
}

static void
beside(const struct beside *b)
{
	static const char *const options[] = { "-r", "-H", NULL };

	if (!classic_is_there())
		SKIP("classic Pen 0.34.1 is not installed");
	start_both(options, b->server != NULL ? b->server : answers);
	visit(&ours, b, b->up, b->down);
	visit(&classic, b, b->classic_up != NULL ? b->classic_up : b->up,
	    b->classic_down != NULL ? b->classic_down : b->down);
	stop_both();
}

/* ---- what is the same ---- */

static const struct beside same[] = {
	{ { GET1 END }, .up = GET1 TOLD END, .down = FIRST },
	{ { "GET / HTTP/1.0\r\n\r\n" }, .up = "GET / HTTP/1.0\r\n" TOLD END,
	    .down = FIRST },
	{ { "HEAD / HTTP/1.1\r\n" HOST END },
	    .up = "HEAD / HTTP/1.1\r\n" HOST TOLD END, .down = HEAD,
	    .server = answers_head },
	{ { "get / HTTP/1.1\r\n" HOST END },
	    .up = "get / HTTP/1.1\r\n" HOST TOLD END, .down = FIRST },
	{ { POST "Content-Length: 5\r\n\r\nhello" },
	    .up = POST "Content-Length: 5\r\n" TOLD "\r\nhello",
	    .down = FIRST },
	{ { POST "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n" },
	    .up = POST "Transfer-Encoding: chunked\r\n" TOLD
		       "\r\n2\r\nhi\r\n0\r\n\r\n",
	    .down = FIRST, .server = answers_body },
	{ { GET1 END, GET2 END }, .up = GET1 TOLD END GET2 TOLD END,
	    .down = FIRST NEXT },
};

START_TEST(as_classic)
{
	beside(&same[_i]);
}
END_TEST

/* ---- what is different, and why ---- */

/* Classic Pen knows GET, HEAD and POST alone; a server behind it that believes
 * the header gets it from whoever uses another method. */
static const struct beside methods[] = {
	{ { "PUT / HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi" },
	    .up =
		"PUT / HTTP/1.1\r\n" HOST "Content-Length: 2\r\n" TOLD "\r\nhi",
	    .down = FIRST,
	    .classic_up =
		"PUT / HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi" },
	{ { "DELETE / HTTP/1.1\r\n" HOST END },
	    .up = "DELETE / HTTP/1.1\r\n" HOST TOLD END, .down = FIRST,
	    .classic_up = "DELETE / HTTP/1.1\r\n" HOST END },
	{ { "OPTIONS * HTTP/1.1\r\n" HOST END },
	    .up = "OPTIONS * HTTP/1.1\r\n" HOST TOLD END, .down = FIRST,
	    .classic_up = "OPTIONS * HTTP/1.1\r\n" HOST END },
	{ { "PROPFIND / HTTP/1.1\r\n" HOST END },
	    .up = "PROPFIND / HTTP/1.1\r\n" HOST TOLD END, .down = FIRST,
	    .classic_up = "PROPFIND / HTTP/1.1\r\n" HOST END },
};

START_TEST(every_method)
{
	beside(&methods[_i]);
}
END_TEST

/* Classic Pen sees requests at the start of what one read brings. */
START_TEST(requests_in_one_read)
{
	beside(&(struct beside){ .parts = { GET1 END GET2 END },
	    .up = GET1 TOLD END GET2 TOLD END, .down = FIRST NEXT,
	    .classic_up = GET1 TOLD END GET2 END });
}
END_TEST

START_TEST(a_request_in_parts)
{
	beside(
	    &(struct beside){ { "GET /1 HT", "TP/1.1\r\nHos", "t: a\r\n\r\n" },
		.apart = AFTER_HEARD, .up = GET1 TOLD END, .down = FIRST,
		.classic_up = GET1 END });
}
END_TEST

/* Classic Pen lets the client's own word stand for the address. */
START_TEST(a_forged_address)
{
	beside(&(struct beside){
	    .parts = { GET1 "X-Forwarded-For: 1.2.3.4\r\n\r\n" },
	    .up = GET1 "X-Forwarded-For: 1.2.3.4\r\n" TOLD END, .down = FIRST,
	    .classic_up = GET1 "X-Forwarded-For: 1.2.3.4\r\n" PROTO END });
}
END_TEST

/* And for how it came. */
START_TEST(a_forged_protocol)
{
	beside(&(struct beside){
	    .parts = { GET1 "X-Forwarded-Proto: https\r\n\r\n" },
	    .up = GET1 TOLD END, .down = FIRST,
	    .classic_up = GET1 "X-Forwarded-Proto: https\r\n" FOR END });
}
END_TEST

/* Classic Pen writes into a body that looks like a request, whose length is
 * wrong then. */
START_TEST(a_body_like_a_request)
{
	beside(&(struct beside){ { POST "Content-Length: 26\r\n\r\n",
				     "GET /x HTTP/1.1\r\nA: bc\r\n\r\n" },
	    .apart = AFTER_HEADER,
	    .up = POST "Content-Length: 26\r\n" TOLD
		       "\r\nGET /x HTTP/1.1\r\nA: bc\r\n\r\n",
	    .down = FIRST, .server = answers_body,
	    .classic_up = POST "Content-Length: 26\r\n" TOLD
			       "\r\nGET /x HTTP/1.1\r\nA: bc\r\n" TOLD END });
}
END_TEST

/* Servers and proxies do not agree where lines end that have no CR, nor on
 * what is no request at all: that is how requests are smuggled. Ours refuses
 * them. */
static const struct beside refused[] = {
	{ { "GET / HTTP/1.1\nHost: a\n\n" }, .up = "", .down = BAD,
	    .classic_up = "GET / HTTP/1.1\nHost: a\r\nX-Forwarded-Proto: "
			  "http\r\nX-Forwarded-For: 127.0.0.1\n\n",
	    .classic_down = "" },
	{ { "hello world\r\n\r\n" }, .up = "", .down = BAD,
	    .classic_up = "hello world\r\n\r\n", .classic_down = FIRST },
	{ { "GET /\r\n\r\n" }, .up = "", .down = BAD,
	    .classic_up = "GET /\r\n" TOLD END, .classic_down = FIRST },
};

START_TEST(what_is_no_request)
{
	beside(&refused[_i]);
}
END_TEST

/* ---- the commands ---- */

static void
emit_both(const char *command)
{
	ck_assert_str_eq(endpoint_ask(&ours.twin.ctl, command), "");
	ck_assert_str_eq(endpoint_ask(&classic.twin.ctl, command), "");
}

/* They count from the next connection on. */
START_TEST(while_it_runs)
{
	static const char *const options[] = { "-r", NULL };
	const struct beside with = { .parts = { GET1 END } };

	if (!classic_is_there())
		SKIP("classic Pen 0.34.1 is not installed");
	start_both(options, answers);
	visit(&ours, &with, GET1 END, FIRST);
	visit(&classic, &with, GET1 END, FIRST);
	emit_both("http\n");
	visit(&ours, &with, GET1 TOLD END, FIRST);
	visit(&classic, &with, GET1 TOLD END, FIRST);
	emit_both("no http\n");
	visit(&ours, &with, GET1 END, FIRST);
	visit(&classic, &with, GET1 END, FIRST);
	stop_both();
}
END_TEST

#define COUNT(rows) (int)(sizeof(rows) / sizeof((rows)[0]))

SUITE(test_http_beside)
{
	Suite *s = suite_create("http_beside");

	SUITE_ADD_LOOP(s, as_classic, 30, COUNT(same));
	SUITE_ADD_LOOP(s, every_method, 30, COUNT(methods));
	SUITE_ADD(s, requests_in_one_read, 30);
	SUITE_ADD(s, a_request_in_parts, 30);
	SUITE_ADD(s, a_forged_address, 30);
	SUITE_ADD(s, a_forged_protocol, 30);
	SUITE_ADD(s, a_body_like_a_request, 30);
	SUITE_ADD_LOOP(s, what_is_no_request, 30, COUNT(refused));
	SUITE_ADD(s, while_it_runs, 30);
	return s;
}
