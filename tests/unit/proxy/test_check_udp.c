/* test_check_udp.c: a datagram to a server, and what its answers mean. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/sock.h"
#include "support/check_fixture.h"
#include "support/suite.h"
#include "support/udp.h"

enum { LONG = 600000, SHORT = 300 };

static struct endpoint at;
static int fd, heard;
static struct watch watch;
static unsigned char last[100]; /* what came to the server */
static size_t last_length;

/* The answers to a datagram, one after another; those to the first `silent`
 * datagrams are not sent. */
static const char *const *answers;
static int silent;

static void
on_question(struct watch *w, unsigned ready)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	const char *const *a;
	ssize_t n = recvfrom(
	    w->fd, last, sizeof(last), 0, (struct sockaddr *)&from, &len);

	(void)ready;
	if (n < 0)
		return;
	last_length = (size_t)n;
	if (heard++ < silent)
		return;
	for (a = answers; a != NULL && *a != NULL; a++)
		ck_assert_int_ge(sendto(w->fd, *a, strlen(*a), 0,
				     (struct sockaddr *)&from, len),
		    0);
}

static void
serve(void)
{
	fd = sock_datagram(at.addr.ss_family);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at.addr, at.len), 0);
	ck_assert_int_eq(watch_start(fixture.loop, &watch, fd,
			     READY_READ | WATCH_LEVEL, on_question),
	    0);
}

static void
begin(enum endpoint_kind kind, uint64_t timeout_ms)
{
	heard = silent = 0;
	answers = NULL;
	udp_endpoint(&at, kind);
	check_fixture_begin(&at);
	check_fixture_front(timeout_ms);
	serve();
}

static void
finish(void)
{
	watch_stop(fixture.loop, &watch);
	close(fd);
	check_fixture_end();
}

static void
answered(enum endpoint_kind kind)
{
	static const char *const pong[] = { "pong", NULL };

	begin(kind, LONG);
	answers = pong;
	check_fixture_good("udp 0070696E67 expect 706f6e67", "answered");
	ck_assert_uint_eq(last_length, 5);
	ck_assert_int_eq(memcmp(last, "\0ping", 5), 0);
	check_fixture_good("udp 00 expect 70", "answered");
	check_fixture_good("udp 00 expect 70....67", "answered");
	check_fixture_good("udp 00 expect ..", "answered");
	finish();
}

START_TEST(good_answers)
{
	answered(ENDPOINT_TCP4);
	answered(ENDPOINT_UNIX);
}
END_TEST

/* Answers to something else are passed over. */
START_TEST(other_answers)
{
	static const char *const several[] = { "", "p", "pang", "pong", NULL };
	static const char *const wrong[] = { "pang", "pon", NULL };

	begin(ENDPOINT_TCP4, LONG);
	answers = several;
	check_fixture_good("udp 00 expect 706f6e67", "answered");
	finish();
	begin(ENDPOINT_TCP4, SHORT);
	answers = wrong;
	check_fixture_bad("udp 00 expect 706f6e67",
	    "timed out waiting for the expected answer");
	answers = NULL;
	check_fixture_bad(
	    "udp 00 expect 706f6e67", "timed out waiting for an answer");
	finish();
}
END_TEST

START_TEST(one_datagram_is_lost)
{
	static const char *const pong[] = { "pong", NULL };

	begin(ENDPOINT_TCP4, 2000);
	answers = pong;
	silent = 1;
	check_fixture_good("udp 00 expect 706f6e67", "answered");
	ck_assert_int_eq(heard, 2);
	finish();
}
END_TEST

START_TEST(nobody_there)
{
	begin(ENDPOINT_TCP4, LONG);
	watch_stop(fixture.loop, &watch);
	close(fd);
	check_fixture_bad("udp 00 expect 70", "Connection refused");
	serve();
	finish();
}
END_TEST

/* Clients have headers; `server` is where they go. */
static void
begin_with_headers(const struct endpoint *server)
{
	static const char *const pong[] = { "pong", NULL };

	heard = silent = 0;
	answers = pong;
	check_fixture_begin(server);
	fixture.options.udp.on = true;
	fixture.options.udp.proxy = UDP_PROXY_FIRST;
	udp_endpoint(&fixture.front, ENDPOINT_TCP4);
	check_fixture_front(LONG);
	serve();
}

/* As traffic has it: version 2, LOCAL. */
START_TEST(proxy_header)
{
	udp_endpoint(&at, ENDPOINT_TCP4);
	begin_with_headers(&at);
	check_fixture_good("udp 70 expect 70", "answered");
	ck_assert_uint_eq(last_length, 17);
	ck_assert_int_eq(
	    memcmp(last, "\r\n\r\n\0\r\nQUIT\n\x20\0\0\0p", 17), 0);
	finish();
}
END_TEST

START_TEST(no_header_at_a_port_for_checks)
{
	struct endpoint server;

	udp_endpoint(&at, ENDPOINT_TCP4);
	udp_endpoint(&server, ENDPOINT_TCP4);
	begin_with_headers(&server);
	check_fixture_port = (uint16_t)at.port;
	check_fixture_good("udp 70 expect 70", "answered");
	ck_assert_uint_eq(last_length, 1);
	finish();
}
END_TEST

START_TEST(words)
{
	check_fixture_refuses("udp", "expects HEX expect HEX");
	check_fixture_refuses("udp 00", "expects HEX expect HEX");
	check_fixture_refuses("udp 00 wants 00", "expects HEX expect HEX");
	check_fixture_refuses("udp 00 expect 00 00", "expects HEX expect HEX");
	check_fixture_refuses("udp 0 expect 00", "what is sent: expects two");
	check_fixture_refuses("udp .. expect 00", "\"..\" is not a byte");
	check_fixture_refuses("udp 00 expect 0g", "\"0g\" is not a byte");
	check_fixture_refuses("udp 00 expect \"\"", "expect: expects two");
}
END_TEST

SUITE(test_check_udp)
{
	Suite *s = suite_create("check_udp");

	SUITE_ADD(s, good_answers, 20);
	SUITE_ADD(s, other_answers, 20);
	SUITE_ADD(s, one_datagram_is_lost, 20);
	SUITE_ADD(s, nobody_there, 20);
	SUITE_ADD(s, proxy_header, 20);
	SUITE_ADD(s, no_header_at_a_port_for_checks, 20);
	SUITE_ADD(s, words, 10);
	return s;
}
