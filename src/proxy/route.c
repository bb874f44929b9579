/* route.c: see route.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proxy/route.h"

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

/* Patterns are in lower case, as names of clients are. */
static bool
name_matches(const char *pattern, const char *name)
{
	size_t n = strlen(name), tail;

	if (pattern[0] != '*')
		return strcmp(pattern, name) == 0;
	if (pattern[1] == '\0')
		return n > 0;
	tail = strlen(pattern + 1);
	return n > tail && strcmp(name + n - tail, pattern + 1) == 0;
}

/* What a server offers or picks is compared byte for byte (RFC 7301, 3.1). */
static bool
alpn_matches(const char *pattern, const struct first *f)
{
	size_t n = strlen(pattern), at;

	for (at = 0; at < f->alpn_length; at += 1u + f->alpn[at])
		if (f->alpn[at] == n &&
		    memcmp(f->alpn + at + 1, pattern, n) == 0)
			return true;
	return false;
}

bool
route_matches(const struct route *r, const struct first *f)
{
	switch (r->kind) {
	case ROUTE_SNI:
		return name_matches(r->pattern, f->sni);
	case ROUTE_ALPN:
		return alpn_matches(r->pattern, f);
	case ROUTE_HOST:
		return name_matches(r->pattern, f->host);
	case ROUTE_PROTOCOL:
		return strcmp(r->pattern, first_protocol_name(f->protocol)) ==
		    0;
	default:
		return false;
	}
}

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

struct routes *
routes_new(unsigned count)
{
	struct routes *r = calloc(1, sizeof(*r) + count * sizeof(struct route));
	unsigned i;

	for (i = 0; r != NULL && i < count; i++)
		r->list[i].kind = ROUTE_DEFAULT;
	if (r != NULL)
		r->count = count;
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
	free(r);
}

static bool
is_same(const struct route *a, const struct route *b)
{
	return a->kind == b->kind && strcmp(a->pattern, b->pattern) == 0;
}

/* Its turns go on if it has the same servers. */
static void
go_on(struct route *r, const struct route *before)
{
	struct server_set *now = &r->servers;
	const struct server_set *old = &before->servers;

	r->clients = before->clients;
	now->next = old->next;
	if (now->count == old->count && now->count > 0 &&
	    memcmp(now->slots, old->slots, now->count * sizeof(*now->slots)) ==
		0)
		memcpy(now->credit, old->credit,
		    now->count * sizeof(*now->credit));
}

/* Mostly one was added, or gone: those behind it are near. */
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
		for (n = 0; n < old && !is_same(x, &before->list[k]); n++)
			k = (k + 1) % old;
		if (n < old)
			go_on(x, &before->list[k]);
	}
}

struct route *
routes_find(struct routes *r, const struct first *f)
{
	struct route *others = NULL;
	unsigned i;

	for (i = 0; i < r->count; i++) {
		if (r->list[i].kind == ROUTE_DEFAULT && others == NULL)
			others = &r->list[i];
		if (route_matches(&r->list[i], f))
			return &r->list[i];
	}
	return others;
}
