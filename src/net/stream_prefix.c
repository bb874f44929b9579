/* stream_prefix.c: a stream's operations while it has a prefix. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "net/sock.h"
#include "net/stream_prefix.h"

struct prefix {
	struct stream_inside inside;
	size_t n, sent;
	bool end_due; /* the owner's end follows */
	char bytes[];
};

static struct prefix *
prefix_of(const struct stream *s)
{
	return (struct prefix *)s->inside;
}

/* The stream goes on without. */
static void
remove_prefix(struct stream *s)
{
	struct prefix *p = prefix_of(s);

	s->inside = NULL;
	s->flags &= ~(unsigned)(STREAM_PREFIXED | STREAM_UNSENT);
	free(p);
}

/* Sends what is left of it with `bytes` after. Returns how many of these were
 * taken, or -1 with errno. */
static ssize_t
send_both(struct stream *s, const void *bytes, size_t n, bool more)
{
	struct prefix *p = prefix_of(s);
	size_t left = p->n - p->sent;
	ssize_t sent;

	s->flags |= STREAM_WROTE_ONCE;
	do
		sent = sock_send_two(
		    s->fd, p->bytes + p->sent, left, bytes, n, more);
	while (sent < 0 && errno == EINTR);
	if (sent < 0 || (size_t)sent < left + n)
		s->flags &= ~(unsigned)STREAM_WRITABLE;
	if (sent < 0) {
		stream_note_error(s, errno);
		return -1;
	}
	if ((size_t)sent < left) {
		p->sent += (size_t)sent;
		errno = EAGAIN;
		return -1;
	}
	remove_prefix(s);
	return sent - (ssize_t)left;
}

static ssize_t
prefix_read(struct stream *s, void *bytes, size_t room)
{
	return stream_plain.read(s, bytes, room);
}

static ssize_t
prefix_write(struct stream *s, const void *bytes, size_t n, bool last)
{
	return send_both(s, bytes, n, last);
}

static bool
is_later(int error)
{
	return error == EAGAIN || error == EWOULDBLOCK || error == ENOTCONN;
}

/* An error is left for a read to find. */
static void
prefix_flush(struct stream *s)
{
	bool end_due = prefix_of(s)->end_due;

	if (send_both(s, "", 0, end_due) < 0 && is_later(errno))
		return;
	if (s->flags & STREAM_PREFIXED)
		remove_prefix(s);
	if (end_due)
		stream_shutdown(s);
}

static void
prefix_shutdown(struct stream *s)
{
	prefix_of(s)->end_due = true;
	s->flags |= STREAM_UNSENT;
	if (s->flags & STREAM_WRITABLE)
		prefix_flush(s);
}

static void
prefix_close(struct stream *s, bool reset)
{
	remove_prefix(s);
	stream_plain.close(s, reset);
}

static const struct stream_ops prefix_ops = {
	.read = prefix_read,
	.write = prefix_write,
	.shutdown = prefix_shutdown,
	.flush = prefix_flush,
	.close = prefix_close,
};

int
stream_prefix(struct stream *s, const void *bytes, size_t n)
{
	struct prefix *p = malloc(sizeof(*p) + n);

	if (p == NULL)
		return -1;
	*p = (struct prefix){ .inside.ops = &prefix_ops, .n = n };
	memcpy(p->bytes, bytes, n);
	s->inside = &p->inside;
	s->flags |= STREAM_PREFIXED;
	return 0;
}

int
stream_prefix_alone(struct stream *s)
{
	s->flags |= STREAM_UNSENT;
	if (!(s->flags & STREAM_WRITABLE))
		return 0;
	return send_both(s, "", 0, false) < 0 && !is_later(errno) ? -1 : 0;
}
