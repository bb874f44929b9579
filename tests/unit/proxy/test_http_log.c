/* test_http_log.c: what is kept of requests for their lines: texts, statuses,
 * positions, times; and that nothing is kept after that, or while it is off. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "proxy/http/http_relay.h"
#include "support/suite.h"

static struct http_relay h;
static char room[HTTP_ROOM];
static uint64_t clock_us, gone[2], lost;

static uint64_t
now_us(struct http_logging *l)
{
	(void)l;
	return ++clock_us;
}

static uint64_t
position(const void *owner, bool down)
{
	(void)owner;
	return gone[down];
}

static void
lose(struct http_logging *l)
{
	(void)l;
	lost++;
}

static struct http_logging logging = {
	.now_us = now_us, .position = position, .lose = lose
};

static void
begin(bool on)
{
	http_relay_init(&h, room);
	h.requests.log.logging = &logging;
	h.adding.bytes = "";
	logging.on = on;
	clock_us = gone[0] = gone[1] = lost = 0;
}

static void
give(bool down, const char *bytes)
{
	struct pipe_filter *f = down ? &h.down : &h.up;
	const char *out;
	size_t n;

	ck_assert_int_eq(f->take(f, bytes, strlen(bytes), &out, &n), 0);
	gone[down] += n;
}

static const struct http_logged *
entry(uint64_t number)
{
	const struct http_logged *e = http_log_find(&h.requests.log, number);

	ck_assert_ptr_nonnull(e);
	return e;
}

static void
text_is(const struct http_logged *e, enum http_log_text which, const char *what)
{
	struct http_text t = http_logged_text(e, which);

	ck_assert_msg(
	    t.length == strlen(what) && memcmp(t.at, what, t.length) == 0,
	    "%.*s is not %s", (int)t.length, t.at, what);
}

static void
end(void)
{
	http_relay_fini(&h);
	ck_assert_uint_eq(lost, 0);
}

#define ONE                                                               \
	"POST /a?b HTTP/1.1\r\nHost: one.test \r\nUSER-AGENT:\tprobe\r\n" \
	"Referer: http://b/\r\nContent-Length: 3\r\n\r\n"
#define TWO "GET /2 HTTP/1.1\r\nHost: two.test\r\nuser-agents: none\r\n\r\n"

START_TEST(nothing_while_off)
{
	begin(false);
	give(false, ONE "abc" TWO);
	give(false, "wrong\r\n\r\n");
	ck_assert_ptr_null(h.requests.log.first);
	end();
}
END_TEST

START_TEST(texts)
{
	begin(true);
	give(false, ONE "abc" TWO);
	text_is(entry(0), HTTP_LOG_LINE, "POST /a?b HTTP/1.1");
	ck_assert_uint_eq(entry(0)->method, 4);
	ck_assert_uint_eq(entry(0)->path, 4);
	text_is(entry(0), HTTP_LOG_HOST, "one.test");
	text_is(entry(0), HTTP_LOG_AGENT, "probe");
	text_is(entry(0), HTTP_LOG_REFERER, "http://b/");
	text_is(entry(1), HTTP_LOG_LINE, "GET /2 HTTP/1.1");
	text_is(entry(1), HTTP_LOG_HOST, "two.test");
	text_is(entry(1), HTTP_LOG_AGENT, "");
	end();
}
END_TEST

START_TEST(exchange)
{
	begin(true);
	give(false, ONE);
	ck_assert(!entry(0)->sent);
	give(false, "ab");
	give(false, "c" TWO);
	ck_assert(entry(0)->sent);
	ck_assert_uint_eq(entry(0)->up_to - entry(0)->up_from, strlen(ONE) + 3);
	ck_assert_uint_eq(entry(1)->up_from, entry(0)->up_to);
	ck_assert_uint_eq(entry(1)->up_to, gone[0]);
	ck_assert_uint_eq(entry(0)->first_us, 0);
	give(true, "HTTP/1.1 103 Hints\r\n\r\n");
	ck_assert_uint_gt(entry(0)->first_us, entry(0)->began_us);
	ck_assert_uint_eq(entry(0)->status, 0);
	give(true, "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nn");
	ck_assert_uint_eq(entry(0)->status, 404);
	ck_assert(!entry(0)->answered);
	give(true,
	    "oHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	    "1\r\nx\r\n0\r\n\r\n");
	ck_assert(entry(0)->answered);
	ck_assert_uint_eq(entry(0)->down_from, 0);
	ck_assert_uint_eq(entry(0)->down_to - entry(0)->body_from, 2);
	ck_assert_uint_eq(entry(1)->down_from, entry(0)->down_to);
	ck_assert_uint_eq(entry(1)->status, 200);
	ck_assert_uint_eq(entry(1)->down_to - entry(1)->body_from, 11);
	ck_assert_uint_eq(entry(1)->down_to, gone[1]);
	http_log_remove(&h.requests.log);
	http_log_remove(&h.requests.log);
	ck_assert_ptr_null(h.requests.log.first);
	end();
}
END_TEST

/* What is known of a request that goes to no server. */
static const struct {
	const char *bytes, *line, *agent;
	unsigned method;
} wrong[] = {
	{ "wrong\r\n\r\n", "wrong", "", 0 },
	{ "\x16\x03\x01\x02", "\x16\x03\x01\x02", "", 0 },
	{ "GET /a HTTP/9.9\r\nUser-Agent: x\ry\r\n\r\nUser-Agent: z",
	    "GET /a HTTP/9.9", "", 3 },
	{ "GET /a HTTP/1.1\r\nUser-Agent: x\r\nHost: a b\r\n\r\n",
	    "GET /a HTTP/1.1", "x", 3 },
	{ "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", "CONNECT a:1 HTTP/1.1",
	    "", 7 },
	{ "\r\nGET\t/a HTTP/1.1\r\n\r\n", "GET\t/a HTTP/1.1", "", 0 },
};

START_TEST(refused)
{
	begin(true);
	give(false, wrong[_i].bytes);
	ck_assert_uint_ne(h.requests.status, 0);
	ck_assert(entry(0)->refused);
	text_is(entry(0), HTTP_LOG_LINE, wrong[_i].line);
	ck_assert_uint_eq(entry(0)->method, wrong[_i].method);
	if (wrong[_i].method > 0 && strstr(wrong[_i].bytes, "\ry") == NULL)
		text_is(entry(0), HTTP_LOG_AGENT, wrong[_i].agent);
	gone[1] = 150;
	http_log_page(&h.requests.log, 0, 400, 100, 50);
	ck_assert_uint_eq(entry(0)->status, 400);
	ck_assert_uint_eq(entry(0)->down_from, 0);
	ck_assert_uint_eq(entry(0)->body_from, 100);
	ck_assert_uint_eq(entry(0)->down_to, 150);
	end();
}
END_TEST

/* No more of it comes; a part of a later one is none that is logged twice. */
START_TEST(rest)
{
	begin(true);
	http_requests_log_rest(&h.requests);
	ck_assert_ptr_null(h.requests.log.first);
	give(false, "GET /a HTTP/1.1\r\nHos");
	ck_assert_ptr_null(h.requests.log.first);
	http_requests_log_rest(&h.requests);
	text_is(entry(0), HTTP_LOG_LINE, "GET /a HTTP/1.1");
	http_requests_log_rest(&h.requests);
	ck_assert_ptr_null(entry(0)->next);
	end();
	begin(true);
	give(false, ONE "a");
	http_requests_log_rest(&h.requests);
	ck_assert_ptr_null(entry(0)->next);
	end();
}
END_TEST

/* One that is refused after the last answer is as if it had not come. */
START_TEST(withdrawn)
{
	begin(true);
	give(false, TWO "wrong\r\n\r\n");
	ck_assert(entry(1)->refused);
	give(true,
	    "HTTP/1.1 200 OK\r\nConnection: close\r\n"
	    "Content-Length: 0\r\n\r\n");
	ck_assert_ptr_null(entry(0)->next);
	ck_assert(entry(0)->answered);
	end();
}
END_TEST

/* Those before the log came have no line, whatever comes after them. */
START_TEST(comes_later)
{
	begin(false);
	give(false, TWO TWO);
	logging.on = true;
	give(false, ONE "abc");
	ck_assert_uint_eq(h.requests.log.first->number, 2);
	give(true, "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n");
	give(true, "HTTP/1.1 204 None\r\n\r\n");
	ck_assert_uint_eq(entry(2)->status, 0);
	give(true, "HTTP/1.1 200 OK\r\n\r\nall");
	ck_assert_uint_eq(entry(2)->status, 200);
	ck_assert(entry(2)->endless && !entry(2)->answered);
	end();
}
END_TEST

START_TEST(tunnel)
{
	begin(true);
	give(false,
	    "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
	    "Connection: Upgrade\r\n\r\n");
	give(true, "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\nabc");
	ck_assert_uint_eq(entry(0)->status, 101);
	ck_assert(entry(0)->endless && !entry(0)->answered);
	end();
}
END_TEST

START_TEST(failed_servers)
{
	begin(true);
	give(false, TWO "wrong\r\n\r\n");
	http_log_failed(&h.requests.log);
	ck_assert_uint_eq(entry(0)->retries, 1);
	ck_assert_uint_eq(entry(1)->retries, 0);
	end();
}
END_TEST

START_TEST(long_ones)
{
	static char bytes[3 * HTTP_LOG_PATH_MAX];

	begin(true);
	strcpy(bytes, "GET /");
	memset(bytes + 5, 'p', HTTP_LOG_PATH_MAX);
	strcat(bytes, " HTTP/1.1\r\nHost: a\r\nUser-Agent: ");
	memset(bytes + strlen(bytes), 'u', HTTP_LOG_AGENT_MAX + 1);
	strcat(bytes, "\r\n\r\n");
	give(false, bytes);
	ck_assert_uint_eq(entry(0)->path, HTTP_LOG_PATH_MAX);
	ck_assert_uint_eq(
	    entry(0)->length[HTTP_LOG_LINE], 4 + HTTP_LOG_PATH_MAX + 9);
	ck_assert_uint_eq(entry(0)->length[HTTP_LOG_AGENT], HTTP_LOG_AGENT_MAX);
	end();
}
END_TEST

SUITE(test_http_log)
{
	Suite *s = suite_create("http_log");

	SUITE_ADD(s, nothing_while_off, 10);
	SUITE_ADD(s, texts, 10);
	SUITE_ADD(s, exchange, 10);
	SUITE_ADD_LOOP(s, refused, 10, (int)(sizeof(wrong) / sizeof(*wrong)));
	SUITE_ADD(s, rest, 10);
	SUITE_ADD(s, withdrawn, 10);
	SUITE_ADD(s, comes_later, 10);
	SUITE_ADD(s, tunnel, 10);
	SUITE_ADD(s, failed_servers, 10);
	SUITE_ADD(s, long_ones, 10);
	return s;
}
