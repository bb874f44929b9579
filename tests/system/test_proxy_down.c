/* test_proxy_down.c: clients that come through a proxy, whose PROXY header says
 * who they are: believed of proxies alone, and for all that asks. */
#include "config.h"

#include <check.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 10000 };

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
/* 192.0.2.1:40000 to 192.0.2.2:443, in version 2 with so many bytes behind */
#define FOUR(more) \
	SIGNATURE "\x21\x11\0" more "\300\0\2\1\300\0\2\2\x9c\x40\1\xbb"
#define LINE "PROXY TCP4 192.0.2.1 192.0.2.2 40000 443\r\n"

static struct backend a;
static struct endpoint front, ctl;
static struct pen pen;

static void
up_at(enum endpoint_kind kind, const char *settings)
{
	backend_start(&a, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, kind);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-C", ctl.text, "-O",
	    "acl edge permit 127.0.0.1", "-O", "acl edge permit unix", "-O",
	    "accept_proxy edge", "-O", settings, front.text, a.at.text, NULL);
}

static void
up(const char *settings)
{
	up_at(ENDPOINT_TCP4, settings);
}

static void
down(void)
{
	pen_down(&pen);
	backend_stop(&a);
}

static bool
says(const char *line, const char *what)
{
	return strstr(endpoint_ask(&ctl, text("%s\n", line)), what) != NULL;
}

static bool
ended(const char *why, int n)
{
	return says("statistics", text("closed_%s %d\n", why, n));
}

/* The server gives back what it got. */
static void
hears(int fd, const void *bytes, size_t n)
{
	char got[1024];

	ck_assert_uint_le(n, sizeof(got));
	endpoint_recv(fd, got, n);
	ck_assert_int_eq(memcmp(got, bytes, n), 0);
}

/* ---- who it is ---- */

/* The server is told whom the header has named. */
static const struct {
	const char *header;
	size_t n;
	const char *told;
} named[] = {
#define BYTES(text) text, sizeof(text) - 1
	{ BYTES(LINE), LINE },
	{ BYTES("PROXY TCP6 2001:db8::1 ::1 1 2\r\n"),
	    "PROXY TCP6 2001:db8::1 ::1 1 2\r\n" },
	{ BYTES(FOUR("\x0c")), LINE },
	{ BYTES(FOUR("\x11") "\1\0\2h2"), LINE },
	{ BYTES(SIGNATURE "\x21\x21\0\x24"
			  "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1"
			  "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\1\0\2"),
	    "PROXY TCP6 2001:db8::1 ::1 1 2\r\n" },
};

START_TEST(named_clients)
{
	enum endpoint_kind kind = _i % 2 ? ENDPOINT_UNIX : ENDPOINT_TCP4;
	size_t n = named[_i / 2].n, cut;
	const char *h = named[_i / 2].header;
	int fd;

	up_at(kind, "proxy_protocol 1");
	for (cut = 0; cut < n; cut += 1 + n / 9) {
		fd = endpoint_connect(&front);
		if (cut > 0) {
			endpoint_send(fd, h, cut);
			WAIT_FOR(says("connections", "hello"), SOON);
		}
		endpoint_send(fd, h + cut, n - cut);
		endpoint_send(fd, "hello", 5);
		hears(fd, named[_i / 2].told, strlen(named[_i / 2].told));
		hears(fd, "hello", 5);
		endpoint_expect_echo(fd, "again");
		close(fd);
	}
	down();
}
END_TEST

/* A byte at a time. */
START_TEST(in_bytes)
{
	static const char h[] = FOUR("\x11") "\1\0\2h2hello";
	size_t i;
	int fd, one = 1;

	up("proxy_protocol 1");
	fd = endpoint_connect(&front);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (i = 0; i < sizeof(h) - 1; i++)
		endpoint_send(fd, h + i, 1);
	hears(fd, LINE "hello", sizeof(LINE) - 1 + 5);
	close(fd);
	down();
}
END_TEST

/* Nobody is named: the connection's own address counts. */
START_TEST(nobody_named)
{
	static const char *const h[] = { "PROXY UNKNOWN\r\n",
		SIGNATURE "\x20\0\0\0", SIGNATURE "\x21\0\0\0" };
	int fd;

	up("proxy_protocol 1");
	fd = endpoint_connect(&front);
	endpoint_send(fd, h[_i], _i == 0 ? strlen(h[0]) : 16);
	hears(fd, "PROXY TCP4 127.0.0.1 127.0.0.1 ", 31);
	close(fd);
	down();
}
END_TEST

/* Version 2 in, version 2 out: what the proxy knows of the client is passed
 * on. */
START_TEST(passed_on)
{
	static const char tlvs[] = "\1\0\2h2\2\0\6a.test\5\0\4id-7"
				   "\x20\0\x0f\1\0\0\0\1\x21\0\7TLSv1.3";
	static const char h[] = FOUR("\x33")
	    "\1\0\2h2\2\0\6a.test\5\0\4id-7"
	    "\x20\0\x0f\1\0\0\0\1\x21\0\7TLSv1.3";
	int fd;

	ck_assert_uint_eq(sizeof(tlvs) - 1, 0x33 - 12);
	up("proxy_protocol 2");
	fd = endpoint_connect(&front);
	endpoint_send(fd, h, sizeof(h) - 1);
	hears(fd, h, sizeof(h) - 1);
	close(fd);
	down();
}
END_TEST

/* A Unix client behind the proxy. */
START_TEST(unix_client)
{
	static const char head[] = SIGNATURE "\x21\x31\0\xd8";
	char h[16 + 216] = { 0 };
	int fd;

	up("proxy_protocol 2;acl 3 deny unix;client_acl 3");
	memcpy(h, head, 16);
	strcpy(h + 16, "/run/client");
	fd = endpoint_connect(&front);
	endpoint_send(fd, h, sizeof(h));
	WAIT_FOR(ended("denied", 1), SOON);
	close(fd);
	endpoint_ask(&ctl, "client_acl 0\n");
	fd = endpoint_connect(&front);
	endpoint_send(fd, h, sizeof(h));
	hears(fd, SIGNATURE "\x20\0\0", 16);
	ck_assert(says("connections", "unix"));
	close(fd);
	down();
}
END_TEST

/* ---- for all that asks ---- */

static int
come(const char *ip)
{
	int fd = endpoint_connect(&front);
	const char *h = text("PROXY TCP4 %s 127.0.0.1 4000 80\r\n", ip);

	endpoint_send(fd, h, strlen(h));
	return fd;
}

START_TEST(it_counts)
{
	const char *log = scratch("log");
	int fd;

	up(text("acl 3 deny 192.0.2.0/24;client_acl 3;session_log %s", log));
	fd = come("192.0.2.7");
	WAIT_FOR(ended("denied", 1), SOON);
	close(fd);
	fd = come("198.51.100.7");
	endpoint_expect_echo(fd, "hello");
	ck_assert(says("connections", "198.51.100.7"));
	close(fd);
	WAIT_FOR(file_has(log, "client=198.51.100.7:4000 via=127.0.0.1:"),
	    SOON);
	ck_assert(says("explain 198.51.100.7", "accept_proxy edge"));
	down();
}
END_TEST

/* Clients are told apart by it: each comes back to its server. */
START_TEST(sticky)
{
	struct backend b;
	int fd, i;
	char who[2][2] = { "", "" };

	backend_start(&a, ENDPOINT_TCP4, backend_say, "a");
	backend_start(&b, ENDPOINT_TCP4, backend_say, "b");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-O", "acl 5 permit 127.0.0.1", "-O",
	    "accept_proxy 5", front.text, a.at.text, b.at.text, NULL);
	for (i = 0; i < 6; i++) {
		fd = come(i % 2 ? "192.0.2.1" : "198.51.100.1");
		if (who[i % 2][0] == '\0')
			endpoint_recv(fd, who[i % 2], 1);
		else
			hears(fd, who[i % 2], 1);
		close(fd);
	}
	ck_assert_int_ne(who[0][0], who[1][0]);
	pen_down(&pen);
	backend_stop(&a);
	backend_stop(&b);
}
END_TEST

/* ---- what is refused ---- */

START_TEST(strangers)
{
	int fd;

	up("hello_timeout 60");
	fd = endpoint_connect_from(&front, "127.0.0.2");
	endpoint_expect_end(fd);
	close(fd);
	WAIT_FOR(ended("proxy_refused", 1), SOON);
	ck_assert_int_eq(a.accepted, 0);
	/* an empty list would be everybody */
	ck_assert(says("no acl edge", "is empty: it must permit the proxies "
				      "to trust"));
	endpoint_ask(&ctl, "no accept_proxy\n");
	fd = endpoint_connect_from(&front, "127.0.0.2");
	endpoint_expect_echo(fd, LINE);
	close(fd);
	down();
}
END_TEST

START_TEST(wrong_ones)
{
	static const char *const wrong[] = { "GET / HTTP/1.0\r\n\r\n",
		"PROXY TCP4 ::1 ::2 1 2\r\n",
		"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\n",
		SIGNATURE "\x21\x11\xff\xff" };
	char junk[200];
	size_t i;
	int fd;

	up("hello_timeout 60");
	for (i = 0; i < 4; i++) {
		fd = endpoint_connect(&front);
		endpoint_send(fd, wrong[i], i == 3 ? 16 : strlen(wrong[i]));
		WAIT_FOR(ended("proxy_invalid", (int)i + 1), SOON);
		close(fd);
	}
	memset(junk, ' ', sizeof(junk));
	memcpy(junk, "PROXY UNKNOWN", 13);
	fd = endpoint_connect(&front);
	endpoint_send(fd, junk, sizeof(junk));
	WAIT_FOR(ended("proxy_invalid", 5), SOON);
	close(fd);
	fd = endpoint_connect(&front);
	endpoint_send(fd, LINE, 20);
	shutdown(fd, SHUT_WR);
	endpoint_expect_end(fd);
	close(fd);
	WAIT_FOR(ended("proxy_invalid", 6), SOON);
	ck_assert_int_eq(a.accepted, 0);
	down();
}
END_TEST

START_TEST(slow_ones)
{
	int none, some;

	up("hello_timeout 0.3");
	none = endpoint_connect(&front);
	some = endpoint_connect(&front);
	endpoint_send(some, FOUR("\x0c"), 20);
	endpoint_expect_end(none);
	endpoint_expect_end(some);
	WAIT_FOR(ended("proxy_timeout", 2), SOON);
	close(none);
	close(some);
	down();
}
END_TEST

SUITE(test_proxy_down)
{
	Suite *s = suite_create("proxy_down");
	TCase *loops = tcase_create("kinds");

	tcase_set_timeout(loops, 60);
	tcase_add_loop_test(loops, named_clients, 0, 10);
	tcase_add_loop_test(loops, nobody_named, 0, 3);
	suite_add_tcase(s, loops);
	SUITE_ADD(s, in_bytes, 30);
	SUITE_ADD(s, passed_on, 30);
	SUITE_ADD(s, unix_client, 30);
	SUITE_ADD(s, it_counts, 30);
	SUITE_ADD(s, sticky, 30);
	SUITE_ADD(s, strangers, 30);
	SUITE_ADD(s, wrong_ones, 30);
	SUITE_ADD(s, slow_ones, 30);
	return s;
}
