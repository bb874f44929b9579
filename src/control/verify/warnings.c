/* warnings.c: settings without effect, and what looks like a mistake. */
#include "config.h"

#include <string.h>

#include "base/log.h"
#include "control/apply/direct.h"
#include "control/value/access.h"
#include "control/verify/warnings_private.h"
#include "control/plan/origin.h"
#include "control/answer/reply.h"

/* More are not logged at once. */
enum { LINES_MAX = 100 };

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

/* One that is known is enough: a group may have many ports. With direct server
 * return no socket receives. */
static void
print_group(const struct plan *p, struct buffer *text)
{
	char at[ADDR_TEXT_MAX];
	unsigned i = 0;

	while (
	    i < p->listen.count && !addr_is_multicast(&p->listen.entry[i].at))
		i++;
	if (i == p->listen.count || direct_is_wanted(p))
		return;
	addr_format(&p->listen.entry[i].at, at);
	reply_add(text, "%.400s: %s is a multicast group, %s\n",
	    origin_name(p, "listen"), at,
	    p->config->frontend.udp.on ? "which pen does not join"
				       : "to which no client can connect");
}

/* ---- DNS, which comes by TCP and by UDP ---- */

static void
print_tcp_only(const struct plan *p, const char *setting, const char *result,
    struct buffer *text)
{
	reply_add(text,
	    "%.400s does not apply to DNS queries over UDP, which are %s\n",
	    origin_name(p, setting), result);
}

/* How many servers, the emergency and the abuse server included, have the
 * setting of the service, and how many one of their own: on, off. */
struct uses {
	unsigned as_set;
	unsigned on;
	unsigned off;
};

static void
count_use(struct uses *n, int value, int as_set, int off)
{
	n->as_set += value == as_set;
	n->off += value == off;
	n->on += value != as_set && value != off;
}

static void
count_uses(const struct plan *p, struct uses *tls, struct uses *proxy)
{
	const struct server_plan *s;
	unsigned slot;

	*tls = *proxy = (struct uses){ .on = 0 };
	for (slot = 0; (s = plan_slot(p, slot)) != NULL; slot++) {
		if (s->host == NULL)
			continue;
		count_use(
		    tls, (int)s->set.tls, SERVER_TLS_AS_SET, SERVER_TLS_OFF);
		count_use(proxy, (int)s->set.proxy, SERVER_PROXY_AS_SET,
		    SERVER_PROXY_OFF);
	}
}

static void
print_dns(const struct plan *p, struct buffer *text)
{
	const struct frontend_options *f = &p->config->frontend;
	const struct tls_settings *t = &p->config->tls;
	bool headers_by_udp = f->udp.proxy != UDP_PROXY_OFF;
	struct uses tls, proxy;

	if (!f->dns.on)
		return;
	count_uses(p, &tls, &proxy);
	if (f->http.on)
		reply_add(text,
		    "%.400s refuses DNS queries over TCP, which are not HTTP\n",
		    origin_name(p, "http"));
	if (tls_settings_serve(t))
		print_tcp_only(p, t->pairs > 0 ? "ssl_cert" : "ssl_sni_path",
		    "received in plain text", text);
	if (t->upstream && tls.as_set > 0)
		print_tcp_only(p, "ssl_upstream", "sent in plain text", text);
	if (f->proxy != PROXY_OFF && proxy.as_set > 0 && !headers_by_udp)
		print_tcp_only(p, "proxy_protocol",
		    "sent without a PROXY header: see udp_proxy", text);
	if (headers_by_udp && proxy.on == 0 &&
	    (f->proxy == PROXY_OFF || (proxy.as_set == 0 && proxy.off > 0)))
		reply_add(text,
		    "%.400s does not apply to DNS queries over TCP, which are "
		    "sent without a PROXY header: see proxy_protocol\n",
		    origin_name(p, "udp_proxy"));
}

/* ---- the rest of a service ---- */

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

/* ---- access lists that nothing refers to ---- */

static void
print_unused_lists(const struct plan *all, struct buffer *text)
{
	const struct plan_acls *lists = &all->process->acls;
	char word[ACL_WORD_MAX];
	struct acl_ref ref;
	const struct acl *l;
	unsigned i;

	for (i = 0; (l = plan_acls_at(lists, i, word)) != NULL; i++) {
		ref = (struct acl_ref){ .number = -1, .name = word };
		if (i < ACL_LISTS)
			ref = (struct acl_ref){ .number = (int)i };
		if (!acl_is_empty(l) && !apply_acls_is_used(all, &ref))
			reply_add(text,
			    "access list %s has no effect: no setting names "
			    "it\n",
			    word);
	}
}

/* ---- all of them ---- */

/* Prints the warnings about the process; these are printed with those of the
 * first service. */
static void
print_of_process(const struct plan *all, struct buffer *text)
{
	print_unguarded(all, text);
	if (all->process->geoip == NULL)
		plan_acls_print_countries(&all->process->acls, text);
}

static void
print_settings(
    const struct warnings_scope *w, const struct plan *p, struct buffer *text)
{
	warnings_print_needs(w->all, p, text);
	warnings_print_shares(p, text);
}

static void
print_clients(
    const struct warnings_scope *w, const struct plan *p, struct buffer *text)
{
	const struct plan_acls *lists = &w->all->process->acls;
	char list[ACL_WORD_MAX];

	print_serverless(lists, p, text);
	print_group(p, text);
	print_http(lists, p, text);
	print_dns(p, text);
	if (plan_slot(p, SLOT_ABUSE)->host != NULL && !sends_to_abuse(lists, p))
		reply_add(text,
		    "%.400s has no effect while access list %s denies no "
		    "client\n",
		    origin_name(p, "abuse"),
		    acl_ref_word(&p->config->client_acl, list));
}

static void
print_process(
    const struct warnings_scope *w, const struct plan *p, struct buffer *text)
{
	if (p->process == NULL)
		return;
	print_of_process(p, text);
	/* commands fill a list before they set where it applies */
	if (w->before == NULL || w->changed & CHANGED_ANEW)
		print_unused_lists(p, text);
}

static const struct {
	uint64_t on;
	void (*print)(const struct warnings_scope *w, const struct plan *p,
	    struct buffer *text);
} parts[] = {
	{ (CHANGED_ALL & ~CHANGED_SERVERS) | CHANGED_HOSTS |
		CHANGED_SERVER_TLS | CHANGED_SERVER_CHECK | CHANGED_LIMITS |
		CHANGED_FORWARD,
	    print_settings },
	{ CHANGED_ALL & ~CHANGED_SERVER, warnings_print_servers },
	{ (CHANGED_ALL & ~CHANGED_SERVERS) | CHANGED_HOSTS | CHANGED_WARNED |
		CHANGED_SERVER_TLS,
	    print_clients },
	{ CHANGED_ALL & ~CHANGED_OF_SERVICE, print_process },
	{ CHANGED_HOSTS, warnings_print_twins },
};

static void
print_changed(struct warnings_scope *w, const struct plan *all,
    const struct plan *p, struct buffer *text)
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
	struct warnings_scope w = { .now = p, .changed = CHANGED_ALL };

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

/* Logs the lines without the limit of a log site, which would drop some of so
 * many at once. */
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
	struct warnings_scope w = {
		.before = before, .now = p, .changed = changed
	};
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
