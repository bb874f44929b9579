/* check_report.c: what is known of servers from their health checks. */
#include "config.h"

#include "base/addr.h"
#include "control/apply/services.h"
#include "control/apply/checks.h"
#include "control/language/command.h"
#include "control/answer/fields.h"
#include "control/life/context.h"
#include "control/report/report.h"
#include "control/report/server_fields.h"
#include "dsr/director/director.h"
#include "net/loop/loop.h"
#include "proxy/check/checker.h"

/* ---- the last result of a server ---- */

/* The same of the checker and of the director. */
struct last_check {
	const char *kind, *result, *reason;
	char address[ADDR_TEXT_MAX];
	uint64_t took_us;
	uint64_t next_ms;
	bool has_next;
};

/* How many results in a row there are, of how many that would change the
 * state. */
static void
emit_count(struct fields *f, const struct service *svc, const struct server *s)
{
	const struct health_options *o = &pool_options(svc->pool)->health;

	fields_number(f, s->health.down ? "rise" : "fall", s->health.against);
	fields_number(f, "of",
	    s->health.unproven	 ? 1
		: s->health.down ? o->rise
				 : o->fall);
}

static void
check_report_emit_server(struct reply *r, const struct service *svc,
    const struct server *s, const struct last_check *last)
{
	struct fields f;

	fields_begin(&f, r, FIELDS_LINE);
	fields_number(&f, "server", s->number);
	fields_text(&f, "check", last->kind);
	fields_text(&f, "state", server_state_name(server_state(s)));
	fields_text(&f, "result", last->result);
	fields_text(&f, "address", last->address);
	emit_count(&f, svc, s);
	fields_number(&f, "since",
	    (loop_now(svc->pen->loop) - s->history.since_ms) / 1000);
	fields_number(&f, "rtt_us", last->took_us);
	if (last->has_next) {
		fields_number(&f, "next_ms", last->next_ms);
		fields_text(&f, "reason", last->reason);
	}
	fields_end(&f);
}

/* ---- checker or director ---- */

/* The director checks the VIPs. Returns false when it does not check this
 * server. */
static bool
result_of_director(const struct service *svc, const struct server *s,
    struct last_check *last)
{
	static const struct probe_report none = { .result = PROBE_NONE };
	const struct probe_report *report;

	if (svc->director == NULL || s->role != SERVER_REGULAR ||
	    svc->plan->config->checks.text == NULL ||
	    plan_slot(svc->plan, s->slot)->check != NULL)
		return false;
	report = director_probed(svc->director, s);
	if (report == NULL)
		report = &none;
	*last = (struct last_check){ .kind = "dsr",
		.result = probe_result_name(report->result),
		.address = "none",
		.took_us = report->rtt };
	if (report->result != PROBE_NONE)
		peer_format(&report->vip, last->address);
	return true;
}

static bool
result_of_checker(const struct service *svc, const struct server *s,
    struct last_check *last)
{
	static const char *const results[] = { "none", "ok", "failed" };
	struct checker_report w;

	if (!checker_report(svc->checker, s->slot, &w))
		return false;
	*last = (struct last_check){ .kind = check_spec_kind(w.spec)->name,
		.result = results[w.result],
		.reason = w.reason,
		.address = "none",
		.took_us = w.result == CHECK_GOOD ? w.took_us : 0,
		.next_ms = w.next_ms,
		.has_next = true };
	if (w.address->len > 0)
		addr_format(w.address, last->address);
	return true;
}

static bool
find_last(const struct service *svc, const struct server *s,
    struct last_check *last)
{
	return s->present &&
	    (result_of_checker(svc, s, last) ||
		result_of_director(svc, s, last));
}

void
report_check(const struct server_view *v)
{
	struct last_check last = { .kind = NULL };
	bool has_check = v->service->pen->phase >= PHASE_SERVING &&
	    find_last(v->service, v->server, &last);

	fields_text(v->f, v->row->key, last.kind);
	if (!has_check)
		return;
	fields_text(v->f, "check_result", last.result);
	fields_number(v->f, "check_us", last.took_us);
	emit_count(v->f, v->service, v->server);
}

static bool
more_checks(struct reply *r, struct service *svc)
{
	unsigned count = pool_slots(svc->pool);
	struct last_check last;

	while (r->at < count && buffer_length(&r->out) < REPLY_PIECE) {
		const struct server *s =
		    pool_slot(svc->pool, (unsigned)r->at++);

		if (find_last(svc, s, &last))
			check_report_emit_server(r, svc, s, &last);
	}
	if (r->at < count)
		return true;
	fields_list_end(r);
	return false;
}

static int
run_checks(struct call *c, struct error *e)
{
	if (!check_plan_is_wanted(c->service->plan))
		return error_set(e, "no check is set");
	fields_list_begin(c->reply);
	c->reply->at = 0;
	c->reply->more = more_checks;
	return 0;
}

const struct command check_commands[] = {
	{ .name = "checks",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_SERVICE,
	    .run = run_checks,
	    .help = "prints the results of health checks" },
	{ .name = NULL },
};
