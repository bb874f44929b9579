/* child.c: fork, exec, watch and reap. */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "support/child.h"
#include "support/suite.h"
#include "support/wait.h"

extern char **environ; /* some systems declare it nowhere */

/* In the child: it ends with its parent, which may be gone already. */
static void
end_with(pid_t parent)
{
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != parent)
		_exit(1);
}

pid_t
child_fork(void)
{
	pid_t parent = getpid(), pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) { /* an assertion, even a true one, allocates */
		end_with(parent);
		return 0;
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

void
child_close_from(int fd)
{
	int max = (int)sysconf(_SC_OPEN_MAX);

#ifdef SYS_close_range
	/* a million of close() where so many may be open */
	if (syscall(SYS_close_range, fd, ~0U, 0) == 0)
		return;
#endif
	for (; fd < max; fd++)
		close(fd);
}

static void
redirect(const char *path, int flags, int to)
{
	int fd = open(path, flags, 0644);

	if (fd < 0 || dup2(fd, to) < 0)
		_exit(126);
	if (fd != to)
		close(fd);
}

/* Moves them out of the way of each other first. */
static void
take_descriptors(const struct child_gifts *g)
{
	int high[CHILD_ARGS], i;

	for (i = 0; i < g->count && i < CHILD_ARGS; i++)
		high[i] = fcntl(g->fds[i], F_DUPFD, 3 + g->count);
	for (i = 0; i < g->count && i < CHILD_ARGS; i++)
		if (dup2(high[i], 3 + i) < 0)
			_exit(126);
	child_close_from(3 + g->count);
}

/* What exec gets, made before vfork(): the child has its parent's memory, and
 * no lock of it. A copy of that memory would take longer than many a program,
 * most of all in a build with sanitizers. */
struct start {
	char *program; /* where it was found */
	char *argv[CHILD_ARGS];
	char **env;
	char *listen_pid; /* of `env`; its number is the child's to fill in */
};

static char *
kept(const char *s)
{
	char *copy = strdup(s);

	ck_assert_ptr_nonnull(copy);
	return copy;
}

/* Takes the place of the variable of that name, if there is one. */
static char *
put_variable(char **env, const char *assignment)
{
	size_t name = strcspn(assignment, "=") + 1;

	while (*env != NULL && strncmp(*env, assignment, name) != 0)
		env++;
	free(*env);
	*env = kept(assignment);
	return *env;
}

static void
prepare_environment(struct start *s, const struct child_gifts *g)
{
	const char *const *more;
	size_t n = 0, added = 2;

	while (environ[n] != NULL)
		n++;
	for (more = g->env; more != NULL && *more != NULL; more += 2)
		added++;
	s->env = calloc(n + added + 1, sizeof(*s->env));
	ck_assert_ptr_nonnull(s->env);
	while (n-- > 0)
		s->env[n] = kept(environ[n]);
	for (more = g->env; more != NULL && *more != NULL; more += 2)
		put_variable(s->env, text("%s=%s", more[0], more[1]));
	if (g->count == 0)
		return;
	put_variable(s->env, text("LISTEN_FDS=%d", g->count));
	s->listen_pid = put_variable(s->env, text("LISTEN_PID=%020d", 0));
}

static char *
find(const char *program)
{
	const char *path =
	    strchr(program, '/') == NULL ? child_find(program) : program;

	return kept(path != NULL ? path : program);
}

static void
prepare(struct start *s, const char *const argv[], const struct child_gifts *g)
{
	int i;

	memset(s, 0, sizeof(*s));
	s->program = find(argv[0]);
	for (i = 0; argv[i] != NULL && i < CHILD_ARGS - 1; i++)
		s->argv[i] = kept(argv[i]);
	prepare_environment(s, g);
}

static void
forget(struct start *s)
{
	char **p;

	for (p = s->argv; *p != NULL; p++)
		free(*p);
	for (p = s->env; *p != NULL; p++)
		free(*p);
	free(s->env);
	free(s->program);
}

static void
take_terminal(const char *name)
{
	int fd, i;

	setsid();
	fd = open(name, O_RDWR);
	if (fd < 0)
		_exit(126);
#ifdef TIOCSCTTY
	ioctl(fd, TIOCSCTTY, 0);
#endif
	for (i = 0; i < 3; i++)
		dup2(fd, i);
}

void
child_limit_files(rlim_t most)
{
	struct rlimit r;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &r), 0);
	r.rlim_cur = most < r.rlim_max ? most : r.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &r), 0);
}

/* In the child, which changes nothing that its parent has. */
static void
become(
    const struct child *c, const struct start *s, const struct child_gifts *g)
{
	struct rlimit limit = { g->files, g->files };

	if (g->terminal != NULL) {
		take_terminal(g->terminal);
	} else {
		redirect("/dev/null", O_RDONLY, 0);
		redirect(c->out, O_WRONLY | O_CREAT | O_APPEND, 1);
		redirect(c->err, O_WRONLY | O_CREAT | O_APPEND, 2);
	}
	take_descriptors(g);
	if (s->listen_pid != NULL)
		sprintf(s->listen_pid, "LISTEN_PID=%ld", (long)getpid());
	signal(SIGPIPE, SIG_DFL);
	if (g->files != 0)
		setrlimit(RLIMIT_NOFILE, &limit);
	execve(s->program, s->argv, s->env);
	dprintf(2, "%s: %s\n", s->argv[0], strerror(errno));
	_exit(127);
}

void
child_start_given(
    struct child *c, const char *const argv[], const struct child_gifts *gifts)
{
	static int count;
	pid_t parent = getpid();
	struct start s;

	memset(c, 0, sizeof(*c));
	c->out = scratch(text("out%d", ++count));
	c->err = scratch(text("err%d", count));
	prepare(&s, argv, gifts);
	c->pid = vfork();
	if (c->pid == 0) {
		end_with(parent);
		become(c, &s, gifts);
	}
	forget(&s);
	ck_assert_int_gt(c->pid, 0);
	c->running = true;
}

void
child_start(struct child *c, const char *const argv[])
{
	static const struct child_gifts none;

	child_start_given(c, argv, &none);
}

bool
child_has_ended(struct child *c)
{
	int status;

	if (c->running && waitpid(c->pid, &status, WNOHANG) == c->pid) {
		c->running = false;
		c->status = WIFEXITED(status) ? WEXITSTATUS(status)
					      : 1000 + WTERMSIG(status);
	}
	return !c->running;
}

int
child_wait(struct child *c, int ms)
{
	WAIT_FOR(child_has_ended(c), ms);
	return c->status;
}

int
child_stop(struct child *c, int signal)
{
	if (!child_has_ended(c))
		kill(c->pid, signal);
	return child_wait(c, 10000);
}

const char *
child_err(const struct child *c)
{
	return contents(c->err);
}

const char *
child_out(const struct child *c)
{
	return contents(c->out);
}

bool
child_has_said(const struct child *c, const char *what)
{
	return file_has(c->err, what);
}

int
child_fds(pid_t pid)
{
	char path[64];
	DIR *d;
	struct dirent *e;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%ld/fd", (long)pid);
	d = opendir(path);
	if (d == NULL)
		return -1;
	while ((e = readdir(d)) != NULL)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

long
child_cpu_ms(pid_t pid)
{
	const char *s = contents(text("/proc/%ld/stat", (long)pid));
	const char *tail = strrchr(s, ')');
	unsigned long user, system;

	if (tail == NULL ||
	    sscanf(tail + 1,
		" %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
		&system) != 2)
		return -1;
	return (
	    long)((user + system) * 1000 / (unsigned long)sysconf(_SC_CLK_TCK));
}

const char *
child_children(pid_t pid)
{
	return contents(
	    text("/proc/%ld/task/%ld/children", (long)pid, (long)pid));
}

const char *
child_status_line(pid_t pid, const char *name)
{
	const char *s = contents(text("/proc/%ld/status", (long)pid));
	size_t n = strlen(name);

	for (; s != NULL && *s != '\0'; s = strchr(s, '\n')) {
		s += *s == '\n';
		if (strncmp(s, name, n) == 0 && s[n] == ':') {
			s += n + 1;
			s += strspn(s, "\t ");
			return text("%.*s", (int)strcspn(s, "\n"), s);
		}
	}
	return "";
}

const char *
child_link(pid_t pid, const char *name)
{
	char to[512];
	ssize_t n =
	    readlink(text("/proc/%ld/%s", (long)pid, name), to, sizeof(to) - 1);

	to[n > 0 ? n : 0] = '\0';
	return text("%s", to);
}

long
child_rss_kb(pid_t pid)
{
	const char *s = child_status_line(pid, "VmRSS");

	return *s != '\0' ? strtol(s, NULL, 10) : -1;
}

const char *
child_find(const char *program)
{
	const char *dir = getenv("PATH"), *end, *path;
	const char *dirs =
	    text("%s:/usr/sbin:/usr/local/sbin:/sbin", dir != NULL ? dir : "");

	for (dir = dirs; *dir != '\0'; dir = *end != '\0' ? end + 1 : end) {
		end = dir + strcspn(dir, ":");
		path = text("%.*s/%s", (int)(end - dir), dir, program);
		if (access(path, X_OK) == 0)
			return path;
	}
	return NULL;
}
