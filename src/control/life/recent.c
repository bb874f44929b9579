/* recent.c: see recent.h. */
#include "config.h"

#include <stdio.h>

#include "base/clock.h"
#include "control/life/recent.h"
#include "control/answer/facts.h"

void
recent_note(
    struct recent *c, const struct server *s, const struct server_change *what)
{
	struct recent_change *n = &c->list[c->next];

	*n = (struct recent_change){
		.at_ms = s->history.since_ms,
		.wall = s->history.since_wall,
		.server = s->number,
		.role = s->role,
		.was = what->was,
		.is = what->is,
	};
	snprintf(
	    n->name, sizeof(n->name), "%s", s->name != NULL ? s->name : "");
	snprintf(n->reason, sizeof(n->reason), "%s", s->history.reason);
	c->next = (c->next + 1) % RECENT_CHANGES;
	if (c->count < RECENT_CHANGES)
		c->count++;
}

static void
life_recent_tell(
    const struct recent_change *n, uint64_t now_ms, struct reply *r)
{
	char time[CLOCK_TEXT_MAX];
	struct facts f;

	facts_begin(&f, r, FACTS_LINE);
	facts_number(&f, "server", n->server);
	facts_text(&f, "role", server_role_name(n->role));
	facts_text(&f, "name", n->name);
	facts_text(&f, "time", clock_text(n->wall, time));
	facts_number(&f, "ago_s", (now_ms - n->at_ms) / 1000);
	facts_text(&f, "was", server_state_name(n->was));
	facts_text(&f, "state", server_state_name(n->is));
	facts_phrase(&f, "reason", n->reason);
	facts_end(&f);
}

void
recent_tell(const struct recent *c, uint64_t now_ms, struct reply *r)
{
	unsigned i;

	facts_list_begin(r);
	for (i = 1; i <= c->count; i++)
		life_recent_tell(
		    &c->list[(c->next + RECENT_CHANGES - i) % RECENT_CHANGES],
		    now_ms, r);
	facts_list_end(r);
}
