/* memory.h: memory that comes and goes with each client. */
#ifndef PEN_BASE_MEMORY_H
#define PEN_BASE_MEMORY_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_MALLOPT
#include <malloc.h>
#endif

/* A slow client mostly refuses more than this of a read of 64 KB. The blocks of
 * TLS streams, 17 KB, are smaller: the heap serves them faster. */
enum { MEMORY_LARGE = 20 * 1024 };

/* From now on blocks of MEMORY_LARGE or more go back to the system as soon as
 * they are freed. glibc would keep them in its heap, and put smaller blocks
 * into their place: each of 1,000 clients that read 1 Mbit/s took 30 to 37 KB,
 * and takes 16 to 18 now. Without mallopt(3) nothing changes. */
static inline void
memory_return_large(void)
{
#if defined(HAVE_MALLOPT) && defined(M_MMAP_THRESHOLD)
	(void)mallopt(M_MMAP_THRESHOLD, MEMORY_LARGE);
#endif
}

/* Memory for what recv(2) copies, in the middle of a page: what the kernel has
 * received mostly begins with a page, and to a place a few bytes behind the
 * beginning of one, as malloc() gives for large blocks, some processors (AMD)
 * copy at a fraction of their speed, since the low 12 bits of both addresses
 * overlap. Answers of 16 KiB took 1.5 times the processor time. Freed with
 * memory_free_apart(). Returns NULL with errno ENOMEM. */
enum { MEMORY_PAGE = 4096, MEMORY_APART = MEMORY_PAGE / 2 };

static inline char *
memory_apart(size_t size)
{
	void *m;
	int error = posix_memalign(&m, MEMORY_PAGE, size + MEMORY_APART);

	if (error == 0)
		return (char *)m + MEMORY_APART;
	errno = error;
	return NULL;
}

/* NULL is fine. */
static inline void
memory_free_apart(char *m)
{
	if (m != NULL)
		free(m - MEMORY_APART);
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
