/* test_requestlog.c: lines of requests in a file and as datagrams. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proxy/log/requestlog.h"
#include "support/fixture.h"
#include "support/suite.h"

static struct sink *open_log;

static void
begin(const char *path)
{
	fixture_begin();
	fixture_with(backend_echo, NULL);
	open_log = sink_open_file(fixture.loop, "request", path, &fixture.e);
	ck_assert_msg(open_log != NULL, "%s", fixture.e.text);
	frontend_set_requestlog(fixture.frontend, open_log);
}

static void
end(void)
{
	frontend_set_requestlog(fixture.frontend, NULL);
	sink_close(open_log);
	fixture_end();
	backend_stop(&fixture.backend);
}

/* Says it and waits for the echo, so that it is one read of pen. */
static void
says(int fd, const char *what)
{
	char bytes[2048];
	size_t n = strlen(what);

	ck_assert_uint_lt(n, sizeof(bytes));
	endpoint_send(fd, what, n);
	RUN_UNTIL(fixture_holds(fd, (int)n));
	endpoint_recv(fd, bytes, n);
}

/* What follows the n-th line's time; lines are CLIENT EPOCH SERVER REST. */
static const char *
line(const char *path, int n)
{
	const char *at = contents(path);
	long long when;
	int used = 0;

	while (n-- > 0 && (at = strchr(at, '\n')) != NULL)
		at++;
	if (at == NULL || *at == '\0')
		return "";
	ck_assert_msg(
	    sscanf(at, "127.0.0.1 %lld 127.0.0.1 %n", &when, &used) == 1 &&
		used > 0 && when > 1000000000,
	    "%s", at);
	at += used;
	return text("%.*s", (int)strcspn(at, "\n"), at);
}

START_TEST(lines)
{
	const char *path = scratch("lines.log");
	char long_line[1500];
	int fd;

	begin(path);
	memset(long_line, 'a', sizeof(long_line));
	long_line[sizeof(long_line) - 1] = '\0';
	fd = endpoint_connect(&fixture.front);
	says(fd, "GET /one HTTP/1.1\r\nHost: x\r\n\r\n");
	says(fd, "GET /two HTTP/1.1\r\nHost: x\r\n\r\n");
	says(fd, "\001bad\033[31m\177\ttab\303\274\302\233\377");
	says(fd, long_line);
	close(fd);
	fd = endpoint_connect(&fixture.front);
	says(fd, "another client");
	close(fd);
	RUN_UNTIL(file_has(path, "another client")); /* a second at most */
	ck_assert_str_eq(line(path, 0), "GET /one HTTP/1.1");
	ck_assert_str_eq(line(path, 1), "GET /two HTTP/1.1");
	ck_assert_str_eq(line(path, 2), "?bad?[31m?\ttab\303\274???");
	ck_assert_uint_eq(strlen(line(path, 3)), 1000);
	ck_assert_str_eq(line(path, 4), "another client");
	ck_assert_str_eq(line(path, 5), "");
	ck_assert_uint_eq(fixture_stats()->lines_lost.requests, 0);
	end();
}
END_TEST

/* More of the same request is no other one. */
START_TEST(one_line_a_request)
{
	const char *path = scratch("one.log");
	int fd;

	fixture_begin();
	fixture_with(backend_hang, NULL);
	open_log = sink_open_file(fixture.loop, "request", path, &fixture.e);
	frontend_set_requestlog(fixture.frontend, open_log);
	fd = endpoint_connect(&fixture.front);
	endpoint_send(fd, "first\n", 6);
	RUN_UNTIL(pool_server(fixture.pool, 0)->connections == 1);
	fixture_breathe();
	endpoint_send(fd, "more\n", 5);
	fixture_breathe();
	RUN_UNTIL(file_has(path, "first"));
	ck_assert_str_eq(line(path, 1), "");
	close(fd);
	end();
}
END_TEST

/* Another client found that the server's other address serves; this one stays
 * where it is. */
START_TEST(the_address_in_use)
{
	const char *path = scratch("address.log");
	struct server_spec spec;
	struct endpoint other;
	int fd;

	begin(path);
	endpoint_at_host(&other, &fixture.backend.at, "127.0.0.9");
	server_spec_init(&spec);
	spec.name = (char *)(uintptr_t) "twin";
	spec.addrs.count = 2;
	spec.addrs.addr[0] = fixture_addr(&fixture.backend.at);
	spec.addrs.addr[1] = fixture_addr(&other);
	ck_assert_ptr_nonnull(
	    pool_set_slot(fixture.pool, server_slot(0), &spec));
	fd = endpoint_connect(&fixture.front);
	says(fd, "one");
	pool_server(fixture.pool, 0)->addr_first = 1;
	says(fd, "two");
	close(fd);
	RUN_UNTIL(file_has(path, "two"));
	ck_assert_str_eq(line(path, 0), "one");
	ck_assert_str_eq(line(path, 1), "two");
	end();
}
END_TEST

/* The server has another address now; this client stays where it is. */
START_TEST(the_address_that_was)
{
	const char *path = scratch("address.log");
	struct endpoint other;
	int fd;

	begin(path);
	endpoint_at_host(&other, &fixture.backend.at, "127.0.0.9");
	fd = endpoint_connect(&fixture.front);
	says(fd, "one");
	fixture_add_server(0, &other);
	says(fd, "two");
	close(fd);
	RUN_UNTIL(file_has(path, "two"));
	ck_assert_str_eq(line(path, 0), "one");
	ck_assert_str_eq(line(path, 1), "two");
	end();
}
END_TEST

START_TEST(moved_away)
{
	const char *path = scratch("moved.log");
	int fd;

	begin(path);
	fd = endpoint_connect(&fixture.front);
	says(fd, "before");
	ck_assert_int_eq(rename(path, scratch("old")), 0);
	ck_assert_int_eq(sink_reopen(open_log, &fixture.e), 0);
	says(fd, "after");
	close(fd);
	RUN_UNTIL(file_has(path, "after"));
	ck_assert_str_eq(line(scratch("old"), 0), "before");
	ck_assert_str_eq(line(path, 0), "after");
	end();
	fixture_begin();
	ck_assert_ptr_null(sink_open_file(
	    fixture.loop, "request", scratch("no/such/file"), &fixture.e));
	ck_assert_str_eq(fixture.e.text, "No such file or directory");
	endpoint_new(&fixture.backend.at, ENDPOINT_TCP4);
	fixture_front();
	fixture_end();
}
END_TEST

/* A full disk loses lines and nothing else. */
START_TEST(no_room)
{
	int fd;

	begin("/dev/full");
	fd = endpoint_connect(&fixture.front);
	says(fd, "lost");
	RUN_UNTIL(fixture_stats()->lines_lost.requests == 1);
	says(fd, "still served");
	close(fd);
	end();
}
END_TEST

/* A socket for datagrams; with len 0 the kernel chooses its port. */
static int
collector(struct addr *at)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (at->len == 0) {
		at->len = sizeof(at->u.in);
		at->u.in = (struct sockaddr_in){ .sin_family = AF_INET };
		at->u.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	}
	ck_assert_int_eq(bind(fd, &at->u.sa, at->len), 0);
	ck_assert_int_eq(getsockname(fd, &at->u.sa, &at->len), 0);
	endpoint_set_deadline(fd, 10000);
	return fd;
}

START_TEST(datagrams)
{
	struct addr to = { .len = 0 };
	int sink = collector(&to), fd;
	char got[256] = "";

	fixture_begin();
	fixture_with(backend_echo, NULL);
	open_log = sink_open_datagram(fixture.loop, "request", &to, &fixture.e);
	ck_assert_ptr_nonnull(open_log);
	frontend_set_requestlog(fixture.frontend, open_log);
	fd = endpoint_connect(&fixture.front);
	says(fd, "GET / HTTP/1.0\r\n\r\n");
	ck_assert_int_gt(recv(sink, got, sizeof(got) - 1, 0), 0);
	ck_assert_str_eq(got, "+ 127.0.0.1 127.0.0.1 GET / HTTP/1.0\n");
	close(fd);
	close(sink);
	end();
}
END_TEST

/* What is lost while nobody listens is counted and costs no later line. */
START_TEST(collector_comes_back)
{
	struct peer who = { .family = AF_INET };
	struct sink *r;
	struct addr to = { .len = 0 };
	char got[256] = "";
	int fd = collector(&to);
	uint64_t lost = 0;

	fixture_begin();
	fixture_front();
	r = sink_open_datagram(fixture.loop, "request", &to, &fixture.e);
	ck_assert_msg(r != NULL, "%s", fixture.e.text);
	sink_count_lost(r, &lost);
	close(fd);
	requestlog_line(r, &who, NULL, "lost", 4);
	fd = collector(&to);
	requestlog_line(r, &who, NULL, "heard", 5);
	ck_assert_int_gt(recv(fd, got, sizeof(got) - 1, 0), 0);
	ck_assert_str_eq(got, "+ 0.0.0.0 none heard\n");
	ck_assert_uint_eq(lost, 1);
	sink_close(r);
	close(fd);
	fixture_end();
}
END_TEST

/* A request that goes to the second server because the first refused it has
 * one line, with the server that got it. */
START_TEST(the_next_server)
{
	const char *path = scratch("log");
	struct endpoint refusing;
	struct endpoint port;
	int fd;

	fixture_begin();
	endpoint_new(&port, ENDPOINT_TCP4);
	endpoint_at_host(&refusing, &port, "127.0.0.2");
	fixture_add_server(0, &refusing);
	backend_start(&fixture.backend, ENDPOINT_TCP4, backend_echo, NULL);
	fixture_add_server(1, &fixture.backend.at);
	fixture_front();
	open_log = sink_open_file(fixture.loop, "request", path, &fixture.e);
	ck_assert_msg(open_log != NULL, "%s", fixture.e.text);
	frontend_set_requestlog(fixture.frontend, open_log);
	fd = endpoint_connect(&fixture.front);
	says(fd, "request");
	ck_assert_uint_eq(fixture_stats()->retries, 1);
	RUN_UNTIL(file_has(path, "request"));
	ck_assert_str_eq(line(path, 0), "request"); /* of 127.0.0.1 */
	ck_assert_str_eq(line(path, 1), "");
	close(fd);
	end();
}
END_TEST

/* Sessions that are there when a log comes are logged from then on. */
START_TEST(comes_late)
{
	const char *path = scratch("late.log");
	int fd;

	fixture_begin();
	fixture_with(backend_echo, NULL);
	fd = fixture_talks();
	open_log = sink_open_file(fixture.loop, "request", path, &fixture.e);
	ck_assert_msg(open_log != NULL, "%s", fixture.e.text);
	frontend_set_requestlog(fixture.frontend, open_log);
	fixture_breathe();
	says(fd, "GET /late HTTP/1.0\r\n\r\n");
	close(fd);
	end();
	ck_assert_ptr_nonnull(strstr(contents(path), "GET /late"));
}
END_TEST

SUITE(test_requestlog)
{
	Suite *s = suite_create("requestlog");

	SUITE_ADD(s, lines, 30);
	SUITE_ADD(s, one_line_a_request, 30);
	SUITE_ADD(s, the_address_in_use, 30);
	SUITE_ADD(s, the_address_that_was, 30);
	SUITE_ADD(s, moved_away, 30);
	SUITE_ADD(s, no_room, 30);
	SUITE_ADD(s, datagrams, 30);
	SUITE_ADD(s, collector_comes_back, 30);
	SUITE_ADD(s, the_next_server, 30);
	SUITE_ADD(s, comes_late, 20);
	return s;
}
