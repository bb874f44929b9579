/* output.c: writes to descriptors of others without waiting. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"

/* What a pipe takes at once, or not at all, without blocking its writer when
 * poll(2) has reported that it is writable (pipe(7)). */
enum { PIPE_PIECE = 4096, PATH_SIZE = 64 };

void
output_fill_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* ---- our own ---- */

/* In /proc even a pipe has a name, and a terminal of another container. */
static int
output_open_again(int fd)
{
	int flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, again = -1;
	char path[PATH_SIZE];

#ifdef __linux__
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, flags);
#endif
	if (again < 0 && ttyname_r(fd, path, sizeof(path)) == 0)
		again = open(path, flags);
	return again;
}

void
output_own(int fd)
{
	int flags = fcntl(fd, F_GETFL), again;
	struct stat st;

	if (flags < 0 || (flags & O_NONBLOCK) != 0 ||
	    (flags & O_ACCMODE) == O_RDONLY || fstat(fd, &st) < 0 ||
	    (!S_ISFIFO(st.st_mode) && !isatty(fd)))
		return; /* it does not block */
	again = output_open_again(fd);
	if (again < 0)
		return;
	(void)dup2(again, fd);
	close(again);
}

/* ---- writing ---- */

static bool
output_has_room(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	if (poll(&p, 1, 0) == 1)
		return true;
	errno = EAGAIN;
	return false;
}

/* That a terminal is writable means only that one byte fits. */
static ssize_t
write_terminal(int fd, int flags, const void *bytes, size_t n)
{
	ssize_t written;
	int saved;

	if (!output_has_room(fd) || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -1;
	written = write(fd, bytes, n);
	saved = errno;
	(void)fcntl(fd, F_SETFL, flags);
	errno = saved;
	return written;
}

ssize_t
output_write(int fd, const void *bytes, size_t n)
{
	struct stat st;
	int flags;

	if (fstat(fd, &st) < 0)
		return -1;
	if (S_ISREG(st.st_mode))
		return write(fd, bytes, n);
	if (S_ISSOCK(st.st_mode))
		return send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || (flags & O_NONBLOCK) != 0)
		return write(fd, bytes, n);
	if (!S_ISFIFO(st.st_mode))
		return write_terminal(fd, flags, bytes, n);
	if (!output_has_room(fd))
		return -1;
	return write(fd, bytes, n < PIPE_PIECE ? n : PIPE_PIECE);
}
