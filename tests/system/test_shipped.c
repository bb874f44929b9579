/* test_shipped.c: what is shipped works together: under the filter of system
 * calls of examples/pen.service, as a user of its own, in the sandbox, with
 * programs that check servers and a file of fitness, it reloads, writes its
 * configuration, is upgraded and watched. */
#include "config.h"

#include <check.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/manager.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"

enum { SOON = 20000 };

static struct backend back;
static struct endpoint front, ctl;
static struct manager manager;
static struct pen pen;
static const char *conf, *flag, *fit;

/* Of -u, and of the unit. */
static const char *
user(void)
{
	const struct passwd *pw =
	    geteuid() == 0 ? getpwnam("nobody") : getpwuid(geteuid());

	return pw != NULL ? text("%s", pw->pw_name) : NULL;
}

static void
give(const char *path, mode_t mode)
{
	const struct passwd *pw = getpwnam(user());

	ck_assert(pw != NULL && chmod(path, mode) == 0);
	ck_assert(geteuid() != 0 || chown(path, pw->pw_uid, pw->pw_gid) == 0);
}

static void
configure(const char *more)
{
	write_file(conf,
	    text("sandbox on\nlisten %s\ncontrol %s\nfit_file %s\n"
		 "check exec %s\ncheck_interval 50ms\nserver add %s\n%s",
		front.text, ctl.text, fit,
		scratch_program("good", text("test -e %s", flag)),
		back.at.text, more));
}

/* The wrapper stays in the environment of no other. Returns whether there are
 * system calls to permit. */
static bool
wrap(const char *unit)
{
	const char *source = getenv("SRCDIR"), *calls = scratch("calls");
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ck_assert_int_gt(n, 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	if (source == NULL)
		source = "..";
	if (system(text("sh %s/tests/support/unit_calls.sh %s/%s >%s", source,
		source, unit, calls)) != 0 ||
	    count_in(contents(calls), "\n") < 100)
		return false;
	setenv("PEN_TEST_WRAPPER",
	    text("%s/unit_filter %s %s", self, calls, user()), 1);
	return true;
}

static void
start(void)
{
	const char *env[] = { "NOTIFY_SOCKET", manager.name, "WATCHDOG_USEC",
		"200000", NULL };
	struct child_gifts gifts = { .env = env };

	pen_start_given(&pen, &gifts, "-f", "-u", user(), "-F", conf, NULL);
	pen_wait_ready(&pen, &front);
	WAIT_FOR(manager_has_heard(&manager, "|READY=1\n"), SOON);
}

static bool
says(const char *command, const char *what)
{
	return strstr(endpoint_ask(&ctl, text("%s\n", command)), what) != NULL;
}

/* All goes on: clients, checks by programs, the file, the watchdog. */
static void
expect_all(void)
{
	manager_forget(&manager);
	WAIT_FOR(access(fit, F_OK) == 0, SOON);
	ck_assert_str_eq(endpoint_hear(&front), "served");
	ck_assert_int_eq(unlink(flag), 0);
	WAIT_FOR(says("servers long", "state down"), SOON);
	WAIT_FOR(access(fit, F_OK) != 0, SOON);
	write_file(flag, "");
	WAIT_FOR(says("servers long", "state up"), SOON);
	WAIT_FOR(access(fit, F_OK) == 0, SOON);
	WAIT_FOR(manager_count(&manager, "|WATCHDOG=1\n") >= 3, SOON);
	ck_assert(says("sandbox", "on\n"));
}

static void
expect_all_together(const char *unit)
{
	const char *program = upgrading_install();
	pid_t new;

	NEEDS_SANDBOX();
	NEED_PROGRAM("systemd-analyze");
	if (user() == NULL)
		SKIP("needs a user");
	NEED_UPGRADES(program);
	backend_start(&back, ENDPOINT_TCP4, backend_say, "served");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	give(text("%.*s", (int)(strrchr(ctl.text, '/') - ctl.text), ctl.text),
	    0755);
	fit = scratch("fit");
	conf = scratch("pen.conf");
	flag = scratch("flag");
	write_file(flag, "");
	configure("");
	give(conf, 0640);
	manager_begin(&manager, true);
	manager_read(&manager);
	if (!wrap(unit))
		SKIP("systemd-analyze lists no system calls");
	start();
	expect_all();
	/* a reload, by the signal of ExecReload= */
	configure("server 0 weight 7\n");
	ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
	WAIT_FOR(manager_has_heard(&manager, "|READY=1\n"), SOON);
	WAIT_FOR(says("servers long", "weight 7"), SOON);
	expect_all();
	/* `write`, into a directory of ReadWritePaths= */
	ck_assert_str_eq(endpoint_ask(&ctl, "server 0 weight 3\n"), "");
	ck_assert_str_eq(endpoint_ask(&ctl, "write\n"), "");
	ck_assert(file_has(conf, "weight 3"));
	expect_all();
	/* and an upgrade */
	new = upgrading_go(&ctl, pen.child.pid);
	WAIT_FOR(manager_has_heard(
		     &manager, text("MAINPID=%d\n", (int)new)),
	    SOON);
	ck_assert(says("servers long", "weight 3"));
	expect_all();
	ck_assert_int_eq(child_wait(&pen.child, SOON), 0);
	ck_assert_int_eq(kill(new, SIGQUIT), 0);
	WAIT_FOR(upgrading_has_ended(new), SOON);
	ck_assert_int_ne(access(fit, F_OK), 0);
	manager_end(&manager);
	backend_stop(&back);
}

START_TEST(unit)
{
	expect_all_together("examples/pen.service");
}
END_TEST

START_TEST(unit_of_several)
{
	expect_all_together("examples/pen@.service");
}
END_TEST

/* Without the calls `name` of the filter pen does not start, and names them. */
static void
expect_named(const char *name, const char *message)
{
	const char *calls = scratch("calls");

	if (!wrap("examples/pen.service"))
		SKIP("systemd-analyze lists no system calls");
	ck_assert_int_eq(
	    system(text("sed -i /%s/d %s", name, calls)), 0);
	pen_expect_failure(message, "-f", "-u", user(), "-F", conf, NULL);
}

START_TEST(filter_is_named)
{
	NEEDS_SANDBOX();
	NEED_PROGRAM("systemd-analyze");
	if (user() == NULL)
		SKIP("needs a user");
	endpoint_new(&front, ENDPOINT_TCP4);
	conf = scratch("pen.conf");
	write_file(conf,
	    text("sandbox on\nlisten %s\nserver add 127.0.0.1:1\n",
		front.text));
	expect_named("landlock",
	    "has to permit landlock_create_ruleset, landlock_add_rule");
	expect_named("seccomp", "of systemd, has to permit seccomp");
}
END_TEST

/* The file that packages install serves a page, without a warning. */
START_TEST(first_configuration)
{
	const char *source = getenv("SRCDIR");
	struct endpoint page;

	conf = scratch("first.conf");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&page, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	ck_assert_int_eq(
	    system(text("sed -e 's,^listen .*,listen %s,' -e 's,^web .*,web "
			"%s,' -e 's,^control .*,control %s,' "
			"%s/examples/pen.conf >%s",
		front.text, page.text, ctl.text,
		source != NULL ? source : "..", conf)),
	    0);
	pen_up(&pen, &front, "-F", conf, NULL);
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&front, "GET / HTTP/1.0\r\n\r\n"), "<html>"));
	ck_assert_ptr_nonnull(strstr(
	    endpoint_ask(&page, "GET /metrics HTTP/1.0\r\n\r\n"), "\npen_"));
	ck_assert_str_eq(endpoint_ask(&ctl, "diff\n"), "");
	ck_assert(!child_has_said(&pen.child, "no effect"));
	pen_down(&pen);
}
END_TEST

SUITE(test_shipped)
{
	Suite *s = suite_create("shipped");

	SUITE_ADD(s, unit, 120);
	SUITE_ADD(s, unit_of_several, 120);
	SUITE_ADD(s, filter_is_named, 60);
	SUITE_ADD(s, first_configuration, 30);
	return s;
}
