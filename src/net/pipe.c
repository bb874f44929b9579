/* pipe.c: moves bytes one way; knows no policy and no loop. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "net/pipe.h"
#include "net/sock.h"

/* Full reads before the kernel takes over, and reads before others get a
 * turn. */
enum { FULL_READS = 2, FAIR_SHARE = 16 };

/* Less than this moved in the kernel since the flow last paused: go back to
 * copying, which small traffic pays less for. */
enum { SPLICE_WORTH = 32 * 1024 };

struct kernel_pipe {
	struct kernel_pipe *next;
	int fd[2];
	size_t length;
	size_t since_pause;
};

int
pipe_share_init(struct pipe_share *share)
{
	*share =
	    (struct pipe_share){ .scratch_size = PIPE_SCRATCH, .splice = true };
	share->scratch = malloc(share->scratch_size);
	return share->scratch == NULL ? -1 : 0;
}

void
pipe_share_fini(struct pipe_share *share)
{
	struct kernel_pipe *k;

	while ((k = share->spare) != NULL) {
		share->spare = k->next;
		close(k->fd[0]);
		close(k->fd[1]);
		free(k);
	}
	free(share->scratch);
	share->scratch = NULL;
}

/* ---- kernel pipes ---- */

/* A pipe that still holds bytes must not be used again: it is closed. */
static void
kernel_release(struct pipe *p, struct pipe_share *share)
{
	struct kernel_pipe *k = p->kernel;

	if (k == NULL)
		return;
	p->kernel = NULL;
	if (k->length == 0) {
		k->next = share->spare;
		share->spare = k;
		return;
	}
	close(k->fd[0]);
	close(k->fd[1]);
	free(k);
	share->kernel_pipes--;
}

static struct kernel_pipe *
kernel_new(struct pipe_share *share)
{
	struct kernel_pipe *k = share->spare;

	if (k != NULL) {
		share->spare = k->next;
	} else {
		if (share->kernel_pipes >= share->kernel_pipes_max ||
		    (k = malloc(sizeof(*k))) == NULL)
			return NULL;
		if (sock_pipe(k->fd, PIPE_KERNEL_SIZE) < 0) {
			if (errno == EPERM) /* the user has all he may */
				share->kernel_pipes_max = share->kernel_pipes;
			free(k);
			return NULL;
		}
		share->kernel_pipes++;
	}
	k->length = 0;
	k->since_pause = 0;
	return k;
}

/* Whether the flow moves in the kernel from now on. */
static bool
kernel_take_over(struct pipe *p, const struct stream *from,
    const struct stream *to, struct pipe_share *share)
{
	if (!share->splice || share->tap != NULL || p->dropping ||
	    p->copy_only || from->flags & STREAM_URGENT ||
	    (p->read_ahead && share->keep_max > 0) || !from->ops->in_kernel ||
	    !to->ops->in_kernel)
		return false;
	p->kernel = kernel_new(share);
	if (p->kernel == NULL)
		p->full_reads = 0;
	return p->kernel != NULL;
}

/* ---- keeping what the far side refused ---- */

/* The buffer with room for `room` bytes at its end, or NULL (ENOMEM). */
static char *
keep_room(struct pipe *p, size_t room)
{
	char *at;

	if (p->kept == NULL) {
		p->kept = malloc(sizeof(*p->kept));
		if (p->kept == NULL)
			return NULL;
		buffer_init(p->kept);
	}
	at = buffer_reserve(p->kept, room);
	if (at == NULL && buffer_length(p->kept) == 0) {
		free(p->kept);
		p->kept = NULL;
	}
	return at;
}

static int
keep(struct pipe *p, const char *bytes, size_t n)
{
	if (keep_room(p, n) == NULL)
		return -1;
	return buffer_append(p->kept, bytes, n);
}

static void
keep_nothing(struct pipe *p)
{
	if (p->kept == NULL)
		return;
	buffer_fini(p->kept);
	free(p->kept);
	p->kept = NULL;
}

size_t
pipe_stuck(const struct pipe *p)
{
	return (p->kept != NULL ? buffer_length(p->kept) : 0) +
	    (p->kernel != NULL ? p->kernel->length : 0);
}

/* ---- steps; each returns PIPE_YIELDED to go on ---- */

static inline struct pipe_stop
stop(enum pipe_verdict v)
{
	return (struct pipe_stop){ v, 0 };
}

static struct pipe_stop
write_refused(int error)
{
	if (error == EAGAIN || error == EWOULDBLOCK || error == ENOTCONN)
		return stop(PIPE_BLOCKED);
	return (struct pipe_stop){ PIPE_WRITE_FAILED, error };
}

static struct pipe_stop
read_refused(int error)
{
	if (error == EAGAIN || error == EWOULDBLOCK)
		return stop(PIPE_STARVED);
	return (struct pipe_stop){ PIPE_READ_FAILED, error };
}

/* Only called when `to` has taken a byte: whoever counts requests wants to know
 * who got them. */
static void
report(struct pipe *p, struct pipe_share *share, const char *bytes, size_t n)
{
	if (p->reported && share->on_read != NULL)
		share->on_read(p, bytes, n);
}

static struct pipe_stop
flush_kept(struct pipe *p, struct stream *to, struct pipe_share *share)
{
	while (p->kept != NULL) {
		ssize_t n;

		if (!(to->flags & STREAM_WRITABLE))
			return stop(PIPE_BLOCKED);
		n = stream_write(to, buffer_bytes(p->kept),
		    buffer_length(p->kept), p->ended);
		if (n < 0)
			return write_refused(errno);
		if (p->bytes == 0 && n > 0)
			report(p, share, buffer_bytes(p->kept),
			    buffer_length(p->kept));
		p->bytes += (uint64_t)n;
		buffer_consume(p->kept, (size_t)n);
		if (buffer_length(p->kept) == 0)
			keep_nothing(p);
	}
	return stop(PIPE_YIELDED);
}

static struct pipe_stop
flush_kernel(struct pipe *p, struct stream *to)
{
	struct kernel_pipe *k = p->kernel;

	while (k->length > 0) {
		ssize_t n;

		if (!(to->flags & STREAM_WRITABLE))
			return stop(PIPE_BLOCKED);
		n = sock_splice(k->fd[0], to->fd, k->length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (n < 0 && errno == EAGAIN)
				to->flags &= ~(unsigned)STREAM_WRITABLE;
			return write_refused(n < 0 ? errno : EPIPE);
		}
		p->bytes += (uint64_t)n;
		k->length -= (size_t)n;
	}
	return stop(PIPE_YIELDED);
}

/* A short splice does not mean that nothing is left (a pipe is limited in
 * segments too), so only EAGAIN counts as drained. The end, and urgent data,
 * are a read's to find: splice() takes the one for the other. */
static __attribute__((noinline)) struct pipe_stop
move_in_kernel(struct pipe *p, struct stream *from, struct stream *to,
    struct pipe_share *share)
{
	struct kernel_pipe *k = p->kernel;
	ssize_t n = sock_splice(from->fd, k->fd[1], PIPE_KERNEL_SIZE);
	int error = n < 0 ? errno : 0;

	if (n > 0) {
		k->length += (size_t)n;
		k->since_pause += (size_t)n;
		return flush_kernel(p, to);
	}
	if (error == EINTR)
		return stop(PIPE_YIELDED);
	if (error == EINVAL || error == ENOSYS) {
		kernel_release(p, share);
		p->copy_only = true;
		return stop(PIPE_YIELDED);
	}
	if (k->since_pause < SPLICE_WORTH ||
	    (p->reported && share->on_read != NULL))
		p->full_reads = 0;
	k->since_pause = 0;
	if (n == 0 || (error == EAGAIN && from->flags & STREAM_URGENT)) {
		p->full_reads = 0;
		kernel_release(p, share);
		return stop(PIPE_YIELDED);
	}
	if (error == EAGAIN)
		from->flags &= ~(unsigned)STREAM_READABLE;
	kernel_release(p, share);
	return read_refused(error);
}

/* Passes on what was just read into the scratch; keeps what is refused. A
 * short read of a stream whose FIN is here was its last. */
static struct pipe_stop
pass_on(struct pipe *p, struct stream *from, struct stream *to,
    struct pipe_share *share, size_t n)
{
	const char *bytes = share->scratch;
	ssize_t sent = 0;
	int refused = 0;

	if (n < share->scratch_size) {
		p->full_reads = 0;
		if (from->flags & STREAM_AT_EOF)
			p->ended = true;
	} else if (p->full_reads < FULL_READS) {
		p->full_reads++;
	}
	if (share->tap != NULL)
		share->tap(share->tap_arg, from, bytes, n);
	if (to->flags & STREAM_WRITABLE) {
		sent = stream_write(to, bytes, n, p->ended);
		if (sent < 0) {
			refused = errno;
			sent = 0;
		}
		p->bytes += (uint64_t)sent;
	}
	if ((size_t)sent < n && keep(p, bytes + sent, n - (size_t)sent) < 0)
		return (struct pipe_stop){ PIPE_READ_FAILED, ENOMEM };
	if (p->bytes > 0)
		report(p, share, bytes, n);
	if ((size_t)sent == n)
		return stop(PIPE_YIELDED);
	return refused == 0 ? stop(PIPE_BLOCKED) : write_refused(refused);
}

static struct pipe_stop
copy(struct pipe *p, struct stream *from, struct stream *to,
    struct pipe_share *share)
{
	ssize_t n = stream_read(from, share->scratch, share->scratch_size);

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
	return pass_on(p, from, to, share, (size_t)n);
}

/* `to` takes nothing now: reads ahead into the buffer up to the limit. */
static struct pipe_stop
read_ahead(struct pipe *p, struct stream *from, struct pipe_share *share)
{
	size_t room = share->keep_max - pipe_pending(p);
	ssize_t n;
	char *at;

	if (room > share->scratch_size)
		room = share->scratch_size;
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
	buffer_added(p->kept, (size_t)n);
	if (n == 0 || ((size_t)n < room && from->flags & STREAM_AT_EOF))
		p->ended = true;
	return stop(PIPE_YIELDED);
}

static bool
can_read_ahead(const struct pipe *p, const struct stream *from,
    const struct pipe_share *share)
{
	return p->read_ahead && !p->ended && p->kernel == NULL &&
	    from->flags & STREAM_READABLE && pipe_pending(p) < share->keep_max;
}

static struct pipe_stop
step(struct pipe *p, struct stream *from, struct stream *to,
    struct pipe_share *share)
{
	struct pipe_stop v = stop(PIPE_YIELDED);

	if (p->kept != NULL) {
		v = flush_kept(p, to, share);
		if (v.verdict == PIPE_BLOCKED && can_read_ahead(p, from, share))
			return read_ahead(p, from, share);
	} else if (p->kernel != NULL && p->kernel->length > 0) {
		v = flush_kernel(p, to);
	}
	if (v.verdict != PIPE_YIELDED)
		return v;
	if (p->ended)
		return stop(PIPE_DONE);
	if (!(from->flags & STREAM_READABLE))
		return stop(PIPE_STARVED);
	if (p->kernel != NULL ||
	    (p->full_reads >= FULL_READS &&
		kernel_take_over(p, from, to, share)))
		return move_in_kernel(p, from, to, share);
	return copy(p, from, to, share);
}

struct pipe_stop
pipe_pump(struct pipe *p, struct stream *from, struct stream *to,
    struct pipe_share *share)
{
	struct pipe_stop v = stop(PIPE_YIELDED);
	int rounds;

	for (rounds = 0; v.verdict == PIPE_YIELDED && rounds < FAIR_SHARE;
	     rounds++)
		v = pipe_is_starved(p, from) ? stop(PIPE_STARVED)
					     : step(p, from, to, share);
	return v;
}

/* Clients say little at first, so no buffer is made before it is known how
 * much. */
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
		if (n > 0 && keep(p, share->scratch, (size_t)n) < 0)
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
	kernel_release(p, share);
	p->bytes = 0;
	p->dropping = p->dropped = false;
	p->reported = true;
	return keep(p, bytes, n);
}

void
pipe_drop(struct pipe *p, struct pipe_share *share)
{
	keep_nothing(p);
	kernel_release(p, share);
	p->dropping = true;
}

void
pipe_give_back(struct pipe *p, struct pipe_share *share)
{
	keep_nothing(p);
	kernel_release(p, share);
}
