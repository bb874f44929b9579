/* pipe.h: one direction of a connection: bytes from one stream to another.
 *
 *     from --read--> scratch --write--> to          short traffic
 *                       '--> kept --write--> to     what `to` refused
 *     from --splice--> kernel pipe --splice--> to   long traffic
 *
 * The scratch memory is shared by all pipes; a pipe owns a buffer or a kernel
 * pipe only while bytes are stuck in it, so an idle one owns nothing. After two
 * full reads in a row the bytes stay in the kernel until the flow pauses.
 *
 * A pipe arms nothing and closes nothing: pipe_pump() moves what can be moved
 * and returns why it stopped; the session decides. */
#ifndef PEN_NET_PIPE_H
#define PEN_NET_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "net/stream.h"

struct kernel_pipe;
struct pipe;

/* Reads all bytes of a pipe, and decides what is passed on. Owned by the caller
 * that set it. */
struct pipe_filter {
	/* Takes `n` bytes that were read; 0: goes on with those that it has.
	 * What is to go on is *out, *out_n bytes that stay as they are until
	 * the next call. Sets the three below. Returns 0, or -1 with errno
	 * ENOMEM. */
	int (*take)(struct pipe_filter *f, const char *bytes, size_t n,
	    const char **out, size_t *out_n);
	/* So many of the next bytes go on as they are: the kernel may move
	 * them, and they are taken off. UINT64_MAX: all, for ever. */
	uint64_t clear;
	bool waits; /* for something else to happen: there is no reading on */
	bool due;   /* is to be called, with nothing: that has happened */
};

/* What all pipes of a process share; settings may change while it runs. */
struct pipe_share {
	char *scratch; /* not owned */
	size_t scratch_size;
	size_t keep_max; /* bytes a pipe to a client may read ahead; 0: none */
	bool splice;	 /* the kernel may move long flows */
	size_t kernel_pipes_max;   /* each costs two descriptors */
	size_t kernel_pipes;	   /* made so far */
	struct kernel_pipe *spare; /* empty ones */
	/* Sees every byte that is read (debugging); splice is off meanwhile. */
	void (*tap)(
	    void *arg, const struct stream *from, const char *bytes, size_t n);
	void *tap_arg;
	/* Sees what a pipe with `reported` reads, each byte once, after `to`
	 * has taken of it what it could and the rest is kept; what comes before
	 * `to` has taken its first byte waits for that. Not the middle of long
	 * flows, which move in the kernel all the same. */
	void (*on_read)(struct pipe *p, const char *bytes, size_t n);
};

enum { PIPE_SCRATCH = 64 * 1024, PIPE_KERNEL_SIZE = 256 * 1024 };

/* `scratch` is PIPE_SCRATCH bytes, whose contents are not needed between
 * calls. */
void pipe_share_init(struct pipe_share *share, char *scratch);
void pipe_share_fini(struct pipe_share *share);

/* What few pipes have, and none of them for long but a filter: made when it is
 * first needed, freed with the last of it. */
struct pipe_more {
	struct buffer kept;	    /* what `to` refused */
	struct kernel_pipe *kernel; /* NULL: copying */
	struct pipe_filter *filter; /* NULL: bytes go on as they come */
};

/* Two words: each connection has two of these. */
struct pipe {
	struct pipe_more *more; /* NULL: nothing of it */
	unsigned full_reads : 2; /* in a row */
	bool ended : 1;	     /* the last byte of `from` was read */
	bool read_ahead : 1; /* may keep up to share->keep_max */
	bool dropping : 1;   /* `to` is gone: what comes is thrown away */
	bool dropped : 1;    /* something came since */
	bool copy_only : 1;  /* the kernel refused to splice it */
	bool reported : 1;   /* share->on_read is to be called */
	uint64_t bytes : 56; /* taken by `to` so far; 72 petabytes fit */
};

enum pipe_verdict {
	PIPE_STARVED,	   /* waits for `from` to become readable */
	PIPE_BLOCKED,	   /* waits for `to` to become writable */
	PIPE_WAITS,	   /* its filter does */
	PIPE_YIELDED,	   /* moved a fair share; there is more to do at once */
	PIPE_DONE,	   /* `from` ended and all its bytes are with `to` */
	PIPE_READ_FAILED,  /* what was read before is kept */
	PIPE_WRITE_FAILED, /* what was read is kept */
};

/* Why pipe_pump() stopped. */
struct pipe_stop {
	enum pipe_verdict verdict;
	int cause; /* the errno of a verdict ending in _FAILED; else 0 */
};

void pipe_init(struct pipe *p, bool read_ahead);
/* Frees what the pipe owns, of one that owns something. */
void pipe_release(struct pipe *p, struct pipe_share *share);
/* Gives back what it owns, bytes included; its filter is gone, too. */
static inline void
pipe_fini(struct pipe *p, struct pipe_share *share)
{
	if (p->more != NULL)
		pipe_release(p, share);
}

/* Returns 0, or -1 with errno ENOMEM, which can only be with a filter; NULL
 * takes it away. */
int pipe_set_filter(struct pipe *p, struct pipe_filter *filter);
static inline struct pipe_filter *
pipe_filter(const struct pipe *p)
{
	return p->more != NULL ? p->more->filter : NULL;
}

/* `to` is another stream from now on, which gets these bytes first: all that
 * `from` has sent so far. Returns 0, or -1 with errno ENOMEM. */
int pipe_restart(struct pipe *p, const char *bytes, size_t n,
    struct pipe_share *share);

/* Whether nothing is stuck in it and its filter is not due. */
bool pipe_rests(const struct pipe *p);
/* Whether pipe_pump() could only return PIPE_STARVED. */
static inline bool
pipe_is_starved(const struct pipe *p, const struct stream *from)
{
	return !(from->flags & STREAM_READABLE) && !p->ended &&
	    (p->more == NULL || pipe_rests(p));
}

/* Moves bytes until something stops it. */
struct pipe_stop pipe_pump(struct pipe *p, struct stream *from,
    struct stream *to, struct pipe_share *share);

/* Reads into the kept bytes until there are `most`, with no far side so far.
 * PIPE_STARVED: all that was there; PIPE_BLOCKED: there are `most`; PIPE_DONE:
 * `from` has ended. */
struct pipe_stop pipe_gather(struct pipe *p, struct stream *from, size_t most,
    struct pipe_share *share);

/* Bytes of a pipe that owns something. */
size_t pipe_stuck(const struct pipe *p);
/* Bytes read and not yet taken by `to`. */
static inline size_t
pipe_pending(const struct pipe *p)
{
	return p->more == NULL ? 0 : pipe_stuck(p);
}

/* The bytes that are kept in memory; NULL: none are. */
static inline const struct buffer *
pipe_kept(const struct pipe *p)
{
	return p->more != NULL && buffer_length(&p->more->kept) > 0
	    ? &p->more->kept
	    : NULL;
}

/* Whether it would read on if there were something to read. */
static inline bool
pipe_wants(const struct pipe *p)
{
	return !p->ended && pipe_pending(p) == 0 &&
	    (pipe_filter(p) == NULL || p->dropping || !pipe_filter(p)->waits);
}

/* Passes the kept bytes, which were read before there was a filter, through the
 * filter. Returns 0, or -1 with errno ENOMEM. */
int pipe_refilter(struct pipe *p);

/* Appends bytes as if they had been read, past the filter. Returns 0, or -1
 * with errno ENOMEM. */
int pipe_add(struct pipe *p, const char *bytes, size_t n);

/* Throws away what waits and, from now on, what comes. */
void pipe_drop(struct pipe *p, struct pipe_share *share);

#endif
