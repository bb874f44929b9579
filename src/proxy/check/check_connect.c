/* check_connect.c: "connect": the server accepts a connection. The kernel does
 * that for a program that hangs, too.
 *
 * "tls [verify|noverify] [name HOST]": the server completes a TLS handshake,
 * and its certificate is verified as that of traffic is. No session is resumed,
 * so that a certificate that has expired is found. */
#include "config.h"

#include "proxy/check/check_stream.h"

static void
check_connect_on_connected(struct check *c)
{
	const struct check_stream *s = c->state;

	check_end(c, CHECK_GOOD, "%s",
	    s->talk.tls != NULL ? "TLS handshake" : "connected");
}

/* A reset leaves nothing behind, neither here, where each address has only so
 * many ports, nor at a server that does not accept. */
static void
check_connect_start(struct check *c)
{
	static const struct check_talk talk = {
		.reset = true, .on_connected = check_connect_on_connected
	};

	check_stream_start(c, &talk);
}

const struct check_kind check_connect = {
	.name = "connect",
	.needs_port = true,
	.state_size = sizeof(struct check_stream),
	.start = check_connect_start,
	.stop = check_stream_stop,
};

/* ---- TLS ---- */

static void
check_tls_start(struct check *c)
{
	struct check_talk talk = { .tls = c->settings,
		.on_connected = check_connect_on_connected };

	check_stream_start(c, &talk);
}

static int
check_tls_parse_words(void *settings, const struct words *w, struct error *e)
{
	int at = 0;

	if (check_tls_begin(settings, e) < 0 ||
	    check_tls_parse(settings, w, &at, e) < 0)
		return -1;
	if (at == w->count)
		return 0;
	return error_set(e, "\"%.100s\": expects verify, noverify or name HOST",
	    w->word[at]);
}

const struct check_kind check_tls = {
	.name = "tls",
	.args = "[verify|noverify] [name HOST]",
	.settings_size = sizeof(struct check_tls),
	.parse = check_tls_parse_words,
	.fini = check_tls_fini,
	.needs_port = true,
	.has_tls = true,
	.state_size = sizeof(struct check_stream),
	.start = check_tls_start,
	.stop = check_stream_stop,
};
