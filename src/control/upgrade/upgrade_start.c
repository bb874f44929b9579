/* upgrade_start.c: posix_spawn() with a list of descriptors. */
#include "config.h"
#include "base/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "control/life/context.h"
#include "control/life/process.h"
#include "control/answer/reply.h"
#include "control/life/rights.h"
#include "control/upgrade/upgrade_start.h"
#include "dsr/director/director.h"
#include "net/listener.h"
#include "net/program/starter.h"

/* The descriptors of the new process, from the first one after the standard
 * files on. */
enum { FIRST = STDERR_FILENO + 1 };

struct plan_of_start {
	/* Copies of what is passed, high enough to be out of the way; owned.
	 * Number n becomes FIRST + n. -1: the locked file. */
	int *fd;
	uint32_t count, room;
	/* A file that this process has locked; not owned; -1: none. It must not
	 * be copied here: to close a copy would give the lock up (fcntl(2)). */
	int locked;
	int highest;	     /* number of a copy */
	int above;	     /* copies are above this number */
	struct buffer words; /* PEN_UPGRADE=... */
	bool failed;
};

/* Adds a copy, or -1. Returns its number in the new process. */
static int
upgrade_start_add(struct plan_of_start *s, int copy)
{
	int *list = array_grow(s->fd, &s->room, sizeof(*list), s->count);

	if (list == NULL) {
		s->failed = true;
		if (copy >= 0)
			close(copy);
		return -1;
	}
	s->fd = list;
	list[s->count++] = copy;
	if (copy > s->highest)
		s->highest = copy;
	return FIRST + (int)s->count - 1;
}

/* Passes a descriptor on. Returns its number there. */
static int
upgrade_start_pass(struct plan_of_start *s, int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, s->above);

	if (copy >= 0)
		return upgrade_start_add(s, copy);
	s->failed = true;
	return -1;
}

static void
pass_locked(struct plan_of_start *s, const char *name, int fd)
{
	s->locked = fd;
	if (fd >= 0)
		reply_add(&s->words, " %s=%d", name, upgrade_start_add(s, -1));
}

static void
pass_as(struct plan_of_start *s, const char *name, int fd)
{
	if (fd >= 0)
		reply_add(&s->words, " %s=%d", name, upgrade_start_pass(s, fd));
}

/* Those of workers are behind that of the listener. */
static void
pass_descriptor(void *arg, struct listener *l, int fd)
{
	struct plan_of_start *s = arg;
	int number = upgrade_start_pass(s, fd);
	bool own = fd == l->fd;

	if (own)
		l->passed = number;
	reply_add(&s->words, "%d%c,", number,
	    own && sock_file_is_there(&l->file, &l->at) ? '+' : '-');
}

/* "link=eth0/packet/7,8," for each director. */
static void
pass_link(struct plan_of_start *s, const struct director *d)
{
	struct director_status st;
	int list[DIRECTOR_FDS_MAX];
	unsigned n = director_fds(d, list), i;

	director_status(d, &st);
	reply_add(&s->words, " link=%s/%s/", st.interface, st.link);
	for (i = 0; i < n; i++)
		reply_add(&s->words, "%d,", upgrade_start_pass(s, list[i]));
}

static int
count_link(const struct director *d)
{
	int list[DIRECTOR_FDS_MAX];

	return d != NULL ? (int)director_fds(d, list) : 0;
}

/* How many there are, to keep clear of the numbers that they get. */
static int
count_descriptors(const struct pen *p)
{
	int n = (int)socket_set_descriptors(&p->sockets);
	const struct service *svc;

	SERVICE_EACH (p, svc)
		n += count_link(svc->director);
	return n;
}

/* Lists the descriptors that the new process gets, as the words of its
 * environment variable PEN_UPGRADE. */
static void
list_descriptors(struct plan_of_start *s, struct pen *p, int state_fd)
{
	const struct service *svc;

	s->above = s->highest = FIRST + 4 + count_descriptors(p);
	reply_add(&s->words, "PEN_UPGRADE=version=1");
	pass_as(s, "state", state_fd);
	pass_as(s, "errors", STDERR_FILENO);
	pass_locked(s, "pid", p->process->pid_fd);
	pass_as(s, "notify", p->notify.fd);
	if (p->notify.watchdog_us > 0)
		reply_add(
		    &s->words, " watchdog=%" PRIu64, p->notify.watchdog_us);
	if (p->plan->process->run.directory != NULL)
		reply_add(&s->words, " rooted=1");
	SERVICE_EACH (p, svc)
		if (!svc->leaves && svc->director != NULL)
			pass_link(s, svc->director);
	reply_add(&s->words, " reports=1 flows=1 sockets=");
	socket_set_each_descriptor(&p->sockets, pass_descriptor, s);
	if (buffer_append(&s->words, "", 1) < 0)
		s->failed = true;
}

static void
free_plan(struct plan_of_start *s)
{
	uint32_t i;

	for (i = 0; i < s->count; i++)
		if (s->fd[i] >= 0)
			close(s->fd[i]);
	free(s->fd);
	buffer_fini(&s->words);
}

/* ---- starting ---- */

/* Signals that we ignore or catch have their default action, until it sets
 * another. */
static int
upgrade_start_set_attributes(posix_spawnattr_t *attr)
{
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	return posix_spawnattr_setsigdefault(attr, &all) != 0 ||
		posix_spawnattr_setsigmask(attr, &none) != 0 ||
		posix_spawnattr_setflags(
		    attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK) != 0
	    ? -1
	    : 0;
}

/* Its standard error first: `errors` may be one of the numbers that the others
 * get. */
static int
upgrade_start_set_files(posix_spawn_file_actions_t *files,
    const struct plan_of_start *s, int errors)
{
	int spare = s->highest + 1, from;
	uint32_t i;

	if (posix_spawn_file_actions_adddup2(files, errors, STDERR_FILENO) !=
	    0)
		return -1;
	if (s->locked >= 0 &&
	    posix_spawn_file_actions_adddup2(files, s->locked, spare) != 0)
		return -1;
	for (i = 0; i < s->count; i++) {
		from = s->fd[i] >= 0 ? s->fd[i] : spare;
		if (posix_spawn_file_actions_adddup2(
			files, from, FIRST + (int)i) != 0)
			return -1;
	}
	return s->locked < 0 ? 0
			     : posix_spawn_file_actions_addclose(files, spare);
}

static int
spawn_successor(const struct pen *p, struct plan_of_start *s, int errors,
    pid_t *pid, struct error *e)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	char **env = environment_with(s->words.data + s->words.start, NULL);
	int rc = ENOMEM;

	if (env == NULL)
		return error_set(e, "out of memory");
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	rights_hand_on(true);
	if (upgrade_start_set_attributes(&attr) == 0 &&
	    upgrade_start_set_files(&files, s, errors) == 0)
		rc = posix_spawn(pid, p->executable.path, &files, &attr,
		    p->executable.argv, env);
	rights_hand_on(false);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	free(env);
	if (rc == 0)
		return 0;
	return error_set(e, "\"%.300s\": %s", p->executable.path, strerror(rc));
}

/* The same by the starter: what is passed is copied by the message. */
static int
ask_starter(const struct pen *p, struct plan_of_start *s, int errors,
    pid_t *pid, struct error *e)
{
	uint32_t i;

	for (i = 0; s->locked >= 0 && i < s->count; i++)
		if (s->fd[i] < 0)
			s->fd[i] = s->locked;
	*pid = starter_succeed(p->starter, s->fd, s->count, errors,
	    s->words.data + s->words.start);
	for (i = 0; s->locked >= 0 && i < s->count; i++)
		if (s->fd[i] == s->locked)
			s->fd[i] = -1;
	if (*pid > 0)
		return 0;
	if (errno == EPIPE || errno == ECONNRESET)
		return error_set(e, "the process that starts programs for the "
		    "sandbox has ended: restart pen");
	return error_set(
	    e, "\"%.300s\": %s", p->executable.path, strerror(errno));
}

static void
close_both(const int fd[2])
{
	close(fd[0]);
	close(fd[1]);
}

/* Our end does not block, which the new process's may. */
static int
set_channel(int ours, int theirs)
{
	return fcntl(ours, F_SETFL, O_NONBLOCK) < 0 ||
		fcntl(ours, F_SETFD, FD_CLOEXEC) < 0 ||
		fcntl(theirs, F_SETFD, FD_CLOEXEC) < 0
	    ? -1
	    : 0;
}

static int
upgrade_start_open_channels(int state[2], int errors[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, state) < 0)
		return -1;
	if (pipe(errors) < 0) {
		close_both(state);
		return -1;
	}
	if (set_channel(state[0], state[1]) == 0 &&
	    set_channel(errors[0], errors[1]) == 0)
		return 0;
	close_both(state);
	close_both(errors);
	return -1;
}

int
upgrade_start(struct pen *p, struct upgrade_child *child, struct error *e)
{
	struct plan_of_start s = { .count = 0 };
	int state[2], errors[2], rc;

	if (upgrade_start_open_channels(state, errors) < 0)
		return error_set(e, "%s", strerror(errno));
	list_descriptors(&s, p, state[1]);
	rc = s.failed ? error_set(e, "%s", strerror(errno))
	    : p->starter != NULL
	    ? ask_starter(p, &s, errors[1], &child->pid, e)
	    : spawn_successor(p, &s, errors[1], &child->pid, e);
	free_plan(&s);
	close(state[1]);
	close(errors[1]);
	if (rc < 0) {
		close(state[0]);
		close(errors[0]);
		return -1;
	}
	child->fd = state[0];
	child->error_fd = errors[0];
	return 0;
}
