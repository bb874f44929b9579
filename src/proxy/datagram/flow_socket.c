/* flow_socket.c: the sockets of flows: descriptors, local addresses and ports,
 * and what happens when those are short, or servers are at their limits. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/sock.h"
#include "net/sock_nonlocal.h"
#include "proxy/datagram/flow_private.h"

/* Flows that end for one socket; ports tried that others may have. */
enum { EVICTIONS = 4, PORT_TRIES = 16 };
/* The same for a place at a server; how many of the idlest flows may have no
 * answer before none is looked for. */
enum { GIVE_WAY = 4, ANSWERED_LOOKS = 16 };

/* A local address with its ports. One that is set no longer lives as long as
 * flows have ports of it. */
struct flow_source {
	struct addr at; /* len 0: any */
	struct ports ports;
	unsigned users; /* flows; and the settings */
};

/* ---- sources ---- */

static struct flow_source *
new_source(const struct flows *fs, const struct addr *at)
{
	struct flow_source *s = calloc(1, sizeof(*s));

	if (s == NULL || ports_init_like(&s->ports, &fs->ports) < 0) {
		free(s);
		return NULL;
	}
	if (at != NULL)
		s->at = *at;
	return s;
}

static void
let_go(struct flow_source *s)
{
	if (s == NULL || --s->users > 0)
		return;
	ports_fini(&s->ports);
	free(s);
}

/* The one that is there for that address, or a new one; NULL: no memory. */
static struct flow_source *
source_at(const struct flows *fs, const struct addr *at)
{
	unsigned i;

	for (i = 1; i < fs->sources; i++)
		if (addr_equal(&fs->source[i]->at, at))
			return fs->source[i];
	return new_source(fs, at);
}

int
flow_sources_adjust(struct flows *fs)
{
	struct frontend_core *f = fs->frontend;
	const struct sources *list = &f->options.source;
	struct flow_source *new[SOURCES_MAX + 1] = { fs->source[0] };
	struct addr at;
	unsigned i;

	for (i = 0; i < list->count; i++) {
		addr_from_peer(&at, &list->at[i]);
		new[i + 1] = source_at(fs, &at);
		if (new[i + 1] == NULL)
			break;
		new[i + 1]->users++;
	}
	if (i < list->count) {
		while (i > 0)
			let_go(new[i--]);
		return -1;
	}
	for (i = 1; i < fs->sources; i++)
		let_go(fs->source[i]);
	memcpy(fs->source, new, sizeof(new));
	fs->sources = list->count + 1;
	f->stats->flows.ports_max = (uint64_t)ports_most(&fs->ports) *
	    (list->count > 0 ? list->count : 1);
	return 0;
}

int
flow_sources_init(struct flows *fs)
{
	if (ports_init(&fs->ports, PORTS_SETTINGS) < 0)
		return -1;
	fs->source[0] = new_source(fs, NULL);
	if (fs->source[0] == NULL)
		return -1;
	fs->source[0]->users = 1;
	fs->sources = 1;
	return flow_sources_adjust(fs);
}

void
flows_become(struct flows *fs)
{
	unsigned i;

	ports_become(&fs->ports);
	for (i = 0; i < fs->sources; i++)
		ports_become(&fs->source[i]->ports);
}

void
flow_sources_fini(struct flows *fs)
{
	unsigned i;

	for (i = 0; i < fs->sources; i++)
		let_go(fs->source[i]);
	ports_fini(&fs->ports);
}

/* The next source of the flow's family that has ports, or the next one if none
 * has; any address if none is set. */
static struct flow_source *
next_source(struct flow *w)
{
	struct flows *fs = w->frontend->flows;
	struct flow_source *found = fs->source[0], *s;
	unsigned i, n = fs->sources - 1, from = fs->source_turn;

	for (i = 1; i <= n; i++) {
		s = fs->source[1 + (from + i) % n];
		if (s->at.u.sa.sa_family != w->family)
			continue;
		fs->source_turn = (from + i) % n;
		found = s;
		if (!ports_are_short(&s->ports))
			break;
	}
	return found;
}

/* ---- sockets ---- */

/* Whether descriptors are short, or ports, which connect() and bind()
 * report. */
static bool
is_short(int error)
{
	return error == EMFILE || error == ENFILE || error == EAGAIN ||
	    error == EADDRINUSE;
}

/* Where the socket is to be bound, but for the port. */
static struct addr
local_address(const struct flow *w, const struct flow_source *s)
{
	struct addr a = s->at;

	if (a.len > 0)
		return a;
	a.u.sa.sa_family = (sa_family_t)w->family;
	a.len = w->family == AF_INET6 ? sizeof(a.u.in6) : sizeof(a.u.in);
	return a;
}

static void
release_port(struct flow *w)
{
	if (w->port == 0)
		return;
	ports_release(&w->source->ports, w->port);
	let_go(w->source);
	w->port = 0;
	w->frontend->stats->flows.ports--;
}

static void
take_port(struct flow *w, struct flow_source *s)
{
	w->port = ports_take(&s->ports);
	if (w->port == 0)
		return;
	w->source = s;
	s->users++;
	w->frontend->stats->flows.ports++;
}

/* Binds it to a port of ours; to one of the kernel's choice when ours are not
 * known, or when others have all of many. Returns a descriptor, or -1 with
 * errno. */
static int
connect_from(struct flow *w, struct flow_source *s, const struct addr *to)
{
	struct addr from = local_address(w, s);
	int i, fd = -1, error = EADDRINUSE;

	for (i = 0; i < PORT_TRIES && fd < 0 && error == EADDRINUSE; i++) {
		if (i < PORT_TRIES - 1)
			take_port(w, s);
		addr_set_port(&from, w->port);
		fd = dgram_connect(to, &from);
		error = errno;
		if (fd < 0)
			release_port(w);
	}
	errno = error;
	return fd;
}

/* From the next source, or from the others when that is no address of ours any
 * more. Ports end before descriptors do, on most systems. */
static int
connect_socket(struct flow *w, const struct addr *to)
{
	struct flows *fs = w->frontend->flows;
	unsigned left = fs->sources;
	const struct peer *client =
	    frontend_client_of(w->frontend, &w->who, to);
	struct flow_source *s;
	int tries = 0, fd;

	if (w->family == AF_UNIX)
		return dgram_connect(to, NULL);
	if (client != NULL)
		return sock_connect_datagram_as(to, client, w->listener->fd);
	do {
		while ((s = next_source(w), ports_are_short(&s->ports)) &&
		    tries++ < EVICTIONS && flow_end_idlest(fs, w))
			;
		fd = connect_from(w, s, to);
	} while (fd < 0 && errno == EADDRNOTAVAIL && left-- > 1);
	return fd;
}

void
flow_permit_fragments(struct flow *w)
{
	w->fragments = true;
	if (w->family == AF_INET && !w->frontend->options.udp.pmtu)
		sock_set_fragments(w->fd, w->family, true);
}

/* Bursts of answers wait there. Each call is one more for each new flow. */
static void
tune_socket(struct flow *w)
{
	struct frontend_core *f = w->frontend;

	if (w->family == AF_UNIX)
		return;
	w->queue = (uint32_t)dgram_queue(w->fd, &f->queues);
	if (w->family == AF_INET && f->options.udp.pmtu)
		sock_set_fragments(w->fd, w->family, false);
}

int
flow_open_socket(struct flow *w)
{
	struct flows *fs = w->frontend->flows;
	const struct server *s = w->server;
	struct addr copy;
	const struct addr *to = addr_with_port(
	    &s->addrs.addr[s->addr_first], addr_port(&w->listener->at), &copy);
	int tries = 0;

	w->address = s->addr_first;
	w->family = to->u.sa.sa_family;
	do
		w->fd = connect_socket(w, to);
	while (w->fd < 0 && is_short(errno) && tries++ < EVICTIONS &&
	    flow_end_idlest(fs, w));
	if (w->fd < 0)
		return -1;
	tune_socket(w);
	return 0;
}

/* The port is one of its source's, unless the client's address is its own. */
static void
keep_port(struct flow *w)
{
	struct flows *fs = w->frontend->flows;
	struct flow_source *s = fs->source[0];
	struct peer own, source;
	struct addr at, to;
	unsigned i;

	if (w->family == AF_UNIX || sock_local_addr(w->fd, &at) < 0 ||
	    sock_peer_addr(w->fd, &to) < 0 ||
	    frontend_client_of(w->frontend, &w->who, &to) != NULL)
		return;
	peer_from_addr(&own, &at);
	for (i = 1; i < fs->sources; i++) {
		peer_from_addr(&source, &fs->source[i]->at);
		if (peer_same_host(&own, &source))
			s = fs->source[i];
	}
	w->port = ports_take_one(&s->ports, addr_port(&at));
	if (w->port == 0)
		return;
	w->source = s;
	s->users++;
	w->frontend->stats->flows.ports++;
}

void
flow_import_socket(struct flow *w, const struct flow_past *past)
{
	int at = frontend_server_address(
	    w->server, past->fd, addr_port(&w->listener->at));

	w->fd = past->fd;
	if (at >= 0) {
		w->address = (unsigned)at;
		w->family = w->server->addrs.addr[at].u.sa.sa_family;
	}
	if (at < 0 || flow_watch(w) < 0) {
		close(w->fd);
		w->fd = -1;
		return;
	}
	keep_port(w);
	tune_socket(w);
	w->introduced = past->introduced;
	w->coalescing = past->coalescing;
	w->answered = past->answered;
	w->requests = past->requests;
	w->responses = past->responses;
}

void
flow_hang_up(struct flow *w)
{
	if (w->fd >= 0) {
		watch_stop(w->frontend->loop, &w->watch);
		close(w->fd);
		w->fd = -1;
		w->frontend->queues.given -= w->queue;
		w->queue = 0;
		release_port(w);
	}
	w->introduced = w->coalescing = w->fragments = false;
}

/* ---- places at servers ---- */

/* Whether it has its answer, and its client has never sent more after one. */
static bool
is_answered(const struct flow *w)
{
	return w->server != NULL && w->answered && !w->steady;
}

static bool
end_answered(struct flows *fs)
{
	struct list *link = fs->young.next;
	int i;

	for (i = 0; i < ANSWERED_LOOKS && link != &fs->young;
	     i++, link = link->next) {
		struct flow *w = list_entry(link, struct flow, order);

		if (!is_answered(w))
			continue;
		flow_end(w, REASON_EVICTED);
		fs->frontend->stats->flows.evicted++;
		return true;
	}
	return false;
}

struct server *
flow_choose(
    struct flows *fs, const struct arrival *a, struct attempts *attempts)
{
	struct frontend_core *f = fs->frontend;
	struct server *s;
	int i;

	for (i = 0;; i++) {
		s = pool_choose(
		    f->pool, &a->who, attempts, loop_now(f->loop));
		if (s != NULL || i == GIVE_WAY ||
		    !pool_may_wait(f->pool, &a->who, attempts) ||
		    !end_answered(fs))
			return s;
		*attempts = (struct attempts){ .count = 0 };
	}
}
