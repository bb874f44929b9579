/* connections.c: sessions as reports have them. */
#include "config.h"

#include "proxy/session/connections.h"
#include "proxy/session/session_private.h"

static struct session *
session_of(const struct sessions *all, uint64_t number)
{
	return number < all->ids.end ? all->ids.entry[number] : NULL;
}

static void
fill_info(const struct session *s, struct connection_info *info)
{
	static const struct {
		const char *name;
		unsigned phase;
	} states[STATES] = {
		[HELLO] = { "hello", 1 },
		[CONNECTING] = { "connecting", 2 },
		[RELAYING] = { "relaying", 3 },
		[DRAINING] = { "draining", 4 },
		[QUEUED] = { "queued", 5 },
		[CLOSED] = { "closed", 6 },
	};
	uint64_t now = loop_now(s->frontend->loop);

	*info = (struct connection_info){
		.number = s->number,
		.phase = states[s->state].phase,
		.state = states[s->state].name,
		.down_fd = s->down.fd,
		.up_fd = s->up.fd,
		.client = s->client,
		.client_number = s->attempts.hint,
		.server = s->server,
		.stream = &s->down,
		.pending_up = pipe_pending(&s->to_server),
		.pending_down = pipe_pending(&s->to_client),
		.up = s->to_server.bytes,
		.down = s->to_client.bytes,
		.age_ms = now - s->started,
		.idle_ms = now - s->active,
	};
}

bool
connection_find(
    const struct sessions *all, uint64_t number, struct connection_info *info)
{
	const struct session *s = session_of(all, number);

	if (s != NULL)
		fill_info(s, info);
	return s != NULL;
}

bool
connection_next(
    const struct sessions *all, uint64_t from, struct connection_info *info)
{
	for (; from < all->ids.end; from++)
		if (connection_find(all, from, info))
			return true;
	return false;
}

bool
connection_close(struct sessions *all, uint64_t number)
{
	struct session *s = session_of(all, number);

	if (s != NULL)
		session_close(s, REASON_STOPPED);
	return s != NULL;
}

int64_t
connection_of_fd(const struct sessions *all, int fd)
{
	const struct session *s;
	uint32_t i;

	for (i = 0; i < all->ids.end; i++) {
		s = all->ids.entry[i];
		if (s != NULL && fd >= 0 &&
		    (s->down.fd == fd || s->up.fd == fd))
			return i;
	}
	return -1;
}
