/* memory.h: memory for structures that come and go with each client. */
#ifndef PEN_BASE_MEMORY_H
#define PEN_BASE_MEMORY_H

#include <stdlib.h>
#include <string.h>

/* As calloc(1, size), for small structures on busy paths: glibc's calloc() does
 * not use the thread's cache, from which malloc() and free() are served most
 * cheaply. Returns NULL with errno ENOMEM. Freed with free(). */
static inline void *
memory_zeroed(size_t size)
{
	void *m = malloc(size);

#ifdef __GNUC__
	/* Without this the compiler would turn both calls into calloc(), or
	 * memset() into "rep stos", which is slow to begin. */
	__asm__("" : "+r"(m), "+r"(size));
#endif
	return m != NULL ? memset(m, 0, size) : NULL;
}

#endif
