/* kernel.h: a kernel in memory, below the real net, pool and proxy: sockets,
 * epoll, splice and the clock. The linker gives libpen.a's calls to it (--wrap,
 * kernel_calls.c). Nothing happens in it by chance: all comes from a seed.
 *
 *     world --write, end, reset--> struct conn <--recv, send, close-- libpen.a
 *
 * The world is what is beyond the sockets: clients, servers, time. It acts
 * while the loop sleeps: epoll_wait() calls kernel.on_sleep, until there is
 * something to report or the loop was stopped; of what there is, it reports
 * some, in any order.
 *
 * A call that no program should make fails the test: one on a descriptor that
 * is closed, a second watch of one. */
#ifndef PEN_TEST_MODEL_KERNEL_H
#define PEN_TEST_MODEL_KERNEL_H

#include <check.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ck_assert(3) costs a system call each time. */
#define MUST_OR(what, ...)                         \
	do {                                       \
		if (!(what))                       \
			ck_abort_msg(__VA_ARGS__); \
	} while (0)
#define MUST(what) MUST_OR(what, "%s", #what)

enum {
	KERNEL_FIRST = 5000, /* of its descriptors */
	KERNEL_DESCRIPTORS = 2048,
};

/* Bytes on their way. */
struct way {
	char *bytes; /* a ring */
	size_t at, n, room;
	uint64_t put, taken; /* since the beginning */
	bool end;	     /* nothing follows */
	bool reset; /* the receiver learns that the connection is gone */
};

/* A connection of the program with the world. */
struct conn {
	unsigned number;
	int fd;	       /* -1: the program has closed it */
	bool outgoing; /* the program has opened it */
	struct sockaddr_in local, peer;
	struct way in, out; /* to the program, from it */
	bool connecting, lingers_not, refused_write;
	bool gone;	   /* the world has closed it */
	int error;	   /* SO_ERROR */
	void *arg;	   /* the world's; NULL at first */
	struct conn *next; /* of those that wait to be accepted, or all */
};

struct kernel {
	uint64_t seed, now_us;
	/* A turn of the loop begins; `idle`: it would sleep. */
	void (*on_sleep)(bool idle);
	/* The program connects: 0, EINPROGRESS (kernel_connected() follows), or
	 * an error. */
	int (*on_connect)(struct conn *c);
	/* A datagram leaves by a socket. */
	void (*on_datagram)(int fd, const struct sockaddr_in *from,
	    const struct sockaddr_in *to, const char *bytes, size_t n);
	/* NULL: no call fails for a shortage. Of this call: an errno, or 0. */
	int (*trouble)(const char *call);
	bool stop;	   /* the loop has been told to */
	bool woken;	   /* by what the test has called: the loop runs */
	uint64_t alarm_us; /* of the timerfd; 0: none */
	unsigned open;	   /* descriptors */
};
extern struct kernel kernel;

void kernel_begin(uint64_t seed);
/* Fails the test for descriptors that are left. */
void kernel_end(void);

/* ---- chance ---- */

uint64_t kernel_random(void);
/* 0 .. n - 1 */
unsigned kernel_below(unsigned n);
/* One time in `n`. */
bool kernel_one_in(unsigned n);

/* ---- the world's side ---- */

/* A client connects to a listener, with buffers of that size; NULL: nobody
 * listens. */
struct conn *kernel_visit(
    const struct sockaddr_in *from, uint16_t port, size_t room);
/* In on_connect(): the buffers of the connection. */
void kernel_size(struct conn *c, size_t room);
/* The connect of the program is over. */
void kernel_connected(struct conn *c, int error);
/* How many bytes it takes; takes them. */
size_t kernel_room(const struct conn *c);
void kernel_put(struct conn *c, const void *bytes, size_t n);
/* Takes up to `n` of the program's bytes. */
size_t kernel_take(struct conn *c, void *bytes, size_t n);
/* FIN; close(), after which what comes is answered by a RST; RST. */
void kernel_finish(struct conn *c);
void kernel_hang_up(struct conn *c);
void kernel_reset(struct conn *c);
/* Frees one that both sides are done with. */
void kernel_forget(struct conn *c);
/* A datagram for the socket of that port, or that descriptor. Returns whether
 * there was one, with room. */
bool kernel_datagram(const struct sockaddr_in *from, uint16_t port, int fd,
    const void *bytes, size_t n);
/* The peer of a socket of datagrams has no socket: ICMP. */
void kernel_refuse(int fd);
/* How many datagrams wait to be received. */
unsigned kernel_queued(int fd);
/* Is it open, and a socket? */
bool kernel_is_open(int fd);
/* The connection of a descriptor; NULL: it has none. */
struct conn *kernel_conn(int fd);

#endif
