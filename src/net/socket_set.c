/* socket_set.c: what moves to another owner, and walks of the table. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/log.h"
#include "net/listener.h"
#include "net/socket_set.h"

static struct listener *
listener_of(struct list *row)
{
	return list_entry(row, struct listener, row);
}

void
socket_set_init(struct socket_set *s)
{
	list_init(&s->rows);
	s->inherited = (struct inherited){ .count = 0 };
}

void
socket_set_fini(struct socket_set *s)
{
	inherited_fini(&s->inherited);
}

struct inherited *
socket_set_inherited(struct socket_set *s)
{
	return s != NULL ? &s->inherited : NULL;
}

/* ---- a change ---- */

static bool
is_same_place(const struct listener *l, const struct addr *at, bool datagram)
{
	return l->datagram == datagram && addr_equal(&l->at, at);
}

static bool
may_be_taken(const struct listener *l, const struct addr *at,
    const struct sock_listen_options *o)
{
	if (!l->goes || !is_same_place(l, at, o->datagram))
		return false;
	if (at->u.sa.sa_family == AF_UNIX)
		return l->group == NULL && l->mode == o->unix_mode;
	return at->u.sa.sa_family != AF_INET6 || !addr_is_any(at) ||
	    l->v6_only == o->v6_only;
}

/* -1: it has not so many. */
static int
descriptor_at(const struct listener *l, unsigned number)
{
	if (number == 0)
		return l->fd;
	return l->group != NULL && number < l->group_count ? l->group[number]
							   : -1;
}

static int
copy_of_row(struct socket_set *s, const struct addr *at,
    const struct sock_listen_options *o, unsigned number, bool *file_is_ours)
{
	struct listener *l;
	struct list *row;
	int fd;

	for (row = s->rows.next; row != &s->rows; row = row->next) {
		l = listener_of(row);
		if (!may_be_taken(l, at, o))
			continue;
		fd = descriptor_at(l, number);
		if (fd < 0)
			continue;
		*file_is_ours = sock_file_is_there(&l->file, &l->at);
		return fcntl(fd, F_DUPFD_CLOEXEC, 0);
	}
	return -1;
}

int
socket_set_take(const struct addr *at, const struct sock_listen_options *o,
    unsigned number, bool *file_is_ours)
{
	int fd;

	if (o->sockets == NULL)
		return -1;
	fd = inherited_take(&o->sockets->inherited, at, o->datagram, o->v6_only,
	    file_is_ours);
	return fd >= 0
	    ? fd
	    : copy_of_row(o->sockets, at, o, number, file_is_ours);
}

bool
socket_set_has_moved(struct socket_set *s, const struct listener *l)
{
	const struct listener *other;
	struct list *row;

	if (s == NULL)
		return false;
	for (row = s->rows.next; row != &s->rows; row = row->next) {
		other = listener_of(row);
		if (other->arg != l->arg &&
		    is_same_place(other, &l->at, l->datagram))
			return true;
	}
	return false;
}

/* ---- walks ---- */

void
socket_set_each(struct socket_set *s,
    void (*fn)(void *arg, struct listener *l), void *arg)
{
	struct list *row, *next;

	for (row = s->rows.next; row != &s->rows; row = next) {
		next = row->next;
		fn(arg, listener_of(row));
	}
}

/* The others of a Unix socket's group are copies. */
static unsigned
descriptors_of(const struct listener *l)
{
	return l->group != NULL && l->at.u.sa.sa_family != AF_UNIX
	    ? l->group_count
	    : 1;
}

unsigned
socket_set_descriptors(const struct socket_set *s)
{
	struct list *row;
	unsigned n = 0;

	for (row = s->rows.next; row != &s->rows; row = row->next)
		n += descriptors_of(listener_of(row));
	return n;
}

void
socket_set_each_descriptor(const struct socket_set *s,
    void (*fn)(void *arg, struct listener *l, int fd), void *arg)
{
	struct listener *l;
	struct list *row;
	unsigned i;

	for (row = s->rows.next; row != &s->rows; row = row->next) {
		l = listener_of(row);
		if (l->draining)
			continue;
		fn(arg, l, l->fd);
		for (i = 1; i < descriptors_of(l); i++)
			fn(arg, l, l->group[i]);
	}
}

/* Another process continues the listener: passes on what was accepted already,
 * and leaves the file of a Unix socket to that process. */
static void
replace_listener(void *arg, struct listener *l)
{
	(void)arg;
	if (l->draining)
		return;
	listener_accept_waiting(l);
	if (l->passed >= 0) {
		l->replaced = true;
		l->file = (struct sock_file){ .inode = 0 };
	}
	if (l->on_replaced != NULL)
		l->on_replaced(l);
}

void
socket_set_replace(struct socket_set *s)
{
	socket_set_each(s, replace_listener, NULL);
}

/* ---- files ---- */

static void
own_file(void *arg, struct listener *l)
{
	(void)arg;
	listener_own(l);
}

void
socket_set_own_files(struct socket_set *s)
{
	socket_set_each(s, own_file, NULL);
}

static void
set_mode(void *arg, struct listener *l)
{
	(void)arg;
	listener_set_mode(l);
}

void
socket_set_set_modes(struct socket_set *s)
{
	socket_set_each(s, set_mode, NULL);
}

struct owner {
	uid_t user;
	gid_t group;
};

static void
set_owner(void *arg, struct listener *l)
{
	const struct owner *o = arg;

	if (!l->file.shared &&
	    sock_file_set_owner(&l->file, &l->at, o->user, o->group) < 0)
		log_warn("owner of socket file not changed file=%s "
			 "error=\"%s\"",
		    l->at.u.un.sun_path, strerror(errno));
}

void
socket_set_set_owner(struct socket_set *s, uid_t user, gid_t group)
{
	struct owner o = { user, group };

	socket_set_each(s, set_owner, &o);
}

static void
report_lost(void *arg, struct listener *l)
{
	(void)arg;
	if (l->fd >= 0 && !l->draining &&
	    sock_file_is_lost(&l->file, &l->at))
		log_error("socket file was removed, no client can connect "
			  "until pen is restarted file=%s",
		    l->at.u.un.sun_path);
}

void
socket_set_report_lost(struct socket_set *s)
{
	socket_set_each(s, report_lost, NULL);
}

static void
disown_file(void *arg, struct listener *l)
{
	(void)arg;
	l->file = (struct sock_file){ .inode = 0 };
}

void
socket_set_disown_files(struct socket_set *s)
{
	socket_set_each(s, disown_file, NULL);
}
