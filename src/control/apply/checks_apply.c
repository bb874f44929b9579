/* checks_apply.c: checks of a draft come into force: they are carried out by
 * the checker or, "dsr", by the director. */
#include "config.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/words.h"
#include "control/apply/checks.h"
#include "control/plan/origin.h"
#include "dsr/director/director.h"
#include "proxy/check/check.h"
#include "proxy/check/checker.h"
#include "proxy/core/frontend_core.h"

/* A server that the draft sets, checks, or checks no longer. */
struct check_change {
	unsigned slot;
	struct checker_target target; /* its spec is ours */
	bool was_present;
	unsigned generation; /* of its addresses before */
};

struct check_changes {
	struct check_spec *all; /* of servers without one of their own; NULL:
				 * none */
	struct check_change *list;
	size_t count;
};

/* ---- the director ---- */

/* The others are checked by the checker, or not at all. */
static bool
is_left_to_director(void *arg, const struct server *s)
{
	const struct service *svc = arg;
	const struct server_plan *plan = plan_slot(svc->plan, s->slot);

	return plan == NULL || plan->check == NULL;
}

static int
set_director(struct service *svc, const struct plan *plan, struct error *e)
{
	const struct check_settings *s = &plan->config->checks;
	struct director_check c = { .interval_ms = s->interval_ms,
		.timeout_ms = s->timeout_ms,
		.wants = is_left_to_director,
		.arg = svc };
	struct check_spec *spec;

	if (svc->director == NULL)
		return 0;
	spec = s->text != NULL ? check_spec_read(s->text, e) : NULL;
	if (spec != NULL && check_spec_kind(spec) == &check_dsr) {
		c.on = true;
		c.port = check_plan_dsr_port(s, spec);
	}
	check_spec_drop(spec);
	return director_set_check(svc->director, &c, e);
}

/* ---- prepare ---- */

static void
free_changes(struct check_changes *c)
{
	size_t i;

	if (c == NULL)
		return;
	for (i = 0; i < c->count; i++)
		check_spec_drop(c->list[i].target.spec);
	check_spec_drop(c->all);
	free(c->list);
	free(c);
}

/* A check that stays as it is may have lost its program: its results report
 * it. */
static int
try_program(struct apply *a, const struct check_spec *spec, const char *before,
    struct error *e)
{
	return a->first || !text_equal(check_spec_text(spec), before)
	    ? checks_try_program(a->pen, spec, e)
	    : 0;
}

/* Returns 0, or -1 with a full message. */
static int
find_target(struct apply *a, struct check_changes *all, struct check_change *c,
    struct error *e)
{
	const struct plan *p = a->wanted;
	const struct server_plan *s = plan_slot(p, c->slot);
	struct checker_target *t = &c->target;
	const char *text = check_plan_text(p, c->slot);

	if (text == NULL)
		return 0;
	if (checker_reserve(a->service->checker, c->slot) < 0)
		return error_set(e, "out of memory");
	if (s->check != NULL &&
	    ((t->spec = check_spec_read(text, e)) == NULL ||
		try_program(a, t->spec, check_plan_text(a->now, c->slot),
		    e) < 0)) {
		origin_put(s->origin, "", e);
		return -1;
	}
	if (s->check == NULL)
		t->spec = check_spec_hold(all->all);
	t->port = check_plan_other_port(p, s);
	if (s->check_address != NULL)
		(void)addr_parse_ip(
		    &t->at, s->check_address, check_plan_port(p, s));
	return 0;
}

static int
find_targets(struct apply *a, struct check_changes *c, struct error *e)
{
	bool all = (a->changed & CHECKS_ON_ALL) != 0;
	struct check_change *one;
	const struct server *s;
	size_t i;

	for (i = 0; i < c->count; i++) {
		one = &c->list[i];
		one->slot = all ? (unsigned)i : a->servers.list[i].slot;
		s = pool_slot(a->service->pool, one->slot);
		one->was_present = s != NULL && s->present && !a->first;
		one->generation = s != NULL ? s->generation : 0;
		if (find_target(a, c, one, e) < 0)
			return -1;
	}
	return 0;
}

static unsigned
slots_of(const struct apply *a)
{
	unsigned now = pool_slots(a->service->pool),
		 wanted = plan_slots(a->wanted);

	return now > wanted ? now : wanted;
}

/* Returns 0, or -1 with a full message. */
static int
checks_apply_read_all(struct apply *a, struct check_changes *c, struct error *e)
{
	const char *text = a->wanted->config->checks.text;

	if (text == NULL)
		return 0;
	c->all = check_spec_read(text, e);
	if (c->all != NULL &&
	    try_program(a, c->all, a->now->config->checks.text, e) == 0)
		return 0;
	origin_add(a->wanted, "check", e);
	return -1;
}

/* Compiles the checks of the servers that the draft changes, or of all if it
 * changes what all depend on. NULL with a full message. */
static struct check_changes *
checks_apply_compile(struct apply *a, struct error *e)
{
	struct check_changes *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		error_set(e, "out of memory");
		return NULL;
	}
	c->count = a->changed & CHECKS_ON_ALL ? slots_of(a) : a->servers.count;
	c->list = calloc(c->count + 1, sizeof(*c->list));
	if (c->list == NULL)
		c->count = 0;
	if (c->list == NULL)
		error_set(e, "out of memory");
	else if (checks_apply_read_all(a, c, e) == 0 &&
	    find_targets(a, c, e) == 0)
		return c;
	free_changes(c);
	return NULL;
}

static void
count_server(void *arg, struct server *s)
{
	pen_count_server(arg, s);
}

static int
open_checker(struct service *svc, struct error *e)
{
	svc->checker = checker_new(
	    svc->pen->loop, svc->pool, frontend_core_of(svc->frontend));
	if (svc->checker == NULL)
		return error_set(e, "out of memory");
	checker_set_programs(svc->checker, svc->pen->programs);
	checker_on_lazy(svc->checker, count_server, svc->pen);
	return 0;
}

int
checks_prepare(struct apply *a, struct error *e)
{
	if (a->first && open_checker(a->service, e) < 0)
		return -1;
	a->checks = checks_apply_compile(a, e);
	if (a->checks != NULL && set_director(a->service, a->wanted, e) == 0)
		return 0;
	free_changes(a->checks);
	a->checks = NULL;
	if (a->first)
		checks_free(a->service);
	return -1;
}

void
checks_cancel(struct apply *a)
{
	struct error e;

	free_changes(a->checks);
	a->checks = NULL;
	/* of a start all goes as a whole */
	if (a->first)
		checks_free(a->service);
	else if (set_director(a->service, a->now, &e) < 0)
		log_error("checks not restored error=\"%s\"", e.text);
}

/* ---- commit ---- */

static const struct checker_target unchecked = { .spec = NULL };

static bool
is_by_director(const struct check_spec *s)
{
	return check_spec_kind(s) == &check_dsr;
}

/* Forgets the results of a server's checks, as they are off now, or are made by
 * another part of pen. */
static void
forget_health(struct service *svc, struct server *s, bool was, bool by_director)
{
	if (s != NULL && s->present && (by_director ? was : s->checked))
		pool_unchecked(svc->pool, s);
}

/* A server that serves already goes on while its first check is under way,
 * whatever new ones begin as; one that was checked at other addresses of its
 * name stays as it is. */
static void
commit_one(struct apply *a, struct check_change *c)
{
	enum server_initial initial = a->wanted->config->checks.initial;
	struct service *svc = a->service;
	struct server *s = pool_slot(svc->pool, c->slot);
	struct checker_target *t = &c->target;
	bool by_director = t->spec != NULL && is_by_director(t->spec), is, new;
	struct checker_report before;

	is = t->spec != NULL && !by_director && s != NULL && s->present;
	new = is && (!c->was_present || c->generation != s->generation);
	if (!is)
		forget_health(svc, s,
		    checker_report(svc->checker, c->slot, &before),
		    by_director);
	else
		pool_begin_checks(svc->pool, s);
	if (new && s->health.since == 0)
		pool_assume(svc->pool, s, initial);
	checker_set(svc->checker, c->slot, is ? t : &unchecked,
	    new && s->health.down);
}

void
checks_commit(struct apply *a)
{
	const struct check_settings *s = &a->wanted->config->checks;
	struct checker_options o = { .interval_ms = s->interval_ms,
		.interval_down_ms = s->interval_down_ms,
		.timeout_ms = s->timeout_ms,
		.running_max = (unsigned)s->running_max,
		.lazy = s->lazy };
	size_t i;

	checker_set_options(a->service->checker, &o);
	for (i = 0; i < a->checks->count; i++)
		commit_one(a, &a->checks->list[i]);
	free_changes(a->checks);
	a->checks = NULL;
}

void
checks_stop(struct service *svc)
{
	static const struct checker_target none;
	struct checker_report report;
	unsigned i;

	for (i = 0; svc->checker != NULL && i < pool_slots(svc->pool); i++)
		if (checker_report(svc->checker, i, &report))
			checker_set(svc->checker, i, &none, false);
}

void
checks_free(struct service *svc)
{
	checker_free(svc->checker);
	svc->checker = NULL;
}
