/* place_lock.c: locks of places, names of sockets. */
#include "config.h"

#include "dsr/place_lock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

#ifdef __linux__

/* Behind the byte 0 that makes a name abstract. */
enum { NAME_MAX_HERE = 100, CLAIMS = 64 };
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

/* Who has that name; 0: nobody, or this process, or somebody whose word does not
 * count. */
static pid_t
holder_of(const char *name)
{
	struct sockaddr_un at;
	struct ucred who = { .pid = 0 };
	socklen_t n = make_address(&at, name), len = sizeof(who);
	int fd = open_socket();

	if (fd < 0)
		return 0;
	if (connect(fd, (struct sockaddr *)&at, n) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		who.pid = 0;
	else if (who.uid != 0 && who.uid != geteuid()) {
		log_warn("a stranger holds a lock of direct return name=\"%s\" "
			 "uid=%u pid=%d",
		    name, (unsigned)who.uid, (int)who.pid);
		who.pid = 0;
	}
	close(fd);
	return who.pid == getpid() ? 0 : who.pid;
}

/* Who has a single port of the address. */
static pid_t
holder_of_any(const char *begins)
{
	FILE *f = fopen(names_of_all, "re");
	char line[256], *at;
	pid_t pid = 0;

	while (f != NULL && pid == 0 && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		at = strchr(line, '@');
		if (at != NULL && strncmp(at + 1, begins, strlen(begins)) == 0)
			pid = holder_of(at + 1);
	}
	if (f != NULL)
		fclose(f);
	return pid;
}

/* Who has what overlaps with the place. */
static pid_t
find_other(unsigned ifindex, const struct peer *place)
{
	char name[NAME_MAX_HERE];

	make_name(name, ifindex, place, place->port == 0 ? "" : "0");
	return place->port == 0 ? holder_of_any(name) : holder_of(name);
}

static int
take(unsigned ifindex, const struct peer *place, int *fd, struct error *e)
{
	char name[NAME_MAX_HERE], port[8], text[PEER_TEXT_MAX];
	struct sockaddr_un at;
	socklen_t n;
	pid_t other = 0;

	snprintf(port, sizeof(port), "%u", place->port);
	make_name(name, ifindex, place, port);
	n = make_address(&at, name);
	*fd = open_socket();
	if (*fd < 0)
		return error_set(e, "no socket: %s", strerror(errno));
	if (bind(*fd, (struct sockaddr *)&at, n) < 0)
		other = holder_of(name);
	else if (listen(*fd, CLAIMS) == 0)
		other = find_other(ifindex, place);
	if (other == 0)
		return 0;
	close(*fd);
	*fd = -1;
	return error_set(e,
	    "%s is in use: process %d serves it by direct return on the same "
	    "interface",
	    peer_format(place, text), (int)other);
}

#else

static int
take(unsigned ifindex, const struct peer *place, int *fd, struct error *e)
{
	(void)ifindex;
	(void)place;
	(void)e;
	*fd = -1;
	return 0;
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
    unsigned ifindex, const struct peer *places, unsigned count,
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
		    take(ifindex, &places[i], &l->fd[i], e) == 0)
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
