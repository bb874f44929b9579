/* fit_guard.c: two small processes; see fit_guard.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/report/fit_guard.h"
#include "net/program/program_exec.h"

/* Until another twin is forked. */
enum { AGAIN_MS = 100, WITHOUT_TWIN_MS = 1000 };
/* Until a file is that of another pen. */
enum { KEPT_TRIES = 500, KEPT_MS = 10 };

bool
fit_is_kept(const char *file)
{
	int fd = open(
	    file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	bool kept = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 &&
	    errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return kept;
}

pid_t
fit_guard_fork(struct fit_guard *g)
{
	int fd[2];
	pid_t pid;

	g->ours = mmap(NULL, 1, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (g->ours == MAP_FAILED)
		return -1;
	if (pipe(fd) < 0) {
		(void)munmap(g->ours, 1);
		return -1;
	}
	pid = fork();
	if (pid < 0) {
		(void)munmap(g->ours, 1);
		close(fd[0]);
		close(fd[1]);
		return -1;
	}
	g->fd = fd[pid > 0];
	close(fd[pid == 0]);
	(void)fcntl(g->fd, F_SETFD, FD_CLOEXEC);
	return pid;
}

void
fit_guard_close(struct fit_guard *g)
{
	close(g->fd);
	(void)munmap(g->ours, 1);
}

/* Returns when the process at the other end has ended. */
static void
wait_for_end(int fd)
{
	char byte;
	ssize_t n;

	do
		n = read(fd, &byte, 1);
	while (n > 0 || (n < 0 && errno == EINTR));
}

/* Whether pen has ended, and not the twin. */
static bool
guard_wait(int twin)
{
	struct pollfd p[] = { { .fd = 0, .events = POLLIN },
		{ .fd = twin, .events = POLLIN } };

	while (poll(p, 2, twin < 0 ? WITHOUT_TWIN_MS : -1) < 0 &&
	    errno == EINTR)
		;
	return p[0].revents != 0;
}

/* A file that another pen keeps by now is not removed. The kernel closes the
 * pipe of one that was killed before its lock, perhaps. */
static void
remove_one(const char *file, int *tries)
{
	struct stat st;

	if (lstat(file, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	for (; fit_is_kept(file); ++*tries)
		if (*tries >= KEPT_TRIES)
			return;
		else
			(void)poll(NULL, 0, KEPT_MS);
	(void)unlink(file);
}

static void
guard_remove(const struct fit_guard *g, const char *const *files)
{
	int tries = 0;

	for (; *g->ours && *files != NULL; files++)
		remove_one(*files, &tries);
}

/* Each turn has another twin; and a twin whose guard has ended takes its
 * turns. */
static void
guard_in_turns(const struct fit_guard *g, const char *const *files)
{
	int fd[2];
	pid_t twin;
	bool over;

	for (;;) {
		twin = socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0 ? fork()
								    : -2;
		if (twin == 0) {
			close(fd[0]);
			wait_for_end(fd[1]);
			close(fd[1]);
			continue;
		}
		if (twin != -2)
			close(fd[1]);
		over = guard_wait(twin > 0 ? fd[0] : -1);
		if (twin > 0) {
			(void)kill(twin, SIGKILL);
			(void)waitpid(twin, NULL, 0);
		}
		if (twin != -2)
			close(fd[0]);
		if (over) {
			guard_remove(g, files);
			return;
		}
		(void)poll(NULL, 0, AGAIN_MS);
	}
}

/* All descriptors are pen's: what it closes must be closed. */
void
fit_guard_serve(
    struct fit_guard *g, const char *const *files, struct executable *x)
{
	int i;

	for (i = 1; i < NSIG; i++)
		if (i != SIGKILL && i != SIGSTOP)
			(void)signal(i, i == SIGCHLD ? SIG_DFL : SIG_IGN);
	(void)setsid();
	executable_rename(x, "fit-guard");
	if (dup2(g->fd, 0) < 0)
		return;
	program_exec_close_from(1);
	guard_in_turns(g, files);
}
