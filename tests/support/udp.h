/* udp.h: datagrams: servers in threads, clients, and places for them. */
#ifndef PEN_TEST_UDP_H
#define PEN_TEST_UDP_H

#include <pthread.h>
#include <stdatomic.h>

#include "support/endpoint.h"

/* A place for datagrams: ENDPOINT_TCP4, ENDPOINT_TCP6 and ENDPOINT_UNIX say the
 * family. The port is free, for TCP as well, and none that the kernel gives to
 * others; with ENDPOINT_TCP4 the address is one of 127.0.0.0/8 that only this
 * process uses. */
void udp_endpoint(struct endpoint *s, enum endpoint_kind kind);

/* Its address without the port. */
const char *udp_host(const struct endpoint *s);

struct udp_server {
	struct endpoint at;
	int fd;
	const char *name;
	int replies; /* to each datagram; less than 0: as its first byte */
	atomic_int received;
	atomic_bool stopping;
	pthread_t thread;
};

/* Answers each datagram with its name in front ("" gives it back as it is), at
 * a fresh place or at `at`. */
void udp_server_start(
    struct udp_server *u, enum endpoint_kind kind, const char *name);
void udp_server_start_at(
    struct udp_server *u, const struct endpoint *at, const char *name);
/* Its place is empty then. */
void udp_server_stop(struct udp_server *u);

/* A client's socket that sends there; on Unix it has a name to be answered at.
 * Reads give up after 10 s. */
int udp_client(const struct endpoint *to);
/* Sends and returns the answer, "" when none comes in `ms`. */
const char *udp_ask(int fd, const char *what, int ms);
/* The same for a question that is asked again, or that nobody may answer: it
 * waits no longer on a busy machine. */
const char *udp_try(int fd, const char *what, int ms);

/* Clients that are made up: a datagram from each of many addresses of 127/8, as
 * fast as they can be sent. */
struct udp_flood {
	struct endpoint to;
	int first, amount, ms;
	atomic_bool over;
	pthread_t thread;
};

/* Begins one to an IPv4 place; clients are numbered from `first` on. */
void udp_flood_start(
    struct udp_flood *f, const struct endpoint *to, int first, int amount);
/* Waits for its end; the test fails when not all was sent. `ms`: how long. */
void udp_flood_stop(struct udp_flood *f);

#endif
