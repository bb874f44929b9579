/* huge.c: memory on huge pages; see huge.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/huge.h"

static size_t
whole_pages(size_t size)
{
	return (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

static void
advise_huge_pages(void *memory, size_t size)
{
#ifdef MADV_HUGEPAGE
	(void)madvise(memory, size, MADV_HUGEPAGE);
#else
	(void)memory, (void)size;
#endif
}

static void *
huge_alloc(size_t size)
{
	void *memory = aligned_alloc(HUGE_PAGE, whole_pages(size));

	if (memory != NULL)
		advise_huge_pages(memory, whole_pages(size));
	return memory;
}

void *
huge_next_slab(void *full, size_t size)
{
	void *slab = aligned_alloc(HUGE_PAGE, whole_pages(size));

	if (slab != NULL && full != NULL)
		advise_huge_pages(full, whole_pages(size));
	return slab;
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
