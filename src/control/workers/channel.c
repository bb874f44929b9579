/* channel.c: see channel.h. A message is its type and length, four bytes each,
 * and its bytes. A descriptor comes with a header of TYPE_FD, in front of its
 * message, or does not, with TYPE_NO_FD. */
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

#define TYPE_NO_FD UINT32_MAX

/* A descriptor that waits for room, and the byte it goes with. */
struct channel_fd {
	uint64_t at;
	int fd;
};

/* ---- sending ---- */

static void
make_header(char to[HEADER], unsigned type, size_t n)
{
	uint32_t words[2] = { type, (uint32_t)n };

	memcpy(to, words, HEADER);
}

/* The first descriptor that is kept; false: there is none. */
static bool
first_fd(const struct channel *c, struct channel_fd *first)
{
	if (buffer_length(&c->out_fds) < sizeof(*first))
		return false;
	memcpy(first, buffer_bytes(&c->out_fds), sizeof(*first));
	return true;
}

/* Drops the first descriptor of the queue: it was sent, or cannot be sent. */
static void
drop_first_fd(struct channel *c)
{
	struct channel_fd first;

	if (!first_fd(c, &first))
		return;
	close(first.fd);
	buffer_consume(&c->out_fds, sizeof(first));
	if (buffer_length(&c->out_fds) == 0)
		buffer_fini(&c->out_fds);
}

static void
drop_out(struct channel *c)
{
	buffer_cut(&c->out, 0);
	while (buffer_length(&c->out_fds) > 0)
		drop_first_fd(c);
}

/* send(2) with a descriptor beside the bytes. */
static ssize_t
send_with_fd(const struct channel *c, const void *bytes, size_t n, int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec v = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = n };
	struct msghdr m = { .msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room) };
	struct cmsghdr *h;

	memset(&control, 0, sizeof(control));
	h = CMSG_FIRSTHDR(&m);
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	return sendmsg(c->fd, &m, MSG_NOSIGNAL);
}

/* Sends the first descriptor with its header. If the system refuses the
 * descriptor, the header is replaced by one for a missing descriptor. */
static ssize_t
send_fd(struct channel *c, int fd)
{
	char none[HEADER];
	ssize_t n = send_with_fd(c, buffer_bytes(&c->out), HEADER, fd);

	if (n >= 0 || errno == EAGAIN || errno == EINTR || errno == EPIPE)
		return n;
	make_header(none, TYPE_NO_FD, 0);
	memcpy(c->out.data + c->out.start, none, HEADER);
	return 0;
}

/* Sends bytes up to the next descriptor, which is sent with its own header. */
static ssize_t
send_some(struct channel *c)
{
	size_t n = buffer_length(&c->out);
	struct channel_fd next;
	ssize_t rc;

	if (first_fd(c, &next) && next.at == c->flushed) {
		rc = send_fd(c, next.fd);
		if (rc >= 0)
			drop_first_fd(c);
		return rc;
	}
	if (first_fd(c, &next) && next.at - c->flushed < n)
		n = (size_t)(next.at - c->flushed);
	return send(c->fd, buffer_bytes(&c->out), n, MSG_NOSIGNAL);
}

size_t
channel_flush(struct channel *c)
{
	ssize_t n = 0;

	while (buffer_length(&c->out) > 0 && n >= 0) {
		n = send_some(c);
		if (n > 0) {
			buffer_consume(&c->out, (size_t)n);
			c->flushed += (uint64_t)n;
		} else if (n < 0 && errno == EINTR) {
			n = 0;
		}
	}
	if (n < 0 && errno != EAGAIN) /* nothing will read it */
		drop_out(c);
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
	if (buffer_append(&c->out, header, HEADER) < 0 ||
	    buffer_append(&c->out, bytes, n) < 0)
		return -1;
	(void)channel_flush(c);
	return 0;
}

int
channel_post_fd(struct channel *c, int fd)
{
	struct channel_fd kept = { c->flushed + buffer_length(&c->out), -1 };
	char header[HEADER];

	if (c->fd < 0)
		return 0;
	kept.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (kept.fd < 0)
		return -1;
	make_header(header, TYPE_FD, 0);
	if (buffer_append(&c->out_fds, &kept, sizeof(kept)) < 0) {
		close(kept.fd);
		return -1;
	}
	if (buffer_append(&c->out, header, HEADER) < 0) {
		buffer_cut(
		    &c->out_fds, buffer_length(&c->out_fds) - sizeof(kept));
		close(kept.fd);
		return -1;
	}
	(void)channel_flush(c);
	return 0;
}

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

/* Sends all that is queued, for `ms` at most. It reads meanwhile: if both sides
 * only sent, each would wait for the other. */
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

/* ---- both ends ---- */

static int
prepare_end(struct channel *c, int fd)
{
	*c = (struct channel){ .fd = fd };
	buffer_init(&c->in);
	buffer_init(&c->out);
	buffer_init(&c->out_fds);
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
	drop_out(c);
	buffer_fini(&c->out);
}

/* ---- receiving ---- */

/* Takes the messages apart that are complete. Returns 0, or -1: no memory, or
 * one that is too long. */
static int
split_messages(struct channel *c)
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
		if (words[0] == TYPE_FD || words[0] == TYPE_NO_FD)
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
		if (split_messages(c) < 0)
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
take_message(struct channel *c, unsigned type, unsigned other)
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
	struct message *m = take_message(c, type, other);
	int rc = 0;

	while (m == NULL && rc == 0) {
		short what = channel_flush(c) > 0 ? POLLIN | POLLOUT : POLLIN;

		now = clock_monotonic_ms();
		if (now >= until || !wait_until(c, what, until - now))
			return NULL;
		rc = channel_read(c);
		m = take_message(c, type, other);
	}
	return m;
}
