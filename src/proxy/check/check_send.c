/* check_send.c: "send TEXT expect TEXT", and "expect TEXT" first or alone: what
 * the server sends, as a reply or first, contains the text. Further steps,
 * "send TEXT expect TEXT" each, may follow; after them "tls ..": over TLS. */
#include "config.h"

#include <string.h>

#include "proxy/check/check_stream.h"
#include "proxy/check/check_text.h"

/* How much a server may send before it, and how much of that is reported when
 * it is missing. */
enum { HEARD_MAX = 64 * 1024, TOLD_MAX = 48 };
enum { STEPS_MAX = 8 };

struct send_settings {
	struct send_step {
		struct check_text say, expected;
	} step[STEPS_MAX];
	unsigned steps;
	struct check_tls tls;
};

struct send_state {
	struct check_stream stream; /* the first */
	unsigned step;
	size_t matched, heard; /* in this step */
	char told[TOLD_MAX];
};

/* ---- the answer ---- */

static size_t
told(const struct send_state *t)
{
	return t->heard < TOLD_MAX ? t->heard : (size_t)TOLD_MAX;
}

static void
end_unanswered(struct check *c, const char *what)
{
	const struct send_state *t = c->state;

	if (t->heard == 0 && t->step > 0)
		check_end(c, CHECK_BAD, "%s, step %u not answered", what,
		    t->step + 1);
	else if (t->heard == 0)
		check_end(c, CHECK_BAD, "%s, nothing received", what);
	else
		check_end(
		    c, CHECK_BAD, "%s: %.*s", what, (int)told(t), t->told);
}

/* What has come after the text is no answer to what is sent next. */
static void
check_send_go_on(struct check *c)
{
	const struct send_settings *s = c->settings;
	struct send_state *t = c->state;
	const struct check_text *say;

	if (++t->step == s->steps) {
		check_end(c, CHECK_GOOD, "answered as expected");
		return;
	}
	t->matched = t->heard = 0;
	say = &s->step[t->step].say;
	check_stream_send(&t->stream, say->bytes, say->length);
}

static void
check_send_on_bytes(struct check *c, const char *bytes, size_t n)
{
	const struct send_settings *s = c->settings;
	struct send_state *t = c->state;
	const struct check_text *expected = &s->step[t->step].expected;
	size_t part = TOLD_MAX - told(t);

	memcpy(t->told + told(t), bytes, n < part ? n : part);
	t->heard += n;
	t->matched = check_text_find(expected, t->matched, bytes, n);
	if (t->matched == expected->length)
		check_send_go_on(c);
	else if (t->heard > HEARD_MAX)
		end_unanswered(c, "unexpected answer");
}

static void
check_send_on_end(struct check *c)
{
	end_unanswered(c, "connection closed");
}

static void
check_send_start(struct check *c)
{
	const struct send_settings *s = c->settings;
	struct check_talk talk = { .say = s->step[0].say.bytes,
		.length = s->step[0].say.length,
		.tls = &s->tls,
		.on_bytes = check_send_on_bytes,
		.on_end = check_send_on_end };

	check_stream_start(c, &talk);
}

/* ---- words ---- */

static bool
is_step(const struct words *w, int at)
{
	return at + 3 < w->count && strcmp(w->word[at], "send") == 0 &&
	    strcmp(w->word[at + 2], "expect") == 0;
}

static int
add_step(struct send_settings *s, const char *say, const char *expected,
    struct error *e)
{
	struct send_step *new = &s->step[s->steps];

	if (s->steps == STEPS_MAX)
		return error_set(e, "more than %d steps", (int)STEPS_MAX);
	s->steps++;
	if (say != NULL && check_text_parse(&new->say, say, e) < 0)
		return -1;
	return check_text_parse(&new->expected, expected, e);
}

/* What may stand after the first texts. */
static int
parse_rest(
    struct send_settings *s, const struct words *w, int at, struct error *e)
{
	for (; is_step(w, at); at += 4)
		if (add_step(s, w->word[at + 1], w->word[at + 3], e) < 0)
			return -1;
	if (at < w->count && strcmp(w->word[at], "tls") == 0) {
		at++;
		if (check_tls_begin(&s->tls, e) < 0 ||
		    check_tls_parse(&s->tls, w, &at, e) < 0)
			return -1;
	}
	if (at == w->count)
		return 0;
	return error_set(e, "unexpected \"%.100s\"", w->word[at]);
}

static int
parse_send(void *settings, const struct words *w, struct error *e)
{
	struct send_settings *s = settings;

	if (w->count < 3 || strcmp(w->word[1], "expect") != 0)
		return error_set(e, "expects TEXT expect TEXT");
	return add_step(s, w->word[0], w->word[2], e) < 0
	    ? -1
	    : parse_rest(s, w, 3, e);
}

static int
parse_expect(void *settings, const struct words *w, struct error *e)
{
	struct send_settings *s = settings;

	if (w->count == 0)
		return error_set(e, "expects TEXT");
	return add_step(s, NULL, w->word[0], e) < 0 ? -1
						    : parse_rest(s, w, 1, e);
}

static void
check_send_fini(void *settings)
{
	struct send_settings *s = settings;

	while (s->steps > 0) {
		check_text_fini(&s->step[--s->steps].say);
		check_text_fini(&s->step[s->steps].expected);
	}
	check_tls_fini(&s->tls);
}

/* What both kinds have in common. */
#define CHECK_SEND_HOOKS                                                    \
	.settings_size = sizeof(struct send_settings),                      \
	.fini = check_send_fini, .needs_port = true, .has_tls = true,       \
	.tls_at = offsetof(struct send_settings, tls),                      \
	.state_size = sizeof(struct send_state), .start = check_send_start, \
	.stop = check_stream_stop

const struct check_kind check_send = {
	.name = "send",
	.args = "TEXT expect TEXT [send TEXT expect TEXT].. "
		"[tls [noverify] [name HOST]]",
	.parse = parse_send,
	CHECK_SEND_HOOKS,
};

const struct check_kind check_expect = {
	.name = "expect",
	.args = "TEXT [send TEXT expect TEXT].. "
		"[tls [noverify] [name HOST]]",
	.parse = parse_expect,
	CHECK_SEND_HOOKS,
};
