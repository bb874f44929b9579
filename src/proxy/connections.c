/* connections.c: the table of numbers, and what control asks of it. */
#include "config.h"

#include <stdlib.h>

#include "proxy/connections.h"
#include "proxy/session_private.h"

void
connections_init(struct connections *c)
{
	*c = (struct connections){ .session = NULL };
}

void
connections_fini(struct connections *c)
{
	free(c->session);
	free(c->next_free);
}

static int
grow(struct connections *c)
{
	uint32_t room = c->room > 0 ? 2 * c->room : 64;
	struct session **sessions =
	    realloc(c->session, room * sizeof(struct session *));
	uint32_t *next;

	if (sessions == NULL)
		return -1;
	c->session = sessions;
	next = realloc(c->next_free, room * sizeof(*next));
	if (next == NULL)
		return -1;
	c->next_free = next;
	c->room = room;
	return 0;
}

int
connections_add(struct connections *c, struct session *s, uint32_t *number)
{
	if (c->free < c->end) {
		*number = c->free;
		c->free = c->next_free[*number];
		if (c->free == UINT32_MAX)
			c->free = c->end;
	} else {
		if (c->end == c->room && grow(c) < 0)
			return -1;
		*number = c->end;
		c->free = ++c->end;
	}
	c->session[*number] = s;
	return 0;
}

void
connections_remove(struct connections *c, uint32_t number)
{
	c->session[number] = NULL;
	c->next_free[number] = c->free < c->end ? c->free : UINT32_MAX;
	c->free = number;
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

bool
frontend_connection_next(
    const struct frontend *f, uint64_t from, struct connection_info *info)
{
	for (; from < f->connections.end; from++)
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
