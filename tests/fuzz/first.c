/* first.c: the first bytes of a client, whatever it speaks. What a part of them
 * has decided stays, is the same when it was packed, and has the right route.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "proxy/wire/first.h"
#include "proxy/wire/route.h"

static const struct {
	enum route_kind kind;
	const char *pattern;
} rows[] = { { ROUTE_ALPN, "h2" }, { ROUTE_SNI, "a.test" },
	{ ROUTE_HOST, "*.test" }, { ROUTE_ALPN, "http/1.1" },
	{ ROUTE_PROTOCOL, "ssh" }, { ROUTE_SNI, "*.test" },
	{ ROUTE_HOST, "*" }, { ROUTE_DEFAULT, "" } };
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static enum first_verdict
read_part(const uint8_t *data, size_t n, const struct first_wants *wants,
    struct first *f)
{
	char *copy = fuzz_copy(data, n);
	enum first_verdict v;

	memset(f, 0, sizeof(*f));
	v = first_read(copy, n, wants, f);
	free(copy);
	return v;
}

static bool
same(const struct first *a, const struct first *b)
{
	return a->protocol == b->protocol && strcmp(a->sni, b->sni) == 0 &&
	    strcmp(a->host, b->host) == 0 && a->alpn_length == b->alpn_length &&
	    memcmp(a->alpn, b->alpn, a->alpn_length) == 0;
}

static void
check(const struct first *f)
{
	struct first_packed *p = first_pack(f);
	char again[FIRST_NAME];
	struct first out;

	FUZZ_MUST(p != NULL);
	first_unpack(p, &out);
	free(p);
	FUZZ_MUST(same(f, &out));
	FUZZ_MUST(f->host[0] == '\0' ||
	    (first_set_name(again, f->host, strlen(f->host)) &&
		strcmp(again, f->host) == 0));
	FUZZ_MUST(first_protocol_name(f->protocol) != NULL);
}

/* ---- the route that it has, as the manual has it ---- */

static bool
is_of(const char *name, const char *pattern)
{
	size_t n = strlen(name), m = strlen(pattern) - 1;

	if (pattern[0] != '*')
		return strcmp(name, pattern) == 0;
	return n > m && strcmp(name + n - m, pattern + 1) == 0;
}

static bool
offers(const struct first *f, const char *protocol)
{
	size_t n = strlen(protocol), i;

	for (i = 0; i < f->alpn_length; i += 1u + f->alpn[i])
		if (f->alpn[i] == n &&
		    memcmp(f->alpn + i + 1, protocol, n) == 0)
			return true;
	return false;
}

static bool
matches(const struct first *f, unsigned row)
{
	const char *pattern = rows[row].pattern;

	switch (rows[row].kind) {
	case ROUTE_ALPN:
		return offers(f, pattern);
	case ROUTE_SNI:
		return is_of(f->sni, pattern);
	case ROUTE_HOST:
		return is_of(f->host, pattern);
	case ROUTE_PROTOCOL:
		return strcmp(first_protocol_name(f->protocol), pattern) == 0;
	case ROUTE_DEFAULT:
		break;
	}
	return true;
}

static void
check_route(const struct first *f)
{
	struct routes *r = routes_new(ROWS);
	unsigned i;

	FUZZ_MUST(r != NULL);
	for (i = 0; i < ROWS; i++) {
		r->list[i].kind = rows[i].kind;
		r->list[i].pattern = fuzz_string(
		    rows[i].pattern, strlen(rows[i].pattern));
	}
	routes_prepare(r, NULL);
	for (i = 0; !matches(f, i); i++)
		;
	FUZZ_MUST(routes_find(r, f) == &r->list[i]);
	routes_free(r);
}

FUZZ(first)
{
	uint8_t flags = fuzz_byte(&data, &size);
	struct first_wants wants = { flags & 1, flags & 2 };
	struct first f, part;
	enum first_verdict v, before;
	size_t n, step = size / 16 + 1;

	v = read_part(data, size, &wants, &f);
	if (v == FIRST_KNOWN) {
		check(&f);
		check_route(&f);
	}
	for (n = 1; n < size; n += step) {
		before = read_part(data, n, &wants, &part);
		FUZZ_MUST(before == FIRST_MORE || before == v);
		FUZZ_MUST(before != FIRST_KNOWN || same(&part, &f));
	}
	return 0;
}
