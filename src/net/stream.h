/* stream.h: one end of a connection: a byte stream and what it can do now.
 *
 * Plain TCP and Unix sockets, and TLS over them (tls.h), are one thing above
 * the line drawn by struct stream_ops. The flags remember what the loop
 * reported and what the operations found out, so nothing is tried in vain:
 *
 *     READABLE  a read may give something (cleared by EAGAIN, a short read)
 *     WRITABLE  a write may take something (cleared by EAGAIN)
 *     AT_EOF    the far side's FIN is here: after a short read comes the end
 *     FIN       it is here, but the end is something else: in TLS, or a reset
 *     UNSENT    bytes that were taken wait inside the stream to be sent
 *     STALLED   only a read can make it WRITABLE again, not the loop (TLS)
 *     BUFFERED  it is READABLE for bytes that the stream holds (TLS)
 *     READ_END  a FIN does not mean that a short read was the last: only a read
 *               finds the end. Unix: reads stop at descriptors sent along, too
 *     PREFIXED  bytes of our own go first (stream_prefix.h)
 *     ACKS_LATE the kernel may delay ACKs: each write ends that again, until
 *               something was read
 *     URGENT    urgent data was seen (RFC 6093): reads stop before it, so a
 *               short one has no meaning. It is passed on in line, as the
 *               sockets have it (sock_take_urgent)
 *     GONE      the connection has failed: it takes nothing any more, but what
 *               had arrived by then can still be read
 *     RESET     GONE, and not after a FIN: behind what had arrived a read finds
 *               no end, but fails with ECONNRESET, each time
 *
 * A stream owns its descriptor. Embedded in its owner; no allocation. */
#ifndef PEN_NET_STREAM_H
#define PEN_NET_STREAM_H

#include <stdbool.h>
#include <sys/types.h>

#include "net/loop/loop.h"

enum {
	STREAM_READABLE = 1,
	STREAM_WRITABLE = 2,
	STREAM_AT_EOF = 4,
	STREAM_WROTE_ONCE = 8, /* the next write ends Nagle's delay */
	STREAM_NODELAY = 16,   /* it is off, or may stay */
	STREAM_FIN = 32,
	STREAM_UNSENT = 64,
	STREAM_STALLED = 128,
	STREAM_NO_CLOSE_NOTIFY = 256, /* set by its owner: see shutdown */
	STREAM_BUFFERED = 512,
	STREAM_URGENT = 1024,
	STREAM_READ_END = 2048, /* set by its owner */
	STREAM_PREFIXED = 4096,
	STREAM_ACKS_LATE = 8192, /* set by its owner */
	STREAM_GONE = 16384,
	STREAM_RESET = 32768,
};

struct stream;

struct stream_ops {
	/* Bytes read, 0 at the end, or -1 with errno (EAGAIN: later). Clears
	 * READABLE when nothing more can be there. */
	ssize_t (*read)(struct stream *s, void *bytes, size_t room);
	/* Bytes taken (maybe not all), or -1 with errno (EAGAIN: later). Clears
	 * WRITABLE when full. With `last`, an end follows at once. */
	ssize_t (*write)(
	    struct stream *s, const void *bytes, size_t n, bool last);
	/* Ends our direction (FIN; TLS: close_notify first). With
	 * NO_CLOSE_NOTIFY the data was truncated: TLS leaves close_notify out,
	 * which shows the peer. */
	void (*shutdown)(struct stream *s);
	/* Sends what is UNSENT, as far as possible; NULL: nothing ever is. */
	void (*flush)(struct stream *s);
	/* Frees what is behind it and closes; with `reset`, abortively. */
	void (*close)(struct stream *s, bool reset);
	bool in_kernel;	 /* splice(2) works on the descriptor */
	bool fin_is_end; /* the end of the bytes is that of the connection */
};

/* What the operations of a stream need begins with them. */
struct stream_inside {
	const struct stream_ops *ops;
};

struct stream {
	struct watch watch; /* watch.fd is the descriptor once watched */
	struct stream_inside *inside; /* NULL: a plain socket */
	int fd;			      /* -1: closed */
	unsigned flags;
};

extern const struct stream_ops stream_plain;

static inline const struct stream_ops *
stream_ops(const struct stream *s)
{
	return s->inside != NULL ? s->inside->ops : &stream_plain;
}

/* An end without a connection. */
void stream_init(struct stream *s);
/* A plain socket, now owned by the stream; nothing is watched yet. With
 * `nodelay`, Nagle's delay is left on for a first write alone (it never delays
 * that) and switched off by the second, which saves short connections a
 * call. */
void stream_open_plain(struct stream *s, int fd, bool nodelay);

static inline bool
stream_is_open(const struct stream *s)
{
	return s->fd >= 0;
}

/* The events that the stream itself waits for, besides those that its owner
 * wants: READY_WRITE to send what is UNSENT. */
static inline unsigned
stream_wants(const struct stream *s)
{
	return s->flags & STREAM_UNSENT ? READY_WRITE : 0;
}

static inline bool
stream_is_unsent(const struct stream *s)
{
	return (s->flags & STREAM_UNSENT) != 0;
}

/* Records what the loop reported, and sends what is UNSENT if it now can. */
void stream_note_ready(struct stream *s, unsigned ready);
/* Records an error of its socket, which the kernel reports once and then
 * forgets; 0, and those that pass, change nothing. */
void stream_note_error(struct stream *s, int error);
/* For the read operations of streams: gives the result of a read of the socket,
 * not more than 0 and with errno, the meaning that a stream's read has. */
ssize_t stream_unread(struct stream *s, ssize_t n);

static inline ssize_t
stream_read(struct stream *s, void *bytes, size_t room)
{
	return stream_ops(s)->read(s, bytes, room);
}

static inline ssize_t
stream_write(struct stream *s, const void *bytes, size_t n, bool last)
{
	return stream_ops(s)->write(s, bytes, n, last);
}

static inline void
stream_shutdown(struct stream *s)
{
	stream_ops(s)->shutdown(s);
}

/* Stops watching and closes; fine on a closed one. */
void stream_close(struct loop *l, struct stream *s, bool reset);

#endif
