/* sink.h: where lines go that are made while clients are served: a file, or a
 * socket whose other end takes one datagram a line.
 *
 * Lines for a file are gathered and written after a second at the latest; a
 * datagram leaves at once. Nothing waits for either: what does not fit or
 * cannot be written, or is for a file that was removed, is lost and counted,
 * and the log reports it: once a minute, and its end. A line that only half
 * fitted is completed before others are written. */
#ifndef PEN_NET_SINK_H
#define PEN_NET_SINK_H

#include <sys/types.h>

#include "base/addr.h"
#include "base/error.h"
#include "net/loop/loop.h"

struct sink;

/* Each of these returns NULL with a short message. `what`, "requests", is what
 * the log calls the lines; it stays the caller's. */

/* Appends to the file. */
struct sink *sink_open_file(
    struct loop *l, const char *what, const char *path, struct error *e);
/* Writes to a descriptor that others may write to as well, as to stderr
 * (base/output.h): a copy of it is made, its flags stay as they are. */
struct sink *sink_open_shared(
    struct loop *l, const char *what, int fd, struct error *e);
/* Sends datagrams there: UDP, or a Unix socket of a daemon on this machine,
 * which is connected to again when the daemon was started again. */
struct sink *sink_open_datagram(
    struct loop *l, const char *what, const struct addr *to, struct error *e);

/* ---- of these NULL is fine, which has no file ---- */

/* Writes what is left and closes. */
void sink_close(struct sink *s);

/* Opens a file again, after it was moved away. Returns 0, or -1 with a short
 * message; then it goes on with the old one. */
int sink_reopen(struct sink *s, struct error *e);

/* The same, if the path leads to another file by now; what fails is tried again
 * the next time. */
void sink_follow(struct sink *s);
/* Makes `user` the owner of a file that is ours alone: a process that drops
 * root's rights opens it again when it was moved away and made again. */
void sink_set_owner(struct sink *s, uid_t user);

/* From now on lost lines are also counted in *counter; NULL: in none. */
void sink_count_lost(struct sink *s, uint64_t *counter);

/* ---- of these not ---- */

/* Whether each line is a datagram, which needs no newline. */
bool sink_is_datagram(const struct sink *s);

/* Takes a line of at most 64 KiB. With a file it ends in a newline, else it
 * need not. */
void sink_put(struct sink *s, const char *line, size_t n);

#endif
