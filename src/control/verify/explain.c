/* explain.c: see explain.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "control/language/command.h"
#include "control/verify/explain.h"
#include "control/answer/fields.h"
#include "control/value/route_plan.h"
#include "control/life/context.h"
#include "control/apply/routes.h"
#include "control/apply/services.h"
#include "pool/balance.h"
#include "pool/explain.h"
#include "proxy/core/limits.h"

/* Servers that are listed one by one; of longer lists the rest is counted. */
enum { OBSTACLES_TOLD = 200 };

struct subject {
	const struct service *service;
	struct peer who;
	uint64_t now;
	struct attempts attempts;  /* of a client that comes now */
	struct first first;	   /* its reply */
	const struct route *route; /* NULL: none */
	char
	    routes[512]; /* those that apply, with commas; "": there are none */
	struct explanation x;
	enum limit_verdict limit; /* that the client is beyond */
};

/* ---- the client ---- */

/* "NAME=N" at *text, and the comma that ends it. */
static bool
explain_take_number(const char **text, const char *name, uint32_t *value)
{
	size_t length = strlen(name), n = strcspn(*text, ",");
	char digits[16];
	uint64_t x;

	if (strncmp(*text, name, length) != 0 || n - length >= sizeof(digits))
		return false;
	snprintf(
	    digits, sizeof(digits), "%.*s", (int)(n - length), *text + length);
	if (number_parse(digits, 0, UINT32_MAX, &x) < 0)
		return false;
	*value = (uint32_t)x;
	*text += n + ((*text)[n] == ',' && (*text)[n + 1] != '\0');
	return true;
}

/* "unix:uid=33", "unix:pid=7,uid=33,gid=33"; without a group it is that of the
 * same number. */
static int
explain_parse_owner(struct peer *who, const char *text)
{
	struct peer_owner owner = { .pid = 0 };

	if (strncmp(text, "unix:", 5) != 0)
		return -1;
	text += 5;
	(void)explain_take_number(&text, "pid=", &owner.pid);
	if (!explain_take_number(&text, "uid=", &owner.uid))
		return -1;
	owner.gid = owner.uid;
	if (*text != '\0')
		(void)explain_take_number(&text, "gid=", &owner.gid);
	if (*text != '\0')
		return -1;
	peer_set_owner(who, &owner);
	return 0;
}

static int
parse_client(struct peer *who, const char *text, struct error *e)
{
	struct addr at;

	*who = (struct peer){ .family = AF_UNIX };
	if (strcmp(text, "unix") == 0 || explain_parse_owner(who, text) == 0)
		return 0;
	if (spec_parse_ip(&at, text, 0) < 0)
		return error_set(e,
		    "\"%.100s\" is not a client: ADDRESS, ADDRESS:PORT, unix "
		    "or unix:uid=N,gid=N",
		    text);
	peer_from_addr(who, &at);
	return 0;
}

/* Where the list needs it: "SE". */
static void
emit_country(struct fields *f, const struct subject *s)
{
	int number;
	char code[3];

	if (!acl_has_countries(s->x.acl))
		return;
	number = countries_of(pool_countries(s->service->pool), &s->who);
	if (number < 0) {
		fields_text(f, "country", "unknown");
		return;
	}
	snprintf(
	    code, sizeof(code), "%c%c", 'A' + number / 26, 'A' + number % 26);
	fields_text(f, "country", code);
}

/* ---- its route ---- */

static void
note_route(struct subject *s, const struct route *r, const char *service)
{
	size_t n = strlen(s->routes);

	snprintf(s->routes + n, sizeof(s->routes) - n, "%s%s%s%s%s%s",
	    n > 0 ? ", " : "", route_kind_name(r->kind),
	    r->kind != ROUTE_DEFAULT ? " " : "", r->pattern,
	    service != NULL ? " service " : "", service != NULL ? service : "");
}

/* Finds the route of one service, and the servers it allows, or the service it
 * leads to. `made`, which the caller frees, is for routes that are not in force
 * yet. */
static int
find_route(struct subject *s, struct service *svc, struct routes **made,
    const char **leads_to, struct error *e)
{
	struct routes *routes =
	    svc->frontend != NULL ? frontend_routes(svc->frontend) : NULL;
	const struct route_plan *plan;
	struct route *r;

	*leads_to = NULL;
	s->route = NULL;
	s->attempts.allowed = NULL;
	if (svc->frontend == NULL && routes_make(svc, svc->plan, made) < 0)
		return error_set(e, "out of memory");
	if (*made != NULL)
		routes_prepare(*made, NULL);
	if (routes == NULL)
		routes = *made;
	r = routes != NULL ? routes_find(routes, &s->first) : NULL;
	if (routes != NULL && r == NULL && s->routes[0] == '\0')
		snprintf(s->routes, sizeof(s->routes), "%s", "none");
	if (r == NULL)
		return 0;
	plan = route_plans_at(svc->plan->routes, (unsigned)(r - routes->list));
	if (plan->to_service)
		*leads_to = plan->to;
	note_route(s, r, *leads_to);
	s->route = r;
	s->attempts.allowed = &r->servers;
	return 0;
}

/* The same from service to service; s->service is the last one. */
static int
find_routes(struct subject *s, struct service *svc, struct routes **made,
    struct error *e)
{
	const char *leads_to = NULL;

	do {
		if (leads_to != NULL)
			svc = service_find(svc->pen, leads_to);
		routes_free(*made);
		*made = NULL;
		if (find_route(s, svc, made, &leads_to, e) < 0)
			return -1;
		s->service = svc;
	} while (leads_to != NULL && pool_permits(svc->pool, &s->who));
	return 0;
}

/* ---- why, in a full message ---- */

static const char *
client_acl(const struct subject *s, char word[ACL_WORD_MAX])
{
	return acl_ref_word(&s->service->plan->config->client_acl, word);
}

/* Writes why no server is chosen. */
static void
write_reason_of_none(const struct subject *s, char *text, size_t size)
{
	const struct pool *pool = s->service->pool;
	char list[ACL_WORD_MAX];

	if (!s->x.permitted)
		snprintf(text, size,
		    "access list %s denies the client, and there is no abuse "
		    "server",
		    client_acl(s, list));
	else if (pool_may_wait(pool, &s->who, &s->attempts) &&
	    s->service->plan->config->frontend.queue_ms > 0)
		snprintf(text, size,
		    "all servers that may take the client are full: it waits");
	else if (pool_options(pool)->stubborn && pool_has_eligible(pool))
		snprintf(text, size,
		    "the client's server is unavailable, and with stubborn it "
		    "gets no other");
	else if (s->route != NULL)
		snprintf(
		    text, size, "no server of its route may take the client");
	else
		snprintf(text, size, "no server may take the client");
}

/* Writes why the client gets this server, or none: the value of `because`. */
static void
write_reason(const struct subject *s, char *text, size_t size)
{
	const struct decision *d = &s->x.decision;
	const struct pool_options *o = pool_options(s->service->pool);
	char list[ACL_WORD_MAX];

	switch (d->rule) {
	case RULE_STICKY:
		snprintf(text, size,
		    "the client used this server last, %llu s ago",
		    (unsigned long long)(s->now - s->x.client->seen) / 1000);
		break;
	case RULE_FAILBACK:
		snprintf(text, size,
		    "the client was moved away from this server and returns to "
		    "it (failback)");
		break;
	case RULE_BALANCE:
		snprintf(text, size, "%s chooses it", o->balance->name);
		break;
	case RULE_PASSED_ON:
		snprintf(text, size,
		    "%s chooses server %u, whose access list denies the "
		    "client: it gets another one",
		    o->balance->name, d->turn->number);
		break;
	case RULE_ABUSE:
		snprintf(text, size,
		    "access list %s denies the client: it gets the abuse "
		    "server",
		    client_acl(s, list));
		break;
	case RULE_EMERGENCY:
		snprintf(text, size,
		    "no other server may take the client: it gets the "
		    "emergency server");
		break;
	case RULE_LAST_RESORT:
		snprintf(text, size,
		    "all servers are out of rotation: pen tries the suspect or "
		    "blacklisted one whose time expires first");
		break;
	default:
		write_reason_of_none(s, text, size);
	}
}

/* ---- limits of the client ---- */

static const char *
outcome_of_limit(const struct subject *s)
{
	switch (s->service->plan->config->frontend.limits.action) {
	case LIMIT_ACTION_DELAY:
		return "is delayed";
	case LIMIT_ACTION_TARPIT:
		return "is tarpitted";
	case LIMIT_ACTION_ABUSE:
		if (s->x.decision.server != NULL)
			return "gets the abuse server";
		break;
	case LIMIT_ACTION_REFUSE:
		break;
	}
	return "is refused";
}

/* Writes which limit of the client decides. */
static void
write_limit_reason(const struct subject *s, char *text, size_t size)
{
	const struct limit_options *o =
	    &s->service->plan->config->frontend.limits;

	if (s->limit == LIMIT_CONNS)
		snprintf(text, size,
		    "the client has the %llu connections that client_conns "
		    "allows: it %s",
		    (unsigned long long)o->conns, outcome_of_limit(s));
	else
		snprintf(text, size,
		    "the client has more new connections than client_rate "
		    "allows: it %s",
		    outcome_of_limit(s));
}

/* Explains a client over a limit: it gets the abuse server, or a server later,
 * or none. */
static void
explain_limit(struct subject *s)
{
	const struct service *svc = s->service;
	struct server *abuse = pool_slot(svc->pool, SLOT_ABUSE);

	if (svc->pen->phase < PHASE_SERVING)
		return;
	s->limit = limits_check(frontend_core_of(svc->frontend), &s->who);
	if (s->limit == LIMIT_WITHIN)
		return;
	s->x.decision.server =
	    svc->plan->config->frontend.limits.action == LIMIT_ACTION_ABUSE &&
		abuse->present
	    ? abuse
	    : NULL;
}

/* ---- the answer ---- */

static void
explain_emit_server(struct fields *f, const struct server *s)
{
	char at[ADDR_TEXT_MAX];

	if (s == NULL) {
		fields_integer(f, "server", -1);
		return;
	}
	fields_number(f, "server", s->number);
	fields_text(f, "name", s->name);
	fields_text(
	    f, "address", addr_format(&s->addrs.addr[s->addr_first], at));
}

static void
explain_emit_acl(struct fields *f, const struct subject *s)
{
	const struct acl_ref *list = &s->service->plan->config->client_acl;
	const struct explanation *x = &s->x;
	const struct acl_entry *entry;
	char text[ACL_TEXT_MAX];

	if (list->name != NULL)
		fields_text(f, "acl", list->name);
	else
		fields_integer(f, "acl", list->number);
	fields_flag(f, "permitted", x->permitted);
	emit_country(f, s);
	if (x->entry == x->acl->count) {
		fields_text(f, "entry", "none");
		return;
	}
	entry = acl_at(x->acl, x->entry);
	fields_number(f, "entry", x->entry + 1);
	fields_text(f, "matches", acl_format_entry(entry, text));
	if (entry->line > 0) {
		fields_text(f, "file", acl_file_of(x->acl, x->entry));
		fields_number(f, "line", entry->line);
	}
}

/* Emits the proxy, if the client is one that a proxy names. */
static void
emit_proxy(struct fields *f, const struct subject *s)
{
	const struct config *c = s->service->plan->config;
	const struct server *server = s->x.decision.server;
	enum proxy_version version;
	char word[ACL_WORD_MAX];

	if (plan_acls_of(&s->service->pen->plan->process->acls,
		&c->accept_proxy) != NULL)
		fields_text(
		    f, "accept_proxy", acl_ref_word(&c->accept_proxy, word));
	if (server == NULL)
		return;
	version = frontend_server_proxy(&c->frontend, server);
	if (version != PROXY_OFF)
		fields_number(f, "proxy_protocol", version);
}

static void
emit_remembered(struct fields *f, const struct subject *s)
{
	const struct sticky_client *c = s->x.client;

	if (c == NULL) {
		fields_text(f, "remembered", "none");
		return;
	}
	fields_number(f, "remembered", c->server);
	fields_number(f, "remembered_age", (s->now - c->seen) / 1000);
}

/* A listener that has no connection left accepts no client. */
static void
emit_limit(struct fields *f, const struct service *svc)
{
	uint64_t max = svc->plan->config->frontend.sessions_max;

	if (svc->pen->phase < PHASE_SERVING)
		return;
	if (frontend_stats(svc->frontend)->sessions >= max) {
		fields_text(f, "waits", "conn_max");
		fields_number(f, "conn_max", max);
	} else if (!shared_limit_has(frontend_core_of(svc->frontend))) {
		fields_text(f, "waits", "conn_max_all");
		fields_number(
		    f, "conn_max_all", svc->pen->plan->process->conn_max_all);
	}
}

/* The servers that could not get the client, and why. */
static void
emit_obstacles(struct fields *whole, const struct subject *s)
{
	unsigned count = pool_count(s->service->pool), i, told = 0;
	struct fields f;

	fields_items(whole, "passed_over");
	for (i = 0; i < count && told < OBSTACLES_TOLD; i++) {
		const struct server *server = pool_server(s->service->pool, i);
		enum obstacle o = pool_obstacle(server, &s->who, &s->x);

		if ((!server->present && !server->unresolved) ||
		    o == OBSTACLE_NONE || server == s->x.decision.server)
			continue;
		fields_item_begin(&f, whole);
		fields_number(&f, "server", server->number);
		fields_text(&f, "name", server->name);
		fields_text(&f, "obstacle", obstacle_name(o));
		fields_end(&f);
		told++;
	}
}

static void
explain_answer(struct reply *r, const struct subject *s)
{
	char text[256], who[PEER_TEXT_MAX];
	struct fields f;
	const struct server *chosen;
	size_t n;

	if (s->limit != LIMIT_WITHIN)
		write_limit_reason(s, text, sizeof(text));
	else
		write_reason(s, text, sizeof(text));
	chosen = s->x.decision.server;
	n = strlen(text);
	if (chosen != NULL && chosen->health.down && !pool_keeps_out(chosen))
		snprintf(text + n, sizeof(text) - n,
		    ", although it is down (panic)");
	fields_begin(&f, r, FIELDS_LINES);
	fields_text(&f, "client",
	    s->who.port == 0 ? peer_format_host(&s->who, who)
			     : peer_format(&s->who, who));
	explain_emit_server(&f, s->x.decision.server);
	fields_text(&f, "rule",
	    s->limit != LIMIT_WITHIN ? "limit"
				     : decision_rule_name(s->x.decision.rule));
	fields_text(&f, "because", text);
	emit_limit(&f, s->service);
	explain_emit_acl(&f, s);
	if (s->routes[0] != '\0')
		fields_phrase(&f, "route", s->routes);
	emit_proxy(&f, s);
	emit_remembered(&f, s);
	emit_obstacles(&f, s);
	fields_end(&f);
}

/* Parses the words of a client from number `at` on. */
static int
explain_words(struct service *svc, const struct words *w, int at,
    struct reply *r, struct error *e)
{
	struct subject s = { .service = svc };
	struct routes *made = NULL;
	int i;

	if (service_must_be_named(svc, "explain", e) < 0 ||
	    parse_client(&s.who, w->word[at], e) < 0)
		return -1;
	/* the word after the last one is NULL */
	for (i = at + 1; i < w->count; i += 2)
		if (first_words_set(&s.first, w->word[i], w->word[i + 1], e) <
		    0)
			return -1;
	if (find_routes(&s, svc, &made, e) < 0) {
		routes_free(made);
		return -1;
	}
	s.now = svc->pen->loop != NULL ? loop_now(svc->pen->loop)
				       : clock_monotonic_ms();
	pool_explain(s.service->pool, &s.who, &s.attempts, s.now, &s.x);
	explain_limit(&s);
	explain_answer(r, &s);
	routes_free(made);
	return 0;
}

int
explain_client(
    struct pen *p, const char *line, struct reply *r, struct error *e)
{
	char *copy = strdup(line), *rest;
	struct service *svc = p->service;
	struct words w;
	int at = 0, rc;

	if (copy == NULL)
		return error_set(e, "out of memory");
	rc = words_split(&w, copy, &rest);
	if (rc == 0 && w.count > 2 && strcmp(w.word[0], "service") == 0) {
		at = 2;
		svc = service_find(p, w.word[1]);
	}
	if (rc < 0 || w.count == 0)
		rc = error_set(e, "\"%.100s\" is not a client", line);
	else if (svc == NULL)
		rc = error_set(e, "there is no service \"%.100s\"", w.word[1]);
	else
		rc = explain_words(svc, &w, at, r, e);
	free(copy);
	return rc;
}

static int
run_explain(struct call *c, struct error *e)
{
	if (c->words->count == 0)
		return error_set(e, "expects %s", c->row->args);
	return explain_words(c->service, c->words, 0, c->reply, e);
}

const struct command explain_commands[] = {
	{ .name = "explain",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_CLIENTS_WORKER | ROW_SERVICE,
	    .run = run_explain,
	    .args = "ADDRESS[:PORT]|unix [sni|alpn|host|protocol NAME ..]",
	    .help = "prints which server a client would get now, and why" },
	{ .name = NULL },
};
