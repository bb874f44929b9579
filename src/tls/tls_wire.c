/* tls_wire.c: what is received for OpenSSL, and what it wants sent. */
#include "config.h"

#include <errno.h>
#include <sys/socket.h>

#include "net/sock.h"
#include "tls/tls_private.h"

bool
tls_wire_receive(struct tls *t, size_t room)
{
	struct tls_memory *m = t->end.memory;
	struct stream *s = t->stream;
	ssize_t n;

	errno = t->cut ? ECONNABORTED : EAGAIN;
	if (s->flags & STREAM_BUFFERED)
		s->flags &= ~(unsigned)(STREAM_READABLE | STREAM_BUFFERED);
	if (!(s->flags & STREAM_READABLE) || t->cut)
		return false;
	if (room < TLS_RECORD_MAX)
		room = TLS_RECORD_MAX;
	if (room > TLS_IN_MAX)
		room = TLS_IN_MAX;
	do
		n = recv(s->fd, m->in, room, 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		n = stream_unread(s, n);
	if ((n < 0 && !(s->flags & STREAM_GONE)) ||
	    (n >= 0 && (size_t)n < room &&
		!(s->flags & (STREAM_FIN | STREAM_URGENT | STREAM_GONE))))
		s->flags &= ~(unsigned)STREAM_READABLE;
	if (n == 0) {
		t->cut = true;
		errno = ECONNABORTED;
	}
	if (n <= 0)
		return false;
	m->at = 0;
	m->end = (size_t)n;
	return true;
}

int
tls_wire_save(struct tls *t)
{
	struct tls_memory *m = t->end.memory;
	size_t n = m->end - m->at;
	int rc = 0;

	if (n > 0)
		rc = buffer_append(&t->end.early, m->in + m->at, n);
	m->at = m->end = 0;
	return rc;
}

int
tls_take(struct stream *s, const void *bytes, size_t n)
{
	return buffer_append(&((struct tls *)s->inside)->end.early, bytes, n);
}

int
tls_prefix(struct stream *s, const void *bytes, size_t n)
{
	struct tls *t = (struct tls *)s->inside;

	if (buffer_append(&t->unsent, bytes, n) < 0)
		return -1;
	s->flags |= STREAM_UNSENT;
	return 0;
}

void
tls_wire_flush(struct tls *t)
{
	struct stream *s = t->stream;
	ssize_t n;

	while (buffer_length(&t->unsent) > 0) {
		n = sock_send(s->fd, buffer_bytes(&t->unsent),
		    buffer_length(&t->unsent), false);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			s->flags &= ~(unsigned)STREAM_WRITABLE;
			s->flags |= STREAM_UNSENT;
			return;
		}
		if (n < 0) { /* it will never arrive; a read returns why */
			stream_note_error(s, errno);
			buffer_fini(&t->unsent);
			break;
		}
		buffer_consume(&t->unsent, (size_t)n);
	}
	s->flags &= ~(unsigned)STREAM_UNSENT;
	if (t->fin_due)
		(void)shutdown(s->fd, SHUT_WR);
	t->fin_due = false;
}

int
tls_wire_send(struct tls *t, bool last)
{
	struct buffer *out = &t->end.memory->out;
	struct stream *s = t->stream;
	size_t n = buffer_length(out);
	ssize_t sent = 0;
	int error = 0;

	if (n == 0)
		return 0;
	if (buffer_length(&t->unsent) == 0) {
		do
			sent = sock_send(s->fd, buffer_bytes(out), n, last);
		while (sent < 0 && errno == EINTR);
		if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK &&
		    errno != ENOTCONN) {
			error = errno;
			stream_note_error(s, error);
		}
		if (sent < 0)
			sent = 0;
	}
	if ((size_t)sent < n && error == 0) {
		if (buffer_append(&t->unsent, buffer_bytes(out) + sent,
			n - (size_t)sent) < 0)
			error = ENOMEM;
		s->flags &= ~(unsigned)STREAM_WRITABLE;
		s->flags |= STREAM_UNSENT;
	}
	buffer_clear(out);
	errno = error;
	return error == 0 ? 0 : -1;
}
