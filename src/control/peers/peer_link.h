/* peer_link.h: a connection between two peers: TLS with a shared key, and in it
 * records of handover.h in both directions.
 *
 *     CLOSED -> CONNECTING -> HANDSHAKING -> OPEN -> CLOSED
 *                            (accepted)
 *
 * It moves a bounded amount in a turn of the loop. Whatever is wrong (the key,
 * a byte, silence) ends it, and nothing else. */
#ifndef PEN_CONTROL_PEER_LINK_H
#define PEN_CONTROL_PEER_LINK_H

#include "control/handover/handover.h"
#include "control/value/value_peers.h"
#include "net/loop/pieces.h"
#include "net/stream.h"
#include "tls/tls_psk.h"

enum peer_link_state {
	PEER_LINK_CLOSED,
	PEER_LINK_CONNECTING,
	PEER_LINK_HANDSHAKING,
	PEER_LINK_OPEN
};

struct peer_link;

struct peer_link_events {
	/* The other end has proven that it has the key. */
	void (*on_open)(struct peer_link *l);
	void (*on_record)(struct peer_link *l, struct handover_record *r);
	/* All of l->out was sent: appends more. Returns whether there is still
	 * more; NULL: never. */
	bool (*on_room)(struct peer_link *l);
	/* It is closed; the memory is the loop's until the end of this turn. */
	void (*on_end)(struct peer_link *l, const char *why, bool was_open);
};

struct peer_link {
	enum peer_link_state state;
	const struct peer_link_events *events;
	struct loop *loop;
	struct pieces *pieces;
	struct stream stream;
	struct handover_reader in;
	struct buffer out; /* whole records */
	struct task turn;  /* goes on with what is left */
	struct timer rest; /* then it goes on; not watched meanwhile */
	bool resting;
	unsigned turns;
	uint64_t moved_ms; /* when something has come last */
	char why[200];	   /* it has to end, or did; "": it has not */
};

void peer_link_init(struct peer_link *l, struct loop *loop,
    struct pieces *pieces, const struct peer_link_events *events);
/* Closes without on_end(). */
void peer_link_fini(struct peer_link *l);
/* The descriptor, of a socket that connects (`client`) or was accepted, is the
 * link's. Returns 0, or -1 with errno: then it is closed. */
int peer_link_begin(
    struct peer_link *l, int fd, struct tls_psk *key, bool client);
/* Writes what on_room() has. May end it. */
void peer_link_run(struct peer_link *l);
/* Ends the connection if the other side is silent; called about once a turn. */
void peer_link_check(struct peer_link *l);
/* For on_record(): ends the connection when it returns. */
void peer_link_refuse(struct peer_link *l, const char *why);
/* Appends a record with a number, or without one. */
void peer_link_add(
    struct peer_link *l, enum handover_type type, const uint64_t *number);

/* Reads the key of that peer, or place for peers, again. Returns whether it is
 * another one now; the result is logged, of `setting`. */
bool peer_key_refresh(struct tls_psk **key, const struct peer_spec *spec,
    struct tls_memory *memory, const char *setting);

#endif
