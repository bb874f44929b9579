/* watched.h: a file that is read again when it has changed.
 *
 * The directory it lies in is kept open, so that it can be found from a new root
 * (chroot) as well; whether it may still be read is the system's to say. Should an
 * absolute path lead to another directory one day, as when a symbolic link is
 * switched, that one takes its place. */
#ifndef PEN_BASE_WATCHED_H
#define PEN_BASE_WATCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"

/* What tells a file from the one that was there before; all zero: none. */
struct stamp {
	uint64_t device, inode, size;
	int64_t seconds, nanoseconds; /* of its last change */
};

bool stamp_equal(const struct stamp *a, const struct stamp *b);
/* Whether the change was so lately that a next one may bear the same time. */
bool stamp_is_young(const struct stamp *s);
/* Of a name in an open directory, or of the directory itself (NULL). */
void stamp_take(struct stamp *s, int dir, const char *name);

/* Opens the directory that `path` leads to now, in the place of *dir, should it be
 * another; not for a relative path. Returns whether it was. */
bool dir_follow(int *dir, const char *path);

/* Whoever writes a file in its place lets it be seen half written. So files that are
 * of no use are read once more when they have not changed for WATCHED_SETTLE_MS,
 * and only then is it said. `now` is the loop's; all zero: nothing to wait for. */
enum { WATCHED_SETTLE_MS = 1000 };

struct settling {
	uint64_t until; /* 0: settled */
};

/* Whether to read the files now: they have changed, or it is time to read them once
 * more. */
bool settling_is_due(struct settling *s, bool changed, uint64_t now);
/* They have been read. Returns whether it is to be said that they are of no use. */
bool settling_read(struct settling *s, bool useful, uint64_t now);
/* Milliseconds until they are to be read once more, at least 1; 0: they are not. */
unsigned settling_wait_ms(const struct settling *s, uint64_t now);
/* The less of two such times. */
unsigned sooner_ms(unsigned a, unsigned b);

struct watched {
	char *path;   /* owned; as given */
	char *folder; /* owned; all but its last part, if there is a slash */
	const char *name; /* its last part */
	int dir;	  /* owned; -1: none */
	struct stamp seen;
};

/* No file. */
void watched_none(struct watched *w);
/* Takes the path, NULL: none; reads nothing. Returns 0, or -1 with a sentence. */
int watched_init(struct watched *w, const char *path, struct error *e);
void watched_fini(struct watched *w);
/* Says what is wrong with it, and returns -1. */
int watched_bad(const struct watched *w, const char *why, struct error *e);
/* Appends its content, and remembers which file that was. Returns 0, or -1 with a
 * sentence. */
int watched_read(
    struct watched *w, size_t most, struct buffer *text, struct error *e);
/* Remembers which file is there now, unread. */
void watched_note(struct watched *w);
/* Whether another one is there now; follows its path. */
bool watched_has_changed(struct watched *w);

#endif
