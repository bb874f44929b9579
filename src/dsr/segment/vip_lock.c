/* vip_lock.c: locks of VIPs: names of sockets. */
#include "config.h"

#include "dsr/segment/vip_lock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

/* Processes that may read an owner until the next vip_locks_drain(). */
enum { CLAIMS = 64 };

/* The lock of a VIP, or NULL. */
static int *
vip_lock_find(const struct vip_locks *l, const struct peer *vip)
{
	unsigned i;

	for (i = 0; i < l->count; i++)
		if (l->fd[i] >= 0 && l->vip[i].port == vip->port &&
		    peer_same_host(&l->vip[i], vip))
			return &l->fd[i];
	return NULL;
}

#ifdef __linux__

/* NAME_MAX_HERE: after the byte 0 that makes a name abstract. */
enum { NAME_MAX_HERE = 100, TRIES = 100 };

/* The name of the lock of a VIP's port. With an empty `port` it is the prefix
 * of the names of all its ports. */
static void
make_name(char name[NAME_MAX_HERE], unsigned ifindex, const struct peer *vip,
    const char *port)
{
	char ip[PEER_TEXT_MAX];

	snprintf(name, NAME_MAX_HERE, "pen dsr %u %s %s", ifindex,
	    peer_format_host(vip, ip), port);
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
vip_lock_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

enum owner {
	NOBODY,	 /* no socket with that name listens */
	IGNORED, /* this process has it, or a user whose locks do not count */
	ANOTHER	 /* another process has it */
};

/* Whether a lock of that name prevents this process from using the VIP: those
 * of other users than root and pen's own are ignored, with a line in the
 * log. */
static bool
lock_is_respected(const char *name, const struct ucred *who, uid_t user)
{
	if (who->uid == 0 || who->uid == user || who->uid == geteuid())
		return who->pid != getpid();
	log_warn(
	    "another user holds a lock of direct server return name=\"%s\" "
	    "uid=%u pid=%d",
	    name, (unsigned)who->uid, (int)who->pid);
	return false;
}

/* The user that has that name, and its process: 0 if that cannot be known, as
 * in another container, whose processes have numbers of their own, or while its
 * queue of connections is full. */
static enum owner
find_owner(const char *name, uid_t user, pid_t *pid)
{
	struct sockaddr_un at;
	struct ucred who = { .pid = 0 };
	socklen_t n = make_address(&at, name), len = sizeof(who);
	int fd = vip_lock_socket();
	enum owner owner;

	*pid = 0;
	if (fd < 0)
		return NOBODY;
	if (connect(fd, (struct sockaddr *)&at, n) < 0)
		owner = errno == EAGAIN ? ANOTHER : NOBODY;
	else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0 ||
	    lock_is_respected(name, &who, user))
		owner = ANOTHER;
	else
		owner = IGNORED;
	close(fd);
	*pid = who.pid;
	return owner;
}

static bool
read_name(const char *name, struct peer *vip)
{
	char ip[PEER_TEXT_MAX];
	struct addr a;
	unsigned port;

	if (sscanf(name, "pen dsr %*u %63s %u", ip, &port) != 2 ||
	    addr_parse_ip(&a, ip, (uint16_t)port) < 0)
		return false;
	peer_from_addr(vip, &a);
	return true;
}

/* Whether another process has a name that begins like this, but for those that
 * are kept. */
static bool
any_is_locked(const char *begins, uid_t user, const struct vip_locks *kept,
    pid_t *pid)
{
	FILE *f = fopen("/proc/net/unix", "re");
	char line[256], *at;
	bool locked = false;
	struct peer vip;

	while (f != NULL && !locked && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		at = strchr(line, '@');
		if (at != NULL &&
		    strncmp(at + 1, begins, strlen(begins)) == 0 &&
		    !(read_name(at + 1, &vip) && vip_lock_find(kept, &vip)))
			locked = find_owner(at + 1, user, pid) == ANOTHER;
	}
	if (f != NULL)
		fclose(f);
	return locked;
}

/* Whether another process has what overlaps with the vip. Locks that are kept
 * are still owned by the process that this one replaces. */
static bool
overlap_is_locked(unsigned ifindex, uid_t user, const struct peer *vip,
    const struct vip_locks *kept, pid_t *pid)
{
	char name[NAME_MAX_HERE];
	struct peer all = *vip;

	make_name(name, ifindex, vip, vip->port == 0 ? "" : "0");
	if (vip->port == 0)
		return any_is_locked(name, user, kept, pid);
	all.port = 0;
	return vip_lock_find(kept, &all) == NULL &&
	    find_owner(name, user, pid) == ANOTHER;
}

/* Binds the name. False: another process has it, or has bound it and does not
 * listen even after TRIES. A process that binds listens a moment later, or
 * ends. */
static bool
bind_name(int fd, const char *name, uid_t user, pid_t *pid)
{
	static const struct timespec moment = { .tv_nsec = 5000000 };
	struct sockaddr_un at;
	socklen_t n = make_address(&at, name);
	enum owner owner;
	unsigned i;

	for (i = 0; i < TRIES; i++) {
		if (bind(fd, (struct sockaddr *)&at, n) == 0) {
			(void)listen(fd, CLAIMS);
			return true;
		}
		owner = find_owner(name, user, pid);
		if (owner != NOBODY)
			return owner == IGNORED;
		nanosleep(&moment, NULL);
	}
	return false;
}

static void
name_process(char *text, size_t size, pid_t pid)
{
	snprintf(text, size, pid != 0 ? "process %d" : "another process",
	    (int)pid);
}

static int
vip_lock_take(unsigned ifindex, uid_t user, const struct peer *vip,
    const struct vip_locks *kept, int *fd, struct error *e)
{
	char name[NAME_MAX_HERE], port[8], text[PEER_TEXT_MAX], process[32];
	pid_t other;

	snprintf(port, sizeof(port), "%u", vip->port);
	make_name(name, ifindex, vip, port);
	*fd = vip_lock_socket();
	if (*fd < 0)
		return error_set(e,
		    "cannot open the socket of a lock: %s",
		    strerror(errno));
	/* The name is bound before others are searched: of two processes that
	 * start at once at least one finds the other. */
	if (bind_name(*fd, name, user, &other) &&
	    !overlap_is_locked(ifindex, user, vip, kept, &other))
		return 0;
	close(*fd);
	*fd = -1;
	name_process(process, sizeof(process), other);
	return error_set(e,
	    "%s is in use: %s serves it by direct server return on the same "
	    "interface",
	    peer_format(vip, text), process);
}

/* Whether it is a lock. */
static bool
vip_lock_read(int fd, struct peer *vip)
{
	struct sockaddr_un at = { .sun_family = AF_UNSPEC };
	socklen_t n = sizeof(at) - 1; /* a zero is behind it */

	memset(vip, 0, sizeof(*vip));
	if (fd < 0 || getsockname(fd, (struct sockaddr *)&at, &n) < 0 ||
	    at.sun_family != AF_UNIX || at.sun_path[0] != '\0')
		return false;
	return read_name(at.sun_path + 1, vip);
}

static void
refuse_claims(int fd)
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

bool
vip_is_locked(unsigned ifindex, uid_t user, const struct peer *vip)
{
	const struct vip_locks none = { .count = 0 };
	char name[NAME_MAX_HERE];
	pid_t other;

	make_name(name, ifindex, vip, "");
	return any_is_locked(name, user, &none, &other);
}

#else

bool
vip_is_locked(unsigned ifindex, uid_t user, const struct peer *vip)
{
	(void)ifindex;
	(void)user;
	(void)vip;
	return false;
}

static int
vip_lock_take(unsigned ifindex, uid_t user, const struct peer *vip,
    const struct vip_locks *kept, int *fd, struct error *e)
{
	(void)ifindex;
	(void)user;
	(void)vip;
	(void)kept;
	(void)e;
	*fd = -1;
	return 0;
}

static bool
vip_lock_read(int fd, struct peer *vip)
{
	(void)fd;
	(void)vip;
	return false;
}

static void
refuse_claims(int fd)
{
	(void)fd;
}

#endif

static int
alloc_locks(struct vip_locks *l, unsigned count, struct error *e)
{
	*l =
	    (struct vip_locks){ .fd = calloc((size_t)count + 1, sizeof(*l->fd)),
		    .vip = calloc((size_t)count + 1, sizeof(*l->vip)) };
	if (l->fd != NULL && l->vip != NULL)
		return 0;
	vip_locks_free(l);
	return error_set(e, "out of memory");
}

int
vip_locks_take(struct vip_locks *l, const struct vip_locks *kept,
    unsigned ifindex, uid_t user, const struct peer *vips, unsigned count,
    struct error *e)
{
	unsigned i;

	if (alloc_locks(l, count, e) < 0)
		return -1;
	for (i = 0; i < count; i++) {
		l->fd[i] = -1;
		l->vip[i] = vips[i];
		l->count = i + 1;
		if (vip_lock_find(kept, &vips[i]) != NULL ||
		    vip_lock_find(l, &vips[i]) != NULL)
			continue;
		if (vip_lock_take(
			ifindex, user, &vips[i], kept, &l->fd[i], e) < 0) {
			vip_locks_free(l);
			return -1;
		}
	}
	return 0;
}

void
vip_locks_replace(struct vip_locks *kept, struct vip_locks *l)
{
	unsigned i;
	int *had;

	for (i = 0; i < l->count; i++)
		if (l->fd[i] < 0 &&
		    (had = vip_lock_find(kept, &l->vip[i])) != NULL) {
			l->fd[i] = *had;
			*had = -1;
		}
	vip_locks_free(kept);
	*kept = *l;
	*l = (struct vip_locks){ .count = 0 };
}

void
vip_locks_free(struct vip_locks *l)
{
	unsigned i;

	for (i = 0; i < l->count; i++)
		if (l->fd[i] >= 0)
			close(l->fd[i]);
	free(l->fd);
	free(l->vip);
	*l = (struct vip_locks){ .count = 0 };
}

int
vip_locks_import(struct vip_locks *l, int *fd, unsigned count)
{
	struct error e;
	unsigned i;

	if (alloc_locks(l, count, &e) < 0)
		return -1;
	for (i = 0; i < count; i++) {
		if (!vip_lock_read(fd[i], &l->vip[l->count]))
			continue;
		l->fd[l->count++] = fd[i];
		fd[i] = -1;
	}
	return 0;
}

unsigned
vip_locks_fds(const struct vip_locks *l, int *list)
{
	unsigned n = 0, i;

	for (i = 0; i < l->count; i++)
		if (l->fd[i] >= 0)
			list[n++] = l->fd[i];
	return n;
}

void
vip_locks_own(const struct vip_locks *l)
{
	unsigned i;

	for (i = 0; i < l->count; i++)
		if (l->fd[i] >= 0)
			(void)listen(l->fd[i], CLAIMS);
}

void
vip_locks_drain(const struct vip_locks *l)
{
	unsigned i;

	for (i = 0; i < l->count; i++)
		if (l->fd[i] >= 0)
			refuse_claims(l->fd[i]);
}
