/* forks_preload.c: fork() as with a limit of processes. pen preloads this. The
 * file that PEN_TEST_FORKS names has the number of those that still succeed, as
 * an int in the machine's order; -1: all do. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

pid_t
fork(void)
{
	static pid_t (*real)(void);
	static atomic_int *left;
	const char *path = getenv("PEN_TEST_FORKS");
	int fd, now;

	if (real == NULL)
		real = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
	if (left == NULL && path != NULL && (fd = open(path, O_RDWR)) >= 0) {
		left = mmap(NULL, sizeof(*left), PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
		close(fd);
		if (left == MAP_FAILED)
			left = NULL;
	}
	if (left != NULL && (now = atomic_load(left)) >= 0) {
		if (now == 0) {
			errno = EAGAIN;
			return -1;
		}
		atomic_fetch_sub(left, 1);
	}
	return real();
}
