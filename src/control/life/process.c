/* process.c: fork, pid file, privileges. Ends no process itself. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "control/life/process.h"

void
process_init(struct process *p)
{
	sigset_t none;

	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGCHLD, SIG_DFL);
	p->background = false;
	p->ready_fd = -1;
	p->null_fd = -1;
	p->pid_fd = -1;
	p->pid_is_ours = false;
	p->pid_file[0] = '\0';
}

/* ---- background ---- */

static int
status_of(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Ready, or exited: its report, or its exit status, is the parent's. One whose
 * report cannot be read is ended, or it would serve although its start is
 * reported as failed. */
static int
wait_for_child(int fd, pid_t child, struct error *e)
{
	char word;
	ssize_t n;

	do
		n = read(fd, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		return 0;
	if (n == 0)
		return status_of(child);
	error_set(e, "pipe of the background process: %s", strerror(errno));
	kill(child, SIGTERM);
	(void)status_of(child);
	return -2;
}

/* Opens what a new root may lack, before that is entered. */
void
process_stay_in_background(struct process *p)
{
	p->background = true;
	log_open_syslog(LOG_SYSLOG_PATH, "pen");
	p->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
}

int
process_background(struct process *p, struct error *e)
{
	int fd[2], rc;
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
		rc = wait_for_child(fd[0], child, e);
		close(fd[0]);
		return rc;
	}
	close(fd[0]);
	fcntl(fd[1], F_SETFD, FD_CLOEXEC);
	setsid();
	p->ready_fd = fd[1];
	process_stay_in_background(p);
	if (p->null_fd >= 0)
		return -1;
	error_set(e, "/dev/null: %s", strerror(errno));
	return -2;
}

static int
leave_standard_file(const struct process *p, int fd, struct error *e)
{
	int rc;

	do
		rc = p->null_fd < 0 ? 0 : dup2(p->null_fd, fd);
	while (rc < 0 && errno == EINTR);
	return rc < 0 ? error_set(e, "dup2: %s", strerror(errno)) : 0;
}

int
process_detach(struct process *p, struct error *e)
{
	int fd, rc = 0;

	for (fd = 0; rc == 0 && fd <= STDERR_FILENO; fd++)
		rc = leave_standard_file(p, fd, e);
	if (p->null_fd >= 0)
		close(p->null_fd);
	p->null_fd = -1;
	return rc;
}

static int
write_pid(struct process *p, struct error *e)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

	if (p->pid_fd < 0)
		return 0;
	p->pid_is_ours = true;
	errno = ENOSPC; /* what a short write does not say */
	if (ftruncate(p->pid_fd, 0) == 0 &&
	    pwrite(p->pid_fd, text, (size_t)n, 0) == n)
		return 0;
	return error_set(
	    e, "pid file \"%.300s\": %s", p->pid_file, strerror(errno));
}

static int
report_to_parent(struct process *p, struct error *e)
{
	ssize_t n;

	if (p->ready_fd < 0)
		return 0;
	do
		n = write(p->ready_fd, "r", 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		error_set(e, "pipe of the parent process: %s", strerror(errno));
	close(p->ready_fd);
	p->ready_fd = -1;
	return n == 1 ? 0 : -1;
}

/* Standard error is left last: what fails before goes there. */
int
process_ready(struct process *p, struct error *e)
{
	if (write_pid(p, e) < 0)
		return -1;
	if (!p->background)
		return 0;
	if (leave_standard_file(p, STDIN_FILENO, e) < 0 ||
	    leave_standard_file(p, STDOUT_FILENO, e) < 0 ||
	    report_to_parent(p, e) < 0)
		return -1;
	log_use_syslog();
	if (process_detach(p, e) < 0)
		log_warn("standard error not left error=\"%s\"", e->text);
	return 0;
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

/* Whether the path still names the pid file: in a new root it may name another
 * file. */
static bool
path_is_pid_file(const struct process *p, int flags)
{
	struct stat there, ours;

	return fstatat(AT_FDCWD, p->pid_file, &there, flags) == 0 &&
	    fstat(p->pid_fd, &ours) == 0 && there.st_dev == ours.st_dev &&
	    there.st_ino == ours.st_ino;
}

/* Refuses a pid file that is no regular file: it would be removed in the end. A
 * directory cannot be opened anyway. */
static int
check_kind(int rc, const struct stat *st, struct error *e)
{
	return rc < 0 || S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)
	    ? 0
	    : error_set(e, "is not a regular file");
}

int
process_try_pid_file(const char *path, struct error *e)
{
	struct stat st;

	if (check_kind(stat(path, &st), &st, e) == 0 &&
	    file_may_write(path, e) == 0)
		return 0;
	return error_of(e, "pid file \"%.300s\"", path);
}

/* An empty file may be one that it has made. */
static int
open_pid_file(struct process *p, const char *path, struct error *e)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct stat st = { .st_size = 1 };
	struct error why;
	int fd = file_open_own(path, O_RDWR | O_CREAT, 0644, &why), rc;

	if (fd < 0 || check_kind(fstat(fd, &st), &st, &why) < 0)
		rc = error_set(e, "pid file \"%.300s\": %s", path, why.text);
	else if ((rc = fcntl(fd, F_SETLK, &lock)) == 0)
		p->pid_is_ours = st.st_size == 0;
	else if (errno == EAGAIN || errno == EACCES)
		rc = pid_file_busy(fd, path, e);
	else
		rc = error_set(
		    e, "pid file \"%.300s\": %s", path, strerror(errno));
	if (rc < 0 && fd >= 0)
		close(fd);
	else
		p->pid_fd = fd;
	return rc;
}

/* Before it is locked, the process whose it was may have removed the file. */
int
process_lock_pid_file(
    struct process *p, const char *path, bool rooted, struct error *e)
{
	if (strlen(path) >= sizeof(p->pid_file))
		return error_set(
		    e, "pid file \"%.300s\": %s", path, strerror(ENAMETOOLONG));
	memcpy(p->pid_file, path, strlen(path) + 1);
	if (p->pid_fd >= 0 && rooted)
		return 0;
	while (p->pid_fd < 0 || !path_is_pid_file(p, 0)) {
		process_hand_over_pid_file(p);
		if (open_pid_file(p, path, e) < 0)
			return -1;
	}
	return 0;
}

void
process_take_pid_file(struct process *p, int fd)
{
	p->pid_fd = fd;
	p->pid_is_ours = false;
}

void
process_unlock_pid_file(struct process *p)
{
	struct flock lock = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	if (p->pid_fd >= 0)
		(void)fcntl(p->pid_fd, F_SETLK, &lock);
}

void
process_claim_pid_file(struct process *p)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct error e;

	if (p->pid_fd < 0)
		return;
	p->pid_is_ours = true;
	if (fcntl(p->pid_fd, F_SETLK, &lock) < 0)
		log_warn("pid file not locked file=%s error=\"%s\"",
		    p->pid_file, strerror(errno));
	if (write_pid(p, &e) < 0)
		log_warn("pid file not written error=\"%s\"", e.text);
}

bool
process_lost_pid_file(const struct process *p)
{
	struct stat st;

	return p->pid_fd >= 0 && !path_is_pid_file(p, 0) &&
	    (stat(p->pid_file, &st) == 0 || errno == ENOENT);
}

void
process_hand_over_pid_file(struct process *p)
{
	if (p->pid_fd >= 0)
		close(p->pid_fd);
	p->pid_fd = -1;
}

void
process_drop_in_child(struct process *p)
{
	process_hand_over_pid_file(p);
	if (p->ready_fd >= 0)
		close(p->ready_fd);
	p->ready_fd = -1;
}

/* ---- privileges ---- */

/* The last number is that of no user (setuid(2)). */
int
process_find_user(const char *word, struct passwd *user, struct error *e)
{
	const struct passwd *pw = getpwnam(word);
	uint64_t n;

	memset(user, 0, sizeof(*user));
	if (pw == NULL && number_parse(word, 0, UINT32_MAX - 1, &n) == 0) {
		pw = getpwuid((uid_t)n);
		user->pw_uid = (uid_t)n;
		user->pw_gid = (gid_t)n;
	} else if (pw == NULL) {
		return error_set(e, "user \"%.200s\": unknown", word);
	}
	if (pw == NULL)
		return 0;
	user->pw_name = pw->pw_name;
	user->pw_uid = pw->pw_uid;
	user->pw_gid = pw->pw_gid;
	return 0;
}

static int
fail_user(const char *word, struct error *e)
{
	return error_set(e, "user \"%.200s\": %s", word, strerror(errno));
}

static int
set_groups(const struct passwd *pw)
{
	return pw->pw_name != NULL ? initgroups(pw->pw_name, pw->pw_gid)
				   : setgroups(1, &pw->pw_gid);
}

/* Enters the new root: nothing of the old one is found afterwards. The time
 * zone is read before. */
static int
change_root(const char *path, struct error *e)
{
	tzset();
	if (chroot(path) < 0 || chdir("/") < 0)
		return error_set(
		    e, "directory \"%.300s\": %s", path, strerror(errno));
	return 0;
}

static int
change_user(const char *word, const struct passwd *pw, struct error *e)
{
	if (setgid(pw->pw_gid) < 0 || setuid(pw->pw_uid) < 0)
		return fail_user(word, e);
	if (pw->pw_uid != 0 && setuid(0) == 0)
		return error_set(e,
		    "user \"%.200s\": root privileges could be regained", word);
	return 0;
}

bool
process_is_user(const char *word)
{
	struct passwd pw;
	struct error e;

	return word != NULL && process_find_user(word, &pw, &e) == 0 &&
	    pw.pw_uid == geteuid() && pw.pw_uid == getuid();
}

/* Root's other groups go first: without root they could not be dropped. They go
 * before the root changes, too: initgroups() reads the system's files, and may
 * load code that nsswitch.conf(5) names, while this is still root's process. */
int
process_drop_privileges(const struct process_options *o, struct error *e)
{
	struct passwd pw;

	if (o->user != NULL && process_find_user(o->user, &pw, e) < 0)
		return -1;
	if (o->user != NULL && set_groups(&pw) < 0)
		return fail_user(o->user, e);
	if (o->directory != NULL && change_root(o->directory, e) < 0)
		return -1;
	return o->user != NULL ? change_user(o->user, &pw, e) : 0;
}

/* Removes the pid file; without the right to do that (another user, a chroot),
 * or if the path is a symbolic link, empties it. */
void
process_fini(struct process *p)
{
	if (p->pid_fd < 0)
		return;
	if (p->pid_is_ours &&
	    (!path_is_pid_file(p, AT_SYMLINK_NOFOLLOW) ||
		unlink(p->pid_file) < 0))
		(void)!ftruncate(p->pid_fd, 0);
	close(p->pid_fd);
	p->pid_fd = -1;
}
