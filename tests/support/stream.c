/* stream.c: one poll loop for the two directions of a socket. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "support/pattern.h"
#include "support/stream.h"
#include "support/wait.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

enum { CHUNK = 64 * 1024, SILENCE_MS = 20000 };

struct side {
	uint64_t at, bytes, seed, dice;
	long long rest_until; /* pausing until then */
	bool ended;
};

struct run {
	const struct stream_io *io;
	void *arg;
	int fd;
	size_t refused; /* bytes that are to be offered again */
	unsigned pause_ms, pause_of;
	bool end_last;
	struct side out, in;
	char buf[CHUNK];
};

static size_t
roll(struct side *s, size_t limit)
{
	s->dice = pattern_mix(s->dice);
	return 1 + (size_t)(s->dice % limit);
}

static void
maybe_rest(struct run *r, struct side *s)
{
	if (r->pause_ms > 0 && roll(s, r->pause_of) == 1)
		s->rest_until = wait_now_ms() + (long long)roll(s, r->pause_ms);
}

static const char *
send_some(struct run *r)
{
	struct side *s = &r->out;
	size_t n = r->refused > 0 ? r->refused : roll(s, CHUNK);
	ssize_t k;

	if (s->at == s->bytes) {
		s->ended = r->io->finish(r->arg) == 0;
		return s->ended || errno == EAGAIN ? NULL : "shutdown failed";
	}
	if (n > s->bytes - s->at)
		n = (size_t)(s->bytes - s->at);
	pattern_fill(s->seed, s->at, r->buf, n);
	k = r->io->write(r->arg, r->buf, n);
	r->refused = k < 0 ? n : 0;
	if (k < 0)
		return errno == EAGAIN ? NULL : "send failed";
	s->at += (uint64_t)k;
	maybe_rest(r, s);
	return NULL;
}

static const char *
receive_some(struct run *r)
{
	struct side *s = &r->in;
	ssize_t k = r->io->read(r->arg, r->buf, roll(s, CHUNK));

	if (k < 0)
		return errno == EAGAIN ? NULL : "receive failed";
	if (k == 0) {
		s->ended = true;
		return s->at == s->bytes ? NULL : "bytes are missing";
	}
	if ((uint64_t)k > s->bytes - s->at)
		return "more bytes than were sent";
	if (pattern_differs(s->seed, s->at, r->buf, (size_t)k) < (size_t)k)
		return "bytes differ";
	s->at += (uint64_t)k;
	maybe_rest(r, s);
	return NULL;
}

/* Which events matter now, and for how long to wait for them. */
static short
wanted(const struct run *r, int *timeout)
{
	long long now = wait_now_ms();
	const struct side *sides[] = { &r->out, &r->in };
	short events = 0;
	int i;

	*timeout = (int)wait_scaled(SILENCE_MS);
	for (i = 0; i < 2; i++) {
		if (sides[i]->ended)
			continue;
		if (i == 0 && r->end_last && !r->in.ended &&
		    r->out.at == r->out.bytes)
			continue;
		if (sides[i]->rest_until > now)
			*timeout = (int)(sides[i]->rest_until - now);
		else
			events |= i == 0 ? POLLOUT : POLLIN;
	}
	return events;
}

static const char *
run_all(struct run *r)
{
	const char *wrong = NULL;
	struct pollfd p = { .fd = r->fd };
	bool more;
	int timeout, n;

	while (wrong == NULL && !(r->out.ended && r->in.ended)) {
		p.events = wanted(r, &timeout);
		p.revents = 0;
		more = p.events & POLLIN && r->io->has_more(r->arg);
		n = poll(p.events != 0 ? &p : NULL, p.events != 0,
		    more ? 0 : timeout);
		if (n == 0 && !more && timeout == (int)wait_scaled(SILENCE_MS))
			return "silence";
		if (n < 0 || (n == 0 && !more))
			continue;
		if (p.revents & POLLOUT && p.events & POLLOUT)
			wrong = send_some(r);
		if (wrong == NULL && p.events & POLLIN &&
		    (more || p.revents & (POLLIN | POLLHUP | POLLERR)))
			wrong = receive_some(r);
		else if (p.revents & POLLERR)
			return "the connection broke";
	}
	return wrong;
}

const char *
stream_run_by(const struct stream_io *io, void *arg, int fd,
    const struct stream_plan *plan)
{
	struct run *r = calloc(1, sizeof(*r));
	const char *wrong;

	if (r == NULL)
		return "out of memory";
	r->io = io;
	r->arg = arg;
	r->fd = fd;
	r->pause_ms = plan->pause_ms;
	r->pause_of = plan->pause_of > 0 ? plan->pause_of : 4;
	r->end_last = plan->end_last;
	r->out = (struct side){ .bytes = plan->out_bytes,
		.seed = plan->out_seed,
		.dice = plan->out_seed };
	r->in = (struct side){ .bytes = plan->in_bytes,
		.seed = plan->in_seed,
		.dice = ~plan->in_seed };
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	wrong = run_all(r);
	free(r);
	return wrong;
}

/* ---- a plain socket ---- */

static ssize_t
plain_read(void *arg, void *bytes, size_t n)
{
	return recv(*(const int *)arg, bytes, n, 0);
}

static ssize_t
plain_write(void *arg, const void *bytes, size_t n)
{
	return send(*(const int *)arg, bytes, n, MSG_NOSIGNAL);
}

static int
plain_finish(void *arg)
{
	return shutdown(*(const int *)arg, SHUT_WR);
}

static bool
plain_has_more(void *arg)
{
	(void)arg;
	return false;
}

const char *
stream_run(int fd, const struct stream_plan *plan)
{
	static const struct stream_io io = { plain_read, plain_write,
		plain_finish, plain_has_more };

	return stream_run_by(&io, &fd, fd, plan);
}
