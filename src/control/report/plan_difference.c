/* plan_difference.c: see plan_difference.h. */
#include "config.h"

#include "base/log.h"
#include "base/words.h"
#include "control/plan/setting.h"
#include "control/plan/table.h"
#include "control/report/plan_difference.h"
#include "control/value/value.h"

/* ---- servers ---- */

/* Whether the operator has set it: the addresses of a name are no servers of
 * their own. */
static bool
is_set(const struct server_plan *s)
{
	return s != NULL && s->host != NULL && s->parent == 0;
}

static bool
same_settings(const struct server_plan *a, const struct server_plan *b)
{
	const struct command *row;

	for (row = rows_server; row->name != NULL; row++)
		if (!value_equal(row, a, b))
			return false;
	return true;
}

static void
compare_servers(
    const struct plan *a, const struct plan *b, struct plan_difference *d)
{
	unsigned slots = plan_slots(a), slot;
	const struct server_plan *old, *new;

	if (slots < plan_slots(b))
		slots = plan_slots(b);
	for (slot = plan_next_change(a, b, 0); slot < slots;
	     slot = plan_next_change(a, b, slot + 1)) {
		old = plan_slot(a, slot);
		new = plan_slot(b, slot);
		if (is_set(old) && is_set(new))
			d->servers_changed += !same_settings(old, new);
		else if (is_set(old) || is_set(new))
			++*(is_set(new) ? &d->servers_added
					: &d->servers_removed);
	}
}

static unsigned
count_servers(const struct plan *p)
{
	const struct server_plan *s;
	unsigned slot, count = 0;

	for (slot = 0; (s = plan_slot(p, slot)) != NULL; slot++)
		count += is_set(s);
	return count;
}

/* ---- settings ---- */

static void
compare_process(
    const struct plan *a, const struct plan *b, struct plan_difference *d)
{
	const struct command *row;

	if (a->process == b->process)
		return;
	SETTING_EACH (row)
		d->settings +=
		    row->scope == SCOPE_PROCESS && !setting_equal(a, b, row);
	d->settings += !plan_acls_equal(&a->process->acls, &b->process->acls);
}

static void
compare_settings(
    const struct plan *a, const struct plan *b, struct plan_difference *d)
{
	const struct command *row = NULL;

	while ((row = setting_next_difference(a, b, row)) != NULL)
		d->settings++;
	d->settings += !listen_list_equal(&a->listen, &b->listen);
	d->settings += !route_plans_equal(a->routes, b->routes);
}

/* ---- plans ---- */

struct plan_difference
plan_difference(const struct plan *before, const struct plan *after)
{
	struct plan_difference d = { .settings = 0 };
	const struct plan *a, *b;
	unsigned i;

	compare_process(before, after, &d);
	for (i = 0; (b = plan_service_at(after, i)) != NULL; i++) {
		a = plan_service_near(before, i, plan_service_name(b));
		if (a == NULL) {
			d.services_added++;
			d.servers_added += count_servers(b);
		} else if (a != b) {
			compare_settings(a, b, &d);
			compare_servers(a, b, &d);
		}
	}
	for (i = 0; (a = plan_service_at(before, i)) != NULL; i++) {
		if (plan_service_near(after, i, plan_service_name(a)) != NULL)
			continue;
		d.services_removed++;
		d.servers_removed += count_servers(a);
	}
	return d;
}

void
plan_difference_log(
    const struct plan *before, const struct plan *after, const char *reason)
{
	struct plan_difference d = plan_difference(before, after);

	log_info("reloaded reason=\"%s\" settings=%u servers_added=%u "
		 "servers_removed=%u servers_changed=%u services_added=%u "
		 "services_removed=%u",
	    reason, d.settings, d.servers_added, d.servers_removed,
	    d.servers_changed, d.services_added, d.services_removed);
}
