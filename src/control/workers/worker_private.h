/* worker_private.h: the worker's side of the channel. */
#ifndef PEN_CONTROL_WORKER_PRIVATE_H
#define PEN_CONTROL_WORKER_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "control/handover/handover_state.h"
#include "control/workers/channel.h"
#include "control/workers/worker_counters.h"
#include "net/loop/loop.h"
#include "pool/pool_share.h"

struct pen;

struct worker {
	struct pen *pen;
	struct channel channel; /* to the leader */
	struct watch watch;
	struct task task; /* takes messages that came while it sent some */
	struct shared_number announced; /* changes and states, to all .. */
	uint32_t taken;		/* .. of which so many are in force here */
	bool is_behind;		/* it accepts nothing until all are */
	bool is_paused;		/* by its leader */
	bool takes, take_again; /* messages */
	struct pool_share share;       /* its own part is this worker's .. */
	struct shared_memory counters; /* .. as it is of this */
	struct list answers;	 /* struct answering, remote.c */
	struct handover_state_writer state; /* that is given */
	struct timer sweep;		    /* forgets the clients of others */
	unsigned swept; /* so many of the service's client table */
	const struct service *sweeps; /* which is swept; NULL: none */
	bool untold;	 /* states of servers, for which there was no room */
	uint32_t changes;      /* the number of the last one in force .. */
	uint32_t next;	       /* .. and of the one that is made */
	uint64_t lists;	       /* its plan_acls_digest() */
	struct making *making; /* it waits; NULL: none does */
	bool is_stale;	       /* one could not be made: it serves as before */
};

/* Sends a message to the leader, without waiting: what it does not take yet is
 * kept. A leader that is gone is noticed later. */
void worker_send(struct pen *p, unsigned type, const void *bytes, size_t n);
/* Whether so much is kept that what can wait should. */
bool worker_is_full(const struct worker *w);

/* Puts the sockets that came with the message into pen.sockets. */
void worker_take_sockets(struct worker *w, const struct message *m);

/* replicate.c: makes the change that the leader has made; it frees the
 * message. */
void worker_change(struct worker *w, struct message *m);
/* Drops the change that is being made, since this process ends. */
void worker_give_up_change(struct worker *w);
/* own_clients.c: what older processes had of this worker's clients. */
void worker_take_clients(struct worker *w);
/* remote.c: carries a command out and answers. */
void worker_answer(struct worker *w, const struct message *m);
/* Goes on with those that wait for room. */
void worker_resume_answers(struct worker *w);
/* No more of what is not answered yet. */
void worker_forget_answers(struct worker *w);

#endif
