/* session_sticky.c: a cookie in the client's first request names its server, so
 * that clients behind one address are distinguished. */
#include "config.h"

#include <stdlib.h>

#include "base/memory.h"
#include "pool/pool.h"
#include "proxy/http/http_relay.h"
#include "proxy/session/session_private.h"

bool
session_sticky_wanted(const struct frontend_core *f)
{
	return f->options.http.on && f->options.http.sticky[0] != '\0';
}

static struct http_sticky *
sticky_of(struct session *s)
{
	struct session_facts *facts = session_facts(s);

	if (facts != NULL && facts->sticky == NULL) {
		facts->sticky = memory_zeroed(sizeof(*facts->sticky));
		if (facts->sticky != NULL)
			facts->sticky->head.cookie =
			    s->frontend->options.http.sticky;
	}
	return facts != NULL ? facts->sticky : NULL;
}

/* A header that is wrong, or too long to be kept here, is dealt with once there
 * is a server; the cookie may have come before that. */
enum first_verdict
session_sticky_decide(struct session *s, const char *bytes, size_t n, bool last)
{
	struct http_sticky *k = sticky_of(s);

	if (k == NULL)
		return FIRST_WRONG;
	if (http_head_take(&k->head, bytes, n) == HTTP_HEAD_MORE && !last &&
	    n < FIRST_MAX)
		return FIRST_MORE;
	if (k->head.cookie_found)
		k->digest = http_sticky_digest(k->head.cookie_value);
	return FIRST_KNOWN;
}

/* A cookie that an answer has set since replaces the client's. */
struct server *
session_sticky_server(const struct session *s)
{
	struct http_sticky *k = s->more->facts->sticky;

	if (k != NULL && k->given != 0 &&
	    s->more->http_relay->responses.add == NULL)
		k->digest = k->given;
	return k != NULL && k->digest != 0
	    ? pool_by_digest(s->frontend->pool, k->digest)
	    : NULL;
}

/* The emergency and the abuse server have no digest: a client that gets one of
 * them comes back to its own server later. */
void
session_sticky_set(struct session *s)
{
	struct http_sticky *k = s->more->facts->sticky;
	uint64_t digest = s->server->digest;

	if (s->more->http_relay == NULL)
		return;
	s->more->http_relay->responses.add = NULL;
	k->given = 0;
	if (digest == 0 || digest == k->digest ||
	    !session_sticky_wanted(s->frontend))
		return;
	http_sticky_set(k->line, s->frontend->options.http.sticky, digest,
	    session_client_has_tls(s));
	s->more->http_relay->responses.add = k->line;
	k->given = digest;
}
