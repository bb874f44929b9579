/* session_wait.c: clients that no server takes at the moment, and who may wait for
 * one: all servers refused, as they do while they are started again. */
#include "config.h"

#include "proxy/session_private.h"

/* How soon servers that refused are tried again for the same client. */
enum { RETRY_MS = 500 };

/* All servers may be tried once more, as far as `tries` lets them. */
static void
session_try_again(struct session *s)
{
	s->tried = (struct tried){ .hint = s->tried.hint,
		.proven = s->tried.proven,
		.given = s->tried.given };
	session_next_server(s);
}

static void
session_on_retry(struct timeouts *t, struct expiry *x)
{
	(void)t;
	session_try_again(list_entry(x, struct session, expiry));
}

bool
session_wait(struct session *s)
{
	struct frontend *f = s->frontend;
	uint64_t again = loop_now(f->loop) + RETRY_MS;

	if (!s->refused || pool_options(f->pool)->stubborn ||
	    !pool_has_tries_left(f->pool, &s->tried) ||
	    again - s->started > f->options.retry_ms)
		return false;
	timeouts_add(&f->retrying, &s->expiry, again);
	return true;
}

void
session_wait_init(struct frontend *f)
{
	timeouts_init(&f->retrying, f->loop, session_on_retry, NULL);
}
