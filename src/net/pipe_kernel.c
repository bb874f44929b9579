/* pipe_kernel.c: bytes that stay in the kernel: those of long flows, by
 * splice(2), and what slow clients do not take. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "net/pipe_private.h"
#include "net/sock.h"

/* Less than this moved in the kernel since the flow last paused: go back to
 * copying, which small traffic pays less for. */
enum { SPLICE_WORTH = 32 * 1024 };

void
pipe_kernel_free_spare(struct pipe_share *share)
{
	struct kernel_pipe *k;

	while ((k = share->spare) != NULL) {
		share->spare = k->next;
		close(k->fd[0]);
		close(k->fd[1]);
		free(k);
	}
}

void
pipe_kernel_release(struct pipe *p, struct pipe_share *share)
{
	struct kernel_pipe *k = pipe_kernel(p);

	if (k == NULL)
		return;
	p->more->kernel = NULL;
	pipe_tidy(p);
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

bool
pipe_kernel_take_over(struct pipe *p, const struct stream *from,
    const struct stream *to, struct pipe_share *share, size_t room)
{
	const struct pipe_filter *filter = pipe_filter(p);

	if (!share->splice || share->tap != NULL || p->dropping ||
	    p->copy_only || from->flags & STREAM_URGENT ||
	    (filter != NULL && filter->clear < SPLICE_WORTH) ||
	    (p->read_ahead && share->keep_max > 0) ||
	    !stream_ops(from)->in_kernel || !stream_ops(to)->in_kernel)
		return false;
	/* after small reads there may be too little for it */
	if ((room == share->scratch_size ||
		sock_unread(from->fd) >= share->scratch_size) &&
	    pipe_more(p) != NULL)
		p->more->kernel = kernel_new(share);
	if (pipe_kernel(p) != NULL)
		return true;
	p->full_reads = 0;
	pipe_tidy(p);
	return false;
}

struct pipe_stop
pipe_kernel_flush(struct pipe *p, struct stream *to)
{
	struct kernel_pipe *k = p->more->kernel;

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
			stream_note_error(to, n < 0 ? errno : EPIPE);
			return write_refused(n < 0 ? errno : EPIPE);
		}
		p->bytes += (uint64_t)n;
		k->length -= (size_t)n;
	}
	return stop(PIPE_YIELDED);
}

size_t
pipe_clear(const struct pipe *p, size_t most)
{
	const struct pipe_filter *filter = pipe_filter(p);

	if (filter == NULL || filter->clear > most)
		return most;
	return (size_t)filter->clear;
}

void
pipe_passed(struct pipe *p, size_t n)
{
	struct pipe_filter *filter = pipe_filter(p);

	if (filter == NULL || filter->clear == UINT64_MAX)
		return;
	filter->clear -= n;
	filter->due = filter->clear == 0;
}

/* A short splice does not mean that nothing is left (a pipe is limited in
 * segments too), so only EAGAIN counts as drained. The end, and urgent data,
 * are a read's to find: splice() takes the one for the other. */
struct pipe_stop
pipe_kernel_move(struct pipe *p, struct stream *from, struct stream *to,
    struct pipe_share *share)
{
	struct kernel_pipe *k = p->more->kernel;
	size_t most = pipe_clear(p, PIPE_KERNEL_SIZE);
	ssize_t n;
	int error;

	if (most == 0) {
		p->full_reads = 0;
		pipe_kernel_release(p, share);
		return stop(PIPE_YIELDED);
	}
	n = sock_splice(from->fd, k->fd[1], most);
	error = n < 0 ? errno : 0;
	if (n > 0) {
		k->length += (size_t)n;
		pipe_passed(p, (size_t)n);
		k->since_pause += (size_t)n;
		return pipe_kernel_flush(p, to);
	}
	if (error == EINTR)
		return stop(PIPE_YIELDED);
	if (error == EINVAL || error == ENOSYS) {
		pipe_kernel_release(p, share);
		p->copy_only = true;
		return stop(PIPE_YIELDED);
	}
	if (k->since_pause < SPLICE_WORTH ||
	    (p->reported && share->on_read != NULL))
		p->full_reads = 0;
	k->since_pause = 0;
	if (n == 0 || (error == EAGAIN && from->flags & STREAM_URGENT)) {
		p->full_reads = 0;
		pipe_kernel_release(p, share);
		return stop(PIPE_YIELDED);
	}
	if (error == EAGAIN)
		from->flags &= ~(unsigned)STREAM_READABLE;
	stream_note_error(from, error);
	pipe_kernel_release(p, share);
	return read_refused(error);
}

/* ---- slow clients ----
 *
 * What such a client does not take stays in the socket of its server, where the
 * kernel counts it, and the server waits. Were it read and kept here, the
 * kernel would receive as much again: a thousand clients at 1 Mbit/s took 29 to
 * 44 kB each so. Now they take what their first reads left in the heap. To give
 * that back in pages of its own took three times the CPU time. Bytes are read
 * without being taken (MSG_PEEK), and taken as far as the client took them. */

/* A client that was slow is slow again soon, even if its server pauses for once
 * and it takes all that there is. */
enum { DRAINED_UNTIL_FAST = 3 };

void
pipe_slow_begin(struct pipe *p, const struct stream *to,
    const struct pipe_share *share)
{
	if (p->read_ahead && share->keep_max == 0 && stream_ops(to)->in_kernel)
		p->more->slow = DRAINED_UNTIL_FAST;
}

void
pipe_slow_end(struct pipe *p)
{
	if (p->more == NULL)
		return;
	p->more->slow = 0;
	p->more->left = false;
	pipe_tidy(p);
}

/* The stream of urgent data, and that of a Unix socket, which may carry
 * descriptors, are a read's. */
bool
pipe_slow_leaves(const struct pipe *p, const struct stream *from,
    const struct stream *to, const struct pipe_share *share)
{
	return !p->dropping && share->tap == NULL && share->keep_max == 0 &&
	    pipe_clear(p, 1) > 0 &&
	    !(from->flags & (STREAM_URGENT | STREAM_READ_END)) &&
	    stream_ops(from)->in_kernel && stream_ops(to)->in_kernel;
}

/* `to` took all that there was. */
static void
pipe_slow_drained(struct pipe *p, const struct stream *from)
{
	p->full_reads = 0;
	if (from->flags & STREAM_AT_EOF)
		p->ended = true;
	if (p->more->slow > 1)
		p->more->slow--;
	else
		pipe_slow_end(p);
}

/* The last bytes, if they are few, are kept: their server is released. */
static bool
pipe_slow_ends(struct pipe *p, struct stream *from, const struct stream *to,
    struct pipe_share *share, size_t n, size_t sent)
{
	if (!(from->flags & STREAM_AT_EOF) || n - sent > SLOW_READ ||
	    pipe_filter(p) != NULL ||
	    pipe_keep(p, to, share, share->scratch + sent, n - sent) < 0)
		return false;
	stream_take(from, share->scratch, n - sent, true);
	p->ended = true;
	return true;
}

static struct pipe_stop
pipe_slow_blocked(struct pipe *p)
{
	p->more->left = true;
	p->more->slow = DRAINED_UNTIL_FAST;
	p->full_reads = 0;
	return stop(PIPE_BLOCKED);
}

struct pipe_stop
pipe_slow_move(struct pipe *p, struct stream *from, struct stream *to,
    struct pipe_share *share, size_t room)
{
	ssize_t n, sent;
	bool all;

	if (!(to->flags & STREAM_WRITABLE))
		return pipe_slow_blocked(p);
	p->more->left = false;
	room = pipe_clear(p, room);
	n = stream_peek(from, share->scratch, room);
	if (n < 0)
		return read_refused(errno);
	if (n == 0) {
		p->ended = true;
		return stop(PIPE_YIELDED);
	}
	sent = stream_write(to, share->scratch, (size_t)n, false);
	if (sent < 0) {
		struct pipe_stop v = write_refused(errno);

		return v.verdict == PIPE_BLOCKED ? pipe_slow_blocked(p) : v;
	}
	all = (size_t)n < room;
	stream_take(from, share->scratch, (size_t)sent, all && sent == n);
	p->bytes += (uint64_t)sent;
	pipe_passed(p, (size_t)sent);
	if (sent < n && all &&
	    pipe_slow_ends(p, from, to, share, (size_t)n, (size_t)sent))
		return stop(PIPE_BLOCKED);
	if (sent < n)
		return pipe_slow_blocked(p);
	if (all)
		pipe_slow_drained(p, from);
	else if (p->full_reads < FULL_READS)
		p->full_reads++;
	return stop(PIPE_YIELDED);
}
