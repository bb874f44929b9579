/* pipe.c: moves bytes one way; without policy, without a loop. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "net/pipe_private.h"

/* Reads before others get a turn. */
enum { FAIR_SHARE = 16 };

/* The size of reads while bytes are kept: the far side has just refused them,
 * and what it refuses of the next read is kept, too. */
enum { SLOW_READ = 16 * 1024 };

void
pipe_share_init(struct pipe_share *share, char *scratch)
{
	*share = (struct pipe_share){
		.scratch = scratch, .scratch_size = PIPE_SCRATCH, .splice = true
	};
}

void
pipe_share_fini(struct pipe_share *share)
{
	pipe_kernel_free_spare(share);
}

/* ---- keeping what the far side refused ---- */

struct pipe_more *
pipe_more(struct pipe *p)
{
	if (p->more == NULL)
		p->more = memory_zeroed(sizeof(*p->more));
	return p->more;
}

void
pipe_tidy(struct pipe *p)
{
	struct pipe_more *m = p->more;

	if (m == NULL || buffer_length(&m->kept) > 0 || m->kernel != NULL)
		return;
	buffer_fini(&m->kept);
	if (m->filter != NULL)
		return;
	free(m);
	p->more = NULL;
}

/* The buffer with room for `room` bytes at its end, or NULL (ENOMEM). */
static char *
keep_room(struct pipe *p, size_t room)
{
	char *at = NULL;

	if (pipe_more(p) != NULL)
		at = buffer_reserve(&p->more->kept, room);
	if (at == NULL)
		pipe_tidy(p);
	return at;
}

int
pipe_add(struct pipe *p, const char *bytes, size_t n)
{
	if (keep_room(p, n) == NULL)
		return -1;
	return buffer_append(&p->more->kept, bytes, n);
}

static void
keep_nothing(struct pipe *p)
{
	if (p->more == NULL)
		return;
	buffer_fini(&p->more->kept);
	pipe_tidy(p);
}

size_t
pipe_stuck(const struct pipe *p)
{
	return buffer_length(&p->more->kept) +
	    (p->more->kernel != NULL ? p->more->kernel->length : 0);
}

bool
pipe_rests(const struct pipe *p)
{
	return pipe_kept(p) == NULL && p->more->kernel == NULL &&
	    (p->more->filter == NULL || !p->more->filter->due);
}

int
pipe_set_filter(struct pipe *p, struct pipe_filter *filter)
{
	if (filter == NULL ? p->more == NULL : pipe_more(p) == NULL)
		return filter == NULL ? 0 : -1;
	p->more->filter = filter;
	pipe_tidy(p);
	return 0;
}

/* ---- steps; each returns PIPE_YIELDED to go on ---- */

/* Only called when `to` has taken a byte: a counter of requests needs the
 * server that got them. */
static void
report(struct pipe *p, struct pipe_share *share, const char *bytes, size_t n)
{
	if (share->on_read != NULL)
		share->on_read(p, bytes, n);
}

/* Whether these bytes are the last ones: the end may go with them. */
static inline bool
is_last(const struct pipe *p)
{
	return p->ended && (pipe_filter(p) == NULL || !pipe_filter(p)->waits);
}

/* Writes the kept bytes, until all are written or the stream takes no more. */
static struct pipe_stop
flush_kept(struct pipe *p, struct stream *to, struct pipe_share *share)
{
	struct buffer *kept = &p->more->kept;

	while (buffer_length(kept) > 0) {
		ssize_t n;

		if (!(to->flags & STREAM_WRITABLE))
			return stop(PIPE_BLOCKED);
		n = stream_write(
		    to, buffer_bytes(kept), buffer_length(kept), is_last(p));
		if (n < 0)
			return write_refused(errno);
		if (p->reported && p->bytes == 0 && n > 0)
			report(p, share, buffer_bytes(kept),
			    buffer_length(kept));
		p->bytes += (uint64_t)n;
		buffer_consume(kept, (size_t)n);
	}
	pipe_tidy(p);
	return stop(PIPE_YIELDED);
}

/* Passes on bytes and keeps what is refused. */
static inline struct pipe_stop
send_on(struct pipe *p, struct stream *to, struct pipe_share *share,
    const char *bytes, size_t n)
{
	ssize_t sent = 0;
	int refused = 0;

	if (to->flags & STREAM_WRITABLE) {
		sent = stream_write(to, bytes, n, is_last(p));
		if (sent < 0) {
			refused = errno;
			sent = 0;
		}
		p->bytes += (uint64_t)sent;
	}
	if ((size_t)sent < n && pipe_add(p, bytes + sent, n - (size_t)sent) < 0)
		return (struct pipe_stop){ PIPE_READ_FAILED, ENOMEM };
	if (p->reported && p->bytes > 0)
		report(p, share, bytes, n);
	if ((size_t)sent == n)
		return stop(PIPE_YIELDED);
	return refused == 0 ? stop(PIPE_BLOCKED) : write_refused(refused);
}

/* Passes on what the filter makes of bytes. */
static __attribute__((noinline)) struct pipe_stop
filter_on(struct pipe *p, struct stream *to, struct pipe_share *share,
    const char *bytes, size_t n)
{
	const char *out;
	size_t out_n;

	pipe_filter(p)->due = false;
	if (pipe_filter(p)->take(pipe_filter(p), bytes, n, &out, &out_n) < 0)
		return (struct pipe_stop){ PIPE_READ_FAILED, ENOMEM };
	return out_n > 0 ? send_on(p, to, share, out, out_n)
			 : stop(PIPE_YIELDED);
}

/* Passes on what was just read into the scratch, of which there were `room`
 * bytes. A short read of a stream whose FIN is here was its last. */
static inline struct pipe_stop
pipe_pass_on(struct pipe *p, struct stream *from, struct stream *to,
    struct pipe_share *share, size_t n, size_t room)
{
	if (n < room) {
		p->full_reads = 0;
		if (from->flags & STREAM_AT_EOF)
			p->ended = true;
	} else if (p->full_reads < FULL_READS) {
		p->full_reads++;
	}
	if (share->tap != NULL)
		share->tap(share->tap_arg, from, share->scratch, n);
	return pipe_filter(p) == NULL
	    ? send_on(p, to, share, share->scratch, n)
	    : filter_on(p, to, share, share->scratch, n);
}

static struct pipe_stop
pipe_copy(struct pipe *p, struct stream *from, struct stream *to,
    struct pipe_share *share, size_t room)
{
	ssize_t n = stream_read(from, share->scratch, room);

	if (n < 0)
		return read_refused(errno);
	if (n == 0) {
		p->ended = true;
		return stop(PIPE_YIELDED);
	}
	if (p->dropping) {
		p->dropped = true;
		return stop(PIPE_YIELDED);
	}
	return pipe_pass_on(p, from, to, share, (size_t)n, room);
}

/* `to` takes nothing now: reads ahead into the buffer up to the limit. */
static struct pipe_stop
read_ahead(struct pipe *p, struct stream *from, struct stream *to,
    struct pipe_share *share)
{
	size_t room = share->keep_max - pipe_pending(p);
	ssize_t n;
	char *at;

	if (room > share->scratch_size)
		room = share->scratch_size;
	if (pipe_filter(p) != NULL)
		return pipe_copy(p, from, to, share, room);
	at = keep_room(p, room);
	if (at == NULL)
		return stop(PIPE_BLOCKED);
	n = stream_read(from, at, room);
	if (n < 0 && errno == EAGAIN)
		return stop(PIPE_BLOCKED);
	if (n < 0)
		return (struct pipe_stop){ PIPE_READ_FAILED, errno };
	if (share->tap != NULL)
		share->tap(share->tap_arg, from, at, (size_t)n);
	buffer_added(&p->more->kept, (size_t)n);
	if (n == 0 || ((size_t)n < room && from->flags & STREAM_AT_EOF))
		p->ended = true;
	return stop(PIPE_YIELDED);
}

static bool
can_read_ahead(const struct pipe *p, const struct stream *from,
    const struct pipe_share *share)
{
	return p->read_ahead && !p->ended && pipe_kernel(p) == NULL &&
	    from->flags & STREAM_READABLE && pipe_pending(p) < share->keep_max;
}

/* `room`: of a read. */
static struct pipe_stop
step(struct pipe *p, struct stream *from, struct stream *to,
    struct pipe_share *share, size_t room)
{
	struct pipe_stop v = stop(PIPE_YIELDED);
	const struct pipe_filter *filter;

	if (pipe_kept(p) != NULL) {
		v = flush_kept(p, to, share);
		if (v.verdict == PIPE_BLOCKED && can_read_ahead(p, from, share))
			return read_ahead(p, from, to, share);
	} else if (pipe_kernel(p) != NULL && pipe_kernel(p)->length > 0) {
		v = pipe_kernel_flush(p, to);
	}
	if (v.verdict != PIPE_YIELDED)
		return v;
	filter = pipe_filter(p);
	if (filter != NULL && !p->dropping && (filter->due || filter->waits))
		return filter->due ? filter_on(p, to, share, NULL, 0)
				   : stop(PIPE_WAITS);
	if (p->ended)
		return stop(PIPE_DONE);
	if (!(from->flags & STREAM_READABLE))
		return stop(PIPE_STARVED);
	if (pipe_kernel(p) != NULL ||
	    (p->full_reads >= FULL_READS &&
		pipe_kernel_may_start(p, from, to, share, room)))
		return pipe_kernel_move(p, from, to, share);
	if (stream_is_unsent(to) && room > SLOW_READ)
		room = SLOW_READ; /* all of it will be kept */
	return pipe_copy(p, from, to, share, room);
}

struct pipe_stop
pipe_pump(struct pipe *p, struct stream *from, struct stream *to,
    struct pipe_share *share)
{
	struct pipe_stop v = stop(PIPE_YIELDED);
	size_t room = pipe_kept(p) != NULL ? SLOW_READ : share->scratch_size;
	int rounds;

	for (rounds = 0; v.verdict == PIPE_YIELDED && rounds < FAIR_SHARE;
	     rounds++)
		v = pipe_is_starved(p, from) ? stop(PIPE_STARVED)
					     : step(p, from, to, share, room);
	return v;
}

/* Clients send little at first, so no buffer is made before the amount is
 * known. */
struct pipe_stop
pipe_gather(struct pipe *p, struct stream *from, size_t most,
    struct pipe_share *share)
{
	size_t room;
	ssize_t n;

	while (!p->ended) {
		room = most - pipe_pending(p);
		if (room == 0)
			return stop(PIPE_BLOCKED);
		if (!(from->flags & STREAM_READABLE))
			return stop(PIPE_STARVED);
		if (room > share->scratch_size)
			room = share->scratch_size;
		n = stream_read(from, share->scratch, room);
		if (n < 0)
			return read_refused(errno);
		if (share->tap != NULL)
			share->tap(
			    share->tap_arg, from, share->scratch, (size_t)n);
		if (n > 0 && pipe_add(p, share->scratch, (size_t)n) < 0)
			return (struct pipe_stop){ PIPE_READ_FAILED, ENOMEM };
		p->ended = n == 0 ||
		    ((size_t)n < room && from->flags & STREAM_AT_EOF);
	}
	return stop(PIPE_DONE);
}

/* ---- life ---- */

void
pipe_init(struct pipe *p, bool ahead)
{
	*p = (struct pipe){ .read_ahead = ahead };
}

int
pipe_restart(struct pipe *p, const char *bytes, size_t n,
    struct pipe_share *share)
{
	keep_nothing(p);
	pipe_kernel_release(p, share);
	p->bytes = 0;
	p->full_reads = 0;
	p->dropping = p->dropped = false;
	p->reported = true;
	return n == 0 ? 0 : pipe_add(p, bytes, n);
}

int
pipe_refilter(struct pipe *p)
{
	struct buffer raw;
	const char *out;
	size_t n;
	int rc;

	if (pipe_kept(p) == NULL)
		return 0;
	raw = p->more->kept;
	buffer_init(&p->more->kept);
	rc = pipe_filter(p)->take(pipe_filter(p), buffer_bytes(&raw),
	    buffer_length(&raw), &out, &n);
	if (rc == 0 && n > 0)
		rc = pipe_add(p, out, n);
	buffer_fini(&raw);
	return rc;
}

void
pipe_drop(struct pipe *p, struct pipe_share *share)
{
	keep_nothing(p);
	pipe_kernel_release(p, share);
	p->dropping = true;
}

void
pipe_release(struct pipe *p, struct pipe_share *share)
{
	p->more->filter = NULL;
	pipe_kernel_release(p, share);
	keep_nothing(p);
}
