/* spares.h: blocks of one size that come and go quickly, such as one for each
 * query: some that were freed are kept for the next ones. A C library keeps
 * only a few itself, and takes five times as long for more. */
#ifndef PEN_BASE_SPARES_H
#define PEN_BASE_SPARES_H

#include <stdlib.h>
#include <string.h>

/* With sanitizers a block that is kept must not be used. */
#ifdef PEN_SANITIZE
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)(at))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at))
#endif

struct spares {
	void *first; /* each begins with the address of the next */
	size_t size; /* bytes of a block, at least those of a pointer */
	unsigned count, most;
};

/* No block is kept yet, and never more than `most`. */
static inline void
spares_init(struct spares *s, size_t size, unsigned most)
{
	*s = (struct spares){ .size = size, .most = most };
}

/* A block, whose bytes may be any, to spares_free(); or NULL with errno ENOMEM.
 */
static inline void *
spares_allocate(struct spares *s)
{
	void *block = s->first;

	if (s->count == 0)
		return malloc(s->size);
	ASAN_UNPOISON_MEMORY_REGION(block, s->size);
	memcpy(&s->first, block, sizeof(s->first));
	s->count--;
	return block;
}

static inline void
spares_free(struct spares *s, void *block)
{
	if (s->count == s->most) {
		free(block);
		return;
	}
	memcpy(block, &s->first, sizeof(s->first));
	ASAN_POISON_MEMORY_REGION(block, s->size);
	s->first = block;
	s->count++;
}

/* Frees those that are kept; the others stay their users'. */
static inline void
spares_fini(struct spares *s)
{
	while (s->count > 0)
		free(spares_allocate(s));
}

#endif
