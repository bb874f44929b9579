/* peer_link.c: see peer_link.h. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "control/peers/peer_link.h"
#include "net/sock.h"

/* Bytes of a read, some 18 clients: others are served between two turns. After
 * so many turns it rests: a million clients take seven seconds, and nine tenths
 * of a processor stay with those that are served. */
enum { READ = 1024, TURNS = 8, REST_MS = 1 };
/* Records come each second. */
enum { HANDSHAKE_MS = 5000, SILENCE_MS = 10000 };

static void
peer_link_on_rested(struct timer *t)
{
	peer_link_run(container_of(t, struct peer_link, rest));
}

void
peer_link_init(struct peer_link *l, struct loop *loop, struct pieces *pieces,
    const struct peer_link_events *events)
{
	memset(l, 0, sizeof(*l));
	l->loop = loop;
	l->pieces = pieces;
	l->events = events;
	timer_init(&l->rest, peer_link_on_rested);
	list_init(&l->turn.link);
	stream_init(&l->stream);
	handover_reader_init(&l->in);
	buffer_init(&l->out);
}

void
peer_link_fini(struct peer_link *l)
{
	timer_fini(&l->rest);
	l->resting = false;
	list_remove(&l->turn.link);
	if (stream_is_open(&l->stream))
		stream_close(l->loop, &l->stream, false);
	handover_reader_fini(&l->in);
	handover_reader_init(&l->in);
	buffer_fini(&l->out);
	l->state = PEER_LINK_CLOSED;
}

void
peer_link_refuse(struct peer_link *l, const char *why)
{
	if (l->why[0] == '\0')
		snprintf(l->why, sizeof(l->why), "%s", why);
}

static void
peer_link_end(struct peer_link *l)
{
	bool was_open = l->state == PEER_LINK_OPEN;

	peer_link_fini(l);
	l->events->on_end(l, l->why, was_open);
}

/* ---- the steps ---- */

static void
peer_link_connect(struct peer_link *l)
{
	int error = sock_error(l->stream.fd);

	if (error != 0)
		peer_link_refuse(l, strerror(error));
	else if (l->stream.flags & STREAM_WRITABLE)
		l->state = PEER_LINK_HANDSHAKING;
}

/* With another key one end has "binder does not verify", the other one an
 * alert, which do not name it. */
static void
refuse_handshake(struct peer_link *l)
{
	const char *error = tls_error(&l->stream);
	bool by_key = strstr(error, "binder") != NULL ||
	    strstr(error, "alert illegal parameter") != NULL;
	char why[sizeof(l->why)];

	snprintf(why, sizeof(why), "%.120s%s", error,
	    by_key ? "; is the key the same at both ends?" : "");
	peer_link_refuse(l, why);
}

static void
peer_link_handshake(struct peer_link *l)
{
	switch (tls_handshake(&l->stream)) {
	case TLS_WAITS:
		return;
	case TLS_FAILED:
		refuse_handshake(l);
		return;
	case TLS_DONE:
		break;
	}
	if (!tls_psk_is_used(&l->stream)) {
		peer_link_refuse(l, "the key was not used");
		return;
	}
	l->state = PEER_LINK_OPEN;
	l->moved_ms = loop_now(l->loop);
	l->events->on_open(l);
}

static void
take_records(struct peer_link *l, const char *bytes, size_t n)
{
	struct handover_record record;

	(void)handover_feed(&l->in, bytes, n);
	while (l->why[0] == '\0' && handover_next(&l->in, &record))
		l->events->on_record(l, &record);
	if (l->in.error != NULL || l->in.ended)
		peer_link_refuse(l,
		    l->in.error != NULL ? l->in.error
					: "an end that no peer sends");
}

static void
peer_link_read(struct peer_link *l)
{
	char *bytes = loop_scratch(l->loop);
	ssize_t n;

	if (bytes == NULL) {
		peer_link_refuse(l, "out of memory");
		return;
	}
	if (!(l->stream.flags & STREAM_READABLE))
		return;
	n = stream_read(&l->stream, bytes, READ);
	if (n > 0) {
		l->moved_ms = loop_now(l->loop);
		take_records(l, bytes, (size_t)n);
	} else if (n == 0 || errno == ECONNABORTED) {
		peer_link_refuse(l, "closed by the other end");
	} else if (errno != EAGAIN && errno != EWOULDBLOCK) {
		peer_link_refuse(l, strerror(errno));
	}
}

/* Returns whether there is more to write, and the socket takes it. */
static bool
peer_link_write(struct peer_link *l)
{
	bool more = true;
	ssize_t n;

	if (buffer_length(&l->out) == 0)
		more = l->events->on_room != NULL && l->events->on_room(l);
	if (buffer_length(&l->out) == 0)
		return more;
	n = stream_write(&l->stream, buffer_bytes(&l->out),
	    buffer_length(&l->out), false);
	if (n >= 0)
		buffer_consume(&l->out, (size_t)n);
	else if (errno != EAGAIN && errno != EWOULDBLOCK)
		peer_link_refuse(l, strerror(errno));
	return n >= 0 && more;
}

static void
peer_link_go_on(struct peer_link *l)
{
	l->resting = ++l->turns % TURNS == 0 &&
	    timer_start(l->loop, &l->rest, REST_MS) == 0;
	if (!l->resting)
		pieces_soon(l->pieces, &l->turn);
}

/* Does what the connection allows now: connect, handshake, read, write. Then
 * waits for events, or comes again if there is more. */
static void
peer_link_step(struct peer_link *l)
{
	bool more = false;
	unsigned want = READY_READ;

	l->resting = false;
	if (l->state == PEER_LINK_CONNECTING)
		peer_link_connect(l);
	if (l->state == PEER_LINK_HANDSHAKING)
		peer_link_handshake(l);
	if (l->state == PEER_LINK_OPEN) {
		peer_link_read(l);
		if (l->why[0] == '\0')
			more = peer_link_write(l);
	}
	if (l->why[0] != '\0') {
		peer_link_end(l);
		return;
	}
	if (l->state == PEER_LINK_OPEN &&
	    (more || l->stream.flags & STREAM_READABLE))
		peer_link_go_on(l);
	if (l->state == PEER_LINK_CONNECTING || buffer_length(&l->out) > 0)
		want |= READY_WRITE;
	if (watch_want(l->loop, &l->stream.watch,
		l->resting ? 0 : want | stream_wants(&l->stream)) < 0)
		peer_link_refuse(l, strerror(errno));
}

/* ---- events ---- */

static void
peer_link_on_ready(struct watch *w, unsigned ready)
{
	struct stream *s = container_of(w, struct stream, watch);
	struct peer_link *l = container_of(s, struct peer_link, stream);

	stream_note_ready(s, ready);
	if (!l->resting)
		peer_link_step(l);
}

static void
peer_link_on_turn(struct task *t)
{
	peer_link_step(container_of(t, struct peer_link, turn));
}

int
peer_link_begin(struct peer_link *l, int fd, struct tls_psk *key, bool client)
{
	int error;

	stream_open_plain(&l->stream, fd, false);
	l->turn.run = peer_link_on_turn;
	l->why[0] = '\0';
	l->moved_ms = loop_now(l->loop);
	l->state = client ? PEER_LINK_CONNECTING : PEER_LINK_HANDSHAKING;
	if (client)
		l->stream.flags &= ~(unsigned)STREAM_WRITABLE;
	if (tls_psk_open(&l->stream, key, client) == 0 &&
	    watch_start(l->loop, &l->stream.watch, fd,
		client ? READY_WRITE : READY_READ, peer_link_on_ready) == 0)
		return 0;
	error = errno;
	peer_link_fini(l);
	errno = error;
	return -1;
}

void
peer_link_run(struct peer_link *l)
{
	if (l->state == PEER_LINK_OPEN)
		peer_link_step(l);
}

void
peer_link_check(struct peer_link *l)
{
	uint64_t idle = loop_now(l->loop) - l->moved_ms;

	if (l->state == PEER_LINK_CLOSED ||
	    idle < (l->state == PEER_LINK_OPEN ? SILENCE_MS : HANDSHAKE_MS))
		return;
	peer_link_refuse(l, "no answer");
	peer_link_end(l);
}

void
peer_link_add(
    struct peer_link *l, enum handover_type type, const uint64_t *number)
{
	struct handover_writer w;

	handover_go_on(&w, &l->out);
	handover_open(&w, type);
	if (number != NULL)
		handover_add_number(&w, *number, 8);
	handover_close(&w);
	if (w.failed)
		peer_link_refuse(l, "out of memory");
}

bool
peer_key_refresh(struct tls_psk **key, const struct peer_spec *spec,
    struct tls_memory *memory, const char *setting)
{
	char at[ADDR_TEXT_MAX];
	struct error e;
	int rc = tls_psk_refresh(key, spec->file, memory, &e);

	addr_format(&spec->at, at);
	if (rc < 0)
		log_error("key not reloaded, keeping the old one %s=%s "
			  "error=\"%s\"",
		    setting, at, e.text);
	else if (rc > 0)
		log_info("key reloaded %s=%s", setting, at);
	return rc > 0;
}
