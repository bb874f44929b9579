/* dgram_reply.c: a bound socket for each of a few addresses. It must never
 * receive what the listener would have received, but for the moment between
 * bind() and connect(). */
#include "config.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/dgram_reply.h"
#include "net/sock.h"

/* Answers with the address named until another try: what stood in the way, as
 * the socket of a process that this one replaces, may be gone. */
enum { RETRY = 4096 };

static struct dgram_reply *
find_socket(struct dgram_replies *r, uint32_t ip)
{
	unsigned i;

	for (i = 0; i < r->count; i++)
		if (r->at[i].ip == ip)
			return &r->at[i];
	return NULL;
}

int
dgram_reply_from(struct dgram_replies *r, const struct dgram_local *from)
{
	struct dgram_reply *e;
	uint32_t ip;

	if (from->family != AF_INET)
		return -1;
	memcpy(&ip, from->ip + 12, sizeof(ip));
	e = find_socket(r, ip);
	if (e != NULL && (e->fd >= 0 || ++e->named < RETRY))
		return e->fd;
	if (e != NULL || r->count < DGRAM_REPLIES)
		r->wanted = ip;
	return -1;
}

void
dgram_replies_close(struct dgram_replies *r)
{
	while (r->count > 0)
		if (r->at[--r->count].fd >= 0)
			close(r->at[r->count].fd);
	r->wanted = 0;
	r->fresh = 0;
}

#if defined(__linux__) && defined(SO_REUSEPORT)

/* What a listener may have, of pen or of the process that it was inherited
 * from. */
static const struct {
	int level, name;
} OPTIONS[] = {
	{ IPPROTO_IP, IP_PKTINFO }, /* what comes before the connect has it */
	{ IPPROTO_IP, IP_MTU_DISCOVER },
	{ IPPROTO_IP, IP_FREEBIND },
	{ IPPROTO_IP, IP_TOS },
	{ IPPROTO_IP, IP_TTL },
	{ SOL_SOCKET, SO_PRIORITY },
	{ SOL_SOCKET, SO_MARK },
#ifdef SO_BINDTOIFINDEX
	{ SOL_SOCKET, SO_BINDTOIFINDEX },
#endif
};

/* 0 if there is no such option. */
static int
option(int fd, int level, int name)
{
	int value = 0;
	socklen_t n = sizeof(value);

	return getsockopt(fd, level, name, &value, &n) == 0 ? value : 0;
}

static int
copy_options(int fd, int listener)
{
	size_t i;
	int value;

	for (i = 0; i < sizeof(OPTIONS) / sizeof(OPTIONS[0]); i++) {
		value = option(listener, OPTIONS[i].level, OPTIONS[i].name);
		if (value != option(fd, OPTIONS[i].level, OPTIONS[i].name) &&
		    setsockopt(fd, OPTIONS[i].level, OPTIONS[i].name, &value,
			sizeof(value)) < 0)
			return -1;
	}
	return 0;
}

static int
share_port(int fd, int may)
{
	return setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &may, sizeof(may));
}

/* Two sockets may share a port that both permit it for, and whose user is the
 * same. Unless workers share it these do so no longer than this takes, or other
 * programs of the user could have it, too. */
static int
bind_beside(int fd, int listener, const struct sockaddr_in *at)
{
	int shared = option(listener, SOL_SOCKET, SO_REUSEPORT), rc;

	if (share_port(fd, 1) < 0 || (!shared && share_port(listener, 1) < 0))
		return -1;
	rc = bind(fd, (const struct sockaddr *)at, sizeof(*at));
	if (!shared) {
		(void)share_port(listener, 0);
		(void)share_port(fd, 0);
	}
	return rc;
}

/* Opens a socket that answers from `ip`, at the listener's port and with its
 * options, connected to itself so that it receives nothing. A transparent
 * listener gets none: its addresses are those of other hosts. Returns -1 with
 * errno, or where a listener needs none. */
static int
dgram_reply_socket(int listener, uint32_t ip)
{
	struct sockaddr_in at;
	socklen_t n = sizeof(at);
	int fd;

	if (getsockname(listener, (struct sockaddr *)&at, &n) < 0 ||
	    at.sin_family != AF_INET ||
	    option(listener, IPPROTO_IP, IP_TRANSPARENT) != 0)
		return -1;
	fd = sock_datagram(AF_INET);
	if (fd < 0)
		return -1;
	at.sin_addr.s_addr = ip;
	if (copy_options(fd, listener) == 0 &&
	    bind_beside(fd, listener, &at) == 0 &&
	    connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
		return fd;
	close(fd);
	return -1;
}

#else

static int
dgram_reply_socket(int listener, uint32_t ip)
{
	(void)listener;
	(void)ip;
	return -1;
}

#endif

static int
dgram_reply_open(struct dgram_replies *r, int listener)
{
	struct dgram_reply *e = find_socket(r, r->wanted);

	if (e == NULL)
		e = &r->at[r->count++];
	e->ip = r->wanted;
	e->fd = dgram_reply_socket(listener, e->ip);
	e->named = 0;
	r->wanted = 0;
	r->fresh = e->fd > 0 ? e->fd : 0;
	return e->fd;
}

int
dgram_reply_next(struct dgram_replies *r, int listener)
{
	int fd = r->fresh;

	if (fd > 0) {
		r->fresh = 0;
		return fd;
	}
	return r->wanted != 0 ? dgram_reply_open(r, listener) : -1;
}
