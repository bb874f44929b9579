/* test_log_line.c: lines of web servers and of pen; those that are none. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/suite.h"
#include "tools/log_line.h"

/* One of nginx, whose parts tests change. */
#define BEFORE "10.0.0.1 - bob ["
#define TIME "14/Nov/2023:22:13:20 +0000"
#define AFTER "] \"GET /a HTTP/1.1\" 200 612 \"-\" \"curl\"\n"

static struct web_line web;
static struct pen_line pen;

static int64_t
time_of(const char *stamp, int zone)
{
	ck_assert_int_eq(
	    web_line_parse(&web, text(BEFORE "%s" AFTER, stamp), zone), 0);
	return web.has_time ? web.time : -1;
}

START_TEST(a_line_of_a_web_server)
{
	static const char line[] = BEFORE TIME AFTER;

	ck_assert_int_eq(web_line_parse(&web, line, 0), 0);
	ck_assert_ptr_eq(web.user, line + strlen("10.0.0.1"));
	ck_assert_ptr_eq(web.begin, line + strlen(BEFORE));
	ck_assert_ptr_eq(web.end, line + strlen(BEFORE TIME));
	ck_assert(web.has_time);
	ck_assert_int_eq(web.time, 1700000000);
	ck_assert_str_eq(web.request, "GET /a HTTP/1.1");
}
END_TEST

START_TEST(zones)
{
	ck_assert_int_eq(
	    time_of("14/Nov/2023:23:13:20 +0100", 0), 1700000000);
	ck_assert_int_eq(
	    time_of("14/Nov/2023:18:43:20 -0330", 0), 1700000000);
	ck_assert_int_eq(time_of("15/Nov/2023:03:43:20 +0530", 9), 1700000000);
	/* none: the one that the caller gives */
	ck_assert_int_eq(time_of("14/Nov/2023:23:13:20", 3600), 1700000000);
}
END_TEST

/* Every day of sixty years, as the system's library counts them. */
START_TEST(days)
{
	int64_t t;

	for (t = 43200; t < (int64_t)60 * 366 * 86400; t += 86400) {
		time_t at = (time_t)t;
		char stamp[64];
		struct tm tm;

		ck_assert_ptr_nonnull(gmtime_r(&at, &tm));
		strftime(stamp, sizeof(stamp), "%d/%b/%Y:%H:%M:%S +0000", &tm);
		ck_assert_int_eq(time_of(stamp, 0), t);
	}
}
END_TEST

START_TEST(no_time)
{
	ck_assert_int_eq(time_of("", 0), -1);
	ck_assert_int_eq(time_of("yesterday", 0), -1);
	ck_assert_int_eq(time_of("14/anF/2023:22:13:20 +0000", 0), -1);
	ck_assert_int_eq(time_of("14/Nov/2023:22:13", 0), -1);
}
END_TEST

static const char *
request_of(const char *written)
{
	ck_assert_int_eq(
	    web_line_parse(&web, text("a - - [] \"%s\" 400", written), 0), 0);
	return web.request;
}

/* As pen writes what web servers escape. */
START_TEST(escapes_of_requests)
{
	ck_assert_str_eq(request_of("GET /\\\"a\\\\b HTTP/1.1"),
	    "GET /\"a\\b HTTP/1.1");
	ck_assert_str_eq(request_of("GET /q\\x22\\x5Cx\\xC3\\xa4"),
	    "GET /q\"\\x\303\244");
	ck_assert_str_eq(request_of("\\x16\\x03\\xE4\\b\\t\\x09"), "????\t\t");
	ck_assert_str_eq(request_of("\\q \\x4 \\xg0"), "\\q \\x4 \\xg0");
	ck_assert_str_eq(request_of(""), "");
}
END_TEST

START_TEST(no_lines_of_a_web_server)
{
	static const char *const bad[] = { "", "\n", " - - [x] \"GET\"",
		"10.0.0.1", "10.0.0.1\n", "10.0.0.1 - - \"GET /\"",
		"10.0.0.1 - - [x \"GET /\"", "10.0.0.1 - - [x] GET /",
		"10.0.0.1 - - [x] \"GET /",
		"10.0.0.1 - - [x] \"GET /\\", "10.0.0.1 - - [x]" };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(web_line_parse(&web, bad[i], 0) < 0, "taken: %s",
		    bad[i]);
}
END_TEST

/* The same of both logs, also where pen cuts a character. */
START_TEST(long_requests)
{
	static char request[LOG_REQUEST_MAX + 1];

	memset(request, 'x', LOG_REQUEST_MAX - 1);
	ck_assert_str_eq(request_of(request), request);
	ck_assert_int_eq(
	    pen_line_parse(&pen, text("a 1 b %s\n", request), false), 0);
	ck_assert_str_eq(pen.request, request);
	ck_assert_str_eq(request_of(text("%sy", request)), request);
	ck_assert_int_eq(
	    pen_line_parse(&pen, text("a 1 b %sy\n", request), false), 0);
	ck_assert_str_eq(pen.request, request);
	request[LOG_REQUEST_MAX - 2] = '?';
	ck_assert_str_eq(request_of(text("%.*s\\xC3\\xA4 HTTP/1.1",
			     LOG_REQUEST_MAX - 2, request)),
	    request);
}
END_TEST

START_TEST(a_line_of_pen)
{
	ck_assert_int_eq(
	    pen_line_parse(&pen,
		"10.0.0.9 1700000000 0:0:0:0:0:0:0:1 GET / HTTP/1.1\r\n",
		false),
	    0);
	ck_assert_str_eq(pen.client, "10.0.0.9");
	ck_assert_int_eq(pen.time, 1700000000);
	ck_assert_str_eq(pen.server, "::1");
	ck_assert_str_eq(pen.request, "GET / HTTP/1.1");
	ck_assert_int_eq(
	    pen_line_parse(&pen, "+ 10.0.0.9 web1 GET /\n", true), 0);
	ck_assert_str_eq(pen.server, "web1");
	ck_assert_str_eq(pen.request, "GET /");
}
END_TEST

START_TEST(no_lines_of_pen)
{
	static const char *const bad[] = { "", "\n", "10.0.0.9",
		"10.0.0.9 x web1 GET /", "10.0.0.9 1700000000",
		"10.0.0.9 1700000000 web1", "10.0.0.9 1700000000 web1 \n",
		"10.0.0.9 -5 web1 GET /", "+ 10.0.0.9 web1 GET /" };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(pen_line_parse(&pen, bad[i], false) < 0,
		    "taken: %s", bad[i]);
	ck_assert_int_lt(
	    pen_line_parse(&pen, "10.0.0.9 1 web1 GET /", true), 0);
	ck_assert_int_lt(
	    pen_line_parse(&pen,
		text("%0*d 1 web1 GET /", LOG_HOST_MAX, 0), false),
	    0);
}
END_TEST

START_TEST(hosts)
{
	char host[LOG_HOST_MAX];

	log_host(host, "0:0:0:0:0:0:0:1");
	ck_assert_str_eq(host, "::1");
	log_host(host, "10.1.2.3");
	ck_assert_str_eq(host, "10.1.2.3");
	log_host(host, "web1.test");
	ck_assert_str_eq(host, "web1.test");
}
END_TEST

SUITE(test_log_line)
{
	Suite *s = suite_create("log_line");

	SUITE_ADD(s, a_line_of_a_web_server, 10);
	SUITE_ADD(s, zones, 10);
	SUITE_ADD(s, days, 20);
	SUITE_ADD(s, no_time, 10);
	SUITE_ADD(s, escapes_of_requests, 10);
	SUITE_ADD(s, no_lines_of_a_web_server, 10);
	SUITE_ADD(s, long_requests, 10);
	SUITE_ADD(s, a_line_of_pen, 10);
	SUITE_ADD(s, no_lines_of_pen, 10);
	SUITE_ADD(s, hosts, 10);
	return s;
}
