/* flow.h: datagrams between a client and its server.
 *
 *     datagram --> flow_find | pool_choose + new flow --> server's socket
 *     client   <-- the listener it had sent to        <-- server's socket
 *
 * A flow is a client's address and port, and the address it had sent to, with
 * its server and a socket connected to that. It ends after udp_timeout without
 * a datagram, or when it has udp_responses answers to each question. After
 * udp_requests questions the client's next one begins another flow. With
 * `udp_each` (-r) each datagram is balanced by itself: a client has a flow for
 * each server it is sent to.
 *
 * When there are too many the idlest goes: first of those whose client has not
 * sent again after an answer (a flood of spoofed senders never does), then of
 * all. While datagrams come faster than they can be passed on and new flows
 * keep ending others, only some new ones are let in, so that those known are
 * served. A datagram that a server refuses (by ICMP) marks it as failed, as a
 * refused connection does, and is tried on the next one. A flow leaves a server
 * that checks have marked down, and that does not answer it, with its next
 * datagram, if there is another one. */
#ifndef PEN_PROXY_FLOW_H
#define PEN_PROXY_FLOW_H

#include "base/hash_table.h"
#include "base/list.h"
#include "net/dgram.h"
#include "net/listener.h"
#include "net/loop/loop.h"
#include "net/ports.h"
#include "net/sources.h"
#include "proxy/core/id_table.h"
#include "proxy/datagram/flow_question.h"

struct frontend_core;
struct flow_past;
struct flow_server;
struct server;
struct flow_source;

struct flows {
	struct frontend_core *frontend;
	struct hash_table table;
	struct list
	    young; /* the idlest first; no answer was followed by a word */
	struct list steady; /* the others, in the same order */
	struct dgram_batch *batch; /* NULL: no udp */
	struct timer tick;
	struct flow_server *servers; /* by slot */
	unsigned server_room;
	struct id_table ids;
	struct ports ports; /* local ones of any address, none taken */
	struct flow_source *source[SOURCES_MAX + 1]; /* as the settings have
						      * them; [0]: any */
	unsigned sources, source_turn;
	struct flow_questions questions;
	unsigned behind; /* turns in a row that left datagrams unread, */
	const struct listener *behind_at; /* at that one */
	uint64_t crowded_until; /* ms: of late a flow ended to make room */
	unsigned newcomers; /* of this turn, while we are behind */
};

/* Returns 0, or -1 with errno ENOMEM. */
int flows_init(struct flows *fs, struct frontend_core *f);
void flows_fini(struct flows *fs);
/* This process was forked from another one, which has the same: the ports of
 * flows are to be as hard to guess as there, and others. */
void flows_become(struct flows *fs);
/* A flow as it is at the moment. */
struct flow_info {
	uint64_t number;
	struct peer client;
	const struct server *server; /* NULL: none at the moment */
	int fd;
	uint64_t requests, responses, up, down;
	uint64_t age_ms, idle_ms;
};

/* Each returns false when there is no such flow. */
bool flows_find(
    const struct flows *fs, uint64_t number, struct flow_info *info);
/* The first one whose number is not below `from`. */
bool flows_next(const struct flows *fs, uint64_t from, struct flow_info *info);

/* A listener has datagrams; for listener.on_datagrams, and .on_batch. */
void flows_on_datagrams(struct listener *l);
void flows_on_batch(struct listener *l, struct dgram_batch *b);
/* Makes the flow of a client, which came to `l`, as another process had it: its
 * next datagram goes to the server, by the socket of that process if there is
 * one, which is this one's, or closed, in any case. Returns whether there was
 * memory for it. */
bool flow_import(struct flows *fs, struct listener *l,
    const struct flow_past *past, struct server *server);
/* Ends the flows that came in through a listener that closes. */
void flows_drop_listener(struct flows *fs, const struct listener *l);
/* Ends the flow, if its server is down and on_down is cut; the client's next
 * datagram begins another. For id_table_walk(). */
void flow_cut(void *flow);
/* Ends those beyond the limit, after it was changed. */
void flows_adjust(struct flows *fs);

#endif
