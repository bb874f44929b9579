/* peer_port.c: see peer_port.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "control/life/context.h"
#include "control/peers/peer_port.h"
#include "control/peers/peer_sender.h"

/* Connections to one port. Hosts without the key may connect, too: above this
 * number the connection that has been handshaking longest is closed. */
enum { RECEIVERS_MAX = 2 * PEERS_MAX };
/* Bytes of answers that a peer may leave unread. */
enum { ANSWERS_MAX = 4096 };

/* Of refusals; each is counted. */
static const struct rate_limit lines = { .count = 1, .period_ms = 60000 };

static struct peer_receiver *
receiver_of(struct peer_link *l)
{
	return container_of(l, struct peer_receiver, conn);
}

/* ---- a peer ---- */

/* Ignores the records of the receiver until it begins again. */
static void
peer_receiver_ignore(struct peer_receiver *r)
{
	handover_state_reader_fini(&r->reader);
	memset(&r->reader, 0, sizeof(r->reader));
	r->reader.from_peer = true;
}

static void
peer_receiver_on_free(struct task *t)
{
	struct peer_link *l = container_of(t, struct peer_link, turn);

	free(receiver_of(l));
}

static void
peer_receiver_free(struct peer_receiver *r, bool was_open)
{
	struct pen *p = r->port->pen;

	p->peer_stats.receivers -= was_open;
	r->port->count--;
	peer_link_fini(&r->conn);
	handover_state_reader_fini(&r->reader);
	list_remove(&r->link);
	r->conn.turn.run = peer_receiver_on_free;
	loop_soon(p->loop, &r->conn.turn);
}

static void
on_server(void *arg, struct service *svc, struct server *s,
    enum server_admin admin)
{
	const struct peer_receiver *r = arg;

	peer_marks_add(r->port->marks, svc, s, admin, &r->who);
}

static void
peer_receiver_read_anew(struct peer_receiver *r)
{
	handover_state_reader_fini(&r->reader);
	handover_state_reader_init(&r->reader, r->port->pen);
	r->reader.from_peer = true;
	r->reader.on_server = on_server;
	r->reader.arg = r;
}

static void
peer_receiver_on_open(struct peer_link *l)
{
	struct peer_receiver *r = receiver_of(l);
	char who[PEER_TEXT_MAX];
	struct handover_writer w;

	log_info("incoming peer connection client=%s",
	    peer_format(&r->who, who));
	r->port->pen->peer_stats.receivers++;
	handover_begin(&w, &l->out);
	if (w.failed)
		peer_link_refuse(l, "out of memory");
	peer_receiver_read_anew(r);
}

static void
take_state(struct peer_receiver *r, struct handover_record *record)
{
	struct peers_stats *st = &r->port->pen->peer_stats;
	struct handover_state_reader *in = &r->reader;

	in->reported = in->new = in->flows = 0;
	handover_state_read(in, record);
	r->flows += in->flows;
	st->flows_received += in->flows;
	r->reported += in->reported;
	r->new += in->new;
	st->received += in->reported;
	st->used += in->new;
}

static void
peer_receiver_on_record(struct peer_link *l, struct handover_record *record)
{
	struct peer_receiver *r = receiver_of(l);
	uint64_t number;

	if (record->type == HANDOVER_AGAIN) {
		peer_receiver_read_anew(r);
	} else if (record->type == HANDOVER_PING) {
		number = handover_get_number(record, 8);
		if (peer_sender_is_to_self(r->port->senders, number))
			peer_link_refuse(l, "it is this pen");
		else
			peer_link_add(l, HANDOVER_PONG, &number);
	} else {
		take_state(r, record);
	}
	if (buffer_length(&l->out) > ANSWERS_MAX)
		peer_link_refuse(l, "does not read answers");
}

static void
log_end(struct peer_receiver *r, const char *why, bool was_open)
{
	struct peer_port *t = r->port;
	char who[PEER_TEXT_MAX];

	peer_format(&r->who, who);
	if (was_open)
		log_warn("peer lost client=%s error=\"%s\"", who, why);
	else if (rate_limit_take(&lines, &t->lines, loop_now(t->pen->loop)))
		log_warn("peer refused client=%s error=\"%s\"", who, why);
	t->pen->peer_stats.refused += !was_open;
}

/* Whether another connection of the same host reports here. */
static bool
has_sibling(const struct peer_receiver *r)
{
	struct list *all = &r->port->receivers, *at;

	for (at = all->next; at != all; at = at->next) {
		struct peer_receiver *other =
		    list_entry(at, struct peer_receiver, link);

		if (other != r && other->conn.state == PEER_LINK_OPEN &&
		    peer_same_host(&other->who, &r->who))
			return true;
	}
	return false;
}

static void
peer_receiver_on_end(struct peer_link *l, const char *why, bool was_open)
{
	struct peer_receiver *r = receiver_of(l);

	log_end(r, why, was_open);
	if (was_open)
		(void)peer_marks_warn(r->port->pen, &r->who);
	if (was_open && !has_sibling(r))
		peer_marks_end(r->port->marks, &r->who);
	peer_receiver_free(r, was_open);
}

static const struct peer_link_events events = {
	.on_open = peer_receiver_on_open,
	.on_record = peer_receiver_on_record,
	.on_end = peer_receiver_on_end,
};

/* ---- the port ---- */

/* Makes room for another connection, by closing one that has not proven its key
 * yet. Returns whether there is room. */
static bool
make_room(struct peer_port *t)
{
	struct peer_receiver *r;
	struct list *at;

	if (t->count < RECEIVERS_MAX)
		return true;
	for (at = t->receivers.next; at != &t->receivers; at = at->next) {
		r = list_entry(at, struct peer_receiver, link);
		if (r->conn.state == PEER_LINK_OPEN)
			continue;
		peer_receiver_on_end(&r->conn, "too many connections", false);
		return true;
	}
	return false;
}

static void
peer_port_on_accept(struct listener *l, int fd, const struct peer *who)
{
	struct peer_port *t = l->arg;
	struct peer_receiver *r = calloc(1, sizeof(*r));

	if (r == NULL || !make_room(t)) {
		free(r);
		close(fd);
		return;
	}
	r->port = t;
	r->who = *who;
	peer_link_init(&r->conn, t->pen->loop, &t->pen->replies, &events);
	list_append(&t->receivers, &r->link);
	t->count++;
	if (peer_link_begin(&r->conn, fd, t->key, false) < 0)
		peer_receiver_free(r, false);
}

static void
end_receivers(struct peer_port *t)
{
	struct peer_receiver *r;
	struct list *at;

	while ((at = list_first(&t->receivers)) != NULL) {
		r = list_entry(at, struct peer_receiver, link);
		peer_receiver_free(r, r->conn.state == PEER_LINK_OPEN);
	}
}

static void
peer_port_on_replaced(struct listener *l)
{
	end_receivers(l->arg);
	listener_close(l);
}

static int
peer_port_open(struct peer_port *t, bool freebind, struct error *e)
{
	struct sock_listen_options o = { .backlog = RECEIVERS_MAX,
		.freebind = freebind,
		.sockets = &t->pen->sockets };

	t->key = tls_psk_new(t->spec.file, t->pen->tls_memory, e);
	if (t->key == NULL)
		return -1;
	t->listener.on_accept = peer_port_on_accept;
	t->listener.on_replaced = peer_port_on_replaced;
	t->listener.arg = t;
	t->listener.budget = 1;
	return listener_open(&t->listener, t->pen->loop, &t->spec.at, &o, e);
}

struct peer_port *
peer_port_new(struct pen *p, const struct peer_spec *spec, bool freebind,
    struct peer_marks *marks, struct list *senders, struct error *e)
{
	struct peer_port *t = calloc(1, sizeof(*t));

	if (t == NULL) {
		error_set(e, "out of memory");
		return NULL;
	}
	list_init(&t->link);
	list_init(&t->receivers);
	t->pen = p;
	t->marks = marks;
	t->senders = senders;
	t->spec = *spec;
	if (peer_port_open(t, freebind, e) == 0)
		return t;
	tls_psk_free(t->key);
	free(t);
	return NULL;
}

static void
peer_port_on_free(struct task *t)
{
	free(container_of(t, struct peer_port, end));
}

void
peer_port_free(struct peer_port *t)
{
	end_receivers(t);
	listener_close(&t->listener);
	tls_psk_free(t->key);
	list_remove(&t->link);
	list_init(&t->end.link);
	t->end.run = peer_port_on_free;
	loop_soon(t->pen->loop, &t->end);
}

void
peer_port_start(struct peer_port *t)
{
	(void)listener_resume(&t->listener); /* it tries again by itself */
}

void
peer_port_tick(struct peer_port *t)
{
	struct peer_receiver *r;
	struct list *at, *next;

	for (at = t->receivers.next; at != &t->receivers; at = next) {
		next = at->next;
		r = list_entry(at, struct peer_receiver, link);
		if (buffer_length(&r->conn.out) > 0)
			peer_link_run(&r->conn);
		peer_link_check(&r->conn);
	}
}

void
peer_port_refresh(struct peer_port *t)
{
	struct peer_receiver *r;

	if (!peer_key_refresh(
		&t->key, &t->spec, t->pen->tls_memory, "peer_listen"))
		return;
	while (!list_is_empty(&t->receivers)) {
		r = list_entry(
		    list_first(&t->receivers), struct peer_receiver, link);
		peer_receiver_on_end(&r->conn, "the key has changed",
		    r->conn.state == PEER_LINK_OPEN);
	}
}

void
peer_port_begin_again(struct peer_port *t)
{
	struct peer_receiver *r;
	struct list *at;

	for (at = t->receivers.next; at != &t->receivers; at = at->next) {
		r = list_entry(at, struct peer_receiver, link);
		if (r->conn.state != PEER_LINK_OPEN)
			continue;
		peer_receiver_ignore(r);
		peer_link_add(&r->conn, HANDOVER_AGAIN, NULL);
	}
}
