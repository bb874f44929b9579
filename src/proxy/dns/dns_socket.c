/* dns_socket.c: the sockets to servers, and how those fare; owns the sockets.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "net/sock.h"
#include "proxy/dns/dns_private.h"

/* Sockets to a server at a time; how many queries and ms one serves. */
enum {
	SOCKETS = DNS_SOCKETS,
	SOCKET_QUERIES = 8192,
	SOCKET_MS = 10000
};

struct dns_server {
	struct dns_socket *socket[SOCKETS];
	unsigned generation;   /* of the server that the rest is about */
	unsigned silent;       /* queries in a row without an answer, */
	uint64_t silent_since; /* ms: when the first of them was sent */
	uint64_t answered;     /* ms: when it last gave an answer */
	unsigned refused;      /* addresses in a row */
	bool doubted;	       /* it has refused since its last answer */
};

static uint64_t
dns_socket_now(const struct dns *d)
{
	return loop_now(d->frontend->loop);
}

/* ---- a socket ---- */

static void
free_socket(struct task *t)
{
	free(list_entry(t, struct dns_socket, free_task));
}

static void
close_socket(struct dns_socket *s)
{
	struct frontend_core *f = s->dns->frontend;

	watch_stop(f->loop, &s->watch);
	close(s->fd);
	f->queues.given -= s->queue;
	loop_soon(f->loop, &s->free_task);
}

/* No new query uses it; it goes with its last answer. */
static void
retire(struct dns_socket **place)
{
	struct dns_socket *s = *place;

	*place = NULL;
	if (s == NULL)
		return;
	s->retired = true;
	if (s->awaiting == 0)
		close_socket(s);
}

static void
retire_all(struct dns_server *e)
{
	int i;

	for (i = 0; i < SOCKETS; i++)
		retire(&e->socket[i]);
}

static struct dns_socket *
dns_socket_open_socket(struct dns *d, struct server *server)
{
	struct frontend_core *f = d->frontend;
	struct dns_socket *s = calloc(1, sizeof(*s));
	struct addr from;

	if (s == NULL)
		return NULL;
	s->dns = d;
	s->server = server;
	s->generation = server->generation;
	s->at = server->addrs.addr[server->addr_first];
	s->number = ++d->next_socket;
	s->opened = dns_socket_now(d);
	list_init(&s->free_task.link);
	s->free_task.run = free_socket;
	watch_init(&s->watch);
	s->fd = dgram_connect(&s->at,
	    sources_next(&f->options.source, s->at.u.sa.sa_family,
		&f->source_turn, &from));
	if (s->fd >= 0 &&
	    watch_start(f->loop, &s->watch, s->fd, READY_READ | WATCH_LEVEL,
		dns_on_answers) == 0) {
		s->queue = dgram_queue(s->fd, &f->queues);
		if (s->at.u.sa.sa_family == AF_INET)
			sock_set_fragments(
			    s->fd, AF_INET, !f->options.udp.pmtu);
		return s;
	}
	if (s->fd >= 0)
		close(s->fd);
	free(s);
	return NULL;
}

void
dns_socket_hold(struct dns_socket *s)
{
	s->awaiting++;
}

void
dns_socket_let_go(struct dns_socket *s)
{
	if (--s->awaiting == 0 && s->retired)
		close_socket(s);
}

/* ---- a server's sockets ---- */

/* What is known of the server, or NULL when memory is short. What the one did
 * that had its number before is forgotten. */
static struct dns_server *
dns_socket_entry(struct dns *d, const struct server *s)
{
	struct dns_server *e;

	e = array_grow(d->servers, &d->room, sizeof(*e), s->slot);
	if (e == NULL)
		return NULL;
	d->servers = e;
	e += s->slot;
	if (e->generation != s->generation) {
		e->generation = s->generation;
		e->silent = e->refused = 0;
		e->doubted = false;
		e->answered = 0;
	}
	return e;
}

/* No bit of a keyed hash is known from its others: one serves three times. That
 * saves 110 of 2,750 instructions for a query and its answer. */
uint32_t
dns_draw(struct dns *d)
{
	uint32_t drawn;

	if (d->bits < DNS_DRAWN) {
		d->counted++;
		d->drawn = hash_keyed(
		    &d->secret, &d->counted, sizeof(d->counted));
		d->bits = 64;
	}
	drawn = (uint32_t)d->drawn & ((1u << DNS_DRAWN) - 1);
	d->drawn >>= DNS_DRAWN;
	d->bits -= DNS_DRAWN;
	return drawn;
}

/* Whether its server is still there, and the one that it was opened to. */
static bool
is_current(const struct dns_socket *s)
{
	return s->server->present && s->server->generation == s->generation;
}

/* May it take another query? One that may not, but goes to the right place,
 * still can when there is no other. */
static bool
is_fresh(const struct dns *d, const struct dns_socket *s)
{
	return s->sent < SOCKET_QUERIES &&
	    dns_socket_now(d) - s->opened < SOCKET_MS;
}

static bool
is_right(const struct dns_socket *s)
{
	const struct server *to = s->server;

	return is_current(s) &&
	    addr_equal(&s->at, &to->addrs.addr[to->addr_first]);
}

/* Any open socket to the server: for when there is no descriptor for a new
 * one. */
static struct dns_socket *
any_socket(struct dns_server *e, unsigned from)
{
	unsigned i;

	for (i = 0; i < SOCKETS; i++) {
		struct dns_socket *s = e->socket[(from + i) % SOCKETS];

		if (s != NULL && is_right(s))
			return s;
	}
	return NULL;
}

struct dns_socket *
dns_socket_to(struct dns *d, struct server *server, uint32_t drawn)
{
	struct dns_server *e = dns_socket_entry(d, server);
	unsigned place;
	struct dns_socket *s;
	int error;

	if (e == NULL)
		return NULL;
	place = drawn % SOCKETS;
	s = e->socket[place];
	if (s != NULL && is_right(s) && is_fresh(d, s))
		return s;
	s = dns_socket_open_socket(d, server);
	if (s == NULL) {
		error = errno;
		s = any_socket(e, place);
		errno = error;
		return s;
	}
	retire(&e->socket[place]);
	e->socket[place] = s;
	return s;
}

/* ---- how servers fare ---- */

static void
dns_server_failed(struct dns *d, struct server *s, int error)
{
	struct dns_server *e = dns_socket_entry(d, s);

	frontend_server_failed(d->frontend, s, error, NULL);
	if (e == NULL)
		return;
	e->silent = e->refused = 0;
	retire_all(e);
}

/* From now on the server's next address is tried. */
static void
dns_socket_drop_address(struct server *s)
{
	s->addr_first = (s->addr_first + 1) % s->addrs.count;
}

/* The first refusal since the server's last answer may be forged: nothing
 * follows from it yet. */
bool
dns_server_refused(struct dns *d, struct server *s, int error)
{
	struct dns_server *e = dns_socket_entry(d, s);
	bool first = e != NULL && !e->doubted;

	dns_socket_drop_address(s);
	if (e != NULL) {
		e->doubted = true;
		e->refused++;
	}
	if (first || (e != NULL && e->refused < s->addrs.count)) {
		retire_all(e);
		return true;
	}
	dns_server_failed(d, s, error);
	return false;
}

bool
dns_socket_refused(const struct dns_socket *s, int error)
{
	return !is_right(s) || dns_server_refused(s->dns, s->server, error);
}

void
dns_server_answered(const struct dns_socket *s, bool well)
{
	struct dns *d = s->dns;
	struct dns_server *e;

	if (!is_current(s))
		return;
	e = dns_socket_entry(d, s->server);
	if (e != NULL) {
		e->silent = e->refused = 0;
		e->doubted = false;
		e->answered = dns_socket_now(d);
	}
	if (well)
		s->server->counters->answered_ms = dns_socket_now(d);
	if (s->server->blacklisted_until != 0)
		pool_connected(d->frontend->pool, s->server, dns_socket_now(d));
}

void
dns_server_silent(const struct dns_socket *s, uint64_t sent)
{
	struct dns *d = s->dns;
	const struct frontend_options *o = &d->frontend->options;
	struct dns_server *e;

	if (o->udp.fail == 0 || !is_current(s))
		return;
	e = dns_socket_entry(d, s->server);
	if (e == NULL || e->answered >= sent)
		return; /* it is there: that name alone takes it long */
	if (e->silent++ == 0)
		e->silent_since = sent;
	if (e->silent < o->udp.fail ||
	    dns_socket_now(d) - e->silent_since < o->connect_timeout_ms)
		return;
	if (is_right(s))
		dns_socket_drop_address(s->server);
	dns_server_failed(d, s->server, ETIMEDOUT);
}

/* ---- all ---- */

void
dns_sockets_adjust(struct dns *d)
{
	const struct server *s;
	unsigned i;

	for (i = 0; i < d->room; i++) {
		s = pool_slot(d->frontend->pool, i);
		if (s == NULL || !s->present)
			retire_all(&d->servers[i]);
	}
}

void
dns_sockets_retire(struct dns *d)
{
	unsigned i;

	for (i = 0; i < d->room; i++)
		retire_all(&d->servers[i]);
}
