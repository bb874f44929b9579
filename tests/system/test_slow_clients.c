/* test_slow_clients.c: slowhttptest, which opens many connections and says next
 * to nothing on them, against pen with its limits: descriptors stay few, and
 * other clients are served all the while. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/child.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 10000, SLOW = 300, CONNS = 20 };

static struct endpoint front, ctl;
static struct nginx server;
static struct pen pen;

static long
counter(const char *name)
{
	return report_number(text("\n%s", endpoint_ask(&ctl, "statistics\n")),
	    text("\n%s ", name));
}

static void
up(const char *one, const char *two)
{
	nginx_up(&server, "hello");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-C", ctl.text, "-r", "-O", one, "-O", two,
	    front.text, server.at.text, NULL);
}

static void
down(void)
{
	pen_down(&pen);
	nginx_down(&server);
}

static void
is_served(const char *host)
{
	static const char question[] =
	    "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
	int fd = endpoint_connect_from(&front, host);

	endpoint_send(fd, question, sizeof(question) - 1);
	ck_assert_ptr_nonnull(strstr(endpoint_recv_all(fd), "hello"));
	close(fd);
}

/* Runs slowhttptest, which never waits, for five turns and two seconds at
 * least. Meanwhile there are never more than `most` descriptors beyond those
 * that pen has now, and others are served. */
static void
endure(const char *kind, int most)
{
	const char *url = text("http://%s/", front.text),
		   *words[] = { "slowhttptest", kind, "-c", text("%d", SLOW),
			   "-r", text("%d", SLOW), "-i", "1", "-l", "600", "-p",
			   "1", "-u", url, NULL };
	int before = pen_fds(&pen), turns;
	long accepted = counter("accepted");
	struct child slow;
	long long began;

	child_start(&slow, words);
	WAIT_FOR(counter("accepted") >= accepted + SLOW, SOON);
	began = wait_now_ms();
	for (turns = 0; turns < 5 || wait_now_ms() - began < 2000; turns++) {
		is_served("127.0.0.2");
		if (before > 0)
			ck_assert_int_le(pen_fds(&pen), before + most);
	}
	child_stop(&slow, SIGINT);
	WAIT_FOR(counter("sessions") == 0, SOON);
}

/* Two descriptors for each connection that one client may have, and two for
 * another one. */
START_TEST(slow_headers)
{
	NEED_PROGRAM("slowhttptest");
	NEED_PROGRAM("nginx");
	up(text("client_conns %d", CONNS), "debug 0");
	endure("-H", 2 * CONNS + 4);
	ck_assert_int_ge(counter("limit_refused"), SLOW - CONNS);
	down();
}
END_TEST

START_TEST(slow_headers_with_peek)
{
	NEED_PROGRAM("slowhttptest");
	NEED_PROGRAM("nginx");
	up(text("client_conns %d", CONNS), "peek");
	endure("-H", 2 * CONNS + 4);
	ck_assert_int_ge(counter("limit_refused"), SLOW - CONNS);
	down();
}
END_TEST

/* The server is chosen by a line of the header, which is not there for long. */
START_TEST(slow_headers_with_routes)
{
	NEED_PROGRAM("slowhttptest");
	NEED_PROGRAM("nginx");
	up(text("client_conns %d", CONNS),
	    "route host nobody.example 0; route default 0");
	endure("-H", 2 * CONNS + 4);
	ck_assert_int_ge(counter("limit_refused"), SLOW - CONNS);
	down();
}
END_TEST

/* Their headers are kept, until they are complete, in pen. */
START_TEST(slow_headers_with_http)
{
	NEED_PROGRAM("slowhttptest");
	NEED_PROGRAM("nginx");
	up(text("client_conns %d", CONNS), "http");
	endure("-H", 2 * CONNS + 4);
	endure("-B", 2 * CONNS + 4);
	ck_assert_int_ge(counter("limit_refused"), 2 * (SLOW - CONNS));
	down();
}
END_TEST

START_TEST(slow_bodies)
{
	NEED_PROGRAM("slowhttptest");
	NEED_PROGRAM("nginx");
	up(text("client_conns %d", CONNS), "peek");
	endure("-B", 2 * CONNS + 4);
	ck_assert_int_ge(counter("limit_refused"), SLOW - CONNS);
	down();
}
END_TEST

START_TEST(slow_reads)
{
	NEED_PROGRAM("slowhttptest");
	NEED_PROGRAM("nginx");
	up(text("client_conns %d", CONNS), "peek");
	endure("-X", 2 * CONNS + 4);
	ck_assert_int_ge(counter("limit_refused"), SLOW - CONNS);
	down();
}
END_TEST

SUITE(test_slow_clients)
{
	Suite *s = suite_create("slow_clients");

	SUITE_ADD(s, slow_headers, 60);
	SUITE_ADD(s, slow_headers_with_peek, 60);
	SUITE_ADD(s, slow_headers_with_routes, 60);
	SUITE_ADD(s, slow_headers_with_http, 60);
	SUITE_ADD(s, slow_bodies, 60);
	SUITE_ADD(s, slow_reads, 60);
	return s;
}
