/* reserve.c: see reserve.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/workers/reserve.h"

/* Sleeps until the parent ends this process, or has ended itself. */
static void
idle(int fd)
{
	char any;

	for (;;)
		if (read(fd, &any, 1) == 0)
			(void)kill(getpid(), SIGKILL);
}

/* The handlers of signals are the parent's, so that none may come. */
static pid_t
fork_idle(const int fd[2])
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (pid == 0) {
		close(fd[1]);
		idle(fd[0]);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

int
reserve_fill(struct reserve *r, unsigned count, struct error *e)
{
	int fd[2];
	pid_t pid;

	reserve_empty(r);
	if (count == 0)
		return 0;
	if (pipe(fd) < 0)
		return error_set(e, "pipe: %s", strerror(errno));
	(void)fcntl(fd[1], F_SETFD, FD_CLOEXEC);
	while (r->count < count && (pid = fork_idle(fd)) > 0)
		r->pid[r->count++] = pid;
	if (r->count < count)
		error_set(e, "worker %u of %u not started: %s", r->count + 1,
		    count, strerror(errno));
	close(fd[0]);
	r->fd = fd[1];
	if (r->count == count)
		return 0;
	if (r->count == 0)
		close(r->fd);
	reserve_empty(r);
	return -1;
}

void
reserve_take(struct reserve *r)
{
	if (r->count == 0)
		return;
	r->count--;
	(void)kill(r->pid[r->count], SIGKILL);
	while (waitpid(r->pid[r->count], NULL, 0) < 0 && errno == EINTR)
		;
	if (r->count == 0)
		close(r->fd);
}

bool
reserve_has(const struct reserve *r, pid_t pid)
{
	unsigned i;

	for (i = 0; i < r->count; i++)
		if (r->pid[i] == pid)
			return true;
	return false;
}

void
reserve_empty(struct reserve *r)
{
	while (r->count > 0)
		reserve_take(r);
}

void
reserve_forget(struct reserve *r)
{
	if (r->count > 0)
		close(r->fd);
	r->count = 0;
}
