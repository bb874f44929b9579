/* requestlog.h: a line for each request of a client, as classic Pen's log:
 *
 *     file    CLIENT EPOCH SERVER FIRST-LINE-OF-REQUEST
 *     UDP     + CLIENT SERVER FIRST-LINE-OF-REQUEST     (to penlogd)
 *
 * A request is what a client sends first, and what it sends after an answer;
 * its line names the server that got it and not one that failed before.
 * net/sink.h describes how lines get there; the sink's are called "request". */
#ifndef PEN_PROXY_REQUESTLOG_H
#define PEN_PROXY_REQUESTLOG_H

#include "base/addr.h"
#include "net/sink.h"

/* Adds a line of what a client sent: up to the first line's end, or 1,000
 * bytes. Bytes that are no text become '?'. `server`: the address that it went
 * to; NULL: none. */
void requestlog_line(struct sink *s, const struct peer *client,
    const struct addr *server, const char *bytes, size_t n);

#endif
