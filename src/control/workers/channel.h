/* channel.h: messages between a leader and a worker: over a pair of
 * sockets, in order, of CHANNEL_MAX bytes at most, with descriptors beside
 * them. Both ends are the same program; what comes is trusted. */
#ifndef PEN_CONTROL_CHANNEL_H
#define PEN_CONTROL_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/list.h"
#include "net/passed.h"

enum { CHANNEL_MAX = 256 * 1024 * 1024 };

struct channel {
	int fd;		      /* -1: closed */
	struct buffer in;     /* of the message that is not complete yet */
	struct buffer out;    /* for which there was no room yet */
	struct buffer out_fds; /* the descriptors in it */
	uint64_t flushed;      /* bytes, in all */
	struct list messages; /* that have come, in order */
	struct passed passed; /* descriptors that have come, and .. */
	unsigned sent, taken; /* .. how many there were in all, and before */
};

struct message {
	struct list link;
	unsigned type;
	unsigned fds; /* descriptors until then; see channel_fds() */
	size_t length;
	char bytes[];
};

/* Opens both ends. Returns 0, or -1 with errno. */
int channel_open_pair(struct channel *a, struct channel *b);
/* Closes the channel, and drops messages that were not taken. */
void channel_close(struct channel *c);

/* Sends as much of it as there is room for, and keeps the rest, without
 * waiting. Returns 0, or -1: no memory; then the other end would not understand
 * what follows. When the other end is gone it is dropped. */
int channel_post(struct channel *c, unsigned type, const void *bytes, size_t n);
/* The same of a descriptor, which stays the caller's, in front of the next
 * message. Returns 0, or -1: it will not come, as this process has no memory or
 * descriptors; nor does it when the system takes no more of them. */
int channel_post_fd(struct channel *c, int fd);
/* Sends of what is kept as much as there is room for. Returns how much is left;
 * 0 also when the other end is gone. */
size_t channel_flush(struct channel *c);
/* Waits until nothing is left, at most `ms`. */
void channel_empty(struct channel *c, uint64_t ms);

/* Reads what is there. Returns 0, or -1: the other end is gone; what it sent
 * before is among the messages. */
int channel_read(struct channel *c);
/* The next message, the caller's to free, or NULL. */
struct message *channel_next(struct channel *c);
/* How many of those that came with a message, or before it, nothing has taken:
 * the first ones of `passed`. */
unsigned channel_fds(const struct channel *c, const struct message *m);
/* Closes those of them that were not taken (-1). */
void channel_drop_fds(struct channel *c, const struct message *m);
/* Waits for a message of one of two types, at most `ms`, and takes it; others
 * stay, in order. What is kept is sent meanwhile. NULL: there was none in time,
 * or the other end is gone. */
struct message *channel_wait(
    struct channel *c, unsigned type, unsigned other, uint64_t ms);

#endif
