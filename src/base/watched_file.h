/* watched_file.h: a file that is read again when it has changed.
 *
 * The directory it lies in is kept open, so that it can be found from a new
 * root (chroot) as well; whether it may still be read is the system's to say.
 * Should an absolute path lead to another directory one day, as when a symbolic
 * link is switched, that one takes its place. */
#ifndef PEN_BASE_WATCHED_FILE_H
#define PEN_BASE_WATCHED_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"

/* What tells a file from the one that was there before; all zero: none. */
struct file_id {
	uint64_t device, inode, size;
	int64_t seconds, nanoseconds; /* of its last change */
};

bool file_id_equal(const struct file_id *a, const struct file_id *b);
/* Whether the change was so lately that a next one may bear the same time. */
bool file_id_is_recent(const struct file_id *s);
/* Of a name in an open directory, or of the directory itself (NULL). */
void file_id_read(struct file_id *s, int dir, const char *name);

/* Opens the directory that `path` leads to now, in the place of *dir, should it
 * be another; not for a relative path. Returns whether it was. */
bool dir_follow(int *dir, const char *path);

/* Whoever writes a file in its place lets it be seen half written. So files
 * that are of no use are read once more when they have not changed for
 * FILE_SETTLE_MS, and only then is it said. `now` is the loop's; all zero:
 * nothing to wait for. */
enum { FILE_SETTLE_MS = 1000 };

struct settling {
	uint64_t until; /* 0: settled */
};

/* Whether to read the files now: they have changed, or it is time to read them
 * once more. */
bool settling_is_due(struct settling *s, bool changed, uint64_t now);
/* They have been read. Returns whether it is to be said that they are of no
 * use. */
bool settling_read(struct settling *s, bool useful, uint64_t now);
/* Milliseconds until they are to be read once more, at least 1; 0: they are
 * not. */
unsigned settling_wait_ms(const struct settling *s, uint64_t now);
/* The less of two such times. */
unsigned sooner_ms(unsigned a, unsigned b);

struct watched_file {
	char *path;   /* owned; as given */
	char *folder; /* owned; all but its last part, if there is a slash */
	const char *name; /* its last part */
	int dir;	  /* owned; -1: none */
	struct file_id seen;
};

/* No file. */
void watched_file_none(struct watched_file *w);
/* Takes the path, NULL: none; reads nothing. Returns 0, or -1 with a
 * sentence. */
int watched_file_init(
    struct watched_file *w, const char *path, struct error *e);
void watched_file_fini(struct watched_file *w);
/* Says what is wrong with it, and returns -1. */
int watched_file_bad(
    const struct watched_file *w, const char *why, struct error *e);
/* Appends its content, and remembers which file that was. Returns 0, or -1 with
 * a sentence. */
int watched_file_read(
    struct watched_file *w, size_t most, struct buffer *text, struct error *e);
/* Remembers which file is there now, unread. */
void watched_file_note(struct watched_file *w);
/* Whether another one is there now; follows its path. */
bool watched_file_has_changed(struct watched_file *w);

#endif
