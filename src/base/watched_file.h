/* watched_file.h: a file that is read again after it has changed.
 *
 * The file's directory is kept open, so the file is still found after
 * chroot(); whether it may still be read is up to the system. If an absolute
 * path leads to another directory later, for example because a symbolic link
 * was switched, that directory is opened in its place. */
#ifndef PEN_BASE_WATCHED_FILE_H
#define PEN_BASE_WATCHED_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"

/* Distinguishes a file from its predecessor of the same name. All zero: no
 * file. */
struct file_id {
	uint64_t device, inode, size;
	int64_t seconds, nanoseconds; /* time of the last change (ctime) */
};

bool file_id_equal(const struct file_id *a, const struct file_id *b);
/* Whether the file changed so recently that its next change could bear the same
 * time. */
bool file_id_is_recent(const struct file_id *s);
/* Reads the ID of a file in an open directory, or with `name` NULL that of the
 * directory itself. */
void file_id_read(struct file_id *s, int dir, const char *name);
/* Reads an ID of an open directory that also changes when a file in it does, or
 * a file that a link in it leads to. Files whose names begin with a dot do not
 * count. */
void dir_id_read(struct file_id *s, int dir);

/* If `path` leads to another directory now, closes *dir and opens that one. A
 * relative path is not followed. Returns whether *dir has changed. */
bool dir_follow(int *dir, const char *path);

/* A file that is being overwritten can be read half written. A file that is
 * invalid is therefore read once more FILE_SETTLE_MS after its last change, and
 * only then reported. `now` is the loop's time in ms. */
enum { FILE_SETTLE_MS = 1000 };

struct settling {
	uint64_t until; /* ms: when to read once more; 0: not to */
};

/* Whether to read the files now: they have changed, or are due to be read once
 * more. */
bool settling_is_due(struct settling *s, bool changed, uint64_t now);
/* The files were read, and are valid (`useful`) or not. Returns whether to
 * report them as invalid. */
bool settling_read(struct settling *s, bool useful, uint64_t now);
/* Milliseconds until the files are due to be read once more, at least 1; 0 if
 * they are not. */
unsigned settling_wait_ms(const struct settling *s, uint64_t now);
/* The earlier of two such times. */
unsigned sooner_ms(unsigned a, unsigned b);

struct watched_file {
	char *path;   /* owned; as given */
	char *folder; /* owned; all but its last part, if there is a slash */
	const char *name; /* its last part */
	int dir;	  /* owned; -1: none */
	struct file_id seen;
};

/* Makes `w` stand for no file. */
void watched_file_none(struct watched_file *w);
/* Opens the directory of `path` (NULL: no file), but reads nothing. Returns 0,
 * or -1 with a full message. */
int watched_file_init(
    struct watched_file *w, const char *path, struct error *e);
void watched_file_fini(struct watched_file *w);
/* Sets the message to the file's path and `why`. Returns -1. */
int watched_file_bad(
    const struct watched_file *w, const char *why, struct error *e);
/* Appends the file's content, at most `most` bytes, to `text` and remembers the
 * file's ID. Returns 0, or -1 with a full message. */
int watched_file_read(
    struct watched_file *w, size_t most, struct buffer *text, struct error *e);
/* Whether it could be read now; false with errno. */
bool watched_file_may_read(const struct watched_file *w);
/* Remembers the ID of the file without reading it. */
void watched_file_note(struct watched_file *w);
/* Whether the path leads to another file than the remembered one. */
bool watched_file_has_changed(struct watched_file *w);

#endif
