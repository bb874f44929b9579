/* kernel_private.h: what the files of kernel.h share: kernel.c has descriptors,
 * epoll and time, kernel_stream.c connections, kernel_dgram.c datagrams,
 * kernel_calls.c what libpen.a calls. */
#ifndef PEN_TEST_MODEL_KERNEL_PRIVATE_H
#define PEN_TEST_MODEL_KERNEL_PRIVATE_H

#include <check.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "model/kernel.h"

enum { DATAGRAMS = 32, DATAGRAM_ROOM = 2048 };

enum kind { CLOSED_FD, CONN, LISTENER, ALARM, PIPE_IN, PIPE_OUT, DATAGRAM };

struct datagram {
	struct sockaddr_in from;
	size_t n;
	char bytes[DATAGRAM_ROOM];
};

struct descriptor {
	enum kind kind;
	struct conn *conn;
	struct way *pipe;	   /* of both ends */
	struct conn *first, *last; /* backlog */
	struct sockaddr_in local, peer;
	bool connected, refused;
	struct datagram *queue;
	unsigned at, n; /* of it */
	/* epoll */
	bool watched, told; /* an edge is to be reported */
	uint32_t events;
	uint64_t word;
};

/* Fails the test unless it is open. */
struct descriptor *descriptor_of(int fd);
/* Makes one, the lowest; -1 with errno. */
int descriptor_new(enum kind kind, const char *call);
void descriptor_free(int fd);
/* One of that kind, bound to that port; NULL: there is none. */
struct descriptor *descriptor_find(enum kind kind, uint16_t port, int *fd);
static inline bool
is_fake(int fd)
{
	return fd >= KERNEL_FIRST;
}

/* A thing has happened to it that an edge-triggered set reports. */
void descriptor_tell(int fd);
/* EPOLLIN and so on. */
uint32_t conn_mask(const struct conn *c);
uint32_t datagram_mask(const struct descriptor *d);

/* What the calls do, below their names. */
struct itimerspec;
int kernel_watch(int op, int fd, const struct epoll_event *event);
int kernel_wait(struct epoll_event *events, int most, int ms);
void kernel_set_alarm(int fd, const struct itimerspec *in);
struct conn *conn_of_program(void);
void conn_close(struct conn *c);
ssize_t conn_recv(struct conn *c, void *bytes, size_t n, bool peek);
ssize_t conn_send(struct conn *c, const void *bytes, size_t n);
ssize_t conn_splice_in(struct conn *c, struct way *to, size_t n);
ssize_t conn_splice_out(struct conn *c, struct way *from, size_t n);
int conn_shutdown(struct conn *c);
ssize_t datagram_send(int fd, const struct msghdr *m);
ssize_t datagram_receive(int fd, struct msghdr *m);

void way_open(struct way *w, size_t room);

int failed(int error);

#endif
