/* file.h: whole files: read at once, replaced at once. They block. */
#ifndef PEN_BASE_FILE_H
#define PEN_BASE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"

/* Appends what the file holds, at most `most` bytes of it, to `text`. Where it
 * may not `wait`, a pipe is refused, and a terminal nobody has typed at.
 * Returns 0, or -1 with a phrase. */
int file_read(const char *path, size_t most, bool wait, struct buffer *text,
    struct error *e);
/* The same of a name in an open directory. */
int file_read_at(int dir, const char *path, size_t most, bool wait,
    struct buffer *text, struct error *e);

/* Opens a file to write to, with the flags and mode of open(2). A symbolic link
 * in the last component is followed only if root or this user made it: root
 * must not write where somebody else's link leads, as in a directory that
 * others may write. Returns the descriptor, or -1 with a phrase. */
int file_open_own(const char *path, int flags, mode_t mode, struct error *e);

/* Whether a file could be made there, where none is: its directory takes it.
 * Returns 0, or -1 with a phrase. */
int file_may_make(const char *path, struct error *e);
/* Whether file_open_own() could open it to write to, or make it; opens what is
 * there, makes nothing. Returns 0, or -1 with a phrase. */
int file_may_write(const char *path, struct error *e);

/* Replaces the file by `text`: writes a temporary file beside it and renames
 * that, so that a reader sees the old file or the new one. With `durable` it
 * synchronises first, so that a crash leaves one of them too. The new file has
 * the permissions of the old one, else 0644 less the umask. A symbolic link
 * stays one; whose links are followed file_open_own() says. What is no regular
 * file (a terminal, a pipe that somebody reads) is written to as it is, which fails
 * when its reader takes more than two seconds. Returns 0, or -1 with a phrase; then
 * the old file is still there. */
int file_replace(
    const char *path, const struct buffer *text, bool durable, struct error *e);

#endif
