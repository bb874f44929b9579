/* session_log.c: what is logged of sessions: that they end, and requests. */
#include "config.h"

#include <stdio.h>

#include "base/log.h"
#include "proxy/requestlog.h"
#include "proxy/session_private.h"

enum { TLS_TEXT = 900 };

/* What is known of a side that talks TLS; "" otherwise. Returns `text`. */
static const char *
session_tls_text(const struct stream *s, const char *side, char text[TLS_TEXT])
{
	struct tls_facts f;
	int n;

	text[0] = '\0';
	if (!stream_is_open(s) || !stream_is_tls(s))
		return text;
	tls_facts(s, &f);
	n = snprintf(text, TLS_TEXT,
	    " %s_tls=%s cipher=%s name=\"%s\" alpn=%s%s", side, f.version,
	    f.cipher, f.name, f.alpn[0] != '\0' ? f.alpn : "none",
	    f.resumed ? " resumed" : "");
	if (f.certificate)
		snprintf(text + n, TLS_TEXT - (size_t)n,
		    " subject=\"%s\" serial=%s verified=\"%s\"", f.subject,
		    f.serial, f.verified);
	return text;
}

void
session_log_close(const struct session *s, enum reason why)
{
	char client[PEER_TEXT_MAX], server[ADDR_TEXT_MAX] = "none";
	char down[TLS_TEXT], up[TLS_TEXT];

	if (s->server != NULL)
		addr_format(
		    &s->server->addrs.addr[s->server->addr_first], server);
	log_debug("session closed reason=%s client=%s server=%s up=%llu "
		  "down=%llu ms=%llu%s%s",
	    reason_name(why), peer_format(&s->client, client), server,
	    (unsigned long long)s->to_server.bytes,
	    (unsigned long long)s->to_client.bytes,
	    (unsigned long long)(loop_now(s->frontend->core.loop) - s->started),
	    session_tls_text(&s->down, "client", down),
	    session_tls_text(&s->up, "server", up));
}

/* A request is what comes first, and what comes after an answer: bytes that
 * follow without one in between belong to the request before. Without a log,
 * nothing but what comes first is of interest. */
void
session_on_read(struct pipe *p, const char *bytes, size_t n)
{
	struct session *s = container_of(p, struct session, to_server);
	uint32_t answered = (uint32_t)s->to_client.bytes;
	bool first = p->bytes + pipe_pending(p) == n;

	if (first)
		session_note_first(s, bytes, n);
	if (s->frontend->requestlog == NULL) {
		p->reported = false;
		return;
	}
	if (first || answered != s->heard)
		requestlog_line(
		    s->frontend->requestlog, &s->client, s->server, bytes, n);
	s->heard = answered;
}
