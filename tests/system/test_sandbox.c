/* test_sandbox.c: with `sandbox on` all goes on as without; and code that runs
 * in pen can open no file elsewhere, start no program, make no other socket.
 * The code is that of taken_preload.c. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"
#include "support/certdir.h"
#include "support/tlspeer.h"

enum { SOON = 20000 };

static struct backend back;
static struct endpoint front, ctl;
static struct pen pen;
static const char *conf, *taken, *outside;

/* Landlock came with Linux 5.13, and may be off. */
static bool
limits_files(void)
{
	return !child_has_said(&pen.child, "no Landlock");
}

static void
configure(const char *more)
{
	write_file(conf,
	    text("listen %s\nserver add %s\nsandbox %s\n", front.text,
		back.at.text, more));
}

static void
prepare(void)
{
	char *end;

	backend_start(&back, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	conf = scratch("pen.conf");
	taken = scratch("taken");
	outside = text("%s", taken);
	end = strrchr(outside, '/');
	outside = text("%.*s.outside", (int)(end - outside), outside);
}

/* Starts it with the library, which is built beside this program. */
static void
up(const char *more)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *env[] = { "LD_PRELOAD", NULL, "PEN_TEST_TAKEN", taken,
		"PEN_TEST_OUTSIDE", outside, NULL };
	struct child_gifts gifts = { .env = env };

	ck_assert_int_gt(n, 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	env[1] = text("%s/taken.so", self);
	configure(more);
	pen_start_given(
	    &pen, &gifts, "-f", "-r", "-C", ctl.text, "-F", conf, NULL);
	pen_wait_ready(&pen, &front);
	WAIT_FOR(endpoint_is_listening(&ctl), SOON);
}

static void
end(void)
{
	pen_down(&pen);
	backend_stop(&back);
}

static const char *
ask(const char *command)
{
	return endpoint_ask(&ctl, text("%s\n", command));
}

static void
expect_service(void)
{
	ck_assert_str_eq(endpoint_ask(&front, "hello"), "hello");
}

/* What the code in that process could do. */
static const char *
take_over(pid_t pid)
{
	write_file(taken, "");
	ck_assert_int_eq(kill(pid, SIGWINCH), 0);
	WAIT_FOR(file_has(taken, "end\n"), SOON);
	return contents(taken);
}

static void
expect(const char *told, const char *line)
{
	ck_assert_msg(strstr(told, text("%s\n", line)) != NULL,
	    "not \"%s\" in:\n%s", line, told);
}

static void
expect_limits(const char *told)
{
	if (limits_files()) {
		expect(told, "read_outside EACCES");
		expect(told, "write_outside EACCES");
	}
	expect(told, "read_inside ok");
	expect(told, "execve EPERM");
	expect(told, "tcp ok");
	expect(told, "chmod EPERM");
	expect(told, "chown EPERM");
	expect(told, "setuid_file ENOSYS");
	expect(told, "tiocsti ENOSYS");
#ifndef SYS_socketcall /* which hides the family */
	expect(told, "netlink EAFNOSUPPORT");
	expect(told, "packet EAFNOSUPPORT");
	expect(told, "unix ENOSYS");
	expect(told, "vsock EAFNOSUPPORT");
	expect(told, "alg EAFNOSUPPORT");
	expect(told, "raw ENOSYS");
#endif
	expect(told, "ptrace EPERM");
	expect(told, "unshare EPERM");
	expect(told, "io_uring ENOSYS");
}

/* ---- what it protects from ---- */

START_TEST(can_do_nothing_else)
{
	const char *told;

	NEEDS_SANDBOX();
	NEEDS_ONE_WORKER("the process that leads workers forks");
	prepare();
	up("on\ncheck 'exec /bin/true'");
	expect_service();
	told = take_over(pen.child.pid);
	expect_limits(told);
	expect(told, "fork EPERM");
	/* with other arguments than those of the check */
	expect(told, "starter EPERM");
	expect_service();
	end();
}
END_TEST

/* Without it all that is possible, if the system lets it: the test above shows
 * something. */
START_TEST(can_without)
{
	const char *told;

	NEEDS_SANDBOX();
	if (getenv("PEN_TEST_SANDBOX") != NULL)
		SKIP("all have a sandbox");
	prepare();
	up("off");
	told = take_over(pen.child.pid);
	expect(told, "read_outside ok");
	expect(told, "write_outside ok");
	expect(told, "execve ok");
	expect(told, "netlink ok");
	expect(told, "starter ENOENT");
	end();
}
END_TEST

/* All is done, and what would be refused is logged: system calls by the kernel,
 * programs by pen, which lists the files, too. */
START_TEST(only_logs)
{
	const char *told, *other;

	NEEDS_SANDBOX();
	prepare();
	other = scratch_program("other", "exit 0");
	up("log");
	expect_service();
	told = take_over(pen.child.pid);
	expect(told, "read_outside ok");
	expect(told, "netlink ok");
	expect(told, "execve ok");
	ck_assert(child_has_said(&pen.child, "sandbox: reads"));
	ck_assert_str_eq(ask(text("check exec %s", other)), "");
	WAIT_FOR(child_has_said(&pen.child,
		     text("sandbox would refuse program=%s", other)),
	    SOON);
	expect_service();
	end();
}
END_TEST

/* The last of so many children; 0: there are fewer yet. */
static pid_t
child_number(pid_t parent, int number)
{
	const char *all = child_children(parent);
	pid_t pid = 0;
	char *end;

	for (; *all >= '0' && *all <= '9'; all = end + (*end == ' ')) {
		pid = (pid_t)strtol(all, &end, 10);
		number--;
	}
	return number <= 0 ? pid : 0;
}

/* Each worker, too, which cannot even ask the starter. */
START_TEST(workers_have_it)
{
	const char *told;
	pid_t worker;

	NEEDS_SANDBOX();
	prepare();
	up("on\nworkers 2\ncheck 'exec /bin/true'");
	/* two starters, and two workers */
	WAIT_FOR((worker = child_number(pen.child.pid, 4)) > 0, SOON);
	told = take_over(worker);
	expect_limits(told);
	/* it closes what is its leader's when it begins */
	WAIT_FOR(strstr(take_over(worker), "starter ENOENT") != NULL, SOON);
	expect(told, "fork ok");
	expect_service();
	end();
}
END_TEST

/* Of the two processes that start programs; 0: none is there. What it starts
 * has its name for a moment. */
static pid_t
starter_called(const char *name)
{
	const char *all = child_children(pen.child.pid);
	pid_t pid, found = 0;
	char *end;

	for (; (pid = (pid_t)strtol(all, &end, 10)) > 0; all = end) {
		if (strncmp(child_status_line(pid, "Name"), name,
			strlen(name)) != 0 ||
		    child_status_line(pid, "State")[0] == 'Z')
			continue;
		if (found != 0)
			return 0;
		found = pid;
	}
	return found;
}

static void
up_with_flag(const char *flag)
{
	prepare();
	write_file(flag, "");
	up(text("on\ncheck_interval 50ms\ncheck 'exec %s'",
	    scratch_program("good", text("test -e %s", flag))));
	WAIT_FOR(strstr(ask("checks"), "result ok") != NULL, SOON);
}

/* The other one takes its place, again and again; nothing is left of them. */
START_TEST(starter_was_killed)
{
	const char *flag = scratch("flag");
	pid_t old, new, spare;
	int i;

	NEEDS_SANDBOX();
	NEEDS_ONE_WORKER("workers are children, too");
	up_with_flag(flag);
	for (i = 0; i < 3; i++) {
		WAIT_FOR((old = starter_called("pen-starter")) > 0, SOON);
		WAIT_FOR(starter_called("pen-spare") > 0, SOON);
		ck_assert_int_eq(kill(old, SIGKILL), 0);
		WAIT_FOR((new = starter_called("pen-starter")) > 0 &&
			new != old,
		    SOON);
		WAIT_FOR((spare = starter_called("pen-spare")) > 0, SOON);
		ck_assert_int_eq(kill(spare, SIGKILL), 0);
		WAIT_FOR(access(text("/proc/%d", (int)old), F_OK) != 0 &&
			access(text("/proc/%d", (int)spare), F_OK) != 0,
		    SOON);
	}
	ck_assert_int_eq(unlink(flag), 0);
	WAIT_FOR(strstr(ask("servers long"), "state down") != NULL, SOON);
	write_file(flag, "");
	WAIT_FOR(strstr(ask("servers long"), "state up") != NULL, SOON);
	new = upgrading_go(&ctl, pen.child.pid);
	ck_assert_int_eq(child_wait(&pen.child, SOON), 0);
	expect_service();
	upgrading_end(new);
	backend_stop(&back);
}
END_TEST

/* Without any of them no server is known to be up, and there is no upgrade. */
START_TEST(all_starters_were_killed)
{
	pid_t one, other;

	NEEDS_SANDBOX();
	NEEDS_ONE_WORKER("workers are children, too");
	up_with_flag(scratch("flag"));
	WAIT_FOR((one = starter_called("pen-starter")) > 0, SOON);
	WAIT_FOR((other = starter_called("pen-spare")) > 0, SOON);
	pen_freeze(&pen);
	ck_assert_int_eq(kill(one, SIGKILL), 0);
	ck_assert_int_eq(kill(other, SIGKILL), 0);
	pen_thaw(&pen);
	WAIT_FOR(strstr(ask("servers long"), "state down") != NULL, SOON);
	ck_assert_ptr_nonnull(strstr(ask("servers long"),
	    "programs cannot run, the process that starts them has ended"));
	ck_assert_str_eq(ask("upgrade"),
	    "error: upgrade: the process that starts programs for the sandbox "
	    "has ended: restart pen\n");
	end();
}
END_TEST

/* ---- what goes on ---- */

static int
count_lines(const char *path)
{
	return count_in(contents(path), "\n");
}

/* Programs of the configuration run, with the server's address or with what is
 * theirs, and a set-user-id program would be one; others are refused. */
START_TEST(programs_run)
{
	const char *good, *on_state, *seen, *other;

	NEEDS_SANDBOX();
	prepare();
	seen = scratch("seen");
	/* what is outside of pen's own directories is no matter of theirs */
	good = scratch_program("good",
	    text("cat /usr/bin/env >/dev/null && grep -q 'NoNewPrivs:.0' "
		 "/proc/self/status && echo \"$1 $2\" >>%s",
		seen));
	on_state = scratch_program(
	    "state", text("echo \"$PEN_STATE $PATH\" >>%s.state", seen));
	other = scratch_program("other", "exit 1");
	up(text("on\ncheck_interval 50ms\ncheck 'exec %s {address}:{port} x'\n"
		"on_state %s",
	    good, on_state));
	WAIT_FOR(count_lines(seen) >= 2, SOON);
	ck_assert(file_has(seen, text("%s x\n", back.at.text)));
	ck_assert_ptr_nonnull(strstr(
	    ask(text("check exec %s", other)), "only the programs that were"));
	ck_assert_ptr_nonnull(
	    strstr(ask("server 0 check 'exec /bin/true'"), "at startup"));
	ck_assert_str_eq(ask("server 0 down"), "");
	WAIT_FOR(count_lines(text("%s.state", seen)) >= 1, SOON);
	end();
}
END_TEST

/* A program that does not end is killed, and reaped. */
START_TEST(programs_end)
{
	const char *pid_of, *slow;

	NEEDS_SANDBOX();
	prepare();
	pid_of = scratch("slow.pid");
	slow = scratch_program(
	    "slow", text("echo $$ >%s; exec sleep 1000", pid_of));
	up(text("on\ncheck_interval 50ms\ncheck_timeout 300ms\ncheck 'exec %s'",
	    slow));
	WAIT_FOR(count_lines(pid_of) > 0, SOON);
	WAIT_FOR(strstr(ask("servers long"), "timed out") != NULL ||
		strstr(ask("servers long"), "timeout") != NULL,
	    SOON);
	WAIT_FOR(count_lines(pid_of) > 0 &&
		access(text("/proc/%.20s", contents(pid_of)), F_OK) != 0,
	    SOON);
	end();
}
END_TEST

START_TEST(logs_are_opened_again)
{
	const char *log, *old;
	int i;

	NEEDS_SANDBOX();
	prepare();
	log = scratch("sessions");
	old = scratch("sessions.1");
	up(text("on\nsession_log %s\nlog %s.requests", log, log));
	for (i = 0; i < 2; i++) {
		expect_service();
		WAIT_FOR(count_lines(log) >= 1, SOON);
		ck_assert_int_eq(rename(log, old), 0);
		ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
		WAIT_FOR(access(log, F_OK) == 0, SOON);
	}
	end();
}
END_TEST

/* A reload reads the file and those it includes, also new ones; `write` writes
 * it; a socket in its directory is made and removed. */
START_TEST(reload_and_write)
{
	const char *part, *page, *other;

	NEEDS_SANDBOX();
	prepare();
	part = scratch("part.inc");
	page = scratch("page");
	other = scratch("other");
	up(text("on\ninclude %.*s*.inc\nweb_stats %s\nlisten %s,%s",
	    (int)(strlen(part) - strlen("part.inc")), part, page, front.text,
	    scratch("first")));
	write_file(part, "server 0 weight 7\n");
	ck_assert_str_eq(ask("reload"), "");
	ck_assert_ptr_nonnull(strstr(ask("servers long"), "weight 7"));
	(void)ask(text("listen %s,%s", front.text, other));
	WAIT_FOR(endpoint_path_listens(other), SOON);
	ck_assert_str_eq(ask(text("write %s.new", conf)), "");
	ck_assert(access(text("%s.new", conf), F_OK) == 0);
	ck_assert_int_eq(kill(pen.child.pid, SIGUSR1), 0);
	WAIT_FOR(access(page, F_OK) == 0, SOON);
	ck_assert_str_eq(ask("sandbox"), "on\n");
	ck_assert_ptr_nonnull(strstr(ask("sandbox off"), "at startup"));
	if (limits_files())
		ck_assert_ptr_nonnull(strstr(ask("include /bin/sh"),
		    "Permission denied (sandbox on: "));
	expect_service();
	end();
	ck_assert_int_ne(access(other, F_OK), 0);
}
END_TEST

START_TEST(check_recommends_a_user)
{
	struct child c;
	const char *argv[] = { getenv("PEN") != NULL ? getenv("PEN") : "./pen",
		"--check", "-O", "sandbox on", NULL, "127.0.0.1:1", NULL, NULL,
		NULL };

	endpoint_new(&front, ENDPOINT_TCP4);
	argv[4] = front.text;
	NEEDS_SANDBOX();
	if (geteuid() != 0)
		SKIP("needs root");
	child_start(&c, argv);
	(void)child_wait(&c, SOON);
	ck_assert(child_has_said(&c, "pen remains root"));
	argv[6] = "-u";
	argv[7] = "nobody";
	child_start(&c, argv);
	(void)child_wait(&c, SOON);
	ck_assert(!child_has_said(&c, "pen remains root"));
}
END_TEST

static void
expect_not_all(const char *file)
{
	up(text("on\nweb_stats %s", file));
	expect_service(); /* it has entered the sandbox */
	if (limits_files())
		expect(take_over(pen.child.pid), "read_outside EACCES");
	pen_down(&pen);
}

/* A relative path, with the working directory /, is no way to all files; nor is
 * any other way to write it. */
START_TEST(root_directory)
{
	const char *program = getenv("PEN"), *name, *link;

	NEEDS_SANDBOX();
	NEEDS_ONE_WORKER("one process is taken");
	if (program == NULL || program[0] != '/' || access("/", W_OK) != 0 ||
	    chdir("/") < 0)
		SKIP("needs to write to /, and the whole path of pen");
	prepare();
	link = scratch("link");
	name = text("pen-test-%d.html", (int)getpid());
	ck_assert_int_eq(symlink("/", link), 0);
	expect_not_all(name);
	expect_not_all(text("//%s", name));
	expect_not_all(text("/tmp/../%s", name));
	expect_not_all(text("%s/%s", link, name));
	backend_stop(&back);
}
END_TEST

/* Without them at the start there are none later. */
START_TEST(unix_sockets)
{
	const char *line;

	NEEDS_SANDBOX();
	prepare();
	up("on");
	line = text("listen %s,%s", front.text, scratch("other"));
	ck_assert_ptr_nonnull(strstr(ask(line), "permits none, as none was"));
	line = text("server add %s", scratch("server"));
	ck_assert_ptr_nonnull(strstr(ask(line), "permits none, as none was"));
	expect_service();
	end();
}
END_TEST

START_TEST(upgrades)
{
	pid_t new;
	int old;

	NEEDS_SANDBOX();
	prepare();
	up("on\ncheck 'exec /bin/true'");
	old = endpoint_connect(&front);
	endpoint_expect_echo(old, "before");
	new = upgrading_go(&ctl, pen.child.pid);
	endpoint_expect_echo(old, "after");
	expect_service();
	expect_limits(take_over(new));
	close(old);
	ck_assert_int_eq(child_wait(&pen.child, SOON), 0);
	/* and again, from one that was started so */
	new = upgrading_go(&ctl, new);
	expect_service();
	expect_limits(take_over(new));
	upgrading_end(new);
	backend_stop(&back);
}
END_TEST

/* Code that could write the configuration cannot have more by an upgrade: no
 * program, no directory, no life without the sandbox; nor see what a file has
 * that the configuration is made to include. */
START_TEST(upgrades_have_bounds)
{
	const char *other;

	NEEDS_SANDBOX();
	NEED_UPGRADES(upgrading_install());
	prepare();
	other = scratch_program("other", "exit 1");
	up("on\ncheck 'exec /bin/true'");
	expect_service();
	configure(text("on\ncheck 'exec %s'", other));
	ck_assert_ptr_nonnull(strstr(ask("upgrade"), "restart pen"));
	configure("on\ncheck 'exec /bin/true other arguments'");
	ck_assert_ptr_nonnull(strstr(ask("upgrade"), "restart pen"));
	configure("off");
	ck_assert_ptr_nonnull(strstr(ask("upgrade"), "restart pen"));
	configure("on\nweb_stats /usr/page");
	ck_assert_ptr_nonnull(strstr(ask("upgrade"), "restart pen"));
	configure(text("on\nlisten %s,%s", front.text, scratch("unix")));
	ck_assert_ptr_nonnull(strstr(ask("upgrade"), "restart pen"));
	configure("on\ninclude /etc/passwd");
	ck_assert_ptr_null(strstr(ask("upgrade"), "root:"));
	/* what it has may be less, or the same */
	configure("on");
	upgrading_end(upgrading_go(&ctl, pen.child.pid));
	ck_assert_int_eq(child_wait(&pen.child, SOON), 0);
	backend_stop(&back);
}
END_TEST

/* The program on disk is another one by now, or none. */
START_TEST(bad_upgrade)
{
	const char *path;

	NEEDS_SANDBOX();
	path = upgrading_install();
	NEED_UPGRADES(path);
	prepare();
	up("on");
	upgrading_replace(path, "no program\n");
	ck_assert_ptr_nonnull(strstr(ask("upgrade"), "upgrade: "));
	expect_service();
	upgrading_replace(path, NULL);
	upgrading_end(upgrading_go(&ctl, pen.child.pid));
	ck_assert_int_eq(child_wait(&pen.child, SOON), 0);
	backend_stop(&back);
}
END_TEST

static bool
serves(const char *whose)
{
	struct tls_wish w = { .sni = NULL };
	struct tls_peer *p = tls_peer_open(endpoint_connect(&front), &w);
	bool same;

	ck_assert_msg(p != NULL, "%s", tls_peer_error());
	same = strcmp(tls_peer_subject(p), text("CN=%s", whose)) == 0;
	tls_peer_close(p);
	return same;
}

/* A certificate is replaced, in a directory that a link leads to. */
START_TEST(certificates_are_read_again)
{
	struct certdir dir;

	NEEDS_SANDBOX();
	prepare();
	certdir_make(&dir, "certs");
	certdir_put(&dir, "site.pem", "one");
	ck_assert_int_eq(symlink(dir.path, scratch("live")), 0);
	up(text("on\nssl_cert %s/site.pem", scratch("live")));
	ck_assert(serves("one"));
	certdir_put(&dir, "site.pem", "two");
	ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
	WAIT_FOR(serves("two"), SOON);
	end();
	certdir_forget(&dir);
}
END_TEST

/* They are in a directory of their own, beside that of the configuration. */
START_TEST(keys_of_peers_are_read_again)
{
	const char *dir = scratch("../keys"), *key = text("%s/key", dir);
	struct endpoint at;

	NEEDS_SANDBOX();
	NEEDS_ONE_WORKER("peers have one process");
	prepare();
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	write_file(key, "a secret of more than 32 bytes, shared");
	ck_assert_int_eq(chmod(key, 0600), 0);
	endpoint_new(&at, ENDPOINT_TCP4);
	up(text("on\npeer_listen %s key %s", at.text, key));
	write_file(key, "another secret of 32 bytes, too..");
	ck_assert_str_eq(ask("reload"), "");
	WAIT_FOR(child_has_said(&pen.child, "key reloaded peer_listen="), SOON);
	end();
}
END_TEST

SUITE(test_sandbox)
{
	Suite *s = suite_create("sandbox");

	SUITE_ADD(s, can_do_nothing_else, 60);
	SUITE_ADD(s, can_without, 60);
	SUITE_ADD(s, only_logs, 60);
	SUITE_ADD(s, workers_have_it, 60);
	SUITE_ADD(s, starter_was_killed, 120);
	SUITE_ADD(s, all_starters_were_killed, 60);
	SUITE_ADD(s, programs_run, 60);
	SUITE_ADD(s, programs_end, 60);
	SUITE_ADD(s, logs_are_opened_again, 60);
	SUITE_ADD(s, reload_and_write, 60);
	SUITE_ADD(s, unix_sockets, 60);
	SUITE_ADD(s, check_recommends_a_user, 30);
	SUITE_ADD(s, root_directory, 60);
	SUITE_ADD(s, upgrades, 120);
	SUITE_ADD(s, upgrades_have_bounds, 120);
	SUITE_ADD(s, bad_upgrade, 120);
	SUITE_ADD(s, certificates_are_read_again, 60);
	SUITE_ADD(s, keys_of_peers_are_read_again, 60);
	return s;
}
