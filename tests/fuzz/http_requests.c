/* http_requests.c: requests of a stranger, in pieces, against a strict parser
 * of another kind (support/httpref.h). */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "proxy/http/http_requests.h"
#include "support/httpref.h"

/* What the parser of the tests has lines for. */
enum { STREAM_MAX = 4000 };

static const char lines[] =
    "X-Forwarded-Proto: http\r\nX-Forwarded-For: 10.1.2.3\r\n";

struct seen {
	struct http_requests r;
	struct http_pending pending;
	struct http_adding adding;
	char out[HTTPREF_MAX];
	size_t length;
};

static struct seen seen;
static struct httpref ref;

static void
give(const uint8_t *bytes, size_t n)
{
	size_t most = n + HTTP_GROWTH + buffer_length(&seen.r.held);
	char *copy = fuzz_copy(bytes, n), *room = malloc(most);
	struct http_text out;

	FUZZ_MUST(room != NULL);
	FUZZ_MUST(http_requests_take(
		      &seen.r, (struct http_text){ copy, n }, room, &out) == 0);
	FUZZ_MUST(seen.length + out.length <= sizeof(seen.out));
	memcpy(seen.out + seen.length, out.at, out.length);
	seen.length += out.length;
	free(room);
	free(copy);
}

static void
begin(unsigned drop)
{
	http_requests_fini(&seen.r);
	memset(&seen.r, 0, sizeof(seen.r));
	memset(&seen.pending, 0, sizeof(seen.pending));
	seen.length = 0;
	seen.adding = (struct http_adding){ .bytes = lines,
		.length = sizeof(lines) - 1,
		.drop = drop,
		.connect = true };
	seen.r.adding = &seen.adding;
	seen.r.pending = &seen.pending;
}

static void
compare(void)
{
	FUZZ_MUST(seen.length == ref.length &&
	    memcmp(seen.out, ref.out, ref.length) == 0);
	FUZZ_MUST(!ref.wrong || seen.r.status != 0);
	FUZZ_MUST(ref.wrong || ref.partial || seen.r.status == 0);
}

FUZZ(http_requests)
{
	bool drop_for = fuzz_byte(&data, &size) & 1;
	size_t step = fuzz_step(&data, &size), i;
	unsigned drop = HTTP_SEEN_PROTO |
	    (drop_for ? HTTP_SEEN_FOR | HTTP_SEEN_FORWARDED : 0u);
	struct httpref_adding adding = { lines, drop_for };

	if (size > STREAM_MAX)
		return 0;
	httpref_read(&ref, &adding, (const char *)data, size);
	if (ref.requests > HTTP_PENDING_MAX)
		return 0; /* it waits for answers */
	begin(drop);
	give(data, size);
	compare();
	begin(drop);
	for (i = 0; i < size; i += step)
		give(data + i, step < size - i ? step : size - i);
	compare();
	begin(0);
	return 0;
}
