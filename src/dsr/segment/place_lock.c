/* place_lock.c: locks of places, names of sockets. */
#include "config.h"

#include "dsr/segment/place_lock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

#ifdef __linux__

/* NAME_MAX_HERE: behind the byte 0 that makes a name abstract. CLAIMS: how many may ask
 * who has a name until the next place_locks_drain(). */
enum { NAME_MAX_HERE = 100, CLAIMS = 64, TRIES = 20 };
static const char names_of_all[] = "/proc/net/unix";

/* `port`: that of the place, or another one to look for; without a port the name is
 * the beginning of all of that address. */
static void
make_name(char name[NAME_MAX_HERE], unsigned ifindex, const struct peer *place,
    const char *port)
{
	char ip[PEER_TEXT_MAX];

	snprintf(name, NAME_MAX_HERE, "pen dsr %u %s %s", ifindex,
	    peer_format_host(place, ip), port);
}

static socklen_t
make_address(struct sockaddr_un *at, const char *name)
{
	size_t n = strlen(name);

	memset(at, 0, sizeof(*at));
	at->sun_family = AF_UNIX;
	memcpy(at->sun_path + 1, name, n);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

static int
open_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

enum holder {
	NOBODY,	 /* no socket with that name listens */
	IGNORED, /* this process has it, or a user whose locks do not count */
	ANOTHER	 /* another process has it */
};

static bool
counts(const char *name, const struct ucred *who, uid_t user)
{
	if (who->uid == 0 || who->uid == user || who->uid == geteuid())
		return who->pid != getpid();
	log_warn(
	    "another user holds a lock of direct server return name=\"%s\" "
	    "uid=%u pid=%d",
	    name, (unsigned)who->uid, (int)who->pid);
	return false;
}

/* Who has that name, and as which process: 0 if that cannot be known, as of one in
 * another container, whose processes have numbers of their own, or of one that does
 * not accept connections and whose queue is full. */
static enum holder
find_holder(const char *name, uid_t user, pid_t *pid)
{
	struct sockaddr_un at;
	struct ucred who = { .pid = 0 };
	socklen_t n = make_address(&at, name), len = sizeof(who);
	int fd = open_socket();
	enum holder holder;

	*pid = 0;
	if (fd < 0)
		return NOBODY;
	if (connect(fd, (struct sockaddr *)&at, n) < 0)
		holder = errno == EAGAIN ? ANOTHER : NOBODY;
	else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0 ||
	    counts(name, &who, user))
		holder = ANOTHER;
	else
		holder = IGNORED;
	close(fd);
	*pid = who.pid;
	return holder;
}

/* Whether another process has a single port of the address. */
static bool
any_is_held(const char *begins, uid_t user, pid_t *pid)
{
	FILE *f = fopen(names_of_all, "re");
	char line[256], *at;
	bool held = false;

	while (f != NULL && !held && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		at = strchr(line, '@');
		if (at != NULL && strncmp(at + 1, begins, strlen(begins)) == 0)
			held = find_holder(at + 1, user, pid) == ANOTHER;
	}
	if (f != NULL)
		fclose(f);
	return held;
}

/* Whether another process has what overlaps with the place. */
static bool
overlap_is_held(
    unsigned ifindex, uid_t user, const struct peer *place, pid_t *pid)
{
	char name[NAME_MAX_HERE];

	make_name(name, ifindex, place, place->port == 0 ? "" : "0");
	return place->port == 0 ? any_is_held(name, user, pid)
				: find_holder(name, user, pid) == ANOTHER;
}

/* Binds the name. False: another process has it. One that has it and does not listen
 * is about to, or to end, so it is given a moment. */
static bool
bind_name(int fd, const char *name, uid_t user, pid_t *pid)
{
	static const struct timespec moment = { .tv_nsec = 5000000 };
	struct sockaddr_un at;
	socklen_t n = make_address(&at, name);
	enum holder holder;
	unsigned i;

	for (i = 0; i < TRIES; i++) {
		if (bind(fd, (struct sockaddr *)&at, n) == 0) {
			(void)listen(fd, CLAIMS);
			return true;
		}
		holder = find_holder(name, user, pid);
		if (holder != NOBODY)
			return holder == IGNORED;
		nanosleep(&moment, NULL);
	}
	return true;
}

static int
take(unsigned ifindex, uid_t user, const struct peer *place, int *fd,
    struct error *e)
{
	char name[NAME_MAX_HERE], port[8], text[PEER_TEXT_MAX], process[32];
	pid_t other;

	snprintf(port, sizeof(port), "%u", place->port);
	make_name(name, ifindex, place, port);
	*fd = open_socket();
	if (*fd < 0)
		return error_set(e, "no socket: %s", strerror(errno));
	if (bind_name(*fd, name, user, &other) &&
	    !overlap_is_held(ifindex, user, place, &other))
		return 0;
	close(*fd);
	*fd = -1;
	snprintf(process, sizeof(process),
	    other != 0 ? "process %d" : "another process", (int)other);
	return error_set(e,
	    "%s is in use: %s serves it by direct return on the same "
	    "interface",
	    peer_format(place, text), process);
}

static void
drain(int fd)
{
	int claim;
	unsigned i;

	for (i = 0; i <= CLAIMS; i++) {
		claim = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		if (claim < 0)
			return;
		close(claim);
	}
}

#else

static int
take(unsigned ifindex, uid_t user, const struct peer *place, int *fd,
    struct error *e)
{
	(void)ifindex;
	(void)user;
	(void)place;
	(void)e;
	*fd = -1;
	return 0;
}

static void
drain(int fd)
{
	(void)fd;
}

#endif

/* The lock of a place, or NULL. */
static int *
find(const struct place_locks *l, const struct peer *place)
{
	unsigned i;

	for (i = 0; i < l->count; i++)
		if (l->fd[i] >= 0 && l->place[i].port == place->port &&
		    peer_same_host(&l->place[i], place))
			return &l->fd[i];
	return NULL;
}

int
place_locks_take(struct place_locks *l, const struct place_locks *held,
    unsigned ifindex, uid_t user, const struct peer *places, unsigned count,
    struct error *e)
{
	unsigned i;

	*l = (struct place_locks){ .fd = calloc(
				       (size_t)count + 1, sizeof(*l->fd)),
		.place = calloc((size_t)count + 1, sizeof(*l->place)) };
	if (l->fd == NULL || l->place == NULL) {
		place_locks_free(l);
		return error_set(e, "out of memory");
	}
	for (i = 0; i < count; i++) {
		l->fd[i] = -1;
		l->place[i] = places[i];
		l->count = i + 1;
		if (find(held, &places[i]) != NULL ||
		    find(l, &places[i]) != NULL ||
		    take(ifindex, user, &places[i], &l->fd[i], e) == 0)
			continue;
		place_locks_free(l);
		return -1;
	}
	return 0;
}

void
place_locks_replace(struct place_locks *held, struct place_locks *l)
{
	unsigned i;
	int *had;

	for (i = 0; i < l->count; i++)
		if (l->fd[i] < 0 && (had = find(held, &l->place[i])) != NULL) {
			l->fd[i] = *had;
			*had = -1;
		}
	place_locks_free(held);
	*held = *l;
	*l = (struct place_locks){ .count = 0 };
}

void
place_locks_free(struct place_locks *l)
{
	unsigned i;

	for (i = 0; i < l->count; i++)
		if (l->fd[i] >= 0)
			close(l->fd[i]);
	free(l->fd);
	free(l->place);
	*l = (struct place_locks){ .count = 0 };
}

void
place_locks_drain(const struct place_locks *l)
{
	unsigned i;

	for (i = 0; i < l->count; i++)
		if (l->fd[i] >= 0)
			drain(l->fd[i]);
}
