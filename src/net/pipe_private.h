/* pipe_private.h: the inside of a pipe, for pipe.c and pipe_kernel.c, which has
 * the part of it that lies in the kernel. */
#ifndef PEN_NET_PIPE_PRIVATE_H
#define PEN_NET_PIPE_PRIVATE_H

#include <errno.h>

#include "net/pipe.h"

/* Full reads in a row before the kernel takes over. */
enum { FULL_READS = 2 };

struct kernel_pipe {
	struct kernel_pipe *next;
	int fd[2];
	size_t length;
	size_t since_pause;
};

/* The pipe's own, or NULL with errno ENOMEM; and frees it when it is empty. */
struct pipe_more *pipe_more(struct pipe *p);
void pipe_tidy(struct pipe *p);

static inline struct kernel_pipe *
pipe_kernel(const struct pipe *p)
{
	return p->more != NULL ? p->more->kernel : NULL;
}

/* ---- why a step stopped; PIPE_YIELDED: to go on ---- */

static inline struct pipe_stop
stop(enum pipe_verdict v)
{
	return (struct pipe_stop){ v, 0 };
}

static inline struct pipe_stop
write_refused(int error)
{
	if (error == EAGAIN || error == EWOULDBLOCK || error == ENOTCONN)
		return stop(PIPE_BLOCKED);
	/* not the other end's fault, and not its end: nothing more would come
	 * to tell that the stream is at an end */
	if (error == ENOMEM || error == ENOBUFS)
		return (struct pipe_stop){ PIPE_READ_FAILED, ENOMEM };
	return (struct pipe_stop){ PIPE_WRITE_FAILED, error };
}

static inline struct pipe_stop
read_refused(int error)
{
	if (error == EAGAIN || error == EWOULDBLOCK)
		return stop(PIPE_STARVED);
	return (struct pipe_stop){ PIPE_READ_FAILED, error };
}

/* ---- the kernel's part ---- */

/* A pipe that still holds bytes must not be used again: it is closed. */
void pipe_kernel_release(struct pipe *p, struct pipe_share *share);
void pipe_kernel_free_spare(struct pipe_share *share);
/* Whether the flow moves in the kernel from now on, after full reads of `room`
 * bytes. */
bool pipe_kernel_may_start(struct pipe *p, const struct stream *from,
    const struct stream *to, struct pipe_share *share, size_t room);
struct pipe_stop pipe_kernel_flush(struct pipe *p, struct stream *to);
struct pipe_stop pipe_kernel_move(struct pipe *p, struct stream *from,
    struct stream *to, struct pipe_share *share);

#endif
