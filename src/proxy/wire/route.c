/* route.c: see route.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "proxy/wire/route.h"

static const char *const kind_names[] = {
	[ROUTE_SNI] = "sni",
	[ROUTE_ALPN] = "alpn",
	[ROUTE_HOST] = "host",
	[ROUTE_PROTOCOL] = "protocol",
	[ROUTE_DEFAULT] = "default",
};

const char *
route_kind_name(enum route_kind kind)
{
	return kind_names[kind];
}

bool
route_kind_find(const char *name, enum route_kind *kind)
{
	unsigned i;

	for (i = 0; i <= ROUTE_DEFAULT; i++)
		if (strcmp(kind_names[i], name) == 0) {
			*kind = (enum route_kind)i;
			return true;
		}
	return false;
}

/* ---- patterns ---- */

bool
route_pattern_is_valid(enum route_kind kind, const char *pattern)
{
	char name[FIRST_NAME];
	unsigned p;

	switch (kind) {
	case ROUTE_SNI:
	case ROUTE_HOST:
		if (strcmp(pattern, "*") == 0)
			return true;
		if (strncmp(pattern, "*.", 2) == 0)
			pattern += 2;
		return first_set_name(name, pattern, strlen(pattern)) &&
		    strcasecmp(name, pattern) == 0;
	case ROUTE_ALPN:
		return pattern[0] != '\0' && strlen(pattern) < FIRST_ALPN;
	case ROUTE_PROTOCOL:
		for (p = FIRST_SILENT; p <= FIRST_POSTGRES; p++)
			if (strcmp(first_protocol_name((enum first_protocol)p),
				pattern) == 0)
				return true;
		return false;
	default:
		return pattern[0] == '\0';
	}
}

/* ---- the routes ---- */

void
route_queue_init(struct route_queue *q, const struct server_set *servers)
{
	list_init(&q->link);
	list_init(&q->sessions);
	list_init(&q->tried);
	q->servers = servers;
	q->due = q->old = false;
}

struct routes *
routes_new(unsigned count)
{
	struct routes *r = calloc(1, sizeof(*r) + count * sizeof(struct route));
	unsigned i;

	if (r == NULL)
		return NULL;
	for (r->mask = 1; r->mask < 2 * count; r->mask = 2 * r->mask + 1)
		;
	r->index = calloc(r->mask + 1u, sizeof(*r->index));
	if (r->index == NULL) {
		free(r);
		return NULL;
	}
	for (i = 0; i < count; i++) {
		r->list[i].kind = ROUTE_DEFAULT;
		r->list[i].clients = &r->list[i].own_clients;
		route_queue_init(&r->list[i].queue, &r->list[i].servers);
	}
	r->count = r->others = count;
	return r;
}

void
routes_free(struct routes *r)
{
	unsigned i;

	for (i = 0; r != NULL && i < r->count; i++) {
		free(r->list[i].pattern);
		server_set_fini(&r->list[i].servers);
	}
	if (r != NULL)
		free(r->index);
	free(r);
}

/* ---- the index ---- */

/* The name that the route's pattern ends with: ".NAME" of "*.NAME", which no
 * name begins with; "" of "*". */
static const char *
route_text_of(const struct route *r)
{
	return r->pattern[0] == '*' && r->kind != ROUTE_ALPN ? r->pattern + 1
							     : r->pattern;
}

static uint32_t
place_of(
    const struct routes *r, enum route_kind kind, const char *text, size_t n)
{
	return (uint32_t)hash_mix(hash_stable(text, n) + kind) & r->mask;
}

static void
add_to_index(struct routes *r, unsigned i)
{
	const struct route *x = &r->list[i];
	const char *text = route_text_of(x);
	uint32_t at = place_of(r, x->kind, text, strlen(text));

	while (r->index[at] != 0)
		at = (at + 1) & r->mask;
	r->index[at] = i + 1;
}

/* The position of the route with that text, if it is before `best`, else
 * that. */
static unsigned
find_text(const struct routes *r, enum route_kind kind, const char *text,
    size_t n, unsigned best)
{
	uint32_t at = place_of(r, kind, text, n);
	const struct route *x;
	unsigned i;

	for (; r->index[at] != 0; at = (at + 1) & r->mask) {
		i = r->index[at] - 1;
		x = &r->list[i];
		if (i < best && x->kind == kind &&
		    strlen(route_text_of(x)) == n &&
		    memcmp(route_text_of(x), text, n) == 0)
			best = i;
	}
	return best;
}

/* The name itself, all above it, and any. */
static unsigned
find_name(const struct routes *r, enum route_kind kind, const char *name,
    unsigned best)
{
	const char *tail = name;

	if (*name == '\0')
		return best;
	best = find_text(r, kind, name, strlen(name), best);
	while ((tail = strchr(tail + 1, '.')) != NULL)
		best = find_text(r, kind, tail, strlen(tail), best);
	return find_text(r, kind, "", 0, best);
}

/* What a server offers or picks is compared byte for byte (RFC 7301, 3.1). */
static unsigned
find_alpn(const struct routes *r, const struct first *f, unsigned best)
{
	size_t at;

	for (at = 0; at < f->alpn_length; at += 1u + f->alpn[at])
		best = find_text(r, ROUTE_ALPN, (const char *)f->alpn + at + 1,
		    f->alpn[at], best);
	return best;
}

struct route *
routes_find(struct routes *r, const struct first *f)
{
	const char *protocol = first_protocol_name(f->protocol);
	unsigned best =
	    find_text(r, ROUTE_PROTOCOL, protocol, strlen(protocol), r->count);

	best = find_name(r, ROUTE_SNI, f->sni, best);
	best = find_name(r, ROUTE_HOST, f->host, best);
	best = find_alpn(r, f, best);
	if (best == r->count)
		best = r->others;
	return best < r->count ? &r->list[best] : NULL;
}

/* ---- the next routes ---- */

static bool
route_is_same(const struct route *a, const struct route *b)
{
	return a->kind == b->kind && strcmp(a->pattern, b->pattern) == 0;
}

/* The route takes over the count of the same route before it, and its turns if
 * it has the same servers. */
static void
route_go_on(struct route *r, const struct route *before)
{
	struct server_set *now = &r->servers;
	const struct server_set *old = &before->servers;

	r->place = before->place;
	r->own_clients = before->own_clients;
	if (before->clients != &before->own_clients)
		r->clients = before->clients;
	now->next = old->next;
	if (now->count == old->count && now->count > 0 &&
	    memcmp(now->slots, old->slots, now->count * sizeof(*now->slots)) ==
		0)
		memcpy(now->credit, old->credit,
		    now->count * sizeof(*now->credit));
}

/* Mostly one was added, or gone: those after it are near. */
void
routes_prepare(struct routes *r, const struct routes *before)
{
	unsigned i, k = 0, n, old = before != NULL ? before->count : 0;

	r->wants = (struct first_wants){ .hello = false };
	r->protocol = false;
	for (i = 0; i < r->count; i++) {
		struct route *x = &r->list[i];

		r->wants.hello |= x->kind == ROUTE_SNI || x->kind == ROUTE_ALPN;
		r->wants.host |= x->kind == ROUTE_HOST;
		r->protocol |= x->kind == ROUTE_PROTOCOL;
		if (x->kind != ROUTE_DEFAULT)
			add_to_index(r, i);
		else if (r->others == r->count)
			r->others = i;
		for (n = 0; n < old && !route_is_same(x, &before->list[k]); n++)
			k = (k + 1) % old;
		if (n < old)
			route_go_on(x, &before->list[k]);
	}
}
