/* session_facts.c: what few sessions have, and what is known of their
 * clients. */
#include "config.h"

#include <stdlib.h>

#include "base/memory.h"
#include "proxy/http/http_relay.h"
#include "proxy/session/session_private.h"
#include "proxy/wire/first.h"

struct session_more *
session_more(struct session *s)
{
	struct session_more *more = s->more;

	if (more == &s->frontend->sessions->nothing) {
		more = memory_zeroed(sizeof(*more));
		if (more != NULL)
			s->more = more;
	}
	return more;
}

struct session_facts *
session_facts(struct session *s)
{
	struct session_more *more = session_more(s);

	if (more == NULL || more->facts != NULL)
		return more == NULL ? NULL : more->facts;
	more->facts = memory_zeroed(sizeof(*more->facts));
	if (more->facts != NULL)
		more->facts->session = s;
	return more->facts;
}

static void
facts_free(struct session_facts *facts)
{
	if (facts == NULL)
		return;
	buffer_fini(&facts->bytes);
	free(facts->first);
	free(facts->sticky);
	free(facts->tried);
	free(facts->was_at);
	free(facts);
}

void
session_more_free(struct session_more *more)
{
	if (more == NULL)
		return;
	facts_free(more->facts);
	if (more->http_relay != NULL)
		http_relay_fini(more->http_relay);
	free(more->http_relay);
	free(more);
}

bool
session_client_has_tls(const struct session *s)
{
	return stream_is_tls(&s->down) ||
	    (s->more->facts != NULL && s->more->facts->header.tls.on);
}

const char *
session_first_name(const struct session *s, struct first *f)
{
	if (s->more->facts == NULL || s->more->facts->first == NULL)
		return NULL;
	first_unpack(s->more->facts->first, f);
	return f->sni[0] != '\0' ? f->sni : NULL;
}
