/* test_route.c: which route a client has. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/wire/route.h"
#include "support/corrupt.h"
#include "support/suite.h"

static void
put(struct routes *r, unsigned i, enum route_kind kind, const char *pattern)
{
	unsigned slots[] = { 2, 3 };

	r->list[i].kind = kind;
	r->list[i].pattern = strdup(pattern);
	ck_assert_int_eq(server_set_init(&r->list[i].servers, slots, 2), 0);
}

static bool
matches(enum route_kind kind, const char *pattern, const struct first *f)
{
	struct routes *r = routes_new(1);
	bool rc;

	put(r, 0, kind, pattern);
	routes_prepare(r, NULL);
	rc = routes_find(r, f) != NULL;
	routes_free(r);
	return rc;
}

static bool
sni_matches(const char *pattern, const char *name)
{
	struct first f = { .protocol = FIRST_TLS };

	strcpy(f.sni, name);
	return matches(ROUTE_SNI, pattern, &f);
}

START_TEST(names)
{
	ck_assert(sni_matches("a.example", "a.example"));
	ck_assert(!sni_matches("a.example", "b.a.example"));
	ck_assert(sni_matches("*.example", "a.example"));
	ck_assert(sni_matches("*.example", "b.a.example"));
	ck_assert(!sni_matches("*.example", "example"));
	ck_assert(sni_matches("*", "a"));
	ck_assert(!sni_matches("*", ""));
}
END_TEST

START_TEST(alpn)
{
	struct first f = { .protocol = FIRST_TLS, .alpn_length = 12 };

	memcpy(f.alpn, "\x02h2\x08http/1.1", 12);
	ck_assert(matches(ROUTE_ALPN, "h2", &f));
	ck_assert(matches(ROUTE_ALPN, "http/1.1", &f));
	ck_assert(!matches(ROUTE_ALPN, "h", &f));
	ck_assert(!matches(ROUTE_ALPN, "H2", &f));
	ck_assert(!matches(ROUTE_ALPN, "http/1.0", &f));
}
END_TEST

/* A protocol is bytes: one that goes on behind a NUL is another. */
START_TEST(alpn_with_a_nul)
{
	struct first f = { .protocol = FIRST_TLS, .alpn_length = 201 };
	unsigned i;

	memcpy(f.alpn, "\xc8h2", 3);
	for (i = 0; i < 256; i++) {
		f.alpn[4] = (unsigned char)i;
		ck_assert(!matches(ROUTE_ALPN, "h2", &f));
	}
}
END_TEST

/* The first that matches; a default only if none does, wherever it is. */
START_TEST(order)
{
	struct first f = { .protocol = FIRST_TLS };
	struct routes *r = routes_new(4);

	put(r, 0, ROUTE_DEFAULT, "");
	put(r, 1, ROUTE_SNI, "a.example");
	put(r, 2, ROUTE_SNI, "*.example");
	put(r, 3, ROUTE_PROTOCOL, "tls");
	routes_prepare(r, NULL);
	ck_assert(r->wants.hello && !r->wants.host && r->protocol);
	strcpy(f.sni, "a.example");
	ck_assert_ptr_eq(routes_find(r, &f), &r->list[1]);
	strcpy(f.sni, "b.example");
	ck_assert_ptr_eq(routes_find(r, &f), &r->list[2]);
	strcpy(f.sni, "b.org");
	ck_assert_ptr_eq(routes_find(r, &f), &r->list[3]);
	f.protocol = FIRST_SSH;
	ck_assert_ptr_eq(routes_find(r, &f), &r->list[0]);
	routes_free(r);
}
END_TEST

/* ---- many ---- */

enum { ROUTES = 300 };

/* A name of up to four labels of a few. */
static const char *
draw_name(struct dice *d, char name[64])
{
	static const char *const labels[] = { "a", "b", "cc", "a-b", "x" };
	size_t n = 1 + dice_below(d, 4);

	for (name[0] = '\0'; n > 0; n--) {
		strcat(name, labels[dice_below(d, 5)]);
		strcat(name, n > 1 ? "." : "");
	}
	return name;
}

/* As the manual says it, one route after the other. */
static bool
is_for(const struct route *r, const struct first *f)
{
	const char *name = r->kind == ROUTE_SNI ? f->sni : f->host;
	const char *p = r->pattern;
	size_t n = strlen(name), m = strlen(p);

	if (r->kind == ROUTE_PROTOCOL)
		return strcmp(p, first_protocol_name(f->protocol)) == 0;
	if (r->kind == ROUTE_ALPN)
		return f->alpn_length == m + 1 &&
		    memcmp(f->alpn + 1, p, m) == 0;
	if (r->kind == ROUTE_DEFAULT || n == 0)
		return false;
	if (strcmp(p, "*") == 0)
		return true;
	return p[0] == '*' ? n > m - 1 && strcmp(name + n - (m - 1), p + 1) == 0
			   : strcmp(name, p) == 0;
}

static void
put_any(struct dice *d, struct routes *r, unsigned i)
{
	char name[64], pattern[70];

	switch (dice_below(d, 8)) {
	case 0:
		put(r, i, ROUTE_PROTOCOL, dice_says(d, 2) ? "tls" : "http");
		break;
	case 1:
		put(r, i, ROUTE_ALPN, draw_name(d, name));
		break;
	default:
		snprintf(pattern, sizeof(pattern), "%s%s",
		    dice_says(d, 2) ? "*." : "", draw_name(d, name));
		put(r, i, dice_says(d, 2) ? ROUTE_SNI : ROUTE_HOST,
		    dice_says(d, 300) ? "*" : pattern);
	}
}

static const struct route *
find_by_walk(const struct routes *r, const struct first *f)
{
	unsigned i;

	for (i = 0; i < r->count; i++)
		if (is_for(&r->list[i], f))
			return &r->list[i];
	return NULL;
}

/* The index finds what a walk finds. */
START_TEST(as_by_a_walk)
{
	struct dice d = { .seed = 11 };
	unsigned i, found = 0, rounds = (unsigned)suite_rounds(100), k;

	for (k = 0; k < rounds; k++) {
		unsigned n = 1 + (unsigned)dice_below(&d, ROUTES);
		struct routes *r = routes_new(n);

		for (i = 0; i < n; i++)
			put_any(&d, r, i);
		routes_prepare(r, NULL);
		for (i = 0; i < 200; i++) {
			struct first f = { .protocol =
					       (enum first_protocol)dice_below(
						   &d, 6) };
			char name[64];

			if (dice_says(&d, 2))
				strcpy(f.sni, draw_name(&d, name));
			if (dice_says(&d, 2))
				strcpy(f.host, draw_name(&d, name));
			if (dice_says(&d, 2)) {
				f.alpn_length = 1 + strlen(draw_name(&d, name));
				f.alpn[0] = (unsigned char)strlen(name);
				memcpy(f.alpn + 1, name, strlen(name));
			}
			ck_assert_ptr_eq(
			    routes_find(r, &f), find_by_walk(r, &f));
			found += routes_find(r, &f) != NULL;
		}
		routes_free(r);
	}
	ck_assert_uint_gt(found, rounds * 50);
}
END_TEST

START_TEST(patterns)
{
	ck_assert(route_pattern_is_valid(ROUTE_SNI, "*.a.example"));
	ck_assert(route_pattern_is_valid(ROUTE_HOST, "*"));
	ck_assert(route_pattern_is_valid(ROUTE_HOST, "[::1]"));
	ck_assert(!route_pattern_is_valid(ROUTE_SNI, "*a"));
	ck_assert(!route_pattern_is_valid(ROUTE_SNI, "*."));
	ck_assert(!route_pattern_is_valid(ROUTE_SNI, "a."));
	ck_assert(!route_pattern_is_valid(ROUTE_SNI, ""));
	ck_assert(route_pattern_is_valid(ROUTE_ALPN, "h2"));
	ck_assert(!route_pattern_is_valid(ROUTE_ALPN, ""));
	ck_assert(route_pattern_is_valid(ROUTE_PROTOCOL, "silent"));
	ck_assert(!route_pattern_is_valid(ROUTE_PROTOCOL, "unknown"));
	ck_assert(route_pattern_is_valid(ROUTE_DEFAULT, ""));
	ck_assert(!route_pattern_is_valid(ROUTE_DEFAULT, "x"));
}
END_TEST

/* Who is the same goes on with its count and turns; credit only with the same
 * servers. */
START_TEST(what_goes_on)
{
	struct routes *old = routes_new(3), *new = routes_new(3);
	unsigned other[] = { 2, 9 };

	put(old, 0, ROUTE_SNI, "gone");
	put(old, 1, ROUTE_SNI, "same");
	put(old, 2, ROUTE_SNI, "changed");
	put(new, 0, ROUTE_SNI, "changed");
	put(new, 1, ROUTE_HOST, "gone");
	put(new, 2, ROUTE_SNI, "same");
	server_set_fini(&new->list[0].servers);
	ck_assert_int_eq(server_set_init(&new->list[0].servers, other, 2), 0);
	*old->list[0].clients = 9;
	*old->list[1].clients = 7;
	old->list[1].servers.next = 3;
	old->list[1].servers.credit[0] = -5;
	*old->list[2].clients = 8;
	old->list[2].servers.credit[0] = -6;
	routes_prepare(new, old);
	ck_assert_uint_eq(*new->list[2].clients, 7);
	ck_assert_uint_eq(new->list[2].servers.next, 3);
	ck_assert_int_eq(new->list[2].servers.credit[0], -5);
	ck_assert_uint_eq(*new->list[0].clients, 8);
	ck_assert_int_eq(new->list[0].servers.credit[0], 0);
	ck_assert_uint_eq(*new->list[1].clients, 0);
	routes_free(old);
	routes_free(new);
}
END_TEST

SUITE(test_route)
{
	Suite *s = suite_create("route");

	SUITE_ADD(s, names, 10);
	SUITE_ADD(s, alpn, 10);
	SUITE_ADD(s, alpn_with_a_nul, 10);
	SUITE_ADD(s, order, 10);
	SUITE_ADD(s, as_by_a_walk, 30);
	SUITE_ADD(s, patterns, 10);
	SUITE_ADD(s, what_goes_on, 10);
	return s;
}
