/* history.c: see history.h. */
#include "config.h"

#include "pool/history.h"

static void
history_note(struct server_history *h, enum server_state is,
    const struct pool_watcher *w, const char *reason)
{
	size_t n;

	h->state = is;
	h->since_ms = w->now != NULL ? w->now(w->arg) : 0;
	h->since_wall = w->wall != NULL ? w->wall(w->arg) : 0;
	/* it may come from a peer, and goes to the log and into reports */
	for (n = 0; n < SERVER_REASON_MAX - 1 && reason[n] != '\0'; n++)
		h->reason[n] = reason[n] == '"'		 ? '\''
		    : reason[n] < ' ' || reason[n] > '~' ? '?'
							 : reason[n];
	h->reason[n] = '\0';
}

void
history_begin(
    struct server *s, const struct pool_watcher *w, const char *reason)
{
	s->history.changes = 0;
	s->history.down_ms = 0;
	history_note(&s->history, server_state(s), w, reason);
}

void
history_tell(struct server *s, const struct pool_watcher *w, const char *reason)
{
	struct server_history *h = &s->history;
	struct server_change c = { .was = h->state, .is = server_state(s) };
	uint64_t since = h->since_ms;

	if (c.is == c.was)
		return;
	history_note(h, c.is, w, reason);
	h->changes++;
	c.lasted_ms = h->since_ms - since;
	if (server_state_is_down(c.was))
		h->down_ms += c.lasted_ms;
	if (w->on_state != NULL)
		w->on_state(w->arg, s, &c);
}
