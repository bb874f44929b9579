/* warnings_servers.c: settings of single servers without effect, and servers
 * that are the same. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "control/answer/reply.h"
#include "control/apply/direct.h"
#include "control/apply/own_servers.h"
#include "control/value/choices.h"
#include "control/verify/warnings_private.h"
#include "pool/balance.h"

/* Lines of a kind about servers: each line is compared with those of the plan
 * before, and there may be thousands of servers. */
enum { EACH_MAX = 8 };

static unsigned
next_slot(const struct warnings_scope *w, unsigned slot)
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

static bool
is_checked(const struct plan *p, const struct server_plan *s)
{
	return s->check != NULL ? strcmp(s->check, "off") != 0
				: p->config->checks.text != NULL;
}

static bool
has_useless_target(const struct plan *p, const struct server_plan *s)
{
	return !is_checked(p, s) &&
	    (s->check_port > 0 || s->check_address != NULL);
}

static void
print_target(
    const struct plan *p, const struct server_plan *s, struct buffer *text)
{
	(void)p;
	reply_add(text, "%s has no effect without check",
	    s->check_port > 0 ? "check_port" : "check_address");
}

/* Datagrams and frames carry neither TLS nor a PROXY header. */
static bool
has_connections(const struct plan *p)
{
	const struct frontend_options *f = &p->config->frontend;

	return !direct_is_wanted(p) && (!f->udp.on || f->dns.on);
}

static bool
has_useless_tls(const struct plan *p, const struct server_plan *s)
{
	return s->set.tls == SERVER_TLS_ON && !has_connections(p);
}

static void
print_tls(
    const struct plan *p, const struct server_plan *s, struct buffer *text)
{
	(void)p;
	(void)s;
	reply_add(text, "tls on has no effect with udp or dsr_if");
}

static bool
has_partial_tls(const struct plan *p, const struct server_plan *s)
{
	return s->set.tls == SERVER_TLS_ON && p->config->frontend.dns.on &&
	    !direct_is_wanted(p);
}

static void
print_partial_tls(
    const struct plan *p, const struct server_plan *s, struct buffer *text)
{
	(void)p;
	(void)s;
	reply_add(text,
	    "tls on does not apply to DNS queries over UDP, which are sent in "
	    "plain text");
}

static bool
has_useless_proxy(const struct plan *p, const struct server_plan *s)
{
	return s->set.proxy > SERVER_PROXY_OFF && !has_connections(p);
}

static void
print_proxy(
    const struct plan *p, const struct server_plan *s, struct buffer *text)
{
	(void)s;
	reply_add(text, "proxy_protocol has no effect with %s",
	    direct_is_wanted(p) ? "dsr_if" : "udp: see udp_proxy");
}

static bool
has_partial_proxy(const struct plan *p, const struct server_plan *s)
{
	const struct frontend_options *f = &p->config->frontend;

	return s->set.proxy > SERVER_PROXY_OFF && f->dns.on &&
	    f->udp.proxy == UDP_PROXY_OFF && !direct_is_wanted(p);
}

static void
print_partial_proxy(
    const struct plan *p, const struct server_plan *s, struct buffer *text)
{
	(void)p;
	(void)s;
	reply_add(text,
	    "proxy_protocol does not apply to DNS queries over UDP: see "
	    "udp_proxy");
}

/* The neighbours of direct server return, and names without an address, mark
 * servers down, too; blacklisting does not. */
static bool
has_useless_down(const struct plan *p, const struct server_plan *s)
{
	return s->set.on_down == SERVER_ON_DOWN_CUT && !is_checked(p, s) &&
	    !direct_is_wanted(p) && !p->config->start_unresolved;
}

static void
print_down(
    const struct plan *p, const struct server_plan *s, struct buffer *text)
{
	(void)p;
	(void)s;
	reply_add(text, "on_down cut has no effect without check");
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

/* A group, or all hosts: no connection is possible. Datagrams can be sent to a
 * group, but its members answer from their own addresses, which the flow does
 * not accept. */
static bool
is_no_host(const struct plan *p, const struct server_plan *s)
{
	struct addr a;

	(void)p;
	if (addr_parse_ip(&a, s->host, 0) < 0)
		return false;
	return addr_is_multicast(&a) ||
	    (a.u.sa.sa_family == AF_INET &&
		a.u.in.sin_addr.s_addr == htonl(INADDR_BROADCAST));
}

static void
print_no_host(
    const struct plan *p, const struct server_plan *s, struct buffer *text)
{
	struct addr a;
	bool group =
	    addr_parse_ip(&a, s->host, 0) == 0 && addr_is_multicast(&a);

	if (group && p->config->frontend.udp.on && !direct_is_wanted(p))
		reply_add(text,
		    "%s is a multicast group: pen receives no answers from "
		    "its members",
		    s->host);
	else
		reply_add(text, "%s is not the address of a host", s->host);
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
	{ CHANGED_WARNED | CHANGED_POOL | WITH_SERVER, has_useless_start,
	    print_start, "slow_start has no effect" },
	{ CHANGED_SERVER_CHECK | CHANGED_CHECKS | WITH_SERVER,
	    has_useless_target, print_target,
	    "check_port and check_address have no effect" },
	{ CHANGED_SERVER_TLS | CHANGED_FRONTEND | WITH_SERVER, has_useless_tls,
	    print_tls, "tls on has no effect with udp or dsr_if" },
	{ CHANGED_SERVER_TLS | CHANGED_FRONTEND | WITH_SERVER, has_partial_tls,
	    print_partial_tls,
	    "tls on does not apply to DNS queries over UDP" },
	{ CHANGED_WARNED | CHANGED_FRONTEND | WITH_SERVER, has_useless_proxy,
	    print_proxy, "proxy_protocol has no effect with udp or dsr_if" },
	{ CHANGED_WARNED | CHANGED_FRONTEND | WITH_SERVER, has_partial_proxy,
	    print_partial_proxy,
	    "proxy_protocol does not apply to DNS queries over UDP" },
	{ CHANGED_WARNED | CHANGED_SERVER_CHECK | CHANGED_CHECKS |
		CHANGED_SERVICE | WITH_SERVER,
	    has_useless_down, print_down,
	    "on_down cut has no effect without check" },
	{ CHANGED_SOURCE | WITH_SERVER, lacks_interface, print_interface,
	    "a link-local address needs an interface" },
	{ CHANGED_FRONTEND | WITH_SERVER, is_no_host, print_no_host,
	    "the address is not one of a host" },
};

/* Where its address was set, FILE:LINE or an option, if that is known, and its
 * number. */
static void
print_title(const struct server_plan *s, unsigned slot, struct buffer *text)
{
	char title[OWN_TITLE_MAX];

	if (s->origin != NULL)
		reply_add(text, "%s: ", s->origin);
	reply_add(text, "%s", own_server_title(slot, title));
}

static void
print_each(const struct warnings_scope *w, const struct plan *p,
    const struct server_warning *d, struct buffer *text)
{
	const struct server_plan *s;
	unsigned i, n = 0;

	if ((w->changed & d->on) == 0)
		return;
	for (i = next_slot(w, 0); (s = plan_slot(p, i)) != NULL;
	     i = next_slot(w, i + 1)) {
		if (s->host == NULL || !d->is(p, s) || ++n > EACH_MAX)
			continue;
		print_title(s, i, text);
		reply_add(text, ": ");
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
	for (i = 0; (s = plan_server(p, i)) != NULL; i++) {
		if (s->host == NULL || has_weight(s) || ++n > EACH_MAX)
			continue;
		print_title(s, server_slot(i), text);
		reply_add(text, " gets no clients: it has no weight, and "
				"others have one\n");
	}
	if (n > EACH_MAX)
		reply_add(
		    text, "%u more servers have no weight\n", n - EACH_MAX);
}

void
warnings_print_servers(
    const struct warnings_scope *w, const struct plan *p, struct buffer *text)
{
	size_t i;

	for (i = 0; i < sizeof(server_warnings) / sizeof(server_warnings[0]);
	     i++)
		print_each(w, p, &server_warnings[i], text);
	if (w->before == NULL)
		print_weightless(p, text);
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
is_new_there(const struct warnings_scope *w, const struct numbered *x)
{
	const struct server_plan *old =
	    w->before != NULL ? plan_server(w->before, x->number) : NULL;

	return old == NULL || old->host == NULL ||
	    compare_servers(old, x->is) != 0;
}

void
warnings_print_twins(
    const struct warnings_scope *w, const struct plan *p, struct buffer *text)
{
	const struct server_plan *s;
	char name[SPEC_TEXT_MAX];
	unsigned i, n = 0, twins = 0;
	struct numbered *all;

	if (p != w->now)
		return;
	all = calloc(plan_count(p) + 1u, sizeof(*all));
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
		print_title(all[i].is, server_slot(all[i].number), text);
		reply_add(text, " is the same as server %u: %.300s\n",
		    all[i - 1].number, spec_format_server(all[i].is, name));
	}
	if (twins > EACH_MAX)
		reply_add(text, "%u more servers are the same as others\n",
		    twins - EACH_MAX);
	free(all);
}
