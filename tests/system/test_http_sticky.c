/* test_http_sticky.c: a cookie brings a client back to its server. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { COOKIE = 17 }; /* of its value, with the NUL */

static struct backend a, b;
static struct endpoint front, ctl;
static struct pen pen;

/* Answers one request with its letter, then ends. */
static void
answer(struct backend *s, int fd)
{
	char in[40000];
	size_t n = 0;
	ssize_t got;

	do {
		got = recv(fd, in + n, sizeof(in) - 1 - n, 0);
		if (got <= 0)
			return;
		n += (size_t)got;
		in[n] = '\0';
	} while (strstr(in, "\r\n\r\n") == NULL);
	(void)backend_send(fd, s->arg, strlen(s->arg));
}

#define ANSWER(letter)                  \
	"HTTP/1.1 100 Continue\r\n\r\n" \
	"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" letter

static void
servers(void)
{
	backend_start(&a, ENDPOINT_TCP4, answer, ANSWER("A"));
	backend_start(&b, ENDPOINT_TCP4, answer, ANSWER("B"));
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
}

static void
up(const char *settings)
{
	servers();
	pen_up(&pen, &front, "-r", "-H", "-C", ctl.text, "-O", settings,
	    front.text, a.at.text, b.at.text, NULL);
}

static void
down(void)
{
	pen_down(&pen);
	backend_stop(&a);
	backend_stop(&b);
}

static void
tell(const char *command)
{
	ck_assert_str_eq(endpoint_ask(&ctl, text("%s\n", command)), "");
}

/* Asks with these lines; returns the letter of the server that answered, and
 * the value of the cookie that came with it, or "". */
static char
ask_with(const char *lines, char given[COOKIE])
{
	const char *got = endpoint_ask(
	    &front, text("GET / HTTP/1.1\r\nHost: a\r\n%s\r\n", lines));
	const char *set = strstr(got, "Set-Cookie: SRV=");

	ck_assert_msg(strstr(got, "HTTP/1.1 200 OK\r\n") != NULL, "%s", got);
	given[0] = '\0';
	if (set != NULL) {
		ck_assert_int_eq(
		    sscanf(set, "Set-Cookie: SRV=%16[0-9a-f]", given), 1);
		ck_assert_uint_eq(strlen(given), COOKIE - 1);
		ck_assert_ptr_nonnull(strstr(got,
		    text("\r\nHTTP/1.1 200 OK\r\nSet-Cookie: SRV=%s; Path=/; "
			 "HttpOnly; SameSite=Lax\r\nContent-Length: 1\r\n\r\n",
			given)));
	}
	return got[strlen(got) - 1];
}

static char
ask(const char *cookie, char given[COOKIE])
{
	return ask_with(
	    text("Cookie: other=1; SRV=%s; last=2\r\n", cookie), given);
}

/* The cookies of both servers, for clients that have none. */
static void
get_cookies(char of_a[COOKIE], char of_b[COOKIE])
{
	char given[COOKIE];
	int i;

	of_a[0] = of_b[0] = '\0';
	for (i = 0; i < 8 && (of_a[0] == '\0' || of_b[0] == '\0'); i++) {
		if (ask_with("", given) == 'A')
			memcpy(of_a, given, COOKIE);
		else
			memcpy(of_b, given, COOKIE);
		ck_assert_str_ne(given, "");
	}
	ck_assert_str_ne(of_a, of_b);
}

/* It gets this server, and a cookie only if it is to have another one. */
static void
expect(const char *cookie, char server, const char *given)
{
	char got[COOKIE];

	ck_assert_int_eq(ask(cookie, got), server);
	ck_assert_str_eq(got, given);
}

START_TEST(clients_stay_by_cookie)
{
	char of_a[COOKIE], of_b[COOKIE];
	int i;

	up("http_sticky SRV");
	get_cookies(of_a, of_b);
	for (i = 0; i < 3; i++) {
		expect(of_a, 'A', "");
		expect(of_a, 'A', "");
		expect(of_b, 'B', "");
	}
	tell("http_sticky OTHER");
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&front, "GET / HTTP/1.0\r\n\r\n"), "OTHER="));
	down();
}
END_TEST

/* The memory of clients by address knows one server for both. */
START_TEST(clients_stay_where_addresses_are_remembered)
{
	char of_a[COOKIE], of_b[COOKIE], given[COOKIE];
	char first;

	up("http_sticky SRV; roundrobin");
	get_cookies(of_a, of_b);
	tell("no roundrobin");
	first = ask_with("", given);
	ck_assert_int_eq(ask_with("", given), first);
	expect(of_a, 'A', "");
	expect(of_b, 'B', "");
	expect(of_a, 'A', "");
	down();
}
END_TEST

START_TEST(unknown_cookies_get_new_ones)
{
	static const char *const odd[] = { "", "x", "0000000000000000",
		"0123456789abcdef", "0123456789abcdef0", "0123456789abcdeg",
		"0000000000000000000000000000000000000000" };
	char given[COOKIE];
	size_t i;

	up("http_sticky SRV");
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		(void)ask(odd[i], given);
		ck_assert_str_ne(given, "");
		ck_assert_str_ne(given, odd[i]);
	}
	down();
}
END_TEST

START_TEST(a_server_that_is_gone)
{
	char of_a[COOKIE], of_b[COOKIE];

	up("http_sticky SRV");
	get_cookies(of_a, of_b);
	tell("server 0 maint");
	expect(of_a, 'B', of_b);
	tell("server 0 up");
	expect(of_a, 'A', "");
	tell("server 0 drain");
	expect(of_a, 'B', of_b);
	expect(of_b, 'B', "");
	tell("server 0 up");
	expect(of_a, 'A', "");
	backend_stop(&a);
	expect(of_a, 'B', of_b); /* the first one finds out */
	expect(of_a, 'B', of_b);
	tell("server 0 remove");
	expect(of_a, 'B', of_b);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

START_TEST(after_a_restart_in_another_order)
{
	char of_a[COOKIE], of_b[COOKIE];

	up("http_sticky SRV");
	get_cookies(of_a, of_b);
	pen_down(&pen);
	pen_up(&pen, &front, "-H", "--http-sticky", "SRV", front.text,
	    b.at.text, a.at.text, NULL);
	expect(of_a, 'A', "");
	expect(of_b, 'B', "");
	down();
}
END_TEST

START_TEST(no_cookie_unless_asked_for)
{
	char of_a[COOKIE], of_b[COOKIE];
	const char *got;

	up("http_sticky SRV");
	get_cookies(of_a, of_b);
	tell("no http_sticky");
	got = endpoint_ask(&front, "GET / HTTP/1.0\r\n\r\n");
	ck_assert_ptr_nonnull(strstr(got, "200 OK"));
	ck_assert_ptr_null(strstr(got, "Cookie"));
	ck_assert(ask(of_a, of_b) != ask(of_a, of_b));
	tell("http_sticky SRV; no http");
	got = endpoint_ask(&front, "GET / HTTP/1.0\r\n\r\n");
	ck_assert_ptr_null(strstr(got, "Cookie"));
	down();
}
END_TEST

/* A route's servers are all that there are. */
START_TEST(within_routes)
{
	char of_a[COOKIE], of_b[COOKIE], given[COOKIE];

	up("http_sticky SRV");
	get_cookies(of_a, of_b);
	tell("route host a 1");
	expect(of_a, 'B', of_b);
	expect(of_b, 'B', "");
	tell("no route; route host b 1");
	expect(of_a, 'A', "");
	ck_assert_int_eq(ask_with("", given) == 'A' ? 'A' : 'B',
	    given[0] == of_a[0] ? 'A' : 'B');
	down();
}
END_TEST

/* The header comes in parts; or it is longer than what is kept for it; or it
 * is wrong. */
START_TEST(headers_of_all_kinds)
{
	static char header[20000];
	char of_a[COOKIE], of_b[COOKIE], given[COOKIE];
	const char *part, *got;
	int fd;

	up("http_sticky SRV");
	get_cookies(of_a, of_b);
	fd = endpoint_connect(&front);
	part =
	    text("GET / HTTP/1.1\r\nCookie: SRV=%s\r\nHost: a\r\n\r\n", of_b);
	for (; *part != '\0'; part++)
		endpoint_send(fd, part, 1);
	got = endpoint_recv_all(fd);
	ck_assert_int_eq(got[strlen(got) - 1], 'B');
	ck_assert_ptr_null(strstr(got, "Set-Cookie"));
	close(fd);
	memset(header, 'x', sizeof(header) - 1);
	ck_assert_int_eq(
	    ask_with(text("Cookie: SRV=%s\r\nA: %s\r\n", of_b, header), given),
	    'B');
	ck_assert_str_eq(given, "");
	got = endpoint_ask(&front, "GET / HTTP/1.1\r\n folded: a\r\n\r\n");
	ck_assert_msg(strncmp(got, "HTTP/1.1 400 ", 13) == 0, "%s", got);
	down();
}
END_TEST

/* Who has not said its request in time is closed, without a server. */
START_TEST(silence_ends)
{
	int fd, part, accepted;

	up("http_sticky SRV; hello_timeout 1");
	accepted = a.accepted + b.accepted;
	fd = endpoint_connect(&front);
	part = endpoint_connect(&front);
	endpoint_send(part, "GET / HT", 8);
	endpoint_expect_end(fd);
	close(fd);
	close(part);
	ck_assert_int_eq(a.accepted + b.accepted, accepted);
	down();
}
END_TEST

SUITE(test_http_sticky)
{
	Suite *s = suite_create("http_sticky");

	SUITE_ADD(s, clients_stay_by_cookie, 20);
	SUITE_ADD(s, clients_stay_where_addresses_are_remembered, 20);
	SUITE_ADD(s, unknown_cookies_get_new_ones, 20);
	SUITE_ADD(s, a_server_that_is_gone, 20);
	SUITE_ADD(s, after_a_restart_in_another_order, 20);
	SUITE_ADD(s, no_cookie_unless_asked_for, 20);
	SUITE_ADD(s, within_routes, 20);
	SUITE_ADD(s, headers_of_all_kinds, 20);
	SUITE_ADD(s, silence_ends, 20);
	return s;
}
