/* http_answer.c: see http_answer.h. What would go on to a client is written to
 * `room`, and thrown away. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/http/http_answer.h"

static enum http_event
http_answer_wrong(struct http_answer *h, const char *why)
{
	h->wrong = why;
	return HTTP_WRONG;
}

/* Returns 0, or -1 with errno ENOMEM. */
static int
http_answer_begin(struct http_answer *h)
{
	h->room = malloc(HTTP_ANSWER_MAX + 1 + HTTP_ADDED_MAX);
	if (h->room == NULL)
		return -1;
	h->requests.pending = h->responses.pending = &h->pending;
	h->responses.requests = &h->requests;
	buffer_init(&h->responses.held);
	http_pending_add(&h->pending, 0);
	return 0;
}

static bool
http_answer_is_over(const struct http_answer *h)
{
	return h->pending.count == 0 ||
	    h->responses.stage >= HTTP_RESPONSES_OVER;
}

/* How many of the bytes are of the body, or of one line. */
static size_t
http_answer_piece(const struct http_answer *h, const char *bytes, size_t n)
{
	uint64_t clear = http_responses_clear(&h->responses);
	const char *feed;

	if (n > HTTP_ANSWER_MAX + 1 - h->taken)
		n = HTTP_ANSWER_MAX + 1 - h->taken;
	if (clear > 0)
		return n < clear ? n : (size_t)clear;
	feed = memchr(bytes, '\n', n);
	return feed != NULL ? (size_t)(feed - bytes) + 1 : n;
}

static enum http_event
http_answer_take_piece(struct http_answer *h, const char **bytes, size_t *n)
{
	struct http_responses *r = &h->responses;
	bool body = http_responses_clear(r) > 0;
	struct http_text piece, out;

	if (h->taken > HTTP_ANSWER_MAX)
		return http_answer_wrong(h, "the answer is too long");
	piece = (struct http_text){ *bytes, http_answer_piece(h, *bytes, *n) };
	if (http_responses_take(r, piece, h->room, &out) < 0)
		return HTTP_NO_MEMORY;
	h->taken += piece.length;
	*bytes += piece.length;
	*n -= piece.length;
	if (r->wrong != NULL)
		return http_answer_wrong(h, r->wrong);
	if (body) {
		h->body = piece.at;
		h->body_length = piece.length;
		return HTTP_BODY;
	}
	if (r->answers == 0 || h->status != 0)
		return HTTP_MORE;
	h->status = r->head.status;
	return HTTP_HEADERS;
}

enum http_event
http_answer_take(struct http_answer *h, const char **bytes, size_t *n)
{
	enum http_event event = HTTP_MORE;

	if (h->wrong != NULL)
		return HTTP_WRONG;
	if (h->room == NULL && http_answer_begin(h) < 0)
		return HTTP_NO_MEMORY;
	while (event == HTTP_MORE && *n > 0 && !http_answer_is_over(h))
		event = http_answer_take_piece(h, bytes, n);
	return event == HTTP_MORE && http_answer_is_over(h) ? HTTP_END : event;
}

bool
http_answer_ends(const struct http_answer *h)
{
	return h->room != NULL && h->wrong == NULL &&
	    (http_answer_is_over(h) ||
		h->responses.stage == HTTP_RESPONSES_CLOSE);
}

void
http_answer_fini(struct http_answer *h)
{
	if (h->room == NULL)
		return;
	http_responses_fini(&h->responses);
	free(h->room);
}
