/* check_stream.c: connects, sends and receives, for kinds of checks. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/sock.h"
#include "net/stream_prefix.h"
#include "proxy/check/check_stream.h"
#include "proxy/core/frontend_core.h"

enum { READ_MAX = 16 * 1024 };
/* How soon a Unix listener whose backlog is full is tried again. */
enum { BUSY_MS = 20 };

/* ---- saying and hearing ---- */

static void
await(struct check_stream *s, unsigned ready)
{
	if (watch_want(s->check->loop, &s->stream.watch,
		ready | stream_wants(&s->stream)) < 0)
		check_end_errno(s->check, errno);
}

static bool
is_tls(const struct check_stream *s)
{
	return s->talk.tls != NULL && s->talk.tls->on;
}

/* The message of TLS has the cause; errno is often only EPROTO. */
static void
check_stream_fail(struct check_stream *s, int error)
{
	const char *why = is_tls(s) ? tls_error(&s->stream) : "";

	if (*why != '\0' && !sock_error_is_ours(error))
		check_end(s->check, CHECK_BAD, "TLS: %s", why);
	else
		check_end_errno(s->check, error);
}

/* Returns whether all has been sent. */
static bool
say(struct check_stream *s)
{
	ssize_t n;

	while (s->said < s->talk.length) {
		n = stream_write(&s->stream, s->talk.say + s->said,
		    s->talk.length - s->said, false);
		if (n < 0 && errno == EAGAIN)
			return false;
		if (n < 0) {
			check_stream_fail(s, errno);
			return false;
		}
		s->said += (size_t)n;
	}
	return true;
}

/* The end came: in time, or by a reset, of less interest than what was received
 * before. */
static void
on_closed(struct check_stream *s, ssize_t n)
{
	bool reset = n < 0 && errno == ECONNRESET && s->heard;

	if (n < 0 && errno != ECONNABORTED && !reset && !s->check->good)
		check_stream_fail(s, errno);
	else if (s->talk.on_end != NULL)
		s->talk.on_end(s->check);
	else
		check_end(s->check, CHECK_BAD, "connection closed");
}

/* Returns whether there may be more to receive. */
static bool
check_stream_receive(struct check_stream *s)
{
	char bytes[READ_MAX];
	ssize_t n = stream_read(&s->stream, bytes, sizeof(bytes));

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0)
		on_closed(s, n);
	else
		s->heard = true;
	if (n > 0 && s->talk.on_bytes != NULL)
		s->talk.on_bytes(s->check, bytes, (size_t)n);
	return !s->check->ended && n > 0;
}

static void
exchange(struct check_stream *s)
{
	bool all = say(s);

	while (!s->check->ended && s->stream.flags & STREAM_READABLE &&
	    check_stream_receive(s))
		all = say(s); /* what was received may lead to more */
	if (!s->check->ended)
		await(s, READY_READ | (all ? 0u : READY_WRITE));
}

void
check_stream_send(struct check_stream *s, const char *bytes, size_t n)
{
	s->talk.say = bytes;
	s->talk.length = n;
	s->said = 0;
}

/* ---- connecting ---- */

static void
start_exchange(struct check_stream *s)
{
	s->connected = true;
	s->check->waiting = "an answer";
	check_reached(s->check);
	if (s->talk.on_connected != NULL)
		s->talk.on_connected(s->check);
	if (!s->check->ended)
		exchange(s);
}

static void
shake_hands(struct check_stream *s)
{
	s->check->waiting = "the TLS handshake";
	switch (tls_handshake(&s->stream)) {
	case TLS_DONE:
		/* bytes may have come along that no event will report */
		s->stream.flags |= STREAM_READABLE;
		start_exchange(s);
		break;
	case TLS_FAILED:
		check_stream_fail(s, errno);
		break;
	case TLS_WAITS:
		await(s, READY_READ);
		break;
	}
}

static void
check_stream_on_ready(struct watch *w, unsigned ready)
{
	struct check_stream *s =
	    container_of(w, struct check_stream, stream.watch);
	/* once connected a read finds it, behind the last bytes */
	int error =
	    ready & READY_ERROR && !s->connected ? sock_error(s->stream.fd) : 0;

	stream_note_ready(&s->stream, ready);
	if (error != 0)
		check_end_errno(s->check, error);
	else if (s->connected)
		exchange(s);
	else if (is_tls(s))
		shake_hands(s);
	else if (ready & READY_WRITE)
		start_exchange(s);
}

/* Returns 0, or -1 with errno. */
static int
put_tls_over(struct check_stream *s)
{
	const struct check_tls *t = s->talk.tls;
	struct tls_client *client = s->check->frontend->tls.client;

	errno = ENOSYS;
	return client == NULL
	    ? -1
	    : tls_connect_once(&s->stream, client,
		  t->name != NULL ? t->name : check_host(s->check),
		  (t->name != NULL ? TLS_NAMED : 0u) |
		      (t->no_verify ? TLS_UNVERIFIED : 0u));
}

/* The server expects a PROXY header, as from clients: this one has no address.
 * Without anything to send it is sent by itself. Returns 0, or -1 with errno
 * ENOMEM. */
static int
introduce(struct check_stream *s)
{
	const struct check *c = s->check;
	struct proxy_header nobody = { .datagram = false };
	enum proxy_version version =
	    frontend_server_proxy(&c->frontend->options, c->server);
	char bytes[PROXY_HEADER_MAX];
	size_t n;

	if (version == PROXY_OFF || !check_is_where_clients_go(c))
		return 0;
	if (version == PROXY_V1)
		frontend_name_ourselves(&nobody, s->stream.fd, &c->at);
	n = proxy_header_write(bytes, version, &nobody);
	if (is_tls(s))
		return tls_prefix(&s->stream, bytes, n);
	if (stream_prefix(&s->stream, bytes, n) < 0)
		return -1;
	s->stream.flags &= ~(unsigned)STREAM_WRITABLE;
	return s->talk.length > 0 ? 0 : stream_prefix_alone(&s->stream);
}

static void
check_stream_dial(struct timer *t)
{
	struct check_stream *s = container_of(t, struct check_stream, again);
	struct check *c = s->check;
	struct sock_connect_options o =
	    frontend_connect_options(c->frontend, 0);
	int fd = sock_connect(&c->at, &o);

	if (fd < 0) {
		if (errno != EAGAIN ||
		    timer_start(c->loop, &s->again, BUSY_MS) < 0)
			check_end_errno(c, errno);
		return;
	}
	stream_open_plain(&s->stream, fd, true);
	s->stream.flags &= ~(unsigned)STREAM_READABLE;
	if ((is_tls(s) && put_tls_over(s) < 0) || introduce(s) < 0 ||
	    watch_start(c->loop, &s->stream.watch, fd, READY_READ | READY_WRITE,
		check_stream_on_ready) < 0)
		check_end_errno(c, errno);
}

void
check_stream_start(struct check *c, const struct check_talk *t)
{
	struct check_stream *s = c->state;

	s->check = c;
	s->talk = *t;
	c->waiting = "the connection";
	stream_init(&s->stream);
	timer_init(&s->again, check_stream_dial);
	check_stream_dial(&s->again);
}

void
check_stream_stop(struct check *c)
{
	struct check_stream *s = c->state;

	timer_fini(&s->again);
	stream_close(c->loop, &s->stream,
	    s->talk.reset || c->result != CHECK_GOOD);
}

/* ---- TLS in words ---- */

int
check_tls_begin(struct check_tls *t, struct error *e)
{
	(void)e;
	t->on = true;
	return 0;
}

int
check_tls_parse(
    struct check_tls *t, const struct words *w, int *at, struct error *e)
{
	for (; *at < w->count; ++*at) {
		const char *word = w->word[*at];

		if (strcmp(word, "verify") == 0) {
			t->verify = true;
		} else if (strcmp(word, "noverify") == 0) {
			t->no_verify = true;
		} else if (strcmp(word, "name") == 0 && t->name == NULL &&
		    *at + 1 < w->count) {
			t->name = strdup(w->word[++*at]);
			if (t->name == NULL)
				return error_set(e, "out of memory");
		} else {
			break;
		}
	}
	if (t->verify && t->no_verify)
		return error_set(e, "either verify or noverify");
	return 0;
}

void
check_tls_fini(void *settings)
{
	struct check_tls *t = settings;

	free(t->name);
}
