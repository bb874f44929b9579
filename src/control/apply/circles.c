/* circles.c: a graph of the services that others lead to. */
#include "config.h"

#include <stdlib.h>

#include "base/array.h"
#include "control/apply/apply.h"
#include "control/apply/circles.h"
#include "control/apply/direct.h"
#include "control/apply/own_servers.h"
#include "control/apply/services.h"
#include "control/value/own_address.h"

enum { CONNECTIONS = 1, DATAGRAMS = 2 };
enum { NOT_SEEN, ON_THE_WAY, SEEN };

struct circle_service {
	const struct plan *plan;
	const struct service *svc; /* NULL: it has no servers yet */
	const struct apply *apply; /* NULL: it stays as it is */
	unsigned protocols, edges, next; /* of the list */
	char seen;
};

struct circle_listener {
	uint16_t port; /* 0: a Unix socket */
	unsigned service;
	const struct frontend_address *at;
};

struct circle_edge {
	unsigned to, slot; /* slot UINT32_MAX: by a route */
	struct addr at;
};

struct circles {
	struct circle_service *service;
	struct circle_listener *listener;
	struct circle_edge *edge; /* by service, in order */
	unsigned services, listeners, listener_room, edges, edge_room;
};

/* ---- the services ---- */

static unsigned
protocols_of(const struct plan *p)
{
	const struct frontend_options *o = &p->config->frontend;

	if (direct_is_wanted(p))
		return 0;
	return (!o->udp.on || o->dns.on ? CONNECTIONS : 0) |
	    (o->udp.on ? DATAGRAMS : 0);
}

static uint16_t
port_of(const struct addr *a)
{
	return a->u.sa.sa_family == AF_UNIX ? 0 : addr_port(a);
}

static int
add_listeners(struct circles *c, unsigned number)
{
	const struct listen_list *l = &c->service[number].plan->listen;
	struct circle_listener *list;
	unsigned i;

	for (i = 0; i < l->count && c->service[number].protocols != 0; i++) {
		list = array_grow(c->listener, &c->listener_room,
		    sizeof(*list), c->listeners);
		if (list == NULL)
			return -1;
		c->listener = list;
		list[c->listeners++] = (struct circle_listener){
			.port = port_of(&l->entry[i].at),
			.service = number,
			.at = &l->entry[i]
		};
	}
	return 0;
}

static int
compare_ports(const void *a, const void *b)
{
	const struct circle_listener *x = a, *y = b;

	return x->port != y->port ? (x->port > y->port) - (x->port < y->port)
				  : (x->service > y->service) -
		(x->service < y->service);
}

static int
add_services(struct circles *c, const struct apply_all *a)
{
	const struct plan *draft = a->draft, *p;
	const struct service *svc = NULL;
	unsigned i, k = 0;

	c->service = calloc(draft->service_count + 1, sizeof(*c->service));
	if (c->service == NULL)
		return -1;
	for (i = 0; (p = plan_service_at(draft, i)) != NULL; i++) {
		struct circle_service *one = &c->service[c->services++];

		svc = service_find_behind(a->pen, svc, plan_service_name(p));
		*one = (struct circle_service){ .plan = p, .svc = svc };
		if (k < a->count && a->one[k].wanted == p)
			one->apply = &a->one[k++];
		one->protocols = protocols_of(p);
		if (add_listeners(c, i) < 0)
			return -1;
	}
	if (c->listeners > 0)
		qsort(c->listener, c->listeners, sizeof(*c->listener),
		    compare_ports);
	return 0;
}

/* ---- where they lead ---- */

static int
add_edge(struct circles *c, struct circle_edge one)
{
	struct circle_edge *list =
	    array_grow(c->edge, &c->edge_room, sizeof(*list), c->edges);

	if (list == NULL)
		return -1;
	c->edge = list;
	list[c->edges++] = one;
	return 0;
}

static unsigned
first_at_port(const struct circles *c, uint16_t port)
{
	unsigned from = 0, past = c->listeners;

	while (from < past) {
		unsigned middle = (from + past) / 2;

		if (c->listener[middle].port < port)
			from = middle + 1;
		else
			past = middle;
	}
	return from;
}

/* Adds edges to the services that listen on the port of the server's
 * address. */
static int
add_port(struct circles *c, unsigned from, unsigned slot,
    const struct addr *at, uint16_t port)
{
	const struct circle_service *s = &c->service[from];
	const struct circle_listener *l;
	unsigned i;

	for (i = first_at_port(c, port);
	     i < c->listeners && c->listener[i].port == port; i++) {
		l = &c->listener[i];
		if (l->service == from ||
		    (c->service[l->service].protocols & s->protocols) == 0 ||
		    !own_address_is(l->at, &s->plan->listen, at))
			continue;
		if (add_edge(c,
			(struct circle_edge){
			    .to = l->service, .slot = slot, .at = *at }) < 0)
			return -1;
	}
	return 0;
}

/* A server without a port has that which the client came to. */
static int
add_address(struct circles *c, unsigned from, unsigned slot,
    const struct addr *at)
{
	const struct listen_list *l = &c->service[from].plan->listen;
	unsigned i;

	if (at->u.sa.sa_family == AF_UNIX || addr_port(at) != 0)
		return add_port(c, from, slot, at, port_of(at));
	for (i = 0; i < l->count; i++)
		if (port_of(&l->entry[i].at) != 0 &&
		    add_port(c, from, slot, at, port_of(&l->entry[i].at)) < 0)
			return -1;
	return 0;
}

/* The server's addresses: those of the draft if it changes them, else those
 * that the server has. */
static struct server_addrs
addresses_of(const struct circle_service *s, unsigned slot, size_t *change)
{
	const struct server_addrs none = { .count = 0 };
	const struct changes *c = s->apply != NULL ? &s->apply->servers : NULL;
	const struct server *now =
	    s->svc != NULL ? pool_slot(s->svc->pool, slot) : NULL;

	while (c != NULL && *change < c->count && c->list[*change].slot < slot)
		++*change;
	if (c != NULL && *change < c->count && c->list[*change].slot == slot)
		return c->list[*change].addrs;
	return now != NULL && now->present ? server_addrs(now) : none;
}

static int
add_servers(struct circles *c, unsigned from)
{
	const struct circle_service *s = &c->service[from];
	unsigned slots = plan_slots(s->plan), slot, i;
	struct server_addrs addrs;
	size_t change = 0;

	for (slot = 0; slot < slots && s->protocols != 0; slot++) {
		addrs = addresses_of(s, slot, &change);
		for (i = 0; i < addrs.count; i++)
			if (add_address(c, from, slot, &addrs.addr[i]) < 0)
				return -1;
	}
	return 0;
}

static int
add_routes(struct circles *c, unsigned from, const struct plan *draft)
{
	const struct route_plans *routes = c->service[from].plan->routes;
	unsigned i, to;

	for (i = 0; i < route_plans_count(routes); i++) {
		const struct route_plan *r = route_plans_at(routes, i);

		to = r->to_service ? plan_service_number(draft, r->to)
				   : c->services;
		if (to < c->services &&
		    add_edge(c,
			(struct circle_edge){
			    .to = to, .slot = UINT32_MAX }) < 0)
			return -1;
	}
	return 0;
}

static void
circles_fini(struct circles *c)
{
	free(c->service);
	free(c->listener);
	free(c->edge);
}

static int
circles_init(struct circles *c, const struct apply_all *a)
{
	unsigned i;

	*c = (struct circles){ .services = 0 };
	if (add_services(c, a) < 0)
		return -1;
	for (i = 0; i < c->services; i++) {
		c->service[i].next = c->edges;
		if (add_servers(c, i) < 0 || add_routes(c, i, a->draft) < 0)
			return -1;
		c->service[i].edges = c->edges;
	}
	return 0;
}

/* ---- the walk ---- */

/* Searches for a circle from service `from` on, along edges to services that no
 * search has visited. Returns the service whose edge, *edge, leads back to one
 * on the way, or c->services. `way` has space for all. */
static unsigned
circles_walk(struct circles *c, unsigned from, unsigned *way,
    const struct circle_edge **edge)
{
	unsigned length = 0;

	if (c->service[from].seen != NOT_SEEN)
		return c->services;
	way[length++] = from;
	c->service[from].seen = ON_THE_WAY;
	while (length > 0) {
		unsigned at = way[length - 1];
		struct circle_service *s = &c->service[at];

		if (s->next == s->edges) {
			s->seen = SEEN;
			length--;
			continue;
		}
		*edge = &c->edge[s->next++];
		if (c->service[(*edge)->to].seen == ON_THE_WAY)
			return at;
		if (c->service[(*edge)->to].seen == NOT_SEEN) {
			c->service[(*edge)->to].seen = ON_THE_WAY;
			way[length++] = (*edge)->to;
		}
	}
	return c->services;
}

static int
circles_blame(const struct circles *c, unsigned from,
    const struct circle_edge *edge, struct error *e)
{
	const char *to = plan_service_name(c->service[edge->to].plan);
	char text[ADDR_TEXT_MAX], name[OWN_TITLE_MAX];

	if (edge->slot == UINT32_MAX)
		error_set(e,
		    "a route leads to the service %s, whose servers lead back "
		    "to this one",
		    to);
	else
		error_set(e,
		    "%s is a listening address of the service %s, which leads "
		    "back to this one: %s",
		    own_server_title(edge->slot, name), to,
		    addr_format(&edge->at, text));
	return plan_service_blame(c->service[from].plan, e);
}

/* ---- checks ---- */

int
apply_circles_check(struct apply_all *a, struct error *e)
{
	const struct circle_edge *edge = NULL;
	unsigned *way, i, from;
	struct circles c;
	int rc = 0;

	if (a->draft->service_count == 0 || a->pen->role.member > 0)
		return 0;
	way = calloc(a->draft->service_count + 1, sizeof(*way));
	if (circles_init(&c, a) < 0 || way == NULL)
		rc = error_set(e, "out of memory");
	for (i = 0; rc == 0 && i < c.services; i++) {
		from = circles_walk(&c, i, way, &edge);
		if (from < c.services)
			rc = circles_blame(&c, from, edge, e);
	}
	free(way);
	circles_fini(&c);
	return rc;
}

/* Whether any service but this one may listen there. */
static bool
is_listened_at(const struct apply *a, const struct addr *at)
{
	const struct plan *p;
	unsigned i, k;

	for (i = 0; (p = plan_service_at(a->draft, i)) != NULL; i++)
		for (k = 0; p != a->wanted && k < p->listen.count; k++)
			if (port_of(at) == 0 ||
			    port_of(at) == port_of(&p->listen.entry[k].at))
				return true;
	return false;
}

bool
circles_by(const struct apply *a, const struct addr *at)
{
	const struct circle_edge *edge;
	unsigned from, *way, first;
	struct circles c;
	bool found = false;

	if (a->draft->service_count == 0 || !is_listened_at(a, at))
		return false;
	way = calloc(a->draft->service_count + 1, sizeof(*way));
	from = plan_service_number(a->draft, plan_service_name(a->wanted));
	if (circles_init(&c, a->all) == 0 && way != NULL && from < c.services) {
		first = c.edges;
		if (add_address(&c, from, 0, at) == 0) {
			c.service[from].seen = ON_THE_WAY;
			for (; first < c.edges && !found; first++)
				found = circles_walk(&c, c.edge[first].to, way,
					    &edge) < c.services;
		}
	}
	free(way);
	circles_fini(&c);
	return found;
}
