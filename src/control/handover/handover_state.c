/* handover_state.c: the state of the program, as records. */
#include "config.h"

#include <stddef.h>
#include <string.h>

#include "control/apply/tls_config.h"
#include "control/handover/handover_parts.h"
#include "control/life/context.h"
#include "net/sock.h"
#include "control/report/counters.h"
#include "dsr/director/director.h"
#include "proxy/log/reason.h"

/* The parts in the order in which they are written, each of all services:
 * clients and flows name servers. */
enum {
	PART_SERVERS,
	PART_COUNTERS,
	PART_KEYS,
	PART_CLIENTS,
	PART_DSR_FLOWS,
	PART_FLOWS,
	PART_DSR_TABLE,
	PART_END
};

/* Things in a piece: some ten kilobytes. */
enum { SERVERS = 50, CLIENTS = 250, FLOWS = HANDOVER_FLOWS_MOST };

void
handover_state_writer_init(struct handover_state_writer *l, const struct pen *p)
{
	*l = (struct handover_state_writer){ .pen = p,
		.service = p->service,
		.named = p->service,
		.part = PART_SERVERS };
}

void
handover_state_writer_init_worker(
    struct handover_state_writer *l, const struct pen *p)
{
	*l = (struct handover_state_writer){ .pen = p,
		.of_worker = true,
		.begun = true,
		.service = p->service,
		.part = PART_CLIENTS };
}

/* Whether the service may have something to write. While flows are written no
 * process accepts: those that have none do not delay it. */
static bool
has_part(const struct service *svc, unsigned part)
{
	if (part == PART_DSR_FLOWS || part == PART_DSR_TABLE)
		return svc->director != NULL;
	return part != PART_FLOWS ||
	    frontend_stats(svc->frontend)->flows.now > 0;
}

/* The next service with such a part. One that is being removed keeps its
 * clients here, and may be freed at any time. */
static const struct service *
next_service(const struct service *svc, unsigned part)
{
	do
		svc = svc->next;
	while (svc != NULL && (svc->leaves || !has_part(svc, part)));
	return svc;
}

/* Peers get the client table; so do workers, which have the rest from their
 * leader, and no director. */
static bool
is_part_of(const struct handover_state_writer *l, unsigned part)
{
	if (l->of_worker)
		return part == PART_CLIENTS || part == PART_FLOWS ||
		    part == PART_END;
	if (part == PART_DSR_FLOWS)
		return l->to_peer && !l->servers_only;
	if (part == PART_DSR_TABLE && l->pen->service->director == NULL &&
	    next_service(l->pen->service, part) == NULL)
		return false;
	return !l->to_peer || part == PART_END ||
	    (part == PART_CLIENTS && !l->servers_only);
}

/* The same part of the next service, or the next part. */
static void
next_part(struct handover_state_writer *l)
{
	l->at = 0;
	l->service = next_service(l->service, l->part);
	if (l->service != NULL)
		return;
	l->service = l->pen->service;
	do
		l->part++;
	while (!is_part_of(l, l->part));
}

/* The first one is meant until another one is named. */
static void
write_service(struct handover_state_writer *l, struct handover_writer *w,
    const struct service *svc)
{
	if (svc == l->named)
		return;
	handover_open(w, HANDOVER_SERVICE);
	handover_add_text(w, svc->name);
	handover_close(w);
	l->named = svc;
}

/* ---- servers ---- */

/* A mark of a peer is not reported to peers. */
static enum server_admin
admin_of(const struct handover_state_writer *l, const struct server *s)
{
	return l->to_peer && s->mark.peer != 0 && !s->mark.overruled
	    ? SERVER_ENABLED
	    : s->admin;
}

/* Writes the end of a server's record: its MAC with direct server return, or
 * zeros; why it is down, if its state hides that; and the responses of one that
 * talks HTTP. */
static void
write_rest(const struct handover_state_writer *l, struct handover_writer *w,
    const struct server *s)
{
	struct director_path path = { .has_mac = false };
	bool has_fault =
	    server_state(s) == SERVER_MAINT || server_state(s) == SERVER_DRAIN;
	bool has_http = l->service->plan->config->frontend.http.on;

	if (l->to_peer)
		return;
	if (l->service->director != NULL)
		director_path(l->service->director, s, &path);
	has_fault = has_fault && server_fault(s)[0] != '\0';
	if (!path.has_mac)
		memset(&path.mac, 0, sizeof(path.mac));
	if (path.has_mac || has_fault || has_http)
		handover_add(w, path.mac.byte, sizeof(path.mac.byte));
	if (has_fault || has_http)
		handover_add_text(w, has_fault ? server_fault(s) : "");
	if (has_http)
		handover_servers_put_http(w, s->counters->http);
}

/* Writes a server. With direct server return also one that was removed, as it
 * may have flows. */
static void
write_server(const struct handover_state_writer *l, struct handover_writer *w,
    const struct server *s)
{
	uint64_t now = loop_now(l->pen->loop);
	struct server_elsewhere e;

	if (s->addrs.count == 0 ||
	    (!s->present && (l->to_peer || l->service->director == NULL)))
		return;
	pool_describe(s, &e, now);
	e.admin = admin_of(l, s);
	handover_open(w, HANDOVER_SERVER);
	handover_add_number(w, s->slot, 4);
	handover_add_addr(w, &s->addrs.addr[s->addr_first]);
	handover_servers_put(w, &e, now);
	write_rest(l, w, s);
	handover_close(w);
}

static bool
write_servers(struct handover_state_writer *l, struct handover_writer *w)
{
	const struct pool *pool = l->service->pool;
	unsigned i;

	for (i = 0; i < SERVERS && l->at < pool_slots(pool); i++, l->at++)
		write_server(l, w, pool_slot(pool, (unsigned)l->at));
	return l->at < pool_slots(pool);
}

/* ---- counters ---- */

/* Those of the frontend, by number; of an array the names of its items. */
const char *
handover_state_counter(unsigned i, size_t *offset)
{
	const struct counter *c;
	unsigned row;

	for (row = 0; (c = counter_at(row)) != NULL; row++) {
		unsigned n = c->count > 0 ? c->count : 1;

		if (c->source != COUNTER_FRONTEND)
			continue;
		if (i < n) {
			*offset = c->offset + i * c->stride;
			return c->item != NULL ? c->item(i) : c->name;
		}
		i -= n;
	}
	return NULL;
}

static bool
write_counters(struct handover_state_writer *l, struct handover_writer *w)
{
	const struct frontend_stats *st = frontend_stats(l->service->frontend);
	const char *name;
	size_t offset;
	unsigned i;

	for (i = 0; (name = handover_state_counter(i, &offset)) != NULL; i++) {
		handover_open(w, HANDOVER_COUNTER);
		handover_add_text(w, name);
		handover_add_number(w,
		    *(const uint64_t *)(const void *)((const char *)st +
			offset),
		    8);
		handover_close(w);
	}
	return false;
}

/* ---- TLS ---- */

/* Clients resume their sessions with the new process, too. */
static bool
write_keys(struct handover_state_writer *l, struct handover_writer *w)
{
	const struct tls_server *t = l->service->tls_config->server;
	unsigned char keys[TLS_KEYS_BYTES];
	size_t n = t != NULL ? tls_server_export_keys(t, keys) : 0;

	if (n > 0) {
		handover_open(w, HANDOVER_TLS_KEYS);
		handover_add(w, keys, n);
		handover_close(w);
		tls_wipe(keys, n);
	}
	return false;
}

/* ---- clients ---- */

static void
write_client(struct handover_state_writer *l, struct handover_writer *w,
    const struct sticky_client *c, uint64_t now)
{
	l->clients += l->to_peer;
	handover_add(w, c->ip, sizeof(c->ip));
	handover_add_number(w, c->scope, 2);
	handover_add_number(w, c->family, 1);
	handover_add_number(w, c->proven | c->reported << 1, 1);
	handover_add_number(w, server_slot(c->server), 4);
	handover_add_number(w, now > c->seen ? now - c->seen : 0, 8);
	handover_add_number(w, c->connects, 4);
	handover_add_number(w, c->sent, 8);
	handover_add_number(w, c->received, 8);
}

/* Whether a client is written: to peers only proven ones, and none that a peer
 * has reported. */
static bool
is_wanted(
    const struct handover_state_writer *l, const struct sticky_client *c)
{
	return !l->to_peer || (c->proven && !c->reported);
}

static bool
write_clients(struct handover_state_writer *l, struct handover_writer *w)
{
	const struct sticky *sticky = pool_sticky(l->service->pool);
	size_t count = sticky != NULL ? sticky_count(sticky) : 0;
	uint64_t now = loop_now(l->pen->loop);
	const struct sticky_client *c;
	unsigned i;

	if (l->at >= count)
		return false;
	handover_open(w, HANDOVER_CLIENTS);
	for (i = 0; i < CLIENTS && l->at < count; i++) {
		c = sticky_at(sticky, (size_t)l->at++);
		if (is_wanted(l, c))
			write_client(l, w, c, now);
	}
	handover_close(w);
	return l->at < count;
}

static void
write_changed_client(struct handover_state_writer *l,
    struct handover_writer *w, const struct handover_change *c)
{
	const struct sticky *sticky = pool_sticky(c->service->pool);

	/* it may be forgotten since */
	if (sticky != NULL && c->at < sticky_count(sticky) &&
	    is_wanted(l, sticky_at(sticky, c->at)))
		write_client(l, w, sticky_at(sticky, c->at),
		    loop_now(l->pen->loop));
}

/* ---- changes ---- */

/* How many of the list, at most `n`, are of the same kind and service. */
static size_t
count_same(const struct handover_change *list, size_t n)
{
	size_t i;

	for (i = 1; i < n && i < CLIENTS; i++)
		if (list[i].service != list->service ||
		    list[i].kind != list->kind)
			break;
	return i;
}

static void
write_change(struct handover_state_writer *l, struct handover_writer *w,
    const struct handover_change *c)
{
	const struct server *s;

	switch (c->kind) {
	case HANDOVER_OF_CLIENT:
		write_changed_client(l, w, c);
		break;
	case HANDOVER_OF_FLOW:
		handover_dsr_write_change(l, w, c);
		break;
	case HANDOVER_OF_SERVER: /* a record of its own */
		s = pool_slot(c->service->pool, c->at);
		if (s != NULL)
			write_server(l, w, s);
		break;
	}
}

size_t
handover_state_write_changes(struct handover_state_writer *l,
    const struct handover_change *list, size_t n, struct buffer *out)
{
	bool servers = list->kind == HANDOVER_OF_SERVER;
	struct handover_writer w;
	size_t i;

	n = count_same(list, n);
	handover_go_on(&w, out);
	write_service(l, &w, list->service);
	if (!servers)
		handover_open(&w,
		    list->kind == HANDOVER_OF_FLOW ? HANDOVER_DSR_FLOWS
						   : HANDOVER_CLIENTS);
	for (i = 0; i < n; i++)
		write_change(l, &w, &list[i]);
	if (!servers)
		handover_close(&w);
	return w.failed ? 0 : n;
}

/* ---- flows ---- */

static void
write_flow(struct handover_writer *w, const struct flow_past *past)
{
	handover_add_addr(w, &past->client);
	handover_add_addr(w, &past->listener);
	handover_add(w, past->local.ip, sizeof(past->local.ip));
	handover_add_number(w, past->local.interface, 4);
	handover_add_number(w, past->local.family, 2);
	handover_add_number(w, past->server->slot, 4);
	handover_add_number(w, past->steady, 1);
}

/* What a reader that takes no sockets skips. */
static void
write_flow_sockets(struct handover_state_writer *l, struct handover_writer *w,
    struct flow_past *past, unsigned count)
{
	unsigned i;

	handover_open(w, HANDOVER_FLOW_SOCKETS);
	for (i = 0; i < count; i++) {
		if (!past[i].has_socket)
			continue;
		handover_add_number(w, i, 2);
		handover_add_number(w, sock_inode(past[i].fd), 8);
		handover_add_number(w,
		    past[i].introduced | past[i].coalescing << 1 |
			past[i].answered << 2,
		    1);
		handover_add_number(w, past[i].requests, 8);
		handover_add_number(w, past[i].responses, 8);
		passed_add(l->sockets, past[i].fd);
		l->sockets_left--;
	}
	handover_close(w);
}

static bool
write_flows(struct handover_state_writer *l, struct handover_writer *w)
{
	struct flow_past past[FLOWS];
	unsigned n = 0, i;

	while (n < FLOWS &&
	    flows_export(frontend_flows(l->service->frontend), &l->at,
		l->sockets != NULL && l->sockets_left > n, &past[n]))
		n++;
	if (l->sockets != NULL)
		write_flow_sockets(l, w, past, n);
	handover_open(w, HANDOVER_FLOWS);
	for (i = 0; i < n; i++)
		write_flow(w, &past[i]);
	handover_close(w);
	return n == FLOWS;
}

/* ---- all ---- */

void
handover_state_write_again(struct handover_state_writer *l, bool clients)
{
	l->servers_only = !clients && l->part == PART_END;
	l->service = l->named = l->pen->service;
	l->part = PART_SERVERS;
	l->at = 0;
	l->again = l->begun;
}

void
handover_state_write_flows_again(struct handover_state_writer *l)
{
	l->service = l->pen->service;
	l->part = PART_DSR_FLOWS;
	l->at = 0;
}

bool
handover_state_is_named(const struct handover_state_writer *l)
{
	return l->part != PART_SERVERS;
}

/* Writes the header before the first record. If all is written once more, a
 * record states that the earlier ones are void. */
static void
write_begin(struct handover_state_writer *l, struct handover_writer *w)
{
	if (!l->begun)
		handover_begin(w, w->out);
	if (l->again) {
		handover_open(w, HANDOVER_AGAIN);
		handover_close(w);
	}
	l->begun = true;
	l->again = false;
}

/* Each writes a piece of its part; returns whether there are more. */
static bool (*const writers[])(
    struct handover_state_writer *l, struct handover_writer *w) = {
	[PART_SERVERS] = write_servers,
	[PART_COUNTERS] = write_counters,
	[PART_KEYS] = write_keys,
	[PART_CLIENTS] = write_clients,
	[PART_DSR_FLOWS] = handover_dsr_write_flows,
	[PART_FLOWS] = write_flows,
	[PART_DSR_TABLE] = handover_dsr_write_table,
};

static int
write_piece(struct handover_state_writer *l, struct buffer *out, unsigned end)
{
	struct handover_writer w;

	handover_go_on(&w, out);
	write_begin(l, &w);
	write_service(l, &w, l->service);
	if (l->part < PART_END && !writers[l->part](l, &w))
		next_part(l);
	if (l->part == PART_END && end == PART_END && !l->of_worker) {
		handover_open(&w, HANDOVER_END);
		handover_close(&w);
	}
	return w.failed ? -1 : l->part < end;
}

int
handover_state_write(struct handover_state_writer *l, struct buffer *out)
{
	return write_piece(l, out, PART_FLOWS);
}

int
handover_state_write_flows(struct handover_state_writer *l, struct buffer *out)
{
	return write_piece(l, out, PART_END);
}
