/* buffer.h: a queue of bytes.
 *
 *     data         start            end              size
 *      |  consumed |  waiting        |  free          |
 *
 * Bytes are appended at `end` and consumed at `start`; the size is at first
 * what is needed, and grows by doubling. A buffer that becomes empty frees its
 * memory: an idle one owns none. */
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

/* NULL while the buffer has no memory: NULL + 0 is undefined in C11. */
static inline const char *
buffer_bytes(const struct buffer *b)
{
	return b->start > 0 ? b->data + b->start : b->data;
}

/* Makes at least `room` bytes free after `end`, by moving the waiting bytes
 * to the front or by growing. Returns where to write, or NULL with errno
 * ENOMEM and the buffer as it was. The caller reports with buffer_added() how
 * many bytes it has written there. */
char *buffer_reserve(struct buffer *b, size_t room);
void buffer_added(struct buffer *b, size_t n);

/* Copies `n` bytes to the end. Returns 0, or -1 with errno ENOMEM. */
int buffer_append(struct buffer *b, const void *bytes, size_t n);

/* Drops the bytes appended last until `n` are left. */
void buffer_cut(struct buffer *b, size_t n);

/* Drops all bytes and keeps the memory: for one buffer that many streams share,
 * which is filled and emptied again and again. */
void buffer_clear(struct buffer *b);

/* Drops `n` bytes from the start. Frees the memory if none are left. */
void buffer_consume(struct buffer *b, size_t n);

#endif
