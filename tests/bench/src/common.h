/* common.h: what load, server and relay have in common: the request, and bytes
 * whose value follows from their position.
 *
 * A request begins with struct ask and is filled with pattern bytes; the answer is
 * pattern bytes alone. Each begins at a place that the request names, so that bytes
 * that are lost, doubled or those of another client are noticed. An HTTP
 * request is a GET with struct ask; the body of its answer is those pattern
 * bytes. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	ASK_MAGIC = 0x41736b21,
	ASK_CLOSE = 1, /* the server closes after the answer */
	ASK_AT_ONCE = 2, /* the answer begins before the request has ended */
	PERIOD = 65521,
	BLOCK = 1 << 20,
};

struct ask {
	uint32_t magic, length, answer; /* length includes this */
	uint16_t place;
	uint16_t flags;
};

/* The same as an HTTP request: between both is struct ask, in hexadecimal
 * digits. */
#define GET_START "GET /"
#define GET_END                                                                   \
	" HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: load\r\n"               \
	"Accept: */*\r\n\r\n"
enum {
	GET_SIZE = sizeof(GET_START) - 1 + 2 * sizeof(struct ask) +
	    sizeof(GET_END) - 1
};

static char pattern[PERIOD + BLOCK], input[BLOCK];

static inline void
give_up(const char *what)
{
	perror(what);
	exit(1);
}

static inline void
common_init(void)
{
	struct rlimit r;
	uint32_t i, x = 2463534242u;

	for (i = 0; i < PERIOD + BLOCK; i++) {
		x ^= x << 13, x ^= x >> 17, x ^= x << 5;
		pattern[i] = i < PERIOD ? (char)(x >> 24) : pattern[i - PERIOD];
	}
	getrlimit(RLIMIT_NOFILE, &r);
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
	signal(SIGPIPE, SIG_IGN);
}

/* At most BLOCK bytes may be taken from here. */
static inline const char *
pattern_at(uint16_t place, uint64_t position)
{
	return pattern + (place + position) % PERIOD;
}

/* "127.0.0.1:80" */
static inline struct sockaddr_in
address(const char *text)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	char host[32];
	unsigned port;

	if (sscanf(text, "%31[0-9.]:%u", host, &port) != 2 ||
	    inet_pton(AF_INET, host, &a.sin_addr) != 1) {
		fprintf(stderr, "%s is not IPV4:PORT\n", text);
		exit(2);
	}
	a.sin_port = htons((uint16_t)port);
	return a;
}

static inline void
set(int fd, int level, int option, int value)
{
	setsockopt(fd, level, option, &value, sizeof(value));
}

static inline int
bound(int type, const char *text)
{
	struct sockaddr_in a = address(text);
	int fd = socket(AF_INET, type | SOCK_NONBLOCK, 0);

	set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (type == SOCK_STREAM)
		set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	else
		set(fd, SOL_SOCKET, SO_RCVBUF, 4 << 20);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
	    (type == SOCK_STREAM && listen(fd, 65535) < 0))
		give_up(text);
	return fd;
}

static inline void
watch(int ep, int fd, uint32_t events, void *data)
{
	struct epoll_event e = { .events = events, .data.ptr = data };

	if (epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) < 0)
		give_up("epoll_ctl");
}
#endif
