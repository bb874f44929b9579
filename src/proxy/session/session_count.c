/* session_count.c: the byte counters of servers and clients move while
 * sessions live.
 *
 * Nothing is added up while bytes flow: pipes count what they have moved. A
 * walk over all sessions adds what is new, a portion at a time, so that neither
 * it nor a request for the counters delays the loop. It rests while there are
 * no sessions. */
#include "config.h"

#include "proxy/session/session_private.h"

/* A walk begins WALK_MS after the last one and visits PORTION sessions each
 * PORTION_MS, 20,000 a second. Numbers that are free cost next to nothing. */
enum { WALK_MS = 1000, PORTION_MS = 50, PORTION = 1000, NUMBERS = 65536 };

/* Adds what it has moved since the last time to the counters of its frontend,
 * and of its server and client while the server counts it. */
static void
count_bytes(struct session *s)
{
	struct frontend_core *f = s->frontend;
	uint64_t up = s->to_server.bytes - s->counted_up;
	uint64_t down = s->to_client.bytes - s->counted_down;

	if (up == 0 && down == 0)
		return;
	s->counted_up += up;
	s->counted_down += down;
	f->stats.up += up;
	f->stats.down += down;
	if (s->counted)
		pool_moved(
		    f->pool, s->server, &s->client, &s->attempts, up, down);
}

static void
session_count_on_time(struct timer *t)
{
	struct sessions *all = list_entry(t, struct sessions, count.timer);
	const struct id_table *c = &all->ids;
	uint32_t sessions = 0, numbers = 0, at = all->count.next;

	for (; at < c->end && sessions < PORTION && numbers < NUMBERS; at++) {
		struct session *s = c->entry[at];

		numbers++;
		if (s == NULL)
			continue;
		sessions++;
		count_bytes(s);
	}
	all->count.next = at < c->end ? at : 0;
	all->count.walking = all->frontend->stats.sessions > 0 &&
	    timer_start(all->frontend->loop, t,
		at < c->end ? PORTION_MS : WALK_MS) == 0;
}

void
session_count_init(struct sessions *all)
{
	timer_init(&all->count.timer, session_count_on_time);
}

void
session_count_start(struct sessions *all)
{
	all->count.walking =
	    timer_start(all->frontend->loop, &all->count.timer, WALK_MS) == 0;
}
