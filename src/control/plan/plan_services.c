/* plan_services.c: the services of a plan besides the first one. Plans share
 * those that neither has changed. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/words.h"
#include "control/plan/plan.h"
#include "control/plan/setting.h"
#include "control/plan/table.h"
#include "control/value/text.h"
#include "control/value/value.h"

/* ---- finding one ---- */

const struct plan *
plan_service_at(const struct plan *p, unsigned i)
{
	if (i == 0)
		return p;
	return i <= p->service_count ? p->services[i - 1] : NULL;
}

const char *
plan_service_name(const struct plan *service)
{
	return service->name != NULL ? service->name : "default";
}

static unsigned
find(const struct plan *p, const char *name)
{
	const struct plan *one;
	unsigned i;

	for (i = 0; (one = plan_service_at(p, i)) != NULL; i++)
		if (strcmp(plan_service_name(one), name) == 0)
			break;
	return i;
}

const struct plan *
plan_service(const struct plan *p, const char *name)
{
	return plan_service_at(p, find(p, name));
}

int
plan_service_blame(const struct plan *service, struct error *e)
{
	struct error why = *e;

	return service->name == NULL
	    ? -1
	    : error_set(e, "service %s: %.450s", service->name, why.text);
}

bool
plan_service_is_name(const char *word)
{
	size_t n = strlen(word);

	return n <= SERVICE_NAME_MAX && strcmp(word, "add") != 0 &&
	    strcmp(word, "json") != 0 && isalpha((unsigned char)word[0]) &&
	    strspn(word,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789.-_") == n;
}

/* ---- sharing ---- */

struct plan *
plan_hold(struct plan *service)
{
	service->owners++;
	return service;
}

void
plan_drop(struct plan *service)
{
	if (service != NULL && --service->owners == 0)
		plan_free(service);
}

int
plan_services_copy(struct plan *to, const struct plan *from)
{
	unsigned i;

	to->services = NULL;
	to->service_count = to->service_room = 0;
	if (from->service_count == 0)
		return 0;
	to->services = calloc(from->service_count, sizeof(*to->services));
	if (to->services == NULL)
		return -1;
	to->service_count = to->service_room = from->service_count;
	for (i = 0; i < to->service_count; i++)
		to->services[i] = plan_hold(from->services[i]);
	return 0;
}

void
plan_services_fini(struct plan *p)
{
	unsigned i;

	for (i = 0; i < p->service_count; i++)
		plan_drop(p->services[i]);
	free(p->services);
}

/* ---- changing ---- */

static struct plan *
plan_services_add(struct plan *p, const char *name)
{
	struct plan **list, *one;

	if (p->service_count == SERVICES_MAX) {
		errno = E2BIG;
		return NULL;
	}
	list = array_grow(
	    p->services, &p->service_room, sizeof(*list), p->service_count);
	if (list == NULL)
		return NULL;
	p->services = list;
	one = plan_new();
	if (one == NULL)
		return NULL;
	one->name = strdup(name);
	if (one->name == NULL) {
		plan_free(one);
		return NULL;
	}
	return p->services[p->service_count++] = plan_hold(one);
}

struct plan *
plan_service_edit(struct plan *p, const char *name)
{
	unsigned i = find(p, name);
	struct plan *one, *copy;

	if (i == 0)
		return p;
	if (i > p->service_count)
		return plan_services_add(p, name);
	one = p->services[i - 1];
	if (one->owners == 1)
		return one;
	copy = plan_copy(one);
	if (copy == NULL)
		return NULL;
	plan_drop(one);
	return p->services[i - 1] = plan_hold(copy);
}

int
plan_service_remove(struct plan *p, const char *name)
{
	unsigned i = find(p, name);

	if (i == 0 || i > p->service_count) {
		errno = ENOENT;
		return -1;
	}
	plan_drop(p->services[i - 1]);
	p->service_count--;
	memmove(&p->services[i - 1], &p->services[i],
	    (p->service_count - (i - 1)) * sizeof(*p->services));
	return 0;
}

/* ---- what is of the process ---- */

static bool
is_of_process(const struct command *row)
{
	return row->flags & ROW_PROCESS && row->kind < KIND_CHANGE;
}

static bool
is_settled(const struct plan *p, const struct plan *service)
{
	const struct command *row;

	TABLE_EACH (row)
		if (is_of_process(row) &&
		    !value_equal(row, &p->config, &service->config))
			return false;
	return plan_acls_equal(&p->acls, &service->acls);
}

static int
settle(const struct plan *p, struct plan *service)
{
	const struct command *row;
	int rc = 0;

	TABLE_EACH (row)
		if (is_of_process(row))
			rc |= value_copy(row, &service->config, &p->config);
	if (rc < 0)
		return -1;
	plan_acls_fini(&service->acls);
	return plan_acls_copy(&service->acls, &p->acls);
}

int
plan_settle(struct plan *p, const struct plan *now)
{
	bool same = now != NULL && is_settled(p, now);
	struct plan *one;
	unsigned i;

	for (i = 0; i < p->service_count; i++) {
		if (same && i < now->service_count &&
		    p->services[i] == now->services[i])
			continue;
		if (is_settled(p, p->services[i]))
			continue;
		one = plan_service_edit(p, p->services[i]->name);
		if (one == NULL || settle(p, one) < 0)
			return -1;
	}
	return 0;
}

/* ---- what a reload leaves alone ---- */

static bool
says_the_same(const struct plan *a, const struct plan *b)
{
	const struct command *row = NULL;

	do
		row = setting_next_difference(a, b, row);
	while (row != NULL && row->flags & ROW_PROCESS);
	return row == NULL && text_equal(a->listen_text, b->listen_text) &&
	    listen_list_equal(&a->listen, &b->listen) &&
	    route_plans_equal(a->routes, b->routes) &&
	    plan_slots(a) == plan_slots(b) &&
	    plan_next_change(a, b, 0) >= plan_slots(a);
}

/* A reload keeps their order as a rule, so that few are searched for. */
void
plan_share_services(struct plan *p, const struct plan *now)
{
	const struct plan *same;
	unsigned i;

	for (i = 0; i < p->service_count; i++) {
		same = i < now->service_count &&
			strcmp(now->services[i]->name, p->services[i]->name) ==
			    0
		    ? now->services[i]
		    : plan_service(now, p->services[i]->name);
		if (same == NULL || !says_the_same(p->services[i], same))
			continue;
		plan_drop(p->services[i]);
		p->services[i] = plan_hold((struct plan *)(uintptr_t)same);
	}
}
