/* handover_state_read.c: the state of another process comes into force here. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "control/apply/tls_config.h"
#include "control/handover/handover_state.h"
#include "control/handover/handover_state_private.h"
#include "control/life/context.h"
#include "control/plan/server_index.h"
#include "dsr/director/director.h"

/* A server of the other process, and the same one here; NULL: none. */
struct handover_state_server {
	struct server *here;
	struct server_past past;
	struct mac mac; /* all zero: none */
};

/* What was read of a service. */
struct handover_state_past {
	struct service *service;
	bool of_workers; /* servers have the slots that they have here */
	bool begun; /* the other process has it, too; else nothing is here: */
	struct handover_state_server *servers; /* by the slot that they had */
	unsigned shift; /* of the slots of the last one that moved; wraps */
	uint32_t servers_room;
	struct sticky_client *clients; /* until handover_state_settle() */
	uint32_t client_count, clients_room;
	struct frontend_stats stats;
	unsigned next_counter; /* that is likely to come */
	unsigned server_count, flow_count;
};

/* ---- which server is which ---- */

static bool
is_at(const struct server *s, const struct addr *at)
{
	unsigned i;

	for (i = 0; s != NULL && s->present && i < s->addrs.count; i++)
		if (addr_equal(&s->addrs.addr[i], at))
			return true;
	return false;
}

struct search {
	const struct pool *pool;
	const struct addr *at;
	struct server *found;
};

static void
on_candidate(void *arg, unsigned slot)
{
	struct search *l = arg;
	struct server *s = pool_slot(l->pool, slot);

	if (is_at(s, l->at) && (l->found == NULL || slot < l->found->slot))
		l->found = s;
}

/* A server at that address: the one in the same slot if that is one of several;
 * the one as many slots away as the last one was, as where one was removed;
 * else the first. The servers beside the list are found in their slots only. */
static struct server *
find_server(
    struct handover_state_past *l, unsigned slot, const struct addr *at)
{
	struct search search = { l->service->pool, at, NULL };
	char host[ADDR_TEXT_MAX];

	if (is_at(pool_slot(search.pool, slot), at))
		return pool_slot(search.pool, slot);
	if (slot < SLOTS_SPECIAL)
		return NULL;
	if (slot + l->shift >= SLOTS_SPECIAL &&
	    is_at(pool_slot(search.pool, slot + l->shift), at))
		return pool_slot(search.pool, slot + l->shift);
	server_index_each(l->service->index, addr_format_host(at, host),
	    on_candidate, &search);
	if (search.found != NULL)
		l->shift = search.found->slot - slot;
	return search.found;
}

/* ---- servers ---- */

/* A time that was so long ago; at the least 1, as 0 is none. */
static uint64_t
ago(uint64_t now, uint64_t ms)
{
	return ms == 0 ? 0 : ms < now ? now - ms : 1;
}

static enum server_admin
get_admin(struct handover_record *r)
{
	uint64_t admin = handover_get_number(r, 1);

	return admin == SERVER_DRAINING || admin == SERVER_DISABLED
	    ? (enum server_admin)admin
	    : SERVER_ENABLED;
}

static void
get_history(struct handover_record *r, struct server_history *h, uint64_t now)
{
	char reason[256];
	size_t i;

	memset(h, 0, sizeof(*h));
	h->state = (enum server_state)handover_get_number(r, 1);
	h->changes = (unsigned)handover_get_number(r, 4);
	h->since_ms = ago(now, handover_get_number(r, 8));
	h->since_wall = (int64_t)handover_get_number(r, 8);
	handover_get_text(r, reason);
	/* what came is not trusted: it goes to logs and reports */
	for (i = 0; i < sizeof(h->reason) - 1 && reason[i] != '\0'; i++)
		h->reason[i] =
		    reason[i] < ' ' || reason[i] > '~' || reason[i] == '"'
		    ? '?'
		    : reason[i];
}

/* Older processes do not send it, either. */
static void
get_mark(struct handover_record *r, struct server_mark *mark)
{
	*mark = (struct server_mark){ .peer = 0 };
	if (r->left == 0)
		return;
	mark->peer = (uint32_t)handover_get_number(r, 4);
	mark->admin = get_admin(r);
	mark->overruled = handover_get_number(r, 1) != 0;
}

static void
get_past(struct handover_record *r, struct server_past *past, uint64_t now)
{
	uint64_t left;

	past->admin = get_admin(r);
	left = handover_get_number(r, 8);
	past->blacklisted_until = left > 0 && left < INT64_MAX ? now + left : 0;
	past->by_operator = handover_get_number(r, 1) != 0;
	past->refusals = (unsigned)handover_get_number(r, 4) % 64;
	past->health.down = handover_get_number(r, 1) != 0;
	past->health.against = (unsigned)handover_get_number(r, 4);
	past->health.good = (unsigned)handover_get_number(r, 4);
	past->health.since = ago(now, handover_get_number(r, 8));
	past->connects = handover_get_number(r, 8);
	past->failures = handover_get_number(r, 8);
	past->sent = handover_get_number(r, 8);
	past->received = handover_get_number(r, 8);
	get_history(r, &past->history, now);
	/* older processes do not send it */
	past->health.unproven = r->left > 0 && handover_get_number(r, 1) != 0;
	past->health.assumed = r->left > 0 && handover_get_number(r, 1) != 0;
	get_mark(r, &past->mark);
}

static struct handover_state_server *
handover_state_read_server_at(struct handover_state_past *l, uint64_t slot)
{
	struct handover_state_server *list;

	if (slot >= server_slot(SERVERS_MAX))
		return NULL;
	list = array_grow(
	    l->servers, &l->servers_room, sizeof(*list), (uint32_t)slot);
	if (list == NULL)
		return NULL;
	l->servers = list;
	return &list[slot];
}

/* The server here that had that slot there, or NULL. */
static struct server *
handover_state_read_server_of(
    const struct handover_state_past *l, uint64_t slot)
{
	if (l->of_workers)
		return slot < pool_slots(l->service->pool)
		    ? pool_slot(l->service->pool, (unsigned)slot)
		    : NULL;
	return slot < l->servers_room ? l->servers[slot].here : NULL;
}

/* A peer may report a server again. */
static void
handover_state_read_server(struct handover_state_reader *reader,
    struct handover_state_past *l, struct handover_record *r)
{
	uint64_t slot = handover_get_number(r, 4);
	struct server_past past;
	struct handover_state_server *s;
	struct mac mac = { { 0 } };
	struct addr at;

	handover_get_addr(r, &at);
	get_past(r, &past, loop_now(l->service->pen->loop));
	if (r->left > 0)
		handover_get(r, mac.byte, sizeof(mac.byte));
	if (r->bad)
		return;
	s = handover_state_read_server_at(l, slot);
	if (s == NULL || (s->here != NULL && !reader->from_peer))
		return;
	s->past = past;
	s->mac = mac;
	s->here = find_server(l, (unsigned)slot, &at);
	l->server_count += s->here != NULL;
	if (s->here != NULL && reader->on_server != NULL)
		reader->on_server(
		    reader->arg, l->service, s->here, past.admin);
}

/* So that it is written, and stays when something else of it changes. The plan
 * is the one in force, here and in that of the process; no draft can share it
 * before clients are served. */
static void
handover_state_read_note_mark(struct service *svc, const struct server *s)
{
	struct server_plan *plan;

	if (s->role != SERVER_REGULAR || s->admin == SERVER_ENABLED)
		return;
	plan = plan_edit(svc->plan, s->slot);
	if (plan != NULL)
		plan->admin = (int)s->admin;
}

static void
restore_servers(struct handover_state_past *l)
{
	uint64_t now = loop_now(l->service->pen->loop);
	uint32_t i;

	for (i = 0; i < l->servers_room; i++) {
		struct handover_state_server *s = &l->servers[i];

		if (s->here == NULL)
			continue;
		pool_restore(l->service->pool, s->here, &s->past, now);
		if (l->service->director != NULL)
			director_restore_mac(
			    l->service->director, s->here, &s->mac);
		handover_state_read_note_mark(l->service, s->here);
	}
}

/* ---- counters ---- */

/* Finds the counter of that name. Mostly it is the one after the last one:
 * both processes have the same order. */
static bool
find_counter(struct handover_state_past *l, const char *wanted, size_t *offset)
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
read_counter(struct handover_state_past *l, struct handover_record *r)
{
	char wanted[256];
	uint64_t value;
	size_t offset;

	handover_get_text(r, wanted);
	value = handover_get_number(r, 8);
	if (!r->bad && find_counter(l, wanted, &offset))
		*(uint64_t *)(void *)((char *)&l->stats + offset) = value;
}

static void
restore_counters(struct handover_state_past *l)
{
	uint32_t i;

	frontend_restore_stats(l->service->frontend, &l->stats);
	for (i = 0; i < l->servers_room; i++)
		if (l->servers[i].here != NULL)
			pool_restore_counters(l->service->pool,
			    l->servers[i].here, &l->servers[i].past);
}

/* ---- TLS ---- */

static void
read_keys(struct handover_state_past *l, const struct handover_record *r)
{
	struct tls_server *t = l->service->tls_config->server;

	if (t != NULL && !r->bad)
		(void)tls_server_import_keys(t, r->at, r->left);
}

/* ---- clients ---- */

/* Returns whether the client is one, of a server that is here. */
static bool
get_client(struct handover_state_past *l, struct handover_record *r,
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
	s = handover_state_read_server_of(l, handover_get_number(r, 4));
	c->seen =
	    ago(loop_now(l->service->pen->loop), handover_get_number(r, 8) + 1);
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
learn_clients(struct handover_state_reader *l, struct handover_record *r)
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

/* The key of a flow; returns its server, or NULL. */
static const struct server *
get_dsr_flow(const struct handover_state_past *l, struct handover_record *r,
    struct dsr_key *key)
{
	memset(key, 0, sizeof(*key));
	handover_get(r, key->client, sizeof(key->client));
	handover_get(r, key->vip, sizeof(key->vip));
	key->client_port = (uint16_t)handover_get_number(r, 2);
	key->vip_port = (uint16_t)handover_get_number(r, 2);
	key->protocol = (uint8_t)handover_get_number(r, 1);
	key->family = (uint8_t)handover_get_number(r, 1);
	return handover_state_read_server_of(l, handover_get_number(r, 4));
}

static void
read_dsr_table(struct handover_state_past *l, struct handover_record *r)
{
	struct director *d = l->service->director;
	struct director_past past;
	struct director_flow f;
	const struct server *s;
	unsigned marks;

	past.standby = handover_get_number(r, 1) != 0;
	past.vlan_known = handover_get_number(r, 1) != 0;
	past.vlan = (uint16_t)handover_get_number(r, 2);
	if (d != NULL && !r->bad)
		director_restore(d, &past);
	while (r->left > 0 && d != NULL) {
		s = get_dsr_flow(l, r, &f.key);
		f.past.state = (enum dsr_state)handover_get_number(r, 1);
		marks = (unsigned)handover_get_number(r, 1);
		f.past.learned = marks & 1;
		f.past.offloaded = marks >> 1 & 1;
		f.past.idle_s = (uint32_t)handover_get_number(r, 4);
		f.past.frames = handover_get_number(r, 8);
		f.past.bytes = handover_get_number(r, 8);
		if (!r->bad && f.past.state < DSR_STATES)
			l->flow_count += director_restore_flow(d, &f, s);
	}
}

static void
learn_flows(struct handover_state_reader *l, struct handover_record *r)
{
	struct service *svc = l->now->service;
	const struct server *s;
	struct dsr_report f;

	while (r->left > 0 && svc->director != NULL) {
		s = get_dsr_flow(l->now, r, &f.key);
		if (r->bad || s == NULL)
			continue;
		f.server = s->slot;
		l->flows++;
		(void)director_learn_flow(svc->director, &f);
	}
}

static void
read_clients(struct handover_state_past *l, struct handover_record *r)
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

/* In the order in which they were seen: the order of removal follows from
 * that. */
static void
restore_clients(struct handover_state_past *l)
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
	struct team_flow flow = { .service = svc, .server = s, .past = *past };

	if (p->team.size == 1)
		return frontend_adopt_flow(svc->frontend, past, s);
	return buffer_append(&p->team.flows, &flow, sizeof(flow)) == 0;
}

static void
read_flows(struct handover_state_past *l, struct handover_record *r)
{
	struct flow_past past;
	struct server *s;

	while (r->left > 0) {
		memset(&past, 0, sizeof(past));
		handover_get_addr(r, &past.client);
		handover_get_addr(r, &past.listener);
		handover_get(r, past.local.ip, sizeof(past.local.ip));
		past.local.interface = (unsigned)handover_get_number(r, 4);
		past.local.family = (uint16_t)handover_get_number(r, 2);
		s = handover_state_read_server_of(l, handover_get_number(r, 4));
		past.steady = handover_get_number(r, 1) != 0;
		if (!r->bad && s != NULL && take_flow(l->service, &past, s))
			l->flow_count++;
	}
}

/* ---- services ---- */

/* Mostly the one after the last one: both processes have the same order. */
static struct handover_state_past *
find_past(struct handover_state_reader *l, const char *name)
{
	struct handover_state_past *past;
	unsigned i, at;

	for (i = 1; i <= l->service_count; i++) {
		at = (l->last + i) % l->service_count;
		past = &l->services[at];
		if (strcmp(past->service->name, name) == 0) {
			l->last = at;
			return past;
		}
	}
	return NULL;
}

/* What follows is of no service here if the name is not right. */
static void
read_service(struct handover_state_reader *l, struct handover_record *r)
{
	char name[256];

	handover_get_text(r, name);
	l->now =
	    !r->bad && plan_service_is_name(name) ? find_past(l, name) : NULL;
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

static void
read_part(struct handover_state_reader *reader, struct handover_record *record)
{
	struct handover_state_past *l = reader->now;

	switch (record->type) {
	case HANDOVER_SERVER:
		handover_state_read_server(reader, l, record);
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
	case HANDOVER_FLOWS:
		read_flows(l, record);
		break;
	case HANDOVER_DSR_TABLE:
		read_dsr_table(l, record);
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
	else if (l->now == NULL)
		return;
	else if (!l->from_peer)
		read_part(l, record);
	else if (record->type == HANDOVER_SERVER)
		handover_state_read_server(l, l->now, record);
	else if (record->type == HANDOVER_CLIENTS)
		learn_clients(l, record);
	else if (record->type == HANDOVER_DSR_FLOWS)
		learn_flows(l, record);
}

void
handover_state_settle(struct handover_state_reader *l)
{
	unsigned i;

	if (l->settled)
		return;
	l->settled = true;
	for (i = 0; i < l->service_count; i++) {
		restore_servers(&l->services[i]);
		restore_clients(&l->services[i]);
	}
}

void
handover_state_reader_fini(struct handover_state_reader *l)
{
	unsigned i;

	for (i = 0; i < l->service_count; i++) {
		free(l->services[i].servers);
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
