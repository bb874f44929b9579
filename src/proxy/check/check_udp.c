/* check_udp.c: "udp HEX expect HEX": sends a datagram, and the server answers
 * with one that begins like this. Others are passed over. */
#include "config.h"

#include <string.h>

#include "proxy/check/check_datagram.h"
#include "proxy/check/hex_pattern.h"

struct udp_settings {
	struct hex_pattern send, expect;
};

/* ---- settings ---- */

static int
check_udp_parse(void *settings, const struct words *w, struct error *e)
{
	struct udp_settings *s = settings;

	if (w->count != 3 || strcmp(w->word[1], "expect") != 0)
		return error_set(e, "expects HEX expect HEX");
	if (hex_pattern_parse(&s->send, w->word[0], false, e) < 0)
		return error_of(e, "what is sent");
	if (hex_pattern_parse(&s->expect, w->word[2], true, e) < 0)
		return error_of(e, "expect");
	return 0;
}

static void
check_udp_fini(void *settings)
{
	struct udp_settings *s = settings;

	hex_pattern_fini(&s->send);
	hex_pattern_fini(&s->expect);
}

/* ---- a check ---- */

static void
on_answer(struct check *c, const char *bytes, size_t n)
{
	const struct udp_settings *s = c->settings;

	check_reached(c);
	if (hex_pattern_begins(&s->expect, bytes, n))
		check_end(c, CHECK_GOOD, "answered");
	else
		c->waiting = "the expected answer";
}

static bool
check_udp_sends_datagrams(const void *settings)
{
	(void)settings;
	return true;
}

static void
check_udp_start(struct check *c)
{
	const struct udp_settings *s = c->settings;
	struct check_question q = {
		.bytes = s->send.bytes, .n = s->send.n, .on_answer = on_answer
	};

	check_datagram_start(c, &q);
}

const struct check_kind check_udp = {
	.name = "udp",
	.args = "HEX expect HEX",
	.settings_size = sizeof(struct udp_settings),
	.parse = check_udp_parse,
	.fini = check_udp_fini,
	.needs_port = true,
	.sends_datagrams = check_udp_sends_datagrams,
	.state_size = sizeof(struct check_datagram),
	.start = check_udp_start,
	.stop = check_datagram_stop,
};
