/* flow_table.c: which flows there are, in which order they were used, and when
 * they end. */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "net/sock.h"
#include "proxy/core/limits.h"
#include "proxy/core/proxy_datagram.h"
#include "proxy/datagram/flow_past.h"
#include "proxy/datagram/flow_private.h"
#include "proxy/log/sessionlog.h"

/* While BEHIND turns in a row could not empty the queue and new flows end
 * others, NEWCOMERS may come in a turn: what is known goes first. */
enum { CROWDED_MS = 1000, BEHIND = 32, NEWCOMERS = 4 };
/* The idlest flows are looked at when the first of them is due: not more often
 * than this, so that those that are due at about the same time end together,
 * and not less often than that, as settings change. */
enum { TICK_MIN_MS = 10, TICK_MAX_MS = 1000 };
/* Flows of a list that end in one look, so that many do not hold up the loop.
 */
enum { PORTION = 1000 };

/* ---- finding ---- */

static bool
flow_table_is_key(const struct hash_table_link *l, const void *key)
{
	const struct flow *w =
	    (const struct flow *)(const void *)((const char *)l -
		offsetof(struct flow, link));

	return memcmp(&w->key, key, sizeof(w->key)) == 0;
}

struct flow *
flow_find(const struct flows *fs, const struct arrival *a)
{
	struct hash_table_link *l =
	    hash_table_find(&fs->table, a->hash, flow_table_is_key, &a->key);

	return l != NULL ? list_entry(l, struct flow, link) : NULL;
}

/* ---- order ---- */

static struct list *
order_of(const struct flow *w)
{
	struct flows *fs = w->frontend->flows;

	return w->steady ? &fs->steady : &fs->young;
}

void
flow_touch(struct flow *w)
{
	w->active = loop_now(w->frontend->loop);
	list_remove(&w->order);
	list_append(order_of(w), &w->order);
}

static struct flow *
idlest(struct list *order)
{
	struct list *link = list_first(order);

	return link != NULL ? list_entry(link, struct flow, order) : NULL;
}

static bool
end_idlest(struct flows *fs, const struct flow *but, enum reason why)
{
	struct list *orders[] = { &fs->young, &fs->steady }, *link;
	int i;

	for (i = 0; i < 2; i++) {
		link = orders[i]->next;
		if (link != orders[i] &&
		    list_entry(link, struct flow, order) == but)
			link = link->next;
		if (link == orders[i])
			continue;
		flow_end(list_entry(link, struct flow, order), why);
		return true;
	}
	return false;
}

bool
flow_end_idlest(struct flows *fs, const struct flow *but)
{
	if (!end_idlest(fs, but, REASON_EVICTED))
		return false;
	fs->frontend->stats->flows.evicted++;
	fs->crowded_until = loop_now(fs->frontend->loop) + CROWDED_MS;
	return true;
}

/* ---- life ---- */

static void
flow_table_free_task(struct task *t)
{
	free(list_entry(t, struct flow, free_task));
}

void
flow_release(struct flow *w)
{
	struct frontend_core *f = w->frontend;

	flow_hang_up(w);
	if (w->server != NULL)
		pool_closed(f->pool, w->server, &w->who, &w->attempts, 0, 0);
	w->server = NULL;
}

void
flow_retire(struct flow *w)
{
	hash_table_remove(&w->frontend->flows->table, &w->link);
	w->retired = true;
}

/* A client behind a proxy is not the sender of its datagrams. */
static const struct peer *
sender_of(const struct flow *w, struct peer *sender)
{
	if (!proxy_datagrams(w->frontend))
		return NULL;
	peer_from_addr(sender, w->client);
	return memcmp(sender, &w->who, sizeof(*sender)) != 0 ? sender : NULL;
}

/* The address of the flow's server. If the server has other addresses by now,
 * only the socket knows it: then it is in `own`. */
static const struct addr *
flow_server_at(struct flow *w, struct addr *own)
{
	const struct server *s = w->server;

	if (s == NULL || s->addrs.count == 0)
		return NULL;
	if (flow_is_current(w))
		return &s->addrs.addr[w->address];
	return sock_peer_addr(w->fd, own) == 0 ? own : NULL;
}

/* The record of the flow for the log of sessions; `own` is memory for an
 * address in it. */
static struct session_record
record_of(struct flow *w, enum reason why, uint64_t now, struct addr *own)
{
	unsigned given = w->attempts.given;

	return (struct session_record){
		.reason = why,
		.client = &w->who,
		.port = addr_port(&w->listener->at),
		.service = w->frontend->service,
		.format = w->frontend->log_format,
		.session = w->number,
		.server = w->server,
		.server_at = flow_server_at(w, own),
		.up = w->up,
		.down = w->down,
		.is_flow = true,
		.datagrams_up = w->requests,
		.datagrams_down = w->responses,
		.first_ms = w->first_ms == 0 ? UINT64_MAX : w->first_ms - 1u,
		.total_ms = now - w->started,
		.failures = given > 0 && w->server != NULL ? given - 1 : given,
	};
}

static void
log_end(struct flow *w, struct sessionlog *g, enum reason why)
{
	uint64_t now = loop_now(w->frontend->loop);
	struct session_record r;
	struct addr server_at;
	struct peer sender;

	if (!sessionlog_wants(g, why, true, now))
		return;
	r = record_of(w, why, now, &server_at);
	r.sender = sender_of(w, &sender);
	sessionlog_put(g, &r);
}

void
flow_end(struct flow *w, enum reason why)
{
	struct frontend_core *f = w->frontend;
	struct flows *fs = f->flows;

	if (f->sessionlog != NULL)
		log_end(w, f->sessionlog, why);
	flow_release(w);
	if (w->client_source != NULL)
		source_remove_connection(&f->sources, w->client_source);
	flow_question_drop(&fs->questions, &w->question);
	free(w->client);
	w->client = NULL;
	list_remove(&w->order);
	if (!w->retired)
		hash_table_remove(&fs->table, &w->link);
	id_table_remove(&fs->ids, w->number);
	f->stats->flows.now--;
	list_init(&w->free_task.link);
	w->free_task.run = flow_table_free_task;
	loop_soon(f->loop, &w->free_task);
}

/* Counts turns in which the listener could not read all. A listener that has
 * read all ends only its own count. */
void
flow_turn_over(struct flows *fs, const struct listener *l, bool all)
{
	if (!all) {
		fs->behind++;
		fs->behind_at = l;
	} else if (fs->behind_at == l) {
		fs->behind = 0;
	}
}

enum flow_entry
flow_may_come(const struct flows *fs, const struct arrival *a)
{
	if (fs->frontend->draining)
		return FLOW_TOO_LATE;
	if (fs->frontend->limited && !limits_pass_flow(fs->frontend, &a->who))
		return FLOW_BEYOND_LIMIT;
	if (fs->behind < BEHIND || fs->newcomers < NEWCOMERS ||
	    fs->crowded_until <= loop_now(fs->frontend->loop))
		return FLOW_MAY_COME;
	return FLOW_CROWDED_OUT;
}

static void
start_tick(struct flows *fs, uint64_t ms)
{
	if (ms < TICK_MIN_MS)
		ms = TICK_MIN_MS;
	(void)timer_start(fs->frontend->loop, &fs->tick,
	    ms < TICK_MAX_MS ? ms : TICK_MAX_MS);
}

static void
enter_source(struct flow *w)
{
	struct frontend_core *f = w->frontend;

	w->client_source = limits_source(f, &w->who);
	if (w->client_source != NULL)
		source_add_connection(&f->sources, w->client_source);
}

struct flow *
flow_new(struct flows *fs, const struct arrival *a)
{
	struct frontend_core *f = fs->frontend;
	const struct dgram *d = a->dgram;
	char client[PEER_TEXT_MAX];
	struct flow *w;

	fs->newcomers++;
	w = memory_zeroed(sizeof(*w));
	if (w == NULL)
		return NULL;
	w->client = memory_zeroed(addr_size(&d->from));
	if (w->client == NULL || id_table_add(&fs->ids, w, &w->number) < 0) {
		free(w->client);
		free(w);
		return NULL;
	}
	memcpy(w->client, &d->from, addr_size(&d->from));
	while (f->stats->flows.now >= f->options.sessions_max &&
	    flow_end_idlest(fs, NULL))
		;
	w->key = a->key;
	w->frontend = f;
	w->listener = a->listener;
	w->local = d->local;
	w->who = a->who;
	if (f->limited)
		enter_source(w);
	w->fd = -1;
	w->started = w->active = loop_now(f->loop);
	watch_init(&w->watch);
	list_append(&fs->young, &w->order);
	hash_table_add(&fs->table, &w->link, a->hash);
	f->stats->flows.opened++;
	if (++f->stats->flows.now > f->stats->flows.peak)
		f->stats->flows.peak = f->stats->flows.now;
	if (f->stats->flows.now == 1)
		start_tick(fs, f->options.udp.timeout_ms);
	log_debug("flow begins flow=%u client=%s port=%u", w->number,
	    peer_format(&w->who, client), addr_port(&w->listener->at));
	return w;
}

/* ---- time ---- */

/* Ends those of a list that are due. Returns in how many ms the next one is. */
static uint64_t
end_expired(struct flows *fs, struct list *order, uint64_t limit)
{
	uint64_t now = loop_now(fs->frontend->loop);
	struct flow *w;
	int i;

	if (limit == 0)
		return TICK_MAX_MS;
	for (i = 0; (w = idlest(order)) != NULL && now - w->active >= limit;
	     i++) {
		if (i == PORTION)
			return 0;
		flow_end(w, REASON_IDLE_TIMEOUT);
	}
	return w != NULL ? w->active + limit - now : TICK_MAX_MS;
}

static void
flow_table_on_tick(struct timer *t)
{
	struct flows *fs = list_entry(t, struct flows, tick);
	struct frontend_core *f = fs->frontend;
	uint64_t limit = f->options.udp.timeout_ms;
	uint64_t young = end_expired(fs, &fs->young, limit);
	uint64_t steady = end_expired(fs, &fs->steady, limit);

	if (f->stats->flows.now > 0)
		start_tick(fs, young < steady ? young : steady);
}

/* ---- all ---- */

int
flows_init(struct flows *fs, struct frontend_core *f)
{
	memset(fs, 0, sizeof(*fs));
	fs->frontend = f;
	list_init(&fs->young);
	list_init(&fs->steady);
	id_table_init(&fs->ids);
	flow_questions_init(&fs->questions);
	timer_init(&fs->tick, flow_table_on_tick);
	if (!f->options.udp.on)
		return 0;
	fs->batch = dgram_batch_new(f->share.scratch);
	if (fs->batch == NULL || hash_table_init(&fs->table) < 0 ||
	    flow_sources_init(fs) < 0)
		return -1;
	return 0;
}

void
flows_fini(struct flows *fs)
{
	while (end_idlest(fs, NULL, REASON_STOPPED))
		;
	timer_fini(&fs->tick);
	hash_table_fini(&fs->table);
	free(fs->batch);
	id_table_fini(&fs->ids);
	flow_sources_fini(fs);
	flow_questions_fini(&fs->questions);
	free(fs->servers);
}

void
flows_drop_listener(struct flows *fs, const struct listener *l)
{
	struct list *orders[] = { &fs->young, &fs->steady }, *link, *next;
	int i;

	flow_turn_over(fs, l, true);
	for (i = 0; i < 2; i++)
		for (link = orders[i]->next; link != orders[i]; link = next) {
			struct flow *w = list_entry(link, struct flow, order);

			next = link->next;
			if (w->listener == l)
				flow_end(w, REASON_STOPPED);
		}
}

void
flows_adjust(struct flows *fs)
{
	struct frontend_core *f = fs->frontend;

	if (f->options.udp.on && flow_sources_adjust(fs) < 0)
		log_error("sources not changed error=\"out of memory\"");
	while (f->stats->flows.now > f->options.sessions_max &&
	    flow_end_idlest(fs, NULL))
		;
}

/* ---- for control ---- */

bool
flows_find(const struct flows *fs, uint64_t number, struct flow_info *info)
{
	const struct id_table *n = &fs->ids;
	const struct flow *w = number < n->end ? n->entry[number] : NULL;
	uint64_t now = loop_now(fs->frontend->loop);

	if (w == NULL)
		return false;
	*info = (struct flow_info){
		.number = w->number,
		.client = w->who,
		.server = w->server,
		.fd = w->fd,
		.requests = w->requests,
		.responses = w->responses,
		.up = w->up,
		.down = w->down,
		.age_ms = now - w->started,
		.idle_ms = now - w->active,
	};
	return true;
}

bool
flows_next(const struct flows *fs, uint64_t from, struct flow_info *info)
{
	for (; from < fs->ids.end; from++)
		if (flows_find(fs, from, info))
			return true;
	return false;
}

/* ---- flows of another process ---- */

/* Begins a flow that an older process had, with the same client and server.
 * NULL: a newer flow has its place, or no more may come. */
static struct flow *
restore_flow(struct flows *fs, struct listener *l, const struct flow_past *past,
    struct server *server)
{
	struct attempts attempts = { .proven = past->steady };
	struct dgram from = { .from = past->client, .local = past->local };
	struct arrival a;

	/* older versions got it at any socket (dgram_prepare()) */
	if (!addr_is_any(&l->at))
		from.local = (struct dgram_local){ .family = 0 };
	flow_meet(fs, &a, l, &from);
	if (flow_find(fs, &a) != NULL || flow_may_come(fs, &a) != FLOW_MAY_COME)
		return NULL;
	return flow_begin(fs, &a, NULL, server, &attempts);
}

bool
flow_import(struct flows *fs, struct listener *l, const struct flow_past *past,
    struct server *server)
{
	struct flow *w = restore_flow(fs, l, past, server);

	if (w == NULL) {
		if (past->has_socket)
			close(past->fd);
		return false;
	}
	w->steady = past->steady;
	flow_touch(w);
	if (past->has_socket)
		flow_import_socket(w, past);
	return true;
}

static void
flow_table_describe(const struct flow *w, struct flow_past *past)
{
	memset(past, 0, sizeof(*past));
	memcpy(&past->client, w->client, addr_size(w->client));
	past->listener = w->listener->at;
	past->local = w->local;
	past->server = w->server;
	past->steady = w->steady;
	past->introduced = w->introduced;
	past->coalescing = w->coalescing;
	past->answered = w->answered;
	past->requests = w->requests;
	past->responses = w->responses;
}

bool
flows_export(
    const struct flows *fs, uint64_t *from, bool socket, struct flow_past *past)
{
	const struct id_table *ids = &fs->ids;
	struct flow *w;

	if (fs->frontend->options.udp.each || proxy_datagrams(fs->frontend))
		return false;
	while (*from < ids->end) {
		w = ids->entry[(*from)++];
		if (w == NULL)
			continue;
		w->passed = false;
		if (w->server == NULL || w->retired || !flow_is_current(w))
			continue;
		flow_table_describe(w, past);
		if (socket && w->fd >= 0)
			past->fd = fcntl(w->fd, F_DUPFD_CLOEXEC, 0);
		w->passed = past->has_socket =
		    socket && w->fd >= 0 && past->fd >= 0;
		return true;
	}
	return false;
}

void
flows_pass(struct flows *fs)
{
	uint64_t i;

	for (i = 0; i < fs->ids.end; i++) {
		struct flow *w = fs->ids.entry[i];

		if (w != NULL && w->passed)
			flow_end(w, REASON_STOPPED);
	}
}
