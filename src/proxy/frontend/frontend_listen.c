/* frontend_listen.c: the frontend's listeners: opened, moved, paused, closed.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "net/socket_set.h"
#include "proxy/datagram/flow_past.h"
#include "proxy/frontend/frontend_private.h"

/* Connections that are accepted at a time where they begin with TLS. */
enum { ACCEPT_TLS = 8 };

static void
on_accept(struct listener *l, int fd, const struct peer *who)
{
	struct frontend_core *f = l->arg;

	if (f->options.dummy)
		dummy_start(f, fd);
	else
		session_start(f->sessions, fd, who, addr_port(&l->at));
}

static struct frontend_listener *
of(struct list *link)
{
	return list_entry(link, struct frontend_listener, link);
}

/* ---- one listener ---- */

struct sock_listen_options
frontend_listen_options(
    const struct frontend *f, const struct frontend_address *a)
{
	return (struct sock_listen_options){
		.backlog = f->core.options.backlog,
		.v6_only = a->v6_only,
		.freebind = f->core.options.freebind,
		.nodelay = f->core.options.nodelay,
		.keepalive = frontend_keepalive(&f->core),
		.tuning = { f->core.options.sndbuf, f->core.options.rcvbuf,
		    f->core.options.rate_down },
		.datagram = a->datagram,
		.unix_mode = (mode_t)f->core.options.unix_mode,
		.sockets = f->sockets,
		.group = f->members > 1 ? SOCK_GROUP_FIRST : SOCK_GROUP_NONE,
	};
}

void
frontend_use_sockets(struct frontend *f, struct socket_set *s)
{
	f->sockets = s;
}

/* Each costs as much as ten others where TLS begins: the clients of other
 * services, which wait meanwhile, would notice many. */
static unsigned
accept_budget(const struct frontend *f)
{
	unsigned n = f->core.options.accept_max;

	return f->core.tls.server != NULL && n > ACCEPT_TLS ? ACCEPT_TLS : n;
}

static int
open_listener(struct frontend *f, struct frontend_listener *fl,
    const struct frontend_address *a, struct error *e)
{
	struct sock_listen_options o = frontend_listen_options(f, a);
	struct listener *l = &fl->listener;
	int error;

	if (listener_open(l, f->core.loop, &a->at, &o, e) < 0)
		return -1;
	if (f->members > 1 && frontend_group_open(f, fl, &o, e) < 0) {
		error = errno;
		listener_close(l);
		errno = error;
		return -1;
	}
	l->budget = accept_budget(f);
	l->on_accept = on_accept;
	l->on_datagrams =
	    f->core.options.dns.on ? dns_on_datagrams : flows_on_datagrams;
	l->on_batch = f->core.options.dns.on ? dns_on_batch : flows_on_batch;
	frontend_prepare_datagrams(f, l->fd, a);
	l->arg = &f->core;
	/* no limit of connections holds back datagrams */
	if (!f->core.started || f->paused || (f->core.full && !a->datagram) ||
	    listener_resume(l) == 0)
		return 0;
	error = errno;
	listener_close(l);
	error_set(e, "cannot wait for connections: %s", strerror(error));
	errno = error;
	return -1;
}

/* Opens a listener. It is in the frontend's list from the first moment on, so
 * that no change of the limits misses it. Returns 0, or -1 with a full message
 * and errno. */
static int
frontend_listen_open_one(struct frontend *f, const struct frontend_address *a,
    enum disposition d, struct error *e)
{
	struct frontend_listener *fl = calloc(1, sizeof(*fl));
	int error;

	if (fl == NULL)
		return error_set(e, "out of memory");
	fl->address = *a;
	if (open_listener(f, fl, a, e) < 0) {
		error = errno;
		free(fl);
		errno = error;
		return -1;
	}
	fl->disposition = d;
	list_append(&f->listeners, &fl->link);
	return 0;
}

int
frontend_listen_rest(
    struct frontend *f, const struct frontend_address *a, struct error *e)
{
	while (f->members == 1 &&
	    inherited_has(socket_set_inherited(f->sockets), &a->at, a->datagram,
		a->v6_only))
		if (frontend_listen_open_one(f, a, DISPOSITION_STAYS, e) < 0)
			return -1;
	return 0;
}

static void
frontend_listen_free_task(struct task *t)
{
	free(list_entry(t, struct frontend_listener, task));
}

/* Closes a listener and moves it to the list of closed ones. Clients in its
 * backlog are served first, over all limits, if no other process would, nor
 * another frontend, whose file it is then. */
static void
close_one(struct frontend *f, struct frontend_listener *fl, struct list *gone)
{
	bool moved = socket_set_has_moved(f->sockets, &fl->listener);

	if (f->core.started && !moved)
		listener_drain(&fl->listener);
	if (moved)
		fl->listener.file = (struct sock_file){ .inode = 0 };
	flows_drop_listener(&f->flows, &fl->listener);
	dns_drop_listener(&f->dns, &fl->listener);
	frontend_group_close(fl);
	listener_close(&fl->listener);
	list_remove(&fl->link);
	list_append(gone, &fl->link);
}

/* Events already fetched may point to it, so that its memory stays until the
 * wake-up is over. */
static void
free_later(struct frontend *f, struct list *gone)
{
	struct list *link;

	while ((link = list_first(gone)) != NULL) {
		list_remove(link);
		list_init(&of(link)->task.link);
		of(link)->task.run = frontend_listen_free_task;
		loop_soon(f->core.loop, &of(link)->task);
	}
}

/* ---- moving ---- */

static bool
is_at(const struct frontend_listener *fl, const struct frontend_address *a)
{
	return addr_equal(&fl->address.at, &a->at) &&
	    fl->address.v6_only == a->v6_only &&
	    fl->address.datagram == a->datagram;
}

static bool
is_open(struct frontend *f, const struct frontend_address *a)
{
	struct list *link;

	for (link = f->listeners.next; link != &f->listeners; link = link->next)
		if (is_at(of(link), a))
			return true;
	return false;
}

static void
decide_dispositions(
    struct frontend *f, const struct frontend_address *list, unsigned count)
{
	struct list *link;
	unsigned i;

	for (link = f->listeners.next; link != &f->listeners;
	     link = link->next) {
		of(link)->disposition = DISPOSITION_GOES;
		for (i = 0; i < count; i++)
			if (is_at(of(link), &list[i]))
				of(link)->disposition = DISPOSITION_STAYS;
	}
}

static void
close_all(struct frontend *f, enum disposition d, struct list *gone)
{
	struct list *link, *next;

	for (link = f->listeners.next; link != &f->listeners; link = next) {
		next = link->next;
		if (of(link)->disposition == d)
			close_one(f, of(link), gone);
	}
}

/* Whether listeners that are to go stand in the way: they have the same port,
 * as 0.0.0.0:80 and 127.0.0.1:80. With a list `gone` they are closed now. */
static bool
clear_way(
    struct frontend *f, const struct frontend_address *a, struct list *gone)
{
	struct list *link, *next;
	uint16_t port = addr_port(&a->at);
	bool found = false;

	for (link = f->listeners.next; link != &f->listeners; link = next) {
		next = link->next;
		if (port == 0 || of(link)->disposition != DISPOSITION_GOES ||
		    addr_port(&of(link)->address.at) != port)
			continue;
		found = true;
		if (gone != NULL)
			close_one(f, of(link), gone);
	}
	return found;
}

/* Opens what is wanted and not there. Without a list `gone` nothing is closed
 * for it, and those that need that are passed over. */
static int
open_missing(struct frontend *f, const struct frontend_address *list,
    unsigned count, struct list *gone, struct error *e)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		if (is_open(f, &list[i]) ||
		    frontend_listen_open_one(
			f, &list[i], DISPOSITION_COMES, e) == 0) {
			if (f->takes_over &&
			    frontend_listen_rest(f, &list[i], e) < 0)
				return -1;
			continue;
		}
		/* others of a group would have it still */
		if (errno != EADDRINUSE || f->members > 1 ||
		    !clear_way(f, &list[i], gone))
			return -1;
		if (gone != NULL &&
		    frontend_listen_open_one(
			f, &list[i], DISPOSITION_COMES, e) < 0)
			return -1;
	}
	return 0;
}

static void
open_again(struct frontend *f, struct list *gone)
{
	struct list *link;
	struct error e;

	for (link = gone->next; link != gone; link = link->next)
		if (frontend_listen_open_one(
			f, &of(link)->address, DISPOSITION_STAYS, &e) < 0)
			log_error("no longer listening: %s", e.text);
}

/* Keeps all listeners that are left, as new ones could not be opened. */
static void
keep_all(struct frontend *f)
{
	struct list *link;

	for (link = f->listeners.next; link != &f->listeners; link = link->next)
		of(link)->disposition = DISPOSITION_STAYS;
}

int
frontend_relisten(struct frontend *f, const struct frontend_address *list,
    unsigned count, struct error *e)
{
	struct list gone = LIST_INIT(gone), failed = LIST_INIT(failed);

	decide_dispositions(f, list, count);
	if (open_missing(f, list, count, NULL, e) == 0 &&
	    open_missing(f, list, count, &gone, e) == 0) {
		free_later(f, &gone);
		return 0;
	}
	close_all(f, DISPOSITION_COMES, &failed);
	open_again(f, &gone);
	keep_all(f);
	free_later(f, &failed);
	free_later(f, &gone);
	return -1;
}

static void
own_file(void *arg, struct listener *l)
{
	(void)arg;
	listener_own(l);
}

void
frontend_relistened(struct frontend *f)
{
	struct list gone = LIST_INIT(gone);

	close_all(f, DISPOSITION_GOES, &gone);
	free_later(f, &gone);
	if (!f->takes_over) /* the other process may go on */
		frontend_each_listener(f, own_file, NULL);
}

/* ---- all of them ---- */

void
frontend_start(struct frontend *f)
{
	struct list *link;

	f->core.started = true;
	preopened_adjust(&f->core.preopened);
	if (f->core.full || f->paused)
		return;
	for (link = f->listeners.next; link != &f->listeners; link = link->next)
		(void)listener_resume(&of(link)->listener);
}

void
frontend_hold(struct frontend_core *core, bool hold)
{
	struct frontend *f = container_of(core, struct frontend, core);
	struct list *link;

	if (f->paused)
		return;
	for (link = f->listeners.next; link != &f->listeners; link = link->next)
		if (of(link)->address.datagram)
			continue; /* the idlest flow makes room */
		else if (hold)
			listener_pause(&of(link)->listener);
		else /* it tries again by itself */
			(void)listener_resume(&of(link)->listener);
}

void
frontend_each_listener(struct frontend *f,
    void (*fn)(void *arg, struct listener *l), void *arg)
{
	struct list *link;

	for (link = f->listeners.next; link != &f->listeners; link = link->next)
		fn(arg, &of(link)->listener);
}

bool
frontend_serves_port(const struct frontend_core *core, uint16_t port)
{
	const struct frontend *f =
	    (const struct frontend *)(const void *)core;
	struct list *link;

	for (link = f->listeners.next; link != &f->listeners; link = link->next)
		if (addr_port(&of(link)->listener.at) == port)
			return true;
	return false;
}

static void
pause_listener(void *arg, struct listener *l)
{
	(void)arg;
	listener_pause(l);
}

void
frontend_pause(struct frontend *f)
{
	f->paused = true;
	frontend_each_listener(f, pause_listener, NULL);
}

static void
resume_listener(void *arg, struct listener *l)
{
	const struct frontend *f = arg;

	if (!f->core.full || l->datagram) /* it tries again by itself */
		(void)listener_resume(l);
}

void
frontend_resume(struct frontend *f)
{
	f->paused = false;
	frontend_each_listener(f, resume_listener, f);
}

void
frontend_pass_flows(struct frontend *f)
{
	if (f->core.options.udp.on)
		flows_pass(&f->flows);
}

static struct listener *
find_datagram(struct frontend *f, const struct addr *at)
{
	struct list *link;

	for (link = f->listeners.next; link != &f->listeners; link = link->next)
		if (of(link)->address.datagram &&
		    addr_equal(&of(link)->address.at, at))
			return &of(link)->listener;
	return NULL;
}

bool
frontend_import_flow(
    struct frontend *f, const struct flow_past *past, struct server *server)
{
	struct listener *l = find_datagram(f, &past->listener);

	if (l == NULL || !f->core.options.udp.on || f->core.options.dns.on ||
	    f->core.options.udp.each) {
		if (past->has_socket)
			close(past->fd);
		return false;
	}
	return flow_import(&f->flows, l, past, server);
}

void
frontend_tune_listeners(struct frontend *f)
{
	struct sock_listen_options o;
	struct list *link;

	for (link = f->listeners.next; link != &f->listeners;
	     link = link->next) {
		of(link)->listener.budget = accept_budget(f);
		if (of(link)->address.datagram) {
			sock_set_fragments(of(link)->listener.fd,
			    of(link)->address.at.u.sa.sa_family,
			    !f->core.options.udp.pmtu);
			/* the next ones have the options of today */
			dgram_replies_close(&of(link)->listener.replies);
		}
		if (of(link)->address.datagram ||
		    of(link)->address.at.u.sa.sa_family == AF_UNIX)
			continue;
		o = frontend_listen_options(f, &of(link)->address);
		if (o.tuning.rate == 0) /* lifts one that was there before */
			o.tuning.rate = UINT64_MAX;
		sock_tune_listener(of(link)->listener.fd, &o);
	}
}

/* Stops receiving queries: those in the socket are answered. Later ones are
 * left to another process that has the socket, too, or are lost. */
static void
drain_datagrams(struct frontend *f, struct listener *l)
{
	if (!f->core.options.dns.on)
		return; /* known flows go on */
	listener_drain(l);
	l->alone = false; /* there may be more, and no other turn */
	if (f->core.started && !l->replaced)
		dns_on_datagrams(l);
	listener_pause(l);
}

void
frontend_drain(struct frontend *f)
{
	struct list gone = LIST_INIT(gone), *link, *next;

	if (f->core.draining)
		return;
	f->core.draining = true;
	for (link = f->listeners.next; link != &f->listeners; link = next) {
		next = link->next;
		of(link)->listener.draining = true;
		if (of(link)->address.datagram)
			drain_datagrams(f, &of(link)->listener);
		else
			close_one(f, of(link), &gone);
	}
	free_later(f, &gone);
	preopened_adjust(&f->core.preopened);
	dummies_hurry(&f->dummies);
	sessions_reschedule(&f->sessions, false);
}

void
frontend_close_moved(struct frontend *f)
{
	struct list gone = LIST_INIT(gone), *link, *next;

	for (link = f->listeners.next; link != &f->listeners; link = next) {
		next = link->next;
		if (socket_set_has_moved(f->sockets, &of(link)->listener))
			close_one(f, of(link), &gone);
	}
	free_later(f, &gone);
}

void
frontend_cover_end(struct frontend *f)
{
	struct list gone = LIST_INIT(gone), *link, *next;

	for (link = f->listeners.next; link != &f->listeners; link = next) {
		next = link->next;
		of(link)->listener.replaced |= of(link)->covered;
		if (of(link)->covered)
			close_one(f, of(link), &gone);
	}
	free_later(f, &gone);
}

void
frontend_stop(struct frontend *f)
{
	struct list gone = LIST_INIT(gone), *link;

	while ((link = list_first(&f->listeners)) != NULL) {
		flows_drop_listener(&f->flows, &of(link)->listener);
		dns_drop_listener(&f->dns, &of(link)->listener);
		frontend_group_close(of(link));
		listener_close(&of(link)->listener);
		list_remove(link);
		list_append(&gone, link);
	}
	free_later(f, &gone);
}
