/* memory.h: memory for things that come and go with each client. */
#ifndef PEN_BASE_MEMORY_H
#define PEN_BASE_MEMORY_H

#include <stdlib.h>
#include <string.h>

/* As calloc(1, size), for small things on busy paths: glibc's calloc() takes
 * nothing from the thread's cache, which malloc() and free() serve most
 * cheaply. NULL with errno ENOMEM; to be freed with free(). */
static inline void *
memory_zeroed(size_t size)
{
	void *m = malloc(size);

#ifdef __GNUC__
	/* Or the compiler would make one calloc() of both calls. */
	__asm__("" : "+r"(m));
#endif
	return m != NULL ? memset(m, 0, size) : NULL;
}

#endif
