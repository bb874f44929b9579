/* starter_serve.c: the process that starts programs. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/environment.h"
#include "net/passed.h"
#include "net/program/starter.h"
#include "net/program/starter_private.h"

#ifdef __linux__

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

/* The first number after the standard files: there is the starter's end. */
enum { FIRST = STDERR_FILENO + 1 };

/* What it has been sent. */
struct received {
	struct starter_head head;
	char text[STARTER_TEXT_MAX];
	size_t length;
	char *string[STARTER_STRINGS_MAX + 2];
	struct passed passed; /* with all messages of a request */
};

/* Returns whether there is a message. */
static bool
starter_receive(int fd, struct received *r)
{
	struct iovec parts[] = { { .iov_base = &r->head,
				     .iov_len = sizeof(r->head) },
		{ .iov_base = r->text, .iov_len = sizeof(r->text) } };
	ssize_t n = passed_receive(&r->passed, fd, parts, 2);

	if (n < (ssize_t)sizeof(r->head))
		return false;
	r->length = (size_t)n - sizeof(r->head);
	return true;
}

/* The strings of a message as two lists, each ended by NULL. Returns the second
 * one, or NULL: there are not as many as the head has. */
static char **
split_strings(struct received *r)
{
	uint32_t total = r->head.arguments + r->head.words, i;
	char *at = r->text, *end = r->text + r->length, **to = r->string;

	if (r->head.arguments > STARTER_STRINGS_MAX ||
	    r->head.words > STARTER_STRINGS_MAX || total > STARTER_STRINGS_MAX)
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

/* The inherited part is the starter's own, and is in no request. */
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
start_program(struct starter *s, struct received *r, char **words,
    struct starter_answer *a)
{
	struct program_exec x = { .argv = r->string, .for_parent = true };
	struct environment env;

	a->error = EPERM;
	if (r->passed.count != 2 || r->string[0] == NULL ||
	    (!s->tries && !starter_permits(s, r->string)))
		return;
	choose_environment(&env, words);
	x.env = env.list;
	x.null = r->passed.fd[0];
	x.out = r->passed.fd[1];
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
start_successor(struct starter *s, struct received *r, char **words,
    struct starter_answer *a)
{
	struct program_exec_successor x = { .path = s->path, .argv = s->argv };

	a->error = EPERM;
	if (s->path == NULL || r->passed.count < 1 || words[0] == NULL ||
	    strncmp(words[0], "PEN_UPGRADE=", 12) != 0)
		return;
	x.word = words[0];
	x.more = s->bounds;
	x.fd = r->passed.fd;
	x.count = r->passed.count - 1;
	x.errors = r->passed.fd[x.count];
	a->error = 0;
	a->pid = program_exec_succeed(&x, &a->error);
	a->errno_value = errno;
}

static void
name_itself(const char *name)
{
	(void)prctl(PR_SET_NAME, name, 0, 0, 0);
}

enum { SPARE_STACK = 64 * 1024 };

static int serve(struct starter *s);

static int
become_spare(void *arg)
{
	name_itself("pen-spare");
	return serve(arg);
}

/* Another starter, as this one a child of pen, with a copy of its memory. */
static void
do_spare(struct starter *s, struct received *r, struct starter_answer *a)
{
	struct starter spare = *s;
	char *stack;

	if (r->passed.count != 1)
		return;
	a->error = 0;
	stack = mmap(NULL, SPARE_STACK, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED) {
		a->pid = -1;
		a->errno_value = errno;
		return;
	}
	spare.fd = r->passed.fd[0];
	a->pid = clone(become_spare, stack + SPARE_STACK,
	    CLONE_PARENT | SIGCHLD, &spare);
	a->errno_value = errno;
	(void)munmap(stack, SPARE_STACK);
}

static void
starter_answer(struct starter *s, struct received *r)
{
	struct starter_answer a = { .error = EINVAL };
	char **words = split_strings(r);

	if (r->passed.incomplete) /* the others have other numbers */
		a.error = EMFILE;
	else if (words != NULL && r->head.request == STARTER_PROGRAM)
		start_program(s, r, words, &a);
	else if (words != NULL && r->head.request == STARTER_SUCCESSOR)
		start_successor(s, r, words, &a);
	else if (words != NULL && r->head.request == STARTER_SPARE)
		do_spare(s, r, &a);
	passed_drop(&r->passed);
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

/* Closes all descriptors but that of the starter, which gets the number FIRST:
 * the others are pen's, and what pen closes must be closed. Descriptors that
 * are received get the numbers above, in order. */
static int
keep_own_end(struct starter *s)
{
	if (s->fd != FIRST && dup3(s->fd, FIRST, O_CLOEXEC) < 0)
		return -1;
	s->fd = FIRST;
	program_exec_close_from(FIRST + 1);
	return 0;
}

/* Serves requests until pen has ended. Its name changes with the first one:
 * from then on it is no spare process. */
static int
serve(struct starter *s)
{
	struct received *r = calloc(1, sizeof(*r));

	if (r == NULL || keep_own_end(s) < 0) {
		free(r);
		return 1;
	}
	while (starter_receive(s->fd, r)) {
		name_itself("pen-starter");
		if (r->head.request != STARTER_DESCRIPTORS)
			starter_answer(s, r);
	}
	passed_drop(&r->passed);
	free(r);
	return 0;
}

int
starter_serve(struct starter *s)
{
	ignore_signals();
	name_itself("pen-starter");
	return serve(s);
}

#endif
