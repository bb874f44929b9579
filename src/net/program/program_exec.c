/* program_exec.c: clone(2) and execve(2), or posix_spawn(3); owns nothing. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.h"
#include "net/program/program_exec.h"

#ifdef __linux__
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#ifdef HAVE_LINUX_CAPABILITY_H
#include <linux/capability.h>
#endif
#endif

/* ---- posix_spawn ---- */

static int
exec_set_attributes(posix_spawnattr_t *a)
{
	sigset_t all, none;
	int flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;

	sigfillset(&all);
	sigemptyset(&none);
#ifdef POSIX_SPAWN_SETSID
	flags |= POSIX_SPAWN_SETSID;
#else
	flags |= POSIX_SPAWN_SETPGROUP;
#endif
	if (posix_spawnattr_setsigdefault(a, &all) != 0 ||
	    posix_spawnattr_setsigmask(a, &none) != 0 ||
	    posix_spawnattr_setflags(a, (short)flags) != 0)
		return -1;
	return 0;
}

pid_t
program_exec_spawn(const struct program_exec *x, int *error)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	pid_t pid = 0;

	if (posix_spawn_file_actions_init(&files) != 0)
		return -1;
	if (posix_spawnattr_init(&attributes) != 0) {
		posix_spawn_file_actions_destroy(&files);
		return -1;
	}
	*error = ENOMEM;
	/* all else is closed on exec */
	if (exec_set_attributes(&attributes) == 0 &&
	    posix_spawn_file_actions_adddup2(&files, x->null, 0) == 0 &&
	    posix_spawn_file_actions_adddup2(&files, x->out, 1) == 0 &&
	    posix_spawn_file_actions_adddup2(&files, x->out, 2) == 0)
		*error = posix_spawn(
		    &pid, x->argv[0], &files, &attributes, x->argv, x->env);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	if (*error == 0)
		return pid;
	errno = *error;
	/* whether the system is short of something, or the program cannot be
	 * executed */
	return *error == EAGAIN || *error == ENOMEM ? -1 : 0;
}

#ifdef __linux__

/* ---- clone: in the new process ---- */

enum { STACK = 64 * 1024, FILES_MAX = 1024 };

/* The input of the new process, and its result in `error`: the memory is
 * pen's. */
struct order {
	const struct program_exec *x;
	pid_t parent;
	volatile int error;
};

/* The program gets no capabilities of pen: without inheritable ones it has no
 * ambient ones either (capabilities(7)). It still gets those of its file, or of
 * root. */
static void
drop_capabilities(void)
{
#ifdef HAVE_LINUX_CAPABILITY_H
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct set[_LINUX_CAPABILITY_U32S_3];
	int i;

	/* a service manager may have forbidden capset() */
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capget, &head, set) != 0)
		return;
	for (i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		set[i].inheritable = 0;
	(void)syscall(SYS_capset, &head, set);
#endif
}

/* Programs that close all they may have, or use select(2), get on badly with
 * the limit that pen has raised. */
static void
lower_limit(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur <= FILES_MAX)
		return;
	r.rlim_cur = FILES_MAX;
	(void)setrlimit(RLIMIT_NOFILE, &r);
}

enum { SHARE_NOTHING = 1 << 1 }; /* CLOSE_RANGE_UNSHARE */

static int
close_from(int fd, unsigned flags)
{
#ifdef SYS_close_range
	return (int)syscall(SYS_close_range, (unsigned)fd, ~0U, flags);
#else
	(void)fd, (void)flags;
	return -1;
#endif
}

/* Gives the new process descriptors of its own: null and output as 0 to 2, all
 * others closed. A process with many descriptors copies only the low ones that
 * it needs, or on an old kernel all. The others are closed by exec anyway,
 * unless a library forgot to mark them. */
static int
take_files(const struct program_exec *x)
{
	int last = x->null > x->out ? x->null : x->out;

	if (x->crowded && close_from(last + 1, SHARE_NOTHING) < 0 &&
	    unshare(CLONE_FILES) < 0)
		return -1;
	if (dup2(x->null, 0) < 0 || dup2(x->out, 1) < 0 || dup2(x->out, 2) < 0)
		return -1;
	(void)close_from(3, 0);
	return 0;
}

/* A handler of pen's must not run in here. */
static void
reset_signals(void)
{
	struct sigaction standard;
	sigset_t none;
	int s;

	memset(&standard, 0, sizeof(standard));
	standard.sa_handler = SIG_DFL;
	for (s = 1; s < NSIG; s++)
		(void)sigaction(s, &standard, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Changes nothing of pen's memory but the order. What returns is the exit
 * status. */
static int
become_program(void *arg)
{
	struct order *o = arg;

	reset_signals();
	(void)setsid();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != o->parent)
		return 1;
	drop_capabilities();
	lower_limit();
	if (take_files(o->x) == 0)
		(void)execve(o->x->argv[0], o->x->argv, o->x->env);
	o->error = errno;
	return 127;
}

/* The same of the program that replaces pen. A descriptor that is written to is
 * one that was copied before, or none that is copied. */
struct order_to_succeed {
	const struct program_exec_successor *x;
	char **env;
	volatile int error;
};

static int
become_successor(void *arg)
{
	struct order_to_succeed *o = arg;
	const struct program_exec_successor *x = o->x;
	unsigned i;

	reset_signals();
	if (dup2(x->errors, STDERR_FILENO) >= 0) {
		for (i = 0; i < x->count; i++)
			(void)dup2(x->fd[i], STDERR_FILENO + 1 + (int)i);
		(void)execve(x->path, x->argv, o->env);
	}
	o->error = errno;
	return 127;
}

/* ---- clone: in pen, or in its starter ---- */

/* Runs `become` in a process that shares this one's memory until it executes a
 * program or ends. */
static pid_t
clone_to(int (*become)(void *), int flags, void *order)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	sigset_t all, before;
	pid_t pid;
	int error;

	if (stack == MAP_FAILED)
		return -1;
	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	pid = clone(become, stack + STACK,
	    flags | CLONE_VM | CLONE_VFORK | SIGCHLD, order);
	error = errno;
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	(void)munmap(stack, STACK);
	errno = error;
	return pid;
}

pid_t
program_exec(const struct program_exec *x, int *error)
{
	struct order o = { .x = x,
		.parent = x->for_parent ? getppid() : getpid() };
	pid_t pid = clone_to(become_program,
	    (x->crowded ? CLONE_FILES : 0) |
		(x->for_parent ? CLONE_PARENT : 0),
	    &o);

	*error = o.error;
	return pid;
}

pid_t
program_exec_succeed(const struct program_exec_successor *x, int *error)
{
	struct order_to_succeed o = { .x = x,
		.env = environment_with(x->word, x->more) };
	pid_t pid;

	if (o.env == NULL)
		return -1;
	pid = clone_to(become_successor, CLONE_PARENT, &o);
	free(o.env);
	*error = o.error;
	return pid;
}

#else

pid_t
program_exec(const struct program_exec *x, int *error)
{
	return program_exec_spawn(x, error);
}

#endif

/* Kernels that cannot close them at once are older than sandboxes. */
void
program_exec_close_from(int fd)
{
	long past = sysconf(_SC_OPEN_MAX);

#ifdef __linux__
	if (close_from(fd, 0) == 0)
		return;
#endif
	for (; fd < past; fd++)
		close(fd);
}
