/* route_warnings.c: see route_warnings.h. */
#include "config.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "control/language/command.h"
#include "control/verify/route_warnings.h"
#include "control/verify/warnings.h"
#include "control/apply/routes.h"
#include "control/apply/server_find.h"
#include "tls/tls_settings.h"

struct warning_scope {
	struct call call; /* what server_find_each() wants: pen and plan */
	const struct route_plan *route;
	unsigned servers; /* that a word means */
	struct buffer *text;
};

/* ---- servers ---- */

static void
count_server(void *arg, unsigned slot)
{
	unsigned *servers = arg;

	(void)slot;
	++*servers;
}

static void
warn_word(void *arg, const char *word)
{
	struct warning_scope *d = arg;
	struct error e;

	d->servers = 0;
	(void)server_find_each(&d->call, word, count_server, &d->servers, &e);
	if (d->servers > 0)
		return;
	route_plan_print(d->route, d->text);
	reply_add(d->text, ": there is no server %.100s\n", word);
}

/* ---- routes that come to nothing ---- */

/* Whether each name that `b` is for is one of `a`, too. All that end with
 * ".b.a" end with ".a". */
static bool
route_warnings_covers(const struct route_plan *a, const struct route_plan *b)
{
	size_t n = strlen(a->pattern), m = strlen(b->pattern);

	if (a->kind != b->kind ||
	    (a->kind != ROUTE_SNI && a->kind != ROUTE_HOST))
		return false;
	if (n == 1)
		return a->pattern[0] == '*';
	return a->pattern[0] == '*' && m > n - 1 &&
	    strcmp(b->pattern + m - (n - 1), a->pattern + 1) == 0;
}

static void
warn_order(struct warning_scope *d, const struct route_plans *all, unsigned i)
{
	const struct route_plan *a;
	unsigned k;

	for (k = 0; k < i; k++) {
		a = route_plans_at(all, k);
		if (!route_warnings_covers(a, d->route))
			continue;
		route_plan_print(d->route, d->text);
		reply_add(d->text, " has no effect after route %s %s\n",
		    route_kind_name(a->kind), a->pattern);
		return;
	}
}

/* ---- all of them ---- */

/* Prints warnings about routes: with `order` also about routes that others
 * precede, which compares each two of them; else only those that depend on
 * servers. */
static void
print_routes(struct service *svc, const struct plan *plan, bool order,
    struct buffer *text)
{
	struct warning_scope d = { .call = { .pen = svc->pen,
				       .service = svc,
				       .plan = (struct plan *)(uintptr_t)plan },
		.text = text };
	unsigned i;

	if (route_plans_count(plan->routes) > 0 && !routes_are_for(plan)) {
		reply_add(
		    text, "route has no effect with udp, dsr_if or dummy\n");
		return;
	}
	for (i = 0; (d.route = route_plans_at(plan->routes, i)) != NULL; i++) {
		if (!d.route->to_service)
			routes_each_word(d.route->to, warn_word, &d);
		if (order)
			warn_order(&d, plan->routes, i);
		if (d.route->kind == ROUTE_PROTOCOL &&
		    strcmp(d.route->pattern, "tls") == 0 &&
		    tls_settings_serve(&plan->config->tls)) {
			route_plan_print(d.route, d.text);
			reply_add(d.text,
			    " has no effect with ssl_cert: pen terminates the "
			    "TLS of clients\n");
		}
	}
}

void
route_warnings_print(
    struct service *svc, const struct plan *plan, struct buffer *text)
{
	print_routes(svc, plan, true, text);
}

/* A start logs its own. */
int
route_warnings_prepare(struct apply *a, struct error *e)
{
	bool order = (a->changed & CHANGED_ROUTES) != 0;
	struct buffer old;

	(void)e;
	if (a->pen->phase < PHASE_SERVING)
		return 0;
	buffer_init(&old);
	print_routes(a->service, a->now, order, &old);
	print_routes(a->service, a->wanted, order, &a->route_warnings);
	warnings_drop_known(&a->route_warnings, &old);
	buffer_fini(&old);
	return 0;
}

void
route_warnings_commit(struct apply *a)
{
	warnings_log_lines(a->wanted, &a->route_warnings, UINT_MAX);
}

void
route_warnings_cancel(struct apply *a)
{
	buffer_fini(&a->route_warnings);
}
