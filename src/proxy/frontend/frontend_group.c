/* frontend_group.c: a frontend whose listeners have a socket for each of
 * several processes. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "net/sock_group.h"
#include "proxy/frontend/frontend_private.h"

static struct frontend_listener *
of_link(struct list *link)
{
	return list_entry(link, struct frontend_listener, link);
}

void
frontend_share(struct frontend *f, unsigned members, bool by_address)
{
	f->members = members;
	f->by_address = by_address;
}

void
frontend_prepare_datagrams(
    const struct frontend *f, int fd, const struct frontend_address *a)
{
	if (!a->datagram)
		return;
	dgram_prepare(fd, a->at.u.sa.sa_family);
	dgram_coalesce(fd, !f->core.options.dns.on);
}

int
frontend_group_open(struct frontend *f, struct frontend_listener *fl,
    const struct sock_listen_options *o, struct error *e)
{
	char text[ADDR_TEXT_MAX];
	unsigned i;

	fl->group = calloc(f->members, sizeof(*fl->group));
	if (fl->group == NULL)
		return error_set(e, "out of memory");
	fl->group[0] = fl->listener.fd;
	if (sock_group_open(&fl->address.at, o, fl->group, f->members, e) < 0) {
		free(fl->group);
		fl->group = NULL;
		return -1;
	}
	for (i = 1; i < f->members; i++)
		frontend_prepare_datagrams(f, fl->group[i], &fl->address);
	if (f->by_address && sock_group_has(fl->group[0]) &&
	    sock_group_by_address(fl->group[0], f->members) < 0)
		log_warn("clients are not dealt out by address listener=%s "
			 "error=\"not supported by this system\"",
		    addr_format(&fl->address.at, text));
	return 0;
}

/* But for the listener's own. */
void
frontend_group_close(struct frontend *f, struct frontend_listener *fl)
{
	unsigned i;

	for (i = 1; fl->group != NULL && i < f->members; i++)
		close(fl->group[i]);
	free(fl->group);
	fl->group = NULL;
}

/* The file of a Unix socket is its parent's. */
static void
keep_member(struct frontend *f, struct frontend_listener *fl, unsigned i)
{
	struct listener *l = &fl->listener;
	int own;

	l->file = (struct sock_file){ .inode = 0 };
	if (fl->group == NULL)
		return;
	own = fl->group[i];
	fl->group[i] = fl->group[0]; /* closed with the others */
	l->fd = own;
	frontend_group_close(f, fl);
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
	o->limits.all.count = part_of(f, o->limits.all.count);
	o->limits.wait_max = part_of(f, o->limits.wait_max);
}

void
frontend_become(struct frontend *f, unsigned i, unsigned members)
{
	struct frontend_stats none = { .sessions = 0 };
	struct hash_key any;
	struct list *link;

	for (link = f->listeners.next; link != &f->listeners; link = link->next)
		keep_member(f, of_link(link), i);
	f->parts = members;
	f->members = 1;
	frontend_take_part(f, &f->core.options);
	f->core.stats = none;
	f->core.preopened.idle = 0;
	hash_key_init(&any);
	f->core.ids = any.k0;
	memset(&f->core.durations, 0, sizeof(f->core.durations));
}

void
frontend_take_counters(struct frontend *f, const struct frontend_stats *st,
    const struct frontend_durations *d, uint64_t preopened)
{
	f->core.stats = *st;
	f->core.durations = *d;
	f->core.preopened.idle = preopened;
}

static bool
is_meant(const struct frontend_listener *fl, bool lent)
{
	if (fl->group == NULL)
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
			fn(arg, of_link(link)->group[i]);
}
