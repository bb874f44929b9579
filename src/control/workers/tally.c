/* tally.c: see tally.h. As bytes, for each service: its number, its counters,
 * those of each server that has any, behind its slot, and how many clients each
 * route had. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "control/apply/services.h"
#include "control/life/context.h"
#include "control/workers/tally.h"
#include "proxy/wire/route.h"

/* Also as it is written; `servers` and `routes` are how many follow. */
struct tally_counters {
	uint64_t service;
	struct frontend_stats stats;
	uint64_t servers, routes;
};

/* A server at other addresses in the same slot is of a later generation. */
struct tally_server {
	uint32_t slot, generation;
	uint64_t connections;
	struct server_counters counters;
};

struct tally_service {
	struct list link;
	struct tally_counters all;
	struct tally_server *servers; /* by slot */
	uint32_t room;
	uint64_t *routes; /* clients of each */
	uint32_t route_room;
};

void
tally_init(struct tally *t)
{
	list_init(&t->services);
	t->found = &t->services;
}

static void
tally_service_free(struct tally_service *s)
{
	free(s->servers);
	free(s->routes);
	free(s);
}

void
tally_fini(struct tally *t)
{
	struct tally_service *s;
	struct list *link;

	while ((link = list_first(&t->services)) != NULL) {
		s = list_entry(link, struct tally_service, link);
		list_remove(link);
		tally_service_free(s);
	}
	t->found = &t->services;
}

/* ---- writing ---- */

static bool
has_counted(const struct server *s)
{
	const struct server_counters *c = s->counters;

	return (s->connections | c->connects | c->failures | c->sent |
		   c->received | c->ended[SERVER_END_FAILED]) != 0;
}

static int
write_servers(const struct service *svc, struct buffer *out, uint64_t *n)
{
	struct tally_server one;
	const struct server *s;
	unsigned slot;

	*n = 0;
	for (slot = 0; slot < pool_slots(svc->pool); slot++) {
		s = pool_slot(svc->pool, slot);
		if (!has_counted(s))
			continue;
		memset(&one, 0, sizeof(one));
		one.slot = slot;
		one.generation = s->generation;
		one.connections = s->connections;
		one.counters = *s->counters;
		if (buffer_append(out, &one, sizeof(one)) < 0)
			return -1;
		++*n;
	}
	return 0;
}

static int
write_routes(const struct service *svc, struct buffer *out)
{
	const struct routes *r = frontend_routes(svc->frontend);
	unsigned i;
	int rc = 0;

	for (i = 0; r != NULL && i < r->count && rc == 0; i++)
		rc = buffer_append(
		    out, r->list[i].clients, sizeof(*r->list[i].clients));
	return rc;
}

static int
write_service(const struct service *svc, struct buffer *out)
{
	const struct routes *r = frontend_routes(svc->frontend);
	struct tally_counters all;
	struct buffer servers;
	int rc;

	memset(&all, 0, sizeof(all));
	all.service = svc->number;
	all.stats = *frontend_stats(svc->frontend);
	all.routes = r != NULL ? r->count : 0;
	buffer_init(&servers);
	rc = write_servers(svc, &servers, &all.servers);
	if (rc == 0)
		rc = buffer_append(out, &all, sizeof(all));
	if (rc == 0 && buffer_length(&servers) > 0)
		rc = buffer_append(
		    out, buffer_bytes(&servers), buffer_length(&servers));
	buffer_fini(&servers);
	return rc == 0 ? write_routes(svc, out) : rc;
}

int
tally_write(const struct pen *p, struct buffer *out)
{
	const struct service *svc;

	SERVICE_EACH (p, svc)
		if (svc->frontend != NULL && write_service(svc, out) < 0)
			return -1;
	return 0;
}

/* ---- adding ---- */

/* All have them in the same order: it is mostly the next one. */
static struct tally_service *
tally_find(struct tally *t, uint64_t service)
{
	struct list *head = &t->services, *link = t->found;
	struct tally_service *s;

	do {
		link = link->next;
		s = list_entry(link, struct tally_service, link);
		if (link != head && s->all.service == service) {
			t->found = link;
			return s;
		}
	} while (link != t->found);
	return NULL;
}

static struct tally_service *
find_or_make(struct tally *t, uint64_t service)
{
	struct tally_service *s = tally_find(t, service);

	if (s != NULL)
		return s;
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return NULL;
	s->all.service = service;
	list_append(&t->services, &s->link);
	t->found = &s->link;
	return s;
}

/* All of its members are counters, but for those that say how many ports there
 * are. */
static void
add_stats(struct frontend_stats *to, const struct frontend_stats *from)
{
	uint64_t sum[sizeof(*to) / sizeof(uint64_t)],
	    more[sizeof(*to) / sizeof(uint64_t)];
	uint64_t ports = to->flows.ports_max > from->flows.ports_max
	    ? to->flows.ports_max
	    : from->flows.ports_max;
	size_t i;

	memcpy(sum, to, sizeof(sum));
	memcpy(more, from, sizeof(more));
	for (i = 0; i < sizeof(sum) / sizeof(sum[0]); i++)
		sum[i] += more[i];
	memcpy(to, sum, sizeof(sum));
	to->flows.ports_max = ports;
}

static void
add_counters(struct tally_counters *to, const struct tally_counters *from)
{
	add_stats(&to->stats, &from->stats);
}

/* What was counted at its addresses before is given up, but not that there are
 * connections. */
static int
add_server(struct tally_service *s, const struct tally_server *one)
{
	struct tally_server *list =
	    array_grow(s->servers, &s->room, sizeof(*list), one->slot);
	uint64_t connections = one->connections;

	if (list == NULL)
		return -1;
	s->servers = list;
	list += one->slot;
	connections += list->connections;
	if (list->generation < one->generation)
		*list = *one;
	else if (list->generation == one->generation)
		server_counters_add(&list->counters, &one->counters);
	list->connections = connections;
	return 0;
}

static int
add_route(struct tally_service *s, uint64_t i, uint64_t clients)
{
	uint64_t *list =
	    array_grow(s->routes, &s->route_room, sizeof(*list), (uint32_t)i);

	if (list == NULL)
		return -1;
	s->routes = list;
	list[i] += clients;
	return 0;
}

static void
forget_peaks(struct frontend_stats *st)
{
	st->sessions_peak = st->flows.peak = st->dns.peak = 0;
}

int
tally_read(struct tally *t, const char *bytes, size_t n, bool peaks)
{
	struct tally_counters all;
	struct tally_server one;
	struct tally_service *s;
	uint64_t i, clients;

	while (n >= sizeof(all)) {
		memcpy(&all, bytes, sizeof(all));
		bytes += sizeof(all);
		n -= sizeof(all);
		s = find_or_make(t, all.service);
		if (s == NULL)
			return -1;
		if (!peaks)
			forget_peaks(&all.stats);
		add_counters(&s->all, &all);
		for (; all.servers > 0 && n >= sizeof(one); all.servers--) {
			memcpy(&one, bytes, sizeof(one));
			bytes += sizeof(one);
			n -= sizeof(one);
			if (add_server(s, &one) < 0)
				return -1;
		}
		for (i = 0; i < all.routes && n >= sizeof(clients); i++) {
			memcpy(&clients, bytes, sizeof(clients));
			bytes += sizeof(clients);
			n -= sizeof(clients);
			if (add_route(s, i, clients) < 0)
				return -1;
		}
	}
	return 0;
}

int
tally_add(struct tally *t, const struct tally *other)
{
	const struct tally_service *from;
	struct tally_service *to;
	const struct list *link;
	uint32_t i;

	for (link = other->services.next; link != &other->services;
	     link = link->next) {
		from = (const void *)link;
		to = find_or_make(t, from->all.service);
		if (to == NULL)
			return -1;
		add_counters(&to->all, &from->all);
		for (i = 0; i < from->room; i++)
			if (add_server(to, &from->servers[i]) < 0)
				return -1;
		for (i = 0; i < from->route_room; i++)
			if (add_route(to, i, from->routes[i]) < 0)
				return -1;
	}
	return 0;
}

void
tally_end(struct tally *t)
{
	struct frontend_stats *st;
	struct tally_service *s;
	struct list *link;
	uint32_t i;

	for (link = t->services.next; link != &t->services; link = link->next) {
		s = list_entry(link, struct tally_service, link);
		st = &s->all.stats;
		st->sessions = st->connecting = st->queued = 0;
		st->flows.now = st->flows.ports = 0;
		st->dns.waiting = st->limits.waiting = 0;
		st->preopened = 0;
		for (i = 0; i < s->room; i++)
			s->servers[i].connections = 0;
	}
}

void
tally_count_log(struct tally *t, struct pen *p)
{
	struct tally_service *s =
	    p->team.lines_lost > 0 ? find_or_make(t, p->service->number) : NULL;

	if (s == NULL)
		return;
	s->all.stats.lines_lost.own += p->team.lines_lost;
	p->team.lines_lost = 0;
}

void
tally_clear(struct tally *t, const struct service *svc)
{
	struct tally_service *s = tally_find(t, svc->number);

	if (s == NULL)
		return;
	t->found = &t->services;
	list_remove(&s->link);
	tally_service_free(s);
}

/* ---- the sums ---- */

static void
apply_server(struct server *s, const struct tally_server *one)
{
	static const struct server_counters none;

	pool_take_counters(s, one->connections,
	    one->generation == s->generation ? &one->counters : &none);
}

static void
keep_peak(uint64_t *peak, uint64_t before, uint64_t now)
{
	if (*peak < before)
		*peak = before;
	if (*peak < now)
		*peak = now;
}

static void
keep_peaks(struct frontend_stats *st, const struct frontend_stats *before)
{
	keep_peak(&st->sessions_peak, before->sessions_peak, st->sessions);
	keep_peak(&st->flows.peak, before->flows.peak, st->flows.now);
	keep_peak(&st->dns.peak, before->dns.peak, st->dns.waiting);
}

static void
apply_service(struct service *svc, const struct tally_service *s)
{
	static const struct server_counters none;
	struct routes *r = frontend_routes(svc->frontend);
	struct frontend_stats st = s->all.stats;
	struct server *server;
	unsigned slot, i;

	for (i = 0; r != NULL && i < r->count; i++)
		*r->list[i].clients = i < s->route_room ? s->routes[i] : 0;
	keep_peaks(&st, frontend_stats(svc->frontend));
	frontend_take_counters(svc->frontend, &st);
	for (slot = 0; slot < pool_slots(svc->pool); slot++) {
		server = pool_slot(svc->pool, slot);
		if (slot < s->room)
			apply_server(server, &s->servers[slot]);
		else if (has_counted(server))
			pool_take_counters(server, 0, &none);
	}
}

void
tally_apply(struct pen *p, struct tally *t)
{
	static const struct tally_service none;
	const struct tally_service *s;
	struct service *svc;

	SERVICE_EACH (p, svc) {
		s = tally_find(t, svc->number);
		if (svc->frontend != NULL)
			apply_service(svc, s != NULL ? s : &none);
	}
}
