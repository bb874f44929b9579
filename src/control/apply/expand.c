/* expand.c: see expand.h. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "control/apply/apply.h"
#include "control/apply/expand.h"
#include "control/apply/own_servers.h"
#include "control/plan/origin.h"

bool
expand_is_wanted(const struct server_plan *s)
{
	size_t n = s->host != NULL ? strlen(s->host) : 0;

	return n > 1 && s->parent == 0 && !addr_is_unix_text(s->host) &&
	    (s->host[n - 1] == '*' || resolve_is_service(s->host));
}

bool
expand_name(const struct server_plan *s, char name[SPEC_TEXT_MAX])
{
	size_t n = strlen(s->host);

	if (s->host[n - 1] == '*')
		n--;
	if (n >= SPEC_TEXT_MAX)
		return false;
	memcpy(name, s->host, n);
	name[n] = '\0';
	return true;
}

/* The operator's server whose name an address is of, or NULL. */
static const struct server_plan *
parent_of(const struct plan *p, const struct server_plan *s)
{
	const struct server_plan *parent =
	    s->parent != 0 ? plan_server(p, s->parent - 1) : NULL;

	return parent != NULL && expand_is_wanted(parent) &&
		strcmp(parent->host, s->host) == 0
	    ? parent
	    : NULL;
}

/* The lookup of the name whose addresses the server stands for; NULL: it stands
 * for none, or the lookup has failed. */
static const struct name *
lookup_of(const struct server_plan *parent, const struct names *n)
{
	char host[SPEC_TEXT_MAX];
	const struct name *name =
	    expand_name(parent, host) ? names_find(n, host) : NULL;

	return name != NULL && !name->query.failed ? name : NULL;
}

/* ---- whether there is anything to do ---- */

static bool
is_of_a_name(const struct plan *p, unsigned slot)
{
	const struct server_plan *s = plan_slot(p, slot);

	return s != NULL && (s->parent != 0 || expand_is_wanted(s));
}

/* Costs what the draft has changed. */
static bool
concerns_names(const struct plan *now, const struct plan *draft)
{
	unsigned a = plan_slots(now), b = plan_slots(draft), slot;

	for (slot = plan_next_change(now, draft, 0); slot < (a > b ? a : b);
	     slot = plan_next_change(now, draft, slot + 1))
		if (is_of_a_name(now, slot) || is_of_a_name(draft, slot))
			return true;
	return false;
}

/* ---- the servers that were there before ---- */

/* A file that is read again lacks the servers that come from names. */
static int
restore(const struct plan *now, struct plan *draft)
{
	const struct server_plan *s, *there;
	struct server_plan *copy;
	unsigned i;

	for (i = 0; (s = plan_server(now, i)) != NULL; i++) {
		there = plan_server(draft, i);
		if (s->parent == 0 || parent_of(draft, s) == NULL ||
		    (there != NULL && there->host != NULL))
			continue;
		copy = plan_edit(draft, server_slot(i));
		if (copy == NULL || server_plan_become(copy, s) < 0)
			return -1;
	}
	return 0;
}

/* The operator's servers go on with the address that they have. */
static int
restore_first(const struct plan *now, struct plan *draft)
{
	const struct server_plan *s, *before;
	struct server_plan *copy;
	unsigned i;

	for (i = 0; (s = plan_server(draft, i)) != NULL; i++) {
		before = plan_server(now, i);
		if (!expand_is_wanted(s) || s->address != NULL ||
		    before == NULL || before->address == NULL ||
		    !text_equal(before->host, s->host))
			continue;
		copy = plan_edit(draft, server_slot(i));
		if (copy == NULL ||
		    text_set(&copy->address, before->address) < 0 ||
		    text_set(&copy->target, before->target) < 0)
			return -1;
		copy->service = before->service;
	}
	return 0;
}

/* ---- the addresses of a name ---- */

/* An operator's server, and which addresses of its name have a server. */
struct expansion {
	unsigned number;
	const struct name *name; /* NULL: no answer, nothing comes or goes */
	bool has[RESOLVE_MAX];
	bool own[RESOLVE_MAX]; /* is pen itself: as if the name had it not */
	/* The number of the first other server with an address, plus 1; 0:
	 * none has. */
	unsigned child;
};

struct expansions {
	const struct apply *apply;
	const struct service *service;
	const struct plan *now; /* in force */
	struct plan *draft;
	struct expansion *list; /* in order of their numbers */
	unsigned count;
	unsigned free;			/* numbers below it are not */
	const struct server_plan *full; /* no number is left for its name */
	/* The operator's servers in these slots; not all: the others, and what
	 * came from their names, stay as they are. */
	unsigned from, past;
	bool all;
};

/* Notes that a server has one of the name's addresses, so that no other server
 * gets it, and sets the service and target that the answer has for it in
 * `wanted`, which does not own its texts. False: the name no longer has the
 * address, or another server has it. */
static bool
claim_address(struct expansion *x, const struct server_plan *s,
    struct server_plan *wanted)
{
	const struct resolved *r;
	struct addr a;
	unsigned i;

	wanted->service = s->service;
	wanted->target = s->target;
	if (x->name == NULL)
		return true;
	if (s->address == NULL ||
	    addr_parse_ip(&a, s->address, s->service.port) < 0)
		return false;
	r = &x->name->query.result;
	for (i = 0; i < r->count && !addr_equal(&r->addr[i], &a); i++)
		;
	if (i == r->count || x->own[i])
		return resolved_may_have(r, s->target, &a);
	if (x->has[i])
		return false;
	x->has[i] = true;
	wanted->service = r->service[i];
	wanted->target = (char *)(uintptr_t)resolved_target(r, i);
	return true;
}

static struct server_plan *
edit(struct expansions *all, unsigned number)
{
	return plan_edit(all->draft, server_slot(number));
}

static int
compare_numbers(const void *number, const void *expansion)
{
	unsigned a = *(const unsigned *)number,
		 b = ((const struct expansion *)expansion)->number;

	return (a > b) - (a < b);
}

/* The expansion of the name that this server is an address of; NULL: it is
 * none. */
static struct expansion *
expansion_of(const struct expansions *all, const struct server_plan *s)
{
	unsigned parent = s->parent - 1;

	if (parent_of(all->draft, s) == NULL)
		return NULL;
	return bsearch(&parent, all->list, all->count, sizeof(*all->list),
	    compare_numbers);
}

/* The operator's server keeps its address if the name still has it. */
static int
keep_address(struct expansions *all, struct expansion *x)
{
	const struct server_plan *s = plan_server(all->draft, x->number);
	struct server_plan wanted = *s, *own;

	if (!claim_address(x, s, &wanted))
		wanted.address = wanted.target = NULL;
	if (server_plan_equal(s, &wanted))
		return 0;
	own = edit(all, x->number);
	return own != NULL ? server_plan_become(own, &wanted) : -1;
}

static int
begin_expansion(
    struct expansions *all, const struct names *n, const struct server_plan *s)
{
	struct expansion *x = &all->list[all->count++];

	*x = (struct expansion){ .number = server_number(all->from),
		.name = lookup_of(s, n) };
	if (x->name != NULL && own_servers_are_looked_up(all->apply) &&
	    !own_servers_find(
		all->apply, all->from, &x->name->query.result, x->own))
		x->name = NULL;
	return s->address != NULL ? keep_address(all, x) : 0;
}

/* The operator's servers, with the addresses that they keep. */
static int
expand_begin(struct expansions *all, const struct names *n)
{
	unsigned slots = plan_slots(all->draft);
	const struct server_plan *s;

	if (all->past > slots)
		all->past = slots;
	if (all->from < SLOTS_SPECIAL)
		all->from = SLOTS_SPECIAL;
	if (all->from >= all->past)
		return 0;
	all->list = calloc(all->past - all->from, sizeof(*all->list));
	if (all->list == NULL)
		return -1;
	for (; all->from < all->past; all->from++) {
		s = plan_slot(all->draft, all->from);
		if (expand_is_wanted(s) && begin_expansion(all, n, s) < 0)
			return -1;
	}
	return 0;
}

/* A server that came from a name stays, with the settings of the operator's, or
 * is removed. */
static int
expand_follow(struct expansions *all, unsigned number)
{
	const struct server_plan *s = plan_server(all->draft, number);
	struct expansion *x = expansion_of(all, s);
	struct server_plan found, wanted, *own;

	if (x == NULL && !all->all && parent_of(all->draft, s) != NULL)
		return 0;
	if (x == NULL || !claim_address(x, s, &found)) {
		own = edit(all, number);
		return own != NULL ? (server_plan_clear(own), 0) : -1;
	}
	if (x->child == 0)
		x->child = number + 1;
	wanted = *plan_server(all->draft, x->number);
	wanted.admin = s->admin;
	wanted.out_now = false; /* that is for the one address */
	wanted.address = s->address;
	wanted.service = found.service;
	wanted.target = found.target;
	wanted.parent = s->parent;
	if (server_plan_equal(s, &wanted))
		return 0;
	own = edit(all, number);
	return own != NULL ? server_plan_become(own, &wanted) : -1;
}

static int
follow_all(struct expansions *all)
{
	const struct server_plan *s;
	unsigned i;

	for (i = 0; (all->all || all->count > 0) &&
	     (s = plan_server(all->draft, i)) != NULL;
	     i++)
		if (s->parent != 0 && expand_follow(all, i) < 0)
			return -1;
	return 0;
}

/* A server for an address that has none: the operator's own if it has no
 * address yet, else another one. */
static int
expand_add(struct expansions *all, const struct expansion *x, unsigned at)
{
	const struct resolved *r = &x->name->query.result;
	struct server_plan *s = edit(all, x->number), wanted;
	char text[ADDR_TEXT_MAX];

	if (s == NULL)
		return -1;
	addr_format_host(&r->addr[at], text);
	if (s->address == NULL) {
		s->service = r->service[at];
		return text_set(&s->target, resolved_target(r, at)) == 0
		    ? text_set(&s->address, text)
		    : -1;
	}
	while (!apply_is_free(all->service, all->draft, all->free))
		all->free++;
	if (all->free >= SERVERS_MAX) {
		all->full = s;
		return -1;
	}
	wanted = *s;
	wanted.admin = -1;
	wanted.address = text;
	wanted.service = r->service[at];
	wanted.target = (char *)(uintptr_t)resolved_target(r, at);
	wanted.parent = x->number + 1;
	s = edit(all, all->free);
	return s != NULL ? server_plan_become(s, &wanted) : -1;
}

/* The operator's server has lost its address, and all others have servers: it
 * takes one of theirs, drained or not as that was. */
static int
expand_swap_address(struct expansions *all, const struct expansion *x)
{
	struct server_plan *own, *other;

	if (x->child == 0)
		return 0;
	other = edit(all, x->child - 1);
	own = edit(all, x->number);
	if (own == NULL || other == NULL)
		return -1;
	if (own->admin != other->admin)
		own->admin = other->admin >= 0 ? other->admin : SERVER_ENABLED;
	own->address = other->address;
	own->target = other->target;
	own->service = other->service;
	other->address = other->target = NULL;
	server_plan_clear(other);
	return 0;
}

/* Adds a server for each address of the name that no server has yet; the server
 * that stands for the name takes one if it has none. */
static int
expand_complete(struct expansions *all, const struct expansion *x)
{
	unsigned at;

	if (x->name == NULL)
		return 0;
	for (at = 0; at < x->name->query.result.count; at++)
		if (!x->has[at] && !x->own[at] && expand_add(all, x, at) < 0)
			return -1;
	return plan_server(all->draft, x->number)->address != NULL
	    ? 0
	    : expand_swap_address(all, x);
}

static int
expand_all(struct expansions *all, const struct names *n)
{
	unsigned i;

	if (all->all &&
	    (restore(all->now, all->draft) < 0 ||
		restore_first(all->now, all->draft) < 0))
		return -1;
	if (expand_begin(all, n) < 0 || follow_all(all) < 0)
		return -1;
	for (i = 0; i < all->count; i++)
		if (expand_complete(all, &all->list[i]) < 0)
			return -1;
	return 0;
}

static int
refuse_name(const struct server_plan *s, struct error *e)
{
	plan_refuse_server(e);
	error_of(e,
	    "server \"%.150s\" has more addresses than numbers are free",
	    s->host);
	origin_put(s->origin, "", e);
	return -1;
}

int
expand_names(const struct apply *a, struct error *e)
{
	const struct service *svc = a->service;
	const struct names *n = a->names;
	struct plan *draft = a->wanted;
	struct expansions all = {
		.apply = a, .service = svc, .now = svc->plan, .draft = draft
	};
	int rc;

	all.all = concerns_names(svc->plan, draft);
	all.from = all.all ? 0 : names_range(n, svc).from;
	all.past = all.all ? UINT_MAX : names_range(n, svc).past;
	if (all.from >= all.past)
		return 0;
	rc = expand_all(&all, n);
	free(all.list);
	if (rc == 0)
		return 0;
	return all.full != NULL ? refuse_name(all.full, e)
				: error_set(e, "out of memory");
}
