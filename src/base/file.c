/* file.c: reading and replacing files. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { CHUNK = 16 * 1024, LINKS_MAX = 8 };

/* ENXIO, "No such device or address", is no help: the file is there. Of devices
 * the driver is not, or the terminal behind /dev/tty. */
static int
file_error(struct error *e)
{
	return error_set(e, "%s",
	    errno == ENXIO ? "it is a socket, a pipe without a reader, or a "
			     "device that is not there"
			   : strerror(errno));
}

/* A pipe that is opened without waiting would read as an empty file while it
 * has no writer, so it is refused. */
static int
open_to_read(int dir, const char *path, bool wait, struct error *e)
{
	int fd = openat(dir, path,
	    O_RDONLY | O_CLOEXEC | O_NOCTTY | (wait ? 0 : O_NONBLOCK));
	struct stat st;

	if (fd < 0)
		return file_error(e);
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

/* Whether it was written to since. */
static bool
has_changed(int fd, const struct stat *before)
{
	struct stat st;

	return fstat(fd, &st) == 0 &&
	    (st.st_size != before->st_size ||
#ifdef __linux__
		st.st_mtim.tv_nsec != before->st_mtim.tv_nsec ||
#endif
		st.st_mtime != before->st_mtime);
}

int
file_read_at(int dir, const char *path, size_t most, bool wait,
    struct buffer *text, struct error *e)
{
	int fd = open_to_read(dir, path, wait, e);
	struct stat before;
	ssize_t n = 1;
	char *at;

	if (fd < 0)
		return -1;
	if (fstat(fd, &before) < 0)
		before.st_mode = 0;
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
	if (n != 0 && errno == EAGAIN) {
		error_set(e, "cannot be read without waiting: it is a terminal "
			     "or a pipe");
	} else if (n != 0) {
		file_error(e);
	} else if (S_ISREG(before.st_mode) && has_changed(fd, &before)) {
		error_set(e, "was changed while it was read");
		n = -1;
	}
	close(fd);
	return n == 0 ? 0 : -1;
}

DIR *
file_list_at(int dir, struct error *e)
{
	int fd = openat(dir, ".", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

	if (d == NULL) {
		file_error(e);
		if (fd >= 0)
			close(fd);
	}
	return d;
}

/* ---- symbolic links ---- */

/* Reads the target and the owner of a symbolic link. With O_PATH both are of
 * the same link, even if another is renamed over it meanwhile. Returns the
 * target's length, or -1 with errno, EINVAL or ELOOP if `path` is no link.
 */
static ssize_t
file_read_link(const char *path, char target[PATH_MAX], struct stat *st)
{
#ifdef O_PATH
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = -1;
	int saved;

	if (fd < 0)
		return -1;
	if (fstat(fd, st) == 0 && S_ISLNK(st->st_mode))
		n = readlinkat(fd, "", target, PATH_MAX);
	else
		errno = EINVAL;
	saved = errno;
	close(fd);
	errno = saved;
	return n;
#else
	return lstat(path, st) < 0 ? -1 : readlink(path, target, PATH_MAX);
#endif
}

/* Returns the path to which the link `name` leads, if this user may follow it;
 * `links` links were followed before. The caller frees it. Returns NULL with a
 * short message if not. */
static char *
follow_link(const char *name, const char *target, size_t n,
    const struct stat *st, int links, struct error *e)
{
	const char *slash = strrchr(name, '/');
	/* A relative target is relative to the directory of the link. */
	size_t dir =
	    target[0] == '/' || slash == NULL ? 0 : (size_t)(slash - name) + 1;
	char *next = NULL;

	if (st->st_uid != 0 && st->st_uid != geteuid()) {
		error_set(e, "is a symbolic link of another user");
		return NULL;
	}
	if (links >= LINKS_MAX)
		errno = ELOOP;
	else if (n >= PATH_MAX)
		errno = ENAMETOOLONG;
	else
		next = malloc(dir + n + 1);
	if (next == NULL) {
		file_error(e);
		return NULL;
	}
	memcpy(next, name, dir);
	memcpy(next + dir, target, n);
	next[dir + n] = '\0';
	return next;
}

/* A name in /proc/self/fd, to which /dev/stdout leads, is a link to a pipe or a
 * socket if its target reads "pipe:[123]". Only the kernel can follow that. */
static bool
is_kernels(const char *name, const char *target)
{
	return strncmp(name, "/proc/", 6) == 0 && target[0] != '/';
}

/* Follows symbolic links from `path` as far as this user may. Returns the path
 * to write to, which need not exist; the caller frees it. Returns NULL with a
 * short message on failure. */
static char *
follow_own_links(const char *path, struct error *e)
{
	char *name = strdup(path), *next, target[PATH_MAX];
	struct stat st;
	ssize_t n;
	int links = 0;

	if (name == NULL)
		file_error(e);
	while (name != NULL && (n = file_read_link(name, target, &st)) >= 0 &&
	    !is_kernels(name, target)) {
		next = follow_link(name, target, (size_t)n, &st, links++, e);
		free(name);
		name = next;
	}
	return name;
}

/* Opens a path that follow_own_links() returned. A link that was put there
 * since is not followed. */
static int
open_followed(const char *name, int flags, mode_t mode)
{
	if (strncmp(name, "/proc/", 6) != 0)
		flags |= O_NOFOLLOW;
	return open(name, flags | O_CLOEXEC | O_NOCTTY, mode);
}

int
file_open_own(const char *path, int flags, mode_t mode, struct error *e)
{
	char *name = follow_own_links(path, e);
	int fd;

	if (name == NULL)
		return -1;
	fd = open_followed(name, flags, mode);
	if (fd < 0)
		file_error(e);
	free(name);
	return fd;
}

/* ---- could it be written? ---- */

int
file_may_make(const char *path, struct error *e)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash != NULL ? (size_t)(slash - path) + 1 : 0;
	char *dir = malloc(n + sizeof("."));
	int rc;

	if (dir == NULL)
		return file_error(e);
	memcpy(dir, path, n);
	memcpy(dir + n, ".", sizeof("."));
	rc = faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) == 0
	    ? 0
	    : file_error(e);
	free(dir);
	return rc;
}

int
file_may_write(const char *path, struct error *e)
{
	char *name = follow_own_links(path, e);
	struct stat st;
	int fd = -1, rc = 0;

	if (name == NULL)
		return -1;
	errno = ENOENT;
	if (name[0] == '\0')
		rc = file_error(e);
	else if (lstat(name, &st) < 0 && errno == ENOENT)
		rc = file_may_make(name, e);
	else if ((fd = open_followed(
		      name, O_WRONLY | O_APPEND | O_NONBLOCK, 0)) < 0)
		rc = file_error(e);
	if (fd >= 0)
		close(fd);
	free(name);
	return rc;
}

/* ---- writing ---- */

/* What a pipe may be made to hold, by any user (pipe(7)). */
enum { PIPE_MOST = 1024 * 1024 };

static int
file_write_all(int fd, const struct buffer *text)
{
	size_t done = 0, all = buffer_length(text);
	ssize_t n;

	while (done < all) {
		n = write(fd, buffer_bytes(text) + done, all - done);
		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno != EINTR)
			return -1;
	}
	return 0;
}

/* Writes to a pipe or a terminal what it takes at once, without waiting for its
 * reader. Fails if the pipe has no reader, where a blocking open would wait,
 * and if not all of it fits. */
static int
write_through(const char *path, const struct buffer *text, struct error *e)
{
	int fd = open_followed(path, O_WRONLY | O_NONBLOCK, 0), rc;

	if (fd < 0)
		return file_error(e);
#ifdef F_SETPIPE_SZ
	if (buffer_length(text) > PIPE_BUF && buffer_length(text) < PIPE_MOST)
		(void)fcntl(fd, F_SETPIPE_SZ, (int)(2 * buffer_length(text)));
#endif
	rc = file_write_all(fd, text);
	if (rc < 0 && errno == EAGAIN)
		error_set(e, "full: its reader is too slow");
	else if (rc < 0)
		file_error(e);
	close(fd);
	return rc;
}

/* What a file is to be like. */
struct like {
	mode_t mode;
	bool durable;
	const struct stat *owner; /* NULL: the process that writes it */
};

/* Root's file may become this user's, who may replace it anyhow, and root may
 * still do all; another owner would lose it. */
static int
keep_owner(int fd, const struct stat *o)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -1;
	if ((st.st_uid == o->st_uid && st.st_gid == o->st_gid) ||
	    fchown(fd, o->st_uid, o->st_gid) == 0)
		return 0;
	if (errno != EPERM || o->st_uid != 0)
		return -1;
	return st.st_gid == o->st_gid ? 0 : fchown(fd, (uid_t)-1, o->st_gid);
}

/* The owner goes first: that takes some bits of the mode away. */
static int
make_like(int fd, const struct like *like)
{
	if (like->owner != NULL && keep_owner(fd, like->owner) < 0)
		return -1;
	return fchmod(fd, like->mode);
}

/* Writes the temporary file and renames it to `path`. */
static int
fill_and_rename(int fd, const char *temporary, const char *path,
    const struct like *like, const struct buffer *text)
{
	int rc = 0, saved;

	if (make_like(fd, like) < 0 || file_write_all(fd, text) < 0 ||
	    (like->durable && fsync(fd) < 0))
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

static int
file_write_and_rename(
    const char *real, const struct like *like, const struct buffer *text)
{
	size_t size = strlen(real) + sizeof(".XXXXXX");
	char *temporary = malloc(size);
	int fd, rc, saved;

	if (temporary == NULL)
		return -1;
	snprintf(temporary, size, "%s.XXXXXX", real);
	fd = mkstemp(temporary);
	rc = fd < 0 ? -1 : fill_and_rename(fd, temporary, real, like, text);
	saved = errno;
	free(temporary);
	errno = saved;
	return rc;
}

/* The error about a file that could not be written and renamed. `st` is the one
 * that was to be replaced, or NULL. */
static int
replace_error(const struct stat *st, struct error *e)
{
	if (errno == EBUSY)
		return error_set(e,
		    "is mounted by itself and cannot be replaced: mount its "
		    "directory instead");
	if (errno == EPERM && st != NULL && st->st_uid != geteuid())
		return error_set(e,
		    "belongs to uid %lu, gid %lu, which this process (uid %lu) "
		    "cannot keep: chown it to uid %lu and a group of that user",
		    (unsigned long)st->st_uid, (unsigned long)st->st_gid,
		    (unsigned long)geteuid(), (unsigned long)geteuid());
	if (errno == EACCES || errno == EROFS)
		return error_set(e, "no file can be made in its directory: %s",
		    strerror(errno));
	return file_error(e);
}

/* A new file gets `mode` less the umask. */
static int
replace_all(const char *path, const struct buffer *text, bool durable,
    mode_t mode, struct error *e)
{
	char *real = follow_own_links(path, e);
	mode_t mask = umask(0);
	struct stat st;
	bool there;
	int rc;

	umask(mask);
	if (real == NULL)
		return -1;
	there = lstat(real, &st) == 0;
	if (there && !S_ISREG(st.st_mode)) {
		rc = write_through(real, text, e);
	} else if (!there && errno != ENOENT) {
		rc = file_error(e);
	} else {
		struct like like = { there ? st.st_mode & 0777 : mode & ~mask,
			durable, NULL };

		rc = file_write_and_rename(real, &like, text);
		if (rc < 0)
			replace_error(NULL, e);
	}
	free(real);
	return rc;
}

int
file_replace(
    const char *path, const struct buffer *text, bool durable, struct error *e)
{
	return replace_all(path, text, durable, 0644, e);
}

/* First the copy of the old one, then the new one over it: at each moment there
 * is a whole file of the name. */
static int
write_both(const char *real, const struct buffer *old,
    const struct buffer *text, struct error *e)
{
	size_t size = strlen(real) + sizeof("~");
	char *copy = malloc(size);
	struct stat st, other;
	struct like like = { .durable = true, .owner = &st };
	bool had_copy;
	int rc = -1, saved;

	if (copy == NULL || lstat(real, &st) < 0) {
		free(copy);
		return file_error(e);
	}
	like.mode = st.st_mode & 0777;
	snprintf(copy, size, "%s~", real);
	had_copy = lstat(copy, &other) == 0;
	if (file_write_and_rename(copy, &like, old) == 0) {
		rc = file_write_and_rename(real, &like, text);
		saved = errno;
		if (rc < 0 && !had_copy)
			(void)unlink(copy);
		errno = saved;
	}
	if (rc < 0)
		replace_error(&st, e);
	free(copy);
	return rc;
}

int
file_replace_kept(const char *path, const struct buffer *old,
    const struct buffer *text, mode_t mode, struct error *e)
{
	size_t n = buffer_length(text);
	char *real;
	int rc;

	if (old == NULL)
		return replace_all(path, text, true, mode, e);
	if (n == buffer_length(old) &&
	    (n == 0 || memcmp(buffer_bytes(old), buffer_bytes(text), n) == 0))
		return 0;
	real = follow_own_links(path, e);
	if (real == NULL)
		return -1;
	rc = write_both(real, old, text, e);
	free(real);
	return rc;
}
