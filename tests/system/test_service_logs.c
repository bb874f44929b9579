/* test_service_logs.c: session_log and log_sample of services: their own, from
 * "defaults", or those before the first section; a destination of several is
 * open once. */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/services_fixture.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"

enum { SOON = 20000, SERVICES = 3 };

static const char *one, *two, *old;

static void
begin(void)
{
	services_begin();
	one = scratch("one.log");
	two = scratch("two.log");
	old = scratch("old.log");
}

/* Sections s0, s1 and so on; each has its lines. */
static const char *
sections(const char *before, const char *const lines[SERVICES])
{
	const char *all = before;
	int i;

	for (i = 0; i < SERVICES; i++)
		all = text("%s%slog_format '{service} {reason}'\n%s", all,
		    services_section(i, "", ""), lines[i]);
	return all;
}

static void
visit(int i, int times)
{
	while (times-- > 0)
		ck_assert_str_eq(endpoint_hear(&services.front[i]), "served");
}

static int
lines_of(const char *path, int i)
{
	return access(path, F_OK) == 0
	    ? count_in(contents(path), text("s%d done\n", i))
	    : 0;
}

/* How many descriptors of pen lead to that file. */
static int
open_count(const char *path)
{
	const char *name = strrchr(path, '/');
	const char *dir = text("/proc/%ld/fd", (long)services.pen.child.pid);
	char to[4096];
	struct dirent *d;
	DIR *all = opendir(dir);
	int count = 0;
	ssize_t n;

	ck_assert_ptr_nonnull(all);
	while ((d = readdir(all)) != NULL) {
		n = readlink(text("%s/%s", dir, d->d_name), to, sizeof(to) - 1);
		to[n > 0 ? n : 0] = '\0';
		count += n > 0 && strstr(to, name) != NULL;
	}
	closedir(all);
	return count;
}

/* All, and one in ten, each in its file, which is moved away and opened again;
 * a reload moves one. */
START_TEST(two_services_two_files)
{
	static const char *const modes[] = { "", "workers 2\n",
		"sandbox on\n" };
	const char *three = scratch("three.log"), *lines[SERVICES];

	if (_i == 2)
		NEEDS_SANDBOX();
	begin();
	lines[0] = text("session_log %s\nlog_sample 1\n", one);
	lines[1] = text("session_log %s\nlog_sample 10\n", two);
	lines[2] = "session_log off\nno log_format\n";
	services_up(sections(modes[_i], lines));
	visit(0, 20);
	visit(1, 20);
	visit(2, 5);
	WAIT_FOR(lines_of(one, 0) == 20, SOON);
	if (_i != 1 && pen_workers() == 1)
		WAIT_FOR(lines_of(two, 1) == 2, SOON);
	ck_assert_int_eq(lines_of(one, 1), 0);
	ck_assert_int_eq(rename(one, old), 0);
	ck_assert_int_eq(kill(services.pen.child.pid, SIGHUP), 0);
	WAIT_FOR(access(one, F_OK) == 0, SOON);
	visit(0, 1);
	WAIT_FOR(lines_of(one, 0) == 1, SOON);
	lines[1] = text("session_log %s\nlog_sample 1\n", three);
	write_file(services.conf, sections(modes[_i], lines));
	ck_assert_str_eq(pen_ask(&services.ctl, "reload"), "");
	visit(0, 1);
	visit(1, 3);
	WAIT_FOR(lines_of(three, 1) == 3, SOON);
	WAIT_FOR(lines_of(one, 0) == 2, SOON);
	ck_assert_int_eq(open_count(two), 0);
	ck_assert_int_eq(open_count(one), 1);
	ck_assert_str_eq(pen_ask(&services.ctl, "diff"), "");
	pen_down(&services.pen);
	ck_assert_ptr_null(
	    strstr(child_err(&services.pen.child), "session closed"));
	backend_stop(&services.back);
}
END_TEST

/* What stands before the sections is for those without their own; services with
 * one destination share it, also those that have set it. */
START_TEST(those_before_the_sections)
{
	static const char *const lines[] = { "", "session_log off\n", "" };
	const char *own[SERVICES] = { "", "", "" };

	begin();
	own[1] = text("session_log %s\n", one);
	services_up(
	    sections(text("session_log %s\nlog_sample 1\n", one), lines));
	visit(0, 3);
	visit(1, 3);
	visit(2, 3);
	WAIT_FOR(lines_of(one, 0) == 3 && lines_of(one, 2) == 3, SOON);
	ck_assert_int_eq(lines_of(one, 1), 0);
	ck_assert_int_eq(open_count(one), 1);
	/* of all that follow, by one command */
	ck_assert_str_eq(
	    pen_ask(&services.ctl, text("session_log %s", two)), "");
	visit(0, 3);
	visit(1, 3);
	visit(2, 3);
	WAIT_FOR(lines_of(two, 0) == 3 && lines_of(two, 2) == 3, SOON);
	ck_assert_int_eq(open_count(one), 0);
	ck_assert_int_eq(open_count(two), 1);
	/* one has its own, and then follows again */
	ck_assert_str_eq(
	    pen_ask(&services.ctl, text("service s1 session_log %s", two)), "");
	ck_assert_int_eq(open_count(two), 1);
	ck_assert_str_eq(pen_ask(&services.ctl, "log_sample 0"), "0\n");
	ck_assert_str_eq(
	    pen_ask(&services.ctl, "service s1 log_sample 1"), "1\n");
	visit(0, 2);
	visit(1, 3);
	WAIT_FOR(lines_of(two, 1) == 3, SOON);
	ck_assert_str_eq(
	    pen_ask(&services.ctl, "service s1 log_sample auto"), "auto\n");
	ck_assert_str_eq(
	    pen_ask(&services.ctl, "service s1 session_log auto"), "");
	/* the one that has opened it is removed, and others still write */
	own[0] = text("session_log %s\n", two);
	write_file(services.conf, sections(text("session_log %s\n", two), own));
	ck_assert_str_eq(pen_ask(&services.ctl, "reload"), "");
	ck_assert_str_eq(pen_ask(&services.ctl, "service s0 remove"), "");
	WAIT_FOR(
	    strstr(pen_ask(&services.ctl, "services"), "s0") == NULL, SOON);
	ck_assert_int_eq(open_count(two), 1);
	visit(2, 1);
	WAIT_FOR(lines_of(two, 2) == 4, SOON);
	ck_assert_int_eq(lines_of(two, 0), 3);
	pen_down(&services.pen);
	backend_stop(&services.back);
}
END_TEST

/* "defaults" have them, too; what is printed is read the same, and a process
 * that takes over has it. */
START_TEST(defaults_and_upgrade)
{
	static const char *const lines[] = { "", "session_log auto\n",
		"log_sample 1\n" };
	const char *program = upgrading_install(), *settings, *said, *all;
	pid_t now;

	begin();
	all = sections(text("session_log %s\ndefaults\nsession_log %s\n"
			    "log_sample 10\n",
			   two, one),
	    lines);
	write_file(services.conf, all);
	(void)services_run("--print", 0);
	said = child_out(&services.child);
	ck_assert_int_eq(count_in(said, text("session_log %s\n", two)), 1);
	ck_assert_int_eq(count_in(said, text("session_log %s\n", one)), 2);
	ck_assert_int_eq(count_in(said, "log_sample 10\n"), 2);
	services_up(said);
	ck_assert_str_eq(
	    pen_ask(&services.ctl, "service s1 session_log"), "auto\n");
	ck_assert_str_eq(pen_ask(&services.ctl, "write; diff"), "");
	settings = pen_ask(&services.ctl, "service s0 show settings");
	if (program != NULL) {
		now = upgrading_go(&services.ctl, services.pen.child.pid);
		ck_assert_str_eq(
		    pen_ask(&services.ctl, "service s0 show settings"),
		    settings);
		visit(0, 20);
		visit(1, 10);
		visit(2, 5);
		WAIT_FOR(lines_of(one, 2) == 5, SOON);
		WAIT_FOR(lines_of(two, 1) == 1, SOON);
		if (pen_workers() == 1)
			WAIT_FOR(lines_of(one, 0) == 2, SOON);
		upgrading_end(now);
		ck_assert_int_eq(child_wait(&services.pen.child, SOON), 0);
	} else {
		pen_down(&services.pen);
	}
	backend_stop(&services.back);
}
END_TEST

/* A format of lines that are not written, or a sample of none. */
START_TEST(without_effect)
{
	static const char *const lines[] = { "", "session_log stdout\n",
		"log_sample 2\n" };
	const char *said;
	int i;

	begin();
	write_file(services.conf, sections("session_log off\n", lines));
	said = services_run("--check", 0);
	for (i = 0; i < SERVICES; i++)
		ck_assert_int_eq(
		    count_in(said,
			text("service s%d: %s:%d: log_format has no effect "
			     "without session_log\n",
			    i, services.conf, 6 + 5 * i + (i == 2))),
		    i != 1);
	ck_assert_int_eq(
	    count_in(said,
		"log_sample has no effect without session_log or request_log"),
	    1);
	write_file(
	    services.conf, sections(text("session_log %s\n", one), lines));
	ck_assert_str_eq(services_run("--check", 0), "");
	write_file(services.conf,
	    sections("", (const char *[]){ "session_log none\n", "", "" }));
	pen_expect_failure(text("service s0: %s:6: session_log: \"none\": "
				"neither a destination nor a file",
			       services.conf),
	    "--check", "-F", services.conf, NULL);
	backend_stop(&services.back);
}
END_TEST

SUITE(test_service_logs)
{
	Suite *s = suite_create("service_logs");

	SUITE_ADD_LOOP(s, two_services_two_files, 60, 3);
	SUITE_ADD(s, those_before_the_sections, 60);
	SUITE_ADD(s, defaults_and_upgrade, 60);
	SUITE_ADD(s, without_effect, 30);
	return s;
}
