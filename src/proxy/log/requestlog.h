/* requestlog.h: a line for each request of a client, as classic Pen's log:
 *
 *     file    CLIENT EPOCH SERVER FIRST-LINE-OF-REQUEST
 *     UDP     + CLIENT SERVER FIRST-LINE-OF-REQUEST     (to penlogd)
 *
 * A request is what a client sends first, and what it sends after an answer;
 * its line has the server that got it and not one that failed before. Lines for
 * a file are gathered and written after a second at the latest; a datagram
 * leaves at once. Nothing waits for either: what does not fit or cannot be
 * written is lost and counted, and the log reports it now and then. */
#ifndef PEN_PROXY_REQUESTLOG_H
#define PEN_PROXY_REQUESTLOG_H

#include "base/addr.h"
#include "base/error.h"
#include "net/loop/loop.h"
#include "pool/server/server.h"

struct requestlog;

/* Appends to the file. NULL with a short message. */
struct requestlog *requestlog_open_file(
    struct loop *l, const char *path, struct error *e);
/* Sends datagrams there. NULL with a short message. */
struct requestlog *requestlog_open_udp(
    struct loop *l, const struct addr *to, struct error *e);
/* Writes what is left and closes; NULL is fine. */
void requestlog_close(struct requestlog *r);

/* Opens the file anew, after it was moved away. Returns 0, or -1 with a short
 * message; then the old one stays in use. */
int requestlog_reopen(struct requestlog *r, struct error *e);
/* The same if it was, at once or the next time. */
void requestlog_follow(struct requestlog *r);
/* Makes that user the owner of its file; see sink_give(). */
void requestlog_give(struct requestlog *r, uid_t user);

/* Adds a line of what a client sent: up to the first line's end, or 1,000
 * bytes. Bytes that are no text become '?'. */
void requestlog_line(struct requestlog *r, const struct peer *client,
    const struct server *server, const char *bytes, size_t n);
/* Lines that are lost from now on are added to *counter; NULL: to none. */
void requestlog_count_lost(struct requestlog *r, uint64_t *counter);
/* Lines lost so far. */
uint64_t requestlog_lost(const struct requestlog *r);

#endif
