/* sock_file.h: the files that listening Unix sockets are in.
 *
 * All of these do nothing with other families and abstract names. */
#ifndef PEN_NET_SOCK_FILE_H
#define PEN_NET_SOCK_FILE_H

#include <sys/types.h>

#include "base/addr.h"
#include "base/error.h"

/* Which file a Unix listener made, so that only that one is removed in the end
 * and never a successor's. All zero when there is none. */
struct sock_file {
	dev_t device;
	ino_t inode;
};
void sock_file_mark(struct sock_file *f, const struct addr *at);
void sock_file_remove(const struct sock_file *f, const struct addr *at);

/* Locks the directory of the file, as everybody here does who opens a listener in
 * it: to look who is there, to remove what is dead, to bind and to listen is one
 * step then, and a socket that does not listen yet is not taken for dead. Returns
 * a descriptor, to be closed; -1 where there is nothing to lock, or it may not be
 * read, or somebody keeps it locked for a second. */
int sock_file_lock(const struct addr *at);
/* Clears a dead socket out of the way of bind(); leaves all else alone. Returns 0,
 * or -1 with a sentence that says `text`. */
int sock_file_clear(const struct addr *at, const char *text, struct error *e);
/* bind(); the file, if any, gets its mode as it is made: nobody can slip in
 * before. 0: as the umask says. */
int sock_file_bind(int fd, const struct addr *at, mode_t mode);

#endif
