/* buffer.c: growing and shrinking of byte buffers. */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

enum { SIZE_MIN = 256 };

void
buffer_init(struct buffer *b)
{
	*b = (struct buffer){ .data = NULL };
}

void
buffer_fini(struct buffer *b)
{
	free(b->data);
	buffer_init(b);
}

/* The first memory is of the size that is needed: many buffers are filled only
 * once, as with what a slow client refuses. To double from SIZE_MIN on took a
 * fifth more for each of 1,000 such clients. */
static int
buffer_grow(struct buffer *b, size_t need)
{
	size_t size = b->size > 0 ? b->size : need;
	char *data;

	if (need > SIZE_MAX / 2) {
		errno = ENOMEM;
		return -1;
	}
	if (size < SIZE_MIN)
		size = SIZE_MIN;
	while (size < need)
		size *= 2;
	data = realloc(b->data, size);
	if (data == NULL)
		return -1;
	b->data = data;
	b->size = size;
	return 0;
}

char *
buffer_reserve(struct buffer *b, size_t room)
{
	size_t length = buffer_length(b);

	if (b->size - b->end >= room && b->data != NULL)
		return b->data + b->end;
	if (room > SIZE_MAX - b->end) {
		errno = ENOMEM;
		return NULL;
	}
	/* Moving is cheap when it frees at least as much as it copies. */
	if (b->start >= length && b->size - length >= room && b->data != NULL) {
		memmove(b->data, b->data + b->start, length);
		b->start = 0;
		b->end = length;
	} else if (buffer_grow(b, b->end + room) < 0) {
		return NULL;
	}
	return b->data + b->end;
}

void
buffer_added(struct buffer *b, size_t n)
{
	b->end += n;
}

int
buffer_append(struct buffer *b, const void *bytes, size_t n)
{
	char *at;

	if (n == 0) /* an empty buffer stays without memory */
		return 0;
	at = buffer_reserve(b, n);
	if (at == NULL)
		return -1;
	memcpy(at, bytes, n);
	buffer_added(b, n);
	return 0;
}

void
buffer_consume(struct buffer *b, size_t n)
{
	b->start += n;
	if (b->start == b->end)
		buffer_fini(b);
}

void
buffer_clear(struct buffer *b)
{
	b->start = b->end = 0;
}

void
buffer_cut(struct buffer *b, size_t n)
{
	if (n >= buffer_length(b))
		return;
	b->end = b->start + n;
	if (n == 0)
		buffer_fini(b);
}
