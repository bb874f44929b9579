/* inherited.c: descriptors by their addresses. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "net/inherited.h"
#include "net/sock.h"

void
inherited_fini(struct inherited *in)
{
	unsigned i;

	for (i = 0; i < in->count; i++)
		if (in->list[i].fd >= 0)
			close(in->list[i].fd);
	free(in->list);
	*in = (struct inherited){ .count = 0 };
}

/* ---- what a descriptor is ---- */

static int
get_int(int fd, int level, int name)
{
	int value = 0;
	socklen_t len = sizeof(value);

	return getsockopt(fd, level, name, &value, &len) < 0 ? -1 : value;
}

/* Whether clients can come to it: it accepts connections, or receives datagrams
 * of all senders. Some systems do not report whether it accepts. */
static bool
is_listening(int fd, int type)
{
	struct addr peer = { .len = sizeof(peer.u) };

	if (type == SOCK_DGRAM)
		return getpeername(fd, &peer.u.sa, &peer.len) < 0;
#ifdef SO_ACCEPTCONN
	return type == SOCK_STREAM &&
	    get_int(fd, SOL_SOCKET, SO_ACCEPTCONN) != 0;
#else
	return type == SOCK_STREAM;
#endif
}

static int
inherited_describe(struct inherited_socket *s, struct error *e)
{
	int type = get_int(s->fd, SOL_SOCKET, SO_TYPE), family;

	if (type < 0 || sock_local_addr(s->fd, &s->at) < 0)
		return error_set(e, "%s", strerror(errno));
	family = s->at.u.sa.sa_family;
	if ((family != AF_INET && family != AF_INET6 && family != AF_UNIX) ||
	    !is_listening(s->fd, type))
		return error_set(e, "not a listening socket");
	s->datagram = type == SOCK_DGRAM;
	s->v6_only = family == AF_INET6 &&
	    get_int(s->fd, IPPROTO_IPV6, IPV6_V6ONLY) > 0;
	return 0;
}

int
inherited_add(struct inherited *in, int fd, bool file_is_ours, struct error *e)
{
	struct inherited_socket s = { .fd = fd, .file_is_ours = file_is_ours },
				*list;
	int flags = fcntl(fd, F_GETFL);

	if (inherited_describe(&s, e) < 0)
		return -1;
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return error_set(e, "%s", strerror(errno));
	list = array_grow(in->list, &in->room, sizeof(*list), in->count);
	if (list == NULL)
		return error_set(e, "out of memory");
	in->list = list;
	in->list[in->count++] = s;
	return 0;
}

/* ---- taking ---- */

static bool
inherited_fits(const struct inherited_socket *s, const struct addr *at,
    bool datagram, bool v6_only)
{
	return s->fd >= 0 && s->datagram == datagram &&
	    addr_equal(&s->at, at) &&
	    (at->u.sa.sa_family != AF_INET6 || !addr_is_any(at) ||
		s->v6_only == v6_only);
}

int
inherited_take(struct inherited *in, const struct addr *at, bool datagram,
    bool v6_only, bool *file_is_ours)
{
	unsigned i;
	int fd;

	for (i = 0; in != NULL && i < in->count; i++) {
		struct inherited_socket *s = &in->list[i];

		if (!inherited_fits(s, at, datagram, v6_only))
			continue;
		fd = s->fd;
		s->fd = -1;
		*file_is_ours = s->file_is_ours;
		return fd;
	}
	return -1;
}

bool
inherited_has(const struct inherited *in, const struct addr *at, bool datagram,
    bool v6_only)
{
	unsigned i;

	for (i = 0; in != NULL && i < in->count; i++)
		if (inherited_fits(&in->list[i], at, datagram, v6_only))
			return true;
	return false;
}

const struct inherited_socket *
inherited_find(
    const struct inherited *in, const struct addr *at, bool datagram)
{
	unsigned i;

	for (i = 0; in != NULL && i < in->count; i++)
		if (in->list[i].datagram == datagram &&
		    addr_equal(&in->list[i].at, at))
			return &in->list[i];
	return NULL;
}

void
inherited_close_rest(struct inherited *in)
{
	char text[ADDR_TEXT_MAX];
	unsigned i;

	for (i = 0; i < in->count; i++)
		if (in->list[i].fd >= 0)
			log_warn("inherited socket closed address=%s kind=%s "
				 "error=\"pen has no such listening address\"",
			    addr_format(&in->list[i].at, text),
			    in->list[i].datagram ? "datagram" : "stream");
	inherited_fini(in);
}
