/* test_http_relay.c: what requests and answers of a connection know of each
 * other, and of bytes that the kernel moves past both. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "proxy/http/http_relay.h"
#include "support/suite.h"

#define ADDED "X-Forwarded-For: 192.0.2.7\r\n"
#define POST "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n"
#define GET "GET / HTTP/1.1\r\nHost: a\r\n"

static char room[HTTP_ROOM];
static struct http_relay relay;

static void
begin(void)
{
	http_relay_init(&relay, room);
	relay.adding.bytes = ADDED;
	relay.adding.length = strlen(ADDED);
	relay.adding.drop = HTTP_SEEN_FOR;
}

/* What the filter makes of these bytes. */
static void
passes(struct pipe_filter *f, const char *bytes, const char *wanted)
{
	const char *out;
	size_t n = strlen(bytes);

	f->due = false;
	ck_assert_int_eq(f->take(f, n > 0 ? bytes : NULL, n, &out, &n), 0);
	ck_assert_uint_eq(n, strlen(wanted));
	if (n > 0)
		ck_assert_mem_eq(out, wanted, n);
}

/* The kernel moves all that it may. */
static void
move_clear(struct pipe_filter *f)
{
	f->clear = 0;
	f->due = true;
}

static void
server_says(const char *what)
{
	passes(&relay.down, what, what);
}

/* An answer comes when the kernel has moved the last byte of a body that the
 * server has not taken yet: what follows is a request all the same. */
START_TEST(an_answer_behind_a_moved_body)
{
	static const char *const answers[] = { "HTTP/1.1 100 Continue\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" };
	size_t i;

	for (i = 0; i < 2; i++) {
		begin();
		passes(&relay.up, POST "\r\nx", POST ADDED "\r\nx");
		ck_assert_uint_eq(relay.up.clear, 99999);
		move_clear(&relay.up);
		server_says(answers[i]);
		ck_assert(relay.up.due);
		passes(&relay.up, "", "");
		ck_assert_uint_eq(relay.up.clear, 0);
		passes(&relay.up, GET "X-Forwarded-For: 1.2.3.4\r\n\r\n",
		    GET ADDED "\r\n");
		http_relay_fini(&relay);
	}
}
END_TEST

/* The same of an answer's body, with nothing behind it. */
START_TEST(an_answer_that_the_kernel_moved)
{
	begin();
	passes(&relay.up, GET "\r\n", GET ADDED "\r\n");
	server_says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		    "10000\r\nx");
	ck_assert_uint_eq(relay.down.clear, 0xffff);
	move_clear(&relay.down);
	server_says("");
	server_says("\r\n0\r\n\r\n");
	ck_assert(http_relay_is_idle(&relay));
	http_relay_fini(&relay);
}
END_TEST

/* What waits for an answer goes on with it. */
START_TEST(a_request_that_waited)
{
	begin();
	passes(&relay.up, GET "Upgrade: a\r\n\r\n" GET "\r\n",
	    GET "Upgrade: a\r\n" ADDED "\r\n");
	ck_assert(relay.up.waits && !relay.up.due);
	server_says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	ck_assert(!relay.up.waits && relay.up.due);
	passes(&relay.up, "", GET ADDED "\r\n");
	http_relay_fini(&relay);
}
END_TEST

/* A client that is waiting for an answer may take its time with what follows;
 * an empty line behind a body is no part of a request (RFC 9112, 2.2). */
START_TEST(partial_when_no_answer_is_due)
{
	begin();
	passes(&relay.up, GET "\r\n\r\n", GET ADDED "\r\n");
	ck_assert(!http_relay_is_partial(&relay));
	passes(&relay.up, "GET", "");
	ck_assert(!http_relay_is_partial(&relay));
	server_says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	ck_assert(http_relay_is_partial(&relay));
	http_relay_fini(&relay);
	begin();
	passes(&relay.up, GET "\r\n\r\n", GET ADDED "\r\n");
	server_says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	ck_assert(!http_relay_is_partial(&relay));
	ck_assert(http_relay_is_idle(&relay));
	http_relay_fini(&relay);
}
END_TEST

/* The answer says that it is the last one; what came behind its request is the
 * client's to send again. */
START_TEST(last_answer_says_so)
{
	begin();
	passes(&relay.up, GET "\r\n" GET "\r\nGE",
	    GET ADDED "\r\n" GET ADDED "\r\n");
	relay.responses.ends = true;
	server_says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
	ck_assert_int_eq(http_relay_course(&relay), HTTP_COURSE_ON);
	passes(&relay.down,
	    "HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 200 OK\r\nConnection: Keep-Alive"
	    "\r\nKeep-Alive: timeout=5\r\nContent-Length: 2\r\n\r\nok",
	    "HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\n"
	    "Content-Length: 2\r\n\r\nok");
	ck_assert_int_eq(http_relay_course(&relay), HTTP_COURSE_OVER);
	passes(&relay.up, "T / HTTP/1.1\r\nHost: a\r\n\r\n", "");
	ck_assert_uint_eq(relay.pending.count, 0);
	http_relay_fini(&relay);
}
END_TEST

SUITE(test_http_relay)
{
	Suite *s = suite_create("http_relay");

	SUITE_ADD(s, an_answer_behind_a_moved_body, 5);
	SUITE_ADD(s, an_answer_that_the_kernel_moved, 5);
	SUITE_ADD(s, a_request_that_waited, 5);
	SUITE_ADD(s, partial_when_no_answer_is_due, 5);
	SUITE_ADD(s, last_answer_says_so, 5);
	return s;
}
