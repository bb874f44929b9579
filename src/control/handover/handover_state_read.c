/* handover_state_read.c: the state of another process comes into force here. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "control/apply/tls_config.h"
#include "control/handover/handover_parts.h"
#include "control/life/context.h"

/* ---- counters ---- */

/* Finds the counter of that name. Mostly it is the one after the last one:
 * both processes have the same order. */
static bool
find_counter(
    struct handover_state_service *l, const char *wanted, size_t *offset)
{
	const char *name = handover_state_counter(l->next_counter, offset);
	unsigned i = l->next_counter;

	if (name == NULL || strcmp(name, wanted) != 0)
		for (i = 0; (name = handover_state_counter(i, offset)) != NULL;
		     i++)
			if (strcmp(name, wanted) == 0)
				break;
	l->next_counter = i + 1;
	return name != NULL;
}

static void
read_counter(struct handover_state_service *l, struct handover_record *r)
{
	char wanted[256];
	uint64_t value;
	size_t offset;

	handover_get_text(r, wanted);
	value = handover_get_number(r, 8);
	if (l->stats == NULL)
		l->stats = calloc(1, sizeof(*l->stats));
	if (l->stats != NULL && !r->bad && find_counter(l, wanted, &offset))
		*(uint64_t *)(void *)((char *)l->stats + offset) = value;
}

static void
restore_counters(struct handover_state_service *l)
{
	uint32_t i;

	if (l->stats != NULL)
		frontend_restore_stats(l->service->frontend, l->stats);
	for (i = 0; i < l->servers_room; i++)
		if (l->servers[i].here != NULL && !l->servers[i].removed)
			pool_restore_counters(l->service->pool,
			    l->servers[i].here, &l->servers[i].there);
}

/* ---- TLS ---- */

static void
read_keys(struct handover_state_service *l, const struct handover_record *r)
{
	struct tls_server *t = l->service->tls_config->server;

	if (t != NULL && !r->bad)
		(void)tls_server_import_keys(t, r->at, r->left);
}

/* ---- clients ---- */

/* Returns whether the client is one, of a server that is here. */
static bool
get_client(struct handover_state_service *l, struct handover_record *r,
    struct sticky_client *c)
{
	const struct server *s;
	unsigned mark;

	memset(c, 0, sizeof(*c));
	handover_get(r, c->ip, sizeof(c->ip));
	c->scope = (uint16_t)handover_get_number(r, 2);
	c->family = (uint8_t)handover_get_number(r, 1);
	mark = (unsigned)handover_get_number(r, 1);
	c->proven = mark != 0;
	c->reported = mark >> 1;
	s = handover_servers_get(l, handover_get_number(r, 4));
	c->seen = handover_ago(
	    loop_now(l->service->pen->loop), handover_get_number(r, 8) + 1);
	c->connects = (uint32_t)handover_get_number(r, 4);
	c->sent = handover_get_number(r, 8);
	c->received = handover_get_number(r, 8);
	if (r->bad || s == NULL || s->role != SERVER_REGULAR)
		return false;
	c->server = s->number;
	return true;
}

/* A peer may be wrong, or of another kind: what no client here can be is left
 * out. */
static void
read_peer_clients(struct handover_state_reader *l, struct handover_record *r)
{
	struct sticky *sticky = pool_sticky(l->now->service->pool);
	struct sticky_client c;

	while (r->left > 0 && sticky != NULL) {
		l->reported++;
		if (get_client(l->now, r, &c) &&
		    (c.family == AF_INET || c.family == AF_INET6))
			l->new += sticky_learn(sticky, &c);
	}
}

static void
read_clients(struct handover_state_service *l, struct handover_record *r)
{
	struct sticky_client c, *list;

	if (pool_sticky(l->service->pool) == NULL)
		return;
	while (r->left > 0) {
		if (!get_client(l, r, &c))
			continue;
		list = array_grow(l->clients, &l->clients_room, sizeof(*list),
		    l->client_count);
		if (list == NULL)
			return;
		l->clients = list;
		list[l->client_count++] = c;
	}
}

static int
compare_seen(const void *a, const void *b)
{
	const struct sticky_client *x = a, *y = b;

	return x->seen < y->seen ? -1 : x->seen > y->seen;
}

/* Restores the clients in the order in which they were seen, as those that were
 * seen first are removed first. */
static void
restore_clients(struct handover_state_service *l)
{
	struct sticky *sticky = pool_sticky(l->service->pool);
	uint32_t i;

	if (sticky == NULL || l->client_count == 0)
		return;
	qsort(l->clients, l->client_count, sizeof(*l->clients), compare_seen);
	for (i = 0; i < l->client_count; i++)
		(void)sticky_restore(sticky, &l->clients[i]);
}

/* ---- flows ---- */

/* Workers that are forked later have the flow. */
static bool
take_flow(struct service *svc, const struct flow_past *past, struct server *s)
{
	struct pen *p = svc->pen;
	struct worker_flow flow = {
		.service = svc, .server = s, .past = *past
	};

	if (p->role.size == 1)
		return frontend_import_flow(svc->frontend, past, s);
	if (buffer_append(&p->role.flows, &flow, sizeof(flow)) == 0)
		return true;
	if (past->has_socket)
		close(past->fd);
	return false;
}

static void
read_flow_sockets(
    struct handover_state_reader *reader, struct handover_record *r)
{
	struct handover_flow_socket *s;
	unsigned marks;

	reader->flow_sockets = 0;
	while (r->left > 0 && reader->flow_sockets < HANDOVER_FLOWS_MOST) {
		s = &reader->flow_socket[reader->flow_sockets];
		s->flow = (unsigned)handover_get_number(r, 2);
		s->inode = handover_get_number(r, 8);
		marks = (unsigned)handover_get_number(r, 1);
		s->introduced = marks & 1;
		s->coalescing = marks >> 1 & 1;
		s->answered = marks >> 2 & 1;
		s->requests = handover_get_number(r, 8);
		s->responses = handover_get_number(r, 8);
		if (r->bad)
			break;
		reader->flow_sockets++;
	}
}

/* The flow is number `n` of its record. */
static void
find_flow_socket(
    struct handover_state_reader *reader, unsigned n, struct flow_past *past)
{
	const struct handover_flow_socket *s = reader->flow_socket;
	unsigned i;

	for (i = 0; i < reader->flow_sockets && s->flow != n; i++)
		s++;
	if (i == reader->flow_sockets || reader->sockets == NULL)
		return;
	past->fd = passed_take_socket(reader->sockets, s->inode);
	past->has_socket = past->fd >= 0;
	past->introduced = s->introduced;
	past->coalescing = s->coalescing;
	past->answered = s->answered;
	past->requests = s->requests;
	past->responses = s->responses;
}

/* Returns its server; NULL: it is not here. */
static struct server *
read_flow(const struct handover_state_service *l, struct handover_record *r,
    struct flow_past *past)
{
	struct server *s;

	memset(past, 0, sizeof(*past));
	handover_get_addr(r, &past->client);
	handover_get_addr(r, &past->listener);
	handover_get(r, past->local.ip, sizeof(past->local.ip));
	past->local.interface = (unsigned)handover_get_number(r, 4);
	past->local.family = (uint16_t)handover_get_number(r, 2);
	s = handover_servers_get(l, handover_get_number(r, 4));
	past->steady = handover_get_number(r, 1) != 0;
	return r->bad ? NULL : s;
}

/* Sockets that no flow here has are closed. */
static void
read_flows(struct handover_state_reader *reader, struct handover_record *r)
{
	struct handover_state_service *l = reader->now;
	struct flow_past past;
	struct server *s;
	unsigned n;

	for (n = 0; r->left > 0; n++) {
		s = read_flow(l, r, &past);
		if (s == NULL)
			continue;
		find_flow_socket(reader, n, &past);
		if (take_flow(l->service, &past, s))
			l->flow_count++;
	}
	reader->flow_sockets = 0;
	if (reader->sockets != NULL)
		passed_drop(reader->sockets);
}

/* ---- services ---- */

/* NULL: there is none of that name. Mostly it is the one after the last one
 * that was found, as both processes have the same order. */
static struct handover_state_service *
find_service(struct handover_state_reader *l, const char *name)
{
	struct handover_state_service *one;
	unsigned i, at;

	for (i = 1; i <= l->service_count; i++) {
		at = (l->last + i) % l->service_count;
		one = &l->services[at];
		if (strcmp(one->service->name, name) == 0) {
			l->last = at;
			return one;
		}
	}
	return NULL;
}

/* Begins the records of a service. If no service here has its name, the records
 * that follow are skipped. */
static void
read_service(struct handover_state_reader *l, struct handover_record *r)
{
	char name[256];

	handover_get_text(r, name);
	l->now = !r->bad && plan_service_is_name(name)
	    ? find_service(l, name)
	    : NULL;
	if (l->now != NULL)
		l->now->begun = !l->of_workers;
}

static void
list_services(struct handover_state_reader *l, struct pen *p)
{
	struct service *svc;
	unsigned count = 0;

	SERVICE_EACH (p, svc)
		count++;
	l->services = calloc(count, sizeof(*l->services));
	if (l->services == NULL)
		return;
	SERVICE_EACH (p, svc)
		if (!svc->leaves)
			l->services[l->service_count++].service = svc;
}

/* ---- all ---- */

void
handover_state_reader_init(struct handover_state_reader *l, struct pen *p)
{
	memset(l, 0, sizeof(*l));
	list_services(l, p);
	if (l->service_count == 0)
		return;
	l->now = &l->services[0];
	l->now->begun = true;
}

void
handover_state_reader_init_workers(
    struct handover_state_reader *l, struct pen *p)
{
	unsigned i;

	memset(l, 0, sizeof(*l));
	l->of_workers = true;
	list_services(l, p);
	for (i = 0; i < l->service_count; i++)
		l->services[i].of_workers = true;
}

/* Reads a record of the service that the last service record has begun. */
static void
read_part(struct handover_state_reader *reader, struct handover_record *record)
{
	struct handover_state_service *l = reader->now;

	switch (record->type) {
	case HANDOVER_SERVER:
		handover_servers_read(reader, record);
		break;
	case HANDOVER_COUNTER:
		read_counter(l, record);
		break;
	case HANDOVER_TLS_KEYS:
		read_keys(l, record);
		break;
	case HANDOVER_CLIENTS:
		read_clients(l, record);
		break;
	case HANDOVER_FLOW_SOCKETS:
		read_flow_sockets(reader, record);
		break;
	case HANDOVER_FLOWS:
		read_flows(reader, record);
		break;
	case HANDOVER_DSR_TABLE:
		handover_dsr_read_table(l, record);
		break;
	case HANDOVER_DSR_ROLE:
		handover_dsr_read_role(l, record);
		break;
	}
}

void
handover_state_read(
    struct handover_state_reader *l, struct handover_record *record)
{
	if ((record->type == HANDOVER_FLOWS ||
		record->type == HANDOVER_DSR_TABLE) &&
	    !l->from_peer)
		handover_state_settle(l);
	if (record->type == HANDOVER_SERVICE)
		read_service(l, record);
	else if (l->now == NULL && l->sockets != NULL)
		passed_drop(l->sockets);
	else if (l->now == NULL)
		return;
	else if (!l->from_peer)
		read_part(l, record);
	else if (record->type == HANDOVER_SERVER)
		handover_servers_read(l, record);
	else if (record->type == HANDOVER_CLIENTS)
		read_peer_clients(l, record);
	else if (record->type == HANDOVER_DSR_FLOWS)
		handover_dsr_read_peer_flows(l, record);
	else if (record->type == HANDOVER_DSR_VLAN)
		handover_dsr_read_peer_vlan(l->now, record);
}

void
handover_state_settle(struct handover_state_reader *l)
{
	unsigned i;

	if (l->settled)
		return;
	l->settled = true;
	for (i = 0; i < l->service_count; i++) {
		handover_servers_restore(&l->services[i]);
		restore_clients(&l->services[i]);
	}
}

void
handover_state_reader_fini(struct handover_state_reader *l)
{
	unsigned i;

	for (i = 0; i < l->service_count; i++) {
		free(l->services[i].servers);
		free(l->services[i].peer);
		free(l->services[i].stats);
		free(l->services[i].clients);
	}
	free(l->services);
}

void
handover_state_reader_end(struct handover_state_reader *l)
{
	unsigned servers = 0, flows = 0, i;
	uint64_t clients = 0;

	handover_state_settle(l);
	for (i = 0; i < l->service_count; i++) {
		servers += l->services[i].server_count;
		clients += l->services[i].client_count;
		flows += l->services[i].flow_count;
		if (l->services[i].begun)
			restore_counters(&l->services[i]);
	}
	if (l->of_workers)
		log_info("clients move between workers clients=%" PRIu64
			 " flows=%u",
		    clients, flows);
	else
		log_info("taken over servers=%u clients=%" PRIu64 " flows=%u",
		    servers, clients, flows);
	handover_state_reader_fini(l);
}
