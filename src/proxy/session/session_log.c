/* session_log.c: what is logged of sessions: that they end, and requests. */
#include "config.h"

#include <stdlib.h>

#include "base/log.h"
#include "net/loop/loop.h"
#include "net/sock.h"
#include "proxy/http/http_relay.h"
#include "proxy/log/requestlog.h"
#include "proxy/log/sessionlog.h"
#include "proxy/session/session_private.h"
#include "proxy/wire/first.h"

/* What is known of a side that talks TLS; NULL: it does not. */
static const struct tls_facts *
session_tls_facts(const struct stream *s, struct tls_facts *facts)
{
	if (!stream_is_open(s) || !stream_is_tls(s))
		return NULL;
	tls_facts(s, facts);
	return facts;
}

static const struct peer *
session_sender(const struct session *s)
{
	return s->more->facts != NULL && s->more->facts->sender.family != 0
	    ? &s->more->facts->sender
	    : NULL;
}

/* The number that was sent to the server, or the one of the proxy in front. */
static void
session_log_id(
    const struct session *s, struct session_record *r, char text[PROXY_ID_TEXT])
{
	const struct session_facts *facts = s->more->facts;

	if (facts == NULL)
		return;
	r->id = facts->header.id.at;
	r->id_n = facts->header.id.n;
	if (r->id_n == 0 && facts->id != 0) {
		r->id = text;
		r->id_n = session_id_text(facts, text);
	}
}

void
session_note_address(struct session *s)
{
	struct session_facts *facts;
	struct addr at;

	if ((s->frontend->sessionlog == NULL && s->frontend->httplog == NULL) ||
	    s->server == NULL || !session_server_moved(s) ||
	    sock_peer_addr(s->up.fd, &at) < 0 ||
	    (facts = session_facts(s)) == NULL)
		return;
	session_clear_address(s);
	facts->was_at = malloc(sizeof(at));
	if (facts->was_at != NULL)
		*facts->was_at = at;
}

void
session_clear_address(struct session *s)
{
	struct session_facts *facts = s->more->facts;

	if (facts == NULL)
		return;
	free(facts->was_at);
	facts->was_at = NULL;
}

/* The address of its server that it is connected to; of a server that has got
 * others since, the connection alone has it, and it is put into `own`. NULL: it
 * is not known, as of a server that got others after it was let go. */
static const struct addr *
session_server_at(const struct session *s, struct addr *own)
{
	const struct session_facts *facts = s->more->facts;
	const struct server *server = s->server;
	unsigned at = s->addr_start;

	if (server == NULL || server->addrs.count == 0)
		return NULL;
	if (facts != NULL && facts->was_at != NULL)
		return facts->was_at;
	if (session_server_moved(s))
		return sock_peer_addr(s->up.fd, own) == 0 ? own : NULL;
	if (s->addr_tried > 1)
		at += s->addr_tried - 1u;
	return &server->addrs.addr[at % server->addrs.count];
}

static struct record_text
request_id(const struct http_relay *h)
{
	const struct http_identity *id =
	    h != NULL ? h->requests.identity : NULL;

	return id != NULL ? (struct record_text){ id->text, id->length }
			  : (struct record_text){ NULL, 0 };
}

static struct session_record
session_record(const struct session *s, enum reason why, struct addr *own)
{
	const struct session_facts *facts = s->more->facts;
	const struct http_relay *h = s->more->http_relay;
	uint64_t now = loop_now(s->frontend->loop);

	return (struct session_record){
		.reason = why,
		.request_id = request_id(h),
		.client = &s->client,
		.sender = session_sender(s),
		.port = s->port,
		.service = s->frontend->service,
		.format = s->frontend->log_format,
		.session = s->number,
		.server = s->server,
		.server_at = session_server_at(s, own),
		.up = s->to_server.bytes + (h != NULL ? h->sent : 0),
		.down = s->to_client.bytes,
		.queued_ms = facts != NULL ? facts->queue_ms : 0,
		.connect_us = s->connect_done ? s->connect_us : 0,
		.first_ms = s->first_ms == 0 ? UINT64_MAX : s->first_ms - 1u,
		.total_ms = now - s->started,
		.failures = facts != NULL ? facts->failures : 0,
		.tried = facts != NULL ? facts->tried : NULL,
	};
}

void
session_log_fill(
    struct session_line *l, const struct session *s, enum reason why, bool tls)
{
	l->record = session_record(s, why, &l->at);
	session_log_id(s, &l->record, l->id);
	if (!tls)
		return;
	l->record.client_tls = session_tls_facts(&s->down, &l->client);
	l->record.server_tls = session_tls_facts(&s->up, &l->server);
	l->record.sni = l->record.client_tls != NULL
	    ? l->record.client_tls->name
	    : session_first_name(s, &l->first);
}

/* The operator's own log is set by session_log; at level debug all sessions are
 * in the program's log. */
void
session_log_close(const struct session *s, enum reason why)
{
	struct sessionlog *g = s->frontend->sessionlog;
	struct session_line l;

	if (g == NULL ||
	    !sessionlog_wants(g, why, false, loop_now(s->frontend->loop)))
		return;
	session_log_fill(&l, s, why, true);
	sessionlog_put(g, &l.record);
}

/* ---- servers that were tried ---- */

void
session_note_tried(struct session *s, const struct server *server)
{
	struct session_facts *facts =
	    s->frontend->sessionlog != NULL ? session_facts(s) : NULL;

	if (s->frontend->httplog != NULL)
		session_requests_failed(s);
	if (facts == NULL)
		return;
	facts->tried = record_add_tried(facts->tried, server, s->port);
	facts->failures++;
}

void
session_clear_tried(struct session *s)
{
	struct session_facts *facts = s->more->facts;

	if (facts == NULL)
		return;
	free(facts->tried);
	facts->tried = NULL;
	facts->failures = 0;
}

/* ---- requests ---- */

/* A request is what comes first, and what comes after an answer: bytes that
 * follow without one in between belong to the request before. Without a log,
 * and without HTTP, nothing but what comes first is of interest. */
void
session_on_read(struct pipe *p, const char *bytes, size_t n)
{
	struct session *s = container_of(p, struct session, to_server);
	const struct http_relay *h = s->more->http_relay;
	bool first = p->bytes + pipe_pending(p) == n;
	struct addr at;

	if (h != NULL)
		session_note_requests(s, bytes, n, first);
	else if (first)
		session_note_first(s, bytes, n);
	else if (s->request != NULL)
		session_drop_request(s);
	if (s->frontend->requestlog == NULL) {
		p->reported = s->request != NULL ||
		    (h != NULL && h->requests.stage != HTTP_REQUESTS_TUNNEL);
		return;
	}
	if (first || !s->asked)
		requestlog_line(s->frontend->requestlog, &s->client,
		    session_server_at(s, &at), bytes, n);
	s->asked = true;
}
