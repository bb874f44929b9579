/* preopened.c: opens, watches and hands over pre-opened connections, and owns
 * them until then. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory.h"
#include "net/sock.h"
#include "pool/balance.h"
#include "proxy/core/frontend_core.h"
#include "proxy/core/preopened.h"

enum { TICK_MS = 1000, GUARD_MS = 2000 };

struct preopened_conn {
	struct list link; /* of its server's */
	struct preopened *all;
	struct server *server;
	struct watch watch; /* level-triggered, to be handed over */
	int fd;
	struct addr at;
	unsigned first; /* address of the server it began with */
	unsigned tried; /* addresses so far */
	bool connected;
	bool guarded; /* keep-alive is set */
	bool greeted; /* the server has spoken: now only its end counts */
	uint64_t opened; /* ms */
	uint64_t dialed; /* ms: its last connect began */
	struct expiry expiry;
	struct task free_task;
};

struct preopened_server {
	struct list list; /* the longest idle first */
	unsigned count;
	unsigned share;	     /* how many it should have */
	uint64_t not_before; /* ms */
};

static uint64_t
preopened_now(const struct preopened *p)
{
	return loop_now(p->frontend->loop);
}

/* How many connections are to be open in all. Servers of datagrams have
 * none. */
static uint64_t
wanted(const struct preopened *p)
{
	const struct frontend_options *o = &p->frontend->options;

	if (p->frontend->draining || o->dummy || (o->udp.on && !o->dns.on))
		return 0;
	return o->preopened;
}

/* ---- the table of servers ---- */

/* The neighbours of a list head that has moved in memory still point to where
 * it was. */
static void
relink(struct preopened_server *e)
{
	if (e->count == 0) {
		list_init(&e->list);
		return;
	}
	e->list.next->prev = &e->list;
	e->list.prev->next = &e->list;
}

/* The entry of a server, or NULL when memory is short. */
static struct preopened_server *
preopened_entry(struct preopened *p, unsigned slot)
{
	unsigned room = p->room, i;
	struct preopened_server *grown =
	    array_grow(p->servers, &p->room, sizeof(*grown), slot);

	if (grown == NULL)
		return NULL;
	p->servers = grown;
	/* All of them have moved if the array has grown. */
	for (i = 0; room != p->room && i < p->room; i++)
		relink(&grown[i]);
	return &grown[slot];
}

/* ---- one ---- */

static struct preopened_conn *
conn_of(struct list *link)
{
	return list_entry(link, struct preopened_conn, link);
}

static void
preopened_free_task(struct task *t)
{
	free(list_entry(t, struct preopened_conn, free_task));
}

/* Takes it out of everything; the descriptor is left to the caller. */
static void
preopened_remove(struct preopened_conn *x)
{
	struct preopened *p = x->all;

	watch_stop(p->frontend->loop, &x->watch);
	expiry_cancel(&x->expiry);
	list_remove(&x->link);
	p->servers[x->server->slot].count--;
	p->count--;
	if (x->connected)
		p->frontend->stats->preopened--;
	loop_soon(p->frontend->loop, &x->free_task);
}

static void
preopened_drop_conn(struct preopened_conn *x)
{
	int fd = x->fd;

	preopened_remove(x);
	if (fd >= 0)
		close(fd);
}

/* Whether clients may be sent to where this one leads. */
static bool
is_good(const struct preopened_conn *x)
{
	return server_is_healthy(x->server) &&
	    server_find_addr(x->server, &x->at) >= 0;
}

/* Whether a failed connect is a failure of the server: it is not when we are
 * short of something, or its queue is full for the moment. */
static bool
is_telling(int error)
{
	return !sock_error_is_ours(error) && error != EAGAIN;
}

static void preopened_on_ready(struct watch *w, unsigned ready);

/* Lets its connect take as long as the settings allow now. */
static void
limit_connect(struct preopened_conn *x)
{
	struct preopened *p = x->all;
	uint64_t due = x->dialed + p->frontend->options.connect_timeout_ms;

	if (expiry_is_waiting(&x->expiry) && x->expiry.due == due)
		return;
	expiry_cancel(&x->expiry);
	timeouts_add(p->connecting, &x->expiry, due);
}

/* Begins to connect to the next address. Returns 0, or -1 with errno. */
static int
dial(struct preopened_conn *x)
{
	struct preopened *p = x->all;
	struct frontend_core *f = p->frontend;
	struct sock_connect_options o = frontend_connect_options(f, 0);
	const struct server *s = x->server;

	x->at = s->addrs.addr[(x->first + x->tried++) % s->addrs.count];
	x->fd = sock_connect(&x->at, &o);
	if (x->fd < 0)
		return -1;
	x->dialed = preopened_now(p);
	limit_connect(x);
	if (watch_start(f->loop, &x->watch, x->fd, READY_WRITE | WATCH_LEVEL,
		preopened_on_ready) == 0)
		return 0;
	close(x->fd);
	x->fd = -1;
	expiry_cancel(&x->expiry);
	return -1;
}

/* The connect failed; the server has failed, too, if that was its last
 * address. */
static void
on_failed(struct preopened_conn *x, int error)
{
	struct preopened *p = x->all;
	struct server *s = x->server;

	expiry_cancel(&x->expiry);
	watch_stop(p->frontend->loop, &x->watch);
	if (x->fd >= 0)
		close(x->fd);
	x->fd = -1;
	while (is_telling(error) && is_good(x) && x->tried < s->addrs.count) {
		if (dial(x) == 0)
			return;
		error = errno;
	}
	p->servers[s->slot].not_before = preopened_now(p) + TICK_MS;
	if (!is_good(x) || !is_telling(error)) {
		preopened_drop_conn(x);
		return;
	}
	preopened_drop_conn(x);
	frontend_connection_failed(p->frontend, s, error, NULL);
	preopened_drop(p, s);
}

static void
preopened_open_one(
    struct preopened *p, struct server *s, struct preopened_server *e)
{
	struct preopened_conn *x = memory_zeroed(sizeof(*x));

	if (x == NULL) {
		e->not_before = preopened_now(p) + TICK_MS;
		return;
	}
	x->all = p;
	x->server = s;
	x->first = s->addr_first;
	x->fd = -1;
	x->opened = preopened_now(p);
	watch_init(&x->watch);
	expiry_init(&x->expiry);
	list_init(&x->free_task.link);
	x->free_task.run = preopened_free_task;
	list_append(&e->list, &x->link);
	e->count++;
	p->count++;
	if (dial(x) < 0)
		on_failed(x, errno);
}

/* Opens what the server's share lacks, unless it has to wait. */
void
preopened_refill(struct preopened *p, struct server *s)
{
	struct preopened_server *e;

	if (s->slot >= p->room)
		return;
	e = &p->servers[s->slot];
	while (e->count < e->share && p->count < wanted(p) &&
	    preopened_now(p) >= e->not_before && server_is_healthy(s))
		preopened_open_one(p, s, e);
}

static void
preopened_on_connected(struct preopened_conn *x)
{
	struct preopened *p = x->all;
	int address = server_find_addr(x->server, &x->at);

	expiry_cancel(&x->expiry);
	x->connected = true;
	p->frontend->stats->preopened++;
	if (address >= 0)
		x->server->addr_first = (unsigned)address;
	watch_want(p->frontend->loop, &x->watch, READY_READ | WATCH_LEVEL);
}

/* Whether the server has ended it; with HTTP also whether it has sent anything,
 * which would be taken for the answer to the first request. */
static bool
is_spent(const struct preopened_conn *x)
{
	return x->all->frontend->options.http.on ? sock_has_input(x->fd)
						 : sock_has_ended(x->fd);
}

/* Something has happened on a spare connection: it is connected, has failed,
 * was closed by the server, or the server has sent its greeting, which stays
 * unread for the client. */
static void
preopened_on_ready(struct watch *w, unsigned ready)
{
	struct preopened_conn *x = list_entry(w, struct preopened_conn, watch);
	struct preopened *p = x->all;
	struct server *s = x->server;
	int error = ready & READY_ERROR ? sock_error(x->fd) : 0;
	bool lasted = preopened_now(p) - x->opened >= TICK_MS;

	if (!x->connected) {
		if (error != 0)
			on_failed(x, error);
		else if (ready & READY_WRITE)
			preopened_on_connected(x);
		return;
	}
	if (error != 0 || is_spent(x)) {
		preopened_drop_conn(x);
		if (!lasted)
			p->servers[s->slot].not_before =
			    preopened_now(p) + TICK_MS;
		preopened_refill(p, s);
		return;
	}
	x->greeted = true; /* it is left for the client to read */
	watch_want(p->frontend->loop, w, WATCH_LEVEL);
}

static void
on_connecting_over(struct timeouts *t, struct expiry *e)
{
	(void)t;
	on_failed(list_entry(e, struct preopened_conn, expiry), ETIMEDOUT);
}

/* ---- all of a server ---- */

void
preopened_drop(struct preopened *p, const struct server *s)
{
	struct list *link;

	if (s->slot >= p->room)
		return;
	while ((link = list_first(&p->servers[s->slot].list)) != NULL)
		preopened_drop_conn(conn_of(link));
}

static void
drop_all(struct preopened *p)
{
	unsigned i;

	for (i = 0; i < p->room; i++)
		while (p->servers[i].count > 0)
			preopened_drop_conn(
			    conn_of(list_first(&p->servers[i].list)));
}

/* Closes those that are of no use any more; those that wait for long notice
 * when their server vanishes. */
static void
look_after(struct preopened *p, struct preopened_server *e)
{
	struct list *link, *next;

	for (link = e->list.next; link != &e->list; link = next) {
		struct preopened_conn *x = conn_of(link);

		next = link->next;
		if (!is_good(x) || (x->greeted && is_spent(x))) {
			preopened_drop_conn(x);
			continue;
		}
		if (!x->connected)
			limit_connect(x); /* by the setting of now */
		if (!x->guarded && preopened_now(p) - x->opened >= GUARD_MS) {
			sock_set_keepalive(x->fd, &p->keepalive);
			x->guarded = true;
		}
	}
}

int
preopened_take(struct preopened *p, struct server *s)
{
	struct preopened_server *e;
	struct list *link, *next;
	int fd = -1;

	if (p->frontend->stats->preopened == 0 || s->slot >= p->room)
		return -1;
	e = &p->servers[s->slot];
	for (link = e->list.next; link != &e->list && fd < 0; link = next) {
		struct preopened_conn *x = conn_of(link);

		next = link->next;
		if (!x->connected)
			continue;
		if (!is_good(x) || is_spent(x)) {
			preopened_drop_conn(x);
			continue;
		}
		fd = x->fd;
		preopened_remove(x);
	}
	return fd;
}

/* ---- all of them ---- */

/* Whether the address of a connection to it is known before its client is here:
 * not when it is to have the port that the client connected to. */
static bool
has_port(const struct server *s)
{
	return s->addrs.addr[0].u.sa.sa_family == AF_UNIX ||
	    addr_port(&s->addrs.addr[0]) != 0;
}

/* Brings one server to its share; the longest idle go first. */
static void
bring_to(struct preopened *p, struct server *s, uint64_t share)
{
	struct preopened_server *e = preopened_entry(p, s->slot);

	if (e == NULL)
		return;
	if (!has_port(s) || p->frontend->options.transparent)
		share = 0;
	while (e->count > share)
		preopened_drop_conn(conn_of(list_first(&e->list)));
	e->share = (unsigned)share;
	preopened_refill(p, s);
}

static bool
has_same_sources(const struct preopened *p, const struct sources *now)
{
	return p->source != NULL ? sources_equal(p->source, now)
				 : now->count == 0;
}

/* Without memory it is as if there were none: all are opened anew each time. */
static void
note_sources(struct preopened *p, const struct sources *now)
{
	free(p->source);
	p->source = now->count > 0 ? malloc(sizeof(*now)) : NULL;
	if (p->source != NULL)
		*p->source = *now;
}

/* The settings that connections are opened with have changed: the next clients
 * must not get those that were opened with others. */
static void
follow_settings(struct preopened *p)
{
	const struct frontend_options *o = &p->frontend->options;
	struct sock_keepalive k = frontend_keepalive(p->frontend);

	if (sock_keepalive_equal(&p->keepalive, &k) &&
	    sock_tuning_equal(&p->tuning, &p->frontend->up_tuning) &&
	    has_same_sources(p, &o->source))
		return;
	drop_all(p);
	p->keepalive = k;
	p->tuning = p->frontend->up_tuning;
	note_sources(p, &o->source);
}

/* Servers that reached a limit keep theirs, but no more than are wanted in
 * all. */
static void
drop_surplus(struct preopened *p, const struct eligible *u, uint64_t want)
{
	unsigned i;

	for (i = 0; p->count > want && i < p->room; i++)
		while (p->count > want && p->servers[i].count > 0 &&
		    !eligible_has(u, i))
			preopened_drop_conn(
			    conn_of(list_first(&p->servers[i].list)));
}

static void
preopened_on_tick(struct timer *t)
{
	preopened_adjust(list_entry(t, struct preopened, tick));
}

void
preopened_adjust(struct preopened *p)
{
	struct frontend_core *f = p->frontend;
	const struct eligible *u = pool_eligible(f->pool);
	uint64_t want = wanted(p), share, more;
	unsigned i;
	long k;

	if ((want == 0 && p->count == 0) || !f->started)
		return;
	pool_revive(f->pool, preopened_now(p));
	follow_settings(p);
	for (i = 0; i < p->room; i++)
		look_after(p, &p->servers[i]);
	share = u->count > 0 ? want / u->count : 0;
	more = u->count > 0 ? want % u->count : 0;
	for (i = 0; (k = eligible_next(u, i)) != ELIGIBLE_NONE;
	     i = (unsigned)k + 1) {
		bring_to(
		    p, pool_slot(f->pool, (unsigned)k), share + (more > 0));
		more -= more > 0;
	}
	drop_surplus(p, u, want);
	if (want > 0)
		(void)timer_start(f->loop, &p->tick, TICK_MS);
	else
		timer_stop(&p->tick);
}

int
preopened_init(struct preopened *p, struct frontend_core *f)
{
	p->frontend = f;
	timer_init(&p->tick, preopened_on_tick);
	p->connecting = timeouts_of_loop(f->loop, on_connecting_over, NULL);
	return p->connecting != NULL ? 0 : -1;
}

void
preopened_fini(struct preopened *p)
{
	drop_all(p);
	timer_fini(&p->tick);
	free(p->servers);
	free(p->source);
}
