/* buffer.h: bytes waiting to go on, with their positions.
 *
 *     data         start            end              size
 *      |  gone     |  waiting        |  room          |
 *
 * Bytes are appended at end and consumed at start; size grows by doubling.
 * A buffer that becomes empty gives its memory back: an idle one owns none. */
#ifndef PEN_BASE_BUFFER_H
#define PEN_BASE_BUFFER_H

#include <stddef.h>

struct buffer {
	char *data;
	size_t start, end, size;
};

void buffer_init(struct buffer *b);
void buffer_fini(struct buffer *b);

static inline size_t
buffer_length(const struct buffer *b)
{
	return b->end - b->start;
}

static inline const char *
buffer_bytes(const struct buffer *b)
{
	return b->data + b->start;
}

/* Makes at least `room` bytes free behind end, moving what waits to the front
 * or growing. Returns where to write, or NULL with errno ENOMEM, the buffer as
 * it was. Follow with buffer_added(). */
char *buffer_reserve(struct buffer *b, size_t room);
void buffer_added(struct buffer *b, size_t n);

/* Copies `n` bytes to the end. Returns 0, or -1 with errno ENOMEM. */
int buffer_append(struct buffer *b, const void *bytes, size_t n);

/* Drops what was appended last, so that `n` bytes are left. */
void buffer_cut(struct buffer *b, size_t n);

/* Drops `n` bytes from the start; frees the memory when nothing is left. */
void buffer_consume(struct buffer *b, size_t n);

#endif
