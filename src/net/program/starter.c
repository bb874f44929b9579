/* starter.c: requests and their answers, and what is permitted; see starter.h.
 *
 * A request is one message: its head, the arguments, each with its NUL, then the
 * environment. Descriptors that do not fit come before it, in messages of their
 * own. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/environment.h"
#include "base/log.h"
#include "base/words.h"
#include "net/program/starter.h"

#ifdef __linux__

#include <sys/prctl.h>

/* The environment of a program is some dozens of words. */
enum { TEXT_MAX = 64 * 1024, STRINGS_MAX = 512, VALUE_MAX = 128 };
/* Descriptors of a message (SCM_MAX_FD is 253); how long the other may take. */
enum { PASS_MAX = 250, WAIT_S = 5 };
/* The first number after the standard files: there is the starter's end. */
enum { FIRST = STDERR_FILENO + 1 };

enum request { REQUEST_DESCRIPTORS, REQUEST_PROGRAM, REQUEST_SUCCESSOR };

struct head {
	uint32_t request;
	uint32_t arguments, words; /* strings that follow */
};

struct answer {
	int32_t pid, errno_value, error;
};

struct starter {
	int fd; /* pen's end, or its own; -1: none */
	int other;
	const char *path;
	char *const *argv;
	bool tries;
	char ***permitted;
	uint32_t count, room;
};

/* What it has been sent. */
struct received {
	struct head head;
	char text[TEXT_MAX];
	size_t length;
	char *string[STRINGS_MAX + 2];
	int *fd; /* those of all messages of a request */
	uint32_t fds, room;
};

/* ---- what is permitted ---- */

/* The length of the mark that `word` begins with; 0: none. */
static size_t
mark_length(const char *word)
{
	return strncmp(word, "{address}", 9) == 0 ? 9
	    : strncmp(word, "{port}", 6) == 0	  ? 6
						  : 0;
}

static bool
is_value_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') ||
	    (c != '\0' && strchr(".:/_%@+,=-", c) != NULL);
}

/* Whether the rest of a word is what a rest of a pattern permits. There are few
 * marks in a pattern, and values are short. */
static bool
starter_fits(const char *pattern, const char *word, bool begins)
{
	size_t mark = mark_length(pattern), n = 0;

	if (mark == 0)
		return *pattern == *word &&
		    (*pattern == '\0' ||
			starter_fits(pattern + 1, word + 1, false));
	if (begins && *word == '-')
		return false;
	while (n < VALUE_MAX && is_value_byte(word[n]))
		n++;
	for (;; n--) {
		if (starter_fits(pattern + mark, word + n, false))
			return true;
		if (n == 0)
			return false;
	}
}

static bool
fit_all(char *const *pattern, char *const *argv)
{
	while (*pattern != NULL && *argv != NULL &&
	    starter_fits(*pattern, *argv, true)) {
		pattern++;
		argv++;
	}
	return *pattern == NULL && *argv == NULL;
}

bool
starter_permits(const struct starter *s, char *const *argv)
{
	uint32_t i;

	for (i = 0; i < s->count; i++)
		if (fit_all(s->permitted[i], argv))
			return true;
	return false;
}

bool
starter_knows(const struct starter *s, const char *path)
{
	uint32_t i;

	for (i = 0; i < s->count; i++)
		if (strcmp(s->permitted[i][0], path) == 0)
			return true;
	return false;
}

static bool
are_equal(char *const *a, char *const *b)
{
	while (*a != NULL && *b != NULL && strcmp(*a, *b) == 0) {
		a++;
		b++;
	}
	return *a == NULL && *b == NULL;
}

static void
free_strings(char **list)
{
	char **p;

	for (p = list; p != NULL && *p != NULL; p++)
		free(*p);
	free(list);
}

static char **
copy_strings(char *const *list)
{
	size_t n = 0, i;
	char **copy;

	while (list[n] != NULL)
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	for (i = 0; copy != NULL && i < n; i++) {
		copy[i] = strdup(list[i]);
		if (copy[i] == NULL) {
			free_strings(copy);
			return NULL;
		}
	}
	return copy;
}

int
starter_permit(struct starter *s, char *const *argv)
{
	char ***list;
	uint32_t i;

	for (i = 0; i < s->count; i++)
		if (are_equal(s->permitted[i], argv))
			return 0;
	list = array_grow(s->permitted, &s->room, sizeof(*list), s->count);
	if (list == NULL)
		return -1;
	s->permitted = list;
	list[s->count] = copy_strings(argv);
	if (list[s->count] == NULL)
		return -1;
	s->count++;
	return 0;
}

/* ---- life ---- */

struct starter *
starter_new(const char *path, char *const *argv, bool tries)
{
	struct timeval most = { .tv_sec = WAIT_S };
	struct starter *s = calloc(1, sizeof(*s));
	int fd[2];

	if (s == NULL)
		return NULL;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0) {
		free(s);
		return NULL;
	}
	(void)setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	(void)setsockopt(fd[0], SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
	s->fd = fd[0];
	s->other = fd[1];
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
	while (s->count > 0)
		free_strings(s->permitted[--s->count]);
	free(s->permitted);
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
send_message(int fd, const struct head *h, const char *text, size_t n,
    const int *pass, unsigned count)
{
	union {
		char bytes[CMSG_SPACE(PASS_MAX * sizeof(int))];
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
receive_answer(int fd, struct answer *a)
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

/* Sends the request. Without an answer there never will be one that fits: the
 * starter is given up. Returns 0, or -1 with errno. */
static int
starter_ask(struct starter *s, const struct head *h, const char *text, size_t n,
    const int *pass, unsigned count, struct answer *a)
{
	static const struct head more = { .request = REQUEST_DESCRIPTORS };
	int rc = s->fd < 0 ? -1 : 0, error = EPIPE;

	for (; rc == 0 && count > PASS_MAX; count -= PASS_MAX) {
		rc = send_message(s->fd, &more, NULL, 0, pass, PASS_MAX);
		pass += PASS_MAX;
	}
	if (rc == 0 && send_message(s->fd, h, text, n, pass, count) == 0 &&
	    receive_answer(s->fd, a) == 0)
		return 0;
	if (s->fd >= 0) {
		error = errno;
		close(s->fd);
		s->fd = -1;
		log_error("programs cannot run any more error=\"the process "
			  "that starts them: %s\"",
		    strerror(error));
	}
	errno = error;
	return -1;
}

/* Appends strings; returns how many, or -1: they do not fit. */
static int
add_strings(char *text, size_t *n, char *const *list)
{
	size_t length;
	int i;

	for (i = 0; list[i] != NULL; i++) {
		length = strlen(list[i]) + 1;
		if (length > TEXT_MAX - *n)
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
	char *text = malloc(TEXT_MAX);
	struct head h = { .request = REQUEST_PROGRAM };
	struct answer a;
	size_t n = 0;
	int pass[] = { x->null, x->out };
	int arguments, words, rc;

	if (text == NULL)
		return -1;
	if (s->tries && !starter_permits(s, x->argv))
		log_warn("sandbox would refuse program=%s", x->argv[0]);
	arguments = add_strings(text, &n, x->argv);
	words = arguments < 0 ? -1 : add_strings(text, &n, x->env);
	if (words < 0 || arguments + words > STRINGS_MAX) {
		free(text);
		*error = E2BIG;
		return 0;
	}
	h.arguments = (uint32_t)arguments;
	h.words = (uint32_t)words;
	rc = starter_ask(s, &h, text, n, pass, 2, &a);
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
	struct head h = { .request = REQUEST_SUCCESSOR, .words = 1 };
	int *all = calloc(count + 1, sizeof(*all));
	size_t n = strlen(word) + 1;
	struct answer a;
	int rc;

	if (all == NULL)
		return -1;
	if (count > 0)
		memcpy(all, fd, count * sizeof(*all));
	all[count] = errors;
	errno = E2BIG;
	rc = n > TEXT_MAX
	    ? -1
	    : starter_ask(s, &h, word, n, all, count + 1, &a);
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

/* ---- in the starter ---- */

static void
take_descriptors(struct received *r, struct msghdr *m)
{
	struct cmsghdr *c;
	unsigned i, n;
	int *list, fd;

	for (c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		for (i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int),
			    sizeof(fd));
			list = array_grow(
			    r->fd, &r->room, sizeof(*list), r->fds);
			if (list == NULL) {
				close(fd);
				continue;
			}
			r->fd = list;
			list[r->fds++] = fd;
		}
	}
}

/* Returns whether there is a message. */
static bool
starter_receive(int fd, struct received *r)
{
	union {
		char bytes[CMSG_SPACE(PASS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec parts[] = { { .iov_base = &r->head,
				     .iov_len = sizeof(r->head) },
		{ .iov_base = r->text, .iov_len = sizeof(r->text) } };
	struct msghdr m = { .msg_iov = parts,
		.msg_iovlen = 2,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	ssize_t n;

	do
		n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < (ssize_t)sizeof(r->head))
		return false;
	r->length = (size_t)n - sizeof(r->head);
	take_descriptors(r, &m);
	return true;
}

/* The strings of a message as two lists, each ended by NULL. Returns the second
 * one, or NULL: they are not what the head says. */
static char **
split_strings(struct received *r)
{
	uint32_t total = r->head.arguments + r->head.words, i;
	char *at = r->text, *end = r->text + r->length, **to = r->string;

	if (r->head.arguments > STRINGS_MAX || r->head.words > STRINGS_MAX ||
	    total > STRINGS_MAX)
		return NULL;
	for (i = 0; i < total; i++) {
		if (i == r->head.arguments)
			*to++ = NULL;
		*to++ = at;
		at = memchr(at, '\0', (size_t)(end - at));
		if (at == NULL)
			return NULL;
		at++;
	}
	if (r->head.words == 0)
		*to++ = NULL;
	*to = NULL;
	return r->string + r->head.arguments + 1;
}

/* The inherited part is the starter's own, whatever the request says. */
static void
choose_environment(struct environment *env, char *const *words)
{
	char *value;

	environment_init(env);
	for (; *words != NULL; words++) {
		value = strchr(*words, '=');
		if (value == NULL || strncmp(*words, "PEN_", 4) != 0)
			continue;
		*value++ = '\0';
		environment_add(env, *words, "%s", value);
	}
}

static void
do_program(struct starter *s, struct received *r, char **words, struct answer *a)
{
	struct program_exec x = { .argv = r->string, .for_parent = true };
	struct environment env;

	a->error = EPERM;
	if (r->fds != 2 || r->string[0] == NULL ||
	    (!s->tries && !starter_permits(s, r->string)))
		return;
	choose_environment(&env, words);
	x.env = env.list;
	x.null = r->fd[0];
	x.out = r->fd[1];
	if (env.failed) {
		a->pid = -1;
		a->errno_value = ENOMEM;
	} else {
		a->error = 0;
		a->pid = program_exec(&x, &a->error);
		a->errno_value = errno;
	}
	environment_fini(&env);
}

static void
do_successor(
    struct starter *s, struct received *r, char **words, struct answer *a)
{
	struct program_exec_successor x = { .path = s->path, .argv = s->argv };

	a->error = EPERM;
	if (s->path == NULL || r->fds < 1 || words[0] == NULL ||
	    strncmp(words[0], "PEN_UPGRADE=", 12) != 0)
		return;
	x.word = words[0];
	x.fd = r->fd;
	x.count = r->fds - 1;
	x.errors = r->fd[r->fds - 1];
	a->error = 0;
	a->pid = program_exec_succeed(&x, &a->error);
	a->errno_value = errno;
}

static void
starter_answer(struct starter *s, struct received *r)
{
	struct answer a = { .error = EINVAL };
	char **words = split_strings(r);

	if (words != NULL && r->head.request == REQUEST_PROGRAM)
		do_program(s, r, words, &a);
	else if (words != NULL && r->head.request == REQUEST_SUCCESSOR)
		do_successor(s, r, words, &a);
	while (r->fds > 0)
		close(r->fd[--r->fds]);
	(void)send(s->fd, &a, sizeof(a), MSG_NOSIGNAL);
}

/* Signals for all processes of the terminal or of the service are pen's. */
static void
ignore_signals(void)
{
	struct sigaction standard;
	sigset_t none;
	int i;

	memset(&standard, 0, sizeof(standard));
	for (i = 1; i < NSIG; i++) {
		standard.sa_handler = i == SIGTERM || i == SIGINT ||
			i == SIGQUIT || i == SIGHUP || i == SIGUSR1 ||
			i == SIGUSR2 || i == SIGPIPE || i == SIGTSTP
		    ? SIG_IGN
		    : SIG_DFL;
		(void)sigaction(i, &standard, NULL);
	}
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* All else is pen's: what it closes must be closed. Descriptors that are
 * received get the numbers above, in order. */
static int
keep_own_end(struct starter *s)
{
	if (s->fd != FIRST && dup3(s->fd, FIRST, O_CLOEXEC) < 0)
		return -1;
	s->fd = FIRST;
	program_exec_close_from(FIRST + 1);
	return 0;
}

int
starter_serve(struct starter *s)
{
	struct received *r = calloc(1, sizeof(*r));

	ignore_signals();
	(void)prctl(PR_SET_NAME, "pen-starter", 0, 0, 0);
	if (r == NULL || keep_own_end(s) < 0)
		return 1;
	while (starter_receive(s->fd, r))
		if (r->head.request != REQUEST_DESCRIPTORS)
			starter_answer(s, r);
	return 0;
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

bool
starter_knows(const struct starter *s, const char *path)
{
	(void)s, (void)path;
	return true;
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
