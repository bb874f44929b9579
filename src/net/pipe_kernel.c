/* pipe_kernel.c: long flows, whose bytes stay in the kernel: splice(2). */
#include "config.h"

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

/* A pipe of the kernel, a spare one if there is one. NULL: the limit is
 * reached, or there is no memory or descriptor. */
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
pipe_kernel_may_start(struct pipe *p, const struct stream *from,
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

/* Bytes that the filter need not see. */
static size_t
kernel_most(const struct pipe *p)
{
	const struct pipe_filter *filter = pipe_filter(p);

	if (filter == NULL || filter->clear > PIPE_KERNEL_SIZE)
		return PIPE_KERNEL_SIZE;
	return (size_t)filter->clear;
}

static void
passed_filter(struct pipe *p, size_t n)
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
	size_t most = kernel_most(p);
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
		passed_filter(p, (size_t)n);
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
