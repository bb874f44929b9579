/* frontend_group.c: a frontend whose listeners have a socket for each of
 * several processes. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "net/socket_set.h"
#include "proxy/frontend/frontend_private.h"

static struct frontend_listener *
of_link(struct list *link)
{
	return list_entry(link, struct frontend_listener, link);
}

void
frontend_share(struct frontend *f, unsigned members, enum sock_group_by by)
{
	f->members = members;
	f->by = by;
}

void
frontend_follow_group(struct frontend *f)
{
	f->takes_over = true;
}

void
frontend_prepare_datagrams(
    const struct frontend *f, int fd, const struct frontend_address *a)
{
	if (!a->datagram)
		return;
	dgram_prepare(fd, a->at.u.sa.sa_family);
	sock_set_fragments(fd, a->at.u.sa.sa_family, !f->core.options.udp.pmtu);
	dgram_coalesce(fd, !f->core.options.dns.on);
}

static void
steer_clients(const struct frontend *f, const struct frontend_listener *fl)
{
	char text[ADDR_TEXT_MAX];
	const struct addr *at = &fl->address.at;

	if (!sock_group_has(fl->listener.fd) ||
	    sock_group_steer(fl->listener.fd, f->members, f->by) == 0 ||
	    f->members == 1)
		return;
	log_warn("clients are not dealt out by address listener=%s "
		 "error=\"not supported by this system\"",
	    addr_format(at, text));
}

void
frontend_steer_datagrams(struct frontend *f)
{
	struct list *link;

	for (link = f->listeners.next; link != &f->listeners; link = link->next)
		if (of_link(link)->address.datagram)
			steer_clients(f, of_link(link));
}

void
frontend_steer(struct frontend *f)
{
	struct list *link;

	f->takes_over = false;
	for (link = f->listeners.next; link != &f->listeners; link = link->next)
		steer_clients(f, of_link(link));
}

/* Opens the sockets of the group from `from` to `count`, or takes over all that
 * the older process has. */
static int
open_members(struct frontend *f, struct frontend_listener *fl, unsigned from,
    const struct sock_listen_options *o, unsigned count, struct error *e)
{
	const struct addr *at = &fl->address.at;
	struct sock_listen_options more = *o;
	struct listener *l = &fl->listener;
	unsigned i, there = from;

	if (f->takes_over) {
		there = sock_group_take_rest(at, o, l->group, from);
		more.sockets = NULL;
	}
	if (sock_group_open(at, &more, l->group, there, count, e) < 0) {
		for (i = from; i < there; i++)
			close(l->group[i]);
		return -1;
	}
	l->group_count = there > count ? there : count;
	for (i = from; i < l->group_count; i++)
		frontend_prepare_datagrams(f, l->group[i], &fl->address);
	return 0;
}

int
frontend_group_open(struct frontend *f, struct frontend_listener *fl,
    const struct sock_listen_options *o, struct error *e)
{
	struct listener *l = &fl->listener;

	l->group = calloc(SOCK_GROUP_MAX, sizeof(*l->group));
	if (l->group == NULL)
		return error_set(e, "out of memory");
	l->group[0] = l->fd;
	if (open_members(f, fl, 1, o, f->members, e) < 0) {
		free(l->group);
		l->group = NULL;
		return -1;
	}
	if (!f->takes_over)
		steer_clients(f, fl);
	return 0;
}

int
frontend_grow(struct frontend *f, unsigned members, struct error *e)
{
	struct sock_listen_options o;
	struct frontend_listener *fl;
	struct list *link;
	unsigned have;

	for (link = f->listeners.next; link != &f->listeners;
	     link = link->next) {
		fl = of_link(link);
		o = frontend_listen_options(f, &fl->address);
		o.sockets = NULL;
		have = fl->listener.group_count;
		if (fl->listener.group != NULL && have < members &&
		    open_members(f, fl, have, &o, members, e) < 0)
			return -1;
	}
	return 0;
}

/* But for the listener's own. */
void
frontend_group_close(struct frontend_listener *fl)
{
	struct listener *l = &fl->listener;
	unsigned i;

	for (i = 1; l->group != NULL && i < l->group_count; i++)
		close(l->group[i]);
	free(l->group);
	l->group = NULL;
}

/* Sockets beyond those of the members are shared out, too: in their backlogs
 * may be clients from the time when there were more members. */
static void
keep_rest(struct frontend *f, struct frontend_listener *fl, unsigned i,
    unsigned members)
{
	struct error e;
	int fd;

	for (i += members; i < fl->listener.group_count; i += members) {
		fd = dup(fl->listener.group[i]);
		if (fd >= 0 &&
		    inherited_add(&f->sockets->inherited, fd, false, &e) < 0)
			close(fd);
	}
}

static void
keep_member(struct frontend *f, struct frontend_listener *fl, unsigned i,
    unsigned members)
{
	struct listener *l = &fl->listener;
	int own;

	if (l->group == NULL)
		return;
	if (fl->address.at.u.sa.sa_family != AF_UNIX)
		keep_rest(f, fl, i, members);
	own = l->group[i];
	l->group[i] = l->group[0]; /* closed with the others */
	l->fd = own;
	frontend_group_close(fl);
}

static uint64_t
part_of(const struct frontend *f, uint64_t n)
{
	return (n + f->parts - 1) / f->parts;
}

void
frontend_take_part(const struct frontend *f, struct frontend_options *o)
{
	if (f->parts == 1)
		return;
	o->sessions_max = part_of(f, o->sessions_max);
	o->pending_max = part_of(f, o->pending_max);
	o->preopened = part_of(f, o->preopened);
	o->dns.max = part_of(f, o->dns.max);
	o->limits.all.count = part_of(f, o->limits.all.count);
	o->limits.wait_max = part_of(f, o->limits.wait_max);
}

void
frontend_become(struct frontend *f, unsigned i, unsigned members)
{
	struct list *link;
	struct error e;

	f->parts = members;
	f->members = 1;
	f->takes_over = false;
	for (link = f->listeners.next; link != &f->listeners;
	     link = link->next) {
		keep_member(f, of_link(link), i, members);
		if (frontend_listen_rest(f, &of_link(link)->address, &e) < 0)
			log_error("%s", e.text);
	}
	frontend_take_part(f, &f->core.options);
	*f->core.stats = (struct frontend_stats){ .sessions = 0 };
	frontend_core_begin_ids(&f->core);
	flows_become(&f->flows);
	dns_become(&f->dns);
}

void
frontend_cover(struct frontend *f)
{
	struct list *last = f->listeners.prev, *link;
	struct error e;
	bool more = last != &f->listeners;

	for (link = f->listeners.next; more; link = link->next) {
		more = link != last;
		if (frontend_listen_rest(f, &of_link(link)->address, &e) < 0)
			log_error("%s", e.text);
	}
	for (link = last->next; link != &f->listeners; link = link->next)
		of_link(link)->covered = true;
}

static bool
is_meant(const struct frontend_listener *fl, bool lent)
{
	if (fl->listener.group == NULL)
		return false;
	return lent ? fl->address.at.u.sa.sa_family != AF_UNIX
		    : fl->disposition == DISPOSITION_COMES;
}

void
frontend_each_member(struct frontend *f, unsigned i, bool lent,
    void (*fn)(void *arg, int fd), void *arg)
{
	struct list *link;

	for (link = f->listeners.next; link != &f->listeners; link = link->next)
		if (is_meant(of_link(link), lent))
			fn(arg, of_link(link)->listener.group[i]);
}
