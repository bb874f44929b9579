/* route_command.c: the command route. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/words.h"
#include "control/commands/commands.h"
#include "control/language/command.h"
#include "control/answer/fields.h"
#include "control/life/context.h"
#include "control/value/route_plan.h"
#include "control/apply/server_find.h"

/* ---- words ---- */

static int
expects(const struct call *c, struct error *e)
{
	return error_set(e, "expects %s", c->row->args);
}

static const char *
what_is_wanted(enum route_kind kind)
{
	switch (kind) {
	case ROUTE_ALPN:
		return "the name of a protocol, such as h2";
	case ROUTE_PROTOCOL:
		return "tls, ssh, http, postgres or silent";
	default:
		return "NAME, *.NAME or *";
	}
}

/* Names are compared in lower case. */
static void
route_lower(enum route_kind kind, char *pattern)
{
	if (kind != ROUTE_SNI && kind != ROUTE_HOST)
		return;
	for (; *pattern != '\0'; pattern++)
		if (*pattern >= 'A' && *pattern <= 'Z')
			*pattern += 'a' - 'A';
}

/* Carries out `step` for each pattern of the list "a,b" in r->pattern, until
 * one fails. */
static int
each_pattern(struct call *c, struct route_plan *r,
    int (*step)(struct call *c, struct route_plan *r, struct error *e),
    struct error *e)
{
	char *list = r->pattern, *comma;
	int rc;

	do {
		r->pattern = list;
		comma = strchr(list, ',');
		if (comma != NULL)
			*comma = '\0';
		rc = step(c, r, e);
		if (comma != NULL)
			*comma = ',';
		list = comma != NULL ? comma + 1 : list;
	} while (rc == 0 && comma != NULL);
	return rc;
}

static int
check_pattern(struct call *c, struct route_plan *r, struct error *e)
{
	(void)c;
	route_lower(r->kind, r->pattern);
	if (route_pattern_is_valid(r->kind, r->pattern))
		return 0;
	return error_set(e, "\"%.100s\": expected %s", r->pattern,
	    what_is_wanted(r->kind));
}

/* Takes KIND and, unless that is default, PATTERN[,PATTERN ..]. Returns how
 * many words that were, or -1 with a short message. */
static int
parse_subject(struct call *c, struct route_plan *r, struct error *e)
{
	static char none[] = "";
	const struct words *w = c->words;

	if (w->count < 1)
		return expects(c, e);
	if (!route_kind_find(w->word[0], &r->kind))
		return error_set(e,
		    "\"%.100s\": expected sni, alpn, host, protocol or "
		    "default",
		    w->word[0]);
	r->pattern = none;
	if (r->kind == ROUTE_DEFAULT)
		return 1;
	if (w->count < 2)
		return expects(c, e);
	r->pattern = w->word[1];
	if (each_pattern(c, r, check_pattern, e) < 0)
		return -1;
	r->pattern = w->word[1];
	return 2;
}

/* Which servers there are is known when the plan is whole; what can be none is
 * refused. */
static int
route_check_servers(const char *list, struct error *e)
{
	char word[SPEC_TEXT_MAX];
	size_t n;

	for (;; list += n + 1) {
		n = strcspn(list, ",");
		if (n == 0 || n >= sizeof(word))
			return error_set(
			    e, "\"%.100s\": expected SERVER[,SERVER ..]", list);
		memcpy(word, list, n);
		word[n] = '\0';
		if (server_find_check(word, e) < 0)
			return -1;
		if (list[n] == '\0')
			return 0;
	}
}

/* ---- the list ---- */

static void
route_tell(
    struct fields *f, const struct route_plan *r, const struct route *force)
{
	fields_text(f, "kind", route_kind_name(r->kind));
	fields_text(f, "pattern", r->kind != ROUTE_DEFAULT ? r->pattern : NULL);
	fields_text(f, r->to_service ? "service" : "servers", r->to);
	fields_number(f, "clients", force != NULL ? *force->clients : 0);
}

/* Prints the routes as the commands that set them. */
static int
route_answer(struct call *c)
{
	const struct routes *in_force = c->service->frontend != NULL
	    ? frontend_routes(c->service->frontend)
	    : NULL;
	const struct route_plan *r;
	struct fields f;
	unsigned i;

	fields_list_begin(c->reply);
	for (i = 0; (r = route_plans_at(c->plan->routes, i)) != NULL; i++) {
		fields_begin(&f, c->reply, FIELDS_SILENT);
		route_tell(&f, r,
		    in_force != NULL && i < in_force->count ? &in_force->list[i]
							    : NULL);
		fields_end(&f);
		if (c->reply->json)
			continue;
		route_plan_print(r, &c->reply->out);
		(void)buffer_append(&c->reply->out, "\n", 1);
	}
	fields_list_end(c->reply);
	return 0;
}

/* ---- changes ---- */

static int
remove_one(struct call *c, struct route_plan *r, struct error *e)
{
	if (route_plans_remove(&c->plan->routes, r->kind, r->pattern) == 0)
		return 0;
	return error_set(
	    e, errno == ENOENT ? "there is no such route" : "out of memory");
}

static int
route_set_one(struct call *c, struct route_plan *r, struct error *e)
{
	if (route_plans_set(&c->plan->routes, r) == 0)
		return 0;
	if (errno == E2BIG)
		return error_set(e, "more than %d", ROUTES_MAX);
	return error_set(e, "out of memory");
}

static int
remove_route(struct call *c, struct error *e)
{
	struct route_plan r;
	int n;

	if (c->words->count == 0) {
		route_plans_drop(c->plan->routes);
		c->plan->routes = NULL;
		return 0;
	}
	n = parse_subject(c, &r, e);
	if (n < 0)
		return -1;
	if (n != c->words->count)
		return error_set(e, "expects KIND PATTERN");
	return each_pattern(c, &r, remove_one, e);
}

static int
run_route(struct call *c, struct error *e)
{
	struct route_plan r;
	int n;

	if (c->no)
		return remove_route(c, e);
	if (c->words->count == 0)
		return route_answer(c);
	n = parse_subject(c, &r, e);
	if (n < 0)
		return -1;
	r.to_service = c->words->count == n + 2 &&
	    strcmp(c->words->word[n], "service") == 0;
	if (c->words->count != n + 1 && !r.to_service)
		return expects(c, e);
	r.to = c->words->word[c->words->count - 1];
	if (!r.to_service && route_check_servers(r.to, e) < 0)
		return -1;
	return each_pattern(c, &r, route_set_one, e);
}

const struct command route_commands[] = {
	{ .name = "route",
	    .kind = KIND_CHANGE,
	    .flags = ROW_NO | ROW_SERVICE | ROW_COUNTERS,
	    .run = run_route,
	    .args = "[sni|alpn|host|protocol PATTERN[,PATTERN ..] | default "
		    "SERVERS | service NAME]",
	    .help = "selects servers, or a service, by the client's first "
		    "bytes (SNI, ALPN, Host, protocol); the first match is "
		    "used" },
	{ .name = NULL },
};
