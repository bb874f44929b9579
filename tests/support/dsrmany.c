/* dsrmany.c: the servers are loops over epoll, the client one over poll. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/child.h"
#include "support/dsrmany.h"
#include "support/suite.h"
#include "support/wait.h"

/* ---- servers ---- */

static void
watch(int loop, int fd, bool listens)
{
	struct epoll_event e = { .events = EPOLLIN };

	e.data.u64 = (uint64_t)fd << 1 | listens;
	epoll_ctl(loop, EPOLL_CTL_ADD, fd, &e);
}

/* Answers what has come; the sender is the peer, or named by a datagram. */
static void
answer(int fd, char number)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	char bytes[256];
	ssize_t n = recvfrom(
	    fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&from, &len);

	if (n <= 0) {
		if (n == 0 || errno != EAGAIN)
			close(fd);
		return;
	}
	memset(bytes, number, (size_t)n);
	sendto(fd, bytes, (size_t)n, MSG_NOSIGNAL,
	    len > 0 ? (struct sockaddr *)&from : NULL, len);
}

static void
serve(const int fds[4], char number)
{
	struct epoll_event list[64];
	int loop = epoll_create1(0), i, n, fd;

	for (i = 0; i < 4; i++)
		watch(loop, fds[i], i < 2);
	while ((n = epoll_wait(loop, list, 64, -1)) >= 0 || errno == EINTR)
		for (i = 0; i < n; i++) {
			fd = (int)(list[i].data.u64 >> 1);
			if ((list[i].data.u64 & 1) == 0)
				answer(fd, number);
			else if ((fd = accept4(
				      fd, NULL, NULL, SOCK_NONBLOCK)) >= 0)
				watch(loop, fd, false);
		}
}

static void
allow_many_files(void)
{
	struct rlimit most;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &most), 0);
	most.rlim_cur = most.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &most), 0);
}

void
dsrmany_serve(const struct net_fixture *r, unsigned i)
{
	dsrmany_serve_at(r, i, NET_FIXTURE_VIP4);
}

void
dsrmany_serve_at(const struct net_fixture *r, unsigned i, const char *vip)
{
	const char *const vips[] = { vip, NET_FIXTURE_VIP6 };
	int fds[4], k;

	allow_many_files();
	for (k = 0; k < 4; k++)
		fds[k] = net_fixture_listen(r, NET_FIXTURE_SERVER + i,
		    k < 2 ? SOCK_STREAM : SOCK_DGRAM, vips[k % 2],
		    DSRMANY_PORT);
	if (child_fork() == 0) {
		serve(fds, (char)('0' + i));
		_exit(1);
	}
	for (k = 0; k < 4; k++)
		close(fds[k]);
}

void
dsrmany_web(
    const struct net_fixture *r, unsigned i, struct nginx *n, size_t size)
{
	char *page = malloc(size + 1);

	ck_assert_ptr_nonnull(page);
	net_fixture_enter(r, NET_FIXTURE_SERVER + i);
	/* a client that does not read for a while is no reason to end */
	nginx_up_with(n, "", "",
	    "listen *:80 backlog=4096; listen [::]:80 backlog=4096; "
	    "send_timeout 1h;");
	net_fixture_leave(r);
	memset(page, '0' + (int)i, size);
	page[size] = '\0';
	write_file(text("%s/page", n->root), page);
	free(page);
}

/* ---- the client ---- */

void
dsrmany_init(
    struct dsrmany *m, const struct net_fixture *r, const char *question)
{
	memset(m, 0, sizeof(*m));
	m->fixture = r;
	m->question = question != NULL ? question : "?";
	allow_many_files();
}

void
dsrmany_add(
    struct dsrmany *m, int type, const char *from, const char *vip, int port)
{
	unsigned i = m->count++;

	ck_assert_uint_lt(i, DSRMANY_MAX);
	m->one[i] = (struct dsrmany_one){ .server = -1, .want = 1 };
	m->fd[i].fd = net_fixture_dial_from(
	    m->fixture, NET_FIXTURE_CLIENT, type, from, vip, port);
	m->fd[i].events = POLLOUT;
}

static void
leave(struct dsrmany *m, unsigned i, enum dsrmany_fate fate)
{
	if (m->fd[i].fd < 0)
		return;
	close(m->fd[i].fd);
	m->fd[i].fd = -1;
	m->one[i].fate = fate;
}

static void
say(struct dsrmany *m, unsigned i, const char *words)
{
	size_t n = strlen(words);

	if (send(m->fd[i].fd, words, n, MSG_NOSIGNAL) != (ssize_t)n)
		leave(m, i, DSRMANY_BROKEN);
}

/* How many more bytes it may read. */
static size_t
room_of(const struct dsrmany *m, unsigned i)
{
	size_t got = m->one[i].got;

	if (m->most == 0)
		return SIZE_MAX;
	return m->most > got ? m->most - got : 0;
}

static void
take(struct dsrmany *m, unsigned i)
{
	static char bytes[65536];
	struct dsrmany_one *o = &m->one[i];
	size_t room = room_of(m, i);
	ssize_t n, k;

	if (room == 0) /* poll() has told of its end */
		room = 1;
	n = recv(m->fd[i].fd, bytes,
	    room < sizeof(bytes) ? room : sizeof(bytes), 0);

	if (n <= 0) {
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			leave(m, i, n == 0 ? DSRMANY_ENDED : DSRMANY_BROKEN);
		return;
	}
	if (o->server < 0)
		o->server = bytes[0] - '0';
	for (k = 0; k < n; k++)
		o->moved |= bytes[k] - '0' != o->server;
	o->got += (size_t)n;
}

void
dsrmany_turn(struct dsrmany *m, int ms)
{
	unsigned i;

	for (i = 0; i < m->count; i++)
		if (m->one[i].asked)
			m->fd[i].events = room_of(m, i) > 0 ? POLLIN : 0;
	if (poll(m->fd, m->count, ms) <= 0)
		return;
	for (i = 0; i < m->count; i++) {
		if (m->fd[i].fd < 0 || m->fd[i].revents == 0)
			continue;
		if (m->one[i].asked) {
			take(m, i);
			continue;
		}
		m->one[i].asked = true;
		say(m, i, m->question);
	}
}

void
dsrmany_ask(struct dsrmany *m, unsigned i)
{
	if (m->fd[i].fd < 0)
		return;
	m->one[i].want++;
	say(m, i, "?");
}

static unsigned
lacking(const struct dsrmany *m, bool all)
{
	unsigned i, n = 0;

	for (i = 0; i < m->count; i++)
		n += m->fd[i].fd >= 0 &&
		    (m->one[i].server < 0 ||
			(all && m->one[i].got < m->one[i].want));
	return n;
}

static unsigned
wait_for(struct dsrmany *m, bool all, int ms)
{
	long long end = wait_now_ms() + wait_scaled(ms);

	while (lacking(m, all) > 0 && wait_now_ms() < end)
		dsrmany_turn(m, 20);
	return lacking(m, all);
}

void
dsrmany_wait_known(struct dsrmany *m, int ms)
{
	ck_assert_uint_eq(wait_for(m, false, ms), 0);
}

unsigned
dsrmany_wait_answers(struct dsrmany *m, int ms)
{
	return wait_for(m, true, ms);
}

unsigned
dsrmany_open(const struct dsrmany *m)
{
	unsigned i, n = 0;

	for (i = 0; i < m->count; i++)
		n += m->fd[i].fd >= 0;
	return n;
}

static bool
have_all(struct dsrmany *m)
{
	unsigned i, n = 0;

	dsrmany_turn(m, 10);
	for (i = 0; i < m->count; i++)
		n += m->fd[i].fd >= 0 && m->one[i].got < m->most;
	return n == 0;
}

void
dsrmany_expect_progress(struct dsrmany *m, size_t bytes, unsigned open)
{
	m->most += bytes;
	WAIT_FOR(have_all(m), 20000);
	ck_assert_uint_eq(dsrmany_open(m), open);
}

unsigned
dsrmany_count(const struct dsrmany *m, int server)
{
	unsigned i, n = 0;

	for (i = 0; i < m->count; i++)
		n += m->fd[i].fd >= 0 && m->one[i].server == server;
	return n;
}

void
dsrmany_close(struct dsrmany *m, unsigned i)
{
	leave(m, i, DSRMANY_BROKEN);
}

void
dsrmany_close_all(struct dsrmany *m)
{
	unsigned i;

	for (i = 0; i < m->count; i++)
		dsrmany_close(m, i);
	m->count = 0;
}
