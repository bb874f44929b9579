/* http_relay.c: see http_relay.h. */
#include "config.h"

#include <string.h>

#include "base/list.h"
#include "proxy/http/http_relay.h"

/* ---- the filters ---- */

static void
set_up(struct http_relay *h)
{
	h->up.clear = http_requests_clear(&h->requests);
	h->up.waits = http_requests_wait(&h->requests);
}

static int
take_requests(struct pipe_filter *f, const char *bytes, size_t n,
    const char **out, size_t *out_n)
{
	struct http_relay *h = container_of(f, struct http_relay, up);
	struct http_text on;
	struct http_requests *r = &h->requests;

	/* what the kernel moved */
	if (r->stage == HTTP_REQUESTS_BODY || r->stage == HTTP_REQUESTS_CHUNK)
		r->left = h->up.clear;
	if (http_requests_take(
		&h->requests, (struct http_text){ bytes, n }, h->room, &on) < 0)
		return -1;
	set_up(h);
	*out = on.at;
	*out_n = on.length;
	return 0;
}

static int
take_responses(struct pipe_filter *f, const char *bytes, size_t n,
    const char **out, size_t *out_n)
{
	struct http_relay *h = container_of(f, struct http_relay, down);
	struct http_text on;
	struct http_responses *r = &h->responses;
	bool over;

	if (r->stage == HTTP_RESPONSES_BODY || r->stage == HTTP_RESPONSES_CHUNK)
		r->left = h->down.clear;
	if (http_responses_take(
		r, (struct http_text){ bytes, n }, h->room, &on) < 0)
		return -1;
	h->down.clear = http_responses_clear(&h->responses);
	/* An answer may be what requests have waited for. What the kernel has
	 * moved of a body since is known to `up` alone: that stays. */
	over = h->up.waits && !http_requests_wait(&h->requests);
	if (over)
		h->up.due = true;
	if (over || h->requests.stage == HTTP_REQUESTS_TUNNEL)
		set_up(h);
	*out = on.at;
	*out_n = on.length;
	return 0;
}

void
http_relay_init(struct http_relay *h, char *room)
{
	memset(h, 0, sizeof(*h));
	h->room = room;
	h->up.take = take_requests;
	h->down.take = take_responses;
	h->requests.adding = &h->adding;
	h->requests.pending = &h->pending;
	h->responses.pending = &h->pending;
	h->responses.requests = &h->requests;
	buffer_init(&h->requests.held);
	buffer_init(&h->responses.held);
}

void
http_relay_fini(struct http_relay *h)
{
	http_requests_fini(&h->requests);
	http_responses_fini(&h->responses);
}

/* ---- for the session ---- */

/* Earlier requests are answered first. A request of which the server has a part
 * is pending itself, unless it was answered already. */
enum http_refusal
http_relay_refusal(const struct http_relay *h)
{
	unsigned own = h->requests.cut;

	if (h->requests.status == 0 || h->pending.closing ||
	    h->pending.count > own)
		return HTTP_REFUSAL_NONE;
	if (h->pending.count < own || http_responses_are_within(&h->responses))
		return HTTP_REFUSAL_BREAK;
	return HTTP_REFUSAL_PAGE;
}

enum http_repeat
http_relay_note(struct http_relay *h, bool all)
{
	const struct http_requests *r = &h->requests;
	uint64_t fresh = r->count - h->noted;

	h->noted = r->count;
	if (!r->repeatable)
		return HTTP_REPEAT_NO;
	return all || fresh == h->pending.count ? HTTP_REPEAT_ALL
						: HTTP_REPEAT_MORE;
}

bool
http_relay_may_move(const struct http_relay *h)
{
	return h->requests.count > 0 && h->pending.count == 0 &&
	    !h->pending.closing && h->requests.stage == HTTP_REQUESTS_HEAD &&
	    h->responses.stage == HTTP_RESPONSES_HEAD;
}

bool
http_relay_may_repeat(const struct http_relay *h)
{
	return h->responses.stage == HTTP_RESPONSES_HEAD && !h->responses.begun;
}

bool
http_relay_is_kept(const struct http_relay *h)
{
	return h->responses.answers > h->answers;
}

/* Whether the server has all of the requests that were passed on. */
static bool
are_whole(const struct http_requests *r)
{
	return r->stage == HTTP_REQUESTS_HEAD ||
	    r->stage == HTTP_REQUESTS_OVER ||
	    (r->stage == HTTP_REQUESTS_REFUSED && !r->cut);
}

enum http_course
http_relay_course(const struct http_relay *h)
{
	bool whole = are_whole(&h->requests);

	switch (h->responses.stage) {
	case HTTP_RESPONSES_OVER:
		return whole ? HTTP_COURSE_OVER : HTTP_COURSE_ON;
	case HTTP_RESPONSES_UNASKED:
		return whole ? HTTP_COURSE_UNASKED : HTTP_COURSE_ON;
	case HTTP_RESPONSES_WRONG:
		return http_responses_are_within(&h->responses)
		    ? HTTP_COURSE_BROKEN
		    : HTTP_COURSE_WRONG;
	default:
		return HTTP_COURSE_ON;
	}
}

bool
http_relay_is_answered(const struct http_relay *h)
{
	const struct http_responses *r = &h->responses;

	return h->requests.count > 0 &&
	    (r->stage == HTTP_RESPONSES_OVER ||
		r->stage == HTTP_RESPONSES_UNASKED ||
		(r->stage == HTTP_RESPONSES_HEAD && h->pending.count == 0));
}

void
http_relay_restart(struct http_relay *h)
{
	if (h->responses.stage == HTTP_RESPONSES_UNASKED) {
		h->pending.closing = false;
		h->up.due = true;
	}
	http_responses_restart(&h->responses);
	h->answers = h->responses.answers;
	h->down.clear = 0;
}

/* While an answer is due the client need not hurry: it may wait for that. */
bool
http_relay_is_partial(const struct http_relay *h)
{
	const struct http_requests *r = &h->requests;

	return r->stage < HTTP_REQUESTS_ANSWER &&
	    http_requests_have_begun(r) && !http_requests_wait(r) &&
	    (h->pending.count == 0 || r->stage != HTTP_REQUESTS_HEAD);
}

bool
http_relay_is_http(const struct http_relay *h)
{
	return h->requests.stage != HTTP_REQUESTS_TUNNEL &&
	    !h->requests.undecided && !h->requests.switched;
}

bool
http_relay_is_idle(const struct http_relay *h)
{
	return h->requests.stage == HTTP_REQUESTS_TUNNEL ||
	    (h->pending.count == 0 && http_requests_are_idle(&h->requests));
}
