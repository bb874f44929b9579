/* peers.h: other pens that get reports of this one's clients, so that one that
 * takes over, or shares them, sends a client to the server that it had.
 *
 *     senders: this pen's clients --changes, in batches--> a peer
 *     ports:   a peer's clients --------------------------> memory of clients
 *
 * Each connection is for one direction. What a peer has reported is not passed
 * on. No answer to a client depends on any of this, or waits for it.
 *
 * They have one process: with workers, each has a memory of its own clients. */
#ifndef PEN_CONTROL_PEERS_H
#define PEN_CONTROL_PEERS_H

#include "base/error.h"
#include "base/list.h"

struct apply;
struct apply_all;
struct pen;
struct peers;
struct reply;

/* As participants; see apply.h: the connections, and what is noted of the
 * clients of each service. */
int peers_check(struct apply_all *a, struct error *e);
int peers_prepare(struct apply_all *a, struct error *e);
int peers_prepare_service(struct apply *a, struct error *e);
void peers_commit(struct apply_all *a);
void peers_commit_service(struct apply *a);
void peers_cancel(struct apply_all *a);

/* Reads keys again that have changed: of HUP and reload. NULL is fine. */
void peers_refresh(struct peers *s);
/* Connects, and accepts. NULL is fine, here and below. */
void peers_start(struct peers *s);
/* Another process reports from now on: senders end. */
void peers_stop(struct peers *s);
void peers_free(struct peers *s);

/* A line for each connection. */
void peers_report(struct peers *s, struct reply *r);

#endif
