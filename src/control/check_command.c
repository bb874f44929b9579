/* check_command.c: commands about checks of servers; a kind of check is a
 * row. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "control/choices.h"
#include "control/command.h"
#include "control/facts.h"
#include "control/pen.h"
#include "dsr/director/director.h"
#include "net/loop.h"

/* ---- what was found out ---- */

/* How many results in a row there are, of how many that would change the
 * state. */
static void
tell_count(struct facts *f, const struct pen *p, const struct server *s)
{
	const struct health_options *o = &pool_options(p->pool)->health;

	facts_number(f, s->health.down ? "rise" : "fall", s->health.against);
	facts_number(f, "of", s->health.down ? o->rise : o->fall);
}

static void
tell_server(struct reply *r, const struct pen *p, const struct server *s)
{
	static const struct probe_report none = { .result = PROBE_NONE };
	const struct probe_report *known = director_probed(p->director, s),
				  *report = known != NULL ? known : &none;
	uint64_t now = loop_now(p->loop);
	bool asked = report->result != PROBE_NONE;
	char address[PEER_TEXT_MAX] = "none";
	struct facts f;

	if (asked)
		peer_format(&report->vip, address);
	facts_begin(&f, r, FACTS_LINE);
	facts_number(&f, "server", s->number);
	facts_text(&f, "check", choice_name(choices_check,
		(int)p->plan->config.checks.kind));
	facts_text(&f, "state", s->health.down ? "unhealthy" : "healthy");
	facts_text(&f, "result", probe_result_name(report->result));
	facts_text(&f, "address", address);
	tell_count(&f, p, s);
	facts_number(&f, "since",
	    s->health.since != 0 ? (now - s->health.since) / 1000 : 0);
	facts_number(&f, "rtt_us", report->rtt);
	facts_end(&f);
}

static bool
more_checks(struct reply *r, struct pen *p)
{
	unsigned count = pool_count(p->pool);

	while (r->at < count && buffer_length(&r->out) < REPLY_PIECE) {
		const struct server *s =
		    pool_server(p->pool, (unsigned)r->at++);

		if (s->present)
			tell_server(r, p, s);
	}
	if (r->at < count)
		return true;
	facts_list_end(r);
	return false;
}

int
run_checks(struct call *c, struct error *e)
{
	if (c->pen->director == NULL ||
	    c->pen->plan->config.checks.kind == CHECK_NONE)
		return error_set(e, "no check is set");
	facts_list_begin(c->reply);
	c->reply->at = 0;
	c->reply->more = more_checks;
	return 0;
}
