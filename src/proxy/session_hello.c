/* session_hello.c: the state HELLO: the client's TLS handshake, before a
 * server is chosen for it. Clients that talk plain TCP pass through it at
 * once. */
#include "config.h"

#include "base/log.h"
#include "proxy/session_private.h"

static void
session_hello_failed(struct session *s)
{
	char client[PEER_TEXT_MAX];

	if (log_level >= LOG_LEVEL_DEBUG)
		log_debug("handshake failed client=%s error=\"%s\"",
		    peer_format(&s->client, client), tls_error(&s->down));
	session_close(s, REASON_TLS_FAILED);
}

/* What came with the end of the handshake waits in the stream, and no event
 * will tell of it. It is read with the connect, or when the server is there:
 * both pump the pipe by themselves. */
static void
session_hello_done(struct session *s)
{
	struct frontend *f = s->frontend;

	f->core.stats.tls.handshakes++;
	f->core.stats.tls.resumed += tls_is_resumed(&s->down);
	expiry_cancel(&s->expiry);
	session_connect(s);
}

/* Whether there is somebody for the client at all, be it the abuse server. */
static bool
session_is_welcome(const struct session *s)
{
	const struct pool *p = s->frontend->core.pool;

	return pool_slot(p, SLOT_ABUSE)->present || pool_permits(p, &s->client);
}

void
session_hello_schedule(struct session *s)
{
	struct frontend *f = s->frontend;

	expiry_cancel(&s->expiry);
	timeouts_add(&f->session_times, &s->expiry,
	    s->started + f->core.tls.handshake_ms);
}

/* A client that nobody may serve is not worth the work of a handshake. */
void
session_hello(struct session *s)
{
	struct frontend *f = s->frontend;

	if (!session_is_welcome(s)) {
		session_close(s, REASON_NO_SERVER);
		return;
	}
	if (tls_accept(&s->down, f->core.tls.server) < 0 ||
	    watch_start(f->core.loop, &s->down.watch, s->down.fd, READY_READ,
		session_on_client) < 0) {
		session_close(s, REASON_NO_RESOURCES);
		return;
	}
	/* its hello is hardly ever here yet: the loop will say */
	s->down.flags &= ~(unsigned)STREAM_READABLE;
	session_hello_schedule(s);
}

void
session_hello_on_client(struct session *s, unsigned ready)
{
	stream_note_ready(&s->down, ready);
	switch (tls_handshake(&s->down)) {
	case TLS_DONE:
		session_hello_done(s);
		break;
	case TLS_FAILED:
		session_hello_failed(s);
		break;
	case TLS_WAITS:
		if (watch_want(s->frontend->core.loop, &s->down.watch,
			READY_READ | stream_wants(&s->down)) < 0)
			session_close(s, REASON_NO_RESOURCES);
		break;
	}
}

void
session_hello_on_time(struct session *s)
{
	session_close(s, REASON_TLS_TIMEOUT);
}
