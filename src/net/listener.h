/* listener.h: accepts connections on one address in fair portions, or waits for
 * datagrams there.
 *
 * Accepts up to `budget` connections a wake-up. When descriptors run out it
 * pauses by itself and tries again shortly after; connections wait in the
 * backlog meanwhile, nothing spins, and the log has a line a minute. */
#ifndef PEN_NET_LISTENER_H
#define PEN_NET_LISTENER_H

#include "base/addr.h"
#include "base/error.h"
#include "base/list.h"
#include "net/dgram_reply.h"
#include "net/loop/loop.h"
#include "net/sock.h"

struct listener {
	struct list row; /* of the table of sockets; see socket_set.h */
	struct watch watch;
	struct loop *loop;
	int fd;
	struct addr at;
	unsigned backlog;
	struct sock_file file; /* of a Unix listener, to remove in the end */
	unsigned budget;       /* connections a wake-up at the most */
	unsigned burst; /* how many it accepts this time; adapts to the load */
	unsigned turn;	       /* of the loop, in which it accepted last */
	bool paused;	       /* paused by the owner */
	bool starved;	       /* paused by a lack of descriptors */
	uint64_t logged_ms;    /* when that was; 0: never */
	bool v6_only;  /* as it was opened */
	mode_t mode;   /* of its file, as it was opened */
	bool goes;     /* the change that is under way has it elsewhere */
	bool draining; /* no client comes any more, but flows go on */
	bool replaced; /* another process serves the socket */
	int passed; /* its number there; 0: none, -1: that does not want it */
	/* Its own descriptor and those of workers, which are the opener's to
	 * close; NULL: it is alone. Those beyond the workers that there are get
	 * no new clients. */
	int *group;
	unsigned group_count;
	struct timer retry;
	/* A new connection, yours to close. May pause the listener. */
	void (*on_accept)(struct listener *l, int fd, const struct peer *who);
	/* Of datagrams instead: some may be read from l->fd, and are given to
	 * listener_take(). */
	void (*on_datagrams)(struct listener *l);
	void (*on_batch)(struct listener *l, struct dgram_batch *b);
	/* Another process serves from now on; may close it. NULL: nothing. */
	void (*on_replaced)(struct listener *l);
	bool datagram;
	bool alone; /* the last wake-up had a single datagram */
	struct dgram_replies replies;
	void *arg; /* the owner */
	/* A client, or datagrams, that the loop's number came before: it paused
	 * the listener. -1, NULL: none. */
	int waiting;
	struct peer waiting_who;
	struct dgram_batch *waiting_batch;
};

/* How many datagrams to receive at once. While they come singly, one: a call
 * that tries for a second one costs 800 instructions more. While there are more
 * the listener is ready again in the next turn, and gets them in batches. */
static inline int
listener_most(const struct listener *l)
{
	return l->alone && l->burst == 1 ? 1 : DGRAM_BATCH;
}

/* Opens; accepts nothing until resumed. It is a row of the table of the options
 * until it is closed. Returns 0, or -1 with a full message. */
int listener_open(struct listener *l, struct loop *loop, const struct addr *at,
    const struct sock_listen_options *o, struct error *e);
/* The same, while `before` (NULL: none) is there, which is closed next: it
 * stops listening if its address overlaps, as 127.0.0.1:80 with 0.0.0.0:80. */
int listener_replace(struct listener *l, struct loop *loop,
    const struct addr *at, const struct sock_listen_options *o,
    const struct listener *before, struct error *e);
/* Accepts again, as the listener is to stay, or could not be replaced. */
void listener_listen_again(struct listener *before);
/* Closes and removes the socket file; fine on one that is not open. */
void listener_close(struct listener *l);

/* A file that another listener or process has, too, gets the mode of the
 * options that this one was opened with. What fails is logged. Fine on any
 * listener, as is the next. */
void listener_set_mode(struct listener *l);
/* The same, and it is this listener's alone from now on, to remove. */
void listener_own(struct listener *l);

/* Accepts at once all that waits in the backlog, paused or not: before a close,
 * so that no client is lost. It accepts no more than the backlog holds, so a
 * flood of new clients does not keep it busy for ever. None, when another
 * process serves the socket. */
void listener_drain(struct listener *l);

/* A client that waits in it, or datagrams, are served now. */
void listener_accept_waiting(struct listener *l);

/* Calls on_batch() with datagrams that on_datagrams() has received. What its
 * loop's number stands for comes first: then the batch is a copy, as memory of
 * batches is shared, and waits while that pauses the listener. Returns whether
 * more may be received: false if it has been paused, or closed; then its owner
 * may be gone. */
bool listener_take(struct listener *l, struct dgram_batch *b);

/* The socket by which an answer leaves from *from, an address that datagrams
 * came to; *from is then what is to be named there. */
int listener_reply_fd(struct listener *l, const struct dgram_local **from);

/* Stops accepting; connections wait in the backlog. */
void listener_pause(struct listener *l);
/* Returns 0, or -1 with errno: then it tries again by itself until it is paused
 * or closed. */
int listener_resume(struct listener *l);

#endif
