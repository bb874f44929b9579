/* test_upgrade.c: another program takes over the sockets, what was learned, and
 * the files; or it does not come up, and nothing has happened. */
#include "config.h"

#include <check.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"

static struct backend back;
static struct endpoint front, ctl;
static struct pen pen;
static const char *program, *pid_file;

static void
prepare(enum endpoint_kind kind, backend_fn *serve)
{
	backend_start(&back, ENDPOINT_TCP4, serve, "served");
	endpoint_new(&front, kind);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pid_file = scratch("pid");
}

static void
up(const char *option, const char *value)
{
	pen_up(&pen, &front, "-p", pid_file, "-C", ctl.text, "-r", option,
	    value, front.text, back.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 10000);
}

static bool
is_in_pid_file(pid_t pid)
{
	return file_has(pid_file, text("%ld\n", (long)pid));
}

/* The old process has ended by itself, with status 0. */
static void
old_ends(void)
{
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
}

static void
end(pid_t pid)
{
	upgrading_end(pid);
	backend_stop(&back);
}

/* ---- it takes over ---- */

/* Somebody has removed the pid file: the new process writes it again. */
START_TEST(pid_file_was_removed)
{
	pid_t new;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare(ENDPOINT_TCP4, backend_say);
	up("-O", "tcp_nodelay");
	ck_assert_int_eq(unlink(pid_file), 0);
	new = upgrading_go(&ctl, pen.child.pid);
	ck_assert(is_in_pid_file(new));
	old_ends();
	ck_assert(is_in_pid_file(new));
	end(new);
	ck_assert_int_ne(access(pid_file, F_OK), 0);
}
END_TEST

START_TEST(pid_file_is_a_link)
{
	pid_t new;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare(ENDPOINT_TCP4, backend_say);
	ck_assert_int_eq(symlink("pid.target", pid_file), 0);
	up("-O", "tcp_nodelay");
	new = upgrading_go(&ctl, pen.child.pid);
	ck_assert(is_in_pid_file(new));
	old_ends();
	end(new);
	ck_assert_str_eq(contents(pid_file), "");
}
END_TEST

START_TEST(sessions_go_on)
{
	enum endpoint_kind kind = (enum endpoint_kind)_i;
	pid_t first, second;
	int old, new;

	program = upgrading_install();
	NEED_UPGRADES(program);
	if (!endpoint_has_kind(kind))
		return;
	prepare(kind, backend_echo);
	up("-O", "tcp_nodelay");
	old = endpoint_connect(&front);
	endpoint_expect_echo(old, "before");
	first = upgrading_go(&ctl, pen.child.pid);
	ck_assert(is_in_pid_file(first));
	ck_assert(child_has_said(&pen.child, "upgrading reason=\"by uid="));
	endpoint_expect_echo(old, "after");
	new = endpoint_connect(&front);
	endpoint_expect_echo(new, "new");
	ck_assert(!child_has_ended(&pen.child));
	/* and again; each process ends with its sessions */
	second = upgrading_go(&ctl, first);
	ck_assert_int_ne(second, pen.child.pid);
	ck_assert(is_in_pid_file(second));
	endpoint_expect_echo(old, "still");
	endpoint_expect_echo(new, "still");
	close(old);
	old_ends();
	ck_assert(!upgrading_has_ended(first));
	close(new);
	WAIT_FOR(upgrading_has_ended(first), 20000);
	/* files that were the old one's are the new one's to remove */
	ck_assert(is_in_pid_file(second));
	ck_assert(endpoint_is_listening(&front) && endpoint_is_listening(&ctl));
	ck_assert_str_eq(endpoint_ask(&front, "hello"), "hello");
	end(second);
	ck_assert_int_ne(access(pid_file, F_OK), 0);
	ck_assert_int_ne(access(ctl.text, F_OK), 0);
	if (kind == ENDPOINT_UNIX)
		ck_assert_int_ne(access(front.text, F_OK), 0);
}
END_TEST

/* SIGUSR2 does the same, in the background, too: there the new one has no
 * terminal either, and the log goes on where it went. */
START_TEST(in_the_background)
{
	pid_t old, new;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare(ENDPOINT_TCP4, backend_echo);
	pen_start(&pen, "-p", pid_file, "-C", ctl.text, "-r", front.text,
	    back.at.text, NULL);
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	old = upgrading_pid(&ctl);
	ck_assert(is_in_pid_file(old));
	ck_assert_int_eq(kill(old, SIGUSR2), 0);
	WAIT_FOR((new = upgrading_pid(&ctl)) != old, 60000);
	ck_assert(is_in_pid_file(new));
	WAIT_FOR(upgrading_has_ended(old), 20000);
	ck_assert_str_eq(child_link(new, "fd/0"), "/dev/null");
	ck_assert_str_eq(child_link(new, "fd/2"), "/dev/null");
	ck_assert_str_eq(endpoint_ask(&front, "hello"), "hello");
	ck_assert_str_eq(child_err(&pen.child), "");
	end(new);
}
END_TEST

/* No descriptor is left over, on either side. */
START_TEST(no_descriptor_is_lost)
{
	struct endpoint web;
	pid_t new;
	int fds;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare(ENDPOINT_TCP4, backend_echo);
	endpoint_new(&web, ENDPOINT_TCP4);
	up("--web", web.text);
	/* it listens before it has all that it needs, and answers after it */
	ck_assert_int_eq(upgrading_pid(&ctl), pen.child.pid);
	pen_expect_rest(&pen); /* the one who asked is gone there, too */
	fds = child_fds(pen.child.pid);
	if (fds < 0)
		SKIP("descriptors cannot be counted here");
	new = upgrading_go(&ctl, pen.child.pid);
	new = upgrading_go(&ctl, new);
	WAIT_FOR(child_fds(new) == fds, 10000);
	/* nor does one that is closed stay open elsewhere */
	ck_assert_str_eq(endpoint_ask(&ctl, "no web\n"), "");
	ck_assert(!endpoint_is_listening(&web));
	end(new);
}
END_TEST

/* The old process, which has sessions still, leaves the address to the new one,
 * which can leave it, too. */
START_TEST(pages_are_the_new_ones)
{
	struct endpoint web;
	pid_t new;
	int old;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare(ENDPOINT_TCP4, backend_echo);
	endpoint_new(&web, ENDPOINT_TCP4);
	up("--web", web.text);
	old = endpoint_connect(&front);
	endpoint_expect_echo(old, "before");
	new = upgrading_go(&ctl, pen.child.pid);
	ck_assert(endpoint_is_listening(&web));
	ck_assert_str_eq(endpoint_ask(&ctl, "no web\n"), "");
	WAIT_FOR(!endpoint_is_listening(&web), 10000);
	ck_assert_str_eq(endpoint_ask(&ctl, text("web %s\n", web.text)), "");
	ck_assert(endpoint_is_listening(&web));
	endpoint_expect_echo(old, "after");
	close(old);
	old_ends();
	end(new);
}
END_TEST

/* A limit after which sessions of the old one are ended. */
START_TEST(old_sessions_have_their_time)
{
	pid_t new;
	int old;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare(ENDPOINT_TCP4, backend_echo);
	up("-O", "tcp_nodelay");
	old = endpoint_connect(&front);
	endpoint_expect_echo(old, "before");
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&ctl, "upgrade x\n"), "error: upgrade: "));
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&ctl, "upgrade 0.2\n"), " serves\n"));
	old_ends();
	endpoint_expect_reset(old);
	WAIT_FOR((new = upgrading_pid(&ctl)) != pen.child.pid, 60000);
	end(new);
}
END_TEST

/* ---- it does not come up ---- */

static const struct {
	const char *content, *end, *said;
} bad[] = {
	{ "#!/bin/sh\necho no such luck >&2\necho more >&2\nexit 3\n",
	    "exit status 3", "no such luck" },
	{ "#!/bin/sh\necho a warning >&2\necho pen: no such luck >&2\nexit 1\n",
	    "exit status 1", "no such luck" },
	{ "#!/bin/sh\nkill -9 $$\n", "killed by signal 9", "" },
	{ "#!/bin/sh\nexit 0\n", "exit status 0", "" },
	/* says something else than a pen would */
	{ "#!/bin/sh\nfor fd in 3 4; do echo GET / >&$fd; done\nsleep 1000\n",
	    "killed by signal 9", "" },
	/* says that all is open, takes the state, and dies */
	{ "#!/bin/sh\nprintf P >&3\nhead -c 100 <&3 >/dev/null\n"
	  "echo half >&2\n",
	    "exit status 0", "half" },
	/* the same when the old one does not accept any more */
	{ "#!/bin/sh\nprintf P >&3\nhead -c 500 <&3 >/dev/null\nprintf L >&3\n"
	  "head -c 10 <&3 >/dev/null\nexit 5\n",
	    "exit status 5", "" },
};
enum { BAD = sizeof(bad) / sizeof(bad[0]) };

/* What the old one serves, and is asked, goes on; and the next upgrade works.
 */
static void
goes_on(int session, const char *why)
{
	pid_t new;

	WAIT_FOR(child_has_said(&pen.child, why), 20000);
	ck_assert_int_eq(upgrading_pid(&ctl), pen.child.pid);
	ck_assert(is_in_pid_file(pen.child.pid));
	endpoint_expect_echo(session, "on");
	ck_assert_str_eq(endpoint_ask(&front, "hello"), "hello");
	ck_assert_str_eq(endpoint_ask(&ctl, "server 0 weight 3\n"), "");
	upgrading_replace(program, NULL);
	/* it has the lock of the pid file, too */
	pen_expect_failure(text("running as pid %ld ", (long)pen.child.pid),
	    "-f", "-p", pid_file, scratch("other"), back.at.text, NULL);
	new = upgrading_go(&ctl, pen.child.pid);
	close(session);
	old_ends();
	ck_assert(is_in_pid_file(new));
	ck_assert_str_eq(endpoint_ask(&front, "hello"), "hello");
	end(new);
}

START_TEST(bad_programs)
{
	const char *said;
	int session;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare(ENDPOINT_UNIX, backend_echo);
	up("-O", "tcp_nodelay");
	session = endpoint_connect(&front);
	endpoint_expect_echo(session, "before");
	upgrading_replace(program, bad[_i].content);
	said = endpoint_ask(&ctl, "upgrade; pid\n");
	ck_assert_msg(
	    strstr(said, " starts\nerror: upgrade: process ") != NULL &&
		strstr(said,
		    text("(%s): \"%s\"\n", bad[_i].end, bad[_i].said)) !=
		    NULL,
	    "%s", said);
	ck_assert_msg(child_has_said(&pen.child,
			  text("status=\"%s\" output=\"%s\"", bad[_i].end,
			      bad[_i].said)),
	    "%s", child_err(&pen.child));
	goes_on(session, "old process continues");
}
END_TEST

/* Descriptors of listeners that have moved are free: what the new process
 * prints may come by one that it has for something else. */
START_TEST(listeners_have_moved)
{
	enum { MANY = 12 };
	const char *before = "", *after = "", *said;
	struct endpoint at;
	int i;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare(ENDPOINT_TCP4, backend_say);
	for (i = 0; i < MANY; i++) {
		endpoint_new(&at, ENDPOINT_TCP4);
		before = text("%s,%s", before, at.text);
		endpoint_new(&at, ENDPOINT_TCP4);
		after = text("%s,%s", after, at.text);
	}
	pen_up(&pen, &front, "-C", ctl.text, text("%s%s", front.text, before),
	    back.at.text, NULL);
	ck_assert_ptr_null(strstr(
	    endpoint_ask(&ctl, text("listen %s%s\n", front.text, after)),
	    "error"));
	upgrading_replace(program, bad[0].content);
	said = endpoint_ask(&ctl, "upgrade\n");
	ck_assert_msg(strstr(said, "no such luck") != NULL, "%s", said);
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

/* A configuration that is wrong is the new one's to find out. */
START_TEST(bad_configuration)
{
	const char *conf = scratch("pen.conf");
	int session;

	if (getenv("PEN_TEST_SANDBOX") != NULL)
		SKIP("in the sandbox an error has no text of files");
	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare(ENDPOINT_TCP4, backend_echo);
	write_file(conf,
	    text("listen %s\nserver add %s\n", front.text, back.at.text));
	pen_up(&pen, &front, "-p", pid_file, "-C", ctl.text, "-F", conf, NULL);
	session = endpoint_connect(&front);
	write_file(conf, "nonsense\n");
	ck_assert_ptr_nonnull(strstr(endpoint_ask(&ctl, "upgrade\n"),
	    ":1: unknown command \"nonsense\"\"\n"));
	write_file(conf,
	    text("listen %s\nserver add %s\n", front.text, back.at.text));
	goes_on(session, ":1: unknown command");
}
END_TEST

/* Asks for an upgrade that takes its time. */
static int
ask_and_wait(void)
{
	int fd = endpoint_connect(&ctl);
	char said[sizeof("process ")] = "";

	endpoint_send(fd, "upgrade\n", 8);
	endpoint_recv(fd, said, strlen("process "));
	ck_assert_str_eq(said, "process ");
	return fd;
}

/* While one is under way nothing may change; half a minute is all it gets. */
START_TEST(it_hangs)
{
	const char *said;
	long long began;
	int session, caller;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare(ENDPOINT_TCP4, backend_echo);
	up("-O", "tcp_nodelay");
	session = endpoint_connect(&front);
	endpoint_expect_echo(session, "before");
	upgrading_replace(program, "#!/bin/sh\nexec sleep 1000\n");
	began = wait_now_ms();
	caller = ask_and_wait();
	ck_assert_str_eq(endpoint_ask(&ctl, "upgrade\n"),
	    "error: upgrade: another upgrade is under way\n");
	ck_assert_str_eq(endpoint_ask(&ctl, "server 0 drain\n"),
	    "error: server: an upgrade is under way\n");
	ck_assert_str_eq(endpoint_ask(&front, "hello"), "hello");
	/* penctl hears of it all the time, and is told in the end */
	endpoint_set_deadline(caller, 10000);
	said = endpoint_recv_all(caller);
	ck_assert_msg(strstr(said, "starts\nerror: upgrade: process ") != NULL,
	    "%s", said);
	ck_assert_int_ge(wait_now_ms() - began, 29000);
	close(caller);
	goes_on(session, "killed by signal 9");
}
END_TEST

START_TEST(no_program)
{
	int session;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare(ENDPOINT_TCP4, backend_echo);
	up("-O", "tcp_nodelay");
	session = endpoint_connect(&front);
	ck_assert_int_eq(unlink(program), 0);
	ck_assert_str_eq(endpoint_ask(&ctl, "upgrade\n"),
	    text("error: upgrade: \"%s\": No such file or directory\n",
		program));
	kill(pen.child.pid, SIGUSR2);
	goes_on(session, "not upgraded error=\"");
}
END_TEST

/* Who ends the old one ends the new one, which does not serve yet. */
START_TEST(ended_meanwhile)
{
	char number[16] = "";
	pid_t new;
	int caller;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare(ENDPOINT_TCP4, backend_echo);
	up("-O", "tcp_nodelay");
	upgrading_replace(program, "#!/bin/sh\nexec sleep 1000\n");
	caller = ask_and_wait();
	ck_assert_int_gt(recv(caller, number, sizeof(number) - 1, 0), 0);
	new = (pid_t)strtol(number, NULL, 10);
	ck_assert_int_gt(new, 1);
	pen_down(&pen);
	ck_assert_str_eq(
	    endpoint_recv_all(caller), "error: upgrade: pen is stopping\n");
	close(caller);
	WAIT_FOR(upgrading_has_ended(new), 10000);
	backend_stop(&back);
}
END_TEST

/* ---- users and roots ---- */

/* A port that only root may open is inherited. */
START_TEST(another_user)
{
	pid_t new;

	if (geteuid() != 0)
		SKIP("needs root");
	if (getpwnam("nobody") == NULL)
		SKIP("there is no user nobody");
	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare(ENDPOINT_TCP4, backend_echo);
	ck_assert_int_eq(chmod(scratch("."), 0755), 0);
	up("-u", "nobody");
	new = upgrading_go(&ctl, pen.child.pid);
	ck_assert_int_ne(child_status_line(new, "Uid")[0], '0');
	ck_assert(is_in_pid_file(new));
	ck_assert_str_eq(endpoint_ask(&front, "hello"), "hello");
	old_ends();
	end(new);
}
END_TEST

START_TEST(another_root)
{
	const char *jail = scratch("jail");

	if (geteuid() != 0)
		SKIP("needs root");
	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare(ENDPOINT_TCP4, backend_echo);
	ck_assert_int_eq(mkdir(jail, 0755), 0);
	pen_without_leak_checker();
	up("-j", jail);
	ck_assert_str_eq(endpoint_ask(&ctl, "upgrade\n"),
	    text("error: upgrade: \"%s\": No such file or directory "
		 "inside the directory of -j, which is now the root: stop this "
		 "process, then start the new one\n",
		program));
	ck_assert_str_eq(endpoint_ask(&front, "hello"), "hello");
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

/* Its end would be the end of all in its container, of the new process, too. */
START_TEST(first_process_of_a_container)
{
	NEEDS_ONE_WORKER("unshare is the parent of the first process");
	if (system("unshare -p -f true 2>/dev/null") != 0)
		SKIP("no namespace of processes");
	setenv("PEN_TEST_WRAPPER", "unshare -p -f --kill-child", 1);
	prepare(ENDPOINT_TCP4, backend_echo);
	up("-O", "tcp_nodelay");
	ck_assert_str_eq(endpoint_ask(&ctl, "pid\n"), "1\n");
	ck_assert_str_eq(endpoint_ask(&ctl, "upgrade\n"),
	    "error: upgrade: process 1 of a container would end all others "
	    "with itself: start pen by an init process\n");
	ck_assert_str_eq(endpoint_ask(&front, "hello"), "hello");
	ck_assert_str_eq(
	    endpoint_ask(&ctl, "shutdown\n"), "stopping, 0 sessions left\n");
	old_ends();
	backend_stop(&back);
}
END_TEST

SUITE(test_upgrade)
{
	Suite *s = suite_create("upgrade");
	TCase *c = tcase_create("sessions_go_on");

	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, sessions_go_on, 0, ENDPOINT_KINDS);
	suite_add_tcase(s, c);
	SUITE_ADD(s, pid_file_was_removed, 60);
	SUITE_ADD(s, pid_file_is_a_link, 60);
	SUITE_ADD(s, in_the_background, 60);
	SUITE_ADD(s, no_descriptor_is_lost, 60);
	SUITE_ADD(s, pages_are_the_new_ones, 60);
	SUITE_ADD(s, old_sessions_have_their_time, 60);
	c = tcase_create("bad_programs");
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, bad_programs, 0, BAD);
	suite_add_tcase(s, c);
	SUITE_ADD(s, listeners_have_moved, 60);
	SUITE_ADD(s, bad_configuration, 60);
	SUITE_ADD(s, it_hangs, 120);
	SUITE_ADD(s, no_program, 60);
	SUITE_ADD(s, ended_meanwhile, 60);
	SUITE_ADD(s, first_process_of_a_container, 60);
	SUITE_ADD(s, another_user, 60);
	SUITE_ADD(s, another_root, 60);
	return s;
}
