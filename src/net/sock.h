/* sock.h: every socket call, socket option and platform difference in one
 * place.
 *
 * All descriptors made here are non-blocking and close-on-exec. Functions
 * return a descriptor or 0, or -1 with errno. */
#ifndef PEN_NET_SOCK_H
#define PEN_NET_SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/addr.h"
#include "base/error.h"
#include "net/sock_file.h"
#include "net/sources.h"

/* What the kernel does for a TCP socket; 0: as the system is set up. */
struct sock_tuning {
	uint64_t sndbuf, rcvbuf; /* bytes: SO_SNDBUF, SO_RCVBUF (socket(7)) */
	uint64_t rate; /* bytes a second it may send: SO_MAX_PACING_RATE */
};

static inline bool
sock_tuning_equal(const struct sock_tuning *a, const struct sock_tuning *b)
{
	return a->sndbuf == b->sndbuf && a->rcvbuf == b->rcvbuf &&
	    a->rate == b->rate;
}

/* Whether this system can limit the rate of a socket. */
bool sock_can_pace(void);
/* Sets buffers and rate. Sockets accepted from a listening one inherit them. */
void sock_tune(int fd, const struct sock_tuning *t);

/* Whether routers may fragment the IPv4 datagrams of a socket that are larger
 * than the path MTU, also those of an IPv6 socket: they have no DF, and what
 * ICMP messages report of the path is ignored, as those can be forged, or lost.
 * If not it is as the system has it: DF, and datagrams are lost until an ICMP
 * message has the path MTU (RFC 1191). Routers of IPv6 never fragment. */
void sock_set_fragments(int fd, int family, bool may);

/* The number of a socket, the same in each process that has it; 0 where sockets
 * have none. */
uint64_t sock_inode(int fd);

/* When a silent peer is taken for dead: tcp(7), RFC 1122 4.2.3.6. 0: the
 * system's default. */
struct sock_keepalive {
	bool on;
	unsigned idle_s;     /* before the first probe */
	unsigned interval_s; /* between probes */
	unsigned count;	     /* probes without an answer */
	unsigned user_ms; /* bytes not acknowledged (RFC 5482); 0: no limit */
};

bool sock_keepalive_equal(
    const struct sock_keepalive *a, const struct sock_keepalive *b);

struct socket_set;

/* Whether it is alone at its address; the first of several sockets there, which
 * finds out that no other program has it; or another one of them. */
enum sock_group { SOCK_GROUP_NONE, SOCK_GROUP_FIRST, SOCK_GROUP_NEXT };

struct sock_listen_options {
	int backlog;
	bool v6_only;  /* an IPv6 wildcard leaves IPv4 alone */
	bool freebind; /* this host may come by the address later */
	/* Accepted sockets inherit nodelay, keepalive and tuning. */
	bool nodelay;
	struct sock_keepalive keepalive;
	bool datagram;	  /* SOCK_DGRAM */
	enum sock_group group;
	mode_t unix_mode; /* of the socket file; 0: by the umask */
	struct sock_tuning tuning;
	/* Of the process: those that it has are taken instead of opened; NULL:
	 * none. */
	struct socket_set *sockets;
};

/* Opens a listening socket, or takes the inherited one with that address, whose
 * file keeps its mode. The socket file of a program that is gone is replaced,
 * by one process if several start at once; anything else at that path (a file,
 * a live socket) is left alone and is an error. The message in `e` names the
 * address. `file` (NULL: not wanted) is marked before a client can connect. */
int sock_listen(const struct addr *at, const struct sock_listen_options *o,
    struct sock_file *file, struct error *e);

/* More sockets may be bound to its address from now on, by this user; also when
 * it listens already. */
void sock_allow_group(int fd);

/* Changes what sockets accepted from now on inherit: `nodelay`, `keepalive` and
 * `tuning`. */
void sock_tune_listener(int fd, const struct sock_listen_options *o);
/* Harmless on Unix sockets. */
void sock_set_keepalive(int fd, const struct sock_keepalive *k);

/* The address a socket is bound to; the one that it is connected to, on Linux
 * also while it connects and after the connection has ended. */
int sock_local_addr(int fd, struct addr *a);
int sock_peer_addr(int fd, struct addr *a);

/* Accepts one connection and returns its peer. errno is EAGAIN when none waits,
 * EMFILE, ENFILE, ENOBUFS or ENOMEM when resources are short; connections that
 * died in the queue are skipped. */
int sock_accept(int listen_fd, struct peer *who);

/* The process, the user and the group at the other end of a Unix socket, as
 * they were when it connected. Returns 0, or -1 where that cannot be known. */
int sock_peer_owner(int fd, struct peer_owner *owner);

struct sock_connect_options {
	const struct sources *sources; /* local addresses, in turn; NULL: any */
	unsigned *turn;		       /* which was used last */
	uint16_t port;		       /* of an address that has none */
	/* The first port that the system chooses for near ends (ports_first());
	 * 0: any from 1024 on. No socket is connected to itself below it. */
	uint16_t near_ports;
	/* Whose address the socket is to have instead (sock_may_pose()), with
	 * another port; NULL: ours. */
	const struct peer *client;
	const struct sock_tuning *tuning; /* NULL: none */
	/* Bytes are to be sent at once: the ACK of the handshake goes with them
	 * if the system can (Linux). If there are none after all, and after
	 * each write until the server has answered, sock_ack_at_once() is to be
	 * called. */
	bool bytes_follow;
};

/* Starts a connection. The descriptor becomes writable when it is established
 * or has failed; errors that are known at once return -1. EADDRNOTAVAIL: no
 * source has a port left. EAGAIN: the queue of a Unix listener is full, worth
 * another try soon. ECONNREFUSED also if the socket got the port of a server of
 * this host that does not listen, and so would be connected to itself. */
int sock_connect(const struct addr *to, const struct sock_connect_options *o);

/* A datagram socket; sock_connect_datagram(): one connected to the address, by
 * sock_connect_to(). */
int sock_datagram(int family);
int sock_connect_datagram(const struct addr *to);
/* connect() of a datagram socket. Returns 0, or -1 with errno: ECONNREFUSED
 * also if it would be connected to itself. */
int sock_connect_to(int fd, const struct addr *to);

/* The pending error of a socket (SO_ERROR), cleared by this call; 0: none. */
int sock_error(int fd);

/* Whether an error of connect() is a shortage of this host, and not a failure
 * of the server. */
bool sock_error_is_ours(int error);
/* Whether it means that the server or its host refused at once. */
bool sock_error_is_refusal(int error);

/* Whether the peer has ended or reset the connection, even with bytes
 * unread. */
bool sock_has_ended(int fd);

/* Whether a read would give something now: bytes, the end, or an error. */
bool sock_has_input(int fd);
/* The byte that a read would begin with; SOCK_NONE_YET, or SOCK_NEVER: the end,
 * or an error. */
enum { SOCK_NONE_YET = -1, SOCK_NEVER = -2 };
int sock_next_byte(int fd);

/* Urgent bytes are read in line with the others (SO_OOBINLINE). Set before any
 * can come: without it the kernel drops one that is not read when the next one
 * comes. sock_connect() has done it, and a listener of TCP for its clients. */
void sock_take_urgent(int fd);

/* Sends without Nagle's delay from now on. Harmless on Unix sockets. */
void sock_set_nodelay(int fd);

/* Acknowledges what was received now, and what comes next at once, as on a
 * young connection: a server that answers in two pieces may wait for that (RFC
 * 896). Harmless on Unix sockets. */
void sock_ack_at_once(int fd);

/* Closes so that the peer sees a reset, not an end: what was not sent yet is
 * thrown away. */
void sock_close_reset(int fd);

/* Bytes the peer has not acknowledged yet; 0 where it cannot be known, and of a
 * connection that was reset. */
size_t sock_unsent(int fd);
/* Bytes that can be read now, tcp(7). An error that waits is left there. */
size_t sock_unread(int fd);

/* send() that never raises SIGPIPE; with `more`, the last bytes wait for
 * the next call or shutdown, so that data and FIN share a segment. */
ssize_t sock_send(int fd, const void *bytes, size_t n, bool more);
/* The same for the bytes of two buffers, one after the other. */
ssize_t sock_send_two(int fd, const void *first, size_t first_n,
    const void *second, size_t second_n, bool more);

/* Sets the soft limit of descriptors to the hard limit, or to `most` if that is
 * less. Returns the limit. */
size_t sock_raise_fd_limit(size_t most);
/* The limit that sock_raise_fd_limit() could reach without a `most`. */
size_t sock_fd_limit(void);

/* Makes a kernel pipe of about `size` bytes; smaller where that is refused, but
 * not below SOCK_PIPE_MIN: once a user other than root has many (pipe(7),
 * pipe-user-pages-soft) the kernel gives two pages each, and moving bytes
 * through those costs more than copying. errno is EPERM then. */
enum { SOCK_PIPE_MIN = 64 * 1024 };
int sock_pipe(int fd[2], size_t size);

/* A pipe for the output of a program: fd[0] is pen's end; fd[1] the program's,
 * and therefore blocking. */
int sock_pipe_of_program(int fd[2]);
/* dup2(2), closed on exec. */
int sock_copy_to(int fd, int to);

/* splice(2): moves up to `n` bytes between a socket and a pipe inside the
 * kernel. -1 with ENOSYS where there is no such call. */
ssize_t sock_splice(int from, int to, size_t n);

#endif
