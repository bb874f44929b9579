/* test_session_reasons.c: each way to end a session, or a flow, has its line in
 * the log with the reason. Those of PROXY headers are in test_proxy_down, those
 * of TLS streams in test_tls, pages of HTTP in test_http_pages. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/upgrading.h"
#include "support/wait.h"

enum { SOON = 10000 };

static struct backend back;
static struct endpoint front, ctl;
static struct pen pen;

/* ---- what pen says ---- */

static bool
says(const char *what)
{
	return child_has_said(&pen.child, what);
}

static void
says_reason(const char *what, const char *reason)
{
	const char *line = text("%s closed reason=%s client=", what, reason);

	WAIT_FOR(says(line), SOON);
}

static void
command(const char *line)
{
	ck_assert_ptr_null(
	    strstr(endpoint_ask(&ctl, text("%s\n", line)), "error"));
}

/* ---- servers ---- */

static void
breaks_off_later(struct backend *b, int fd)
{
	char byte;

	if (recv(fd, &byte, 1, 0) == 1 && backend_send(fd, "half", 4))
		backend_reset(b, fd);
}

/* ---- clients ---- */

static void
comes_and_goes(void)
{
	int fd = endpoint_connect(&front);

	endpoint_expect_echo(fd, "served");
	close(fd);
}

static void
breaks_off(void)
{
	int fd = endpoint_connect(&front);

	endpoint_expect_echo(fd, "served");
	endpoint_reset(fd);
}

/* Says it, and waits for the end, in whatever way that comes. */
static void
says_and_waits(const char *what, size_t n)
{
	char rest[256];
	int fd = endpoint_try_connect(&front);

	if (fd < 0)
		return; /* reset at once */
	(void)send(fd, what, n, MSG_NOSIGNAL);
	while (recv(fd, rest, sizeof(rest), 0) > 0)
		;
	close(fd);
}

static void
is_silent(void)
{
	says_and_waits("", 0);
}

static void
says_a_byte(void)
{
	says_and_waits("x", 1);
}

static void
says_a_lot(void)
{
	static char much[200000];

	memset(much, 'a', sizeof(much));
	memcpy(much, "GET /", 5);
	says_and_waits(much, sizeof(much));
}

static void
says_nonsense(void)
{
	says_and_waits("G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 27);
}

static void
ends_its_half(void)
{
	int fd = endpoint_connect(&front);
	char byte;

	ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	ck_assert_int_le(recv(fd, &byte, 1, 0), 0);
	close(fd);
}

static void
begins_a_hello(void)
{
	says_and_waits("\x16\x03\x01\x02\x00\x01", 6);
}

/* The server's end does not make it go, nor keep it from going on. */
static void
stays(void)
{
	int fd = endpoint_connect(&front);

	ck_assert_str_eq(endpoint_recv_all(fd), "bye");
	(void)send(fd, "more", 4, MSG_NOSIGNAL);
	WAIT_FOR(says(" closed "), SOON);
	close(fd);
}

/* One is served, the next one has no luck. */
static void
comes_second(void)
{
	int fd = endpoint_connect(&front);

	endpoint_expect_echo(fd, "served");
	is_silent();
	WAIT_FOR(says(" closed "), SOON);
	close(fd);
}

static void
is_there_at_the_end(void)
{
	int fd = endpoint_connect(&front);
	char byte;

	endpoint_expect_echo(fd, "served");
	ck_assert_int_eq(kill(pen.child.pid, SIGTERM), 0);
	ck_assert_int_le(recv(fd, &byte, 1, 0), 0);
	close(fd);
	ck_assert_int_eq(child_wait(&pen.child, SOON), 0);
}

static void
is_cut(void)
{
	int fd = endpoint_connect(&front);
	char byte;

	endpoint_expect_echo(fd, "served");
	command("check send x expect y; check_interval 100ms; "
		"check_timeout 100ms; check_fall 1");
	ck_assert_int_le(recv(fd, &byte, 1, 0), 0);
	close(fd);
}

static void
is_moved(void)
{
	int fd = endpoint_connect(&front);
	char byte;

	endpoint_expect_echo(fd, "served");
	command(text("prio; check connect; check_interval 100ms; server 0 prio "
		     "5; server add %s:0:0:0:1",
	    back.at.text));
	ck_assert_int_le(recv(fd, &byte, 1, 0), 0);
	close(fd);
}

/* ---- sessions ---- */

static const struct ending {
	const char *reason;
	backend_fn *serve;
	void (*client)(void);
	const char *options;
} endings[] = {
	{ "done", backend_echo, comes_and_goes, "retry 1" },
	{ "client_reset", backend_echo, breaks_off, "retry 1" },
	{ "server_reset", breaks_off_later, says_a_byte, "retry 1" },
	{ "denied", backend_echo, is_silent,
	    "acl 1 deny 127.0.0.1; client_acl 1; retry 0" },
	{ "idle_timeout", backend_hang, is_silent, "idle_timeout 200ms" },
	{ "half_timeout", backend_hang, ends_its_half, "half_timeout 200ms" },
	{ "linger_timeout", backend_say, stays, "linger 200ms" },
	{ "fastclose", backend_say, stays, "tcp_fastclose up" },
	{ "stopped", backend_echo, is_there_at_the_end, "retry 1" },
	{ "server_down", backend_echo, is_cut, "on_down cut" },
	{ "server_up", backend_echo, is_moved, "on_up cut" },
	{ "quiet_end", backend_echo, says_a_byte,
	    "max_age 200ms; quiet_end all; quiet_time 100ms" },
	{ "max_age", backend_echo, says_a_byte,
	    "max_age 200ms; quiet_end none; drain_timeout 200ms" },
	{ "queue_timeout", backend_echo, comes_second, "queue 200ms" },
	{ "hello_timeout", backend_echo, begins_a_hello,
	    "route sni a.test 0; hello_timeout 200ms" },
	{ "hello_too_long", backend_echo, says_a_lot,
	    "route host a.test 0; hello_timeout 60" },
	{ "client_conns", backend_echo, comes_second, "client_conns 1" },
	{ "client_rate", backend_echo, comes_second, "client_rate 1/60" },
	{ "tarpit", backend_echo, comes_second,
	    "client_conns 1; client_limit_action tarpit; "
	    "client_limit_time 200ms" },
	{ "bad_request", backend_echo, says_nonsense, "http" },
};

START_TEST(sessions)
{
	const struct ending *e = &endings[_i];

	backend_start(&back, ENDPOINT_TCP4, e->serve, "bye");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-C", ctl.text, "-O", e->options, front.text,
	    text("%s:1", back.at.text), NULL);
	e->client();
	says_reason("session", e->reason);
	if (e->client != is_there_at_the_end)
		pen_down(&pen);
	backend_stop(&back);
}
END_TEST

/* Of a client that no server took, too. */
START_TEST(time_in_the_queue)
{
	backend_start(&back, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", "-O", "queue 200ms", front.text,
	    text("%s:1", back.at.text), NULL);
	comes_second();
	WAIT_FOR(says(" queue_ms="), SOON);
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

/* A client without an address has at least its kind; its server is a path. */
START_TEST(unix_sockets)
{
	backend_start(&back, ENDPOINT_UNIX, backend_say, "bye");
	endpoint_new(&front, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", front.text, back.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&front), "bye");
	WAIT_FOR(says(text("session closed reason=done client=unix server=%s "
			   "up=0 down=3 ",
		     back.at.text)),
	    SOON);
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

/* Both processes write to the same file. */
START_TEST(upgrade)
{
	const char *program = upgrading_install(), *log = scratch("sessions");
	pid_t new;
	int fd;

	NEED_UPGRADES(program);
	backend_start(&back, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-r", "-C", ctl.text, "-O",
	    text("session_log %s", log), front.text, back.at.text, NULL);
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "before");
	new = upgrading_go(&ctl, pen.child.pid);
	endpoint_expect_echo(fd, "after");
	ck_assert_str_eq(endpoint_ask(&front, "new"), "new");
	close(fd);
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	WAIT_FOR(file_has(log, " up=11 down=11 ") &&
		file_has(log, " up=3 down=3 "),
	    SOON);
	upgrading_end(new);
	backend_stop(&back);
}
END_TEST

/* ---- flows ---- */

static struct udp_server server;

static void
up_udp(const char *options)
{
	udp_server_start(&server, ENDPOINT_TCP4, "a:");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-U", "-C", ctl.text, "-O", options, front.text,
	    server.at.text, NULL);
}

static void
down_udp(void)
{
	pen_down(&pen);
	udp_server_stop(&server);
}

START_TEST(idle_flow)
{
	int fd, i;

	up_udp("udp_timeout 300ms");
	fd = udp_client(&front);
	for (i = 0; i < 3; i++)
		ck_assert_str_eq(udp_ask(fd, "abcd", SOON), "a:abcd");
	says_reason("flow", "idle_timeout");
	ck_assert(says(text(" server=%s up=12 down=18 datagrams_up=3 "
			    "datagrams_down=3 first_ms=",
	    server.at.text)));
	close(fd);
	down_udp();
}
END_TEST

/* The line has the address that answered, and not what the server has now. */
START_TEST(flow_of_a_server_that_has_moved)
{
	int fd;

	up_udp("udp_timeout 1");
	fd = udp_client(&front);
	ck_assert_str_eq(udp_ask(fd, "x", SOON), "a:x");
	endpoint_ask(&ctl, "server 0 address 127.0.0.9 port 9\n");
	says_reason("flow", "idle_timeout");
	ck_assert(says(text(" server=%s up=1 ", server.at.text)));
	close(fd);
	down_udp();
}
END_TEST

START_TEST(flow_is_done)
{
	int fd;

	up_udp("udp_requests 1; udp_responses 1");
	fd = udp_client(&front);
	ck_assert_str_eq(udp_ask(fd, "x", SOON), "a:x");
	says_reason("flow", "done");
	close(fd);
	down_udp();
}
END_TEST

START_TEST(flow_is_evicted)
{
	int fd[2];

	up_udp("conn_max 1");
	fd[0] = udp_client(&front);
	fd[1] = udp_client(&front);
	ck_assert_str_eq(udp_ask(fd[0], "x", SOON), "a:x");
	ck_assert_str_eq(udp_ask(fd[1], "x", SOON), "a:x");
	says_reason("flow", "evicted");
	close(fd[0]);
	close(fd[1]);
	down_udp();
}
END_TEST

/* Nobody is there: not even the line of a session says more than that. */
START_TEST(flow_without_server)
{
	int fd;

	up_udp("retry 0");
	udp_server_stop(&server);
	fd = udp_client(&front);
	WAIT_FOR((udp_try(fd, "x", 100),
		     says("flow closed reason=no_server client=127.")),
	    SOON);
	close(fd);
	pen_down(&pen);
}
END_TEST

START_TEST(flow_is_stopped)
{
	int fd;

	up_udp("udp_timeout 60");
	fd = udp_client(&front);
	ck_assert_str_eq(udp_ask(fd, "x", SOON), "a:x");
	down_udp();
	says_reason("flow", "stopped");
	close(fd);
}
END_TEST

/* The usual end of flows is sampled. */
START_TEST(flows_are_sampled)
{
	const char *log = scratch("flows"), *line;
	int i, fd, lines;

	up_udp(text("udp_requests 1; udp_responses 1; log_sample 4; "
		    "session_log %s",
	    log));
	for (i = 0; i < 8; i++) {
		fd = udp_client(&front);
		ck_assert_str_eq(udp_ask(fd, "x", SOON), "a:x");
		close(fd);
	}
	down_udp();
	for (line = contents(log), lines = 0; *line != '\0'; lines++) {
		ck_assert_ptr_nonnull(strstr(line, " reason=done "));
		line = strchr(line, '\n') + 1;
	}
	ck_assert_int_eq(lines, 2);
}
END_TEST

SUITE(test_session_reasons)
{
	Suite *s = suite_create("session_reasons");

	SUITE_ADD_LOOP(
	    s, sessions, 60, (int)(sizeof(endings) / sizeof(endings[0])));
	SUITE_ADD(s, time_in_the_queue, 30);
	SUITE_ADD(s, unix_sockets, 60);
	SUITE_ADD(s, upgrade, 60);
	SUITE_ADD(s, idle_flow, 60);
	SUITE_ADD(s, flow_of_a_server_that_has_moved, 60);
	SUITE_ADD(s, flow_is_done, 60);
	SUITE_ADD(s, flow_is_evicted, 60);
	SUITE_ADD(s, flow_without_server, 60);
	SUITE_ADD(s, flow_is_stopped, 60);
	SUITE_ADD(s, flows_are_sampled, 60);
	return s;
}
