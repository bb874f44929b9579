/* peers.c: see peers.h; the settings come into force here. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "control/answer/fields.h"
#include "control/apply/apply.h"
#include "control/apply/services.h"
#include "control/peers/peer_marks.h"
#include "control/peers/peer_port.h"
#include "control/peers/peer_sender.h"
#include "control/peers/peers.h"
#include "control/plan/origin.h"
#include "dsr/director/director.h"
#include "net/sock_try.h"

/* How often changes are sent. */
enum { TICK_MS = 100 };

struct peers {
	struct pen *pen;
	struct timer timer;
	bool started;
	bool freebind; /* of the draft: for its ports */
	struct list senders, ports;
	struct list new_senders, new_ports; /* of the draft */
	struct peer_marks marks; /* of peers */
	struct peer_changes changes;
};

static struct peer_sender *
sender_at(struct list *at)
{
	return list_entry(at, struct peer_sender, link);
}

static struct peer_port *
port_at(struct list *at)
{
	return list_entry(at, struct peer_port, link);
}

/* For a walk in which the entry may go. */
#define EACH(at, after, head)                                             \
	for ((at) = (head)->next; (after) = (at)->next, (at) != (head); \
	     (at) = (after))

/* ---- changes ---- */

static void
note(const struct service *svc, uint32_t at, enum handover_kind kind)
{
	struct peers *s = svc->pen->peers;

	if (s != NULL && !svc->leaves)
		s->changes.list[s->changes.head++ % PEER_CHANGES] =
		    (struct handover_change){ svc, at, kind };
}

/* A proven client of the service has changed. */
static void
on_client(void *arg, uint32_t position)
{
	note(arg, position, HANDOVER_OF_CLIENT);
}

static void
on_flow(void *arg, uint32_t number)
{
	note(arg, number, HANDOVER_OF_FLOW);
}

/* Whether it is the address of a port of this host: all hosts may have the same
 * file. */
static bool
is_self(struct peers *s, const struct addr *peer)
{
	struct list *at, *next;
	const struct addr *port;

	EACH (at, next, &s->ports) {
		port = &port_at(at)->spec.at;
		if (addr_port(port) == addr_port(peer) &&
		    (addr_is_any(port) || addr_equal(port, peer)))
			return sock_is_local(peer);
	}
	return false;
}

static void
peers_on_time(struct timer *t)
{
	struct peers *s = container_of(t, struct peers, timer);
	struct list *at, *next;

	EACH (at, next, &s->senders) {
		if (peer_sender_is_due(sender_at(at)))
			peer_sender_connect(sender_at(at),
			    is_self(s, &sender_at(at)->spec.at));
		peer_sender_tick(sender_at(at));
	}
	EACH (at, next, &s->ports)
		peer_port_tick(port_at(at));
	if (s->marks.count > 0)
		peer_marks_set(&s->marks);
	(void)timer_start(s->pen->loop, t, TICK_MS);
}

/* All connections begin again, as servers have changed; with `services` because
 * the list of services has: then the marks of peers are void, and clients are
 * sent again. */
static void
restart_links(struct peers *s, bool services)
{
	struct list *at, *next;

	if (services)
		peer_marks_clear(&s->marks);
	EACH (at, next, &s->senders)
		peer_sender_begin_again(sender_at(at), services);
	EACH (at, next, &s->ports)
		peer_port_begin_again(port_at(at));
}

/* ---- life ---- */

static struct peers *
peers_new(struct pen *p)
{
	struct peers *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->pen = p;
	list_init(&s->senders);
	list_init(&s->ports);
	list_init(&s->new_senders);
	list_init(&s->new_ports);
	timer_init(&s->timer, peers_on_time);
	return s;
}

static void
free_lists(struct list *senders, struct list *ports)
{
	while (!list_is_empty(senders))
		peer_sender_free(sender_at(list_first(senders)));
	while (!list_is_empty(ports))
		peer_port_free(port_at(list_first(ports)));
}

void
peers_free(struct peers *s)
{
	if (s == NULL)
		return;
	timer_fini(&s->timer);
	free_lists(&s->senders, &s->ports);
	peer_marks_fini(&s->marks);
	free(s);
}

void
peers_start(struct peers *s)
{
	struct list *at, *next;

	if (s == NULL)
		return;
	EACH (at, next, &s->ports)
		peer_port_start(port_at(at));
	if (!s->started)
		(void)timer_start(s->pen->loop, &s->timer, TICK_MS);
	s->started = true;
}

void
peers_stop(struct peers *s)
{
	struct list *at, *next;

	if (s == NULL)
		return;
	timer_stop(&s->timer);
	EACH (at, next, &s->senders)
		peer_sender_stop(sender_at(at));
}

/* ---- the settings ---- */

static bool
are_wanted(const struct process_plan *p)
{
	return p->peers != NULL || p->peer_listen != NULL;
}

static bool
is_equal(const struct peer_spec *a, const struct peer_spec *b)
{
	return addr_equal(&a->at, &b->at) && strcmp(a->file, b->file) == 0;
}

static bool
is_in(const char *list, const struct peer_spec *wanted)
{
	struct peer_spec p;

	while (peer_spec_next(&list, &p))
		if (is_equal(&p, wanted))
			return true;
	return false;
}

static int
add_sender(struct peers *s, const struct peer_spec *p, struct error *e)
{
	struct peer_sender *new =
	    peer_sender_new(s->pen, p, &s->changes, e);

	if (new == NULL)
		return -1;
	list_append(&s->new_senders, &new->link);
	return 0;
}

/* Marks the ports that are not in the list, which are to be closed; a port with
 * another key is another one. */
static void
mark_ports(struct peers *s, const char *list)
{
	struct list *at, *next;

	EACH (at, next, &s->ports)
		port_at(at)->listener.goes = !is_in(list, &port_at(at)->spec);
}

static int
add_port(struct peers *s, const struct peer_spec *p, struct error *e)
{
	struct peer_port *new =
	    peer_port_new(s->pen, p, s->freebind, &s->marks, &s->senders, e);
	if (new == NULL)
		return -1;
	list_append(&s->new_ports, &new->link);
	return 0;
}

/* Adds the peers or ports of `list` that `now`, the same setting of the running
 * plan, does not have. */
static int
add_new(struct peers *s, const char *list, const char *now,
    int (*add)(struct peers *s, const struct peer_spec *p, struct error *e),
    struct error *e)
{
	struct peer_spec p;

	while (peer_spec_next(&list, &p))
		if (!is_in(now, &p) && add(s, &p, e) < 0)
			return -1;
	return 0;
}

int
peers_check(struct apply_all *a, struct error *e)
{
	if (!are_wanted(a->draft->process) || a->draft->process->workers == 1)
		return 0;
	return error_set(e,
	    "peers have one process: workers must be 1 with peer or "
	    "peer_listen");
}

static int
make_peers(struct pen *p, struct error *e)
{
	if (p->peers == NULL)
		p->peers = peers_new(p);
	if (p->tls_memory == NULL)
		p->tls_memory = tls_memory_new();
	return p->peers != NULL && p->tls_memory != NULL
	    ? 0
	    : error_set(e, "out of memory");
}

/* Whether a slot gets, or loses, a server or addresses. */
static bool
will_servers_move(const struct apply *a)
{
	const struct change *c;
	const struct server *s;
	size_t i;

	for (i = 0; i < a->servers.count; i++) {
		c = &a->servers.list[i];
		s = pool_slot(a->service->pool, c->slot);
		if (s == NULL || !server_has_addrs(s, &c->addrs))
			return true;
	}
	return false;
}

int
peers_prepare(struct apply_all *a, struct error *e)
{
	const struct process_plan *now = a->now->process,
				  *new = a->draft->process;
	struct peers *s;

	if (a->pen->peers != NULL)
		mark_ports(a->pen->peers, new->peer_listen);
	if (!are_wanted(new))
		return 0;
	if (make_peers(a->pen, e) < 0)
		return -1;
	s = a->pen->peers;
	s->freebind = a->draft->config->frontend.freebind;
	if (add_new(s, new->peers, a->first ? NULL : now->peers, add_sender,
		e) < 0) {
		origin_add(a->draft, "peer", e);
	} else if (add_new(s, new->peer_listen,
		       a->first ? NULL : now->peer_listen, add_port, e) < 0) {
		origin_add(a->draft, "peer_listen", e);
	} else {
		return 0;
	}
	peers_cancel(a);
	return -1;
}

int
peers_prepare_service(struct apply *a, struct error *e)
{
	(void)e;
	a->servers_move = a->pen->peers != NULL && will_servers_move(a);
	return 0;
}

void
peers_cancel(struct apply_all *a)
{
	struct peers *s = a->pen->peers;

	if (s == NULL)
		return;
	free_lists(&s->new_senders, &s->new_ports);
	mark_ports(s, a->now->process->peer_listen);
}

static void
commit_lists(struct peers *s, const struct process_plan *c)
{
	struct list *at, *next;

	EACH (at, next, &s->senders)
		if (!is_in(c->peers, &sender_at(at)->spec))
			peer_sender_free(sender_at(at));
	EACH (at, next, &s->ports)
		if (!is_in(c->peer_listen, &port_at(at)->spec))
			peer_port_free(port_at(at));
	list_move_all(&s->senders, &s->new_senders);
	list_move_all(&s->ports, &s->new_ports);
}

/* From now on changes of the service's clients and flows are noted for the
 * peers; without `on` no longer. */
static void
note_changes_of(struct service *svc, bool on)
{
	pool_on_client(svc->pool, on ? on_client : NULL, svc);
	if (svc->director != NULL)
		director_on_flow(svc->director, on ? on_flow : NULL, svc);
}

/* Sends the peers the state of servers that the operator has changed. */
static void
note_servers(struct apply *a)
{
	struct server *s;
	size_t i;

	for (i = 0; i < a->servers.count; i++) {
		s = pool_slot(a->service->pool, a->servers.list[i].slot);
		if (s == NULL)
			continue;
		peer_marks_note_change(s);
		note(a->service, s->slot, HANDOVER_OF_SERVER);
	}
}

void
peers_refresh(struct peers *s)
{
	struct list *at, *next;

	if (s == NULL || s->pen->plan->process->run.directory != NULL)
		return; /* in another root the path means another file */
	EACH (at, next, &s->senders)
		peer_sender_refresh(sender_at(at));
	EACH (at, next, &s->ports)
		peer_port_refresh(port_at(at));
}

void
peers_commit(struct apply_all *a)
{
	struct peers *s = a->pen->peers;
	struct service *svc;

	if (s == NULL)
		return;
	SERVICE_EACH (a->pen, svc)
		if (!svc->leaves)
			note_changes_of(svc, a->draft->process->peers != NULL);
	if (a->leaves)
		restart_links(s, true);
	commit_lists(s, a->draft->process);
	if (!a->first && (a->changed & CHANGED_ANEW))
		peers_refresh(s);
	if (a->pen->phase == PHASE_SERVING)
		peers_start(s);
}

void
peers_commit_service(struct apply *a)
{
	struct peers *s = a->pen->peers;

	if (s == NULL)
		return;
	note_changes_of(a->service, a->draft->process->peers != NULL);
	if (a->new || a->servers_move)
		restart_links(s, a->new);
	if (!s->marks.setting)
		note_servers(a);
}

/* ---- reports ---- */

static void
report_sender(const struct peer_sender *s, struct reply *r)
{
	bool open = s->conn.state == PEER_LINK_OPEN;
	char at[ADDR_TEXT_MAX];
	struct fields f;

	fields_begin(&f, r, FIELDS_LINE);
	fields_text(&f, "peer", addr_format(&s->spec.at, at));
	fields_text(&f, "direction", "to");
	fields_text(&f, "state", peer_sender_state(s));
	fields_number(&f, "clients", s->writer.clients);
	fields_number(&f, "flows", s->writer.flows);
	fields_number(
	    &f, "pending", open ? s->changes->head - s->next : 0);
	fields_number(&f, "lost", s->lost);
	fields_number(&f, "lag_ms", s->lag_ms);
	fields_end(&f);
}

static void
report_receiver(const struct peer_receiver *in, struct reply *r)
{
	uint64_t now = loop_now(in->conn.loop);
	char who[PEER_TEXT_MAX];
	struct fields f;

	fields_begin(&f, r, FIELDS_LINE);
	fields_text(&f, "peer", peer_format(&in->who, who));
	fields_text(&f, "direction", "from");
	fields_text(&f, "state",
	    in->conn.state == PEER_LINK_OPEN ? "connected" : "connecting");
	fields_number(&f, "clients", in->reported);
	fields_number(&f, "new", in->new);
	fields_number(&f, "flows", in->flows);
	fields_number(&f, "idle_ms", now - in->conn.moved_ms);
	fields_end(&f);
}

void
peers_report(struct peers *s, struct reply *r)
{
	struct list *at, *next, *in, *after;

	fields_list_begin(r);
	if (s != NULL) {
		EACH (at, next, &s->senders)
			report_sender(sender_at(at), r);
		EACH (at, next, &s->ports)
			EACH (in, after, &port_at(at)->receivers)
				report_receiver(list_entry(in,
						    struct peer_receiver, link),
				    r);
	}
	fields_list_end(r);
}
