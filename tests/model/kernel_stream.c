/* kernel_stream.c: connections as Linux has them: what was received before a
 * reset can be read, a close with unread bytes is a reset, room is told of when
 * a third of the buffer is free and a write had found none. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "model/kernel_private.h"

/* ---- bytes ---- */

void
way_open(struct way *w, size_t room)
{
	*w = (struct way){ .bytes = malloc(room), .room = room };
	MUST(w->bytes != NULL);
}

static size_t
way_put(struct way *w, const char *bytes, size_t n)
{
	size_t at, first;

	if (n > w->room - w->n)
		n = w->room - w->n;
	at = (w->at + w->n) % w->room;
	first = n < w->room - at ? n : w->room - at;
	memcpy(w->bytes + at, bytes, first);
	memcpy(w->bytes, bytes + first, n - first);
	w->n += n;
	w->put += n;
	return n;
}

static size_t
way_take(struct way *w, char *bytes, size_t n, bool peek)
{
	size_t first;

	if (n > w->n)
		n = w->n;
	first = n < w->room - w->at ? n : w->room - w->at;
	memcpy(bytes, w->bytes + w->at, first);
	memcpy(bytes + first, w->bytes, n - first);
	if (peek)
		return n;
	w->at = (w->at + n) % w->room;
	w->n -= n;
	w->taken += n;
	return n;
}

static size_t
way_move(struct way *from, struct way *to, size_t n)
{
	char *piece;

	if (n > from->n)
		n = from->n;
	if (n > to->room - to->n)
		n = to->room - to->n;
	piece = malloc(n + 1);
	MUST(piece != NULL);
	way_take(from, piece, n, false);
	way_put(to, piece, n);
	free(piece);
	return n;
}

/* ---- what is told of it ---- */

uint32_t
conn_mask(const struct conn *c)
{
	uint32_t mask = 0;

	if (c->connecting)
		return 0;
	if (c->in.n > 0 || c->in.end || c->gone || c->error != 0)
		mask |= EPOLLIN;
	if (c->in.end || c->in.reset)
		mask |= EPOLLRDHUP;
	if (c->in.reset || c->out.end ||
	    (c->out.room - c->out.n) * 3 >= c->out.room)
		mask |= EPOLLOUT;
	if (c->in.reset || (c->in.end && c->out.end))
		mask |= EPOLLHUP;
	if (c->error != 0)
		mask |= EPOLLERR;
	return mask;
}

/* ---- the world's side ---- */

static struct conn *
conn_new(size_t room)
{
	static unsigned numbers;
	struct conn *c = calloc(1, sizeof(*c));

	MUST(c != NULL);
	c->number = ++numbers;
	c->fd = -1;
	way_open(&c->in, room);
	way_open(&c->out, room);
	return c;
}

struct conn *
kernel_visit(const struct sockaddr_in *from, uint16_t port, size_t room)
{
	int fd;
	struct descriptor *d = descriptor_find(LISTENER, port, &fd);
	struct conn *c;

	if (d == NULL)
		return NULL;
	c = conn_new(room);
	c->peer = *from;
	c->local = d->local;
	if (d->first == NULL)
		d->first = c;
	else
		d->last->next = c;
	d->last = c;
	return c;
}

void
kernel_size(struct conn *c, size_t room)
{
	free(c->in.bytes);
	free(c->out.bytes);
	way_open(&c->in, room);
	way_open(&c->out, room);
}

void
kernel_connected(struct conn *c, int error)
{
	MUST(c->connecting);
	c->connecting = false;
	c->error = error;
	if (error != 0) {
		c->in.reset = c->in.end = true;
		c->gone = true;
	}
	descriptor_tell(c->fd);
}

size_t
kernel_room(const struct conn *c)
{
	return c->in.end || c->in.reset ? 0 : c->in.room - c->in.n;
}

/* One that the program has closed answers with a reset. */
void
kernel_put(struct conn *c, const void *bytes, size_t n)
{
	if (c->fd == -1 && c->out.end) {
		c->out.reset = true;
		return;
	}
	way_put(&c->in, bytes, n);
	descriptor_tell(c->fd);
}

size_t
kernel_take(struct conn *c, void *bytes, size_t n)
{
	n = way_take(&c->out, bytes, n, false);
	if (n > 0 && c->refused_write &&
	    (c->out.room - c->out.n) * 3 >= c->out.room) {
		c->refused_write = false;
		descriptor_tell(c->fd);
	}
	return n;
}

void
kernel_finish(struct conn *c)
{
	c->in.end = true;
	descriptor_tell(c->fd);
}

void
kernel_hang_up(struct conn *c)
{
	if (c->out.n > 0) {
		kernel_reset(c);
		return;
	}
	c->gone = true;
	kernel_finish(c);
}

void
kernel_reset(struct conn *c)
{
	c->gone = true;
	c->out.n = 0;
	if (c->fd == -1 && c->out.end)
		return;
	c->in.reset = c->in.end = true;
	c->error = ECONNRESET;
	descriptor_tell(c->fd);
}

void
kernel_forget(struct conn *c)
{
	MUST(c->fd == -1);
	free(c->in.bytes);
	free(c->out.bytes);
	free(c);
}

/* ---- the program's side ---- */

void
conn_close(struct conn *c)
{
	c->out.end = true;
	if (c->lingers_not || c->in.n > 0)
		c->out.reset = true;
	if (c->lingers_not)
		c->out.n = 0;
	c->fd = -1;
	c->connecting = false;
}

static int
take_error(struct conn *c)
{
	int error = c->error;

	c->error = 0;
	return error;
}

ssize_t
conn_recv(struct conn *c, void *bytes, size_t n, bool peek)
{
	MUST(!c->connecting);
	if (c->in.n > 0)
		return (ssize_t)way_take(&c->in, bytes, n, peek);
	if (c->error != 0)
		return failed(take_error(c));
	return c->in.end ? 0 : failed(EAGAIN);
}

/* Whether bytes may leave it; false with errno. */
static bool
conn_takes(struct conn *c)
{
	if (c->connecting) {
		errno = EAGAIN;
		return false;
	}
	if (c->error != 0) {
		errno = take_error(c);
		return false;
	}
	if (c->out.end || c->in.reset) {
		errno = EPIPE;
		return false;
	}
	return true;
}

/* What reaches a socket that is closed is answered by a reset. */
static void
conn_answers(struct conn *c)
{
	c->out.n = 0;
	c->in.reset = c->in.end = true;
	c->error = EPIPE;
	descriptor_tell(c->fd);
}

static ssize_t
conn_sent(struct conn *c, size_t wanted, size_t n)
{
	if (n < wanted)
		c->refused_write = true;
	if (c->gone)
		conn_answers(c);
	return n == 0 && wanted > 0 ? failed(EAGAIN) : (ssize_t)n;
}

ssize_t
conn_send(struct conn *c, const void *bytes, size_t n)
{
	int error = kernel.trouble != NULL ? kernel.trouble("send") : 0;

	if (!conn_takes(c))
		return -1;
	if (error != 0)
		return failed(error);
	return conn_sent(c, n, way_put(&c->out, bytes, n));
}

ssize_t
conn_splice_out(struct conn *c, struct way *from, size_t n)
{
	if (n > from->n)
		n = from->n;
	if (!conn_takes(c))
		return -1;
	MUST(n > 0);
	return conn_sent(c, n, way_move(from, &c->out, n));
}

ssize_t
conn_splice_in(struct conn *c, struct way *to, size_t n)
{
	size_t moved;

	if (c->in.n > 0) {
		moved = way_move(&c->in, to, n);
		return moved > 0 ? (ssize_t)moved : failed(EAGAIN);
	}
	if (c->error != 0)
		return failed(take_error(c));
	return c->in.end ? 0 : failed(EAGAIN);
}

int
conn_shutdown(struct conn *c)
{
	if (c->in.reset)
		return failed(ENOTCONN);
	c->out.end = true;
	return 0;
}

struct conn *
conn_of_program(void)
{
	struct conn *c = conn_new(1);

	c->outgoing = true;
	return c;
}
