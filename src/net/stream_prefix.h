/* stream_prefix.h: bytes of our own in front of all that is written to a
 * stream: they leave with the first of its owner's bytes, in one call, and do
 * not count as these.
 *
 *     prefix  |  what stream_write() was given        one sendmsg()
 *
 * A caller that has nothing to write must flush, or the prefix would wait for
 * it. Until it has gone the stream is PREFIXED; then it is the stream that it
 * was before, which costs nothing. */
#ifndef PEN_NET_STREAM_PREFIX_H
#define PEN_NET_STREAM_PREFIX_H

#include <stddef.h>

#include "net/stream.h"

/* Puts `n` bytes, which it copies, in front of a plain stream that nothing was
 * written to so far. Returns 0, or -1 with errno ENOMEM. */
int stream_prefix(struct stream *s, const void *bytes, size_t n);

/* Nothing of the owner's is to follow for now: sends the prefix by itself, as
 * soon as the stream is WRITABLE; until then it is UNSENT. Returns 0, or -1
 * with errno when it will never be sent. */
int stream_prefix_alone(struct stream *s);

/* The owner's next write takes it along, and is tried when the stream is
 * WRITABLE: until then nothing is UNSENT. */
static inline void
stream_prefix_waits(struct stream *s)
{
	s->flags &= ~(unsigned)STREAM_UNSENT;
}

#endif
