/* connections.c: the table of numbers, and what control asks of it. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "proxy/connections.h"
#include "proxy/session_private.h"

enum { TOP = CONNECTIONS_LEVELS - 1, ROOM_MIN = 64, ROOM_MAX = 1 << 30 };

void
connections_init(struct connections *c)
{
	*c = (struct connections){ .session = NULL };
}

void
connections_fini(struct connections *c)
{
	unsigned k;

	free(c->session);
	for (k = 0; k < CONNECTIONS_LEVELS; k++)
		free(c->free[k]);
}

/* ---- free numbers ---- */

/* Words of a level that has bits for `room` numbers. */
static size_t
words(uint32_t room, unsigned level)
{
	unsigned shift = 6 * (level + 1);

	return ((size_t)room + ((size_t)1 << shift) - 1) >> shift;
}

static void
set_free(struct connections *c, uint32_t n)
{
	unsigned k;

	for (k = 0; k < CONNECTIONS_LEVELS; k++, n /= 64)
		c->free[k][n / 64] |= UINT64_C(1) << (n % 64);
}

static void
set_taken(struct connections *c, uint32_t n)
{
	unsigned k;

	for (k = 0; k < CONNECTIONS_LEVELS; k++, n /= 64) {
		c->free[k][n / 64] &= ~(UINT64_C(1) << (n % 64));
		if (c->free[k][n / 64] != 0)
			return;
	}
}

/* There must be one. */
static uint32_t
lowest_free(const struct connections *c)
{
	uint32_t n = 0;
	unsigned k = CONNECTIONS_LEVELS;

	while (k-- > 0)
		n = n * 64 + (uint32_t)__builtin_ctzll(c->free[k][n]);
	return n;
}

/* ---- the table ---- */

/* Marks the numbers from the old room to the new one as free. */
static void
free_new(struct connections *c, uint32_t room)
{
	uint32_t n;
	unsigned k;

	for (n = c->room / 64; n < room / 64; n++)
		c->free[0][n] = UINT64_MAX;
	for (k = 1; k < CONNECTIONS_LEVELS; k++) {
		for (n = (uint32_t)words(c->room, k); n < words(room, k); n++)
			c->free[k][n] = 0;
		/* the words below that have new bits */
		n = c->room >> (6 * k);
		for (; n < words(room, k - 1); n++)
			c->free[k][n / 64] |= UINT64_C(1) << (n % 64);
	}
}

/* What grew before memory ran out is merely larger than needed. */
static int
grow(struct connections *c)
{
	uint32_t room = c->room > 0 ? 2 * c->room : ROOM_MIN;
	struct session **sessions;
	uint64_t *bits;
	unsigned k;

	if (room > ROOM_MAX) {
		errno = ENOMEM;
		return -1;
	}
	sessions = realloc(c->session, room * sizeof(struct session *));
	if (sessions == NULL)
		return -1;
	c->session = sessions;
	for (k = 0; k < CONNECTIONS_LEVELS; k++) {
		bits = realloc(c->free[k], words(room, k) * sizeof(*bits));
		if (bits == NULL)
			return -1;
		c->free[k] = bits;
	}
	free_new(c, room);
	c->room = room;
	return 0;
}

int
connections_add(struct connections *c, struct session *s, uint32_t *number)
{
	if ((c->room == 0 || c->free[TOP][0] == 0) && grow(c) < 0)
		return -1;
	*number = lowest_free(c);
	set_taken(c, *number);
	if (*number >= c->end)
		c->end = *number + 1;
	c->session[*number] = s;
	return 0;
}

void
connections_remove(struct connections *c, uint32_t number)
{
	c->session[number] = NULL;
	set_free(c, number);
}

/* ---- what control asks ---- */

static struct session *
session_of(const struct frontend *f, uint64_t number)
{
	const struct connections *c = &f->connections;

	return number < c->end ? c->session[number] : NULL;
}

static void
tell(const struct session *s, struct connection_info *info)
{
	static const char *const states[STATES] = { "hello", "connecting",
		"relaying", "draining", "closed" };
	uint64_t now = loop_now(s->frontend->loop);

	*info = (struct connection_info){
		.number = s->number,
		.phase = s->state + 1u,
		.state = states[s->state],
		.down_fd = s->down.fd,
		.up_fd = s->up.fd,
		.client = s->client,
		.client_number = s->tried.hint,
		.server = s->server,
		.pending_up = pipe_pending(&s->to_server),
		.pending_down = pipe_pending(&s->to_client),
		.up = s->to_server.bytes,
		.down = s->to_client.bytes,
		.age_ms = now - s->started,
		.idle_ms = now - s->active,
	};
}

bool
frontend_connection(
    const struct frontend *f, uint64_t number, struct connection_info *info)
{
	const struct session *s = session_of(f, number);

	if (s != NULL)
		tell(s, info);
	return s != NULL;
}

uint64_t
frontend_connections_end(const struct frontend *f)
{
	return f->connections.end;
}

bool
frontend_connection_next(
    const struct frontend *f, uint64_t from, struct connection_info *info)
{
	for (; from < frontend_connections_end(f); from++)
		if (frontend_connection(f, from, info))
			return true;
	return false;
}

bool
frontend_close_connection(struct frontend *f, uint64_t number)
{
	struct session *s = session_of(f, number);

	if (s != NULL)
		session_close(s, REASON_STOPPED);
	return s != NULL;
}

int64_t
frontend_connection_of_fd(const struct frontend *f, int fd)
{
	const struct session *s;
	uint32_t i;

	for (i = 0; i < f->connections.end; i++) {
		s = f->connections.session[i];
		if (s != NULL && fd >= 0 &&
		    (s->down.fd == fd || s->up.fd == fd))
			return i;
	}
	return -1;
}
