/* apply_acls.c: the access lists of a plan come into force: names get numbers,
 * and what refers to a list finds it. */
#include "config.h"

#include <string.h>

#include "control/apply/apply.h"
#include "control/apply/apply_changes.h"
#include "control/plan/table.h"
#include "control/plan/origin.h"

/* ---- numbers of names ---- */

/* Two lists of one name in two plans have the same number, so that servers that
 * do not change need not be touched. There are as many numbers as lists. */
static void
number_lists(struct plan_acls *l, const struct plan_acls *now)
{
	const struct named_acl *old;
	bool taken[ACL_MAX] = { false };
	struct named_acl *n;
	int next = ACL_LISTS;

	for (n = l->named; n != plan_acls_end(l); n++) {
		old = plan_acls_find(now, n->name);
		n->number = old != NULL ? old->number : 0;
		taken[n->number] = true;
	}
	for (n = l->named; n != plan_acls_end(l); n++) {
		if (n->number != 0)
			continue;
		while (taken[next])
			next++;
		n->number = next++;
	}
}

/* ---- references ---- */

static bool
refers(const struct command *row)
{
	return row->kind == KIND_ACL || row->kind == KIND_FORWARDED;
}

static struct acl_ref *
ref_of(void *base, const struct command *row)
{
	return (struct acl_ref *)((char *)base + row->offset);
}

static int
resolve_name(const struct plan_acls *l, struct acl_ref *ref)
{
	const struct named_acl *n;

	if (ref->name == NULL)
		return 0;
	n = plan_acls_find(l, ref->name);
	if (n == NULL)
		return -1;
	ref->number = n->number;
	return 0;
}

/* Resolves the access lists that settings of the scope name, in the settings at
 * `base`. Errors have the origins of `p`. */
static int
resolve_settings(const struct plan_acls *lists, enum row_scope scope,
    void *base, const struct plan *p, struct errors *all, struct error *e)
{
	const struct command *row;
	struct acl_ref *ref;

	TABLE_EACH_OF (scope, row) {
		if (!refers(row))
			continue;
		ref = ref_of(base, row);
		if (resolve_name(lists, ref) == 0 ||
		    errors_may_define(all, ref->name))
			continue;
		error_set(e, "there is no access list \"%s\", which %s names",
		    ref->name, row->name);
		origin_add(p, row->name, e);
		if (!errors_add(all, e))
			return -1;
	}
	return 0;
}

static bool
has_lost_names(const struct plan_acls *l, const struct plan_acls *now)
{
	const struct named_acl *n;

	for (n = now->named; n != plan_acls_end(now); n++)
		if (plan_acls_find(l, n->name) == NULL)
			return true;
	return false;
}

/* Checks that the access lists of servers exist. Without `all` only of servers
 * that the draft changes, as there may be very many: that is enough unless a
 * list is removed. */
static int
apply_acls_check_servers(const struct apply *a, bool all, struct error *e)
{
	struct errors *errors = a->pen->errors;
	const struct plan_acls *lists = &a->draft->process->acls;
	const struct plan *p = a->wanted;
	const struct server_plan *s;
	unsigned slot = 0;

	for (;; slot++) {
		if (!all)
			slot = plan_next_change(a->now, p, slot);
		s = plan_slot(p, slot);
		if (s == NULL)
			return 0;
		if (s->acl.name == NULL ||
		    plan_acls_find(lists, s->acl.name) != NULL ||
		    errors_may_define(errors, s->acl.name))
			continue;
		error_set(e,
		    "there is no access list \"%s\", which server %u names",
		    s->acl.name, server_number(slot));
		origin_put(s->origin, "", e);
		if (!errors_add(errors, e))
			return -1;
	}
}

/* ---- lists that are used no more ---- */

static bool
is_setting(enum row_scope scope, const void *base, const struct acl_ref *list)
{
	const struct command *row;

	TABLE_EACH_OF (scope, row)
		if (refers(row) &&
		    acl_ref_equal((const struct acl_ref *)((const char *)base +
				      row->offset),
			list))
			return true;
	return false;
}

static bool
is_of_a_server(const struct plan *p, const struct acl_ref *list)
{
	const struct server_plan *s;
	unsigned slot;

	for (slot = 0; (s = plan_slot(p, slot)) != NULL; slot++)
		if (acl_ref_equal(&s->acl, list))
			return true;
	return false;
}

bool
apply_acls_is_used(const struct plan *p, const struct acl_ref *list)
{
	const struct plan *one;
	unsigned i;

	for (i = 0; (one = plan_service_at(p, i)) != NULL; i++)
		if (is_setting(SCOPE_SERVICE, one->config, list) ||
		    is_of_a_server(one, list))
			return true;
	return is_setting(SCOPE_PROCESS, p->process, list);
}

/* "no acl NAME" leaves an empty list. It stays while something refers to it,
 * as a numbered one does. */
int
apply_acls_remove_unused(struct plan *p)
{
	struct process_plan *own = p->process;
	uint32_t i = 0;

	while (i < p->process->acls.count) {
		const struct named_acl *l = &p->process->acls.named[i];
		struct acl_ref list = { .number = -1, .name = l->name };

		if (!acl_is_empty(&l->list) || apply_acls_is_used(p, &list)) {
			i++;
			continue;
		}
		own = plan_edit_process(p);
		if (own == NULL)
			return -1;
		plan_acls_remove(&own->acls, own->acls.named[i].name);
	}
	return 0;
}

int
apply_acls_number(const struct process_plan *p, const struct acl_ref *ref)
{
	const struct named_acl *n;

	if (ref->name == NULL)
		return ref->number;
	n = plan_acls_find(&p->acls, ref->name);
	return n != NULL ? n->number : -1;
}

/* An empty list permits all: any host could claim any address then. */
static int
check_proxies(const struct plan_acls *lists, const struct plan *p,
    const struct errors *all, struct error *e)
{
	const struct acl_ref *ref = &p->config->accept_proxy;
	const struct acl *list = plan_acls_of(lists, ref);
	char word[ACL_WORD_MAX];

	if (list == NULL || !acl_is_empty(list) ||
	    errors_may_define(all, acl_ref_word(ref, word)))
		return 0;
	error_set(e,
	    "access list %s is empty: it must permit the proxies to "
	    "trust",
	    acl_ref_word(ref, word));
	origin_add(p, "accept_proxy", e);
	return -1;
}

/* ---- taking part in a change; see apply.h ---- */

/* Numbers of the lists, and what of the process refers to them. Those in force
 * have it, if that is the draft's. */
int
apply_acls_check(struct apply_all *a, struct error *e)
{
	struct process_plan *process = a->draft->process;

	if (process == a->now->process)
		return 0;
	number_lists(&process->acls, &a->now->process->acls);
	return resolve_settings(&process->acls, SCOPE_PROCESS, process,
	    a->draft, a->pen->errors, e);
}

int
apply_acls_check_service(struct apply *a, struct error *e)
{
	const struct plan_acls *lists = &a->draft->process->acls;
	struct plan *p = a->wanted;
	struct config c = *p->config;
	bool all = a->pen->phase < PHASE_SERVING ||
	    has_lost_names(lists, &a->all->now->process->acls);

	if (resolve_settings(
		lists, SCOPE_SERVICE, &c, p, a->pen->errors, e) < 0 ||
	    apply_acls_check_servers(a, all, e) < 0)
		return -1;
	c.pool.client_acl = c.client_acl.number;
	c.frontend.limits.exempt = c.client_exempt_acl.number;
	c.frontend.http.forwarded = c.forwarded.number;
	c.frontend.accept_proxy = c.accept_proxy.number;
	if (plan_set_config(p, &c) < 0)
		return error_set(e, "out of memory");
	apply_changes_share(a);
	return check_proxies(lists, p, a->pen->errors, e);
}

/* Copies share the entries of the draft's lists, so that this cannot fail. All
 * services have the lists of the first one. */
void
apply_acls_commit(struct apply_all *a)
{
	const struct plan_acls *l = &a->draft->process->acls;
	const struct acl *lists[ACL_MAX] = { NULL };
	static const struct acl none;
	int i;

	if (a->draft->process == a->now->process)
		return;
	for (i = 0; i < ACL_LISTS; i++)
		lists[i] = &l->numbered[i];
	for (i = 0; i < (int)l->count; i++)
		lists[l->named[i].number] = &l->named[i].list;
	for (i = 0; i < ACL_MAX; i++)
		pool_set_acl(a->pen->service->pool, (unsigned)i,
		    lists[i] != NULL ? lists[i] : &none);
}
