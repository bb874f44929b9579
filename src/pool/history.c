/* history.c: see history.h. */
#include "config.h"

#include "pool/history.h"

static void
history_note(struct server *s, enum server_state is,
    const struct pool_watcher *w, const char *reason)
{
	struct server_history *h = &s->history;

	h->state = is;
	h->since_ms = w->now != NULL ? w->now(w->arg) : 0;
	h->since_wall = w->wall != NULL ? w->wall(w->arg) : 0;
	server_set_reason(&s->reason, reason);
	if (server_state_is_down(is))
		server_set_reason(&s->fault, server_reason(s));
}

void
history_begin(
    struct server *s, const struct pool_watcher *w, const char *reason)
{
	server_set_reason(&s->fault, "");
	s->history.changes = 0;
	s->history.down_ms = 0;
	history_note(s, server_state(s), w, reason);
}

void
history_blame(struct server *s, const char *reason)
{
	if (reason[0] != '\0')
		server_set_reason(&s->fault, reason);
}

/* An operator's `up` does not make a server fail that failed before. */
static bool
uncovers_fault(const struct server *s, enum server_state is)
{
	const struct server_history *h = &s->history;

	return (h->state == SERVER_MAINT || h->state == SERVER_DRAIN) &&
	    server_state_is_down(is) && server_fault(s)[0] != '\0';
}

void
history_report(
    struct server *s, const struct pool_watcher *w, const char *reason)
{
	struct server_history *h = &s->history;
	struct server_change c = { .was = h->state, .is = server_state(s) };
	uint64_t since = h->since_ms;

	if (c.is == c.was)
		return;
	history_note(
	    s, c.is, w, uncovers_fault(s, c.is) ? server_fault(s) : reason);
	h->changes++;
	c.lasted_ms = h->since_ms - since;
	if (server_state_is_down(c.was))
		h->down_ms += c.lasted_ms;
	if (w->on_state != NULL)
		w->on_state(w->arg, s, &c);
}
