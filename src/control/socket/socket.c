/* socket.c: the listeners of the control socket, and access to it. */
#include "config.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/apply/apply.h"
#include "control/plan/origin.h"
#include "control/socket/socket.h"
#include "control/socket/socket_private.h"
#include "control/verify/preflight.h"
#include "net/listener.h"

struct control_listener {
	struct list link;
	struct listener listener;
	enum access level, others;
	uid_t owner; /* the user that opened it */
};

static struct control_listener *
socket_of(struct list *link)
{
	return list_entry(link, struct control_listener, link);
}

/* ---- access ---- */

/* Root, the user that opened the socket and the user of the program are its
 * owners; others were let in by the file's mode only. */
static bool
is_owner(const struct control_listener *cl, const struct peer_owner *owner)
{
	return owner->uid == 0 || owner->uid == cl->owner ||
	    owner->uid == geteuid();
}

/* On TCP the list of control_acl decides. List 0 is the one that control_acl
 * names when it is not set, so that it permits all while it is empty; any other
 * list was named to deny clients, and permits none then. It decides about those
 * on Unix sockets if it has an entry for any of them. */
static bool
may_enter(const struct control *c, const struct peer *who)
{
	const struct pen *p = c->pen;
	unsigned number = (unsigned)p->plan->process->control_acl.number;
	const struct acl *l = pool_acl(p->service->pool, number);

	if (who->family == AF_UNIX)
		return !l->has_unix || acl_permits(l, who);
	return (!acl_is_empty(l) || number == 0) && acl_permits(l, who);
}

/* Whether it is an owner of the socket; sets its name. */
static bool
socket_identify(const struct control_listener *cl, int fd, struct peer *who)
{
	struct peer_owner owner;

	if (who->family != AF_UNIX || sock_peer_owner(fd, &owner) < 0)
		return false;
	peer_set_owner(who, &owner);
	return is_owner(cl, &owner);
}

static void
socket_on_accept(struct listener *l, int fd, const struct peer *from)
{
	struct control_listener *cl =
	    list_entry(l, struct control_listener, listener);
	struct control *c = l->arg;
	struct peer who = *from;
	bool owner = socket_identify(cl, fd, &who);

	if (!owner && !may_enter(c, &who)) {
		close(fd);
		return;
	}
	if (c->count == c->most)
		client_close_oldest(c);
	client_start(c, fd, from,
	    owner || who.family != AF_UNIX ? cl->level : cl->others);
}

/* ---- life ---- */

static struct control *
control_new(struct pen *p)
{
	struct control *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->pen = p;
	c->loop = p->loop;
	c->most = (unsigned)p->control_clients;
	list_init(&c->listeners);
	list_init(&c->clients);
	timeouts_init(&c->idle, c->loop, client_on_idle, NULL);
	return c;
}

void
control_free(struct control *c)
{
	struct list *link;

	if (c == NULL)
		return;
	while (c->count > 0)
		client_close_oldest(c);
	while ((link = list_first(&c->listeners)) != NULL) {
		list_remove(link);
		listener_close(&socket_of(link)->listener);
		free(socket_of(link));
	}
	timeouts_fini(&c->idle);
	free(c);
}

void
control_pause(struct control *c)
{
	struct list *link;

	for (link = c->listeners.next; link != &c->listeners; link = link->next)
		listener_pause(&socket_of(link)->listener);
}

void
control_close_in_child(struct control *c)
{
	if (c == NULL)
		return;
	clients_close_in_child(c);
	control_free(c);
}

void
control_start(struct control *c)
{
	struct list *link;

	for (link = c->listeners.next; link != &c->listeners; link = link->next)
		(void)listener_resume(
		    &list_entry(link, struct control_listener, link)->listener);
}

/* ---- a plan comes into force: only a start opens them ---- */

/* Opens a control socket with the levels and the mode of `plan`. */
static int
control_listen(struct control *c, const struct addr *at,
    const struct control_plan *plan, bool freebind, struct error *e)
{
	struct control_listener *cl = calloc(1, sizeof(*cl));
	struct sock_listen_options o = { .backlog = 128,
		.unix_mode = plan->mode,
		.freebind = freebind,
		.sockets = &c->pen->sockets };

	if (cl == NULL)
		return error_set(e, "out of memory");
	if (listener_open(&cl->listener, c->loop, at, &o, e) < 0) {
		free(cl);
		return -1;
	}
	cl->level = plan->level;
	cl->others = plan->others;
	cl->owner = geteuid();
	cl->listener.budget = 16;
	cl->listener.on_accept = socket_on_accept;
	/* events that were fetched already may point to it, which stays */
	cl->listener.on_replaced = listener_close;
	cl->listener.arg = c;
	list_append(&c->listeners, &cl->link);
	return 0;
}

static int
listen_for_control(struct pen *p, const struct plan *plan, struct error *e)
{
	const struct process_plan *process = plan->process;
	unsigned i, k;

	for (i = 0; i < process->control_count; i++) {
		const struct control_plan *c = &process->controls[i];

		for (k = 0; k < c->at.count; k++) {
			const struct addr *at = &c->at.entry[k].at;

			if (preflight_control(process, at, e) == 0 &&
			    control_listen(p->control, at, c,
				plan->config->frontend.freebind, e) == 0)
				continue;
			origin_put(c->origin, "control", e);
			return -1;
		}
	}
	return 0;
}

int
control_prepare(struct apply_all *a, struct error *e)
{
	struct pen *p = a->pen;

	if (!a->first)
		return 0;
	p->control = control_new(p);
	if (p->control == NULL)
		return error_set(e, "out of memory");
	if (listen_for_control(p, a->draft, e) == 0)
		return 0;
	control_cancel(a);
	return -1;
}

void
control_cancel(struct apply_all *a)
{
	if (!a->first)
		return;
	control_free(a->pen->control);
	a->pen->control = NULL;
}
