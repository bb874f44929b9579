/* routes.c: see routes.h; and how they come into force. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "control/apply/apply.h"
#include "control/apply/direct.h"
#include "control/language/command.h"
#include "control/apply/routes.h"
#include "control/apply/server_find.h"

/* ---- servers of a route ---- */

struct found {
	unsigned *slots;
	unsigned count, room;
	bool no_memory;
};

static void
on_found(void *arg, unsigned slot)
{
	struct found *f = arg;
	unsigned *grown;

	grown = array_grow(f->slots, &f->room, sizeof(*grown), f->count);
	if (grown == NULL) {
		f->no_memory = true;
		return;
	}
	f->slots = grown;
	f->slots[f->count++] = slot;
}

void
routes_each_word(
    const char *list, void (*fn)(void *arg, const char *word), void *arg)
{
	char word[SPEC_TEXT_MAX];
	size_t n;

	for (;; list += n + 1) {
		n = strcspn(list, ",");
		if (n < sizeof(word)) {
			memcpy(word, list, n);
			word[n] = '\0';
			fn(arg, word);
		}
		if (list[n] == '\0')
			return;
	}
}

struct making {
	struct call call; /* what server_find_each() wants: pen and plan */
	struct found found;
};

static void
routes_add_word(void *arg, const char *word)
{
	struct making *m = arg;
	struct error e;

	(void)server_find_each(&m->call, word, on_found, &m->found, &e);
}

static int
make_one(struct making *m, const struct route_plan *from, struct route *to)
{
	int rc = 0;

	to->kind = from->kind;
	to->pattern = strdup(from->pattern);
	m->found.count = 0;
	if (!from->to_service)
		routes_each_word(from->to, routes_add_word, m);
	if (to->pattern == NULL || m->found.no_memory)
		rc = -1;
	if (server_set_init(&to->servers, m->found.slots, m->found.count) < 0)
		rc = -1;
	return rc;
}

int
routes_make(struct service *svc, const struct plan *draft, struct routes **made)
{
	unsigned n = route_plans_count(draft->routes), i;
	struct making m = { .call = { .pen = svc->pen,
				.service = svc,
				.plan = (struct plan *)(uintptr_t)draft } };
	struct routes *r;
	int rc = 0;

	*made = NULL;
	if (n == 0)
		return 0;
	r = routes_new(n);
	if (r == NULL)
		return -1;
	for (i = 0; i < n && rc == 0; i++)
		rc =
		    make_one(&m, route_plans_at(draft->routes, i), &r->list[i]);
	free(m.found.slots);
	if (rc == 0) {
		*made = r;
		return 0;
	}
	routes_free(r);
	errno = ENOMEM;
	return -1;
}

bool
routes_are_for(const struct plan *service)
{
	const struct config *c = service->config;

	return (!c->udp || c->frontend.dns.on) && !direct_is_wanted(service) &&
	    !c->frontend.dummy;
}

/* ---- a plan comes into force ---- */

int
apply_routes_prepare(struct apply *a, struct error *e)
{
	if (routes_make(a->service, a->wanted, &a->routes) < 0)
		return error_set(e, "out of memory");
	return 0;
}

void
apply_routes_cancel(struct apply *a)
{
	routes_free(a->routes);
}

void
apply_routes_commit(struct apply *a)
{
	if (a->routes != NULL)
		routes_prepare(
		    a->routes, frontend_routes(a->service->frontend));
	frontend_set_routes(a->service->frontend, a->routes);
}
