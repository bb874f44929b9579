/* test_program.c: programs that end, hang, flood, fork and die: what is told of
 * them, and that nothing of them is left. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HAVE_LINUX_CAPABILITY_H
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "base/environment.h"
#include "net/program/program.h"
#include "net/program/program_exec.h"
#include "net/program/starter.h"
#include "support/child.h"
#include "support/suite.h"
#include "support/wait.h"

enum { LONG = 600000, MAX = 3, CROWD = 1100 };

static struct loop *loop;
static struct programs *programs;
static struct environment environment;
static struct program_result result;
static struct timer tick;
static int ends, ticks, fds_before;

/* ---- the loop ---- */

static void
on_tick(struct timer *t)
{
	ticks++;
	(void)timer_start(loop, t, 2);
	loop_stop(loop);
}

static void
turn(void)
{
	ck_assert_int_eq(loop_run(loop), 0);
}

#define RUN_UNTIL(expr)                                               \
	do {                                                          \
		long long end = wait_now_ms() + wait_scaled(10000);   \
		while (!(expr)) {                                     \
			ck_assert_msg(                                \
			    wait_now_ms() < end, "never: %s", #expr); \
			turn();                                       \
		}                                                     \
	} while (0)

static void
begin_with(const char *method)
{
	struct error e;

	ends = 0;
	fds_before = child_fds(getpid());
	loop = loop_new(method, &e);
	ck_assert_msg(loop != NULL, "%s", e.text);
	programs = programs_new(loop, MAX, &e);
	ck_assert_msg(programs != NULL, "%s", e.text);
	environment_init(&environment);
	environment_add(&environment, "PEN_NAME", "web%d", 1);
	ck_assert(!environment.failed);
	timer_init(&tick, on_tick);
	ck_assert_int_eq(timer_start(loop, &tick, 2), 0);
}

static void
begin(void)
{
	begin_with(NULL);
}

/* Inside valgrind tests are not forked, so this process is also the one that
 * adopts what they leave behind. */
static void
no_children(void)
{
	if (suite_is_in_valgrind())
		WAIT_FOR(waitpid(-1, NULL, WNOHANG) < 0, 10000);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

/* Nothing is left: no process, no descriptor. */
static void
finish(void)
{
	ck_assert_uint_eq(programs_count(programs), 0);
	no_children();
	programs_free(programs);
	timer_fini(&tick);
	loop_free(loop);
	environment_fini(&environment);
	ck_assert_int_eq(child_fds(getpid()), fds_before);
}

static void
on_end(void *arg, const struct program_result *r)
{
	ck_assert_ptr_eq(arg, &result);
	result = *r;
	ends++;
}

static struct program_run *
start_argv(char *const argv[], uint64_t limit_ms)
{
	struct program_options o = { .argv = argv,
		.env = environment.list,
		.limit_ms = limit_ms,
		.on_end = on_end,
		.arg = &result };
	struct program_run *r;
	int before = ends;

	r = program_start(programs, &o);
	ck_assert_int_eq(ends, before);
	return r;
}

static struct program_run *
start(const char *script, uint64_t limit_ms)
{
	char sh[] = "/bin/sh", c[] = "-c", *text = strdup(script);
	char *argv[] = { sh, c, text, NULL };
	struct program_run *r = start_argv(argv, limit_ms);

	free(text);
	return r;
}

static void
run_limited(const char *script, uint64_t limit_ms)
{
	int before = ends;

	ck_assert_ptr_nonnull(start(script, limit_ms));
	RUN_UNTIL(ends > before);
}

/* Runs it, and compares how it ended, in words. */
static void
gives(const char *script, const char *expected)
{
	char text[PROGRAM_TEXT_MAX];

	run_limited(script, LONG);
	ck_assert_str_eq(program_result_text(&result, text), expected);
}

/* ---- ends ---- */

START_TEST(exit_status)
{
	begin();
	run_limited("exit 0", LONG);
	ck_assert_int_eq(result.end, PROGRAM_EXITED);
	ck_assert_int_eq(result.code, 0);
	gives("exit 3", "exit status 3");
	gives("echo no route; exit 255", "exit status 255: no route");
	gives("echo wrong >&2; exit 1", "exit status 1: wrong");
	gives("kill -TERM $$", "killed by signal 15 (Terminated)");
	gives("echo ouch; kill -SEGV $$",
	    "killed by signal 11 (Segmentation fault): ouch");
	ck_assert_int_eq(ends, 6);
	finish();
}
END_TEST

static const char *const methods[] = { "epoll", "poll", "select" };

START_TEST(any_method)
{
	begin_with(methods[_i]);
	gives("echo a; sleep 0.05; echo b; exit 2", "exit status 2: a");
	gives("yes | head -c 300000; exit 4", "exit status 4: y");
	finish();
}
END_TEST

static void
cannot_execute(const char *path, const char *expected)
{
	char *copy = strdup(path), text[PROGRAM_TEXT_MAX];
	char *argv[] = { copy, NULL };
	int before = ends;

	ck_assert_ptr_nonnull(start_argv(argv, LONG));
	RUN_UNTIL(ends > before);
	ck_assert_int_eq(result.end, PROGRAM_FAILED);
	ck_assert_str_eq(program_result_text(&result, text), expected);
	free(copy);
}

/* It copies the memory that the new process shares: no error comes back. */
#define NO_VALGRIND()                                                        \
	do {                                                                 \
		if (suite_is_in_valgrind())                                  \
			SKIP("valgrind makes fork() of what shares memory"); \
	} while (0)

START_TEST(not_executable)
{
	const char *file = scratch("file");

	NO_VALGRIND();
	begin();
	cannot_execute(
	    "/nonexistent/x", "not executed: No such file or directory");
	cannot_execute("/", "not executed: Permission denied");
	write_file(file, "no program\n");
	cannot_execute(file, "not executed: Permission denied");
	chmod(file, 0755);
	cannot_execute(file, "not executed: Exec format error");
	write_file(file, "#!/nonexistent/shell\n");
	cannot_execute(file, "not executed: No such file or directory");
	RUN_UNTIL(programs_count(programs) == 0);
	finish();
}
END_TEST

#ifdef __linux__
/* No process is started, whose end would be that of the run. */
START_TEST(not_permitted)
{
	struct starter *s;
	pid_t process;

	begin();
	s = starter_new(NULL, NULL, false);
	process = starter_fork(s);
	if (process == 0)
		_exit(starter_serve(s));
	programs_start_by(programs, s);
	cannot_execute("/bin/true", "not executed: Operation not permitted");
	starter_free(s);
	ck_assert_int_eq(waitpid(process, NULL, 0), process);
	RUN_UNTIL(programs_count(programs) == 0);
	finish();
}
END_TEST
#endif

/* Returns the number of the step that failed; 0: none. */
static int
try_without_null(const char *root)
{
	char *argv[] = { (char *)(uintptr_t) "/x", NULL }, *env[] = { NULL };
	struct program_options o = { .argv = argv, .env = env, .limit_ms = 10 };
	struct error e;

	if (chroot(root) < 0 || chdir("/") < 0)
		return 1;
	loop = loop_new(NULL, &e);
	if (loop == NULL)
		return 2;
	programs = programs_new(loop, MAX, &e);
	if (programs == NULL)
		return 3;
	if (program_start(programs, &o) != NULL || errno != ENODEV)
		return 4;
	programs_free(programs);
	loop_free(loop);
	return 0;
}

/* A root directory without /dev/null is in the way of programs alone. */
START_TEST(root_without_null)
{
	const char *root = scratch("root");
	int status;
	pid_t pid;

	NO_VALGRIND();
	if (geteuid() != 0)
		SKIP("needs root");
	ck_assert_int_eq(mkdir(root, 0755), 0);
	pid = child_fork();
	if (pid == 0)
		_exit(try_without_null(root));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

static void
refuses(const char *path, const char *why)
{
	struct error e;

	ck_assert_int_eq(program_check(path, &e), -1);
	ck_assert_msg(strstr(e.text, why) != NULL, "%s", e.text);
}

START_TEST(checked_beforehand)
{
	const char *file = scratch("file");
	struct error e;

	ck_assert_int_eq(program_check("/bin/sh", &e), 0);
	refuses("sh", "expects an absolute path");
	refuses("/nonexistent/x", "No such file or directory");
	refuses("/tmp", "not a file");
	write_file(file, "");
	refuses(file, "not executable");
	chmod(file, 0755);
	ck_assert_int_eq(program_check(file, &e), 0);
}
END_TEST

/* ---- what it says ---- */

START_TEST(first_line)
{
	char long_line[PROGRAM_LINE_MAX + 1];

	begin();
	gives(
	    "printf '\\n\\r\\none\\r\\ntwo\\n'; exit 1", "exit status 1: one");
	gives("printf 'no newline'; exit 1", "exit status 1: no newline");
	gives("printf 'o'; sleep 0.02; printf 'ne\\ntwo'; exit 1",
	    "exit status 1: one");
	gives("printf 'a\\tb\\033[1m\"c\"\\303\\244\\n'; exit 1",
	    "exit status 1: a\\x09b\\x1b[1m'c'\\xc3\\xa4");
	memset(long_line, 'x', PROGRAM_LINE_MAX);
	long_line[PROGRAM_LINE_MAX] = '\0';
	run_limited("head -c 100000 /dev/zero | tr '\\0' x", LONG);
	ck_assert_str_eq(result.line, long_line);
	/* an escape is not cut in the middle */
	run_limited("printf '%0198d\\001\\n' 0", LONG);
	ck_assert_uint_eq(strlen(result.line), 198);
	finish();
}
END_TEST

/* As fast as it may for as long as it may: the loop has other things to do. */
START_TEST(flood)
{
	struct rusage before, after;
	long long cpu;
	int ticks_before;

	begin();
	ticks_before = ticks;
	getrusage(RUSAGE_SELF, &before);
	run_limited("exec yes", 500);
	getrusage(RUSAGE_SELF, &after);
	ck_assert_int_eq(result.end, PROGRAM_TIMED_OUT);
	ck_assert_str_eq(result.line, "y");
	/* a loop that reads all there is would not tick before the end */
	ck_assert_int_gt(ticks - ticks_before, 5);
	cpu = (after.ru_utime.tv_sec - before.ru_utime.tv_sec +
		  after.ru_stime.tv_sec - before.ru_stime.tv_sec) *
		1000 +
	    (after.ru_utime.tv_usec - before.ru_utime.tv_usec +
		after.ru_stime.tv_usec - before.ru_stime.tv_usec) /
		1000;
	ck_assert_msg(
	    suite_is_light() || cpu < 150, "%lld ms of the processor", cpu);
	finish();
}
END_TEST

START_TEST(much_output_and_a_good_end)
{
	begin();
	run_limited("head -c 1000000 /dev/zero; exit 7", LONG);
	ck_assert_int_eq(result.end, PROGRAM_EXITED);
	ck_assert_int_eq(result.code, 7);
	finish();
}
END_TEST

/* ---- who hangs ---- */

START_TEST(hangs)
{
	begin();
	run_limited("trap '' TERM INT HUP; echo here; sleep 1000", 300);
	ck_assert_int_eq(result.end, PROGRAM_TIMED_OUT);
	ck_assert_str_eq(result.line, "here");
	run_limited("echo shut; exec >&- 2>&-; sleep 1000", 300);
	ck_assert_int_eq(result.end, PROGRAM_TIMED_OUT);
	ck_assert_str_eq(result.line, "shut");
	finish();
}
END_TEST

static bool
is_gone(pid_t pid)
{
	return (kill(pid, 0) < 0 && errno == ESRCH) ||
	    strncmp(child_status_line(pid, "State"), "Z", 1) == 0;
}

static pid_t
pid_in(const char *path)
{
	pid_t pid = (pid_t)strtol(contents(path), NULL, 10);

	ck_assert_msg(pid > 1, "no process id in %s", path);
	return pid;
}

/* A child of the program that has its output, too. */
START_TEST(forks)
{
	const char *pid = scratch("pid");

	begin();
	gives(text("sleep 1000 & echo $! >%s; echo done; exit 5", pid),
	    "exit status 5: done");
	WAIT_FOR(is_gone(pid_in(pid)), 5000);
	run_limited(text("(echo $$ >%s; sleep 1000) & sleep 1000", pid), 300);
	ck_assert_int_eq(result.end, PROGRAM_TIMED_OUT);
	WAIT_FOR(is_gone(pid_in(pid)), 5000);
	finish();
}
END_TEST

/* One that keeps the output open, but has left the group: nobody waits for
 * it. */
START_TEST(leaves_its_group)
{
	const char *pid = scratch("leaver");

	NEED_PROGRAM("setsid");
	begin();
	gives(text("setsid sh -c 'echo $$ >%s.new; mv %s.new %s; exec sleep "
		   "1000' & "
		   "while [ ! -f %s ]; do sleep 0.01; done; exit 6",
		  pid, pid, pid, pid),
	    "exit status 6");
	ck_assert(!is_gone(pid_in(pid)));
	kill(pid_in(pid), SIGKILL);
	finish();
}
END_TEST

/* ---- many, none ---- */

START_TEST(bounded)
{
	int i;

	begin();
	for (i = 0; i < MAX; i++)
		ck_assert_ptr_nonnull(start("sleep 0.1", LONG));
	ck_assert_ptr_null(start("sleep 0.1", LONG));
	ck_assert_int_eq(errno, EAGAIN);
	RUN_UNTIL(ends == MAX);
	run_limited("exit 0", LONG);
	finish();
}
END_TEST

static int restarts;

static void
start_again(void *arg, const struct program_result *r)
{
	char path[] = "/bin/true";
	char *argv[] = { path, NULL };
	struct program_options o = { .argv = argv,
		.env = environment.list,
		.limit_ms = LONG,
		.on_end = start_again,
		.arg = arg };

	ck_assert_int_eq(r->end, PROGRAM_EXITED);
	if (++restarts < 50)
		ck_assert_ptr_nonnull(program_start(programs, &o));
}

START_TEST(one_after_another)
{
	struct program_result none = { .end = PROGRAM_EXITED };

	begin();
	restarts = 0;
	start_again(NULL, &none);
	RUN_UNTIL(restarts == 50);
	finish();
}
END_TEST

static struct program_turn turns[5];
static struct task counter;
static int begun, begun_at[5], turn_count;

static void
count_turns(struct task *t)
{
	turn_count++;
	loop_soon(loop, t);
}

static void
on_turn(struct program_turn *t)
{
	ck_assert_ptr_eq(t, &turns[begun]);
	begun_at[begun++] = turn_count;
}

/* One of them in a turn of the loop; one that is no longer wanted is left
 * out. */
START_TEST(queued)
{
	int i;

	begin();
	for (i = 0; i < 5; i++) {
		turns[i].start = on_turn;
		program_queue(programs, &turns[i]);
	}
	ck_assert_int_eq(begun, 0);
	program_unqueue(&turns[4]);
	counter.run = count_turns;
	list_init(&counter.link);
	loop_soon(loop, &counter);
	RUN_UNTIL(begun == 4);
	for (i = 1; i < 4; i++)
		ck_assert_int_eq(begun_at[i], begun_at[i - 1] + 1);
	RUN_UNTIL(ticks > 20);
	ck_assert_int_eq(begun, 4);
	list_remove(&counter.link);
	program_unqueue(&turns[0]);
	finish();
}
END_TEST

START_TEST(cancelled)
{
	begin();
	program_cancel(start("sleep 1000", LONG));
	program_cancel(start("exec yes", LONG));
	program_cancel(start("exit 0", LONG));
	RUN_UNTIL(programs_count(programs) == 0);
	ck_assert_int_eq(ends, 0);
	finish();
}
END_TEST

/* Somebody else's child is reaped by somebody else. */
START_TEST(others_children)
{
	pid_t other;
	int status;

	begin();
	other = child_fork();
	if (other == 0)
		_exit(9);
	run_limited("sleep 0.05", LONG);
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	ck_assert_int_eq(WEXITSTATUS(status), 9);
	finish();
}
END_TEST

START_TEST(end_of_pen)
{
	int fds;

	begin();
	fds = child_fds(getpid());
	ck_assert_ptr_nonnull(start("sleep 1000", LONG));
	ck_assert_ptr_nonnull(start("exec yes", LONG));
	ck_assert_int_eq(child_fds(getpid()), fds + 2);
	programs_free(programs);
	no_children();
	ck_assert_int_eq(ends, 0);
	programs = NULL;
	timer_fini(&tick);
	loop_free(loop);
	environment_fini(&environment);
	ck_assert_int_eq(child_fds(getpid()), fds_before);
}
END_TEST

#ifdef __linux__
START_TEST(death_of_pen)
{
	const char *pid = scratch("orphan");
	pid_t pen;

	pen = child_fork();
	if (pen == 0) {
		begin();
		start(text("echo $$ >%s.new; mv %s.new %s; exec sleep 1000",
			  pid, pid, pid),
		    LONG);
		for (;;)
			turn();
	}
	WAIT_FOR(access(pid, F_OK) == 0, 10000);
	kill(pen, SIGKILL);
	ck_assert_int_eq(waitpid(pen, NULL, 0), pen);
	WAIT_FOR(is_gone(pid_in(pid)), 10000);
}
END_TEST
#endif

/* ---- what it gets ---- */

START_TEST(gets_environment)
{
	setenv("NOTIFY_SOCKET", "/run/x", 1);
	setenv("LISTEN_FDS", "3", 1);
	setenv("WATCHDOG_USEC", "1", 1);
	setenv("PEN_OLD", "x", 1);
	setenv("SECRET", "x", 1);
	setenv("LC_ALL", "C", 1);
	begin();
	gives("echo $PEN_NAME $LC_ALL$SECRET $NOTIFY_SOCKET$LISTEN_FDS"
	      "$WATCHDOG_USEC$PEN_OLD; exit 1",
	    "exit status 1: web1 C");
	gives("cat; readlink /proc/self/fd/0; exit 1",
	    "exit status 1: /dev/null");
	finish();
}
END_TEST

START_TEST(gets_no_signals)
{
	sigset_t set;

	begin();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* two above 31 are the C library's own */
	gives("for s in $(sed -n 's/^Sig[BI][lg][kn].*://p' /proc/$$/status); "
	      "do printf %d: $((0x$s & 0x7fffffff)); done; exit 1",
	    "exit status 1: 0:0:");
	sigprocmask(SIG_SETMASK, NULL, &set);
	ck_assert(sigismember(&set, SIGTERM));
	finish();
}
END_TEST

START_TEST(gets_own_session)
{
	NO_VALGRIND(); /* nor does it lower limits */
	begin();
	gives("read pid name state parent group session rest </proc/$$/stat; "
	      "[ $$ = $group ] && [ $$ = $session ] && exit 8",
	    "exit status 8");
	gives("[ $(ulimit -Sn) -le 1024 ] && exit 9", "exit status 9");
	finish();
}
END_TEST

/* Descriptors 0, 1, 2, and 3 for the list itself. */
#define LIST_FILES "cd /proc/self/fd; echo *; exit 1"

/* Descriptors that are not closed on exec, few and very many. */
START_TEST(gets_no_descriptor)
{
	static int fd[CROWD];
	struct rlimit limit;
	int i;

	NO_VALGRIND();
	begin();
	fd[0] = dup(0);
	gives(LIST_FILES, "exit status 1: 0 1 2 3");
	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max < CROWD + 100)
		SKIP("not enough descriptors");
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (i = 1; i < CROWD; i++)
		ck_assert_int_ge(fd[i] = dup(0), 0);
	gives(LIST_FILES, "exit status 1: 0 1 2 3");
	gives("exit 4", "exit status 4");
	cannot_execute(
	    "/nonexistent/x", "not executed: No such file or directory");
	for (i = 0; i < CROWD; i++)
		close(fd[i]);
	RUN_UNTIL(programs_count(programs) == 0);
	finish();
}
END_TEST

#ifdef HAVE_LINUX_CAPABILITY_H
START_TEST(gets_no_capability)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct set[_LINUX_CAPABILITY_U32S_3];

	ck_assert_int_eq(syscall(SYS_capget, &head, set), 0);
	set[0].inheritable = set[0].permitted;
	if ((set[0].permitted & 1U << CAP_NET_RAW) == 0 ||
	    syscall(SYS_capset, &head, set) != 0 ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0) != 0)
		SKIP("no capabilities to inherit");
	begin();
	gives("echo $(sed -n -e 's/^CapInh.*://p' -e 's/^CapAmb.*://p' "
	      "/proc/$$/status); exit 1",
	    "exit status 1: 0000000000000000 0000000000000000");
	/* pen keeps its own */
	ck_assert_int_eq(
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_NET_RAW, 0, 0), 1);
	finish();
}
END_TEST
#endif

/* ---- the portable way ---- */

static pid_t
spawn(const char *path, int out, int *error)
{
	char *copy = strdup(path), word[] = "portable";
	char *argv[] = { copy, word, NULL };
	char *env[] = { NULL };
	int null = fcntl(0, F_DUPFD_CLOEXEC, 3);
	struct program_exec x = {
		.argv = argv, .env = env, .null = null, .out = out
	};
	pid_t pid = program_exec_spawn(&x, error);

	close(null);
	free(copy);
	return pid;
}

START_TEST(by_posix_spawn)
{
	int fd[2], status, error;
	char said[32] = "";
	pid_t pid;

	NO_VALGRIND();
	ck_assert_int_eq(pipe(fd), 0);
	pid = spawn("/bin/echo", fd[1], &error);
	ck_assert_int_gt(pid, 1);
	ck_assert_int_eq(error, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_gt(read(fd[0], said, sizeof(said) - 1), 0);
	ck_assert_str_eq(said, "portable\n");
	ck_assert_int_eq(spawn("/nonexistent/x", fd[1], &error), 0);
	ck_assert_int_eq(error, ENOENT);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

SUITE(test_program)
{
	Suite *s = suite_create("program");
	TCase *methods_case = tcase_create("any_method");

	tcase_set_timeout(methods_case, 30);
	tcase_add_loop_test(methods_case, any_method, 0, 3);
	suite_add_tcase(s, methods_case);
	SUITE_ADD(s, exit_status, 30);
	SUITE_ADD(s, not_executable, 30);
	SUITE_ADD(s, root_without_null, 10);
	SUITE_ADD(s, checked_beforehand, 10);
	SUITE_ADD(s, first_line, 30);
	SUITE_ADD(s, flood, 30);
	SUITE_ADD(s, much_output_and_a_good_end, 30);
	SUITE_ADD(s, hangs, 30);
	SUITE_ADD(s, forks, 30);
	SUITE_ADD(s, leaves_its_group, 30);
	SUITE_ADD(s, bounded, 30);
	SUITE_ADD(s, one_after_another, 30);
	SUITE_ADD(s, queued, 30);
	SUITE_ADD(s, cancelled, 30);
	SUITE_ADD(s, others_children, 30);
	SUITE_ADD(s, end_of_pen, 30);
#ifdef __linux__
	SUITE_ADD(s, not_permitted, 30);
	SUITE_ADD(s, death_of_pen, 30);
#endif
	SUITE_ADD(s, gets_environment, 30);
	SUITE_ADD(s, gets_no_signals, 30);
	SUITE_ADD(s, gets_own_session, 30);
	SUITE_ADD(s, gets_no_descriptor, 30);
#ifdef HAVE_LINUX_CAPABILITY_H
	SUITE_ADD(s, gets_no_capability, 30);
#endif
	SUITE_ADD(s, by_posix_spawn, 30);
	return s;
}
