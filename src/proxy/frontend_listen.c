/* frontend_listen.c: the frontend's listeners: opened, moved, paused, closed. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/dummy.h"
#include "proxy/frontend_private.h"
#include "proxy/session.h"

static void
on_accept(struct listener *l, int fd, const struct peer *who)
{
	struct frontend *f = l->arg;

	if (f->options.dummy)
		dummy_start(f, fd);
	else
		session_start(f, fd, who);
}

static struct frontend_listener *
of(struct list *link)
{
	return list_entry(link, struct frontend_listener, link);
}

/* ---- one listener ---- */

static int
open_one(struct frontend *f, const struct frontend_address *a,
    struct list *into, struct error *e)
{
	struct frontend_listener *fl = calloc(1, sizeof(*fl));
	struct sock_listen_options o = {
		.backlog = f->options.backlog,
		.v6_only = a->v6_only,
		.nodelay = f->options.nodelay,
	};

	if (fl == NULL)
		return error_set(e, "out of memory");
	if (listener_open(&fl->listener, f->loop, &a->at, &o, e) < 0) {
		free(fl);
		return -1;
	}
	fl->address = *a;
	fl->listener.budget = f->options.accept_max;
	fl->listener.on_accept = on_accept;
	fl->listener.arg = f;
	list_append(into, &fl->link);
	return 0;
}

static void
free_task(struct task *t)
{
	free(list_entry(t, struct frontend_listener, task));
}

/* Who waits in its backlog is served first. Events already fetched may point to
 * it, so that its memory stays until the wake-up is over. */
static void
close_one(struct frontend *f, struct frontend_listener *fl)
{
	listener_drain(&fl->listener);
	listener_close(&fl->listener);
	list_remove(&fl->link);
	list_init(&fl->task.link);
	fl->task.run = free_task;
	loop_soon(f->loop, &fl->task);
}

static void
close_list(struct frontend *f, struct list *list)
{
	struct list *link;

	while ((link = list_first(list)) != NULL)
		close_one(f, of(link));
}

static int
resume_list(struct frontend *f, struct list *list)
{
	struct list *link;

	if (!f->started || f->full)
		return 0;
	for (link = list->next; link != list; link = link->next)
		if (listener_resume(&of(link)->listener) < 0)
			return -1;
	return 0;
}

/* ---- moving ---- */

static struct list *
find(struct list *list, const struct frontend_address *a)
{
	struct list *link;

	for (link = list->next; link != list; link = link->next)
		if (addr_equal(&of(link)->address.at, &a->at) &&
		    of(link)->address.v6_only == a->v6_only)
			return link;
	return NULL;
}

static void
move_all(struct list *from, struct list *to)
{
	struct list *link;

	while ((link = list_first(from)) != NULL) {
		list_remove(link);
		list_append(to, link);
	}
}

/* A listener that is to go anyway and stands in the way of one that is to come:
 * the same port, as of 0.0.0.0:80 and 127.0.0.1:80. It is closed, and its address
 * remembered. */
static bool
clear_way(struct frontend *f, struct list *old,
    const struct frontend_address *a, struct frontend_address *closed,
    unsigned *n)
{
	struct list *link, *next;
	unsigned before = *n;

	for (link = old->next; link != old; link = next) {
		next = link->next;
		if (addr_port(&a->at) == 0 ||
		    addr_port(&of(link)->address.at) != addr_port(&a->at))
			continue;
		closed[(*n)++] = of(link)->address;
		close_one(f, of(link));
	}
	return *n > before;
}

int
frontend_relisten(struct frontend *f, const struct frontend_address *list,
    unsigned count, struct error *e)
{
	struct list kept = LIST_INIT(kept), new = LIST_INIT(new), *link;
	struct frontend_address closed[FRONTEND_LISTENERS_MAX];
	struct error ignored;
	unsigned i, n = 0;
	int rc = 0;

	for (i = 0; i < count; i++)
		if ((link = find(&f->listeners, &list[i])) != NULL) {
			list_remove(link);
			list_append(&kept, link);
		}
	for (i = 0; i < count && rc == 0; i++) {
		if (find(&kept, &list[i]) != NULL ||
		    find(&new, &list[i]) != NULL)
			continue;
		rc = open_one(f, &list[i], &new, e);
		if (rc < 0 && clear_way(f, &f->listeners, &list[i], closed, &n))
			rc = open_one(f, &list[i], &new, e);
	}
	if (rc == 0 && resume_list(f, &new) < 0)
		rc = error_set(e, "cannot wait for connections");
	close_list(f, rc == 0 ? &f->listeners : &new);
	if (rc < 0)
		for (i = 0; i < n; i++)
			(void)open_one(f, &closed[i], &new, &ignored);
	if (rc < 0)
		(void)resume_list(f, &new);
	move_all(&kept, &f->listeners);
	move_all(&new, &f->listeners);
	return rc;
}

int
frontend_listen(
    struct frontend *f, const struct addr *at, bool v6_only, struct error *e)
{
	struct frontend_address a = { .at = *at, .v6_only = v6_only };

	return open_one(f, &a, &f->listeners, e);
}

/* ---- all of them ---- */

int
frontend_start(struct frontend *f)
{
	f->started = true;
	spares_adjust(&f->spares);
	return resume_list(f, &f->listeners);
}

void
frontend_hold(struct frontend *f, bool hold)
{
	struct list *link;

	for (link = f->listeners.next; link != &f->listeners; link = link->next)
		if (hold)
			listener_pause(&of(link)->listener);
		else
			listener_resume(&of(link)->listener);
}

void
frontend_set_budget(struct frontend *f)
{
	struct list *link;

	for (link = f->listeners.next; link != &f->listeners; link = link->next)
		of(link)->listener.budget = f->options.accept_max;
}

void
frontend_stop(struct frontend *f)
{
	struct list *link;

	for (link = f->listeners.next; link != &f->listeners; link = link->next)
		listener_pause(
		    &of(link)->listener); /* who waits is not served */
	close_list(f, &f->listeners);
}
