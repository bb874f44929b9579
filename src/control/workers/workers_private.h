/* workers_private.h: the messages between leader and workers, and the leader's
 * record of each worker. */
#ifndef PEN_CONTROL_WORKERS_PRIVATE_H
#define PEN_CONTROL_WORKERS_PRIVATE_H

#include <sys/types.h>

#include "control/life/context.h"
#include "control/workers/channel.h"
#include "control/workers/reserve.h"
#include "control/workers/worker_counters.h"
#include "control/workers/workers.h"
#include "pool/pool_share.h"

enum workers_message {
	/* leader to worker */
	MESSAGE_CHANGE = 1, /* one that is in force; see change.h */
	MESSAGE_COMMAND,    /* a command; see remote.c */
	MESSAGE_HANG_UP,
	MESSAGE_DRAIN, /* no new clients */
	MESSAGE_PAUSE, /* nothing is accepted or received .. */
	MESSAGE_RESUME,
	MESSAGE_GATHER,	   /* struct gather: the state of its clients */
	MESSAGE_COVER,	   /* accept from sockets of a dead worker .. */
	MESSAGE_COVER_END, /* .. no longer */
	MESSAGE_HAND_OVER, /* others have its sockets, and new clients */
	MESSAGE_END,
	MESSAGE_PING,
	/* worker to leader */
	MESSAGE_CANNOT,	  /* a full message: why it has not made a change */
	MESSAGE_ANSWER,	  /* uint32_t: which; some of it */
	MESSAGE_ANSWERED, /* uint32_t: which; '+' or '-', and why not */
	MESSAGE_PONG,
	MESSAGE_GATHERED,     /* a piece; see handover_state.h */
	MESSAGE_GATHERED_ALL, /* the last one */
	/* both */
	MESSAGE_STATE /* struct state_record */
};

struct state_record {
	char service[SERVICE_NAME_MAX + 1];
	unsigned slot, generation;
	struct server_elsewhere server;
};

struct gather {
	bool flows; /* not the client table */
	bool first;
	bool sockets; /* of the flows, too */
};

/* One worker, or the one that will replace it. */
struct worker_slot {
	struct workers *workers;
	unsigned member; /* 1 .. */
	pid_t pid;	 /* 0: none runs */
	struct channel channel;
	struct watch watch;
	struct task task; /* handles messages received before the awaited one */
	struct timer again;	/* it is replaced */
	bool due;		/* now */
	unsigned deaths;	/* lately */
	unsigned cover;		/* the worker that accepts for it; 0: none */
	uint64_t started, last_message; /* ms */
};

/* A set of them. Those of a past one serve the sessions that they have, and are
 * not replaced; it is freed when they have ended. */
struct workers {
	struct pen *pen;
	struct workers *past; /* the one before; NULL: none */
	unsigned count;
	unsigned wanted; /* another number: a new set is to come */
	bool used_up;	 /* the share: a new set is to come, too .. */
	bool is_stale;	 /* .. as well as when one lacks a change */
	bool put_off;	 /* it could not be forked, until .. */
	struct timer again;
	struct reserve reserve; /* room for it, until then */
	bool closes;		/* the last change takes addresses away */
	bool waits;		/* none accepts yet: not all are there */
	struct task cover;	/* see cover.c */
	bool covers_anew;	/* there are other sockets */
	uint32_t changes;	/* the number of the last one */
	uint32_t announced;	/* changes and states */
	bool paused;	 /* none accepts, and none is forked */
	bool leaves;	 /* others have the clients */
	unsigned gathered; /* whose state is gathered, from 0 on .. */
	bool begun;	 /* .. and of which there was a piece already */
	struct worker_slot *slots;
	struct pool_share share;
	struct shared_memory counters; /* what they count */
	struct timer watchdog;
	uint64_t watched;     /* ms: the last time */
	unsigned counted;     /* the turn of the loop in which sums were made */
	bool sums;	      /* they were made once */
	struct list remotes;  /* struct remote */
	uint32_t remotes_begun;
	struct buffer ending; /* pid_t: killed, and not reaped yet */
	struct task end;      /* frees it */
};

#define WORKERS_EACH(p, w) \
	for ((w) = (p)->role.workers; (w) != NULL; (w) = (w)->past)

#define WORKER_SLOT_EACH(w, s)                                       \
	for ((s) = (w)->slots; (s) < (w)->slots + (w)->count; (s)++) \
		if ((s)->pid != 0)

/* worker_slot.c */
void worker_slot_init(
    struct worker_slot *s, struct workers *w, unsigned member);
/* Closes and frees what is of it; the process goes on. */
void worker_slot_fini(struct worker_slot *s);
/* Called by the watch of the worker's channel. */
void worker_slot_on_messages(struct watch *w, unsigned ready);
/* The worker is to be forked: now, or in a while if others died lately. */
void worker_slot_replace(struct worker_slot *s);
/* Waits for the end of a process whose channel is closed, and kills it if it
 * goes on; at most two seconds: one that is in a call to a disk that hangs ends
 * later. Returns its status, or -1. */
int worker_slot_reap(pid_t pid);
/* Kills a worker that does not answer. */
void worker_slot_kill(struct worker_slot *s, const char *why);
/* Sends without waiting, what it does not take yet later; or ends it. */
void worker_slot_post(
    struct worker_slot *s, unsigned type, const void *bytes, size_t n);
/* A descriptor, in front of the next message; `slot` is one. */
void worker_slot_post_socket(void *slot, int fd);
/* Waits for the answer, or ends it, NULL. */
struct message *worker_slot_wait(
    struct worker_slot *s, unsigned type, unsigned other, uint64_t ms);

/* Sends to all of a set. */
void workers_post(
    struct workers *w, unsigned type, const void *bytes, size_t n);
/* A change or a state is posted, or will be: a worker accepts no client before
 * it has obeyed as many as the number in the shared memory of the set. */
void workers_announce(struct workers *w);
/* Frees a set, and those before it; the processes go on. */
void workers_free_sets(struct workers *w);
/* The set has no process any more: a past one ends. */
void workers_end(struct workers *w);

/* fork.c: for the timer of a set that could not be forked; and closes the
 * sockets of flows that workers were to have. */
void workers_on_again(struct timer *t);
void workers_drop_flows(struct pen *p);
/* A worker has not made a change, and serves as before: a new set takes over
 * from its own, now or, if that has just begun, in a while. */
void workers_replace(struct worker_slot *s, const char *why);

/* renew.c: for struct process_role; and a set of as many as are wanted, which
 * it forks, as workers_fork_set() does. When that fails the old one goes on. */
void workers_pause(struct pen *p, bool pause);
void workers_hand_over(struct pen *p);
int workers_gather(struct pen *p, bool flows, bool first, struct buffer *out,
    struct passed *sockets);
int workers_renew(struct pen *p, struct error *e);

/* cover.c: workers have started or died; there are other sockets; and a
 * task. */
void cover_soon(struct workers *w);
void cover_anew(struct workers *w);
void cover_on_task(struct task *t);

/* remote.c: a piece of an answer; and a worker that no longer answers. */
void remote_receive(struct worker_slot *s, const struct message *m);
void remote_lose(struct worker_slot *s);
/* For role.await_close(). */
struct wait *remote_await_close(struct pen *p);
int remote_begin(
    struct call *c, const char *line, size_t length, struct error *e);

/* states_sync.c: the state of a server is sent, received, written. */
void states_sync_send(struct service *svc, struct server *s);
/* In a worker: sends the states of servers for which the channel had no
 * room. */
void states_sync_send_rest(struct worker *w);
void states_sync_receive(struct pen *p, const char *bytes, size_t n);
int states_sync_write(
    const struct service *svc, const struct server *s, struct buffer *out);

/* worker.c: becomes the worker in that slot, in a child process. Returns 0, or
 * -1 with a full message. */
int worker_become(struct worker_slot *s, struct channel *end, struct error *e);

#endif
