/* warnings.c: settings without effect, limits and servers that look like
 * mistakes. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "control/value/access.h"
#include "control/apply/apply.h"
#include "control/value/choices.h"
#include "control/apply/direct.h"
#include "control/verify/warnings.h"
#include "control/plan/origin.h"
#include "control/answer/reply.h"
#include "pool/balance.h"

/* ---- servers ---- */

/* Lines of a kind about servers: each line is compared with those of the plan
 * before, and there may be thousands of servers. */
enum { EACH_MAX = 8, LINES_MAX = 100 };

/* What is compared: a plan alone, or two of them, of which only the servers
 * that they do not share are of interest. */
struct scope {
	const struct plan *before, *now; /* before: NULL: alone */
	const struct plan *all; /* the first service of the one that is
				 * printed, with the process */
	uint64_t changed; /* warnings of anything else are left out */
};

static unsigned
next_slot(const struct scope *w, unsigned slot)
{
	return w->before == NULL ? slot
				 : plan_next_change(w->before, w->now, slot);
}

/* A setting of one server that has no effect: what it depends on, what is
 * printed after its number, and of the servers beyond EACH_MAX. */
struct server_warning {
	uint64_t on;
	bool (*is)(const struct plan *p, const struct server_plan *s);
	void (*print)(const struct plan *p, const struct server_plan *s,
	    struct buffer *text);
	const char *more;
};

static bool
has_useless_max(const struct plan *p, const struct server_plan *s)
{
	(void)p;
	return s->set.hard > 0 && s->set.soft > s->set.hard;
}

static void
print_max(
    const struct plan *p, const struct server_plan *s, struct buffer *text)
{
	(void)p;
	reply_add(text, "max %llu has no effect with hard %llu",
	    (unsigned long long)s->set.soft, (unsigned long long)s->set.hard);
}

static bool
has_useless_forward(const struct plan *p, const struct server_plan *s)
{
	return !direct_is_wanted(p) && s->set.forward != SERVER_FORWARD_AS_SET;
}

static void
print_forward(
    const struct plan *p, const struct server_plan *s, struct buffer *text)
{
	(void)p;
	reply_add(text, "forward %s has no effect without dsr_if",
	    choice_name(choices_server_forward, (int)s->set.forward));
}

/* Weight 1 is what a server has where weights do not count. */
static bool
has_useless_weight(const struct plan *p, const struct server_plan *s)
{
	const struct balance *b = p->config->pool.balance;

	return !b->weighted && !b->shares && s->set.weight > 1;
}

static void
print_weight(
    const struct plan *p, const struct server_plan *s, struct buffer *text)
{
	reply_add(text, "weight %u has no effect with %s", s->set.weight,
	    p->config->pool.balance->name);
}

static bool
has_useless_prio(const struct plan *p, const struct server_plan *s)
{
	return p->config->pool.balance != &balance_prio && s->set.prio != 0;
}

static void
print_prio(
    const struct plan *p, const struct server_plan *s, struct buffer *text)
{
	reply_add(text, "prio %d has no effect %s", s->set.prio,
	    direct_is_wanted(p) && p->config->dsr.flows == 0
		? "with dsr_flows 0"
		: "without prio");
}

static bool
has_useless_start(const struct plan *p, const struct server_plan *s)
{
	return s->set.slow_start_ms > 0 && !warnings_has_shares(p);
}

static void
print_start(
    const struct plan *p, const struct server_plan *s, struct buffer *text)
{
	(void)s;
	reply_add(text, "slow_start has no effect with %s",
	    p->config->pool.balance->name);
}

/* The system refuses to connect there; a director has the interface, and a
 * source address may. */
static bool
lacks_interface(const struct plan *p, const struct server_plan *s)
{
	struct addr a;

	return !direct_is_wanted(p) && addr_parse_ip(&a, s->host, 0) == 0 &&
	    a.u.sa.sa_family == AF_INET6 &&
	    p->config->frontend.source.count == 0 &&
	    IN6_IS_ADDR_LINKLOCAL(&a.u.in6.sin6_addr) &&
	    a.u.in6.sin6_scope_id == 0;
}

static void
print_interface(
    const struct plan *p, const struct server_plan *s, struct buffer *text)
{
	(void)p;
	reply_add(text, "%s cannot be reached without an interface: %s%%IF",
	    s->host, s->host);
}

/* Any of them may appear with its server, and go with a director. */
#define WITH_SERVER (CHANGED_HOSTS | CHANGED_DSR)

static const struct server_warning server_warnings[] = {
	{ CHANGED_LIMITS | WITH_SERVER, has_useless_max, print_max,
	    "max has no effect with a lower hard" },
	{ CHANGED_FORWARD | WITH_SERVER, has_useless_forward, print_forward,
	    "forward has no effect without dsr_if" },
	{ CHANGED_WEIGHT | CHANGED_POOL | WITH_SERVER, has_useless_weight,
	    print_weight, "their weights have no effect" },
	{ CHANGED_PRIO | CHANGED_POOL | WITH_SERVER, has_useless_prio,
	    print_prio, "their prio has no effect" },
	{ CHANGED_SLOW_START | CHANGED_POOL | WITH_SERVER, has_useless_start,
	    print_start, "slow_start has no effect" },
	{ CHANGED_SOURCE | WITH_SERVER, lacks_interface, print_interface,
	    "a link-local address needs an interface" },
};

static void
print_each(const struct scope *w, const struct plan *p,
    const struct server_warning *d, struct buffer *text)
{
	const struct server_plan *s;
	unsigned i, n = 0;

	if ((w->changed & d->on) == 0)
		return;
	for (i = next_slot(w, SLOTS_SPECIAL); (s = plan_slot(p, i)) != NULL;
	     i = next_slot(w, i + 1)) {
		if (s->host == NULL || !d->is(p, s) || ++n > EACH_MAX)
			continue;
		reply_add(text, "server %u: ", server_number(i));
		d->print(p, s, text);
		reply_add(text, "\n");
	}
	if (n > EACH_MAX)
		reply_add(text, "%u more servers: %s\n", n - EACH_MAX, d->more);
}

static bool
has_weight(const struct server_plan *s)
{
	return s->host != NULL && (s->set.weight > 0 || s->service.there);
}

/* Beside servers with a weight, one without gets no clients. */
static void
print_weightless(const struct plan *p, struct buffer *text)
{
	const struct server_plan *s;
	unsigned i, n = 0, with = 0;

	for (i = 0; (s = plan_server(p, i)) != NULL && with == 0; i++)
		with += has_weight(s);
	if (with == 0 || !p->config->pool.balance->weighted)
		return;
	for (i = 0; (s = plan_server(p, i)) != NULL; i++)
		if (s->host != NULL && !has_weight(s) && ++n <= EACH_MAX)
			reply_add(text,
			    "server %u gets no clients: it has no weight, and "
			    "others have one\n",
			    i);
	if (n > EACH_MAX)
		reply_add(
		    text, "%u more servers have no weight\n", n - EACH_MAX);
}

/* A start may be before its servers, which come by commands. */
static void
print_serverless(
    const struct plan_acls *lists, const struct plan *p, struct buffer *text)
{
	if (p->listen.count > 0 && !plan_service_leads_somewhere(p) &&
	    plan_slot(p, SLOT_EMERGENCY)->host == NULL &&
	    plan_acls_of(lists, &p->config->dsr.tarpit_acl) == NULL)
		reply_add(text,
		    "no server: clients cannot be served until one is "
		    "added\n");
}

static bool
sends_to_abuse(const struct plan_acls *lists, const struct plan *p)
{
	return !acl_is_empty(plan_acls_of(lists, &p->config->client_acl)) ||
	    p->config->frontend.limits.action == LIMIT_ACTION_ABUSE;
}

static void
print_h2(const struct plan *p, const char *setting, const char *list,
    struct buffer *text)
{
	if (tls_alpn_has(list, "h2"))
		reply_add(text, "%.400s: h2 is not offered with http\n",
		    origin_name(p, setting));
}

static void
print_http(
    const struct plan_acls *lists, const struct plan *p, struct buffer *text)
{
	const struct acl_ref *ref = &p->config->forwarded;
	const struct tls_settings *t = &p->config->tls;
	char word[ACL_WORD_MAX];

	if (!p->config->frontend.http.on)
		return;
	if ((ref->name != NULL || ref->number >= 0) &&
	    acl_is_empty(plan_acls_of(lists, ref)))
		reply_add(text,
		    "%.400s trusts all clients: access list %s is empty\n",
		    origin_name(p, "forwarded"), acl_ref_word(ref, word));
	print_h2(p, "ssl_alpn", t->alpn, text);
	print_h2(p, "ssl_upstream_alpn", t->upstream_alpn, text);
}

/* ---- open to everybody ---- */

/* List 0 permits all while it is empty, as no other one is set. */
static bool
is_no_list(const struct plan_acls *lists, const struct acl_ref *list)
{
	return list->name == NULL &&
	    (list->number < 0 ||
		(list->number == 0 && acl_is_empty(plan_acls_of(lists, list))));
}

static bool
is_for_others(const struct addr *at)
{
	return at->len > 0 && at->u.sa.sa_family != AF_UNIX &&
	    !addr_is_loopback(at);
}

static void
print_unguarded(const struct plan *p, struct buffer *text)
{
	const struct process_plan *c = p->process;
	unsigned i, k;
	struct addr at;
	struct error e;

	for (i = 0; i < c->control_count; i++) {
		const struct control_plan *o = &c->controls[i];

		for (k = 0; k < o->at.count; k++)
			if (is_for_others(&o->at.entry[k].at))
				break;
		if (k < o->at.count && is_no_list(&c->acls, &c->control_acl))
			reply_add(text,
			    "control %.200s: all clients that can reach it "
			    "have the level %s, because list 0 (control_acl) "
			    "is empty\n",
			    o->text, access_name(o->level));
	}
	if (origin_find_web(p, &at, &e) == 0 && c->web_acl.name == NULL &&
	    c->web_acl.number < 0 && is_for_others(&at))
		reply_add(text,
		    "web %.200s: without web_acl, all clients that can reach "
		    "it can read it\n",
		    c->web);
}

/* ---- servers that are the same ---- */

struct numbered {
	const struct server_plan *is;
	unsigned number;
};

static int
compare_servers(const struct server_plan *x, const struct server_plan *y)
{
	int rc = strcmp(x->host, y->host);

	return rc != 0 ? rc : (x->port > y->port) - (x->port < y->port);
}

static int
warnings_compare(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;
	int rc = compare_servers(x->is, y->is);

	return rc != 0 ? rc : (x->number > y->number) - (x->number < y->number);
}

/* Whether it was not there before, or is there by this change. */
static bool
is_new_there(const struct scope *w, const struct numbered *x)
{
	const struct server_plan *old =
	    w->before != NULL ? plan_server(w->before, x->number) : NULL;

	return old == NULL || old->host == NULL ||
	    compare_servers(old, x->is) != 0;
}

/* Of a change, only those that are the same as another one since then. */
static void
print_twins(const struct scope *w, struct buffer *text)
{
	const struct plan *p = w->now;
	struct numbered *all = calloc(plan_count(p) + 1u, sizeof(*all));
	const struct server_plan *s;
	char name[SPEC_TEXT_MAX];
	unsigned i, n = 0, twins = 0;

	for (i = 0; all != NULL && (s = plan_server(p, i)) != NULL; i++)
		if (s->host != NULL && s->parent == 0)
			all[n++] = (struct numbered){ s, i };
	if (n > 1)
		qsort(all, n, sizeof(*all), warnings_compare);
	for (i = 1; i < n; i++) {
		if (compare_servers(all[i].is, all[i - 1].is) != 0 ||
		    !(is_new_there(w, &all[i]) ||
			is_new_there(w, &all[i - 1])) ||
		    ++twins > EACH_MAX)
			continue;
		reply_add(text, "server %u is the same as server %u: %.300s\n",
		    all[i].number, all[i - 1].number,
		    spec_format_server(all[i].is, name));
	}
	if (twins > EACH_MAX)
		reply_add(text, "%u more servers are the same as others\n",
		    twins - EACH_MAX);
	free(all);
}

/* ---- all of them ---- */

/* Of the process; they stand beside those of the first service. */
static void
print_of_process(const struct plan *all, struct buffer *text)
{
	print_unguarded(all, text);
	if (all->process->geoip == NULL)
		plan_acls_print_countries(&all->process->acls, text);
}

static void
print_servers(const struct scope *w, const struct plan *p, struct buffer *text)
{
	size_t i;

	for (i = 0; i < sizeof(server_warnings) / sizeof(server_warnings[0]);
	     i++)
		print_each(w, p, &server_warnings[i], text);
	if (w->before == NULL)
		print_weightless(p, text);
}

static void
print_settings(const struct scope *w, const struct plan *p, struct buffer *text)
{
	warnings_print_needs(w->all, p, text);
}

static void
print_clients(const struct scope *w, const struct plan *p, struct buffer *text)
{
	const struct plan_acls *lists = &w->all->process->acls;
	char list[ACL_WORD_MAX];

	print_serverless(lists, p, text);
	print_http(lists, p, text);
	if (plan_slot(p, SLOT_ABUSE)->host != NULL && !sends_to_abuse(lists, p))
		reply_add(text,
		    "%.400s has no effect while access list %s denies no "
		    "client\n",
		    origin_name(p, "abuse"),
		    acl_ref_word(&p->config->client_acl, list));
}

static void
print_process(const struct scope *w, const struct plan *p, struct buffer *text)
{
	(void)w;
	if (p->process != NULL)
		print_of_process(p, text);
}

static void
print_same(const struct scope *w, const struct plan *p, struct buffer *text)
{
	if (p == w->now)
		print_twins(w, text);
}

static const struct {
	uint64_t on;
	void (*print)(const struct scope *w, const struct plan *p,
	    struct buffer *text);
} parts[] = {
	{ (CHANGED_ALL & ~CHANGED_SERVERS) | CHANGED_HOSTS |
		CHANGED_SERVER_TLS | CHANGED_SERVER_CHECK,
	    print_settings },
	{ CHANGED_ALL & ~CHANGED_SERVER, print_servers },
	{ (CHANGED_ALL & ~CHANGED_SERVERS) | CHANGED_HOSTS, print_clients },
	{ CHANGED_ALL & ~CHANGED_OF_SERVICE, print_process },
	{ CHANGED_HOSTS, print_same },
};

static void
print_changed(struct scope *w, const struct plan *all, const struct plan *p,
    struct buffer *text)
{
	size_t i;

	w->all = all;
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (w->changed & parts[i].on)
			parts[i].print(w, p, text);
}

void
warnings_print(
    const struct plan *all, const struct plan *p, struct buffer *text)
{
	struct scope w = { .now = p, .changed = CHANGED_ALL };

	print_changed(&w, all, p, text);
}

/* The length of the first line of a text that is not empty. */
static size_t
line_length(const char *text, size_t n)
{
	return (size_t)((const char *)memchr(text, '\n', n) - text) + 1;
}

void
warnings_drop_known(struct buffer *now, const struct buffer *old)
{
	size_t left = buffer_length(now), all = buffer_length(old), n, i, one;
	const char *known = all > 0 ? buffer_bytes(old) : NULL;
	char *from = left > 0 ? now->data + now->start : NULL, *to = from;
	size_t kept = 0;

	for (; left > 0; from += n, left -= n) {
		n = line_length(from, left);
		for (i = 0; i < all; i += one) {
			one = line_length(known + i, all - i);
			if (one == n && memcmp(known + i, from, n) == 0)
				break;
		}
		if (i < all)
			continue;
		memmove(to + kept, from, n);
		kept += n;
	}
	buffer_cut(now, kept);
}

/* They have no site, which would drop some of so many at once. */
void
warnings_log_lines(
    const struct plan *service, struct buffer *lines, unsigned most)
{
	const char *name = service->name;
	unsigned count = 0;
	size_t n;

	for (; buffer_length(lines) > 0; buffer_consume(lines, n)) {
		n = line_length(buffer_bytes(lines), buffer_length(lines));
		if (count++ < most)
			log_write(NULL, LOG_LEVEL_WARN, "%s%s%s%.*s",
			    name != NULL ? "service " : "",
			    name != NULL ? name : "", name != NULL ? ": " : "",
			    (int)n - 1, buffer_bytes(lines));
	}
	if (count > most)
		log_warn("%u more warnings", count - most);
}

void
warnings_log(const struct plan *all_before, const struct plan *before,
    const struct plan *p, const struct plan *first, uint64_t changed)
{
	/* there may be thousands of servers, and a command changes one */
	struct scope w = { .before = before, .now = p, .changed = changed };
	struct buffer old, now;

	buffer_init(&old);
	buffer_init(&now);
	print_changed(&w, first, p, &now);
	if (before != NULL && buffer_length(&now) > 0)
		print_changed(&w, all_before, before, &old);
	if (first != p && buffer_length(&now) > 0)
		warnings_print(first, first, &old);
	warnings_drop_known(&now, &old);
	warnings_log_lines(p, &now, LINES_MAX);
	buffer_fini(&old);
	buffer_fini(&now);
}

/* Services may only follow the process. */
void
warnings_commit(struct apply *a)
{
	uint64_t changed = a->changed & WARNINGS_ON;

	if (a->wanted == a->draft || changed & CHANGED_OF_SERVICE)
		warnings_log(
		    a->pen->plan, a->now, a->wanted, a->draft, changed);
}
