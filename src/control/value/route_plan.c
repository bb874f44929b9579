/* route_plan.c: see route_plan.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/words.h"
#include "control/answer/reply.h"
#include "control/value/route_plan.h"
#include "proxy/wire/route.h"

struct route_plans {
	unsigned holders;
	unsigned count;
	uint32_t room;
	struct route_plan *list;
};

struct route_plans *
route_plans_hold(struct route_plans *r)
{
	if (r != NULL)
		r->holders++;
	return r;
}

static void
free_one(struct route_plan *r)
{
	free(r->pattern);
	free(r->to);
}

void
route_plans_drop(struct route_plans *r)
{
	unsigned i;

	if (r == NULL || --r->holders > 0)
		return;
	for (i = 0; i < r->count; i++)
		free_one(&r->list[i]);
	free(r->list);
	free(r);
}

unsigned
route_plans_count(const struct route_plans *r)
{
	return r != NULL ? r->count : 0;
}

const struct route_plan *
route_plans_at(const struct route_plans *r, unsigned i)
{
	return i < route_plans_count(r) ? &r->list[i] : NULL;
}

static bool
is_for(const struct route_plan *r, enum route_kind kind, const char *pattern)
{
	return r->kind == kind && strcmp(r->pattern, pattern) == 0;
}

bool
route_plans_equal(const struct route_plans *a, const struct route_plans *b)
{
	unsigned i;

	if (a == b)
		return true;
	if (route_plans_count(a) != route_plans_count(b))
		return false;
	for (i = 0; i < route_plans_count(a); i++)
		if (!is_for(&a->list[i], b->list[i].kind, b->list[i].pattern) ||
		    a->list[i].to_service != b->list[i].to_service ||
		    strcmp(a->list[i].to, b->list[i].to) != 0)
			return false;
	return true;
}

/* ---- changes ---- */

static int
route_plan_copy(struct route_plan *to, const struct route_plan *from)
{
	*to = *from;
	to->pattern = strdup(from->pattern);
	to->to = strdup(from->to);
	if (to->pattern != NULL && to->to != NULL)
		return 0;
	free_one(to);
	return -1;
}

static int
route_plan_append(struct route_plans *r, const struct route_plan *one)
{
	struct route_plan *list =
	    array_grow(r->list, &r->room, sizeof(*list), r->count);

	if (list == NULL)
		return -1;
	r->list = list;
	if (route_plan_copy(&list[r->count], one) < 0)
		return -1;
	r->count++;
	return 0;
}

/* Makes *r the plan's own. */
static int
own(struct route_plans **r)
{
	struct route_plans *new;
	unsigned i;

	if (*r != NULL && (*r)->holders == 1)
		return 0;
	new = calloc(1, sizeof(*new));
	if (new == NULL)
		return -1;
	new->holders = 1;
	for (i = 0; i < route_plans_count(*r); i++)
		if (route_plan_append(new, &(*r)->list[i]) < 0) {
			route_plans_drop(new);
			errno = ENOMEM;
			return -1;
		}
	route_plans_drop(*r);
	*r = new;
	return 0;
}

/* The position of that route, or the count. */
static unsigned
route_plan_find(
    const struct route_plans *r, enum route_kind kind, const char *pattern)
{
	unsigned i, n = route_plans_count(r);

	for (i = 0; i < n && !is_for(&r->list[i], kind, pattern); i++)
		;
	return i;
}

int
route_plans_set(struct route_plans **r, const struct route_plan *one)
{
	unsigned at = route_plan_find(*r, one->kind, one->pattern);
	struct route_plan new;

	if (at == ROUTES_MAX) {
		errno = E2BIG;
		return -1;
	}
	if (own(r) < 0)
		return -1;
	if (at == (*r)->count)
		return route_plan_append(*r, one);
	if (route_plan_copy(&new, one) < 0)
		return -1;
	free_one(&(*r)->list[at]);
	(*r)->list[at] = new;
	return 0;
}

int
route_plans_remove(
    struct route_plans **r, enum route_kind kind, const char *pattern)
{
	unsigned at = route_plan_find(*r, kind, pattern);

	if (at == route_plans_count(*r)) {
		errno = ENOENT;
		return -1;
	}
	if (own(r) < 0)
		return -1;
	free_one(&(*r)->list[at]);
	(*r)->count--;
	memmove(&(*r)->list[at], &(*r)->list[at + 1],
	    ((*r)->count - at) * sizeof(struct route_plan));
	return 0;
}

void
route_plan_print(const struct route_plan *r, struct buffer *out)
{
	reply_add(out, "route %s", route_kind_name(r->kind));
	if (r->kind != ROUTE_DEFAULT) {
		reply_add(out, " ");
		words_append(out, r->pattern);
	}
	reply_add(out, r->to_service ? " service " : " ");
	words_append(out, r->to);
}

/* ---- what first bytes say ---- */

static void
set_protocol(struct first *f, const char *name)
{
	unsigned p;

	for (p = FIRST_UNKNOWN; p <= FIRST_POSTGRES; p++)
		if (strcmp(first_protocol_name((enum first_protocol)p), name) ==
		    0)
			f->protocol = (enum first_protocol)p;
}

static bool
first_words_set_alpn(struct first *f, const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || f->alpn_length + 1 + n > sizeof(f->alpn))
		return false;
	f->alpn[f->alpn_length] = (unsigned char)n;
	memcpy(f->alpn + f->alpn_length + 1, name, n);
	f->alpn_length += 1 + n;
	return true;
}

int
first_words_set(
    struct first *f, const char *word, const char *value, struct error *e)
{
	static const char *const examples[] = {
		[ROUTE_SNI] = "www.example.org",
		[ROUTE_ALPN] = "h2",
		[ROUTE_HOST] = "www.example.org",
		[ROUTE_PROTOCOL] = "ssh",
	};
	enum route_kind kind;
	bool good = false;

	if (!route_kind_find(word, &kind) || kind == ROUTE_DEFAULT)
		return error_set(e,
		    "\"%.100s\": expected sni, alpn, host or protocol", word);
	if (value == NULL)
		return error_set(e, "%s: expects a name, for example %s %s",
		    word, word, examples[kind]);
	if (kind == ROUTE_SNI)
		good = first_set_name(f->sni, value, strlen(value));
	else if (kind == ROUTE_HOST)
		good = first_set_name(f->host, value, strlen(value));
	else if (kind == ROUTE_ALPN)
		good = first_words_set_alpn(f, value);
	else
		good = route_pattern_is_valid(kind, value);
	if (!good)
		return error_set(
		    e, "%s: \"%.100s\" is not a valid value", word, value);
	set_protocol(f,
	    kind == ROUTE_PROTOCOL   ? value
		: kind == ROUTE_HOST ? "http"
				     : "tls");
	return 0;
}
