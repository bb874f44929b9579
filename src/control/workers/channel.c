/* channel.c: see channel.h. A message is its type and length, four bytes each,
 * and its bytes; descriptors come with a message of type 0 each. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/workers/channel.h"

enum { HEADER = 8, CHUNK = 64 * 1024, TYPE_FD = 0 };

static int
prepare_end(struct channel *c, int fd)
{
	*c = (struct channel){ .fd = fd };
	buffer_init(&c->in);
	buffer_init(&c->out);
	list_init(&c->messages);
	return fcntl(fd, F_SETFL, O_NONBLOCK) < 0
	    ? -1
	    : fcntl(fd, F_SETFD, FD_CLOEXEC);
}

int
channel_open_pair(struct channel *a, struct channel *b)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) < 0)
		return -1;
	if ((prepare_end(a, fd[0]) | prepare_end(b, fd[1])) == 0)
		return 0;
	channel_close(a);
	channel_close(b);
	return -1;
}

void
channel_close(struct channel *c)
{
	struct message *m;

	if (c->fd < 0)
		return;
	close(c->fd);
	c->fd = -1;
	while ((m = channel_next(c)) != NULL)
		free(m);
	passed_drop(&c->passed);
	buffer_fini(&c->in);
	buffer_fini(&c->out);
}

/* ---- sending ---- */

static bool
wait_until(struct channel *c, short what, uint64_t ms)
{
	struct pollfd p = { .fd = c->fd, .events = what };
	int rc;

	do
		rc = poll(&p, 1, ms < 60000 ? (int)ms : 60000);
	while (rc < 0 && errno == EINTR);
	return rc > 0;
}

/* Both may send at a time: neither may wait for the other to read. */
static int
wait_for_room(struct channel *c, uint64_t ms)
{
	if (!wait_until(c, POLLOUT | POLLIN, ms))
		return -1;
	return channel_read(c);
}

static int
send_all(struct channel *c, struct msghdr *m, uint64_t ms)
{
	struct iovec *v = m->msg_iov;
	ssize_t n;

	while (v->iov_len > 0) {
		n = sendmsg(c->fd, m, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno != EAGAIN || wait_for_room(c, ms) < 0))
			return -1;
		if (n <= 0)
			continue;
		v->iov_base = (char *)v->iov_base + n;
		v->iov_len -= (size_t)n;
		m->msg_control = NULL; /* it went with the first byte */
		m->msg_controllen = 0;
	}
	return 0;
}

static int
send_part(struct channel *c, const void *bytes, size_t n, uint64_t ms)
{
	struct iovec v = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = n };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	return send_all(c, &m, ms);
}

/* What is kept comes first. */
static bool
is_its_turn(struct channel *c, uint64_t ms)
{
	if (c->fd >= 0 && buffer_length(&c->out) > 0)
		channel_empty(c, ms);
	return c->fd >= 0 && buffer_length(&c->out) == 0;
}

static void
make_header(char to[HEADER], unsigned type, size_t n)
{
	uint32_t words[2] = { type, (uint32_t)n };

	memcpy(to, words, HEADER);
}

int
channel_send(
    struct channel *c, unsigned type, const void *bytes, size_t n, uint64_t ms)
{
	char header[HEADER];

	if (n > CHANNEL_MAX || !is_its_turn(c, ms))
		return -1;
	make_header(header, type, n);
	return send_part(c, header, HEADER, ms) < 0 ? -1
	    : n > 0				    ? send_part(c, bytes, n, ms)
						    : 0;
}

/* ---- sending without waiting ---- */

size_t
channel_flush(struct channel *c)
{
	ssize_t n = 0;

	while (buffer_length(&c->out) > 0 && n >= 0) {
		n = send(c->fd, buffer_bytes(&c->out), buffer_length(&c->out),
		    MSG_NOSIGNAL);
		if (n > 0)
			buffer_consume(&c->out, (size_t)n);
		else if (n < 0 && errno == EINTR)
			n = 0;
	}
	if (n < 0 && errno != EAGAIN) /* nothing will read it */
		buffer_cut(&c->out, 0);
	if (buffer_length(&c->out) == 0)
		buffer_fini(&c->out);
	return buffer_length(&c->out);
}

int
channel_post(struct channel *c, unsigned type, const void *bytes, size_t n)
{
	char header[HEADER];

	if (c->fd < 0)
		return 0;
	if (n > CHANNEL_MAX)
		return -1;
	make_header(header, type, n);
	if ((buffer_append(&c->out, header, HEADER) |
		(n > 0 ? buffer_append(&c->out, bytes, n) : 0)) < 0)
		return -1;
	(void)channel_flush(c);
	return 0;
}

void
channel_empty(struct channel *c, uint64_t ms)
{
	uint64_t until = clock_monotonic_ms() + ms, now;

	while (channel_flush(c) > 0 && channel_read(c) == 0) {
		now = clock_monotonic_ms();
		if (now >= until ||
		    !wait_until(c, POLLOUT | POLLIN, until - now))
			return;
	}
}

int
channel_send_fd(struct channel *c, int fd, uint64_t ms)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	char header[HEADER];
	struct iovec v = { .iov_base = header, .iov_len = HEADER };
	struct msghdr m = { .msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room) };
	struct cmsghdr *h;

	memset(&control, 0, sizeof(control));
	make_header(header, TYPE_FD, 0);
	h = CMSG_FIRSTHDR(&m);
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	return is_its_turn(c, ms) ? send_all(c, &m, ms) : -1;
}

/* ---- receiving ---- */

/* Takes the messages apart that are complete. Returns 0, or -1: no memory, or
 * one that is too long. */
static int
split(struct channel *c)
{
	struct message *m;
	uint32_t words[2];

	while (buffer_length(&c->in) >= HEADER) {
		memcpy(words, buffer_bytes(&c->in), HEADER);
		if (words[1] > CHANNEL_MAX)
			return -1;
		if (buffer_length(&c->in) < HEADER + (size_t)words[1])
			break;
		buffer_consume(&c->in, HEADER);
		c->sent += words[0] == TYPE_FD;
		if (words[0] == TYPE_FD)
			continue;
		m = malloc(sizeof(*m) + words[1] + 1);
		if (m == NULL)
			return -1;
		m->type = words[0];
		m->fds = c->sent;
		m->length = words[1];
		if (words[1] > 0)
			memcpy(m->bytes, buffer_bytes(&c->in), words[1]);
		m->bytes[words[1]] = '\0';
		buffer_consume(&c->in, words[1]);
		list_append(&c->messages, &m->link);
	}
	return 0;
}

int
channel_read(struct channel *c)
{
	struct iovec v;
	ssize_t n;

	if (c->fd < 0)
		return -1;
	for (;;) {
		v.iov_base = buffer_reserve(&c->in, CHUNK);
		v.iov_len = CHUNK;
		if (v.iov_base == NULL)
			return -1;
		n = passed_receive(&c->passed, c->fd, &v, 1);
		if (n <= 0)
			break;
		buffer_added(&c->in, (size_t)n);
		if (split(c) < 0)
			return -1;
	}
	if (buffer_length(&c->in) == 0)
		buffer_fini(&c->in);
	return n < 0 && errno == EAGAIN ? 0 : -1;
}

struct message *
channel_next(struct channel *c)
{
	struct list *link = list_first(&c->messages);

	if (link == NULL)
		return NULL;
	list_remove(link);
	return list_entry(link, struct message, link);
}

unsigned
channel_fds(const struct channel *c, const struct message *m)
{
	unsigned n = m->fds - c->taken;

	return n < c->passed.count ? n : c->passed.count;
}

void
channel_drop_fds(struct channel *c, const struct message *m)
{
	struct passed *p = &c->passed;
	unsigned n = channel_fds(c, m), i;

	for (i = 0; i < n; i++)
		if (p->fd[i] >= 0)
			close(p->fd[i]);
	c->taken = m->fds;
	p->count -= n;
	if (p->count == 0)
		passed_drop(p);
	else
		memmove(p->fd, p->fd + n, p->count * sizeof(*p->fd));
}

static struct message *
find(struct channel *c, unsigned type, unsigned other)
{
	struct list *link;
	struct message *m;

	for (link = c->messages.next; link != &c->messages; link = link->next) {
		m = list_entry(link, struct message, link);
		if (m->type != type && m->type != other)
			continue;
		list_remove(link);
		return m;
	}
	return NULL;
}

struct message *
channel_wait(struct channel *c, unsigned type, unsigned other, uint64_t ms)
{
	uint64_t until = clock_monotonic_ms() + ms, now;
	struct message *m = find(c, type, other);
	int rc = 0;

	while (m == NULL && rc == 0) {
		short what = channel_flush(c) > 0 ? POLLIN | POLLOUT : POLLIN;

		now = clock_monotonic_ms();
		if (now >= until || !wait_until(c, what, until - now))
			return NULL;
		rc = channel_read(c);
		m = find(c, type, other);
	}
	return m;
}
