/* test_on_state.c: the program that is run when the state of a server
 * changes; and nothing of pen gets into it. */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 10000 };

static struct backend back;
static struct endpoint front, ctl;
static struct pen pen;

static const char *
program(const char *script)
{
	return scratch_program(
	    "program", text("exec >>%s\n%s", scratch("said"), script));
}

static void
up(const char *script)
{
	backend_start(&back, ENDPOINT_TCP4, backend_say, "served");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-C", ctl.text, "--on-state",
	    program(script), front.text, back.at.text, NULL);
}

static bool
has_said(const char *what)
{
	return file_has(scratch("said"), what);
}

START_TEST(each_change)
{
	up("echo \"$PEN_SERVER $PEN_ADDRESS $PEN_PORT $PEN_WAS-$PEN_STATE "
	   "$PEN_REASON\"");
	endpoint_ask(&ctl, "server 0 drain\n");
	WAIT_FOR(has_said("up-drain by uid="), SOON);
	endpoint_ask(&ctl, "server 0 maint\n");
	endpoint_ask(&ctl, "server 0 up\n");
	WAIT_FOR(has_said("maint-up by uid="), SOON);
	ck_assert(has_said("drain-maint by uid="));
	ck_assert(
	    has_said(text("0 127.0.0.1 %s ", strrchr(back.at.text, ':') + 1)));
	pen_down(&pen);
}
END_TEST

/* A program that hangs or fails disturbs nobody, and is gone when pen is. */
START_TEST(bad_programs)
{
	up("[ $PEN_STATE = drain ] && { echo no mail >&2; exit 7; }\n"
	   "echo $$\nsleep 1000");
	endpoint_ask(&ctl, "server 0 drain\n");
	WAIT_FOR(child_has_said(&pen.child, "on_state failed server=0"), SOON);
	ck_assert(
	    child_has_said(&pen.child, "error=\"exit status 7: no mail\""));
	endpoint_ask(&ctl, "server 0 up\n");
	WAIT_FOR(has_said("\n"), SOON);
	ck_assert_str_eq(endpoint_hear(&front), "served");
	pen_down(&pen);
	WAIT_FOR(kill((pid_t)atol(contents(scratch("said"))), 0) < 0, SOON);
}
END_TEST

/* After an upgrade two processes see the same servers; the one that drains
 * leaves the program to the other. */
START_TEST(none_while_it_drains)
{
	int client;

	backend_start(&back, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-C", ctl.text, "--on-state",
	    program("echo $PEN_STATE"), front.text, back.at.text, NULL);
	client = endpoint_connect(&front);
	endpoint_expect_echo(client, "x");
	endpoint_ask(&ctl, "server 0 drain\n");
	WAIT_FOR(has_said("drain"), SOON);
	endpoint_ask(&ctl, "shutdown 600; server 0 maint\n");
	WAIT_FOR(child_has_said(&pen.child, "server maint server=0"), SOON);
	endpoint_ask(&ctl, "pid\n");
	close(client);
	ck_assert_int_eq(child_wait(&pen.child, SOON), 0);
	ck_assert(!has_said("maint"));
}
END_TEST

#ifdef __linux__

/* Whether each descriptor of pen but the first three is closed on exec. */
static void
all_closed_on_exec(pid_t pid)
{
	DIR *dir = opendir(text("/proc/%ld/fd", (long)pid));
	struct dirent *d;
	unsigned long flags;
	int n = 0;

	ck_assert_ptr_nonnull(dir);
	while ((d = readdir(dir)) != NULL) {
		const char *info, *at;

		if (d->d_name[0] == '.' || atoi(d->d_name) < 3)
			continue;
		info =
		    contents(text("/proc/%ld/fdinfo/%s", (long)pid, d->d_name));
		at = strstr(info, "flags:");
		if (at == NULL) /* gone meanwhile */
			continue;
		n++;
		flags = strtoul(at + strlen("flags:"), NULL, 8);
		ck_assert_msg(flags & 02000000UL, "descriptor %s: %s, %s",
		    d->d_name, child_link(pid, text("fd/%s", d->d_name)), info);
	}
	closedir(dir);
	ck_assert_int_gt(n, 5);
}

/* With connections, datagrams and control clients open. */
START_TEST(closed_on_exec)
{
	struct endpoint control_tcp;
	int client, control;

	if (getenv("PEN_TEST_WRAPPER") != NULL)
		SKIP("a wrapper has descriptors of its own");
	backend_start(&back, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	endpoint_new(&control_tcp, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-C", ctl.text, "-l", scratch("log"), "-p",
	    scratch("pid"), "--idlers", "3", front.text, back.at.text, NULL);
	client = endpoint_connect(&front);
	ck_assert_int_eq(write(client, "x", 1), 1);
	control = endpoint_connect(&ctl);
	WAIT_FOR(child_fds(pen.child.pid) > 14, SOON);
	all_closed_on_exec(pen.child.pid);
	close(client);
	close(control);
	pen_down(&pen);
}
END_TEST
#endif

/* By the command line, which is checked, and on a Unix socket; not on TCP. */
START_TEST(who_may_set_it)
{
	struct endpoint tcp;

	endpoint_new(&front, ENDPOINT_TCP4);
	pen_expect_failure("expects an absolute path", "--on-state", "program",
	    "--check", front.text, "127.0.0.1:1", NULL);
	pen_expect_failure("\"/nonexistent\": No such file", "--on-state",
	    "/nonexistent", "--check", front.text, "127.0.0.1:1", NULL);
	pen_expect_failure("not executable", "--on-state", "/etc/passwd",
	    "--check", front.text, "127.0.0.1:1", NULL);
	if (geteuid() == 0 && getenv("PEN_TEST_WRAPPER") != NULL)
		SKIP("a TCP control port needs another user than root");
	backend_start(&back, ENDPOINT_TCP4, backend_say, "served");
	endpoint_new(&tcp, ENDPOINT_TCP4);
	if (geteuid() == 0)
		pen_up(&pen, &front, "-u", "nobody", "-C", tcp.text, front.text,
		    back.at.text, NULL);
	else
		pen_up(&pen, &front, "-C", tcp.text, front.text, back.at.text,
		    NULL);
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&tcp, "on_state /bin/true\n"), "not on TCP"));
	ck_assert_str_eq(endpoint_ask(&tcp, "on_state\n"), "");
	pen_down(&pen);
}
END_TEST

SUITE(test_on_state)
{
	Suite *s = suite_create("on_state");

	SUITE_ADD(s, each_change, 20);
	SUITE_ADD(s, bad_programs, 20);
	SUITE_ADD(s, none_while_it_drains, 20);
#ifdef __linux__
	SUITE_ADD(s, closed_on_exec, 20);
#endif
	SUITE_ADD(s, who_may_set_it, 20);
	return s;
}
