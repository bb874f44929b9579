/* test_prompt.c: penctl at a terminal. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/backend.h"
#include "support/ctl.h"
#include "support/suite.h"
#include "system/terminal.h"
#include "support/wait.h"

static struct backend server;
static struct terminal t;

/* It shows the prompt before it sets the terminal. */
static bool
awaits_a_line(const char *what)
{
#ifdef HAVE_LIBEDIT
	return terminal_shows(&t, what) && terminal_is_edited(&t);
#else
	return terminal_shows(&t, what);
#endif
}

static void
sit_down(void)
{
	const char *argv[] = { ctl_client(), "-t", "5", server.at.text, NULL };

	ck_assert_int_eq(setenv("TERM", "xterm", 1), 0);
	terminal_start(&t, argv);
	WAIT_FOR(awaits_a_line("pen> "), 5000);
}

/* Types, and waits for what comes of it. */
static void
type(const char *keys, const char *what)
{
	terminal_clear(&t);
	terminal_type(&t, keys);
	WAIT_FOR(awaits_a_line(what), 5000);
}

/* A Ctrl-C that arrives while the key before it is shown has no effect. */
static bool
prompts_after_interrupt(void)
{
	if (awaits_a_line("pen> "))
		return true;
	terminal_type(&t, "\003");
	return false;
}

static int
leave(void)
{
	terminal_type(&t, "\004");
	return terminal_wait(&t, 5000);
}

static void
at_home(enum endpoint_kind kind)
{
	unsetenv("PENCTL");
	backend_start(&server, kind, ctl_serve, ">\n");
	unsetenv("XDG_STATE_HOME");
	ck_assert_int_eq(setenv("HOME", scratch(""), 1), 0);
}

START_TEST(prompts)
{
	at_home(ENDPOINT_TCP4);
	sit_down();
	type("mode\n", "<mode>\r\npen> ");
	type("\n", "pen> ");
	type("beginning\n", "err\r\npen> ");
	type("exit\n", "<exit>\r\npen> ");
	terminal_clear(&t);
	terminal_type(&t, "half a li");
	WAIT_FOR(prompts_after_interrupt(), 5000);
	type("reset\n",
	    "no reply: connection closed by pen\r\npen> ");
	type("refuse\n", "error: not today\r\npen> ");
	terminal_type(&t, "quit\n");
	ck_assert_int_eq(terminal_wait(&t, 5000), 1);
	sit_down();
	type("mode\n", "<mode>\r\npen> ");
	ck_assert_int_eq(leave(), 0);
	sit_down();
	WAIT_FOR(atomic_load(&server.open) == 0, 5000);
	terminal_type(&t, "hang\n");
	WAIT_FOR(atomic_load(&server.open) == 1, 5000);
	terminal_type(&t, "\003");
	ck_assert_int_eq(terminal_wait(&t, 5000), 1000 + 2);
	backend_stop(&server);
}
END_TEST

START_TEST(completes)
{
#ifndef HAVE_LIBEDIT
	SKIP("built without libedit");
#endif
	at_home(ENDPOINT_UNIX);
	sit_down();
	type("ac\t1\n", "<acl 1>\r\npen> ");
	type("se\t\t", "servers ");
	type("s\n", "<servers>\r\npen> ");
	type("no stu\t\n", "<no stubborn>\r\npen> ");
	type("help ac\t\n", "<help acl>\r\npen> ");
	type("acl ac\t\n", "<acl ac>\r\npen> ");
	type("mo\t\n", "<mo>\r\npen> ");
	terminal_type(&t, "quit\n");
	ck_assert_int_eq(terminal_wait(&t, 5000), 0);
	/* eight commands, asked once */
	ck_assert_int_eq(atomic_load(&server.accepted), 7);
	backend_stop(&server);
}
END_TEST

/* Nobody there to say the names: typing goes on. */
START_TEST(completes_nothing)
{
#ifndef HAVE_LIBEDIT
	SKIP("built without libedit");
#endif
	at_home(ENDPOINT_UNIX);
	backend_stop(&server);
	backend_start(&server, ENDPOINT_UNIX, backend_say, "error: no help\n");
	sit_down();
	type("er\tr\t\n", "error: no help\r\npen> ");
	terminal_type(&t, "quit\n");
	ck_assert_int_eq(terminal_wait(&t, 5000), 1);
	ck_assert_int_eq(atomic_load(&server.accepted), 2);
	backend_stop(&server);
}
END_TEST

START_TEST(remembers)
{
#ifndef HAVE_LIBEDIT
	SKIP("built without libedit");
#endif
	const char *file;
	struct stat st;

	at_home(ENDPOINT_UNIX);
	file = text("%s/.penctl_history", getenv("HOME"));
	sit_down();
	type("first line\n", "<first line>\r\npen> ");
	type("second\n", "<second>\r\npen> ");
	type("\020\020\n", "<first line>\r\npen> ");
	terminal_type(&t, "quit\n");
	ck_assert_int_eq(terminal_wait(&t, 5000), 0);
	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	sit_down();
	type("\020\020\n", "<second>\r\npen> ");
	ck_assert_int_eq(leave(), 0);
	/* elsewhere, where it cannot be written */
	ck_assert_int_eq(setenv("XDG_STATE_HOME", "/proc/none", 1), 0);
	sit_down();
	type("third\n", "<third>\r\npen> ");
	type("\020\n", "<third>\r\npen> ");
	ck_assert_int_eq(leave(), 0);
	ck_assert_ptr_null(strstr(contents(file), "third"));
	backend_stop(&server);
}
END_TEST

SUITE(test_prompt)
{
	Suite *s = suite_create("prompt");

	SUITE_ADD(s, prompts, 30);
	SUITE_ADD(s, completes, 30);
	SUITE_ADD(s, completes_nothing, 30);
	SUITE_ADD(s, remembers, 30);
	return s;
}
