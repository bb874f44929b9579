/* test_check_exec.c: a program finds out how a server is: what it is told, what
 * its end means, and that nothing of it is left. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check_fixture.h"
#include "support/child.h"
#include "support/suite.h"

enum { LONG = 600000, SHORT = 300 };

static struct endpoint at;
static int fds_before;

static void
begin_at(enum endpoint_kind kind, uint64_t timeout_ms)
{
	fds_before = child_fds(getpid());
	endpoint_new(&at, kind);
	check_fixture_begin(&at);
	check_fixture_front(timeout_ms);
}

static void
begin(uint64_t timeout_ms)
{
	begin_at(ENDPOINT_TCP4, timeout_ms);
}

static void
finish(void)
{
	check_fixture_stop();
	RUN_UNTIL(programs_count(check_fixture_programs) == 0);
	if (!suite_is_in_valgrind()) {
		ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
		ck_assert_int_eq(errno, ECHILD);
	}
	check_fixture_end();
}

/* A check by a program of these lines. */
static const char *
script(const char *lines, const char *arguments)
{
	return text(
	    "exec %s %s", scratch_program("script", lines), arguments);
}

START_TEST(ends)
{
	begin(LONG);
	check_fixture_good("exec /bin/true", "exit status 0");
	check_fixture_bad("exec /bin/false", "exit status 1");
	check_fixture_good(script("echo fine", ""), "fine");
	check_fixture_bad(script("echo no route >&2; exit 3", ""), "no route");
	check_fixture_bad(script("echo here; kill -9 $$", ""),
	    "killed by signal 9 (Killed): here");
	/* valgrind copies the memory that tells of it */
	if (!suite_is_in_valgrind())
		check_fixture_bad("exec /nonexistent/program",
		    "not executed: No such file or directory");
	finish();
}
END_TEST

START_TEST(address)
{
	const char *port;

	begin(LONG);
	port = strrchr(at.text, ':') + 1;
	check_fixture_good("exec /bin/echo", text("127.0.0.1 %s", port));
	check_fixture_good("exec /bin/echo h={address} {port}/tcp {name}",
	    text("h=127.0.0.1 %s/tcp {name}", port));
	check_fixture_good(
	    "exec /bin/echo {port}{port}", text("%s%s", port, port));
	check_fixture_good(script("echo $PEN_SERVER $PEN_NAME $PEN_ADDRESS "
				  "$PEN_PORT $PEN_STATE",
			       ""),
	    text("0 %s 127.0.0.1 %s up", at.text, port));
	finish();
}
END_TEST

START_TEST(address_of_a_unix_socket)
{
	begin_at(ENDPOINT_UNIX, LONG);
	check_fixture_good(
	    script("echo $# \"$1\" \"$2\" $PEN_ADDRESS x$PEN_PORT", ""),
	    text("2 %s  %s x", at.text, at.text));
	finish();
}
END_TEST

START_TEST(too_slow)
{
	begin(SHORT);
	check_fixture_bad(script("sleep 1000 & echo x; sleep 1000", ""),
	    "timed out waiting for the end of the program");
	check_fixture_bad("exec /usr/bin/yes",
	    "timed out waiting for the end of the program");
	finish();
}
END_TEST

/* A server that is no more, or is checked in another way. */
START_TEST(stopped)
{
	struct checker_target t = { .spec = NULL };

	begin(LONG);
	t.spec = check_spec_read(script("sleep 1000", ""), &fixture.e);
	checker_set(check_fixture, server_slot(0), &t, true);
	check_spec_drop(t.spec);
	RUN_UNTIL(programs_count(check_fixture_programs) == 1);
	check_fixture_good("exec /bin/true", "exit status 0");
	finish();
}
END_TEST

START_TEST(many_times)
{
	int i, fds;

	begin(LONG);
	check_fixture_good("exec /bin/true", "exit status 0");
	fds = child_fds(getpid());
	for (i = 0; i < 50; i++)
		check_fixture_good("exec /bin/true", "exit status 0");
	ck_assert_int_eq(child_fds(getpid()), fds);
	finish();
}
END_TEST

START_TEST(words)
{
	check_fixture_refuses("exec", "expects the absolute path");
	check_fixture_refuses("exec program", "expects the absolute path");
	check_fixture_refuses("exec ./program x", "expects the absolute path");
}
END_TEST

SUITE(test_check_exec)
{
	Suite *s = suite_create("check_exec");

	SUITE_ADD(s, ends, 20);
	SUITE_ADD(s, address, 20);
	SUITE_ADD(s, address_of_a_unix_socket, 20);
	SUITE_ADD(s, too_slow, 20);
	SUITE_ADD(s, stopped, 20);
	SUITE_ADD(s, many_times, 20);
	SUITE_ADD(s, words, 10);
	return s;
}
