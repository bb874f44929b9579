/* huge.h: memory that asks for huge pages: large tables that are read here and
 * there spare the walk through the page tables for each far entry. Where a
 * system has no such pages it is memory like any other. Given back by
 * free(). */
#ifndef PEN_BASE_HUGE_H
#define PEN_BASE_HUGE_H

#include <stddef.h>

enum { HUGE_PAGE = 1 << 21 };

/* Whole huge pages, or NULL with errno ENOMEM. */
void *huge_alloc(size_t size);
/* As realloc(), of which `used` bytes are kept: in huge pages from the size of
 * one on. `old` may be NULL. Returns NULL with errno ENOMEM, `old` being as it
 * was. */
void *huge_grow(void *old, size_t used, size_t size);

#endif
