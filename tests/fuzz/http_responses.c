/* http_responses.c: the responses of a server, against a reader of another kind
 * (support/httpansref.h); in whatever pieces they come, the same goes on to the
 * client and the same is known of them. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "proxy/http/http_responses.h"
#include "support/httpansref.h"

enum { REQUESTS_MAX = 4, STREAM_MAX = 16 * 1024 };

/* What is set in front of the bytes. */
struct given {
	uint8_t flags, kinds[REQUESTS_MAX];
};

struct seen {
	struct http_responses r;
	struct http_requests requests;
	struct http_pending pending;
	uint64_t classes[HTTP_CLASSES];
	char out[STREAM_MAX + REQUESTS_MAX * HTTP_ADDED_MAX];
	size_t length;
};

static void
begin(struct seen *s, const struct given *g)
{
	unsigned i;

	http_responses_fini(&s->r);
	memset(s, 0, offsetof(struct seen, out));
	s->length = 0;
	s->requests.pending = s->r.pending = &s->pending;
	s->r.requests = &s->requests;
	s->r.classes = s->classes;
	s->r.add = g->flags & 1 ? "Set-Cookie: a=b\r\n" : NULL;
	s->r.ends = g->flags & 2;
	for (i = 0; i < g->flags / 4u % (REQUESTS_MAX + 1); i++)
		http_pending_add(&s->pending, g->kinds[i] & 31);
}

static void
give(struct seen *s, const uint8_t *bytes, size_t n)
{
	size_t most = n + buffer_length(&s->r.held) + HTTP_ADDED_MAX;
	char *copy = fuzz_copy(bytes, n), *room = malloc(most);
	struct http_text out;

	FUZZ_MUST(room != NULL);
	FUZZ_MUST(http_responses_take(
		      &s->r, (struct http_text){ copy, n }, room, &out) == 0);
	FUZZ_MUST(s->length + out.length <= sizeof(s->out));
	memcpy(s->out + s->length, out.at, out.length);
	s->length += out.length;
	free(room);
	free(copy);
}

static void
compare(const struct seen *a, const struct seen *b)
{
	FUZZ_MUST(
	    a->length == b->length && memcmp(a->out, b->out, a->length) == 0);
	FUZZ_MUST(a->r.stage == b->r.stage);
	FUZZ_MUST(a->r.head.status == b->r.head.status);
	FUZZ_MUST(a->r.left == b->r.left && a->r.begun == b->r.begun);
	FUZZ_MUST(a->pending.count == b->pending.count);
	FUZZ_MUST(a->pending.closing == b->pending.closing);
	FUZZ_MUST(memcmp(a->classes, b->classes, sizeof(a->classes)) == 0);
}

static enum httpansref_end
end_of(const struct seen *s)
{
	switch (s->r.stage) {
	case HTTP_RESPONSES_TUNNEL:
		return HTTPANSREF_TUNNEL;
	case HTTP_RESPONSES_CLOSE:
		return HTTPANSREF_CLOSE;
	case HTTP_RESPONSES_OVER:
		return HTTPANSREF_OVER;
	case HTTP_RESPONSES_UNASKED:
		return HTTPANSREF_UNASKED;
	case HTTP_RESPONSES_WRONG:
		return HTTPANSREF_WRONG;
	default:
		return HTTPANSREF_MORE;
	}
}

/* The other reader adds nothing and never ends it. */
static void
compare_with_other(
    const struct seen *s, const struct given *g, const char *bytes, size_t n)
{
	static struct httpansref ref;
	uint8_t kinds[REQUESTS_MAX];
	unsigned i;

	for (i = 0; i < REQUESTS_MAX; i++)
		kinds[i] = g->kinds[i] & 31;
	httpansref_read(
	    &ref, kinds, g->flags / 4u % (REQUESTS_MAX + 1), bytes, n);
	FUZZ_MUST(end_of(s) == ref.end);
	FUZZ_MUST(s->pending.count == ref.left);
	FUZZ_MUST(s->length == ref.length &&
	    memcmp(s->out, ref.out, ref.length) == 0);
}

FUZZ(http_responses)
{
	static struct seen whole, parts;
	struct given g;
	size_t i, step;

	g.flags = fuzz_byte(&data, &size);
	step = fuzz_step(&data, &size);
	for (i = 0; i < REQUESTS_MAX; i++)
		g.kinds[i] = fuzz_byte(&data, &size);
	if (size > STREAM_MAX)
		return 0;
	begin(&whole, &g);
	give(&whole, data, size);
	if ((g.flags & 3) == 0)
		compare_with_other(&whole, &g, (const char *)data, size);
	begin(&parts, &g);
	for (i = 0; i < size; i += step)
		give(&parts, data + i, step < size - i ? step : size - i);
	compare(&whole, &parts);
	return 0;
}
