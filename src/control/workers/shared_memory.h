/* shared_memory.h: memory of several processes, in which each writes its own
 * part, and any may read all parts.
 *
 *     part 0          part 1          ..
 *     | A | B | ..    | A | B | ..          A, B: the same places of each
 *
 * It exists before the processes that share it are forked. Places are given by
 * each of them, in the same order, and never given back. Pages in which nothing
 * was written take no memory. In front of A the last part has a number. */
#ifndef PEN_CONTROL_SHARED_MEMORY_H
#define PEN_CONTROL_SHARED_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shared_memory {
	char *parts; /* NULL: closed */
	size_t size; /* of a part */
	unsigned count;
	unsigned own;  /* the part of this process */
	uint32_t used; /* of each part, in lines of the cache */
};

/* Zeroed memory with room for at least three times what is used of other
 * memory, where places are the same. Returns 0, or -1 with errno. */
int shared_memory_open(struct shared_memory *m, unsigned parts, uint32_t used);
void shared_memory_close(struct shared_memory *m);
/* A place for so many bytes; 0: there is no room. */
uint32_t shared_memory_take(struct shared_memory *m, size_t bytes);
/* Whether so much is used that other memory should be opened. */
bool shared_memory_is_used_up(const struct shared_memory *m);

enum { SHARED_MEMORY_LINE = 64 };

static inline void *
shared_memory_at(const struct shared_memory *m, unsigned part, uint32_t place)
{
	return m->parts + part * m->size + (size_t)place * SHARED_MEMORY_LINE;
}

static inline _Atomic uint32_t *
shared_memory_number(const struct shared_memory *m)
{
	return shared_memory_at(m, m->count - 1, 0);
}

#endif
