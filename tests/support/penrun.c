/* penrun.c: command lines for pen, and what is expected of its ends. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

/* ---- its processes ---- */

int
pen_workers(void)
{
	const char *workers = getenv("PEN_TEST_WORKERS");

	return workers != NULL && *workers != '\0' ? atoi(workers) : 1;
}

/* Other children of it are programs. */
long
pen_sum(const struct pen *p, long (*of)(pid_t pid))
{
	const char *at = "", *program = child_link(p->child.pid, "exe");
	long pid, sum;
	char *end;

	if (pen_workers() > 1)
		at = child_children(p->child.pid);
	sum = of(p->child.pid); /* which may end it */
	for (; (pid = strtol(at, &end, 10)) > 0; at = end)
		if (strcmp(child_link((pid_t)pid, "exe"), program) == 0)
			sum += of((pid_t)pid);
	return sum;
}

static long
one(pid_t pid)
{
	(void)pid;
	return 1;
}

/* It listens a moment before they are there. */
static bool
has_workers(const struct pen *p)
{
	return pen_workers() == 1 || pen_sum(p, one) > pen_workers();
}

static long
fds_of(pid_t pid)
{
	return child_fds(pid);
}

int
pen_fds(const struct pen *p)
{
	return (int)pen_sum(p, fds_of);
}

int
pen_fds_at_rest(const struct pen *p)
{
	enum { TIMES = 8 };
	int fds = -1, before, same = 0;

	while (same < TIMES) {
		before = fds;
		wait_nap();
		fds = pen_fds(p);
		same = fds == before ? same + 1 : 0;
	}
	return fds;
}

long
pen_rss_kb(const struct pen *p)
{
	return pen_sum(p, child_rss_kb);
}

/* Where its state cannot be read it is stopped soon. */
static long
freeze(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	WAIT_FOR(strchr("T", child_status_line(pid, "State")[0]), 10000);
	return 0;
}

void
pen_freeze(const struct pen *p)
{
	(void)pen_sum(p, freeze);
}

static long
thaw(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGCONT), 0);
	return 0;
}

void
pen_thaw(const struct pen *p)
{
	(void)pen_sum(p, thaw);
}

static long
end_one(pid_t pid)
{
	(void)kill(pid, SIGKILL); /* workers end without their leader */
	return 0;
}

void
pen_kill(const struct pen *p)
{
	(void)pen_sum(p, end_one);
}

/* A loop that spins takes all it gets: on a machine with ten others to serve,
 * still a tenth of a processor or two. */
static bool
rests(const struct pen *p)
{
	enum { LOOK_MS = 300, REST_MS = 30 };
	long cpu = pen_sum(p, child_cpu_ms);
	long long began = wait_now_ms();

	while (wait_now_ms() - began < LOOK_MS)
		wait_nap();
	return pen_sum(p, child_cpu_ms) - cpu < REST_MS;
}

void
pen_expect_rest(struct pen *p)
{
	WAIT_FOR(rests(p), 5000);
}

/* ---- its start ---- */

struct words {
	const char *argv[CHILD_ARGS];
	int n;
};

static void
add(struct words *w, const char *word)
{
	ck_assert_int_lt(w->n, CHILD_ARGS - 1);
	w->argv[w->n++] = word;
	w->argv[w->n] = NULL;
}

static void
add_program(struct words *w)
{
	const char *wrapper = getenv("PEN_TEST_WRAPPER");
	const char *pen = getenv("PEN");
	const char *sandbox = getenv("PEN_TEST_SANDBOX");
	size_t n;

	w->n = 0;
	for (; wrapper != NULL && *wrapper != '\0'; wrapper += n) {
		wrapper += strspn(wrapper, " ");
		n = strcspn(wrapper, " ");
		if (n > 0)
			add(w, text("%.*s", (int)n, wrapper));
	}
	add(w, pen != NULL ? pen : "./pen");
	if (pen_workers() > 1) {
		add(w, "--workers");
		add(w, text("%d", pen_workers()));
	}
	if (sandbox != NULL && *sandbox != '\0') {
		add(w, "--sandbox");
		add(w, sandbox);
	}
}

static void
add_list(struct words *w, va_list ap)
{
	const char *word;

	while ((word = va_arg(ap, const char *)) != NULL)
		add(w, word);
}

bool
pen_is_plain(void)
{
	const char *wrapper = getenv("PEN_TEST_WRAPPER");

#ifdef PEN_SANITIZE
	return false;
#endif
	return (wrapper == NULL || *wrapper == '\0') &&
	    getenv("EVENT_NOEPOLL") == NULL;
}

bool
pen_has_sandbox(void)
{
#ifdef HAVE_SECCOMP
	return pen_is_plain();
#else
	return false;
#endif
}

void
any_event_method(void)
{
	unsetenv("EVENT_NOEPOLL");
	unsetenv("EVENT_NOPOLL");
}

void
pen_start_limited(struct pen *p, unsigned long files, ...)
{
	struct words w;
	va_list ap;

	add_program(&w);
	va_start(ap, files);
	add_list(&w, ap);
	va_end(ap);
	child_start_given(
	    &p->child, w.argv, &(struct child_gifts){ .files = files });
}

void
pen_start_given(struct pen *p, const struct child_gifts *gifts, ...)
{
	struct words w;
	va_list ap;

	add_program(&w);
	va_start(ap, gifts);
	add_list(&w, ap);
	va_end(ap);
	child_start_given(&p->child, w.argv, gifts);
}

/* Pen opens its control sockets after its ports. */
static void
wait_for_control(struct pen *p, const struct words *w)
{
	struct endpoint at = { .port = 0 };
	int i;

	for (i = 1; i < w->n; i++) {
		if (strcmp(w->argv[i - 1], "-C") != 0 || w->argv[i][0] != '/')
			continue;
		snprintf(at.text, sizeof(at.text), "%s", w->argv[i]);
		WAIT_FOR(
		    child_has_ended(&p->child) || endpoint_is_listening(&at),
		    60000);
	}
}

void
pen_without_leak_checker(void)
{
	const char *given = getenv("ASAN_OPTIONS");

	setenv("ASAN_OPTIONS",
	    text("%s:detect_leaks=0", given != NULL ? given : ""), 1);
}

void
pen_up(struct pen *p, const struct endpoint *front, ...)
{
	struct words w;
	va_list ap;

	add_program(&w);
	add(&w, "-f");
	va_start(ap, front);
	add_list(&w, ap);
	va_end(ap);
	child_start(&p->child, w.argv);
	wait_for_control(p, &w);
	pen_wait_ready(p, front);
}

void
pen_up_words(
    struct pen *p, const struct endpoint *front, const char *const argv[])
{
	struct words w;

	add_program(&w);
	while (*argv != NULL)
		add(&w, *argv++);
	child_start(&p->child, w.argv);
	wait_for_control(p, &w);
	pen_wait_ready(p, front);
}

void
pen_wait_ready(struct pen *p, const struct endpoint *front)
{
	WAIT_FOR(child_has_ended(&p->child) ||
		(endpoint_is_listening(front) && has_workers(p)),
	    60000);
	ck_assert_msg(p->child.running, "pen ended with %d: %s",
	    p->child.status, child_err(&p->child));
}

void
pen_down(struct pen *p)
{
	int status;

	ck_assert_msg(!child_has_ended(&p->child),
	    "pen was gone already, with %d: %s", p->child.status,
	    child_err(&p->child));
	status = child_stop(&p->child, SIGTERM);
	ck_assert_msg(
	    status == 0, "pen ended with %d: %s", status, child_err(&p->child));
}

void
pen_expect_failure(const char *says, ...)
{
	struct child c;
	struct words w;
	va_list ap;
	const char *err;
	int status;

	add_program(&w);
	va_start(ap, says);
	add_list(&w, ap);
	va_end(ap);
	child_start(&c, w.argv);
	status = child_wait(&c, 10000);
	err = child_err(&c);
	ck_assert_msg(status == 1, "exit %d, said: %s", status, err);
	ck_assert_msg(strncmp(err, "pen: ", 5) == 0 &&
		strchr(err, '\n') == err + strlen(err) - 1,
	    "wanted one line, pen: ..., got: %s", err);
	ck_assert_msg(
	    strstr(err, says) != NULL, "wanted \"%s\" in: %s", says, err);
	ck_assert_str_eq(child_out(&c), "");
}

static size_t
file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (size_t)st.st_size : 0;
}

const char *
pen_ask(const struct endpoint *ctl, const char *line)
{
	return endpoint_ask(ctl, text("%s\n", line));
}

void
pen_answers(const struct endpoint *ctl, const char *line, const char *what)
{
	const char *said = pen_ask(ctl, line);

	ck_assert_msg(
	    strstr(said, what) != NULL, "%s: %s, not: %s", line, said, what);
}

const char *
pen_stats(struct pen *p)
{
	size_t before = strlen(child_err(&p->child)), now = before, last;

	kill(p->child.pid, SIGUSR1);
	do { /* it may come in several writes: until no more is added */
		last = now;
		WAIT_FOR(file_size(p->child.err) > before, 5000);
		wait_nap();
		wait_nap();
		now = file_size(p->child.err);
	} while (now != last);
	return child_err(&p->child) + before;
}

void
pen_expect_quiet(const struct pen *p)
{
	const char *rest = child_err(&p->child), *line;
	size_t n;

	for (; *rest != '\0'; rest += n + (rest[n] == '\n')) {
		n = strcspn(rest, "\n");
		line = text("%.*s", (int)n, rest);
		ck_assert_msg(strstr(line, ": started ") != NULL ||
			strstr(line, ": stopped ") != NULL ||
			strstr(line, ": session closed ") != NULL ||
			strstr(line, ": flow closed ") != NULL ||
			strstr(line, ": sessions not shown ") != NULL,
		    "%s", line);
	}
}
