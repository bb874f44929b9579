/* file.h: whole files: read at once, replaced at once. They block. */
#ifndef PEN_BASE_FILE_H
#define PEN_BASE_FILE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"

/* Appends what the file holds, at most `most` bytes of it, to `text`. Where it
 * may not `wait`, a pipe is refused, and a terminal nobody has typed at. Returns
 * 0, or -1 with a phrase. */
int file_read(const char *path, size_t most, bool wait, struct buffer *text,
    struct error *e);
/* The same of a name in an open directory. */
int file_read_at(int dir, const char *path, size_t most, bool wait,
    struct buffer *text, struct error *e);

/* Puts `text` into the file's place: a temporary file beside it is written and
 * renamed, so that a reader sees the old one or the new one. With `durable` it
 * is synchronised before, so that a crash leaves one of them too. It keeps the
 * mode of the old one, else gets 0644 less the umask. A symbolic link stays one.
 * What is no regular file (a terminal, a pipe that somebody reads) is written to
 * as it is. Returns 0, or -1 with a phrase; then the old file is still there. */
int file_replace(
    const char *path, const struct buffer *text, bool durable, struct error *e);

#endif
