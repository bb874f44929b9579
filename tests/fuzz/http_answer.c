/* http_answer.c: what a server answers a health check: the same is read of it
 * in whatever pieces it comes. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "proxy/http/http_answer.h"

struct seen {
	struct http_answer h;
	enum http_event last;
	char body[HTTP_ANSWER_MAX];
	size_t length;
	size_t used; /* bytes of the input, up to the end of the answer */
};

static void
give(struct seen *s, const uint8_t *bytes, size_t n)
{
	char *copy = fuzz_copy(bytes, n);
	const char *at = copy;

	while (s->last != HTTP_END && s->last != HTTP_WRONG) {
		s->last = http_answer_take(&s->h, &at, &n);
		FUZZ_MUST(s->last != HTTP_NO_MEMORY);
		if (s->last == HTTP_MORE)
			break;
		if (s->last != HTTP_BODY)
			continue;
		FUZZ_MUST(s->length + s->h.body_length <= sizeof(s->body));
		memcpy(s->body + s->length, s->h.body, s->h.body_length);
		s->length += s->h.body_length;
	}
	s->used += (size_t)(at - copy);
	free(copy);
}

static void
play(struct seen *s, const uint8_t *data, size_t size, size_t step)
{
	size_t i;

	http_answer_fini(&s->h);
	memset(s, 0, sizeof(*s));
	for (i = 0; i < size; i += step)
		give(s, data + i, step < size - i ? step : size - i);
	FUZZ_MUST((s->last == HTTP_WRONG) == (s->h.wrong != NULL));
}

FUZZ(http_answer)
{
	static struct seen whole, parts;
	size_t step = fuzz_step(&data, &size);

	if (size > HTTP_ANSWER_MAX)
		return 0;
	play(&whole, data, size, size + 1);
	play(&parts, data, size, step);
	FUZZ_MUST(whole.last == parts.last);
	FUZZ_MUST(whole.last == HTTP_WRONG || whole.used == parts.used);
	FUZZ_MUST(whole.h.status == parts.h.status);
	FUZZ_MUST(whole.length == parts.length &&
	    memcmp(whole.body, parts.body, whole.length) == 0);
	FUZZ_MUST(http_answer_ends(&whole.h) == http_answer_ends(&parts.h));
	return 0;
}
