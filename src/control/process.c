/* process.c: fork, pid file, privileges. Ends no process itself. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "control/process.h"

void
process_init(struct process *p)
{
	p->ready_fd = -1;
	p->pid_fd = -1;
	p->pid_file[0] = '\0';
}

/* ---- background ---- */

/* Ready, or gone: what the child says or how it ended is the exit status. */
static int
wait_for_child(int fd, pid_t child)
{
	char word;
	ssize_t n;
	int status;

	do
		n = read(fd, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		return 0;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int
process_background(struct process *p, struct error *e)
{
	int fd[2], status;
	pid_t child;

	if (pipe(fd) < 0) {
		error_set(e, "pipe: %s", strerror(errno));
		return -2;
	}
	child = fork();
	if (child < 0) {
		error_set(e, "fork: %s", strerror(errno));
		close(fd[0]);
		close(fd[1]);
		return -2;
	}
	if (child > 0) {
		close(fd[1]);
		status = wait_for_child(fd[0], child);
		close(fd[0]);
		return status;
	}
	close(fd[0]);
	fcntl(fd[1], F_SETFD, FD_CLOEXEC);
	setsid();
	p->ready_fd = fd[1];
	return -1;
}

static int
leave_terminal(struct error *e)
{
	int null = open("/dev/null", O_RDWR), fd;

	/* In a chroot there may be none; then nothing is left open either. */
	for (fd = 0; fd <= 2; fd++)
		if (null >= 0 && dup2(null, fd) < 0)
			return error_set(e, "dup2: %s", strerror(errno));
	if (null > 2)
		close(null);
	return 0;
}

int
process_ready(struct process *p, struct error *e)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

	if (p->pid_fd >= 0 &&
	    (ftruncate(p->pid_fd, 0) < 0 ||
		write(p->pid_fd, text, (size_t)n) != n))
		return error_set(
		    e, "pid file \"%.300s\": %s", p->pid_file, strerror(errno));
	if (p->ready_fd < 0)
		return 0;
	log_use_syslog("pen");
	if (leave_terminal(e) < 0)
		return -1;
	n = (int)write(p->ready_fd, "r", 1);
	close(p->ready_fd);
	p->ready_fd = -1;
	return n == 1 ? 0 : error_set(e, "the starting process is gone");
}

/* ---- pid file ---- */

static int
pid_file_busy(int fd, const char *path, struct error *e)
{
	char text[24] = "";
	ssize_t n = read(fd, text, sizeof(text) - 1);

	text[n > 0 ? (size_t)n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return error_set(e, "already running as pid %s (pid file \"%.300s\")",
	    text[0] != '\0' ? text : "?", path);
}

int
process_lock_pid_file(struct process *p, const char *path, struct error *e)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = strlen(path) >= sizeof(p->pid_file)
	    ? (errno = ENAMETOOLONG, -1)
	    : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	int rc;

	if (fd < 0)
		return error_set(
		    e, "pid file \"%.300s\": %s", path, strerror(errno));
	if (fcntl(fd, F_SETLK, &lock) < 0) {
		rc = errno == EAGAIN || errno == EACCES
		    ? pid_file_busy(fd, path, e)
		    : error_set(
			  e, "pid file \"%.300s\": %s", path, strerror(errno));
		close(fd);
		return rc;
	}
	p->pid_fd = fd;
	memcpy(p->pid_file, path, strlen(path) + 1);
	return 0;
}

/* ---- privileges ---- */

static int
find_user(const char *name, struct passwd **pw, struct error *e)
{
	*pw = getpwnam(name);
	return *pw != NULL ? 0 : error_set(e, "user \"%.200s\": unknown", name);
}

static int
change_root(const char *path, struct error *e)
{
	if (chroot(path) < 0 || chdir("/") < 0)
		return error_set(
		    e, "directory \"%.300s\": %s", path, strerror(errno));
	return 0;
}

/* The groups go first: without root they could not be dropped any more. */
static int
change_user(const struct passwd *pw, struct error *e)
{
	if (initgroups(pw->pw_name, pw->pw_gid) < 0 || setgid(pw->pw_gid) < 0 ||
	    setuid(pw->pw_uid) < 0)
		return error_set(
		    e, "user \"%.200s\": %s", pw->pw_name, strerror(errno));
	if (pw->pw_uid != 0 && setuid(0) == 0)
		return error_set(
		    e, "user \"%.200s\": root could come back", pw->pw_name);
	return 0;
}

int
process_drop_privileges(const struct process_options *o, struct error *e)
{
	struct passwd *pw = NULL;

	if (o->user != NULL && find_user(o->user, &pw, e) < 0)
		return -1;
	if (o->directory != NULL && change_root(o->directory, e) < 0)
		return -1;
	return pw != NULL ? change_user(pw, e) : 0;
}

/* Without the right to remove it (another user, a chroot) it is emptied. */
void
process_fini(struct process *p)
{
	if (p->pid_fd < 0)
		return;
	if (unlink(p->pid_file) < 0)
		(void)!ftruncate(p->pid_fd, 0);
	close(p->pid_fd);
	p->pid_fd = -1;
}
