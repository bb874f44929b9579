/* test_upgrade_old.c: the process that was replaced, while its last sessions go
 * on: what it is told, by signals and by commands, and what it leaves. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"

static struct backend back;
static struct endpoint front, ctl;
static struct pen pen;
static const char *program, *conf, *logged;
static int session;

/* With a session that holds the old process. */
static void
begin(void)
{
	backend_start(&back, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	conf = scratch("pen.conf");
	logged = scratch("sessions");
	write_file(conf,
	    text("listen %s\nserver add %s\nsession_log %s\n", front.text,
		back.at.text, logged));
	pen_up(&pen, &front, "-C", ctl.text, "-F", conf, NULL);
	session = endpoint_connect(&front);
	endpoint_expect_echo(session, "before");
}

static void
end(pid_t new)
{
	close(session);
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	upgrading_end(new);
	backend_stop(&back);
}

/* How often it was said so far, by either process. */
static int
said(const char *what)
{
	return count_in(child_err(&pen.child), what);
}

/* Asks for an upgrade, and sends that signal in its middle. Returns what was
 * answered. */
static const char *
upgrade_with_signal(int signal)
{
	char begins[sizeof("process ")] = "";
	int fd = endpoint_connect(&ctl);
	const char *answer;

	endpoint_send(fd, "upgrade\n", 8);
	endpoint_recv(fd, begins, strlen("process "));
	ck_assert_int_eq(kill(pen.child.pid, signal), 0);
	endpoint_set_deadline(fd, 40000);
	answer = endpoint_recv_all(fd);
	close(fd);
	return answer;
}

/* ---- signals ---- */

/* SIGHUP to the old process is the new one's, during the upgrade and after
 * it. */
START_TEST(hangup_is_passed_on)
{
	pid_t new;

	program = upgrading_install();
	NEED_UPGRADES(program);
	begin();
	ck_assert_ptr_nonnull(
	    strstr(upgrade_with_signal(SIGHUP), " serves\n"));
	WAIT_FOR(said("reloaded reason=\"SIGHUP\"") == 1, 20000);
	new = upgrading_pid(&ctl);
	ck_assert_int_eq(said(text("SIGHUP passed on pid=%ld", (long)new)), 1);
	ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
	WAIT_FOR(said("reloaded reason=\"SIGHUP\"") == 2, 20000);
	end(new);
}
END_TEST

/* When the new process fails, SIGHUP is the old one's after all; when it has
 * ended later, the log says that nobody gets it. */
START_TEST(hangup_is_not_lost)
{
	pid_t new;

	program = upgrading_install();
	NEED_UPGRADES(program);
	begin();
	upgrading_replace(program,
	    text("#!/bin/sh\nuntil grep -q 'SIGHUP waits' %s\ndo sleep 0.1\n"
		 "done\n",
		pen.child.err));
	ck_assert_ptr_nonnull(
	    strstr(upgrade_with_signal(SIGHUP), "error: upgrade: "));
	WAIT_FOR(said("reloaded reason=\"SIGHUP\"") == 1, 20000);
	upgrading_replace(program, NULL);
	new = upgrading_go(&ctl, pen.child.pid);
	upgrading_end(new);
	/* nobody is left of it, not even for the table of processes */
	WAIT_FOR(*child_status_line(new, "State") == '\0', 20000);
	ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
	WAIT_FOR(said("SIGHUP not passed on") == 1, 20000);
	close(session);
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	backend_stop(&back);
}
END_TEST

/* The upgrade was no SIGQUIT: the first one lets sessions take their time, and
 * the second one ends them. */
START_TEST(quit_lets_sessions_finish)
{
	pid_t new;

	program = upgrading_install();
	NEED_UPGRADES(program);
	begin();
	new = upgrading_go(&ctl, pen.child.pid);
	ck_assert_int_eq(kill(pen.child.pid, SIGQUIT), 0);
	WAIT_FOR(said("stopping reason=\"SIGQUIT\" sessions=1") == 1, 20000);
	endpoint_expect_echo(session, "still");
	ck_assert(!child_has_ended(&pen.child));
	ck_assert_int_eq(kill(pen.child.pid, SIGQUIT), 0);
	endpoint_expect_reset(session);
	end(new);
}
END_TEST

/* A stop during an upgrade ends both processes, the old one with its last
 * session. */
START_TEST(stop_ends_an_upgrade)
{
	const char *got;

	program = upgrading_install();
	NEED_UPGRADES(program);
	begin();
	upgrading_replace(program, "#!/bin/sh\nexec sleep 1000\n");
	if (_i == 0) {
		got = upgrade_with_signal(SIGQUIT);
	} else {
		ck_assert_int_eq(kill(pen.child.pid, SIGUSR2), 0);
		WAIT_FOR(said("upgrading reason=\"SIGUSR2\"") == 1, 20000);
		got = text("%s pen is stopping",
		    endpoint_ask(&ctl, "shutdown\n"));
		ck_assert_ptr_nonnull(strstr(got, "stopping, 1 session left"));
	}
	ck_assert_msg(strstr(got, "pen is stopping") != NULL, "%s", got);
	WAIT_FOR(said("upgrade failed") == 1, 20000);
	ck_assert_int_eq(said("old process continues"), 0);
	endpoint_expect_echo(session, "still");
	ck_assert_int_lt(endpoint_try_connect(&front), 0);
	close(session);
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	backend_stop(&back);
}
END_TEST

/* ---- commands ---- */

static const struct {
	const char *line, *answer; /* %ld is the new process */
} commands[] = {
	{ "server 0 weight 3\n", "error: server: process %ld serves now\n" },
	{ "no acl 1\n", "error: no acl: process %ld serves now\n" },
	{ "write /dev/null\n", "error: write: process %ld serves now\n" },
	{ "reload\n", "error: reload: process %ld serves now\n" },
	{ "upgrade\n", "error: upgrade: process %ld serves now\n" },
	{ "idle_timeout\n", "Idle timeout: 0 seconds\n" },
	{ "close 4294967295\n", "Connection 4294967295 out of range\n" },
	{ "shutdown 100\n", "stopping, 1 session left\n" },
};

/* What the rest of the line wants is not the upgrade's to change again. */
START_TEST(stopped_in_the_same_line)
{
	const char *got;
	pid_t new;

	program = upgrading_install();
	NEED_UPGRADES(program);
	begin();
	got = endpoint_ask(&ctl, "upgrade; shutdown 0.2\n");
	ck_assert_msg(
	    strstr(got, " serves\nstopping, 1 session left\n") != NULL, "%s",
	    got);
	endpoint_expect_reset(session);
	WAIT_FOR((new = upgrading_pid(&ctl)) != pen.child.pid, 20000);
	end(new);
}
END_TEST

/* The first one is over when the next line is carried out. */
START_TEST(lines_after_a_failure)
{
	program = upgrading_install();
	NEED_UPGRADES(program);
	begin();
	upgrading_replace(program, "#!/bin/sh\nexit 3\n");
	ck_assert_int_eq(
	    count_in(endpoint_ask(&ctl, "prompt\nupgrade\nupgrade\nquit\n"),
		"exit status 3"),
	    2);
	close(session);
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

/* Reads to the next prompt. */
static const char *
answer_of(int fd)
{
	static char answer[4096];
	size_t n = 0;

	do {
		ck_assert_uint_lt(n, sizeof(answer) - 1);
		endpoint_recv(fd, answer + n, 1);
		answer[++n] = '\0';
	} while (n < 5 || strcmp(answer + n - 5, "pen> ") != 0);
	answer[n - 5] = '\0';
	return answer;
}

/* A long answer is finished, and so is a wait for the last session. */
START_TEST(answers_are_finished)
{
	char *servers = NULL, bytes[4096], last = 0;
	const char *answer;
	size_t room;
	FILE *out = open_memstream(&servers, &room);
	int fd, waits, i;
	ssize_t n;
	pid_t new;

	program = upgrading_install();
	NEED_UPGRADES(program);
	begin();
	for (i = 1; i < 4000; i++)
		fprintf(out, "server %d address 127.0.0.1 port 9\n", i);
	ck_assert_int_eq(fclose(out), 0);
	write_file(conf,
	    text("listen %s\nserver add %s\n%s", front.text, back.at.text,
		servers));
	free(servers);
	ck_assert_str_eq(endpoint_ask(&ctl, "reload\n"), "");
	fd = endpoint_connect(&ctl);
	endpoint_send(fd, "servers json\n", 13);
	endpoint_recv(fd, bytes, 1);
	waits = endpoint_connect(&ctl);
	endpoint_send(waits, "server 0 drain wait 60\n", 23);
	WAIT_FOR(said("command \"server 0 drain wait 60\"") == 1, 10000);
	new = upgrading_go(&ctl, pen.child.pid);
	close(session);
	/* after how many are left, if the upgrade took longer than a second */
	answer = endpoint_recv_all(waits);
	ck_assert_msg(strstr(answer, "server 0: no connections left\n") != NULL,
	    "%s", answer);
	ck_assert(!child_has_ended(&pen.child));
	while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		last = bytes[n - 1];
	ck_assert_int_eq(last, '\n');
	close(fd);
	close(waits);
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	upgrading_end(new);
	backend_stop(&back);
}
END_TEST

/* A control session that was open before still talks to the old process. */
START_TEST(changes_are_refused)
{
	char wanted[200];
	const char *got;
	int fd;
	pid_t new;
	size_t i;

	program = upgrading_install();
	NEED_UPGRADES(program);
	begin();
	fd = endpoint_connect(&ctl);
	endpoint_send(fd, "prompt\n", 7);
	ck_assert_str_eq(answer_of(fd), "");
	new = upgrading_go(&ctl, pen.child.pid);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		endpoint_send(fd, commands[i].line, strlen(commands[i].line));
		got = answer_of(fd);
		if (strstr(commands[i].answer, "%ld") == NULL)
			ck_assert_str_eq(got, commands[i].answer);
		snprintf(wanted, sizeof(wanted), "process %ld serves now\n",
		    (long)new);
		if (strstr(commands[i].answer, "%ld") != NULL)
			ck_assert_msg(strstr(got, wanted) != NULL, "%s", got);
	}
	endpoint_expect_echo(session, "still");
	close(fd);
	end(new);
}
END_TEST

/* ---- files ---- */

static bool
has_open(pid_t pid, const char *path)
{
	int fd;

	for (fd = 3; fd < 100; fd++)
		if (strcmp(child_link(pid, text("fd/%d", fd)), path) == 0)
			return true;
	return false;
}

static long
lacks_log(pid_t pid)
{
	return !has_open(pid, logged);
}

/* Logs that are moved away, which the new process is told of: the old one finds
 * them, too. */
START_TEST(logs_are_followed)
{
	pid_t new;

	program = upgrading_install();
	NEED_UPGRADES(program);
	begin();
	if (!has_open(pen.child.pid, logged))
		SKIP("descriptors cannot be told here");
	new = upgrading_go(&ctl, pen.child.pid);
	ck_assert_int_eq(rename(logged, scratch("sessions.1")), 0);
	ck_assert_int_eq(kill(new, SIGHUP), 0);
	WAIT_FOR(has_open(new, logged), 20000);
	WAIT_FOR(pen_sum(&pen, lacks_log) == 0, 20000);
	close(session);
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	ck_assert(file_has(logged, "reason=done"));
	end(new);
}
END_TEST

/* ---- the switch ---- */

/* A new program that hangs when nobody accepts any more has two seconds. */
START_TEST(new_one_hangs_at_the_switch)
{
	program = upgrading_install();
	NEED_UPGRADES(program);
	begin();
	upgrading_replace(program,
	    "#!/bin/sh\nprintf P >&3\nhead -c 500 <&3 >/dev/null\n"
	    "printf L >&3\nexec sleep 1000\n");
	ck_assert_ptr_nonnull(strstr(endpoint_ask(&ctl, "upgrade\n"),
	    "it does not serve within 2 seconds"));
	ck_assert_str_eq(endpoint_ask(&front, "hello"), "hello");
	close(session);
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

SUITE(test_upgrade_old)
{
	Suite *s = suite_create("upgrade_old");
	TCase *c = tcase_create("stop_ends_an_upgrade");

	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, stop_ends_an_upgrade, 0, 2);
	suite_add_tcase(s, c);
	SUITE_ADD(s, hangup_is_passed_on, 60);
	SUITE_ADD(s, hangup_is_not_lost, 60);
	SUITE_ADD(s, quit_lets_sessions_finish, 60);
	SUITE_ADD(s, stopped_in_the_same_line, 60);
	SUITE_ADD(s, lines_after_a_failure, 60);
	SUITE_ADD(s, answers_are_finished, 60);
	SUITE_ADD(s, changes_are_refused, 60);
	SUITE_ADD(s, logs_are_followed, 60);
	SUITE_ADD(s, new_one_hangs_at_the_switch, 60);
	return s;
}
