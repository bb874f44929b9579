/* apply_servers.c: which servers a draft changes, and the addresses of them. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "control/apply/apply.h"
#include "control/apply/direct.h"
#include "control/apply/expand.h"
#include "control/apply/own_servers.h"
#include "control/plan/origin.h"

/* ---- names ---- */

bool
apply_servers_have_names(const struct plan *p, struct names_range r)
{
	const struct server_plan *s;

	while (r.from < r.past && (s = plan_slot(p, r.from++)) != NULL)
		if (plan_server_has_name(s))
			return true;
	return false;
}

static bool
same_host(const struct server_plan *a, const struct server_plan *b)
{
	return a != NULL && a->host != NULL && strcmp(a->host, b->host) == 0;
}

static int
want_name(struct names *n, const struct server_plan *s)
{
	char name[SPEC_TEXT_MAX];

	if (s->parent != 0)
		return 0;
	return names_want(n,
	    expand_is_wanted(s) && expand_name(s, name) ? name : s->host);
}

/* The next server that the draft changes, or that is in the range. */
static unsigned
next_concerned(const struct plan *now, const struct plan *draft,
    struct names_range r, unsigned slot)
{
	unsigned next;

	if (slot >= r.from && slot < r.past)
		return slot;
	next = plan_next_change(now, draft, slot);
	return slot < r.from && r.from < r.past && next > r.from ? r.from
								 : next;
}

int
apply_servers_want_names(
    const struct service *svc, const struct plan *draft, struct names *n)
{
	static const struct plan none;
	const struct plan *now = svc != NULL ? svc->plan : &none;
	struct names_range r = names_range(n, svc);
	const struct server_plan *s;
	unsigned slot = next_concerned(now, draft, r, 0);

	while ((s = plan_slot(draft, slot)) != NULL) {
		bool fresh = slot >= r.from && slot < r.past;

		if (plan_server_has_name(s) &&
		    (fresh || !same_host(plan_slot(now, slot), s)) &&
		    want_name(n, s) < 0)
			return -1;
		slot = next_concerned(now, draft, r, slot + 1);
	}
	return 0;
}

/* ---- numbers ---- */

static bool
apply_servers_is_planned(const struct plan *p, unsigned number)
{
	const struct server_plan *s = plan_server(p, number);

	return s != NULL && s->host != NULL;
}

bool
apply_is_free(
    const struct service *svc, const struct plan *draft, unsigned number)
{
	const struct server *s = pool_server(svc->pool, number);

	return !apply_servers_is_planned(draft, number) &&
	    !apply_servers_is_planned(svc->plan, number) &&
	    (s == NULL ||
		(pool_connections(s) == 0 && !direct_has_flows(svc, s)));
}

/* ---- addresses ---- */

static bool
apply_servers_has_address(const struct server_addrs *list, const struct addr *a)
{
	unsigned i;

	for (i = 0; i < list->count; i++)
		if (addr_equal(&list->addr[i], a))
			return true;
	return false;
}

/* The same ones in another order, as name servers like to give them. */
static bool
has_same_set(const struct server *s, const struct server_addrs *found)
{
	unsigned i;

	for (i = 0; i < found->count; i++)
		if (server_find_addr(s, &found->addr[i]) < 0)
			return false;
	return found->count == s->addrs.count;
}

static int
bad_host(const struct server_plan *s, const char *why, struct error *e)
{
	error_set(e, "server \"%.150s\": %.200s", s->host, why);
	origin_put(s->origin, "", e);
	return -1;
}

/* Adds those addresses of an answer that `old` has, or those that it has not,
 * as long as there is space. */
static void
take_addresses(struct server_addrs *found, const struct resolved *r,
    uint16_t port, const struct server_addrs *old, bool has)
{
	struct addr a;
	unsigned i;

	for (i = 0; i < r->count && found->count < SERVER_ADDRS_MAX; i++) {
		a = r->addr[i];
		addr_set_port(&a, port);
		if (apply_servers_has_address(old, &a) == has)
			found->addr[found->count++] = a;
	}
}

/* Adds those addresses of `old` that a partial answer leaves open. */
static void
keep_addresses(struct server_addrs *found, const struct resolved *r,
    const struct server_addrs *old)
{
	unsigned i;

	for (i = 0; i < old->count && found->count < SERVER_ADDRS_MAX; i++)
		if (!apply_servers_has_address(found, &old->addr[i]) &&
		    resolved_may_have(r, NULL, &old->addr[i]))
			found->addr[found->count++] = old->addr[i];
}

/* Chooses the server's addresses from the answer. If there are more than a
 * server can have, those that it has are preferred: the order of an answer
 * changes each time. */
static void
choose_addresses(struct server_addrs *found, const struct resolved *r,
    uint16_t port, const struct server_addrs *old)
{
	static const struct server_addrs none = { .count = 0 };
	bool many = r->count > SERVER_ADDRS_MAX;

	found->count = 0;
	if (many)
		take_addresses(found, r, port, old, true);
	take_addresses(found, r, port, many ? old : &none, false);
	keep_addresses(found, r, old);
}

/* Whether a server may be without an address for now: with start_unresolved, or
 * because it was before. Not in a process that takes over: the old one
 * continues, and may have the address. */
static bool
may_wait(const struct service *svc, const struct plan *draft, unsigned slot,
    const struct server_plan *s, const struct names *n, const char *why)
{
	const struct server *old = pool_slot(svc->pool, slot);

	if (old != NULL && old->unresolved &&
	    same_host(plan_slot(svc->plan, slot), s))
		return true;
	if (!draft->config->start_unresolved ||
	    predecessor_is_there(&svc->pen->predecessor))
		return false;
	if (!n->quiet)
		log_warn("name lookup failed, server has no address yet "
			 "server=%u name=%s error=\"%s\"%s",
		    server_number(slot), s->host, why, svc->label);
	return true;
}

/* The server has no address; that is an error unless it may wait. */
static int
no_address(const struct service *svc, const struct plan *draft, unsigned slot,
    const struct names *n, const char *why, struct server_addrs *found,
    struct error *e)
{
	const struct server_plan *s = plan_slot(draft, slot);

	if (!may_wait(svc, draft, slot, s, n, why) &&
	    !errors_may_define(svc->pen->errors, "start_unresolved") &&
	    !errors_may_define(svc->pen->errors, "resolver"))
		return bad_host(s, why, e);
	*found = (struct server_addrs){ .count = 0 };
	return 0;
}

/* The addresses of a server's name: those found just now, else those known from
 * before. */
static int
named_addresses(const struct service *svc, const struct plan *draft,
    unsigned slot, const struct names *n, struct server_addrs *found,
    struct error *e)
{
	const struct server_plan *s = plan_slot(draft, slot);
	const struct name *name = names_find(n, s->host);
	const struct server *old = pool_slot(svc->pool, slot);
	bool was = old != NULL && old->present;
	struct server_addrs before = { .count = 0 };
	unsigned i;

	if (was)
		before = server_addrs(old);
	if (name != NULL && !name->query.failed) {
		choose_addresses(found, &name->query.result, s->port, &before);
	} else if (was && same_host(plan_slot(svc->plan, slot), s)) {
		if (name != NULL && !n->quiet)
			log_warn("name lookup failed, keeping addresses "
				 "name=%s error=\"%s\"",
			    s->host, name->query.error.text);
		*found = before;
	} else {
		return no_address(svc, draft, slot, n,
		    name != NULL ? name->query.error.text : "not looked up",
		    found, e);
	}
	for (i = 0; i < found->count; i++)
		addr_set_port(&found->addr[i], s->port);
	if (was && has_same_set(old, found))
		*found = before;
	return 0;
}

/* Whether each client of a server comes to a port. */
static int
check_port(
    const struct plan *draft, const struct server_plan *s, struct error *e)
{
	char path[ADDR_TEXT_MAX], text[SPEC_TEXT_MAX];
	unsigned i;

	if (s->port != 0 || s->service.there || direct_is_wanted(draft))
		return 0;
	if (!s->same_port)
		return bad_host(s, "no port", e);
	if (draft->config->frontend.dns.on)
		return bad_host(s, "needs a port, for DNS", e);
	for (i = 0; i < draft->listen.count; i++) {
		const struct addr *at = &draft->listen.entry[i].at;

		if (at->u.sa.sa_family == AF_UNIX) {
			snprintf(text, sizeof(text),
			    "port 0 means the port that clients use, and %s "
			    "has none",
			    addr_format(at, path));
			return bad_host(s, text, e);
		}
	}
	return 0;
}

/* Why no address of "NAME*" was found. */
static const char *
why_none(const struct server_plan *s, const struct names *n)
{
	char host[SPEC_TEXT_MAX];
	const struct name *name =
	    expand_name(s, host) ? names_find(n, host) : NULL;

	return name != NULL ? name->query.error.text : "not looked up";
}

/* Finds the addresses of the draft's server in the slot: the path, the address,
 * or those of its name. Returns 0, or -1 with a full message. */
static int
find_addresses(const struct apply *a, unsigned slot, struct server_addrs *found,
    struct error *e)
{
	const struct server_plan *s = plan_slot(a->wanted, slot);

	found->count = 1;
	if (addr_is_unix_text(s->host))
		return addr_parse_unix(&found->addr[0], s->host) == 0
		    ? 0
		    : bad_host(s, "not a path of a Unix socket", e);
	if (!a->wanted->flawed && check_port(a->wanted, s, e) < 0)
		return -1;
	if (addr_parse_ip(&found->addr[0],
		s->address != NULL ? s->address : s->host,
		s->service.there ? s->service.port : s->port) == 0)
		return 0;
	if (expand_is_wanted(s) && slot < SLOTS_SPECIAL)
		return bad_host(s,
		    "only a numbered server can stand for all addresses of a "
		    "name",
		    e);
	if (expand_is_wanted(s))
		return no_address(a->service, a->wanted, slot, a->names,
		    why_none(s, a->names), found, e);
	return named_addresses(
	    a->service, a->wanted, slot, a->names, found, e);
}

/* ---- servers ---- */

/* Whether the server must be set anew: its plan differs, or its addresses. */
static bool
differs(const struct service *svc, unsigned slot, const struct server_plan *s,
    const struct server_addrs *found)
{
	const struct server_plan *before = plan_slot(svc->plan, slot);
	const struct server *old = pool_slot(svc->pool, slot);

	if (before == NULL || !server_plan_equal(before, s) || s->out_now ||
	    old == NULL)
		return true;
	return found->count == 0 ? !old->unresolved
				 : !old->present || !has_same_set(old, found);
}

static int
apply_servers_add_change(
    struct changes *c, unsigned slot, const struct server_addrs *found)
{
	struct change *new;
	size_t room;

	if (c->count == c->room) {
		room = c->room > 0 ? 2 * c->room : 2;
		new = realloc(c->list, room * sizeof(*new));
		if (new == NULL)
			return -1;
		c->list = new;
		c->room = room;
	}
	c->list[c->count].slot = slot;
	c->list[c->count++].addrs = *found;
	return 0;
}

/* Whether the server's name is looked up: not if it has an address of its
 * own. */
static bool
is_looked_up(const struct server_plan *s)
{
	return s->address == NULL && plan_server_has_name(s) &&
	    !expand_is_wanted(s);
}

static int
check_number(const struct apply *a, unsigned slot, struct error *e)
{
	const struct server_plan *s = plan_slot(a->wanted, slot);
	char number[24];

	if (s == NULL || s->host != NULL || s->origin == NULL)
		return 0;
	number[number_format(number, server_number(slot))] = '\0';
	if (errors_may_define(a->pen->errors, number))
		return 0;
	error_set(e,
	    "there is no server %s: \"server %s address HOST\" is missing",
	    number, number);
	origin_put(s->origin, "", e);
	return -1;
}

/* Adds what the draft changes in the slot to a->servers: another server, other
 * settings or addresses, or none any more. */
static int
find_change(struct apply *a, unsigned slot, struct error *e)
{
	const struct service *svc = a->service;
	const struct server_plan *s = plan_slot(a->wanted, slot);
	const struct server *old = pool_slot(svc->pool, slot);
	struct server_addrs found = { .count = 0 };

	if (check_number(a, slot, e) < 0)
		return -1;
	if (s == NULL || s->host == NULL) {
		if (old == NULL || (!old->present && !old->unresolved))
			return 0;
	} else if (find_addresses(a, slot, &found, e) < 0) {
		return -1;
	} else {
		if (own_servers_are_looked_up(a) && is_looked_up(s))
			own_servers_exclude(a, slot, &found);
		else if (!a->wanted->flawed &&
		    own_servers_check(a, slot, &found, e) < 0)
			return -1;
		if (!differs(svc, slot, s, &found))
			return 0;
	}
	return apply_servers_add_change(&a->servers, slot, &found) == 0
	    ? 0
	    : error_set(e, "out of memory");
}

/* Servers that are the same in both plans may have to be set, or refused,
 * because ports mean something else. */
#define ON_ALL (CHANGED_DNS | CHANGED_CHECKS | CHANGED_LISTEN)

/* The next slot, from `slot` on, whose server is to be visited: with `all` any,
 * else one that the draft changes, or whose name was looked up. */
static unsigned
next_visited(const struct apply *a, bool all, unsigned slot)
{
	struct names_range looked_up = names_range(a->names, a->service);

	return all ? slot
		   : next_concerned(a->now, a->wanted, looked_up, slot);
}

/* Finds the servers that are to be set, or to be removed. One with an error
 * ends it, unless errors are collected. */
int
apply_servers_check(struct apply *a, struct error *e)
{
	bool all = (a->changed & ON_ALL) != 0;
	unsigned now = plan_slots(a->now), wanted = plan_slots(a->wanted);
	unsigned slots = now > wanted ? now : wanted, slot;

	for (slot = next_visited(a, all, 0); slot < slots;
	     slot = next_visited(a, all, slot + 1))
		if (find_change(a, slot, e) < 0 &&
		    !errors_add(a->pen->errors, e))
			return -1;
	return 0;
}
