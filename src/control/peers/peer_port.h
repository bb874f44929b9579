/* peer_port.h: an address where peers connect to, and these peers: what they
 * report of clients goes to the memory of clients, where nothing newer is
 * known. */
#ifndef PEN_CONTROL_PEER_PORT_H
#define PEN_CONTROL_PEER_PORT_H

#include "base/rate_limit.h"
#include "control/handover/handover_state.h"
#include "control/peers/peer_link.h"
#include "control/peers/peer_marks.h"
#include "control/value/value_peers.h"
#include "net/listener.h"

struct peer_port {
	struct list link;
	struct pen *pen;
	struct peer_marks *marks; /* not owned */
	struct list *senders;	  /* of this pen; not owned */
	struct listener listener;
	struct peer_spec spec;
	struct tls_psk *key; /* owned */
	struct list receivers;
	unsigned count;
	struct rate_bucket lines; /* of the log, about refusals */
	struct task end;
};

struct peer_receiver {
	struct list link;
	struct peer_link conn;
	struct peer_port *port;
	struct peer who;
	struct handover_state_reader reader;
	uint64_t reported, new; /* clients; those that were new */
	uint64_t flows;
};

/* Listens, and accepts from peer_port_start() on. NULL with a full message. */
struct peer_port *peer_port_new(struct pen *p, const struct peer_spec *spec,
    bool freebind, struct peer_marks *marks, struct list *senders,
    struct error *e);
/* Closes all; the memory is the loop's until the end of this turn. */
void peer_port_free(struct peer_port *t);
void peer_port_start(struct peer_port *t);
/* Several times a second. */
void peer_port_tick(struct peer_port *t);
/* Reads the key again; if it is another one, all peers have to connect anew.
 * What fails is logged. */
void peer_port_refresh(struct peer_port *t);
/* Servers or services have changed: all peers are to send theirs again. */
void peer_port_begin_again(struct peer_port *t);

#endif
