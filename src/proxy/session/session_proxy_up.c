/* session_proxy_up.c: the PROXY header to a server, in front of all else, anew
 * for each connection to a server. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "net/sock.h"
#include "net/stream_prefix.h"
#include "proxy/session/session_private.h"
#include "proxy/wire/first.h"
#include "proxy/wire/proxy_header.h"

/* What the texts of a header point to while it is written. */
struct telling {
	struct proxy_header header;
	struct tls_about tls;
	struct first first;
	char id[PROXY_ID_TEXT];
};

static struct proxy_text
session_proxy_up_text_of(const char *text)
{
	return (struct proxy_text){ text, text == NULL ? 0 : strlen(text) };
}

/* ---- the addresses ---- */

/* The address that the client connected to, unless a PROXY header has it. */
static void
proxy_add_addresses(const struct session *s, struct telling *t)
{
	struct proxy_header *h = &t->header;
	struct addr local;

	h->client = s->client;
	if (s->more->facts != NULL && s->more->facts->came_to.family != 0) {
		h->server = s->more->facts->came_to;
		return;
	}
	if (sock_local_addr(s->down.fd, &local) == 0)
		peer_from_addr(&h->server, &local);
}

/* ---- additional fields of version 2 ---- */

static void
proxy_add_tls(const struct session *s, struct telling *t)
{
	struct proxy_header *h = &t->header;

	tls_about(&s->down, &t->tls);
	h->tls = (struct proxy_tls){ .on = true,
		.certificate = t->tls.certificate,
		.resumed = t->tls.resumed,
		.verified = t->tls.verified,
		.version = session_proxy_up_text_of(t->tls.version),
		.cipher = session_proxy_up_text_of(t->tls.cipher),
		.name = session_proxy_up_text_of(t->tls.name) };
	h->sni = session_proxy_up_text_of(t->tls.sni);
	h->alpn = session_proxy_up_text_of(t->tls.alpn);
}

/* TLS that goes through is no TLS of this connection, but its name is known.
 * The protocols that a client offers are not: the server chooses one. */
static void
proxy_add_name(const struct session *s, struct telling *t)
{
	const char *name = session_first_name(s, &t->first);

	if (name != NULL && t->header.sni.n == 0)
		t->header.sni = session_proxy_up_text_of(name);
}

size_t
session_id_text(const struct session_facts *facts, char text[PROXY_ID_TEXT])
{
	return (size_t)snprintf(
	    text, PROXY_ID_TEXT, "%016" PRIx64, facts->id);
}

/* The number stays the same when another server is tried; it is the one that
 * the proxy in front gave, if that gave one. Without memory there is none. */
static void
proxy_add_id(struct session *s, struct telling *t)
{
	struct session_facts *facts = session_facts(s);

	if (t->header.id.n > 0 || facts == NULL)
		return;
	if (facts->id == 0)
		facts->id = ++s->frontend->ids;
	t->header.id = (struct proxy_text){ t->id,
		session_id_text(facts, t->id) };
}

static size_t
write_header(struct session *s, enum proxy_version version,
    const struct addr *to, char bytes[PROXY_HEADER_MAX])
{
	struct telling t;

	t.header = (struct proxy_header){ .client = { .family = 0 } };
	if (version == PROXY_V2 && s->more->facts != NULL)
		t.header = s->more->facts->header;
	proxy_add_addresses(s, &t);
	if (version == PROXY_V2) {
		if (stream_is_tls(&s->down))
			proxy_add_tls(s, &t);
		else
			proxy_add_name(s, &t);
		proxy_add_id(s, &t);
	} else if (t.header.client.family == AF_UNIX) {
		frontend_name_ourselves(&t.header, s->up.fd, to);
	}
	return proxy_header_write(bytes, version, &t.header);
}

/* ---- on its way ---- */

int
session_introduce(struct session *s, const struct addr *to)
{
	enum proxy_version version =
	    frontend_server_proxy(&s->frontend->options, s->server);
	char bytes[PROXY_HEADER_MAX];
	size_t n;

	if (version == PROXY_OFF)
		return 0;
	n = write_header(s, version, to, bytes);
	return stream_is_tls(&s->up) ? tls_prefix(&s->up, bytes, n)
				     : stream_prefix(&s->up, bytes, n);
}

/* A server that speaks first waits for the header. A client's bytes take it
 * along. */
struct pipe_stop
session_introduce_early(struct session *s, struct pipe_stop stop)
{
	if (stop.verdict == PIPE_READ_FAILED ||
	    stop.verdict == PIPE_WRITE_FAILED)
		return stop;
	if (pipe_pending(&s->to_server) > 0)
		stream_prefix_waits(&s->up);
	else if (stream_prefix_alone(&s->up) < 0)
		return (struct pipe_stop){ PIPE_WRITE_FAILED, errno };
	return stop;
}
