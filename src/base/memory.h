/* memory.h: memory that comes and goes with each client. */
#ifndef PEN_BASE_MEMORY_H
#define PEN_BASE_MEMORY_H

#include <stdlib.h>
#include <string.h>
#ifdef HAVE_MALLOPT
#include <malloc.h>
#endif

/* What a slow client refuses of a read of 64 KB is mostly more. A stream of TLS
 * has blocks of 17 KB all the time, which the heap serves faster. */
enum { MEMORY_LARGE = 20 * 1024 };

/* From now on the system gets blocks of MEMORY_LARGE or more back as soon as
 * they are freed. glibc would keep them in its heap, in whose holes smaller
 * blocks then lie: 1,000 clients that read 1 Mbit/s each took 30 to 37 KB, and
 * take 16 to 18. Without mallopt(3) nothing changes. */
static inline void
memory_return_large(void)
{
#if defined(HAVE_MALLOPT) && defined(M_MMAP_THRESHOLD)
	(void)mallopt(M_MMAP_THRESHOLD, MEMORY_LARGE);
#endif
}

/* Like calloc(1, size), for small structures on busy paths: glibc's calloc()
 * does not use the thread's cache, from which malloc() and free() are served
 * most cheaply. Returns NULL with errno ENOMEM. Freed with free(). */
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
