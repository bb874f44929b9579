/* plan_services.c: the services of a plan besides the first one. Plans share
 * those that neither has changed. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/words.h"
#include "control/plan/plan.h"
#include "control/plan/setting.h"

/* ---- finding one ---- */

const struct plan *
plan_service_at(const struct plan *p, unsigned i)
{
	if (i == 0)
		return p;
	return i <= p->service_count ? p->services[i - 1] : NULL;
}

const struct plan *
plan_service_near(const struct plan *p, unsigned i, const char *name)
{
	const struct plan *one = plan_service_at(p, i);

	return one != NULL && strcmp(plan_service_name(one), name) == 0
	    ? one
	    : plan_service(p, name);
}

const char *
plan_service_name(const struct plan *service)
{
	return service->name != NULL ? service->name : "default";
}

unsigned
plan_service_number(const struct plan *p, const char *name)
{
	uint64_t hash = hash_stable(name, strlen(name));
	unsigned i;

	if (strcmp(plan_service_name(p), name) == 0)
		return 0;
	for (i = 0; i < p->service_count; i++)
		if (p->service_hashes[i] == hash &&
		    strcmp(p->services[i]->name, name) == 0)
			break;
	return i + 1;
}

const struct plan *
plan_service(const struct plan *p, const char *name)
{
	return plan_service_at(p, plan_service_number(p, name));
}

const struct plan *
plan_service_leading_to(const struct plan *p, const char *name)
{
	const struct plan *one;
	const struct route_plan *r;
	unsigned i, k;

	for (i = 0; (one = plan_service_at(p, i)) != NULL; i++)
		for (k = 0; (r = route_plans_at(one->routes, k)) != NULL; k++)
			if (r->to_service && strcmp(r->to, name) == 0)
				return one;
	return NULL;
}

bool
plan_first_is_there(const struct plan *p)
{
	return p->listen.count > 0 || p->service_count == 0 ||
	    plan_service_leading_to(p, plan_service_name(p)) != NULL;
}

bool
plan_service_answers(const struct plan *service)
{
	const struct frontend_options *o = &service->config->frontend;

	return o->dummy ||
	    (o->http.on && o->http.redirect_port != 0 &&
		!tls_settings_serve(&service->config->tls));
}

bool
plan_service_leads_somewhere(const struct plan *service)
{
	const struct route_plan *r;
	unsigned i;

	for (i = 0; (r = route_plans_at(service->routes, i)) != NULL; i++)
		if (r->to_service)
			return true;
	return plan_has_server(service) || plan_service_answers(service);
}

bool
plan_service_takes_connections(const struct plan *service)
{
	const struct config *c = service->config;

	return !c->udp || c->frontend.dns.on;
}

int
plan_service_blame(const struct plan *service, struct error *e)
{
	struct error why = *e;

	return service->name == NULL
	    ? -1
	    : error_set(e, "service %s: %.450s", service->name, why.text);
}

int
plan_service_errors(const struct plan *service, struct errors *all,
    unsigned from, int rc, struct error *e)
{
	struct error operand;

	if (service->name != NULL) {
		error_set(&operand, "service %s", service->name);
		errors_of(all, from, operand.text);
	}
	if (rc == 0)
		return 0;
	(void)plan_service_blame(service, e);
	return errors_add(all, e) ? 0 : -1;
}

bool
plan_service_is_name(const char *word)
{
	size_t n = strlen(word);

	return n <= SERVICE_NAME_MAX && strcmp(word, "add") != 0 &&
	    strcmp(word, "json") != 0 && strcmp(word, "defaults") != 0 &&
	    isalpha((unsigned char)word[0]) &&
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

/* Makes room for at least `n` services. */
static int
make_room(struct plan *p, unsigned n)
{
	struct plan **list =
	    array_grow(p->services, &p->service_room, sizeof(*list), n - 1);
	uint64_t *hashes;

	if (list == NULL)
		return -1;
	p->services = list;
	hashes = array_grow(
	    p->service_hashes, &p->hash_room, sizeof(*hashes), n - 1);
	if (hashes == NULL)
		return -1;
	p->service_hashes = hashes;
	return 0;
}

int
plan_services_copy(struct plan *to, const struct plan *from)
{
	unsigned i;

	unsigned n = from->service_count;

	to->services = NULL;
	to->service_hashes = NULL;
	to->service_count = to->service_room = to->hash_room = 0;
	if (n == 0)
		return 0;
	if (make_room(to, n) < 0)
		return -1;
	memcpy(to->service_hashes, from->service_hashes,
	    n * sizeof(*to->service_hashes));
	for (i = 0; i < n; i++)
		to->services[i] = plan_hold(from->services[i]);
	to->service_count = n;
	return 0;
}

void
plan_services_fini(struct plan *p)
{
	unsigned i;

	for (i = 0; i < p->service_count; i++)
		plan_drop(p->services[i]);
	free(p->services);
	free(p->service_hashes);
}

/* ---- changing ---- */

static struct plan *
plan_services_add(struct plan *p, const char *name)
{
	struct plan *one;

	if (p->service_count == SERVICES_MAX) {
		errno = E2BIG;
		return NULL;
	}
	if (make_room(p, p->service_count + 1) < 0)
		return NULL;
	one = plan_new_service(name);
	if (one == NULL)
		return NULL;
	p->service_hashes[p->service_count] = hash_stable(name, strlen(name));
	return p->services[p->service_count++] = plan_hold(one);
}

struct plan *
plan_service_edit(struct plan *p, const char *name)
{
	unsigned i = plan_service_number(p, name);
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
	unsigned i = plan_service_number(p, name);

	if (i == 0 || i > p->service_count) {
		errno = ENOENT;
		return -1;
	}
	plan_drop(p->services[i - 1]);
	p->service_count--;
	memmove(&p->services[i - 1], &p->services[i],
	    (p->service_count - (i - 1)) * sizeof(*p->services));
	memmove(&p->service_hashes[i - 1], &p->service_hashes[i],
	    (p->service_count - (i - 1)) * sizeof(*p->service_hashes));
	return 0;
}

/* ---- what a reload leaves alone ---- */

/* Lines may have moved. Only errors have them, so that all who share a plan may
 * get others. */
static void
swap_origins(struct plan *a, struct plan *b)
{
	struct plan old = *a;
	struct server_plan *x, *y;
	unsigned slot;
	char *origin;

	a->origins = b->origins;
	a->origin_count = b->origin_count;
	a->origin_room = b->origin_room;
	memcpy(a->pair_origin, b->pair_origin, sizeof(a->pair_origin));
	b->origins = old.origins;
	b->origin_count = old.origin_count;
	b->origin_room = old.origin_room;
	memcpy(b->pair_origin, old.pair_origin, sizeof(b->pair_origin));
	for (slot = 0; slot < plan_slots(a); slot++) {
		x = (struct server_plan *)(uintptr_t)plan_slot(a, slot);
		y = (struct server_plan *)(uintptr_t)plan_slot(b, slot);
		if (x->host == NULL)
			continue;
		origin = x->origin;
		x->origin = y->origin;
		y->origin = origin;
	}
}

/* Whether two services are equal; that a server is to be taken out at once is
 * no setting. */
static bool
is_equal(const struct plan *a, const struct plan *b)
{
	return plan_slots(a) == plan_slots(b) && plan_changed(a, b) == 0;
}

/* A reload keeps their order as a rule, so that few are searched for. */
void
plan_share_services(struct plan *p, const struct plan *now)
{
	struct plan *same;
	unsigned i;

	for (i = 0; i < p->service_count; i++) {
		same = (struct plan *)(uintptr_t)plan_service_near(
		    now, i + 1, p->services[i]->name);
		if (same == NULL || same == p->services[i] ||
		    !is_equal(p->services[i], same))
			continue;
		swap_origins(same, p->services[i]);
		plan_drop(p->services[i]);
		p->services[i] = plan_hold(same);
	}
}
