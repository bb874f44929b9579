/* test_check_exec.c: servers checked by programs, good and bad ones: what they
 * say decides, and nothing is left of them. */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 20000, ROUNDS = 5 };

static struct pen pen;
static struct endpoint front, ctl;
static struct backend a, b;

#define BEGIN(...)                                                            \
	do {                                                                  \
		backend_start(&a, ENDPOINT_TCP4, backend_say, "a");           \
		backend_start(&b, ENDPOINT_TCP4, backend_say, "b");           \
		endpoint_new(&front, ENDPOINT_TCP4);                          \
		endpoint_new(&ctl, ENDPOINT_UNIX);                            \
		pen_up(&pen, &front, "-r", "-b", "0", "-C", ctl.text, "-O",   \
		    "check_interval 50ms", "-O", "check_fall 2", __VA_ARGS__, \
		    front.text, a.at.text, b.at.text, NULL);                  \
	} while (0)

static void
end(void)
{
	pen_down(&pen);
	backend_stop(&a);
	backend_stop(&b);
}

static const char *
ask(const char *command)
{
	return endpoint_ask(&ctl, text("%s\n", command));
}

static int
count_lines(const char *path)
{
	return count_in(contents(path), "\n");
}

/* ---- what it says ---- */

/* It knows which server, and its first line is the reason. */
START_TEST(decides)
{
	const char *sick = scratch("sick");

	BEGIN("-O",
	    text("check exec %s now",
		scratch_program("check",
		    text("[ -f %s ] && [ $PEN_SERVER = 1 ] || exit 0\n"
			 "echo \"$1 $PEN_ADDRESS is ill\"; exit 4",
			sick))));
	WAIT_FOR(
	    strstr(ask("checks"), "1 check exec state up result ok"), SOON);
	write_file(sick, "");
	WAIT_FOR(child_has_said(&pen.child,
		     "server down server=1 name=127.0.0.1 "
		     "reason=\"check exec: now 127.0.0.1 is ill\" prev=up"),
	    SOON);
	ck_assert_str_eq(endpoint_hear(&front), "a");
	ck_assert_str_eq(endpoint_hear(&front), "a");
	unlink(sick);
	WAIT_FOR(strcmp(endpoint_hear(&front), "b") == 0, SOON);
	end();
}
END_TEST

/* However many checks run, programs of on_state are not kept out. */
START_TEST(leave_some_to_on_state)
{
	const char *told = scratch("told");
	int i;

	if (suite_is_in_valgrind())
		SKIP("hundreds of programs");
	BEGIN("-O", "checks_max 1000", "-O", "check_timeout 600", "-O",
	    text("on_state %s",
		scratch_program("tell", text("echo $PEN_STATE >%s", told))));
	for (i = 2; i < 300; i++)
		ask(text("server %d address 127.1.%d.%d port 9", i, i / 200,
		    i % 200 + 1));
	ask(text("check exec %s", scratch_program("long", "exec sleep 600")));
	WAIT_FOR(child_has_said(&pen.child, "server not checked"), SOON);
	ask("server 0 drain");
	WAIT_FOR(
	    access(told, F_OK) == 0 && strcmp(contents(told), "drain\n") == 0,
	    SOON);
	end();
}
END_TEST

/* ---- what is left ---- */

#ifdef __linux__

/* How many children pen has, dead ones that were not reaped included. */
static int
children_of(pid_t pid)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	const char *parent;
	int n = 0;

	while ((d = readdir(dir)) != NULL) {
		if (d->d_name[0] < '1' || d->d_name[0] > '9')
			continue;
		parent = child_status_line((pid_t)atoi(d->d_name), "PPid");
		n += *parent != '\0' && atoi(parent) == (int)pid;
	}
	closedir(dir);
	return n;
}

/* Another process may have the number soon, on a busy machine; ours are
 * children of pen, or orphans of the process that adopts them. */
static bool
is_gone(pid_t pid)
{
	const char *state = child_status_line(pid, "State");
	pid_t parent = (pid_t)atoi(child_status_line(pid, "PPid"));

	return *state == '\0' || *state == 'Z' ||
	    (parent != pen.child.pid && parent != getppid());
}

/* Whether all are gone whose ids are in the file, a line each. */
static bool
all_gone(const char *path)
{
	const char *s = contents(path);

	for (; *s != '\0'; s = strchr(s, '\n') + 1)
		if (!is_gone((pid_t)atoi(s)))
			return false;
	return true;
}

/* A check that takes several rounds, and then is no more. */
static void
leaves_nothing(const char *name, const char *lines, const char *reason)
{
	const char *pids = scratch(text("%s.pids", name));
	const char *path = scratch_program(
	    name, text("echo $$ >>%s\nPIDS=%s\n%s", pids, pids, lines));
	int before, children;

	BEGIN("-O", "check_timeout 200ms");
	ask("checks");
	pen_expect_rest(&pen);
	before = pen_fds(&pen);
	children = children_of(pen.child.pid); /* workers */
	write_file(pids, "");
	ask(text("server 0 check exec %s", path));
	WAIT_FOR(count_lines(pids) >= 2 * ROUNDS, SOON);
	WAIT_FOR(strstr(ask("checks"), reason), SOON);
	/* clients are served meanwhile */
	ck_assert_uint_eq(strlen(endpoint_hear(&front)), 1);
	ask("server 0 check default");
	WAIT_FOR(children_of(pen.child.pid) == children, SOON);
	WAIT_FOR(pen_fds(&pen) <= before, SOON);
	WAIT_FOR(all_gone(pids), SOON);
	/* nor does pen leave anything when it ends meanwhile */
	write_file(pids, "");
	ask(text("server 0 check exec %s", path));
	WAIT_FOR(count_lines(pids) >= 1, SOON);
	end();
	WAIT_FOR(all_gone(pids), SOON);
}

START_TEST(hangs)
{
	leaves_nothing("hangs", "trap '' TERM INT HUP\nsleep 1000",
	    "reason timed out waiting for the end of the program");
}
END_TEST

START_TEST(floods)
{
	leaves_nothing("floods", "exec yes",
	    "reason timed out waiting for the end of the program");
}
END_TEST

START_TEST(forks)
{
	leaves_nothing("forks",
	    "sleep 1000 &\necho $! >>$PIDS\necho forked\nexit 1",
	    "reason forked");
	leaves_nothing("hangs_too",
	    "(echo started; sleep 1000) &\necho $! >>$PIDS\nsleep 1000",
	    "reason timed out waiting for the end of the program");
}
END_TEST

START_TEST(dies)
{
	leaves_nothing("dies", "echo $PEN_NAME\nkill -KILL $$",
	    "reason killed by signal 9 (Killed): 127.0.0.1");
	leaves_nothing("shuts", "exec >&- 2>&-\nsleep 1000",
	    "reason timed out waiting for the end of the program");
}
END_TEST

#endif

/* ---- where pen may do little ---- */

START_TEST(another_user)
{
	if (geteuid() != 0)
		SKIP("needs root");
	BEGIN("-u", "nobody", "-O",
	    "check exec /usr/bin/env sh -c 'echo is $(id -un); exit 1'");
	WAIT_FOR(strstr(ask("checks"), "reason is nobody"), SOON);
	end();
}
END_TEST

/* Where there is no /dev/null, and no program. */
START_TEST(another_root)
{
	const char *root = scratch("root");

	if (geteuid() != 0)
		SKIP("needs root");
	mkdir(root, 0755);
	mkdir(text("%s/bin", root), 0755);
	write_file(text("%s/bin/program", root), "#!/bin/sh\n");
	chmod(text("%s/bin/program", root), 0755);
	pen_without_leak_checker();
	BEGIN("-j", root, "-O", "check exec /bin/program");
	WAIT_FOR(strstr(ask("checks"),
		     "reason not executed: No such file or directory"),
	    SOON);
	end();
}
END_TEST

/* ---- who may set it ---- */

START_TEST(refused)
{
	struct endpoint tcp;

	endpoint_new(&front, ENDPOINT_TCP4);
	pen_expect_failure("exec: \"/nonexistent\": No such file", "--check",
	    "-O", "check exec /nonexistent", front.text, "127.0.0.1:1", NULL);
	pen_expect_failure("check exec: \"/etc/passwd\": not executable",
	    "--check", "-O", "server 0 check exec /etc/passwd", front.text,
	    "127.0.0.1:1", NULL);
	pen_expect_failure("exec: \"/nonexistent\": No such file", "-f", "-O",
	    "check exec /nonexistent", front.text, "127.0.0.1:1", NULL);
	endpoint_new(&tcp, ENDPOINT_TCP4);
	if (geteuid() == 0)
		BEGIN("-u", "nobody", "-C", tcp.text);
	else
		BEGIN("-C", tcp.text);
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&tcp, "check exec /bin/true\n"), "not on TCP"));
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&tcp, "server 0 check exec /bin/true\n"),
		"not on TCP"));
	ck_assert_ptr_nonnull(strstr(ask("checks"), "no check is set"));
	/* what is set stays when others change something else */
	ask("check exec /bin/true x");
	ck_assert_str_eq(endpoint_ask(&tcp, "server 0 drain; check\n"),
	    "exec /bin/true x\n");
	end();
}
END_TEST

/* It runs as pen's user: only who may do all sets it, in any of its forms. */
START_TEST(operators_set_no_program)
{
	static const char *const lines[] = { "check exec /bin/true",
		"server 0 check exec /bin/true",
		"server all check \"exec\" /bin/true",
		"server 0 weight 2 check exec /bin/true x",
		"service default server 0 check exec /bin/true" };
	struct endpoint operate;
	size_t i;

	endpoint_new(&operate, ENDPOINT_UNIX);
	BEGIN("-O", "control_level operate", "-C", operate.text);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(
		    strstr(endpoint_ask(&operate, text("%s\n", lines[i])),
			"needs the level admin, yours is operate\n") != NULL,
		    "%s", lines[i]);
	ck_assert_ptr_nonnull(strstr(ask("checks"), "no check is set"));
	ck_assert_str_eq(
	    endpoint_ask(&operate, "server 0 check connect\n"), "");
	ck_assert_str_eq(ask("server 0 check exec /bin/true"), "");
	end();
}
END_TEST

/* The refusal is about the command, not about a line of the file that is read
 * again, which may have what the command may not. */
START_TEST(refusal_names_no_file)
{
	struct endpoint tcp;
	const char *file = scratch("pen.conf");

	endpoint_new(&tcp, ENDPOINT_TCP4);
	endpoint_new(&front, ENDPOINT_TCP4);
	backend_start(&a, ENDPOINT_TCP4, backend_say, "a");
	write_file(file,
	    text("listen %s\ncontrol %s\nserver add %s\n", front.text, tcp.text,
		a.at.text));
	if (geteuid() == 0)
		pen_up(&pen, &front, "-u", "nobody", "-F", file, NULL);
	else
		pen_up(&pen, &front, "-F", file, NULL);
	ck_assert_str_eq(endpoint_ask(&tcp, "server 0 check exec /bin/true\n"),
	    "error: server: exec: not on TCP: only in a file, on the command "
	    "line or on a Unix socket\n");
	write_file(file,
	    text("listen %s\ncontrol %s\ncheck exec /bin/true\n"
		 "server add %s\n",
		front.text, tcp.text, a.at.text));
	ck_assert_str_eq(
	    endpoint_ask(&tcp, "reload; check\n"), "exec /bin/true\n");
	pen_down(&pen);
	backend_stop(&a);
}
END_TEST

/* ---- process 1 ---- */

static pid_t
first_child(pid_t pid)
{
	return (pid_t)strtol(child_children(pid), NULL, 10);
}

static int
zombies(pid_t parent)
{
	const char *all = child_children(parent);
	int count = 0;
	char *end;
	long pid;

	for (; (pid = strtol(all, &end, 10)) > 0 && end != all; all = end)
		count += child_status_line((pid_t)pid, "State")[0] == 'Z';
	return count;
}

/* As process 1 it gets the orphans of its programs, and of what it was executed
 * by: all are reaped. */
static void
run_as_process_1(const char *sandbox)
{
	const char *program, *runs = scratch("runs");
	const char *argv[] = { "unshare", "--pid", "--fork", "--kill-child",
		"sh", "-c", NULL, NULL };
	pid_t process;

	program = scratch_program("leaves",
	    text("(sleep 0.01 &); setsid sleep 0.02 & echo >>%s", runs));
	backend_start(&a, ENDPOINT_TCP4, backend_say, "a");
	endpoint_new(&front, ENDPOINT_TCP4);
	argv[6] = text("sleep 0.1 & exec %s -f -r -O 'sandbox %s' -O "
		       "'check_interval 50ms' -O 'check exec %s' %s %s",
	    getenv("PEN"), sandbox, program, front.text, a.at.text);
	child_start(&pen.child, argv);
	pen_wait_ready(&pen, &front);
	process = first_child(pen.child.pid);
	ck_assert_int_gt(process, 0);
	WAIT_FOR(count_lines(runs) >= 20, SOON);
	WAIT_FOR(zombies(process) <= 1, 3000);
	ck_assert_str_eq(endpoint_hear(&front), "a");
	kill(process, SIGKILL);
	(void)child_wait(&pen.child, SOON);
	backend_stop(&a);
}

#define NEEDS_PID_NAMESPACE()                                    \
	do {                                                     \
		NEEDS_ONE_WORKER("another program starts pen");  \
		NEED_PROGRAM("unshare");                         \
		NEED_PROGRAM("setsid");                          \
		if (geteuid() != 0 || getenv("PEN") == NULL)     \
			SKIP("needs root, and the name of pen"); \
	} while (0)

START_TEST(process_1_reaps)
{
	NEEDS_PID_NAMESPACE();
	run_as_process_1("off");
}
END_TEST

START_TEST(process_1_reaps_in_the_sandbox)
{
	NEEDS_SANDBOX();
	NEEDS_PID_NAMESPACE();
	run_as_process_1("on");
}
END_TEST

SUITE(test_check_exec)
{
	Suite *s = suite_create("check_exec");

	SUITE_ADD(s, decides, 30);
	SUITE_ADD(s, leave_some_to_on_state, 60);
#ifdef __linux__
	SUITE_ADD(s, hangs, 40);
	SUITE_ADD(s, floods, 40);
	SUITE_ADD(s, forks, 60);
	SUITE_ADD(s, dies, 60);
#endif
	SUITE_ADD(s, process_1_reaps, 60);
	SUITE_ADD(s, process_1_reaps_in_the_sandbox, 60);
	SUITE_ADD(s, another_user, 20);
	SUITE_ADD(s, another_root, 20);
	SUITE_ADD(s, refused, 20);
	SUITE_ADD(s, operators_set_no_program, 20);
	SUITE_ADD(s, refusal_names_no_file, 20);
	return s;
}
