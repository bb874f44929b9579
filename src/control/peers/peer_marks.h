/* peer_marks.h: drain and maint that the operator of a peer has set are set
 * here, too, and end when they end there: each as a command in the name of the
 * peer. A mark that the operator here has set stays; one that the operator here
 * has changed stays so until the peer's is another one. None takes the last
 * server of a service that is up here: it waits until another one is. */
#ifndef PEN_CONTROL_PEER_MARKS_H
#define PEN_CONTROL_PEER_MARKS_H

#include "base/addr.h"
#include "pool/pool.h"

struct pen;

struct peer_mark {
	struct service *service;
	unsigned slot;
	enum server_admin admin;
	struct peer who;
	uint64_t digest; /* of the server in the slot */
	bool held;	 /* it waits, and that was logged */
};

/* What peers have reported, to be set here in time. */
struct peer_marks {
	struct peer_mark *list; /* owned */
	uint32_t count, room;
	bool setting; /* a command of ours is carried out */
};

void peer_marks_fini(struct peer_marks *m);
/* Services have changed: none of the reports counts. */
void peer_marks_clear(struct peer_marks *m);
/* The peer has that server with that mark: its last report counts. Changes
 * nothing yet. */
void peer_marks_add(struct peer_marks *m, struct service *svc,
    const struct server *s, enum server_admin admin, const struct peer *who);
/* The peer has gone: what waits for another server to be up is void. */
void peer_marks_end(struct peer_marks *m, const struct peer *who);
/* Sets some of them. */
void peer_marks_set(struct peer_marks *m);
/* The peer has gone, and what it has set stays until it is back, at the same
 * address: logs that. Returns of how many servers that is. */
unsigned peer_marks_warn(const struct pen *p, const struct peer *who);
/* A server has changed, by another than us. */
void peer_marks_note_change(struct server *s);

#endif
