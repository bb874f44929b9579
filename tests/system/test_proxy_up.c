/* test_proxy_up.c: what servers are told of their clients by the PROXY
 * protocol: once for each connection, first of all, and not as bytes of the
 * client. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/pattern.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 10000 };

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"

static struct backend a, b;
static struct endpoint front, ctl;
static struct pen pen;

static void
up(const char *settings)
{
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-C", ctl.text, "-O", settings, front.text,
	    a.at.text, NULL);
}

static bool
says(const char *line, const char *what)
{
	return strstr(endpoint_ask(&ctl, text("%s\n", line)), what) != NULL;
}

/* The port of a client of ours. */
static int
port_of(int fd)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);

	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	/* both families have it there */
	return ntohs(((struct sockaddr_in *)(void *)&at)->sin_port);
}

/* The server gives back what it got. */
static void
hears(int fd, const void *bytes, size_t n)
{
	char got[512];

	ck_assert_uint_le(n, sizeof(got));
	endpoint_recv(fd, got, n);
	ck_assert_int_eq(memcmp(got, bytes, n), 0);
}

static void
hears_line(int fd, enum endpoint_kind kind)
{
	const char *host = kind == ENDPOINT_TCP6 ? "::1" : "127.0.0.1";
	const char *line = text("PROXY TCP%d %s %s %d %d\r\n",
	    kind == ENDPOINT_TCP6 ? 6 : 4, host, host, port_of(fd), front.port);

	hears(fd, line, strlen(line));
}

/* A client without an address is pen itself, where that has one. */
static void
hears_ourselves(int fd, enum endpoint_kind kind)
{
	const char *host = kind == ENDPOINT_TCP6 ? "::1" : "127.0.0.1", *line;
	char got[120] = "", *end = got;
	int port;

	do
		endpoint_recv(fd, end, 1);
	while (*end++ != '\n' && end < got + sizeof(got) - 1);
	if (kind == ENDPOINT_UNIX) {
		ck_assert_str_eq(got, "PROXY UNKNOWN\r\n");
		return;
	}
	line = text(
	    "PROXY TCP%d %s %s ", kind == ENDPOINT_TCP6 ? 6 : 4, host, host);
	ck_assert_int_eq(strncmp(got, line, strlen(line)), 0);
	ck_assert_int_eq(sscanf(got + strlen(line), "%*d %d", &port), 1);
	ck_assert_int_eq(port, a.at.port);
}

/* ---- version 1 ---- */

static const enum endpoint_kind kinds[] = { ENDPOINT_TCP4, ENDPOINT_TCP6,
	ENDPOINT_UNIX };

START_TEST(lines)
{
	enum endpoint_kind in = kinds[_i % 3], out = kinds[_i / 3];
	int fd;

	if (!endpoint_has_kind(in) || !endpoint_has_kind(out))
		SKIP("no IPv6 here");
	backend_start(&a, out, backend_echo, NULL);
	endpoint_new(&front, in);
	up("proxy_protocol 1");
	fd = endpoint_connect(&front);
	endpoint_send(fd, "hello", 5);
	if (in == ENDPOINT_UNIX)
		hears_ourselves(fd, out);
	else
		hears_line(fd, in);
	hears(fd, "hello", 5);
	endpoint_expect_echo(fd, "again");
	shutdown(fd, SHUT_WR);
	endpoint_expect_end(fd);
	close(fd);
	/* it is no byte of the client's, but what the server sent is its own */
	WAIT_FOR(says("servers", " sx 10 rx "), SOON);
	pen_down(&pen);
	backend_stop(&a);
}
END_TEST

/* ---- version 2 ---- */

/* Reads a header and returns the bytes behind the addresses, `n` in all. */
static size_t
hears_binary(int fd, int family, size_t addresses, unsigned char tlvs[256])
{
	unsigned char head[16 + 36];
	size_t n;

	endpoint_recv(fd, head, 16);
	ck_assert_int_eq(memcmp(head, SIGNATURE, 12), 0);
	ck_assert_int_eq(head[12], 0x21);
	ck_assert_int_eq(head[13], family);
	n = (size_t)(head[14] << 8 | head[15]);
	ck_assert_uint_ge(n, addresses);
	ck_assert_uint_le(n - addresses, 256);
	endpoint_recv(fd, head + 16, addresses);
	endpoint_recv(fd, tlvs, n - addresses);
	ck_assert_int_eq(
	    head[16 + addresses - 4] << 8 | head[16 + addresses - 3],
	    port_of(fd));
	ck_assert_int_eq(
	    head[16 + addresses - 2] << 8 | head[16 + addresses - 1],
	    front.port);
	return n - addresses;
}

START_TEST(binary)
{
	static const int family[] = { 0x11, 0x21 };
	static const size_t size[] = { 12, 36 };
	const char *log = scratch("log");
	unsigned char one[256], two[256];
	int fd;

	if (!endpoint_has_kind(kinds[_i]))
		SKIP("no IPv6 here");
	backend_start(&a, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, kinds[_i]);
	up(text("proxy_protocol 2;session_log %s", log));
	fd = endpoint_connect(&front);
	endpoint_send(fd, "hello", 5);
	/* nothing but the number of the connection: 16 digits */
	ck_assert_uint_eq(hears_binary(fd, family[_i], size[_i], one), 19);
	hears(fd, "hello", 5);
	ck_assert_int_eq(memcmp(one, "\5\0\x10", 3), 0);
	close(fd);
	WAIT_FOR(file_has(log, text(" id=%.16s ", (char *)one + 3)), SOON);
	fd = endpoint_connect(&front);
	ck_assert_uint_eq(hears_binary(fd, family[_i], size[_i], two), 19);
	ck_assert_int_ne(memcmp(one, two, 19), 0);
	close(fd);
	pen_down(&pen);
	backend_stop(&a);
}
END_TEST

/* A ClientHello that asks for one.test, and nothing else of interest. */
static const unsigned char hello[] = { 22, 3, 1, 0, 64, 1, 0, 0, 60, 3, 3,
	[43] = 0, 0, 2, 0x13, 1, 1, 0, 0, 17, 0, 0, 0, 13, 0, 11, 0, 0, 8, 'o',
	'n', 'e', '.', 't', 'e', 's', 't' };

/* TLS that goes through to the server: routes have read the name. */
START_TEST(name_of_passing_tls)
{
	const char *log = scratch("log");
	unsigned char tlvs[256];
	int fd;

	backend_start(&a, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	up(text("proxy_protocol 2;session_log %s;route sni one.test 0", log));
	fd = endpoint_connect(&front);
	endpoint_send(fd, hello, sizeof(hello));
	ck_assert_uint_eq(hears_binary(fd, 0x11, 12, tlvs), 11 + 19);
	ck_assert_int_eq(memcmp(tlvs, "\2\0\10one.test", 11), 0);
	hears(fd, hello, sizeof(hello));
	close(fd);
	WAIT_FOR(file_has(log, " sni=one.test"), SOON);
	pen_down(&pen);
	backend_stop(&a);
}
END_TEST

/* A client on a Unix socket has no address that programs would know. */
START_TEST(unix_is_local)
{
	int fd;

	backend_start(&a, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_UNIX);
	up("proxy_protocol 2");
	fd = endpoint_connect(&front);
	hears(fd, SIGNATURE "\x20\0\0", 16);
	endpoint_expect_echo(fd, "hello");
	close(fd);
	pen_down(&pen);
	backend_stop(&a);
}
END_TEST

/* ---- when ---- */

/* Waits for the line before it speaks. */
static void
greet(struct backend *s, int fd)
{
	char c = 0;

	(void)s;
	while (c != '\n')
		if (recv(fd, &c, 1, 0) != 1)
			return;
	(void)backend_send(fd, "220 hello\r\n", 11);
	backend_echo(s, fd);
}

/* The client says nothing before the server does. */
START_TEST(server_speaks_first)
{
	static const char *const settings[] = { "proxy_protocol 1",
		"proxy_protocol 1;idlers 3" };
	int fd;

	if (_i % 2 == 1)
		NEEDS_ONE_WORKER("each worker has its part of idlers");
	backend_start(&a, kinds[_i / 2 == 0 ? 0 : 2], greet, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	up(settings[_i % 2]);
	if (_i % 2 == 1)
		WAIT_FOR(a.accepted == 3, SOON);
	fd = endpoint_connect(&front);
	hears(fd, "220 hello\r\n", 11);
	endpoint_expect_echo(fd, "HELO");
	close(fd);
	pen_down(&pen);
	backend_stop(&a);
}
END_TEST

/* Says what came with the first read. */
static void
first_read(struct backend *s, int fd)
{
	char bytes[256];
	ssize_t n = recv(fd, bytes, sizeof(bytes), 0);

	(void)s;
	if (n > 0)
		(void)backend_send(fd, bytes, (size_t)n);
}

/* A client that had to wait has spoken meanwhile: header and bytes are one
 * segment. */
START_TEST(in_one_segment)
{
	int one, two;

	backend_start(&a, ENDPOINT_TCP4, greet, NULL);
	backend_start(&b, ENDPOINT_TCP4, first_read, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	up("proxy_protocol 1;queue 60;server 0 hard 1");
	one = endpoint_connect(&front);
	hears(one, "220 hello\r\n", 11);
	two = endpoint_connect(&front);
	endpoint_send(two, "hello", 5);
	WAIT_FOR(says("statistics", "queued 1\n"), SOON);
	endpoint_ask(&ctl, text("server add %s\n", b.at.text));
	hears_line(two, ENDPOINT_TCP4);
	hears(two, "hello", 5);
	endpoint_expect_end(two);
	close(two);
	close(one);
	pen_down(&pen);
	backend_stop(&a);
	backend_stop(&b);
}
END_TEST

/* The server that takes the client has one header, whatever was tried before;
 * each server may have a version of its own. */
START_TEST(next_server)
{
	struct endpoint nobody;
	int fd;

	backend_start(&a, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&nobody, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-C", ctl.text, "-O", "proxy_protocol 2",
	    front.text, nobody.text, a.at.text, NULL);
	endpoint_ask(&ctl, "server 1 proxy_protocol 1\n");
	fd = endpoint_connect(&front);
	endpoint_send(fd, "hello", 5);
	hears_line(fd, ENDPOINT_TCP4);
	endpoint_expect_echo(fd, "hello");
	close(fd);
	ck_assert(says("statistics", "retries 1\n"));
	endpoint_ask(&ctl, "server 1 proxy_protocol off\n");
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "nothing");
	close(fd);
	pen_down(&pen);
	backend_stop(&a);
}
END_TEST

/* A client that ends at once, and one that has much to say. */
START_TEST(little_and_much)
{
	static char bytes[1 << 16];
	size_t at;
	int fd;

	backend_start(&a, ENDPOINT_TCP4, backend_echo, NULL);
	backend_start(&b, ENDPOINT_TCP4, backend_sink, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	up("proxy_protocol 1");
	fd = endpoint_connect(&front);
	shutdown(fd, SHUT_WR);
	hears_line(fd, ENDPOINT_TCP4);
	endpoint_expect_end(fd);
	close(fd);
	endpoint_ask(&ctl, text("server add %s;server 0 drain\n", b.at.text));
	fd = endpoint_connect(&front);
	for (at = 0; at < 8 << 20; at += sizeof(bytes)) {
		pattern_fill(1, at, bytes, sizeof(bytes));
		endpoint_send(fd, bytes, sizeof(bytes));
	}
	shutdown(fd, SHUT_WR);
	ck_assert_str_eq(endpoint_recv_all(fd),
	    text("received %zu\n",
		at +
		    strlen(text("PROXY TCP4 127.0.0.1 127.0.0.1 %d %d\r\n",
			port_of(fd), front.port))));
	close(fd);
	pen_down(&pen);
	backend_stop(&a);
	backend_stop(&b);
}
END_TEST

/* ---- checks ---- */

static atomic_int nobodies;

/* Counts the connections that begin with a line that names pen itself. */
static void
count_nobody(struct backend *s, int fd)
{
	static const char ours[] = "PROXY TCP4 127.0.0.1 127.0.0.1 ";
	char bytes[sizeof(ours)], c = 0;
	ssize_t n = recv(fd, bytes, sizeof(ours) - 1, MSG_WAITALL);

	if (n == sizeof(ours) - 1 && memcmp(bytes, ours, (size_t)n) == 0) {
		nobodies++;
		while (c != '\n')
			if (recv(fd, &c, 1, 0) != 1)
				return;
	}
	if (n > 0 && s->arg != NULL)
		(void)backend_send(fd, s->arg, strlen(s->arg));
	backend_echo(s, fd);
}

START_TEST(checks_are_nobody)
{
	static const char *const checks[] = { "connect", "expect hello",
		"send 'hi' expect 'hellohi'", "http /" };

	backend_start(&a, ENDPOINT_TCP4, count_nobody,
	    _i == 3 ? "HTTP/1.0 200 OK\r\n\r\n" : "hello");
	endpoint_new(&front, ENDPOINT_TCP4);
	up(text("proxy_protocol 1;check_interval 0.2;check %s", checks[_i]));
	WAIT_FOR(nobodies >= 3, SOON);
	WAIT_FOR(says("servers json", "\"check_result\":\"ok\"") ||
		says("checks", "result ok"),
	    SOON);
	pen_down(&pen);
	backend_stop(&a);
}
END_TEST

/* A port of its own for checks is told nothing, be it that of a server which
 * has none for clients. */
START_TEST(check_port)
{
	struct endpoint any;

	backend_start(&a, ENDPOINT_TCP4, backend_echo, NULL);
	backend_start(&b, ENDPOINT_TCP4, count_nobody, "hello");
	endpoint_new(&any, ENDPOINT_TCP4);
	endpoint_at_host(&front, &any, "127.0.0.2");
	if (_i == 1)
		strcpy(a.at.text, "127.0.0.1:0");
	up(text("proxy_protocol 1;check_interval 0.2;check_port %d;"
		"check send '0123456789abcdef0123456789abcdef' expect hello",
	    b.at.port));
	WAIT_FOR(b.accepted >= 2, SOON);
	ck_assert_int_eq(nobodies, 0);
	pen_down(&pen);
	backend_stop(&a);
	backend_stop(&b);
}
END_TEST

SUITE(test_proxy_up)
{
	Suite *s = suite_create("proxy_up");
	TCase *loops = tcase_create("kinds");

	tcase_set_timeout(loops, 60);
	tcase_add_loop_test(loops, lines, 0, 9);
	tcase_add_loop_test(loops, binary, 0, 2);
	tcase_add_loop_test(loops, server_speaks_first, 0, 4);
	tcase_add_loop_test(loops, checks_are_nobody, 0, 4);
	tcase_add_loop_test(loops, check_port, 0, 2);
	suite_add_tcase(s, loops);
	SUITE_ADD(s, name_of_passing_tls, 30);
	SUITE_ADD(s, unix_is_local, 30);
	SUITE_ADD(s, in_one_segment, 30);
	SUITE_ADD(s, next_server, 30);
	SUITE_ADD(s, little_and_much, 60);
	return s;
}
