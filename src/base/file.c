/* file.c: reading and replacing files. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { CHUNK = 16 * 1024 };

static int
why(struct error *e)
{
	return error_set(e, "%s", strerror(errno));
}

/* A pipe opened without waiting looks like an empty file while nobody writes. */
static int
open_to_read(int dir, const char *path, bool wait, struct error *e)
{
	int fd = openat(dir, path,
	    O_RDONLY | O_CLOEXEC | O_NOCTTY | (wait ? 0 : O_NONBLOCK));
	struct stat st;

	if (fd < 0)
		return why(e);
	if (wait || fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
		return fd;
	close(fd);
	return error_set(e, "is a pipe");
}

int
file_read(const char *path, size_t most, bool wait, struct buffer *text,
    struct error *e)
{
	return file_read_at(AT_FDCWD, path, most, wait, text, e);
}

int
file_read_at(int dir, const char *path, size_t most, bool wait,
    struct buffer *text, struct error *e)
{
	int fd = open_to_read(dir, path, wait, e);
	ssize_t n = 1;
	char *at;

	if (fd < 0)
		return -1;
	while (n > 0 && (at = buffer_reserve(text, CHUNK)) != NULL) {
		n = read(fd, at, CHUNK);
		if (n < 0 && errno == EINTR) {
			n = 1;
			continue;
		}
		if (n > 0)
			buffer_added(text, (size_t)n);
		if (buffer_length(text) > most) {
			errno = EFBIG;
			n = -1;
		}
	}
	if (n != 0)
		why(e);
	close(fd);
	return n == 0 ? 0 : -1;
}

static int
write_all(int fd, const struct buffer *text)
{
	size_t done = 0, all = buffer_length(text);
	ssize_t n;

	while (done < all) {
		n = write(fd, buffer_bytes(text) + done, all - done);
		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0)
			done += (size_t)n;
	}
	return 0;
}

/* To a pipe that nobody reads it fails, where opening it alone would wait. */
static int
write_through(const char *path, const struct buffer *text, struct error *e)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), rc;

	if (fd < 0)
		return why(e);
	rc = fcntl(fd, F_SETFL, 0) < 0 || write_all(fd, text) < 0 ? why(e) : 0;
	close(fd);
	return rc;
}

/* Fills the temporary file and makes it the real one. */
static int
fill_and_rename(int fd, const char *temporary, const char *path, mode_t mode,
    const struct buffer *text, bool durable)
{
	int rc = 0, saved;

	if (fchmod(fd, mode) < 0 || write_all(fd, text) < 0 ||
	    (durable && fsync(fd) < 0))
		rc = -1;
	saved = errno;
	if (close(fd) < 0 && rc == 0) {
		saved = errno;
		rc = -1;
	}
	if (rc == 0 && rename(temporary, path) < 0) {
		saved = errno;
		rc = -1;
	}
	if (rc < 0)
		unlink(temporary);
	errno = saved;
	return rc;
}

static mode_t
usual_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0644 & ~mask;
}

/* The name that a file is renamed to: a link stays one, its target is replaced,
 * or made if the link leads to nothing. NULL with errno. */
static char *
real_name(const char *path)
{
	char *real = realpath(path, NULL);
	struct stat st;
	int fd;

	if (real != NULL || errno != ENOENT)
		return real;
	if (lstat(path, &st) < 0 || !S_ISLNK(st.st_mode))
		return strdup(path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd < 0)
		return NULL;
	close(fd);
	return realpath(path, NULL);
}

static int
replace(const char *real, mode_t mode, const struct buffer *text, bool durable)
{
	size_t size = strlen(real) + sizeof(".XXXXXX");
	char *temporary = malloc(size);
	int fd, rc, saved;

	if (temporary == NULL)
		return -1;
	snprintf(temporary, size, "%s.XXXXXX", real);
	fd = mkstemp(temporary);
	rc = fd < 0 ? -1
		    : fill_and_rename(fd, temporary, real, mode, text, durable);
	saved = errno;
	free(temporary);
	errno = saved;
	return rc;
}

int
file_replace(
    const char *path, const struct buffer *text, bool durable, struct error *e)
{
	struct stat st;
	bool there = stat(path, &st) == 0;
	char *real;
	int rc;

	if (there && !S_ISREG(st.st_mode))
		return write_through(path, text, e);
	real = real_name(path);
	if (real == NULL)
		return why(e);
	rc = replace(
	    real, there ? st.st_mode & 07777 : usual_mode(), text, durable);
	if (rc < 0)
		why(e);
	free(real);
	return rc;
}
