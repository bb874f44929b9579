/* socket_set.c: walks of the table. */
#include "config.h"

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
socket_set_each_descriptor(
    const struct listener *l, void (*fn)(void *arg, int fd), void *arg)
{
	unsigned i;

	fn(arg, l->fd);
	for (i = 1; i < descriptors_of(l); i++)
		fn(arg, l->group[i]);
}

static void
replace(void *arg, struct listener *l)
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
	socket_set_each(s, replace, NULL);
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
