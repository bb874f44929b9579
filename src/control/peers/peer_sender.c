/* peer_sender.c: see peer_sender.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "control/life/context.h"
#include "control/peers/peer_sender.h"
#include "net/sock.h"

enum { RETRY_MS = 1000, RETRY_SELF_MS = 60000 };
enum { PING_MS = 1000, REFRESH_MS = 100000 };
/* Bytes that a batch has at least, if there is so much. */
enum { BATCH = 16 * 1024 };

static struct peer_sender *
sender_of(struct peer_link *l)
{
	return container_of(l, struct peer_sender, conn);
}

/* ---- what is sent ---- */

/* Skips changes that are no longer in the list: then all clients are sent. */
static void
skip_lost(struct peer_sender *s)
{
	uint64_t pending = s->changes->head - s->next;

	if (pending <= PEER_CHANGES)
		return;
	s->lost += pending;
	s->pen->peer_stats.lost += pending;
	s->next = s->changes->head;
	s->writing = true;
	handover_state_write_again(&s->writer, true);
}

static void
send_changes(struct peer_sender *s)
{
	uint64_t pending;
	size_t first, n;

	while ((pending = s->changes->head - s->next) > 0 &&
	    buffer_length(&s->conn.out) < BATCH) {
		first = s->next % PEER_CHANGES;
		n = PEER_CHANGES - first;
		n = handover_state_write_changes(&s->writer,
		    &s->changes->list[first], pending < n ? pending : n,
		    &s->conn.out);
		if (n == 0)
			peer_link_refuse(&s->conn, "out of memory");
		s->next += n > 0 ? n : pending;
	}
	s->due = s->changes->head != s->next;
}

static void
send_all(struct peer_sender *s)
{
	int rc = 1;

	while (rc > 0 && buffer_length(&s->conn.out) < BATCH)
		rc = handover_state_write(&s->writer, &s->conn.out);
	if (rc < 0)
		peer_link_refuse(&s->conn, "out of memory");
	s->writing = rc > 0;
	s->written_ms = loop_now(s->pen->loop);
}

/* At the peer, which gets no frames of them, they would expire. */
static void
refresh_flows(struct peer_sender *s)
{
	if (s->writing || loop_now(s->pen->loop) - s->written_ms < REFRESH_MS)
		return;
	s->writing = true;
	handover_state_write_flows_again(&s->writer);
}

static void
send_ping(struct peer_sender *s)
{
	uint64_t now = loop_now(s->pen->loop);

	if (now - s->pinged_ms < PING_MS)
		return;
	s->pinged_ms = now;
	s->ping = now ^ s->secret;
	peer_link_add(&s->conn, HANDOVER_PING, &s->ping);
}

/* Changes go first, but not before the servers that they name. */
static bool
peer_sender_on_room(struct peer_link *l)
{
	struct peer_sender *s = sender_of(l);
	uint64_t clients = s->writer.clients, flows = s->writer.flows;

	skip_lost(s);
	refresh_flows(s);
	if (s->due && handover_state_is_named(&s->writer))
		send_changes(s);
	else if (s->writing)
		send_all(s);
	if (s->writer.begun)
		send_ping(s);
	s->pen->peer_stats.sent += s->writer.clients - clients;
	s->pen->peer_stats.flows_sent += s->writer.flows - flows;
	return s->due || s->writing;
}

/* ---- events ---- */

static void
peer_sender_on_open(struct peer_link *l)
{
	struct peer_sender *s = sender_of(l);
	char at[ADDR_TEXT_MAX];

	log_info("peer connected peer=%s", addr_format(&s->spec.at, at));
	s->failed = false;
	s->pen->peer_stats.senders++;
	handover_state_writer_init(&s->writer, s->pen);
	s->writer.to_peer = true;
	s->writing = true;
	s->due = false;
	s->lag_ms = s->pinged_ms = s->ping = 0;
	s->next = s->changes->head;
}

static void
peer_sender_on_record(struct peer_link *l, struct handover_record *r)
{
	struct peer_sender *s = sender_of(l);
	uint64_t sent, now = loop_now(s->pen->loop);

	if (r->type == HANDOVER_AGAIN) {
		s->writing = true;
		handover_state_write_again(&s->writer, true);
	} else if (r->type == HANDOVER_PONG) {
		sent = handover_get_number(r, 8) ^ s->secret;
		s->lag_ms = sent < now ? now - sent : 0;
	}
}

/* The connection has ended, or could not be opened: logs one line until it is
 * open again. */
static void
peer_sender_on_end(struct peer_link *l, const char *why, bool was_open)
{
	struct peer_sender *s = sender_of(l);
	char at[ADDR_TEXT_MAX];

	s->pen->peer_stats.senders -= was_open;
	s->retry_ms = loop_now(s->pen->loop) + RETRY_MS;
	if (!s->failed)
		log_warn("peer not connected peer=%s error=\"%s\"",
		    addr_format(&s->spec.at, at), why);
	s->failed = true;
}

static const struct peer_link_events events = {
	.on_open = peer_sender_on_open,
	.on_record = peer_sender_on_record,
	.on_room = peer_sender_on_room,
	.on_end = peer_sender_on_end,
};

/* ---- life ---- */

struct peer_sender *
peer_sender_new(struct pen *p, const struct peer_spec *spec,
    const struct peer_changes *changes, struct error *e)
{
	struct peer_sender *s = calloc(1, sizeof(*s));
	struct hash_key random;

	if (s == NULL) {
		error_set(e, "out of memory");
		return NULL;
	}
	list_init(&s->link);
	s->pen = p;
	s->spec = *spec;
	s->changes = changes;
	hash_key_init(&random);
	s->secret = random.k0;
	peer_link_init(&s->conn, p->loop, &p->replies, &events);
	s->key = tls_psk_new(spec->file, p->tls_memory, e);
	if (s->key != NULL)
		return s;
	free(s);
	return NULL;
}

void
peer_sender_stop(struct peer_sender *s)
{
	s->pen->peer_stats.senders -= s->conn.state == PEER_LINK_OPEN;
	peer_link_fini(&s->conn);
}

bool
peer_sender_is_to_self(struct list *senders, uint64_t number)
{
	struct list *at;

	for (at = senders->next; at != senders; at = at->next) {
		struct peer_sender *s =
		    list_entry(at, struct peer_sender, link);

		if (s->conn.state != PEER_LINK_OPEN || s->pinged_ms == 0 ||
		    s->ping != number)
			continue;
		peer_sender_stop(s);
		peer_sender_on_end(
		    &s->conn, "the address leads to this pen", false);
		s->retry_ms = loop_now(s->pen->loop) + RETRY_SELF_MS;
		s->is_self = true;
		return true;
	}
	return false;
}

void
peer_sender_refresh(struct peer_sender *s)
{
	if (!peer_key_refresh(&s->key, &s->spec, s->pen->tls_memory, "peer"))
		return;
	peer_sender_stop(s);
	s->failed = false;
	s->retry_ms = 0;
}

static void
peer_sender_on_free(struct task *t)
{
	struct peer_link *l = container_of(t, struct peer_link, turn);

	free(sender_of(l));
}

void
peer_sender_free(struct peer_sender *s)
{
	peer_sender_stop(s);
	tls_psk_free(s->key);
	list_remove(&s->link);
	s->conn.turn.run = peer_sender_on_free;
	loop_soon(s->pen->loop, &s->conn.turn);
}

static void
dial(struct peer_sender *s)
{
	struct sock_connect_options o = { .sources = NULL };
	int fd = sock_connect(&s->spec.at, &o);

	if (fd < 0 || peer_link_begin(&s->conn, fd, s->key, true) < 0)
		peer_sender_on_end(&s->conn, strerror(errno), false);
}

bool
peer_sender_is_due(const struct peer_sender *s)
{
	return s->conn.state == PEER_LINK_CLOSED &&
	    loop_now(s->pen->loop) >= s->retry_ms;
}

void
peer_sender_connect(struct peer_sender *s, bool is_self)
{
	s->is_self = is_self;
	if (is_self)
		s->retry_ms = loop_now(s->pen->loop) + RETRY_MS;
	else
		dial(s);
}

void
peer_sender_tick(struct peer_sender *s)
{
	if (s->conn.state == PEER_LINK_CLOSED)
		return;
	s->due = s->changes->head != s->next;
	peer_link_run(&s->conn);
	peer_link_check(&s->conn);
}

void
peer_sender_begin_again(struct peer_sender *s, bool services)
{
	if (services)
		s->next = s->changes->head;
	if (s->conn.state != PEER_LINK_OPEN)
		return;
	s->writing = true;
	handover_state_write_again(&s->writer, services);
}

const char *
peer_sender_state(const struct peer_sender *s)
{
	switch (s->conn.state) {
	case PEER_LINK_CLOSED:
		return s->is_self ? "self" : "waiting";
	case PEER_LINK_OPEN:
		return s->writing ? "synchronising" : "connected";
	default:
		return "connecting";
	}
}
