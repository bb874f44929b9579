/* huge.h: memory in huge pages, for large tables that are read at random: with
 * them an access needs no walk through the page tables. On systems without huge
 * pages it is ordinary memory. Freed with free(). */
#ifndef PEN_BASE_HUGE_H
#define PEN_BASE_HUGE_H

#include <stddef.h>

enum { HUGE_PAGE = 1 << 21 };

/* The next of slabs of `size` bytes that fill one after another, or NULL with
 * errno ENOMEM; only its touched part takes memory. `full` is the one before,
 * or NULL: the kernel may make huge pages of it now, in the background. To get
 * one at a slab's first entry would take 0.3 ms, or 6 where the memory is that
 * of a guest. */
void *huge_next_slab(void *full, size_t size);
/* Like realloc(), but keeps only the first `used` bytes, and uses huge pages
 * once `size` is that of one. `old` may be NULL. Returns NULL with errno ENOMEM
 * and `old` as it was. */
void *huge_grow(void *old, size_t used, size_t size);

#endif
