/* test_penctl.c: penctl against a control server that can be long-winded, mute
 * or rude, and against pen. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/child.h"
#include "support/ctl.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static struct backend server;

/* ---- penctl as a child ---- */

static struct child c;

#define PENCTL(...) run((const char *[]){ ctl_client(), __VA_ARGS__, NULL })
static int
run(const char *const argv[])
{
	child_start(&c, argv);
	return child_wait(&c, 20000);
}

/* Runs a line of sh in which $PENCTL_PROGRAM is penctl. */
static int
shell(const char *command)
{
	const char *argv[] = { "sh", "-c", command, NULL };

	ck_assert_int_eq(setenv("PENCTL_PROGRAM", ctl_client(), 1), 0);
	return run(argv);
}

/* Gives it lines on standard input. */
static int
script(const char *options, const char *lines)
{
	const char *file = scratch("script");

	write_file(file, lines);
	return shell(text("exec \"$PENCTL_PROGRAM\" %s %s <%s", options,
	    server.at.text, file));
}

#define SAID(what)	 ck_assert_str_eq(child_out(&c), what)
#define COMPLAINED(what) ck_assert_str_eq(child_err(&c), what)

static void
up(enum endpoint_kind kind)
{
	unsetenv("PENCTL");
	backend_start(&server, kind, ctl_serve, ">\n");
}

/* ---- answers ---- */

START_TEST(statuses)
{
	const char *at;

	up(ENDPOINT_UNIX);
	at = server.at.text;
	ck_assert_int_eq(PENCTL(at, "a", "b"), 0);
	SAID("<a b>\n");
	ck_assert_int_eq(PENCTL(at, "nothing"), 0);
	SAID("");
	COMPLAINED("");
	ck_assert_int_eq(PENCTL(at, "refuse"), 1);
	SAID("");
	COMPLAINED("error: not today\n");
	ck_assert_int_eq(PENCTL("/no/such/socket", "a"), 2);
	COMPLAINED("penctl: /no/such/socket: No such file or directory\n");
	ck_assert_int_eq(PENCTL("localhost:0", "a"), 2);
	ck_assert_int_eq(PENCTL("--timeout", "soon", at, "a"), 2);
	ck_assert_int_eq(PENCTL("--tomato", at, "a"), 2);
	ck_assert_int_eq(PENCTL("--help"), 0);
	/* what is closed is not the connection */
	ck_assert_int_eq(
	    shell(text("\"$PENCTL_PROGRAM\" %s a >&-", at)), 0);
	ck_assert_int_eq(
	    shell(text("\"$PENCTL_PROGRAM\" %s refuse <&- >&-", at)), 1);
	ck_assert_int_eq(PENCTL("--version"), 0);
#ifdef HAVE_LIBEDIT
	SAID("penctl " PACKAGE_VERSION "\nlibedit: yes\n");
#else
	SAID("penctl " PACKAGE_VERSION "\nlibedit: no\n");
#endif
	backend_stop(&server);
}
END_TEST

/* The last line of an answer says it, in pen's words or in classic Pen's. */
START_TEST(refused_after_an_answer)
{
	const char *at;

	up(ENDPOINT_UNIX);
	at = server.at.text;
	ck_assert_int_eq(PENCTL(at, "refuse late"), 1);
	SAID("5\n");
	COMPLAINED("error: not any more\n");
	ck_assert_int_eq(PENCTL(at, "refuse late in pieces"), 1);
	SAID("err\nConnection\n");
	COMPLAINED("error: \n");
	ck_assert_int_eq(PENCTL(at, "no refusal"), 0);
	SAID("Connection 5 out of rangers\nend\n");
	ck_assert_int_eq(PENCTL(at, "classic close"), 1);
	SAID("Connection 5 out of range\n");
	COMPLAINED("");
	ck_assert_int_eq(PENCTL(at, "classic exit"), 1);
	SAID("Exit is not enabled; restart with -X flag\n");
	ck_assert_int_eq(script("", "a\nrefuse late\n"), 1);
	SAID("<a>\n5\n");
	backend_stop(&server);
}
END_TEST

START_TEST(words)
{
	const char *at;

	up(ENDPOINT_UNIX);
	at = server.at.text;
	ck_assert_int_eq(PENCTL(at, "a", "b c", "", "d\"\\", "#e"), 0);
	SAID("<a \"b c\" \"\" \"d\\\"\\\\\" \"#e\">\n");
	ck_assert_int_eq(PENCTL(at, "server 0 max 5"), 0);
	SAID("<server 0 max 5>\n");
	ck_assert_int_eq(PENCTL(at, "a\nexit"), 1);
	SAID("");
	backend_stop(&server);
}
END_TEST

START_TEST(beginnings)
{
	up(ENDPOINT_TCP4);
	ck_assert_int_eq(PENCTL(server.at.text, "reset"), 2);
	COMPLAINED("penctl: no reply: connection closed by pen\n");
	ck_assert_int_eq(PENCTL(server.at.text, "pieces"), 1);
	SAID("");
	COMPLAINED("error: piece by piece\n");
	ck_assert_int_eq(PENCTL(server.at.text, "almost"), 0);
	SAID("error:none\n");
	ck_assert_int_eq(PENCTL(server.at.text, "beginning"), 0);
	SAID("err");
	COMPLAINED("");
	backend_stop(&server);
}
END_TEST

static long
size_of(const char *path)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return (long)st.st_size;
}

START_TEST(big_answers)
{
	up(ENDPOINT_TCP4);
	ck_assert_int_eq(PENCTL(server.at.text, "big"), 0);
	ck_assert_int_eq(size_of(c.out), CTL_BIG);
	ck_assert_int_eq(PENCTL(server.at.text, "refuse much"), 1);
	ck_assert_int_eq(size_of(c.err), CTL_BIG + 7);
	ck_assert_int_eq(size_of(c.out), 0);
	backend_stop(&server);
}
END_TEST

/* Whether the signal is ignored, as under some supervisors, or not. */
START_TEST(broken_pipes)
{
	up(ENDPOINT_TCP4);
	ck_assert_int_eq(shell(text("\"$PENCTL_PROGRAM\" %s big | head -c 3",
			     server.at.text)),
	    0);
	SAID("bbb");
	COMPLAINED("");
	ck_assert_int_eq(shell(text("{ \"$PENCTL_PROGRAM\" %s big; "
				    "echo $? >%s; } | head -c 3",
			     server.at.text, scratch("status"))),
	    0);
	ck_assert_str_eq(contents(scratch("status")), "0\n");
	ck_assert_int_eq(
	    shell(text("trap '' PIPE; { \"$PENCTL_PROGRAM\" %s big; "
		       "echo $? >%s; } | head -c 3",
		server.at.text, scratch("status"))),
	    0);
	SAID("bbb");
	COMPLAINED("");
	ck_assert_str_eq(contents(scratch("status")), "0\n");
	if (access("/dev/full", W_OK) == 0) {
		ck_assert_int_eq(
		    shell(text("\"$PENCTL_PROGRAM\" %s big >/dev/full",
			server.at.text)),
		    2);
		ck_assert_ptr_nonnull(strstr(child_err(&c), "No space"));
	}
	backend_stop(&server);
}
END_TEST

/* ---- lines ---- */

static const char *
long_line(size_t n)
{
	static char line[CTL_LINE_SIZE];

	ck_assert_uint_lt(n, sizeof(line) - 1);
	memset(line, 'x', n);
	line[n] = '\n';
	line[n + 1] = '\0';
	return line;
}

/* Breaks off in the middle of the line, with or without a word. */
static void
serve_rudely(struct backend *b, int fd)
{
	char some[100];

	if (recv(fd, some, sizeof(some), 0) > 0 && b->arg != NULL)
		backend_say(b, fd);
}

START_TEST(long_lines)
{
	up(ENDPOINT_UNIX);
	ck_assert_int_eq(script("", long_line(65000)), 0);
	SAID("65000\n");
	ck_assert_int_eq(script("", long_line(2000000)), 0);
	SAID("2000000\n");
	backend_stop(&server);
	backend_start(&server, ENDPOINT_UNIX, serve_rudely, NULL);
	ck_assert_int_eq(script("", long_line(2000000)), 2);
	ck_assert_ptr_nonnull(strstr(child_err(&c), "no reply"));
	backend_stop(&server);
	backend_start(
	    &server, ENDPOINT_UNIX, serve_rudely, "error: too long\n");
	ck_assert_int_eq(script("", long_line(2000000)), 1);
	COMPLAINED("error: too long\n");
	backend_stop(&server);
}
END_TEST

START_TEST(lines_of_scripts)
{
	up(ENDPOINT_UNIX);
	ck_assert_int_eq(script("",
			     "\n  \n# nothing\n\t# nothing\n"
			     "a\n  b # c\nrefuse\nquit\nlast"),
	    1);
	SAID("<a>\n<b # c>\n<quit>\n<last>\n");
	COMPLAINED("error: not today\n");
	ck_assert_int_eq(script("-t 0.2", "a\nrefuse\nhang\nb\n"), 2);
	SAID("<a>\n");
	COMPLAINED(
	    "error: not today\npenctl: timed out waiting for a reply\n");
	ck_assert_int_eq(script("", ""), 0);
	backend_stop(&server);
}
END_TEST

START_TEST(json_is_the_last_word)
{
	const char *at;

	up(ENDPOINT_UNIX);
	at = server.at.text;
	ck_assert_int_eq(PENCTL("--json", at, "servers"), 0);
	SAID("<servers json>\n");
	/* of each command */
	ck_assert_int_eq(PENCTL("-j", at, "mode; blacklist"), 0);
	SAID("<mode json; blacklist json>\n");
	ck_assert_int_eq(PENCTL("-j", at, "mode", ";", "a b", "c"), 0);
	SAID("<mode json; \"a b\" c json>\n");
	ck_assert_int_eq(PENCTL(at, "-j", "server", "a b"), 0);
	SAID("<server \"a b\" json>\n");
	ck_assert_int_eq(PENCTL("-j", at, "servers all"), 0);
	SAID("<servers all json>\n");
	ck_assert_int_eq(
	    script("--json", "a # b\r\n# c\n\nd 'e  f'\ng \"h\n"), 0);
	SAID("<a json>\n<d \"e  f\" json>\n<g \"h json>\n");
	ck_assert_int_eq(PENCTL("-j", "-n", "1", at, "watch", "servers"), 0);
	SAID("<servers json>\n");
	backend_stop(&server);
}
END_TEST

START_TEST(limits_of_time)
{
	long long began = wait_now_ms();
	struct endpoint full;
	int fds[64], n;

	up(ENDPOINT_TCP4);
	ck_assert_int_eq(PENCTL("-t", "0.5", server.at.text, "hang"), 2);
	COMPLAINED("penctl: timed out waiting for a reply\n");
	ck_assert_int_eq(PENCTL("--timeout=0.5", server.at.text, "half"), 2);
	SAID("half an answer\n");
	COMPLAINED("penctl: incomplete reply: timed out\n");
	/* accepts nobody */
	endpoint_new(&full, ENDPOINT_UNIX);
	fds[0] = endpoint_listen(&full, 1);
	for (n = 1; n < 3; n++)
		fds[n] = endpoint_try_connect(&full);
	ck_assert_int_eq(PENCTL("-t", "0.2", full.text, "a"), 2);
	while (n > 0)
		close(fds[--n]);
	ck_assert_int_lt(wait_now_ms() - began, wait_scaled(8000));
	backend_stop(&server);
}
END_TEST

/* ---- addresses ---- */

static void
expect_at(const char *at)
{
	ck_assert_msg(PENCTL(at, "a") == 0, "%s: %s", at, child_err(&c));
	SAID("<a>\n");
}

START_TEST(every_address_is_tried)
{
	int port;

	if (!endpoint_has_kind(ENDPOINT_TCP6))
		SKIP("no IPv6");
	up(ENDPOINT_TCP4);
	port = server.at.port;
	expect_at(text("localhost:%d", port));
	expect_at(text("127.0.0.1:%d", port));
	expect_at(text("%d", port));
	expect_at(text(":%d", port));
	ck_assert_int_eq(PENCTL(text("[::1]:%d", port), "a"), 2);
	backend_stop(&server);
	up(ENDPOINT_TCP6);
	port = server.at.port;
	expect_at(text("[::1]:%d", port));
	expect_at(text("::1:%d", port));
	ck_assert_int_eq(PENCTL(text("127.0.0.1:%d", port), "a"), 2);
	/* both are addresses of this name, if it has both */
	if (shell("getent ahosts localhost") == 0 &&
	    strstr(child_out(&c), "::1") != NULL)
		expect_at(text("localhost:%d", port));
	backend_stop(&server);
}
END_TEST

START_TEST(whom_to_ask)
{
	struct backend other;
	const char *at;

	up(ENDPOINT_UNIX);
	at = server.at.text;
	backend_start(&other, ENDPOINT_TCP4, ctl_serve, "> by the other\n");
	ck_assert_int_eq(PENCTL("a", "b"), 2); /* no address */
	ck_assert_int_eq(setenv("PENCTL", at, 1), 0);
	ck_assert_int_eq(PENCTL("a", "b"), 0);
	SAID("<a b>\n");
	ck_assert_int_eq(PENCTL("emergency", other.at.text), 0);
	SAID(text("<emergency %s>\n", other.at.text));
	ck_assert_int_eq(PENCTL("emergency host:80"), 0);
	SAID("<emergency host:80>\n");
	ck_assert_int_eq(PENCTL(other.at.text, "a"), 0);
	SAID("<a> by the other\n");
	ck_assert_int_eq(PENCTL("-a", other.at.text, "a"), 0);
	SAID("<a> by the other\n");
	ck_assert_int_eq(setenv("PENCTL", other.at.text, 1), 0);
	ck_assert_int_eq(PENCTL("--address", at, other.at.text), 0);
	SAID(text("<%s>\n", other.at.text));
	ck_assert_int_eq(setenv("PENCTL", "", 1), 0);
	ck_assert_int_eq(PENCTL(at, "a"), 0);
	SAID("<a>\n");
	backend_stop(&other);
	backend_stop(&server);
}
END_TEST

START_TEST(with_pen)
{
	struct endpoint front, ctl;
	struct pen pen;

	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	server.at = ctl;
	pen_up(&pen, &front, "-r", "-X", "-C", ctl.text, front.text,
	    "127.0.0.1:9", NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	ck_assert_int_eq(
	    script("", "blacklist 7\n# no\nblaklist\n\nblacklist\n"), 1);
	SAID("7\n7\n");
	COMPLAINED("error: unknown command \"blaklist\" (did you mean "
		   "blacklist?)\n");
	ck_assert_int_eq(PENCTL(ctl.text, "blacklist 5; bogus"), 1);
	SAID("5\n");
	COMPLAINED("error: unknown command \"bogus\"\n");
	ck_assert_int_eq(PENCTL(ctl.text, "server 11 drain"), 1);
	/* pen's own `top clients`, not the servers of a pen named clients */
	ck_assert_int_eq(PENCTL(ctl.text, "client_conns 9"), 0);
	ck_assert_int_eq(PENCTL(ctl.text, "top", "clients", "3"), 0);
	SAID("");
	ck_assert_int_eq(PENCTL(ctl.text, "close 5"), 1);
	SAID("Connection 5 out of range\n");
	ck_assert_int_eq(script("", long_line(70000)), 1);
	COMPLAINED("error: line longer than 65536 bytes\n");
	ck_assert_int_eq(script("", long_line(2000000)), 1);
	COMPLAINED("error: line longer than 65536 bytes\n");
	/* pen ends before or after the end of its answer */
	PENCTL(ctl.text, "exit");
	ck_assert_int_eq(child_wait(&pen.child, 5000), 0);
	ck_assert_int_eq(PENCTL(ctl.text, "mode"), 2);
}
END_TEST

/* Who waits for a server to drain must not take pen's death for that. */
START_TEST(pen_dies_while_a_server_drains)
{
	const char *argv[] = { ctl_client(), NULL, "server 0 drain wait",
		NULL };
	struct endpoint front, ctl;
	struct backend echo;
	struct pen pen;
	int fd;

	unsetenv("PENCTL");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	argv[1] = ctl.text;
	backend_start(&echo, ENDPOINT_TCP4, backend_echo, NULL);
	pen_up(&pen, &front, "-r", "-C", ctl.text, front.text, echo.at.text,
	    NULL);
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "hello");
	child_start(&c, argv);
	WAIT_FOR(strstr(endpoint_ask(&ctl, "servers long\n"), "drain"), 5000);
	ck_assert_int_eq(kill(pen.child.pid, SIGKILL), 0);
	ck_assert_int_eq(child_wait(&c, 20000), 2);
	ck_assert_ptr_nonnull(strstr(child_err(&c), "penctl: "));
	child_wait(&pen.child, 20000);
	close(fd);
	backend_stop(&echo);
}
END_TEST

/* The last line says that it has. */
START_TEST(server_without_connections_has_drained)
{
	up(ENDPOINT_UNIX);
	ck_assert_int_eq(PENCTL(server.at.text, "server a drain wait"), 2);
	COMPLAINED("penctl: incomplete reply: pen exited before the server had "
		   "drained\n");
	ck_assert_int_eq(PENCTL(server.at.text, "server a remove wait"), 2);
	ck_assert_int_eq(
	    PENCTL(server.at.text, "server a drain wait; mode"), 0);
	ck_assert_int_eq(PENCTL(server.at.text, "server wait drain"), 0);
	backend_stop(&server);
}
END_TEST

SUITE(test_penctl)
{
	Suite *s = suite_create("penctl");

	SUITE_ADD(s, statuses, 20);
	SUITE_ADD(s, refused_after_an_answer, 30);
	SUITE_ADD(s, words, 20);
	SUITE_ADD(s, beginnings, 20);
	SUITE_ADD(s, big_answers, 30);
	SUITE_ADD(s, broken_pipes, 30);
	SUITE_ADD(s, long_lines, 30);
	SUITE_ADD(s, lines_of_scripts, 20);
	SUITE_ADD(s, json_is_the_last_word, 20);
	SUITE_ADD(s, limits_of_time, 30);
	SUITE_ADD(s, every_address_is_tried, 20);
	SUITE_ADD(s, whom_to_ask, 20);
	SUITE_ADD(s, with_pen, 20);
	SUITE_ADD(s, pen_dies_while_a_server_drains, 60);
	SUITE_ADD(s, server_without_connections_has_drained, 30);
	return s;
}
