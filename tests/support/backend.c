/* backend.c: the accepting thread, the serving threads, ready-made servers. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/wait.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* What a slot holds besides a descriptor. A slot is its thread's until that
 * ends: the next connection may have the descriptor that a reset has just given
 * back. */
enum { SLOT_FREE = -1, SLOT_RESET = -2 };

struct conn {
	struct backend *b;
	int fd, slot;
};

static void *
serve_one(void *arg)
{
	struct conn c = *(struct conn *)arg;

	free(arg);
	c.b->serve(c.b, c.fd);
	pthread_mutex_lock(&c.b->lock);
	if (c.b->fds[c.slot] >= 0)
		close(c.fd);
	c.b->fds[c.slot] = SLOT_FREE;
	pthread_mutex_unlock(&c.b->lock);
	atomic_fetch_sub(&c.b->open, 1);
	return NULL;
}

static int
take_slot(struct backend *b, int fd)
{
	int i;

	pthread_mutex_lock(&b->lock);
	for (i = 0; i < BACKEND_CONNS && b->fds[i] != SLOT_FREE; i++)
		;
	if (i < BACKEND_CONNS)
		b->fds[i] = fd;
	pthread_mutex_unlock(&b->lock);
	return i;
}

static void
start_one(struct backend *b, int fd)
{
	struct conn *c = malloc(sizeof(*c));
	pthread_attr_t attr;
	pthread_t t;
	int slot = take_slot(b, fd);

	if (c == NULL || slot == BACKEND_CONNS) {
		fprintf(stderr, "backend: too many connections\n");
		abort();
	}
	*c = (struct conn){ b, fd, slot };
	atomic_fetch_add(&b->open, 1);
	atomic_fetch_add(&b->accepted, 1);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&t, &attr, serve_one, c) != 0)
		abort();
	pthread_attr_destroy(&attr);
}

static void *
accept_all(void *arg)
{
	struct backend *b = arg;
	struct pollfd p = { .fd = b->listen_fd, .events = POLLIN };
	int fd;

	while (!atomic_load(&b->stopping)) {
		if (poll(&p, 1, 20) <= 0)
			continue;
		fd = accept(b->listen_fd, NULL, NULL);
		if (fd >= 0)
			start_one(b, fd);
	}
	return NULL;
}

void
backend_start_at(struct backend *b, const struct endpoint *at,
    backend_fn *serve, const void *arg)
{
	int i;

	memset(b, 0, sizeof(*b));
	b->at = *at;
	b->serve = serve;
	b->arg = arg;
	for (i = 0; i < BACKEND_CONNS; i++)
		b->fds[i] = SLOT_FREE;
	pthread_mutex_init(&b->lock, NULL);
	if (at->port == 0 && at->text[0] != '@')
		unlink(at->text);
	b->listen_fd = endpoint_listen(at, 1024);
	ck_assert_int_eq(pthread_create(&b->thread, NULL, accept_all, b), 0);
}

void
backend_start(struct backend *b, enum endpoint_kind kind, backend_fn *serve,
    const void *arg)
{
	struct endpoint at;

	endpoint_new(&at, kind);
	backend_start_at(b, &at, serve, arg);
}

void
backend_stop(struct backend *b)
{
	int i;

	atomic_store(&b->stopping, true);
	pthread_join(b->thread, NULL);
	close(b->listen_fd);
	pthread_mutex_lock(&b->lock);
	for (i = 0; i < BACKEND_CONNS; i++)
		if (b->fds[i] >= 0)
			shutdown(b->fds[i], SHUT_RDWR);
	pthread_mutex_unlock(&b->lock);
	WAIT_FOR(atomic_load(&b->open) == 0, 10000);
}

bool
backend_send(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;
	ssize_t k;

	for (; n > 0; p += k, n -= (size_t)k) {
		k = send(fd, p, n, MSG_NOSIGNAL);
		if (k <= 0)
			return false;
	}
	return true;
}

void
backend_echo(struct backend *b, int fd)
{
	char buf[16384];
	ssize_t k;

	while ((k = recv(fd, buf, sizeof(buf), 0)) > 0) {
		atomic_fetch_add(&b->received, k);
		if (!backend_send(fd, buf, (size_t)k))
			return;
	}
}

void
backend_say(struct backend *b, int fd)
{
	const char *what = b->arg;

	backend_send(fd, what, strlen(what));
}

void
backend_sink(struct backend *b, int fd)
{
	static const size_t size = 65536;
	char *buf = malloc(size), answer[64];
	long long n = 0;
	ssize_t k;

	if (buf == NULL)
		return;
	while ((k = recv(fd, buf, size, 0)) > 0) {
		n += k;
		atomic_fetch_add(&b->received, k);
	}
	free(buf);
	snprintf(answer, sizeof(answer), "received %lld\n", n);
	if (k == 0)
		backend_send(fd, answer, strlen(answer));
}

void
backend_hang(struct backend *b, int fd)
{
	(void)fd;
	while (!atomic_load(&b->stopping))
		wait_nap();
}

void
backend_error(struct backend *b, int fd)
{
	static const char oops[] =
	    "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n";
	char request[4096];

	(void)b;
	if (recv(fd, request, sizeof(request), 0) > 0)
		backend_send(fd, oops, sizeof(oops) - 1);
}

void
backend_reset(struct backend *b, int fd)
{
	int i;

	pthread_mutex_lock(&b->lock);
	for (i = 0; i < BACKEND_CONNS; i++)
		if (b->fds[i] == fd)
			b->fds[i] = SLOT_RESET;
	pthread_mutex_unlock(&b->lock);
	endpoint_reset(fd);
}
