/* memory.c: see memory.h. */
#include "config.h"

#ifdef HAVE_MALLOPT
#include <malloc.h>
#endif

#include "base/memory.h"

/* What a slow client refuses of a first read of 64 KB. A stream of TLS has blocks of
 * 17 KB all the time, which come and go more cheaply in the heap. */
enum { LARGE = 20 * 1024 };

void
memory_return_large(void)
{
#if defined(HAVE_MALLOPT) && defined(M_MMAP_THRESHOLD)
	(void)mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
}
