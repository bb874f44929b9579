/* backend.h: servers to put behind pen: a thread accepts, each connection has
 * a thread of its own that runs a function of the test's choice with blocking
 * calls, so that a server's misbehaviour reads as a story. */
#ifndef PEN_TEST_BACKEND_H
#define PEN_TEST_BACKEND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "support/endpoint.h"

enum { BACKEND_CONNS = 512 };

struct backend;

/* Serves one connection; the descriptor is closed when it returns
 *. Must not use ck_assert. */
typedef void backend_fn(struct backend *b, int fd);

struct backend {
	struct endpoint at;
	backend_fn *serve;
	const void *arg;       /* the test's */
	atomic_int accepted;   /* since the start */
	atomic_int open;       /* being served now */
	atomic_llong received; /* bytes, by the ready-made functions */

	int listen_fd;
	atomic_bool stopping;
	pthread_t thread;
	pthread_mutex_t lock;
	int fds[BACKEND_CONNS]; /* under lock; -1: free, -2: reset */
};

/* Listens at a fresh place of that kind and serves until the stop. */
void backend_start(struct backend *b, enum endpoint_kind kind,
    backend_fn *serve, const void *arg);
/* At a place where one was before, or one made with endpoint_new(). */
void backend_start_at(struct backend *b, const struct endpoint *at,
    backend_fn *serve, const void *arg);
/* Stops accepting, ends open connections, waits for them. */
void backend_stop(struct backend *b);

/* All or false. */
bool backend_send(int fd, const void *bytes, size_t n);

/* Ready-made: */
/* Gives back what comes; the end for the end. */
void backend_echo(struct backend *b, int fd);
/* Says `arg` (a string) at once, then closes. */
void backend_say(struct backend *b, int fd);
/* Reads to the end, counting, then says "received N" and closes. */
void backend_sink(struct backend *b, int fd);
/* Reads nothing until the stop. */
void backend_hang(struct backend *b, int fd);
/* Breaks the connection off at once. */
void backend_reset(struct backend *b, int fd);
/* Answers one HTTP request: 500, without a body. */
void backend_error(struct backend *b, int fd);

#endif
