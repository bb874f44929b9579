/* memory.h: memory that comes and goes with each client. */
#ifndef PEN_BASE_MEMORY_H
#define PEN_BASE_MEMORY_H

#include <stdlib.h>
#include <string.h>

/* From now on the system gets blocks of 20 KB or more back as soon as they are freed.
 * glibc would keep them in its heap, in whose holes smaller blocks then lie: 1,000
 * clients that read 1 Mbit/s each took 30 to 36 KB, and take 11 to 12. Where there is
 * no mallopt(3) nothing changes. */
void memory_return_large(void);

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
