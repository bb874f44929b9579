/* session_tls.c: the handshakes of a session: with its client before a server is
 * chosen, with its server before bytes flow. */
#include "config.h"

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "net/sock.h"
#include "proxy/session_private.h"

/* ---- the client ---- */

static void
session_hello_failed(struct session *s)
{
	char client[PEER_TEXT_MAX];

	if (log_level >= LOG_LEVEL_DEBUG)
		log_debug("handshake failed client=%s error=\"%s\"",
		    peer_format(&s->client, client), tls_error(&s->down));
	session_close(s, REASON_TLS_FAILED);
}

static void
session_hello_done(struct session *s)
{
	struct frontend *f = s->frontend;

	f->stats.tls_handshakes++;
	f->stats.tls_resumed += tls_is_resumed(&s->down);
	expiry_cancel(&s->expiry);
	session_begin(s);
	/* What came with the handshake waits in the stream: no event tells. A
	 * queued client's stays there until a server takes it. */
	if (s->state > QUEUED && s->state != CLOSED &&
	    s->down.flags & STREAM_READABLE)
		session_on_io(s);
}

static void
session_shake(struct session *s)
{
	switch (tls_handshake(&s->down)) {
	case TLS_DONE:
		session_hello_done(s);
		break;
	case TLS_FAILED:
		session_hello_failed(s);
		break;
	case TLS_WAITS:
		if (watch_want(s->frontend->loop, &s->down.watch,
			READY_READ | stream_wants(&s->down)) < 0)
			session_close(s, REASON_NO_RESOURCES);
		break;
	}
}

/* Whether there is somebody for the client at all, be it the abuse server. */
static bool
session_is_welcome(const struct session *s)
{
	const struct pool *p = s->frontend->pool;

	return pool_slot(p, SLOT_ABUSE)->present || pool_permits(p, &s->client);
}

void
session_hello(struct session *s)
{
	struct frontend *f = s->frontend;

	if (!session_is_welcome(s)) { /* no handshake is worth it */
		session_close(s, REASON_NO_SERVER);
		return;
	}
	if (tls_accept(&s->down, f->tls.server) < 0 ||
	    watch_start(f->loop, &s->down.watch, s->down.fd, READY_READ,
		session_on_client) < 0) {
		session_close(s, REASON_NO_RESOURCES);
		return;
	}
	/* its hello is hardly ever here yet: the loop will say */
	s->down.flags &= ~(unsigned)STREAM_READABLE;
	timeouts_add(&f->handshaking, &s->expiry,
	    loop_now(f->loop) + f->tls.handshake_ms);
}

void
session_on_hello(struct session *s, unsigned ready)
{
	stream_note_ready(&s->down, ready);
	session_shake(s);
}

void
session_on_hello_over(struct timeouts *t, struct expiry *x)
{
	(void)t;
	session_close(
	    list_entry(x, struct session, expiry), REASON_TLS_TIMEOUT);
}

/* ---- the server ---- */

/* Offers it the protocol that its client talks. */
int
session_hello_server(struct session *s, const struct addr *at)
{
	struct frontend *f = s->frontend;
	char alpn[TLS_ALPN_NAME] = "";

	if (stream_is_tls(&s->down))
		tls_alpn(&s->down, alpn);
	if (tls_connect(&s->up, f->tls.client, s->server->name, at, alpn) < 0)
		return -1;
	return tls_handshake(&s->up) == TLS_FAILED ? -1 : 0;
}

/* Nothing but the handshake is to be written until it is over. */
enum tls_step
session_on_server_hello(struct session *s, unsigned ready)
{
	struct frontend *f = s->frontend;
	enum tls_step step;

	stream_note_ready(&s->up, ready);
	step = tls_handshake(&s->up);
	if (step == TLS_WAITS) {
		s->up.flags &= ~(unsigned)STREAM_WRITABLE;
	} else if (step == TLS_DONE) {
		f->stats.tls_up_handshakes++;
		f->stats.tls_up_resumed += tls_is_resumed(&s->up);
	}
	return step;
}

/* ---- the log ---- */

const char *
session_tls_text(
    const struct stream *s, const char *side, char text[SESSION_TLS_TEXT])
{
	struct tls_facts f;
	int n;

	text[0] = '\0';
	if (!stream_is_open(s) || !stream_is_tls(s))
		return text;
	tls_facts(s, &f);
	n = snprintf(text, SESSION_TLS_TEXT,
	    " %s_tls=%s cipher=%s name=\"%s\" alpn=%s%s", side, f.version,
	    f.cipher, f.name, f.alpn[0] != '\0' ? f.alpn : "none",
	    f.resumed ? " resumed" : "");
	if (f.certificate)
		snprintf(text + n, SESSION_TLS_TEXT - (size_t)n,
		    " subject=\"%s\" serial=%s verified=\"%s\"", f.subject,
		    f.serial, f.verified);
	return text;
}
