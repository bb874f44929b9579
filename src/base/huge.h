/* huge.h: memory in huge pages, for large tables that are read at random: with
 * them an access needs no walk through the page tables. On systems without huge
 * pages it is ordinary memory. Freed with free(). */
#ifndef PEN_BASE_HUGE_H
#define PEN_BASE_HUGE_H

#include <stddef.h>

enum { HUGE_PAGE = 1 << 21 };

/* Of whole, aligned ones: the kernel may use huge pages for it, at once where
 * nothing was written yet, else some time later. */
void huge_advise(void *memory, size_t size);
/* Returns at least `size` bytes in whole huge pages, or NULL with errno
 * ENOMEM. */
void *huge_alloc(size_t size);
/* As realloc(), but keeps only the first `used` bytes, and uses huge pages once
 * `size` is that of one. `old` may be NULL. Returns NULL with errno ENOMEM and
 * `old` as it was. */
void *huge_grow(void *old, size_t used, size_t size);

#endif
