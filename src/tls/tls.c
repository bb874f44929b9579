/* tls.c: OpenSSL between two pieces of memory, as a stream. */
#include "config.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/sock.h"
#include "tls/tls_private.h"

/* Bytes that one tls_write() takes at most. */
enum { OUT_MAX = 64 * 1024 };
/* The first BEGINNING bytes of a flow go in records that fit into a segment
 * each, so that the far side can decrypt what has arrived; the rest in full
 * ones. A read shorter than ASKED is taken for a request: the response begins a
 * new flow. */
enum {
	SMALL_RECORD = 1369,
	LARGE_RECORD = TLS_RECORD_DATA,
	BEGINNING = 8 * SMALL_RECORD
};
enum { ASKED = 4096 };
/* Records that one read takes at most. A flow fills the buffer before that;
 * records of a byte each must not keep others waiting. */
enum { RECORDS = 64 };
/* Bytes that may wait for a peer that sends requests but does not read. */
enum { UNREAD_MAX = 2 * OUT_MAX };
/* Post-handshake messages in a time; OpenSSL calls back about five times for
 * one. */
enum { STEPS_MAX = 1000, PERIOD_MS = 1000 };

static struct tls *
inside(const struct stream *s)
{
	return (struct tls *)s->inside;
}

/* ---- the operations ---- */

static void
note_error(struct tls *t)
{
	const char *reason = ERR_reason_error_string(ERR_peek_error());
	unsigned long last = ERR_peek_last_error();

	if (t->error == NULL)
		t->error = t->end.refused != NULL ? t->end.refused
		    : ERR_GET_LIB(last) == ERR_LIB_SSL &&
			ERR_GET_REASON(last) == SSL_R_CERTIFICATE_VERIFY_FAILED
		    ? X509_verify_cert_error_string(
			  SSL_get_verify_result(t->ssl))
		    : reason != NULL ? reason
				     : "protocol error";
}

/* Why OpenSSL stopped, as an errno; 0 when it only waits for more bytes. Its
 * calls of our BIO fail only when memory is short. */
static int
refusal(struct tls *t, int rc)
{
	int why = SSL_get_error(t->ssl, rc);
	int reason = ERR_GET_REASON(ERR_peek_error());

	if (t->end.refused != NULL)
		why = SSL_ERROR_SSL;
	if (why == SSL_ERROR_WANT_READ)
		return 0;
	note_error(t);
	return why == SSL_ERROR_SYSCALL || reason == ERR_R_MALLOC_FAILURE
	    ? ENOMEM
	    : reason == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL
	    ? EPROTONOSUPPORT
	    : EPROTO;
}

static bool
has_ended(const struct tls *t)
{
	return (SSL_get_shutdown(t->ssl) & SSL_RECEIVED_SHUTDOWN) != 0;
}

/* Reads records until `room` may be too small for the next one, nothing more is
 * there, or RECORDS were read. Returns the bytes; *error is 0, or why it
 * stopped. */
static size_t
read_records(struct tls *t, char *bytes, size_t room, int *error)
{
	size_t got = 0, n;
	int rc, records = 0;

	*error = 0;
	while (got < room && records < RECORDS && *error == 0) {
		ERR_clear_error();
		rc = SSL_read_ex(t->ssl, bytes + got, room - got, &n);
		if (rc > 0) {
			got += n;
			records++;
			continue;
		}
		/* the call behind a fatal alert returns a clean end */
		if (t->error == NULL &&
		    SSL_get_error(t->ssl, rc) == SSL_ERROR_ZERO_RETURN)
			break;
		*error = t->error != NULL ? EPROTO : refusal(t, rc);
		if (*error == 0 && got > 0 && room - got < LARGE_RECORD)
			break;
		if (*error == 0 && !tls_wire_receive(t, room - got))
			*error = errno;
	}
	return got;
}

/* Marks the stream readable when it still holds bytes: no event would report
 * them. */
static void
note_inside(struct tls *t)
{
	struct stream *s = t->stream;

	if (s->flags & STREAM_READABLE ||
	    (!SSL_has_pending(t->ssl) && buffer_length(&t->end.early) == 0))
		return;
	s->flags |= STREAM_READABLE | STREAM_BUFFERED;
}

static ssize_t
tls_read(struct stream *s, void *bytes, size_t room)
{
	struct tls *t = inside(s);
	size_t got;
	int error;

	got = read_records(t, bytes, room, &error);
	if (tls_wire_save(t) < 0)
		error = ENOMEM;
	note_inside(t);
	if (got > 0 && got < ASKED)
		t->begun = 0;
	if (s->flags & STREAM_STALLED && !SSL_in_init(t->ssl)) {
		s->flags &= ~(unsigned)STREAM_STALLED;
		s->flags |= STREAM_WRITABLE;
	}
	(void)tls_wire_send(t, false);
	if (buffer_length(&t->unsent) > UNREAD_MAX) {
		t->error = "peer sends requests but does not read";
		errno = EPROTO;
		return -1;
	}
	if (got > 0) { /* the end or the error was seen: no event will report
		        * it */
		if (has_ended(t) ||
		    (error != 0 && error != EAGAIN && error != EWOULDBLOCK))
			s->flags |= STREAM_READABLE;
		return (ssize_t)got;
	}
	errno = error;
	return error == 0 ? 0 : -1;
}

static size_t
record_size(struct tls *t, size_t n)
{
	bool small = t->begun < BEGINNING;

	/* lowering the first lowers the second, raising it does not */
	SSL_set_max_send_fragment(t->ssl, small ? SMALL_RECORD : LARGE_RECORD);
	SSL_set_split_send_fragment(
	    t->ssl, small ? SMALL_RECORD : LARGE_RECORD);
	if (!small)
		return n;
	if (n > BEGINNING - t->begun)
		n = BEGINNING - t->begun;
	t->begun += (uint32_t)n;
	return n;
}

/* The tickets of TLS 1.3 go in front of the first bytes for a client. One that
 * only sends may never read: had it got them unasked, its kernel would close
 * with a RST, and not send what is still in its buffer. */
static void
request_tickets(struct tls *t)
{
	int n = SSL_session_reused(t->ssl) == 1 ? 1 : 2;

	t->tickets_due = false;
	while (n-- > 0)
		(void)SSL_new_session_ticket(t->ssl);
}

static ssize_t
tls_write(struct stream *s, const void *bytes, size_t n, bool last)
{
	struct tls *t = inside(s);
	size_t done = 0, part, taken;
	int rc;

	if (buffer_length(&t->unsent) > 0) {
		errno = EAGAIN;
		s->flags &= ~(unsigned)STREAM_WRITABLE;
		return -1;
	}
	if (n > OUT_MAX)
		n = OUT_MAX;
	if (t->tickets_due)
		request_tickets(t);
	while (done < n) {
		part = record_size(t, n - done);
		ERR_clear_error();
		rc = SSL_write_ex(
		    t->ssl, (const char *)bytes + done, part, &taken);
		if (rc <= 0 && SSL_get_error(t->ssl, rc) == SSL_ERROR_WANT_READ)
			break;
		if (rc <= 0) {
			note_error(t);
			buffer_clear(&t->end.memory->out);
			errno = EPIPE;
			return -1;
		}
		done += taken;
	}
	if (done < n) { /* a TLS 1.2 client renegotiates: read first */
		s->flags &= ~(unsigned)STREAM_WRITABLE;
		s->flags |= STREAM_STALLED;
	}
	if (tls_wire_send(t, last && done == n) < 0)
		return -1;
	errno = EAGAIN;
	return done > 0 ? (ssize_t)done : -1;
}

static void
tls_shutdown(struct stream *s)
{
	struct tls *t = inside(s);

	if (t->done && t->error == NULL &&
	    !(s->flags & STREAM_NO_CLOSE_NOTIFY)) {
		ERR_clear_error();
		(void)SSL_shutdown(t->ssl);
		(void)tls_wire_send(t, true);
	}
	t->fin_due = true;
	if (buffer_length(&t->unsent) == 0)
		tls_wire_flush(t);
}

static void
tls_flush(struct stream *s)
{
	tls_wire_flush(inside(s));
}

/* OpenSSL does not resume a session that was freed without a shutdown, so one
 * that had no error is marked as shut down. */
static void
tls_close(struct stream *s, bool reset)
{
	struct tls *t = inside(s);

	if (!reset && t->done &&
	    !(SSL_get_shutdown(t->ssl) & SSL_SENT_SHUTDOWN))
		tls_shutdown(s);
	if (t->error == NULL)
		SSL_set_shutdown(
		    t->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(t->ssl);
	buffer_fini(&t->end.early);
	buffer_fini(&t->unsent);
	tls_context_drop(t->context);
	free(t);
	s->inside = NULL;
	if (reset)
		sock_close_reset(s->fd);
	else
		close(s->fd);
}

static const struct stream_ops tls_ops = {
	.read = tls_read,
	.write = tls_write,
	.shutdown = tls_shutdown,
	.flush = tls_flush,
	.close = tls_close,
};

/* ---- life and handshake ---- */

bool
stream_is_tls(const struct stream *s)
{
	return stream_ops(s) == &tls_ops;
}

SSL *
tls_ssl(const struct stream *s)
{
	return inside(s)->ssl;
}

void
tls_set_key(struct stream *s, uint64_t key, time_t ends)
{
	inside(s)->key = key;
	inside(s)->offered_until = ends;
}

uint64_t
tls_key(const SSL *ssl)
{
	return ((const struct tls *)SSL_get_app_data(ssl))->key;
}

time_t
tls_offered_until(const SSL *ssl)
{
	return ((const struct tls *)SSL_get_app_data(ssl))->offered_until;
}

const char *
tls_error(const struct stream *s)
{
	const char *error = inside(s)->error;

	return error != NULL ? error : "";
}

static int
set_bio(struct tls *t)
{
	BIO *b = BIO_new(t->end.memory->method);

	if (b == NULL)
		return -1;
	BIO_set_data(b, &t->end);
	BIO_set_init(b, 1);
	SSL_set_bio(t->ssl, b, b);
	return 0;
}

int
tls_open(struct stream *s, struct tls_context *c, bool client)
{
	struct tls *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return -1;
	t->context = c;
	t->end.memory = c->memory;
	t->ssl = SSL_new(c->ctx);
	if (t->ssl == NULL || SSL_set_app_data(t->ssl, t) != 1 ||
	    set_bio(t) < 0) {
		SSL_free(t->ssl);
		free(t);
		errno = ENOMEM;
		return -1;
	}
	c->refs++;
	t->stream = s;
	buffer_init(&t->end.early);
	buffer_init(&t->unsent);
	if (client)
		SSL_set_connect_state(t->ssl);
	else
		SSL_set_accept_state(t->ssl);
	if (!(s->flags & STREAM_NODELAY))
		sock_set_nodelay(s->fd);
	s->flags |= STREAM_NODELAY;
	t->inside.ops = &tls_ops;
	s->inside = &t->inside;
	if (s->flags & STREAM_AT_EOF)
		s->flags |= STREAM_FIN;
	s->flags &= ~(unsigned)STREAM_AT_EOF;
	return 0;
}

/* Why the connection has to end after what OpenSSL calls back for, or NULL. A
 * TLS 1.2 client may renegotiate some time after the last handshake; an alert
 * that we write answers a renegotiation that TLS 1.2 lets us refuse. */
static const char *
count_posthandshake(struct tls *t, const SSL *ssl, int where)
{
	struct tls_posthandshake *a = &t->posthandshake;
	uint64_t now;
	bool soon;

	if (where & SSL_CB_HANDSHAKE_START) {
		now = clock_monotonic_ms();
		soon = t->done && SSL_is_server(ssl) &&
		    now - a->handshake_ms < t->context->renegotiation_ms;
		a->handshake_ms = now;
		return soon ? "renegotiation refused" : NULL;
	}
	if (!t->done ||
	    (!(where & SSL_CB_LOOP) && where != SSL_CB_WRITE_ALERT))
		return NULL;
	now = clock_monotonic_ms();
	if (now - a->since_ms >= PERIOD_MS) {
		a->since_ms = now;
		a->count = 0;
	}
	return ++a->count > STEPS_MAX ? "too many post-handshake messages"
				      : NULL;
}

void
tls_on_info(const SSL *ssl, int where, int ret)
{
	struct tls *t = SSL_get_app_data(ssl);
	const char *why = t != NULL ? count_posthandshake(t, ssl, where) : NULL;

	(void)ret;
	if (why != NULL)
		t->end.refused = why;
}

enum tls_step
tls_handshake(struct stream *s)
{
	struct tls *t = inside(s);
	int rc, error;

	errno = EPROTO;
	if (t->error != NULL)
		return TLS_FAILED;
	do {
		ERR_clear_error();
		rc = SSL_do_handshake(t->ssl);
		error = rc > 0 ? 0 : refusal(t, rc);
	} while (rc <= 0 && error == 0 && tls_wire_receive(t, TLS_IN_MAX));
	if (rc <= 0 && error == 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
		t->error = t->cut ? "connection closed during the handshake"
				  : strerror(errno);
		error = errno;
	}
	if (tls_wire_save(t) < 0)
		error = ENOMEM;
	/* a client that has gone since may have sent all that it had to */
	if (tls_wire_send(t, false) < 0 && error == 0 &&
	    !(rc > 0 && SSL_is_server(t->ssl) && s->flags & STREAM_GONE))
		error = errno;
	if (error != 0) {
		if (t->error == NULL)
			t->error = strerror(error);
		errno = error;
		return TLS_FAILED;
	}
	if (rc <= 0)
		return TLS_WAITS;
	t->done = true;
	t->tickets_due =
	    t->context->tickets_later && SSL_version(t->ssl) == TLS1_3_VERSION;
	note_inside(t);
	return TLS_DONE;
}
