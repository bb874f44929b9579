/* huge.c: memory on huge pages; see huge.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/huge.h"

void
huge_advise(void *memory, size_t size)
{
#ifdef MADV_HUGEPAGE
	(void)madvise(memory, size, MADV_HUGEPAGE);
#else
	(void)memory, (void)size;
#endif
}

void *
huge_alloc(size_t size)
{
	size_t whole = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	void *memory = aligned_alloc(HUGE_PAGE, whole);

	if (memory != NULL)
		huge_advise(memory, whole);
	return memory;
}

void *
huge_grow(void *old, size_t used, size_t size)
{
	void *new;

	if (size < HUGE_PAGE)
		return realloc(old, size);
	new = huge_alloc(size);
	if (new == NULL)
		return NULL;
	if (used > 0)
		memcpy(new, old, used);
	free(old);
	return new;
}
