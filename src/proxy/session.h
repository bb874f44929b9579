/* session.h: one client's connection and its server's, joined by two pipes.
 *
 *     HELLO -> CONNECTING -> RELAYING -> DRAINING -> CLOSED
 *       |        ^ |            |                      ^
 *       |        | v            |                      |
 *       |       QUEUED          |                      |
 *       '----------'------------'----------------------'
 *
 *     HELLO       accepted; no server chosen yet
 *     QUEUED      all servers are full; waits for a place, reads nothing
 *     CONNECTING  waits for a server; on failure the next one is tried
 *     RELAYING    bytes flow both ways, or one way when half-closed; once more
 *                 CONNECTING when the server has lost a request
 *     DRAINING    the server is let go, the client is still being served
 *     CLOSED      gone at the end of this wake-up
 *
 * A session owns its two streams and two pipes. Everything below reports and
 * never closes; only the session_on_ functions here close a session, as the
 * last thing they do. */
#ifndef PEN_PROXY_SESSION_H
#define PEN_PROXY_SESSION_H

#include <stddef.h>

#include "base/addr.h"
#include "proxy/reason.h"

struct frontend;
struct frontend_core;
struct pipe;
struct task;

/* The turns that sessions ask for, and their end: all sessions are closed. */
void session_turns_init(struct frontend *f);
void session_turns_fini(struct frontend *f);
/* The routes in force are others. */
void session_queue_reroute(struct frontend *f);
/* Prepares the frontend's queues for its sessions. */
void session_init_timeouts(struct frontend *f);
/* No session is left. */
void session_fini_timeouts(struct frontend *f);
/* A time was set anew: those that are there wait by it, too. They are looked
 * through in portions, so that many do not hold up the loop. */
void session_reschedule_all(struct frontend *f);

/* What clients must do before they get a server: a bit of each step. */
unsigned session_hello_steps(const struct frontend_core *f);

/* The walk that keeps byte counters up to date, once a client is there: every
 * second, or less often with more than some thousand sessions. */
void session_count_init(struct frontend *f);
void session_count_fini(struct frontend *f);
void session_count_start(struct frontend *f);

/* Goes on with the walk of frontend_cut_sessions(). */
void session_cut_on_turn(struct task *t);

/* The walk of frontend_rebalance(). */
void session_rebalance_init(struct frontend *f);
void session_rebalance_fini(struct frontend *f);

/* Serves the client on `fd`, which it takes over. When memory is short the
 * client is closed and that is logged. It came to `port`, 0: a Unix socket. */
void session_start(
    struct frontend *f, int fd, const struct peer *who, uint16_t port);

/* What clients say is noted, and their requests are logged; for
 * pipe_share.on_read. */
void session_on_read(struct pipe *p, const char *bytes, size_t n);

/* Ends all sessions of `f` abortively. */
void session_close_all(struct frontend *f);

#endif
