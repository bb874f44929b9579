/* adopt.c: a plan becomes true. First everything that may fail is found out,
 * opened or made; then the rest is changed, which cannot. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "control/adopt.h"
#include "control/descriptors.h"
#include "control/direct.h"
#include "control/command.h"
#include "control/doubts.h"
#include "control/origin.h"
#include "control/pen.h"
#include "control/setting.h"
#include "net/sock.h"
#include "pool/balance.h"

/* ---- names ---- */

static bool
is_name(const char *host)
{
	struct addr a;

	return host != NULL && !addr_is_unix_text(host) &&
	    addr_parse_ip(&a, host, 0) < 0;
}

static bool
same_host(const struct server_plan *a, const struct server_plan *b)
{
	return a != NULL && a->host != NULL && strcmp(a->host, b->host) == 0;
}

int
pen_want_names(
    const struct pen *p, const struct plan *draft, bool fresh, struct names *n)
{
	const struct server_plan *s;
	unsigned slot;

	for (slot = 0; (s = plan_slot(draft, slot)) != NULL; slot++)
		if (is_name(s->host) &&
		    (fresh || !same_host(plan_slot(p->plan, slot), s)) &&
		    names_want(n, s->host) < 0)
			return -1;
	return 0;
}

/* ---- addresses ---- */

static bool
has_address(const struct server_addrs *list, const struct addr *a)
{
	unsigned i;

	for (i = 0; i < list->count; i++)
		if (addr_equal(&list->addr[i], a))
			return true;
	return false;
}

/* The same ones in another order, as name servers like to give them. */
static bool
same_set(const struct server_addrs *a, const struct server_addrs *b)
{
	unsigned i;

	for (i = 0; i < a->count; i++)
		if (!has_address(b, &a->addr[i]))
			return false;
	return a->count == b->count;
}

static int
bad_host(const struct server_plan *s, const char *why, struct error *e)
{
	return error_set(e, "%s%sserver \"%.150s\": %.200s",
	    s->place != NULL ? s->place : "", s->place != NULL ? ": " : "",
	    s->host, why);
}

/* From a name: what was found just now, else what is known from before. */
static int
named_addresses(const struct pen *p, unsigned slot,
    const struct server_plan *s, const struct names *n,
    struct server_addrs *found, struct error *e)
{
	const struct name *name = names_find(n, s->host);
	const struct server *old = pool_slot(p->pool, slot);
	unsigned i;

	if (name != NULL && !name->query.failed) {
		found->count = name->query.result.count;
		memcpy(found->addr, name->query.result.addr,
		    found->count * sizeof(found->addr[0]));
	} else if (old != NULL && old->present &&
	    same_host(plan_slot(p->plan, slot), s)) {
		if (name != NULL)
			log_warn(
			    "name keeps its addresses name=%s error=\"%s\"",
			    s->host, name->query.error.text);
		*found = old->addrs;
	} else {
		return bad_host(s,
		    name != NULL ? name->query.error.text : "not looked up", e);
	}
	for (i = 0; i < found->count; i++)
		addr_set_port(&found->addr[i], s->port);
	if (old != NULL && old->present && same_set(&old->addrs, found))
		*found = old->addrs;
	return 0;
}

/* Whether each client of a server comes to a port. */
static int
check_port(
    const struct plan *draft, const struct server_plan *s, struct error *e)
{
	char path[ADDR_TEXT_MAX], text[SPEC_TEXT_MAX];
	unsigned i;

	if (s->port != 0 || direct_is_wanted(draft))
		return 0;
	if (!s->same_port)
		return bad_host(s, "no port", e);
	if (draft->config.frontend.dns)
		return bad_host(s, "needs a port, for DNS", e);
	for (i = 0; i < draft->listen.count; i++) {
		const struct addr *at = &draft->listen.entry[i].at;

		if (at->u.sa.sa_family == AF_UNIX) {
			snprintf(text, sizeof(text),
			    "port 0 is the one clients come to, and %s has "
			    "none",
			    addr_format(at, path));
			return bad_host(s, text, e);
		}
	}
	return 0;
}

static int
addresses(const struct pen *p, const struct plan *draft, unsigned slot,
    const struct server_plan *s, const struct names *n,
    struct server_addrs *found, struct error *e)
{
	found->count = 1;
	if (addr_is_unix_text(s->host))
		return addr_parse_unix(&found->addr[0], s->host) == 0
		    ? 0
		    : bad_host(s, "no path of a Unix socket", e);
	if (check_port(draft, s, e) < 0)
		return -1;
	if (addr_parse_ip(&found->addr[0], s->host, s->port) == 0)
		return 0;
	return named_addresses(p, slot, s, n, found, e);
}

/* ---- servers ---- */

/* Whether the server must be set anew: its plan differs, or its addresses. */
static bool
differs(const struct pen *p, unsigned slot, const struct server_plan *s,
    const struct server_addrs *found)
{
	const struct server_plan *before = plan_slot(p->plan, slot);
	const struct server *old = pool_slot(p->pool, slot);

	return before == NULL || !server_plan_equal(before, s) || s->out_now ||
	    old == NULL || !old->present || !same_set(&old->addrs, found);
}

static int
add_change(struct changes *c, unsigned slot, const struct server_addrs *found)
{
	struct change *new;
	size_t room;

	if (c->count == c->room) {
		room = c->room > 0 ? 2 * c->room : 8;
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

static int
find_change(const struct pen *p, const struct plan *draft, unsigned slot,
    const struct names *n, struct changes *c, struct error *e)
{
	const struct server_plan *s = plan_slot(draft, slot);
	const struct server *old = pool_slot(p->pool, slot);
	struct server_addrs found = { .count = 0 };

	if (s != NULL && s->host == NULL && s->place != NULL)
		return error_set(
		    e, "%.300s: there is no server %u", s->place,
		    server_number(slot));
	if (s == NULL || s->host == NULL) {
		if ((old == NULL || !old->present))
			return 0;
	} else if (addresses(p, draft, slot, s, n, &found, e) < 0) {
		return -1;
	} else if (!differs(p, slot, s, &found)) {
		return 0;
	}
	return add_change(c, slot, &found) == 0
	    ? 0
	    : error_set(e, "out of memory");
}

/* Servers to be set, and those without an address to be removed. */
static int
find_changes(const struct pen *p, const struct plan *draft,
    const struct names *n, struct changes *c, struct error *e)
{
	unsigned slot, most = pool_slots(p->pool);

	if (most < server_slot(draft->count))
		most = server_slot(draft->count);
	for (slot = 0; slot < most; slot++)
		if (find_change(p, draft, slot, n, c, e) < 0)
			return -1;
	return 0;
}

/* A server that is the same stays drained or down where the draft does not say:
 * then the plan says so, or it would be lost when that is written. */
static void
note_admin(struct plan *draft, const struct server *set)
{
	struct server_plan *s;

	if (set->role != SERVER_REGULAR || set->admin == SERVER_ENABLED)
		return;
	s = &draft->servers[set->number];
	s->admin = (int)set->admin;
}

/* What is asked for once is no part of the plan that is kept. Before the start
 * there are no clients to keep away. */
static void
take_out_now(struct pen *p, struct plan *draft, struct server *set)
{
	if (set->role != SERVER_REGULAR || !draft->servers[set->number].out_now)
		return;
	draft->servers[set->number].out_now = false;
	if (p->loop == NULL)
		return;
	pool_take_out(p->pool, set, loop_now(p->loop));
}

static int
set_server(struct pen *p, struct plan *draft, const struct change *c)
{
	const struct server_plan *s = plan_slot(draft, c->slot);
	struct server_spec spec;
	struct server *set;

	if (c->addrs.count == 0) {
		pool_remove_server(p->pool, pool_slot(p->pool, c->slot));
		return 0;
	}
	server_spec_init(&spec);
	spec.name = s->host;
	spec.addrs = c->addrs;
	spec.set = s->set;
	set = pool_set_slot(p->pool, c->slot, &spec);
	if (set == NULL)
		return -1;
	if (s->admin >= 0)
		pool_set_admin(p->pool, set, (enum server_admin)s->admin);
	note_admin(draft, set);
	take_out_now(p, draft, set);
	return 0;
}

/* ---- settings ---- */

/* Pen's precedence: prio, weight, hash, round robin. A client goes back to its
 * last server only when no mode was asked for, or `sticky` was; each DNS query is
 * balanced by itself. */
static void
derive_pool_options(
    const struct mode_options *m, bool dns, struct pool_options *o)
{
	bool plain = !m->roundrobin && !m->hash && !m->weight && !m->prio &&
	    !m->balance && !dns;

	o->balance = balance_find(m->balance != NULL ? m->balance
		: m->prio			     ? "prio"
		: m->weight			     ? "wleastconn"
		: m->hash			     ? "hash"
						     : "roundrobin");
	o->sticky = m->sticky_set ? m->sticky : plain;
	o->stubborn = m->stubborn;
	o->hash_port = m->roundrobin;
}

/* A director without a memory of flows must choose alike for each frame. */
static void
derive_alone(const struct dsr_settings *s, struct pool_options *o)
{
	if (s->interface == NULL || s->flows > 0)
		return;
	o->balance = balance_find("hash");
	o->sticky = false;
}

static void
derive_options(const struct pen *p, struct plan *draft)
{
	struct config *c = &draft->config;
	struct frontend_options *f = &c->frontend;

	derive_pool_options(&c->mode, f->dns, &c->pool);
	derive_alone(&c->dsr, &c->pool);
	f->udp = f->udp || f->dns;
	f->udp_each = c->mode.roundrobin && !c->mode.hash && !c->pool.sticky;
	f->dump = c->debug < 2 ? 0 : c->ascii ? 2 : 1;
	if (p->descriptors > 0)
		descriptors_settle(p->descriptors, draft);
}

static bool
same_controls(const struct plan *a, const struct plan *b)
{
	unsigned i;

	if (a->control_count != b->control_count)
		return false;
	for (i = 0; i < a->control_count; i++) {
		const struct control_plan *x = &a->controls[i],
					  *y = &b->controls[i];

		if (strcmp(x->text, y->text) != 0 || x->level != y->level ||
		    x->others != y->others || x->mode != y->mode)
			return false;
	}
	return true;
}

/* Whether nothing changes that only a start can change. */
static int
check_start_only(
    const struct plan *now, const struct plan *draft, struct error *e)
{
	const struct command *row;

	COMMAND_EACH(row)
		if (row->flags & ROW_START && !setting_equal(now, draft, row))
			return error_set(e, "%s: only at the start", row->name);
	if (now->config.method != draft->config.method)
		return error_set(e, "%s: only at the start",
		    draft->config.method != NULL ? draft->config.method
						 : now->config.method);
	if (!same_controls(now, draft))
		return error_set(e, "control sockets change only at the start");
	return 0;
}

/* ---- access lists ---- */

/* Copies of the lists that differ, to be put in place of the pool's. */
static void
copy_acls(const struct pen *p, const struct plan *draft, struct changes *c)
{
	int i;

	for (i = 0; i < ACL_LISTS; i++) {
		acl_init(&c->acls[i]);
		c->acl_changed[i] =
		    !acl_equal(pool_acl(p->pool, (unsigned)i), &draft->acls[i]);
	}
	for (i = 0; i < ACL_LISTS; i++)
		if (c->acl_changed[i])
			acl_copy(&c->acls[i], &draft->acls[i]);
}

static void
swap_acls(struct pen *p, struct changes *c)
{
	int i;

	for (i = 0; i < ACL_LISTS; i++)
		if (c->acl_changed[i]) {
			struct acl *mine = pool_acl(p->pool, (unsigned)i);
			struct acl old = *mine;

			*mine = c->acls[i];
			c->acls[i] = old;
		}
}

/* ---- all of it ---- */

static void
free_changes(struct changes *c)
{
	int i;

	free(c->list);
	for (i = 0; i < ACL_LISTS; i++)
		acl_fini(&c->acls[i]);
}

static int
check_rates(const struct plan *draft, struct error *e)
{
	const struct frontend_options *o = &draft->config.frontend;

	if ((o->rate_down == 0 && o->rate_up == 0) || sock_can_pace())
		return 0;
	return error_set(e, "%s: this system cannot hold a socket to a rate",
	    origin_name(draft, o->rate_down > 0 ? "rate_down" : "rate_up"));
}

/* Everything that may fail. What it opens it closes again when it fails. */
static int
prepare(struct pen *p, struct plan *draft, const struct names *n,
    struct changes *c, struct error *e)
{
	if (p->loop != NULL && check_start_only(p->plan, draft, e) < 0)
		return -1;
	if (check_rates(draft, e) < 0 || direct_check(draft, e) < 0 ||
	    secure_check(draft, e) < 0 || find_changes(p, draft, n, c, e) < 0)
		return -1;
	copy_acls(p, draft, c);
	return rooms_prepare(p, draft, c, e);
}

static void
carry_out(struct pen *p, struct plan *draft, struct changes *c)
{
	size_t i;

	swap_acls(p, c);
	pool_begin_changes(p->pool);
	for (i = 0; i < c->count; i++)
		if (set_server(p, draft, &c->list[i]) < 0)
			log_error("out of memory server=%u",
			    server_number(c->list[i].slot));
	if (pool_end_changes(p->pool) < 0)
		log_error("out of memory");
	log_level = draft->config.debug > 0 ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO;
	rooms_commit(p, draft, c);
}

int
pen_adopt(struct pen *p, const struct plan *wanted, const struct names *n,
    struct error *e)
{
	struct changes c = { .list = NULL };
	struct plan *draft = plan_copy(wanted);
	int rc;

	if (draft == NULL)
		return error_set(e, "out of memory");
	derive_options(p, draft);
	rc = prepare(p, draft, n, &c, e);
	if (rc == 0) {
		carry_out(p, draft, &c);
		if (p->loop != NULL)
			doubts_log(p->plan, draft);
		plan_free(p->plan);
		p->plan = draft;
	} else {
		plan_free(draft);
	}
	free_changes(&c);
	return rc;
}

int
pen_adopt_now(struct pen *p, const struct plan *draft, struct error *e)
{
	struct names n;
	int rc;

	names_init(&n);
	rc = pen_want_names(p, draft, false, &n);
	if (rc < 0)
		error_set(e, "out of memory");
	names_look_up_now(&n);
	if (rc == 0)
		rc = pen_adopt(p, draft, &n, e);
	names_fini(&n);
	return rc;
}
