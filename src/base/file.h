/* file.h: reads and replaces whole files. All functions may block. A short
 * message lacks the file's name; see error.h. */
#ifndef PEN_BASE_FILE_H
#define PEN_BASE_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"

/* Appends the content of a file, at most `most` bytes, to `text`. Unless `wait`
 * is set, pipes are refused, and so is a terminal on which nothing was typed.
 * A file that changes while it is read is refused: half of it may be missing.
 * Returns 0, or -1 with a short message. */
int file_read(const char *path, size_t most, bool wait, struct buffer *text,
    struct error *e);
/* The same for a name in an open directory. */
int file_read_at(int dir, const char *path, size_t most, bool wait,
    struct buffer *text, struct error *e);

/* Opens a listing of an open directory, from its beginning; for closedir().
 * NULL with a short message. */
DIR *file_list_at(int dir, struct error *e);

/* Opens a file for writing, with the flags and mode of open(2). If the last
 * component is a symbolic link, it is followed only if root or this user made
 * it: in a directory that others may write to, root must not write where the
 * link of another user leads. Returns the descriptor, or -1 with a short
 * message. */
int file_open_own(const char *path, int flags, mode_t mode, struct error *e);

/* Checks that a file of that path could be created: that its directory may be
 * written to. Returns 0, or -1 with a short message. */
int file_may_make(const char *path, struct error *e);
/* Checks that file_open_own() could open the file for writing or create it.
 * Opens an existing file, but creates none. Returns 0, or -1 with a short
 * message. */
int file_may_write(const char *path, struct error *e);

/* Replaces the content of a file. Writes a temporary file beside it and renames
 * that, so that readers see either the old content or the new. With `durable`
 * the temporary file is synchronised first, so that the same holds after a
 * crash. The file keeps its permissions; a new one gets 0644 less the umask. A
 * symbolic link stays a link; which links are followed is described at
 * file_open_own(). A terminal, or a pipe that is being read, is written to
 * directly if it takes all of it at once. Returns 0, or -1 with a short message
 * and the old file in place. */
int file_replace(
    const char *path, const struct buffer *text, bool durable, struct error *e);

/* The same, durable, for a file that people keep: the new one belongs to its
 * owner and group too, and `old`, what is in it now, is kept beside it in
 * "FILE~". A file of root's becomes this user's where it cannot stay root's, if
 * its group can be kept. A file that would stay the same is left alone. `old`
 * NULL is for a file that is not there yet, which gets `mode` less the umask.
 * Returns 0, or -1 with a short message and the old file in place. */
int file_replace_kept(const char *path, const struct buffer *old,
    const struct buffer *text, mode_t mode, struct error *e);

#endif
