/* client_hello.c: the names in a ClientHello of a stranger. What its beginning
 * has decided stays, whatever follows; names are as first_set_name() makes
 * them, and the list of protocols is whole. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "proxy/wire/first.h"

static enum first_verdict
read_part(const uint8_t *data, size_t n, struct first *f)
{
	char *copy = fuzz_copy(data, n);
	enum first_verdict v;

	memset(f, 0, sizeof(*f));
	v = first_tls(copy, n, f);
	free(copy);
	return v;
}

static void
check(const struct first *f)
{
	char again[FIRST_NAME];
	size_t i;

	FUZZ_MUST(f->sni[0] == '\0' ||
	    (first_set_name(again, f->sni, strlen(f->sni)) &&
		strcmp(again, f->sni) == 0));
	FUZZ_MUST(f->alpn_length <= FIRST_ALPN);
	for (i = 0; i < f->alpn_length; i += 1u + f->alpn[i])
		FUZZ_MUST(f->alpn[i] > 0);
	FUZZ_MUST(i == f->alpn_length);
}

FUZZ(client_hello)
{
	struct first f, part;
	enum first_verdict v, before;
	size_t n, step = size / 16 + 1;

	v = read_part(data, size, &f);
	if (v == FIRST_KNOWN)
		check(&f);
	for (n = 0; n < size; n += step) {
		before = read_part(data, n, &part);
		FUZZ_MUST(before == FIRST_MORE || before == v);
		FUZZ_MUST(before != FIRST_KNOWN ||
		    (strcmp(part.sni, f.sni) == 0 &&
			part.alpn_length == f.alpn_length));
	}
	return 0;
}
