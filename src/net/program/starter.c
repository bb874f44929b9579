/* starter.c: pen's end: requests; see starter.h. */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "net/program/starter.h"
#include "net/program/starter_private.h"

#ifdef __linux__

/* How long the starter may take. */
enum { WAIT_S = 5 };

/* ---- what is permitted ---- */

bool
starter_permits(const struct starter *s, char *const *argv)
{
	return patterns_fit(&s->permitted, argv);
}

bool
starter_has(const struct starter *s, const char *path)
{
	return patterns_name(&s->permitted, path);
}

void
starter_bound(struct starter *s, char *word)
{
	s->bounds = word;
}

int
starter_permit(struct starter *s, char *const *argv)
{
	return patterns_add(&s->permitted, argv);
}

/* ---- life ---- */

/* The first is pen's. */
static int
open_pair(int fd[2])
{
	struct timeval most = { .tv_sec = WAIT_S };

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0)
		return -1;
	(void)setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	(void)setsockopt(fd[0], SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
	return 0;
}

struct starter *
starter_new(const char *path, char *const *argv, bool tries)
{
	struct starter *s = calloc(1, sizeof(*s));
	int fd[2];

	if (s == NULL)
		return NULL;
	if (open_pair(fd) < 0) {
		free(s);
		return NULL;
	}
	s->fd = fd[0];
	s->other = fd[1];
	s->spare = -1;
	s->path = path;
	s->argv = argv;
	s->tries = tries;
	return s;
}

void
starter_free(struct starter *s)
{
	if (s == NULL)
		return;
	if (s->fd >= 0)
		close(s->fd);
	if (s->other >= 0)
		close(s->other);
	if (s->spare >= 0)
		close(s->spare);
	patterns_fini(&s->permitted);
	free(s->bounds);
	free(s);
}

pid_t
starter_fork(struct starter *s)
{
	pid_t pid = fork();

	if (pid == 0) {
		close(s->fd);
		s->fd = s->other;
	} else {
		close(s->other);
	}
	s->other = -1;
	return pid;
}

/* ---- messages ---- */

/* Returns 0, or -1 with errno. */
static int
send_message(int fd, const struct starter_head *h, const char *text, size_t n,
    const int *pass, unsigned count)
{
	union {
		char bytes[CMSG_SPACE(STARTER_PASS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec parts[] = { { .iov_base = (void *)(uintptr_t)h,
				     .iov_len = sizeof(*h) },
		{ .iov_base = (void *)(uintptr_t)text, .iov_len = n } };
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = 2 };
	struct cmsghdr *c;
	ssize_t sent;

	if (count > 0) {
		memset(&control, 0, sizeof(control));
		m.msg_control = control.bytes;
		m.msg_controllen = CMSG_SPACE(count * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(c), pass, count * sizeof(int));
	}
	do
		sent = sendmsg(fd, &m, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -1 : 0;
}

static int
receive_answer(int fd, struct starter_answer *a)
{
	ssize_t n;

	do
		n = recv(fd, a, sizeof(*a), 0);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof(*a))
		return 0;
	if (n >= 0)
		errno = EPIPE;
	return -1;
}

/* Sends the request to one of them. Returns 0, or -1 with errno. */
static int
ask_one(int fd, const struct starter_head *h, const char *text, size_t n,
    const int *pass, unsigned count, struct starter_answer *a)
{
	static const struct starter_head more = { .request =
						      STARTER_DESCRIPTORS };

	for (; count > STARTER_PASS_MAX; count -= STARTER_PASS_MAX) {
		if (send_message(fd, &more, NULL, 0, pass, STARTER_PASS_MAX) <
		    0)
			return -1;
		pass += STARTER_PASS_MAX;
	}
	if (send_message(fd, h, text, n, pass, count) < 0)
		return -1;
	return receive_answer(fd, a);
}

/* ---- one of them has ended ---- */

static bool
is_gone(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0 ||
	    (errno != EAGAIN && errno != EINTR);
}

/* The spare takes the place of the one that was used. */
static void
give_up(struct starter *s, int error)
{
	close(s->fd);
	s->fd = s->spare;
	s->spare = -1;
	if (s->fd >= 0)
		log_warn("process that starts programs replaced error=\"%s\"",
		    strerror(error));
	else
		log_error("programs cannot run any more error=\"the process "
			  "that starts them: %s\"",
		    strerror(error));
}

/* Starts a spare. It may exist even if the answer is missing, as its starter
 * may have been killed in between. */
static void
make_spare(struct starter *s)
{
	static const struct starter_head h = { .request = STARTER_SPARE };
	struct starter_answer a = { .errno_value = EPIPE };
	int fd[2], rc, error;

	if (open_pair(fd) < 0)
		return; /* the next time */
	rc = ask_one(s->fd, &h, NULL, 0, &fd[1], 1, &a);
	error = errno;
	close(fd[1]);
	if (rc == 0 ? a.pid > 0 : !is_gone(fd[0]))
		s->spare = fd[0];
	else
		close(fd[0]);
	if (rc < 0)
		give_up(s, error);
}

void
starter_mend(struct starter *s)
{
	if (s->spare >= 0 && is_gone(s->spare)) {
		close(s->spare);
		s->spare = -1;
	}
	if (s->fd >= 0 && is_gone(s->fd))
		give_up(s, EPIPE);
	if (s->fd >= 0 && s->spare < 0)
		make_spare(s);
}

bool
starter_has_ended(const struct starter *s)
{
	return s->fd < 0;
}

/* Sends the request. One that does not answer will not give an answer that fits
 * either, and is given up; if it has ended, the spare gets the request. Returns
 * 0, or -1 with errno. */
static int
starter_send(struct starter *s, const struct starter_head *h, const char *text,
    size_t n, const int *pass, unsigned count, struct starter_answer *a)
{
	int error = EPIPE, rc = -1;

	while (rc < 0 && s->fd >= 0 &&
	    (error == EPIPE || error == ECONNRESET)) {
		rc = ask_one(s->fd, h, text, n, pass, count, a);
		error = errno;
		if (rc < 0)
			give_up(s, error);
	}
	errno = s->fd < 0 ? EPIPE : error;
	return rc;
}

/* Appends strings; returns how many, or -1: they do not fit. */
static int
add_strings(char *text, size_t *n, char *const *list)
{
	size_t length;
	int i;

	for (i = 0; list[i] != NULL; i++) {
		length = strlen(list[i]) + 1;
		if (length > STARTER_TEXT_MAX - *n)
			return -1;
		memcpy(text + *n, list[i], length);
		*n += length;
	}
	return i;
}

/* ---- requests ---- */

pid_t
starter_exec(struct starter *s, const struct program_exec *x, int *error)
{
	char *text = malloc(STARTER_TEXT_MAX);
	struct starter_head h = { .request = STARTER_PROGRAM };
	struct starter_answer a;
	size_t n = 0;
	int pass[] = { x->null, x->out };
	int arguments, words, rc;

	if (text == NULL)
		return -1;
	if (s->tries && !starter_permits(s, x->argv))
		log_warn("sandbox would refuse program=%s", x->argv[0]);
	arguments = add_strings(text, &n, x->argv);
	words = arguments < 0 ? -1 : add_strings(text, &n, x->env);
	if (words < 0 || arguments + words > STARTER_STRINGS_MAX) {
		free(text);
		*error = E2BIG;
		return 0;
	}
	h.arguments = (uint32_t)arguments;
	h.words = (uint32_t)words;
	rc = starter_send(s, &h, text, n, pass, 2, &a);
	free(text);
	if (rc < 0)
		return -1;
	*error = a.error;
	errno = a.errno_value;
	return a.pid;
}

pid_t
starter_succeed(struct starter *s, const int *fd, unsigned count, int errors,
    const char *word)
{
	struct starter_head h = { .request = STARTER_SUCCESSOR, .words = 1 };
	int *all = calloc(count + 1, sizeof(*all));
	size_t n = strlen(word) + 1;
	struct starter_answer a;
	int rc;

	if (all == NULL)
		return -1;
	if (count > 0)
		memcpy(all, fd, count * sizeof(*all));
	all[count] = errors;
	errno = E2BIG;
	rc = n > STARTER_TEXT_MAX
	    ? -1
	    : starter_send(s, &h, word, n, all, count + 1, &a);
	free(all);
	if (rc < 0)
		return -1;
	if (a.error == 0) {
		errno = a.errno_value;
		return a.pid;
	}
	if (a.pid > 0)
		(void)waitpid(a.pid, NULL, 0);
	errno = a.error;
	return -1;
}

#else

struct starter *
starter_new(const char *path, char *const *argv, bool tries)
{
	(void)path, (void)argv, (void)tries;
	errno = ENOSYS;
	return NULL;
}

void
starter_free(struct starter *s)
{
	(void)s;
}

void
starter_bound(struct starter *s, char *word)
{
	(void)s, (void)word;
}

int
starter_permit(struct starter *s, char *const *argv)
{
	(void)s, (void)argv;
	return 0;
}

bool
starter_has(const struct starter *s, const char *path)
{
	(void)s, (void)path;
	return true;
}

pid_t
starter_fork(struct starter *s)
{
	(void)s;
	errno = ENOSYS;
	return -1;
}

void
starter_mend(struct starter *s)
{
	(void)s;
}

bool
starter_has_ended(const struct starter *s)
{
	(void)s;
	return true;
}

int
starter_serve(struct starter *s)
{
	(void)s;
	return 1;
}

pid_t
starter_exec(struct starter *s, const struct program_exec *x, int *error)
{
	(void)s, (void)x, (void)error;
	return -1;
}

pid_t
starter_succeed(struct starter *s, const int *fd, unsigned count, int errors,
    const char *word)
{
	(void)s, (void)fd, (void)count, (void)errors, (void)word;
	return -1;
}

#endif
