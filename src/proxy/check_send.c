/* check_send.c: "send TEXT expect TEXT", and "expect TEXT" alone: what the
 * server says, asked or by itself, contains the text; behind it "tls ..": over
 * TLS. */
#include "config.h"

#include <string.h>

#include "proxy/check_stream.h"
#include "proxy/check_text.h"

/* What a server may say before it, and what of it is told when it is not
 * there. */
enum { HEARD_MAX = 64 * 1024, TOLD_MAX = 48 };

struct send_settings {
	struct check_text say, expected;
	struct check_tls tls;
};

struct send_state {
	struct check_stream stream; /* the first */
	size_t matched, heard;
	char told[TOLD_MAX];
};

/* ---- the answer ---- */

static size_t
told(const struct send_state *t)
{
	return t->heard < TOLD_MAX ? t->heard : (size_t)TOLD_MAX;
}

static void
end_without(struct check *c, const char *what)
{
	const struct send_state *t = c->state;

	if (t->heard == 0)
		check_end(c, CHECK_BAD, "%s, nothing received", what);
	else
		check_end(
		    c, CHECK_BAD, "%s: %.*s", what, (int)told(t), t->told);
}

static void
on_bytes(struct check *c, const char *bytes, size_t n)
{
	const struct send_settings *s = c->settings;
	struct send_state *t = c->state;
	size_t part = TOLD_MAX - told(t);

	memcpy(t->told + told(t), bytes, n < part ? n : part);
	t->heard += n;
	t->matched = check_text_find(&s->expected, t->matched, bytes, n);
	if (t->matched == s->expected.length)
		check_end(c, CHECK_GOOD, "answered as expected");
	else if (t->heard > HEARD_MAX)
		end_without(c, "unexpected answer");
}

static void
on_end(struct check *c)
{
	end_without(c, "connection closed");
}

static void
start(struct check *c)
{
	const struct send_settings *s = c->settings;
	struct send_state *t = c->state;
	struct check_talk talk = { .say = s->say.bytes,
		.length = s->say.length,
		.tls = &s->tls,
		.on_bytes = on_bytes,
		.on_end = on_end };

	check_stream_start(&t->stream, c, &talk);
}

static void
stop(struct check *c)
{
	check_stream_stop(c->state, false);
}

/* ---- words ---- */

/* What may stand behind the texts. */
static int
parse_rest(
    struct send_settings *s, const struct words *w, int at, struct error *e)
{
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
	if (check_text_parse(&s->say, w->word[0], e) < 0 ||
	    check_text_parse(&s->expected, w->word[2], e) < 0)
		return -1;
	return parse_rest(s, w, 3, e);
}

static int
parse_expect(void *settings, const struct words *w, struct error *e)
{
	struct send_settings *s = settings;

	if (w->count == 0)
		return error_set(e, "expects TEXT");
	if (check_text_parse(&s->expected, w->word[0], e) < 0)
		return -1;
	return parse_rest(s, w, 1, e);
}

static void
fini(void *settings)
{
	struct send_settings *s = settings;

	check_text_fini(&s->say);
	check_text_fini(&s->expected);
	check_tls_fini(&s->tls);
}

static const struct check_tls *
tls_of(const void *settings)
{
	return &((const struct send_settings *)settings)->tls;
}

const struct check_kind check_send = {
	.name = "send",
	.args = "TEXT expect TEXT [tls [noverify] [name HOST]]",
	.settings_size = sizeof(struct send_settings),
	.parse = parse_send,
	.fini = fini,
	.needs_port = true,
	.tls = tls_of,
	.state_size = sizeof(struct send_state),
	.start = start,
	.stop = stop,
};

const struct check_kind check_expect = {
	.name = "expect",
	.args = "TEXT [tls [noverify] [name HOST]]",
	.settings_size = sizeof(struct send_settings),
	.parse = parse_expect,
	.fini = fini,
	.needs_port = true,
	.tls = tls_of,
	.state_size = sizeof(struct send_state),
	.start = start,
	.stop = stop,
};
