/* stream.c: plain sockets as streams. */
#include "config.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/shortcuts.h"
#include "net/sock.h"
#include "net/stream.h"

/* Linux forgets an error that it has reported, to whatever call: from then on a
 * read behind the last byte returns the end. */
ssize_t
stream_unread(struct stream *s, ssize_t n)
{
	if (n < 0) {
		stream_note_error(s, errno);
	} else if (s->flags & STREAM_RESET) {
		errno = ECONNRESET;
		n = -1;
	}
	return n;
}

/* EPIPE is the error of a connection whose FIN came before: a read finds the
 * end. */
void
stream_note_error(struct stream *s, int error)
{
	if (error == 0 || error == EAGAIN || error == EWOULDBLOCK ||
	    error == ENOTCONN || error == ENOMEM || error == ENOBUFS)
		return;
	s->flags |= STREAM_GONE | STREAM_READABLE;
	if (error != EPIPE)
		s->flags |= STREAM_RESET;
}

static ssize_t
plain_read(struct stream *s, void *bytes, size_t room)
{
	ssize_t n;

	do
		n = recv(s->fd, bytes, room, 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		n = stream_unread(s, n);
	/* A short read took all there was: the next byte, or the end if it is
	 * not known to be here, comes with an event of its own. */
	if ((n < 0 && !(s->flags & STREAM_GONE)) ||
	    (n >= 0 && (size_t)n < room &&
		!(s->flags &
		    (STREAM_AT_EOF | STREAM_FIN | STREAM_URGENT |
			STREAM_GONE))))
		s->flags &= ~(unsigned)(STREAM_READABLE | STREAM_ACKS_LATE);
	return n;
}

static ssize_t
plain_write(struct stream *s, const void *bytes, size_t n, bool last)
{
	ssize_t sent;

	if (!(s->flags & STREAM_NODELAY)) {
		if (s->flags & STREAM_WROTE_ONCE) {
			sock_set_nodelay(s->fd);
			s->flags |= STREAM_NODELAY;
		}
		s->flags |= STREAM_WROTE_ONCE;
	}
	do
		sent = sock_send(s->fd, bytes, n, last);
	while (sent < 0 && errno == EINTR);
	if (sent < 0 || (size_t)sent < n)
		s->flags &= ~(unsigned)STREAM_WRITABLE;
	if (sent < 0)
		stream_note_error(s, errno);
	if (s->flags & STREAM_ACKS_LATE && sent > 0)
		sock_ack_at_once(s->fd);
	return sent;
}

static void
plain_shutdown(struct stream *s)
{
	(void)shutdown(s->fd, SHUT_WR);
}

static void
plain_close(struct stream *s, bool reset)
{
	if (reset)
		sock_close_reset(s->fd);
	else
		close(s->fd);
}

const struct stream_ops stream_plain = {
	.read = plain_read,
	.write = plain_write,
	.shutdown = plain_shutdown,
	.close = plain_close,
	.in_kernel = true,
	.fin_is_end = true,
};

void
stream_init(struct stream *s)
{
	watch_init(&s->watch);
	s->inside = NULL;
	s->fd = -1;
	s->flags = 0;
}

void
stream_open_plain(struct stream *s, int fd, bool nodelay)
{
	stream_init(s);
	s->fd = fd;
	if (!SHORTCUT_LATE_NODELAY && nodelay) {
		sock_set_nodelay(fd);
		nodelay = false;
	}
	s->flags = STREAM_READABLE | STREAM_WRITABLE |
	    (nodelay ? 0u : (unsigned)STREAM_NODELAY);
}

/* Handles rare events, out of line. After urgent data only a read finds the
 * end. */
static __attribute__((noinline)) void
note_rare(struct stream *s, unsigned ready)
{
	if (ready & READY_URGENT) {
		s->flags |= STREAM_URGENT;
		s->flags &= ~(unsigned)STREAM_AT_EOF;
	}
	if (ready & READY_ERROR)
		stream_note_error(s, sock_error(s->fd));
	if (ready & READY_WRITE && s->flags & STREAM_UNSENT)
		stream_ops(s)->flush(s);
}

void
stream_note_ready(struct stream *s, unsigned ready)
{
	if (ready & READY_READ) {
		s->flags |= STREAM_READABLE;
		s->flags &= ~(unsigned)STREAM_BUFFERED;
	}
	if (ready & READY_EOF)
		s->flags |= stream_ops(s)->fin_is_end &&
			!(ready & READY_ERROR) &&
			!(s->flags & (STREAM_URGENT | STREAM_READ_END))
		    ? STREAM_AT_EOF
		    : STREAM_FIN;
	if (ready & READY_WRITE && !(s->flags & STREAM_STALLED))
		s->flags |= STREAM_WRITABLE;
	if (ready & (READY_URGENT | READY_ERROR) || s->flags & STREAM_UNSENT)
		note_rare(s, ready);
}

void
stream_close(struct loop *l, struct stream *s, bool reset)
{
	if (s->fd < 0)
		return;
	watch_stop(l, &s->watch);
	stream_ops(s)->close(s, reset);
	s->fd = -1;
	s->flags = 0;
}
