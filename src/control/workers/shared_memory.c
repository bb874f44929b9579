/* shared_memory.c: see shared_memory.h. */
#include "config.h"

#include <errno.h>
#include <sys/mman.h>

#include "control/workers/shared_memory.h"

#ifndef MAP_NORESERVE /* where memory is never reserved */
#define MAP_NORESERVE 0
#endif

enum { LINE = SHARED_MEMORY_LINE, MOST = 256 << 20, LEAST = 1 << 20 };

/* Reserves much more memory than is used; less, where addresses are scarce or
 * memory is reserved for good. */
int
shared_memory_open(struct shared_memory *m, unsigned parts, uint32_t used)
{
	size_t least = LEAST + (size_t)used * LINE * 4;
	size_t size = least < MOST ? MOST : least;
	void *at = MAP_FAILED;

	*m = (struct shared_memory){ .count = parts,
		.used = used > 0 ? used : 1 };
	for (; at == MAP_FAILED && size >= least; size /= 2) {
		m->size = size;
		if (size <= SIZE_MAX / parts)
			at = mmap(NULL, size * parts, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		else
			errno = ENOMEM;
	}
	if (at == MAP_FAILED)
		return -1;
	m->parts = at;
	return 0;
}

void
shared_memory_close(struct shared_memory *m)
{
	if (m->parts != NULL)
		(void)munmap(m->parts, m->size * m->count);
	m->parts = NULL;
}

uint32_t
shared_memory_take(struct shared_memory *m, size_t bytes)
{
	size_t lines = (bytes + LINE - 1) / LINE;
	uint32_t place = m->used;

	if ((place + lines) * LINE > m->size)
		return 0;
	m->used += (uint32_t)lines;
	return place;
}

bool
shared_memory_is_used_up(const struct shared_memory *m)
{
	return (size_t)m->used * LINE > m->size / 4 * 3;
}
