/* history.c: see history.h. */
#include "config.h"

#include <string.h>

#include "pool/history.h"

/* Copies a reason, which may come from a peer, without quotes and control
 * characters: it goes to the log and into reports. */
static void
copy_reason(char to[SERVER_REASON_MAX], const char *reason)
{
	size_t n;

	for (n = 0; n < SERVER_REASON_MAX - 1 && reason[n] != '\0'; n++)
		to[n] = reason[n] == '"'		 ? '\''
		    : reason[n] < ' ' || reason[n] > '~' ? '?'
							 : reason[n];
	to[n] = '\0';
}

static void
history_note(struct server_history *h, enum server_state is,
    const struct pool_watcher *w, const char *reason)
{
	h->state = is;
	h->since_ms = w->now != NULL ? w->now(w->arg) : 0;
	h->since_wall = w->wall != NULL ? w->wall(w->arg) : 0;
	if (reason != h->reason)
		copy_reason(h->reason, reason);
	if (server_state_is_down(is))
		memcpy(h->fault, h->reason, sizeof(h->fault));
}

void
history_begin(
    struct server *s, const struct pool_watcher *w, const char *reason)
{
	s->history.fault[0] = '\0';
	s->history.changes = 0;
	s->history.down_ms = 0;
	history_note(&s->history, server_state(s), w, reason);
}

void
history_blame(struct server *s, const char *reason)
{
	if (reason[0] != '\0')
		copy_reason(s->history.fault, reason);
}

/* An operator's `up` does not make a server fail that failed before. */
static bool
uncovers_fault(const struct server_history *h, enum server_state is)
{
	return (h->state == SERVER_MAINT || h->state == SERVER_DRAIN) &&
	    server_state_is_down(is) && h->fault[0] != '\0';
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
	history_note(h, c.is, w, uncovers_fault(h, c.is) ? h->fault : reason);
	h->changes++;
	c.lasted_ms = h->since_ms - since;
	if (server_state_is_down(c.was))
		h->down_ms += c.lasted_ms;
	if (w->on_state != NULL)
		w->on_state(w->arg, s, &c);
}
