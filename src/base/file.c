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

int
file_read(const char *path, size_t most, struct buffer *text, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n = 1;
	char *at;

	if (fd < 0)
		return why(e);
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

static int
write_through(const char *path, const struct buffer *text, struct error *e)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), rc;

	if (fd < 0)
		return why(e);
	rc = write_all(fd, text) < 0 ? why(e) : 0;
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

int
file_replace(
    const char *path, const struct buffer *text, bool durable, struct error *e)
{
	size_t size = strlen(path) + sizeof(".XXXXXX");
	char *real = realpath(path, NULL), *temporary;
	bool there;
	struct stat st;
	int fd, rc;

	there = stat(path, &st) == 0;
	if (there && !S_ISREG(st.st_mode)) {
		free(real);
		return write_through(path, text, e);
	}
	if (real != NULL) /* a link stays one: its target is replaced */
		size = strlen(real) + sizeof(".XXXXXX");
	temporary = malloc(size);
	if (temporary == NULL) {
		free(real);
		return why(e);
	}
	snprintf(temporary, size, "%s.XXXXXX", real != NULL ? real : path);
	fd = mkstemp(temporary);
	rc = fd < 0
	    ? -1
	    : fill_and_rename(fd, temporary, real != NULL ? real : path,
		  there ? st.st_mode & 07777 : usual_mode(), text, durable);
	if (rc < 0)
		why(e);
	free(temporary);
	free(real);
	return rc;
}
