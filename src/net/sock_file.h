/* sock_file.h: the files that listening Unix sockets are in.
 *
 * All of these do nothing with other families and abstract names. */
#ifndef PEN_NET_SOCK_FILE_H
#define PEN_NET_SOCK_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/addr.h"
#include "base/error.h"

/* Which file a Unix listener made, so that only that one is removed in the end
 * and never a successor's. All zero when there is none. */
struct sock_file {
	dev_t device;
	ino_t inode;
	bool shared; /* another listener has it, too: it is not removed */
	mode_t mode; /* that it gets when it is no longer shared; 0: as is */
};
void sock_file_mark(struct sock_file *f, const struct addr *at);
/* Whether the file is still the one that was marked. */
bool sock_file_is_there(const struct sock_file *f, const struct addr *at);
/* Whether there is none, or another one than was marked: no client can connect.
 * False where that cannot be seen. */
bool sock_file_is_lost(const struct sock_file *f, const struct addr *at);
/* A file that is shared gets its mode. Returns 0, or -1 with errno when that
 * cannot be changed. */
int sock_file_set_mode(const struct sock_file *f, const struct addr *at);
void sock_file_remove(const struct sock_file *f, const struct addr *at);
/* The file, if it is there and this process's own, belongs to that user and
 * group from now on. Returns 0, or -1 with errno. */
int sock_file_set_owner(
    const struct sock_file *f, const struct addr *at, uid_t user, gid_t group);

/* Locks the directory of the file, as every pen does that opens a listener in
 * it. To check the file, remove a dead one, bind and listen is then one step
 * for others, and a socket that does not listen yet is not taken for dead.
 * Returns a descriptor, to be closed; -1 where there is nothing to lock, it may
 * not be read, or another process keeps it locked for a second. */
int sock_file_lock(const struct addr *at);
/* Removes a dead socket file, so that bind() can make a new one; leaves all
 * else alone. Returns 0, or -1 with a full message that begins with `text`. */
int sock_file_clear(const struct addr *at, const char *text, struct error *e);
/* bind(). A file gets its mode when it is made, so that no client can connect
 * before; 0: by the umask. */
int sock_file_bind(int fd, const struct addr *at, mode_t mode);

#endif
