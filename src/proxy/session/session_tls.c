/* session_tls.c: a step of HELLO: the client's TLS handshake. */
#include "config.h"

#include <string.h>

#include "base/log.h"
#include "net/sock.h"
#include "proxy/http/http_page.h"
#include "proxy/session/session_private.h"

/* A client that sends HTTP to a TLS port gets a page: few users would
 * understand a reset. OpenSSL has read its bytes, and recognizes some methods;
 * with http what else is no TLS is taken for a request, too. */
static void
answer_plain_client(struct session *s)
{
	char page[HTTP_PAGE_MAX];
	const char *error = tls_error(&s->down);
	size_t n;

	if (strstr(error, "http") == NULL &&
	    (!s->frontend->options.http.on ||
		strstr(error, "wrong version number") == NULL))
		return;
	n = http_page(page, HTTP_PAGE_NO_TLS, false);
	(void)sock_send(s->down.fd, page, n, true);
}

static void
session_tls_failed(struct session *s)
{
	char client[PEER_TEXT_MAX];

	s->frontend->stats->tls.failed++;
	if (log_level >= LOG_LEVEL_DEBUG)
		log_debug("handshake failed client=%s error=\"%s\"",
		    peer_format(&s->client, client), tls_error(&s->down));
	answer_plain_client(s);
	session_close(s, REASON_TLS_FAILED);
}

/* What came with the end of the handshake waits in the stream, and no event
 * will report it. It is read with the connect, or when the server has accepted:
 * both pump the pipe by themselves. */
static void
session_tls_done(struct session *s)
{
	struct frontend_core *f = s->frontend;

	f->stats->tls.handshakes++;
	f->stats->tls.resumed += tls_is_resumed(&s->down);
	session_hello_next(s);
}

bool
session_tls_wanted(const struct frontend_core *f)
{
	return f->tls.server != NULL;
}

uint64_t
session_tls_due(const struct session *s)
{
	return s->active + s->frontend->tls.handshake_ms;
}

/* What another service has read of the client to route it is the beginning of
 * the handshake. */
static int
take_kept(struct session *s)
{
	const struct buffer *kept = pipe_kept(&s->to_server);

	if (kept == NULL)
		return 0;
	if (tls_take(&s->down, buffer_bytes(kept), buffer_length(kept)) < 0)
		return -1;
	pipe_fini(&s->to_server, &s->frontend->share);
	return 0;
}

/* The context for clients is gone when TLS was switched off meanwhile. */
static bool
session_tls_accept(struct session *s)
{
	struct tls_server *server = s->frontend->tls.server;

	if (server != NULL && tls_accept(&s->down, server) == 0 &&
	    take_kept(s) == 0)
		return true;
	session_close(s,
	    server == NULL ? REASON_TLS_FAILED : REASON_NO_RESOURCES);
	return false;
}

/* A client that no server may serve is not worth the work of a handshake. Where
 * plain HTTP is redirected, the first byte decides between the two. The service
 * that a client came from may have taken this step. */
void
session_tls_begin(struct session *s)
{
	bool here =
	    s->down.flags & STREAM_READABLE || pipe_pending(&s->to_server) > 0;

	if (stream_is_tls(&s->down)) {
		session_hello_next(s);
		return;
	}
	if (!session_is_welcome(s)) {
		session_close(s, REASON_DENIED);
		return;
	}
	if (!session_redirect_wanted(s->frontend) && !session_tls_accept(s))
		return;
	if (here)
		session_tls_on_client(s, READY_READ);
}

/* A record of TLS begins with its type, below 32; a request of HTTP with a
 * letter (RFC 8446, 5.1; RFC 9110, 9.1). */
static bool
is_plain(int byte)
{
	return byte >= 'A' && byte <= 'Z';
}

static int
first_byte(const struct session *s)
{
	const struct buffer *kept = pipe_kept(&s->to_server);

	return kept != NULL ? (unsigned char)*buffer_bytes(kept)
			    : sock_next_byte(s->down.fd);
}

/* Looks at the first byte. Returns whether a handshake begins: a client that is
 * redirected, or whose proxy had its TLS, takes the next step. */
static bool
session_tls_or_plain(struct session *s)
{
	int byte =
	    session_redirect_wanted(s->frontend) ? first_byte(s) : SOCK_NEVER;

	if (byte == SOCK_NONE_YET)
		return false;
	if (is_plain(byte)) {
		s->redirected = !session_client_has_tls(s);
		session_hello_next(s);
		return false;
	}
	return session_tls_accept(s);
}

void
session_tls_on_client(struct session *s, unsigned ready)
{
	stream_note_ready(&s->down, ready);
	if (!stream_is_tls(&s->down) && !session_tls_or_plain(s))
		return;
	switch (tls_handshake(&s->down)) {
	case TLS_DONE:
		session_tls_done(s);
		break;
	case TLS_FAILED:
		session_tls_failed(s);
		break;
	case TLS_WAITS:
		if (watch_want(s->frontend->loop, &s->down.watch,
			READY_READ | stream_wants(&s->down)) < 0)
			session_close(s, REASON_NO_RESOURCES);
		break;
	}
}

void
session_tls_on_time(struct session *s)
{
	s->frontend->stats->tls.failed++;
	session_close(s, REASON_TLS_TIMEOUT);
}
