/* udp.c: blocking sockets with deadlines. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

enum { DATAGRAM = 65536 };

static int
open_at(struct spot *s)
{
	int fd = socket(s->addr.ss_family, SOCK_DGRAM, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_msg(bind(fd, (struct sockaddr *)&s->addr, s->len) == 0,
	    "bind %s: %s", s->text, strerror(errno));
	return fd;
}

void
udp_spot(struct spot *s, enum spot_kind kind)
{
	int fd;

	spot_new(s, kind); /* for the address; its port is TCP's */
	if (kind == SPOT_UNIX)
		return;
	fd = open_at(s);
	close(fd);
}

/* ---- servers ---- */

static void
answer(struct udp_server *u, char *bytes, size_t name, ssize_t n,
    const struct sockaddr_storage *from, socklen_t len)
{
	int i,
	    times = u->replies >= 0 ? u->replies
	    : n > 0		    ? bytes[name] - '0'
				    : 0;

	atomic_fetch_add(&u->received, 1);
	for (i = 0; i < times; i++)
		(void)!sendto(u->fd, bytes, name + (size_t)n, 0,
		    (const struct sockaddr *)from, len);
}

static void *
serve(void *arg)
{
	struct udp_server *u = arg;
	struct pollfd p = { .fd = u->fd, .events = POLLIN };
	size_t name = strlen(u->name);
	char *bytes = malloc(DATAGRAM);

	if (bytes == NULL)
		abort();
	memcpy(bytes, u->name, name);
	while (!atomic_load(&u->stopping)) {
		struct sockaddr_storage from;
		socklen_t len = sizeof(from);
		ssize_t n;

		if (poll(&p, 1, 20) <= 0)
			continue;
		while (
		    (n = recvfrom(u->fd, bytes + name, DATAGRAM - name,
			 MSG_DONTWAIT, (struct sockaddr *)&from, &len)) >= 0) {
			answer(u, bytes, name, n, &from, len);
			len = sizeof(from);
		}
	}
	free(bytes);
	return NULL;
}

void
udp_server_start_at(
    struct udp_server *u, const struct spot *at, const char *name)
{
	struct spot copy = *at;
	int size = 1 << 22;

	memset(u, 0, sizeof(*u));
	u->at = copy;
	u->name = name;
	u->replies = 1;
	u->fd = open_at(&u->at);
	setsockopt(u->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	ck_assert_int_eq(pthread_create(&u->thread, NULL, serve, u), 0);
}

void
udp_server_start(struct udp_server *u, enum spot_kind kind, const char *name)
{
	struct spot at;

	udp_spot(&at, kind);
	udp_server_start_at(u, &at, name);
}

void
udp_server_stop(struct udp_server *u)
{
	atomic_store(&u->stopping, true);
	pthread_join(u->thread, NULL);
	close(u->fd);
	if (u->at.port == 0)
		unlink(u->at.text);
}

/* ---- clients ---- */

int
udp_client(const struct spot *to)
{
	struct sockaddr_un own = { .sun_family = AF_UNIX };
	int fd = socket(to->addr.ss_family, SOCK_DGRAM, 0);

	ck_assert_int_ge(fd, 0);
	if (to->port == 0) /* the kernel makes a name up */
		ck_assert_int_eq(
		    bind(fd, (struct sockaddr *)&own, sizeof(own.sun_family)),
		    0);
	ck_assert_msg(
	    connect(fd, (const struct sockaddr *)&to->addr, to->len) == 0,
	    "connect %s: %s", to->text, strerror(errno));
	spot_set_deadline(fd, 10000);
	return fd;
}

const char *
udp_ask(int fd, const char *what, int ms)
{
	static char got[DATAGRAM];
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	ck_assert_int_eq(send(fd, what, strlen(what), 0), strlen(what));
	if (poll(&p, 1, (int)wait_scaled(ms)) != 1)
		return "";
	n = recv(fd, got, sizeof(got) - 1, 0);
	got[n > 0 ? n : 0] = '\0';
	return text("%s", got);
}
