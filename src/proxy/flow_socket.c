/* flow_socket.c: the sockets of flows: descriptors and local ports, and what
 * happens when those are short. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "proxy/flow_private.h"

/* Flows that end for one socket; ports tried that others may have. */
enum { EVICTIONS = 4, PORT_TRIES = 16 };

/* Of descriptors; of ports, as connect() and bind() say it. */
static bool
is_short(int error)
{
	return error == EMFILE || error == ENFILE || error == EAGAIN ||
	    error == EADDRINUSE;
}

/* The address that the socket is bound to, but for its port. */
static struct addr
source_of(const struct flow *w)
{
	const struct addr *source = &w->frontend->options.source;
	struct addr a = { .len = 0 };

	if (source->len > 0 && source->u.sa.sa_family == w->family)
		return *source;
	a.u.sa.sa_family = (sa_family_t)w->family;
	a.len = w->family == AF_INET6 ? sizeof(a.u.in6) : sizeof(a.u.in);
	return a;
}

/* Binds it to a port of ours; to one of the kernel's choice when ours are not
 * known, or when others have all of many. Returns a descriptor, or -1 with errno. */
static int
connect_from_port(struct flow *w, const struct addr *to)
{
	struct ports *ports = &w->frontend->flows.ports;
	struct addr from = source_of(w);
	int i, fd = -1;

	errno = EADDRINUSE;
	for (i = 0; i < PORT_TRIES && fd < 0 && errno == EADDRINUSE; i++) {
		w->port = i < PORT_TRIES - 1 ? ports_take(ports) : 0;
		addr_set_port(&from, w->port);
		fd = dgram_connect(to, &from);
		if (fd < 0) {
			ports_give(ports, w->port);
			w->port = 0;
		}
	}
	return fd;
}

static int
connect_socket(struct flow *w, const struct addr *to)
{
	return w->family == AF_UNIX ? dgram_connect(to, NULL)
				    : connect_from_port(w, to);
}

/* Ports end before descriptors do, on most systems. */
static void
spare_port(struct flow *w)
{
	struct flows *fs = &w->frontend->flows;
	int tries = 0;

	while (ports_are_short(&fs->ports) && tries++ < EVICTIONS &&
	    flow_end_idlest(fs, w))
		;
}

int
flow_open_socket(struct flow *w)
{
	struct frontend *f = w->frontend;
	const struct server *s = w->server;
	const struct addr *to = &s->addrs.addr[s->addr_first];
	int tries = 0;

	w->address = s->addr_first;
	w->family = to->u.sa.sa_family;
	if (w->family != AF_UNIX)
		spare_port(w);
	do
		w->fd = connect_socket(w, to);
	while (w->fd < 0 && is_short(errno) && tries++ < EVICTIONS &&
	    flow_end_idlest(&f->flows, w));
	if (w->fd < 0)
		return -1;
	f->stats.flow_ports += w->port != 0;
	return 0;
}

void
flow_hang_up(struct flow *w)
{
	struct frontend *f = w->frontend;

	if (w->fd >= 0) {
		watch_stop(f->loop, &w->watch);
		close(w->fd);
		w->fd = -1;
		ports_give(&f->flows.ports, w->port);
		f->stats.flow_ports -= w->port != 0;
		w->port = 0;
	}
	w->introduced = w->coalescing = false;
}

int
flow_ports_init(struct flows *fs)
{
	if (ports_init(&fs->ports) < 0)
		return -1;
	fs->frontend->stats.flow_ports_max = ports_most(&fs->ports);
	return 0;
}
