/* peer_sender.h: reports this pen's servers and clients to one peer: all of
 * them once it is connected, then what changes, in batches. Connects again by
 * itself. What the peer does not take in time is left out, and all is sent
 * again: nothing waits for it. */
#ifndef PEN_CONTROL_PEER_SENDER_H
#define PEN_CONTROL_PEER_SENDER_H

#include "control/handover/handover_state.h"
#include "control/peers/peer_link.h"
#include "control/value/value_peers.h"

/* The last changes of clients, for all senders: change n is in
 * list[n % PEER_CHANGES]. */
enum { PEER_CHANGES = 1 << 16 };

struct peer_changes {
	uint64_t head; /* number of the next */
	struct handover_change list[PEER_CHANGES];
};

struct peer_sender {
	struct list link;
	struct peer_link conn;
	struct pen *pen;
	const struct peer_changes *changes;
	struct peer_spec spec;
	struct tls_psk *key; /* owned */
	struct handover_state_writer writer;
	bool writing;	   /* not all has been sent once */
	bool due;	   /* changes are sent now */
	bool failed;	   /* and that was logged */
	bool is_self;	   /* the address is this host's, or leads here */
	uint64_t next;	   /* change to send */
	uint64_t retry_ms; /* when to connect; 0: at once */
	uint64_t written_ms; /* when all was written last */
	uint64_t pinged_ms, ping; /* the last one, and its number */
	uint64_t secret; /* makes these numbers no other pen's */
	uint64_t lag_ms; /* of the last PONG */
	uint64_t lost;	 /* changes, of which others were sent instead */
};

/* NULL with a full message. The memory of one that is freed is the loop's until
 * the end of this turn. */
struct peer_sender *peer_sender_new(struct pen *p, const struct peer_spec *spec,
    const struct peer_changes *changes, struct error *e);
void peer_sender_free(struct peer_sender *s);
/* Whether it is time to connect. */
bool peer_sender_is_due(const struct peer_sender *s);
/* Connects, unless the address is this host's. */
void peer_sender_connect(struct peer_sender *s, bool is_self);
/* Several times a second: sends what is due. */
void peer_sender_tick(struct peer_sender *s);
/* Servers have changed, or the list of services: then the changes so far may be
 * of one that is gone, and all is sent instead. */
void peer_sender_begin_again(struct peer_sender *s, bool services);
/* A ping with that number was received here. If one of these senders has sent
 * it, its peer is this pen: closes its connection, and returns true. */
bool peer_sender_is_to_self(struct list *senders, uint64_t number);
/* Reads the key again, and connects anew if it is another one. What fails is
 * logged. */
void peer_sender_refresh(struct peer_sender *s);
/* Closes the connection. */
void peer_sender_stop(struct peer_sender *s);
/* "self", "waiting", "connecting", "synchronising" or "connected". */
const char *peer_sender_state(const struct peer_sender *s);

#endif
