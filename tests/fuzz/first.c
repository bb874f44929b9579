/* first.c: the first bytes of a client, whatever it speaks. What a part of them
 * has decided stays, and is the same when it was packed. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "proxy/wire/first.h"

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

FUZZ(first)
{
	uint8_t flags = fuzz_byte(&data, &size);
	struct first_wants wants = { flags & 1, flags & 2 };
	struct first f, part;
	enum first_verdict v, before;
	size_t n, step = size / 16 + 1;

	v = read_part(data, size, &wants, &f);
	if (v == FIRST_KNOWN)
		check(&f);
	for (n = 1; n < size; n += step) {
		before = read_part(data, n, &wants, &part);
		FUZZ_MUST(before == FIRST_MORE || before == v);
		FUZZ_MUST(before != FIRST_KNOWN || same(&part, &f));
	}
	return 0;
}
