/* session_proxy.c: a step of HELLO: the PROXY header of a client behind a
 * proxy, before all its other bytes. From then on the address in the header is
 * the client's, everywhere. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "proxy/session/session_private.h"

/* Bytes read in one go, of which most headers need a part. */
enum { PORTION = 2048 };

/* Why there is no header. */
struct failure {
	enum reason reason;
	const char *why;
};

static void
session_proxy_failed(struct session *s, const struct failure *f)
{
	char client[PEER_TEXT_MAX];

	if (log_level >= LOG_LEVEL_DEBUG)
		log_debug("PROXY header refused client=%s error=\"%s\"",
		    peer_format(&s->client, client), f->why);
	session_close(s, f->reason);
}

/* ---- its contents ---- */

static bool
has_texts(const struct proxy_header *h)
{
	return h->sni.n > 0 || h->alpn.n > 0 || h->id.n > 0 || h->tls.on;
}

/* Without addresses the client is the proxy itself. */
static void
session_proxy_done(struct session *s)
{
	struct session_facts *facts = s->more->facts;
	const struct proxy_header *h = &facts->header;

	if (h->client.family != 0) {
		facts->sender = s->client;
		facts->came_to = h->server;
		s->client = h->client;
	}
	if (!has_texts(h))
		buffer_fini(&facts->bytes);
	session_hello_next(s);
}

/* ---- reading it ---- */

enum progress { MORE, LATER, DONE, FAILED };

static enum progress
session_proxy_fail(struct failure *f, enum reason reason, const char *why)
{
	*f = (struct failure){ reason, why };
	return FAILED;
}

/* Takes what was seen, `n` bytes, off the client's socket. */
static bool
session_proxy_take(struct session *s, char *bytes, size_t n)
{
	ssize_t got;

	do
		got = recv(s->down.fd, bytes, n, 0);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)n;
}

/* These bytes are in the socket. What follows the header stays there, for TLS
 * or the pipe to the server. */
static enum progress
session_proxy_parse(struct session *s, char *bytes, size_t n, struct failure *f)
{
	struct session_facts *facts = s->more->facts;
	size_t before = buffer_length(&facts->bytes), whole;
	const char *why;
	ssize_t used;

	if (buffer_append(&facts->bytes, bytes, n) < 0)
		return session_proxy_fail(
		    f, REASON_NO_RESOURCES, "out of memory");
	used = proxy_header_read(
	    &facts->header, buffer_bytes(&facts->bytes), before + n, &why);
	if (used < 0)
		return session_proxy_fail(f, REASON_PROXY_INVALID, why);
	whole = used > 0 ? (size_t)used : before + n;
	buffer_cut(&facts->bytes, whole);
	if (!session_proxy_take(s, bytes, whole - before))
		return session_proxy_fail(
		    f, REASON_CLIENT_RESET, "connection failed");
	if (whole == before + n && n < PORTION &&
	    !(s->down.flags & (STREAM_AT_EOF | STREAM_FIN | STREAM_GONE)))
		s->down.flags &= ~(unsigned)STREAM_READABLE;
	return used > 0 ? DONE : s->down.flags & STREAM_READABLE ? MORE : LATER;
}

static enum progress
read_some(struct session *s, struct failure *f)
{
	char bytes[PORTION];
	ssize_t n = recv(s->down.fd, bytes, sizeof(bytes), MSG_PEEK);

	if (n > 0)
		return session_proxy_parse(s, bytes, (size_t)n, f);
	if (n == 0)
		return session_proxy_fail(
		    f, REASON_PROXY_INVALID, "client closed before its end");
	if (errno == EINTR)
		return MORE;
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		return session_proxy_fail(
		    f, REASON_CLIENT_RESET, strerror(errno));
	s->down.flags &= ~(unsigned)STREAM_READABLE;
	return LATER;
}

/* ---- the step ---- */

bool
session_proxy_wanted(const struct frontend_core *f)
{
	return f->options.accept_proxy >= 0;
}

/* Any other host could send any address, and so must not be believed. */
void
session_proxy_begin(struct session *s)
{
	const struct frontend_core *f = s->frontend;
	struct failure e = { REASON_PROXY_REFUSED,
		"no proxy has this address" };

	if (!acl_permits(
		pool_acl(f->pool, (unsigned)f->options.accept_proxy),
		&s->client)) {
		session_proxy_failed(s, &e);
	} else if (session_facts(s) == NULL) {
		session_close(s, REASON_NO_RESOURCES);
	} else if (s->down.flags & STREAM_READABLE) {
		session_proxy_on_client(s, READY_READ);
	}
}

void
session_proxy_on_client(struct session *s, unsigned ready)
{
	enum progress p;
	struct failure e;

	stream_note_ready(&s->down, ready);
	do
		p = read_some(s, &e);
	while (p == MORE);
	if (p == DONE)
		session_proxy_done(s);
	else if (p == FAILED)
		session_proxy_failed(s, &e);
}

void
session_proxy_on_time(struct session *s)
{
	struct failure e = { REASON_PROXY_TIMEOUT, "timed out" };

	session_proxy_failed(s, &e);
}
