/* session_count.c: moves the bytes of a session, and adds them to the counters
 * of its frontend, and of its server and client while the server counts it. */
#include "config.h"

#include "proxy/session/session_private.h"

static void
count_bytes(struct session *s, uint64_t up, uint64_t down)
{
	struct frontend_core *f = s->frontend;

	f->stats.up += up;
	f->stats.down += down;
	if (s->counted)
		pool_moved(
		    f->pool, s->server, &s->client, &s->attempts, up, down);
}

struct pipe_stop
session_pump_up(struct session *s)
{
	uint64_t before = s->to_server.bytes;
	struct pipe_stop stop =
	    pipe_pump(&s->to_server, &s->down, &s->up, &s->frontend->share);

	if (s->to_server.bytes != before)
		count_bytes(s, s->to_server.bytes - before, 0);
	return stop;
}

struct pipe_stop
session_pump_down(struct session *s)
{
	uint64_t before = s->to_client.bytes;
	struct pipe_stop stop =
	    pipe_pump(&s->to_client, &s->up, &s->down, &s->frontend->share);

	if (s->to_client.bytes != before)
		count_bytes(s, 0, s->to_client.bytes - before);
	return stop;
}
