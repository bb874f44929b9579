/* test_shutdown.c: a graceful stop: who was there goes on, who comes is
 * refused, and kept connections end when their clients lose nothing. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define SLOW	"GET /slow HTTP/1.1\r\n\r\n"
#define ANSWER	"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static struct backend back;
static struct endpoint front, ctl;
static struct pen pen;

static void
up(backend_fn *serve, const char *setting)
{
	backend_start(&back, ENDPOINT_TCP4, serve, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-d", "-r", "-O", setting, "-C", ctl.text,
	    front.text, back.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
}

static void
quit(void)
{
	ck_assert_int_eq(kill(pen.child.pid, SIGQUIT), 0);
	WAIT_FOR(!endpoint_is_listening(&front), 5000);
}

/* It ended by itself, with status 0. */
static void
ended(void)
{
	WAIT_FOR(child_has_ended(&pen.child), 20000);
	ck_assert_int_eq(pen.child.status, 0);
	backend_stop(&back);
}

/* One answer to each request, as soon as it is there as a whole; "/slow" takes
 * until a byte comes behind it. */
static void
serve_http(struct backend *b, int fd)
{
	char bytes[1024];
	size_t n = 0;
	ssize_t more;

	(void)b;
	while ((more = recv(fd, bytes + n, sizeof(bytes) - 1 - n, 0)) > 0) {
		n += (size_t)more;
		bytes[n] = '\0';
		if (strstr(bytes, "\r\n\r\n") == NULL)
			continue;
		if (strstr(bytes, "/slow") != NULL &&
		    strstr(bytes, "\r\n\r\n!") == NULL)
			continue;
		n = 0;
		if (!backend_send(fd, ANSWER, strlen(ANSWER)))
			return;
	}
}

static void
expect_answer(int fd)
{
	char bytes[sizeof(ANSWER)] = "";

	endpoint_recv(fd, bytes, sizeof(ANSWER) - 1);
	ck_assert_str_eq(bytes, ANSWER);
}

static int
ask(const char *request)
{
	int fd = endpoint_connect(&front);

	endpoint_send(fd, request, strlen(request));
	return fd;
}

static bool
tells(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* ---- who goes on ---- */

START_TEST(sessions_go_on)
{
	enum { MANY = 50 };
	int fd[MANY], i;

	up(backend_echo, "drain_timeout 0");
	for (i = 0; i < MANY; i++) {
		fd[i] = endpoint_connect(&front);
		endpoint_expect_echo(fd[i], "before");
	}
	quit();
	ck_assert_int_lt(endpoint_try_connect(&front), 0);
	ck_assert_int_eq(errno, ECONNREFUSED);
	for (i = 0; i < MANY; i++)
		endpoint_expect_echo(fd[i], "after");
	ck_assert(!child_has_ended(&pen.child));
	for (i = 0; i < MANY; i++) {
		shutdown(fd[i], SHUT_WR);
		endpoint_expect_end(fd[i]);
		close(fd[i]);
	}
	ended();
	ck_assert(child_has_said(&pen.child, "stopped sessions=0"));
}
END_TEST

/* Of no service, whether it is there or new. */
START_TEST(no_listener_is_new)
{
	struct endpoint web, other;
	int i, fd;

	up(backend_echo, "drain_timeout 0");
	endpoint_new(&web, ENDPOINT_TCP4);
	endpoint_new(&other, ENDPOINT_TCP4);
	pen_answers(&ctl,
	    text("service add web; service web listen %s; "
		 "service web server add %s",
		web.text, back.at.text),
	    web.text);
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "before");
	quit();
	pen_answers(&ctl, "service add mail; services", "mail state empty");
	for (i = 0; i < 2; i++)
		pen_answers(&ctl,
		    text("service %s listen %s", i == 0 ? "web" : "mail",
			other.text),
		    "pen is stopping and opens no new listening sockets");
	pen_answers(&ctl, text("listen %s", other.text), "pen is stopping");
	ck_assert_int_lt(endpoint_try_connect(&other), 0);
	close(fd);
	ended();
}
END_TEST

/* Those that the kernel has accepted are clients: pen stands still while they
 * connect, and is told to stop before it goes on. */
START_TEST(backlog_is_served)
{
	enum { MANY = 20 };
	int fd[MANY], i;

	up(backend_echo, "drain_timeout 0");
	pen_freeze(&pen);
	for (i = 0; i < MANY; i++)
		fd[i] = endpoint_connect(&front);
	ck_assert_int_eq(kill(pen.child.pid, SIGQUIT), 0);
	pen_thaw(&pen);
	for (i = 0; i < MANY; i++) {
		endpoint_expect_echo(fd[i], "served");
		close(fd[i]);
	}
	ended();
}
END_TEST

/* ---- quiet moments ---- */

/* A kept connection ends in order, soon; a request that is being answered gets
 * its answer first. */
START_TEST(kept_connections_end)
{
	int idle, slow, fresh;
	long long began;

	up(serve_http, "quiet_time 0.3");
	idle = ask(REQUEST);
	expect_answer(idle);
	fresh = endpoint_connect(&front);
	WAIT_FOR(back.accepted == 2, 5000);
	slow = ask(REQUEST);
	expect_answer(slow);
	endpoint_send(slow, SLOW, strlen(SLOW));
	quit();
	endpoint_expect_end(idle);
	endpoint_expect_end(fresh);
	WAIT_FOR(child_has_said(&pen.child, "reason=quiet_end"), 5000);
	for (began = wait_now_ms(); wait_now_ms() - began < 700;)
		wait_nap();
	ck_assert(!tells(slow));
	endpoint_send(slow, "!", 1);
	expect_answer(slow);
	endpoint_expect_end(slow);
	close(idle);
	close(slow);
	close(fresh);
	ended();
	ck_assert(child_has_said(&pen.child, "stopped sessions=0"));
}
END_TEST

/* A silent shell is no web client: it has until drain_timeout. So has one that
 * upgraded to another protocol, or may ask for that in the next bytes, and a
 * tunnel. */
static const char *const openings[] = {
	"SSH-2.0-a\r\n",
	"\x16\x03\x01\x02\x00\x01",
	"GET /chat HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n",
	"GET /chat HTTP/1.1\r\nHost: a\r\nUpgr",
	"CONNECT a:22 HTTP/1.1\r\nHost: a:22\r\n\r\n",
	"GET /\r\n",
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
};

START_TEST(others_are_not_cut_early)
{
	const char *opening = openings[_i];
	long long began;
	char byte;
	int fd;

	up(backend_echo, "drain_timeout 2; quiet_time 0.1");
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, opening);
	began = wait_now_ms();
	quit();
	ck_assert_int_lt(recv(fd, &byte, 1, 0), 0);
	ck_assert_int_eq(errno, ECONNRESET);
	ck_assert_int_ge(wait_now_ms() - began, 1900);
	close(fd);
	ended();
	ck_assert(child_has_said(&pen.child, "stopped sessions=1"));
	ck_assert(!child_has_said(&pen.child, "reason=quiet_end"));
}
END_TEST

/* The operator knows better. */
START_TEST(all_may_end)
{
	int fd;

	up(backend_echo, "quiet_end all; quiet_time 0.1");
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "SSH-2.0-a\r\n");
	quit();
	endpoint_expect_end(fd);
	close(fd);
	ended();
}
END_TEST

START_TEST(none_may_end)
{
	int fd;

	up(serve_http, "quiet_end none; quiet_time 0.1; drain_timeout 1");
	fd = ask(REQUEST);
	expect_answer(fd);
	quit();
	endpoint_expect_reset(fd);
	close(fd);
	ended();
}
END_TEST

/* ---- the process ---- */

/* Its files are there until it ends, and the control socket answers. */
START_TEST(files_stay_until_the_end)
{
	const char *pid = scratch("pid");
	int fd;

	backend_start(&back, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_UNIX);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-p", pid, "-r", "-C", ctl.text, front.text,
	    back.at.text, NULL);
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "x");
	ck_assert_int_eq(kill(pen.child.pid, SIGQUIT), 0);
	WAIT_FOR(access(front.text, F_OK) != 0, 5000);
	ck_assert_int_eq(access(pid, F_OK), 0);
	ck_assert_str_eq(endpoint_ask(&ctl, "mode\n"),
	    "no hash roundrobin no stubborn no weight no prio\n"
	    "stopping, 1 session left\n");
	close(fd);
	ended();
	ck_assert_int_ne(access(pid, F_OK), 0);
	ck_assert_int_ne(access(ctl.text, F_OK), 0);
}
END_TEST

START_TEST(sigterm_ends_at_once)
{
	int fd;

	up(backend_echo, "drain_timeout 0");
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "x");
	ck_assert_int_eq(kill(pen.child.pid, SIGTERM), 0);
	endpoint_expect_reset(fd);
	close(fd);
	ended();
}
END_TEST

/* The second signal ends what the first one lets take its time. Who waits for a
 * server to drain is told that this has not come about. */
START_TEST(sigquit_twice)
{
	int fd, waits;

	up(backend_echo, "drain_timeout 0");
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "x");
	waits = endpoint_connect(&ctl);
	endpoint_send(waits, "server 0 drain wait\n", 20);
	WAIT_FOR(strstr(endpoint_ask(&ctl, "servers long\n"),
		     " state drain ") != NULL,
	    5000);
	quit();
	ck_assert_int_eq(kill(pen.child.pid, SIGQUIT), 0);
	endpoint_expect_reset(fd);
	ck_assert_str_eq(endpoint_recv_all(waits),
	    "error: closed by pen before it was done\n");
	close(fd);
	close(waits);
	ended();
	ck_assert(child_has_said(&pen.child, ": stopped reason=\"SIGQUIT\""));
}
END_TEST

/* What is only half an answer ends with a reset, on TCP. */
START_TEST(half_an_answer_is_reset)
{
	char *lines = NULL, bytes[4096];
	const char *conf = scratch("long.conf");
	size_t room;
	FILE *out = open_memstream(&lines, &room);
	struct endpoint at;
	ssize_t n;
	int fd, i, little = 4096;

	if (geteuid() != 0)
		SKIP("needs root");
	endpoint_new(&at, ENDPOINT_TCP4);
	endpoint_new(&front, ENDPOINT_TCP4);
	for (i = 0; i < 4096; i++)
		fprintf(out, "server %d address 127.0.0.1 port %d\n", i, i + 1);
	ck_assert_int_eq(fclose(out), 0);
	write_file(conf, text("listen %s\n%s", front.text, lines));
	free(lines);
	pen_up(&pen, &at, "-u", "nobody", "-C", at.text, "-F", conf, NULL);
	fd = endpoint_connect(&at);
	ck_assert_int_eq(
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little)), 0);
	endpoint_send(fd, "servers json\n", 13);
	endpoint_recv(fd, bytes, 1);
	ck_assert_int_eq(kill(pen.child.pid, SIGTERM), 0);
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		;
	ck_assert_int_lt(n, 0);
	ck_assert_int_eq(errno, ECONNRESET);
	close(fd);
}
END_TEST

SUITE(test_shutdown)
{
	Suite *s = suite_create("shutdown");
	TCase *openings_ = tcase_create("others_are_not_cut_early");

	SUITE_ADD(s, sessions_go_on, 30);
	SUITE_ADD(s, no_listener_is_new, 30);
	SUITE_ADD(s, backlog_is_served, 30);
	SUITE_ADD(s, kept_connections_end, 30);
	tcase_set_timeout(openings_, 30);
	tcase_add_loop_test(openings_, others_are_not_cut_early, 0,
	    sizeof(openings) / sizeof(openings[0]));
	suite_add_tcase(s, openings_);
	SUITE_ADD(s, all_may_end, 30);
	SUITE_ADD(s, none_may_end, 30);
	SUITE_ADD(s, files_stay_until_the_end, 30);
	SUITE_ADD(s, sigterm_ends_at_once, 30);
	SUITE_ADD(s, sigquit_twice, 30);
	SUITE_ADD(s, half_an_answer_is_reset, 30);
	return s;
}
