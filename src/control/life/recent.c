/* recent.c: see recent.h. */
#include "config.h"

#include <stdio.h>

#include "base/clock.h"
#include "control/life/recent.h"
#include "control/answer/fields.h"

void
recent_note(struct recent *c, const char *service, const struct server *s,
    const struct server_change *what)
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
	snprintf(n->service, sizeof(n->service), "%s", service);
	snprintf(
	    n->name, sizeof(n->name), "%s", s->name != NULL ? s->name : "");
	snprintf(n->reason, sizeof(n->reason), "%s", server_reason(s));
	c->next = (c->next + 1) % RECENT_CHANGES;
	if (c->count < RECENT_CHANGES)
		c->count++;
}

static void
recent_print(const struct recent_change *n, uint64_t now_ms, bool several,
    struct reply *r)
{
	char time[CLOCK_TEXT_MAX];
	struct fields f;

	fields_begin(&f, r, FIELDS_LINE);
	if (several)
		fields_text(&f, "service", n->service);
	fields_number(&f, "server", n->server);
	fields_text(&f, "role", server_role_name(n->role));
	fields_text(&f, "name", n->name);
	fields_text(&f, "time", clock_text(n->wall, time));
	fields_number(&f, "ago_s", (now_ms - n->at_ms) / 1000);
	fields_text(&f, "was", server_state_name(n->was));
	fields_text(&f, "state", server_state_name(n->is));
	fields_phrase(&f, "reason", n->reason);
	fields_end(&f);
}

void
recent_report(
    const struct recent *c, uint64_t now_ms, bool several, struct reply *r)
{
	unsigned i;

	fields_list_begin(r);
	for (i = 1; i <= c->count; i++)
		recent_print(
		    &c->list[(c->next + RECENT_CHANGES - i) % RECENT_CHANGES],
		    now_ms, several, r);
	fields_list_end(r);
}
