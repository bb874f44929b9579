/* workers_private.h: what leader and workers say to each other, and the
 * leader's record of each worker. */
#ifndef PEN_CONTROL_WORKERS_PRIVATE_H
#define PEN_CONTROL_WORKERS_PRIVATE_H

#include <sys/types.h>

#include "control/life/context.h"
#include "control/workers/channel.h"
#include "control/workers/reserve.h"
#include "control/workers/tally.h"
#include "control/workers/workers.h"
#include "pool/pool_share.h"

enum workers_message {
	/* leader to worker */
	MESSAGE_CHANGE = 1, /* one that is in force; see change.h */
	MESSAGE_ASK,	    /* a command; see remote.c */
	MESSAGE_HANG_UP,
	MESSAGE_DRAIN, /* no new clients */
	MESSAGE_PAUSE, /* nothing is accepted or received .. */
	MESSAGE_RESUME,
	MESSAGE_GIVE,	   /* struct give: what it has of its clients */
	MESSAGE_LEND,	   /* sockets of a worker that is away .. */
	MESSAGE_GIVE_BACK, /* .. has its own again */
	MESSAGE_LEAVE,	   /* others have its sockets, and new clients */
	MESSAGE_END,
	MESSAGE_PING,
	/* worker to leader */
	MESSAGE_CANNOT,	  /* a full message: why it has not made a change */
	MESSAGE_ANSWER,	  /* uint32_t: which; some of it */
	MESSAGE_ANSWERED, /* uint32_t: which; '+' or '-', and why not */
	MESSAGE_PONG,
	MESSAGE_GIVEN,	   /* a piece; see handover_state.h */
	MESSAGE_GIVEN_ALL, /* the last one */
	/* both */
	MESSAGE_STATE /* struct state_record */
};

struct state_record {
	char service[SERVICE_NAME_MAX + 1];
	unsigned slot, generation;
	struct server_elsewhere server;
};

struct give {
	bool flows; /* and not the client table */
	bool first;
	bool sockets; /* of the flows, too */
};

/* One worker, or the one that will replace it. */
struct seat {
	struct workers *workers;
	unsigned member; /* 1 .. */
	pid_t pid;	 /* 0: none is there */
	struct channel channel;
	struct watch watch;
	struct task task; /* takes messages that came before one awaited */
	struct timer again;	/* it is replaced */
	bool due;		/* now */
	unsigned deaths;	/* lately */
	unsigned helper;	/* has its sockets meanwhile; 0: none has */
	uint64_t born, heard;	/* ms */
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
	struct task lend;	/* see lend.c */
	bool lends_anew;	/* there are other sockets */
	uint32_t changes;	/* the number of the last one */
	uint32_t announced;	/* changes and states */
	bool paused;	 /* none accepts, and none is forked */
	bool leaves;	 /* others have the clients */
	unsigned giver;	 /* whose state is gathered, from 0 on .. */
	bool begun;	 /* .. and of which there was a piece already */
	struct seat *seat;
	struct pool_share share;
	struct shared_memory counters; /* what they count */
	struct timer beat;
	uint64_t beaten;      /* ms: the last time */
	unsigned counted;     /* the turn of the loop in which sums were made */
	bool sums;	      /* they were made once */
	struct list remotes;  /* struct remote */
	uint32_t asked;	      /* so many remotes */
	struct buffer ending; /* pid_t: killed, and not reaped yet */
	struct task end;      /* frees it */
};

#define WORKERS_EACH(p, w) \
	for ((w) = (p)->team.workers; (w) != NULL; (w) = (w)->past)

#define SEAT_EACH(w, s)                                            \
	for ((s) = (w)->seat; (s) < (w)->seat + (w)->count; (s)++) \
		if ((s)->pid != 0)

/* seat.c */
void seat_init(struct seat *s, struct workers *w, unsigned member);
/* Closes and frees what is of it; the process goes on. */
void seat_fini(struct seat *s);
/* For its watch. */
void seat_on_messages(struct watch *w, unsigned ready);
/* The worker is to be forked: now, or in a while if others died lately. */
void seat_replace(struct seat *s);
/* Waits for the end of a process whose channel is closed, and kills it if it
 * goes on; at most two seconds: one that is in a call to a disk that hangs ends
 * later. Returns its status, or -1. */
int seat_reap(pid_t pid);
/* It does not answer: ends it. */
void seat_kill(struct seat *s, const char *why);
/* Sends without waiting, what it does not take yet later; or ends it. */
void seat_post(struct seat *s, unsigned type, const void *bytes, size_t n);
/* A descriptor, in front of the next message; `seat` is one. */
void seat_post_socket(void *seat, int fd);
/* Waits for the answer, or ends it, NULL. */
struct message *seat_wait(
    struct seat *s, unsigned type, unsigned other, uint64_t ms);

/* Sends to all of a set. */
void workers_post(
    struct workers *w, unsigned type, const void *bytes, size_t n);
/* A change or a state is posted, or will be: a worker accepts no client before
 * it has obeyed as many as the number in the shared memory of the set. */
void workers_announce(struct workers *w);
/* Frees a set, and those before it; the processes go on. */
void workers_forget(struct workers *w);
/* The set has no process any more: a past one ends. */
void workers_end(struct workers *w);

/* fork.c: for the timer of a set that could not be forked; and closes the
 * sockets of flows that workers were to have. */
void workers_on_again(struct timer *t);
void workers_forget_flows(struct pen *p);
/* A worker has not made a change, and serves as before: a new set takes over
 * from its own, now or, if that has just begun, in a while. */
void workers_replace(struct seat *s, const char *why);

/* renew.c: for struct team; and a set of so many as are wanted, which it forks,
 * as workers_fork_set() does. When that fails the old one goes on. */
void workers_pause(struct pen *p, bool pause);
void workers_leave(struct pen *p);
int workers_gather(struct pen *p, bool flows, bool first, struct buffer *out,
    struct passed *sockets);
int workers_renew(struct pen *p, struct error *e);

/* lend.c: workers have come, or are away for a while; there are other sockets;
 * and a task. */
void lend_soon(struct workers *w);
void lend_anew(struct workers *w);
void lend_on_task(struct task *t);

/* remote.c: a piece of an answer; and a worker that answers no more. */
void remote_hear(struct seat *s, const struct message *m);
void remote_lose(struct seat *s);
/* For team.await_close(). */
struct wait *remote_await_close(struct pen *p);
int remote_begin(
    struct call *c, const char *line, size_t length, struct error *e);

/* states_sync.c: the state of a server is sent, received, written. */
void sync_tell(struct service *svc, struct server *s);
/* In a worker: those for which there was no room. */
void sync_tell_rest(struct worker *w);
void sync_hear(struct pen *p, const char *bytes, size_t n);
int sync_write(
    const struct service *svc, const struct server *s, struct buffer *out);

/* worker.c: becomes the worker of that seat, in a child process. Returns 0, or
 * -1 with a full message. */
int worker_become(struct seat *s, struct channel *end, struct error *e);

#endif
