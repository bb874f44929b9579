/* session_queue.c: the state QUEUED: all servers that are up are full. The
 * client waits, and its bytes are not read.
 *
 * Each route has a queue of its own. The pool reports when a server may take
 * clients again; of the queues that this server is for, as many sessions as it
 * has free slots then leave, the oldest first. */
#include "config.h"

#include "net/sock.h"
#include "pool/balance.h"
#include "proxy/session/session_private.h"

/* How often the queue is served although no server has reported a free slot. */
enum { SERVE_MS = 500 };
/* Those that other processes free are not reported here. */
enum { SERVE_SHARED_MS = 5 };

static uint64_t
serve_interval_ms(const struct frontend_core *f)
{
	return pool_processes(f->pool) > 1 ? SERVE_SHARED_MS : SERVE_MS;
}

void
session_queue_schedule(struct session *s)
{
	struct frontend_core *f = s->frontend;

	expiry_cancel(&s->expiry);
	timeouts_add(f->sessions->times, &s->expiry,
	    s->more->facts->queued + f->options.queue_ms);
}

/* When it began to wait, the first time; 0: it never did. */
static uint64_t
session_queued(const struct session *s)
{
	return s->more->facts != NULL ? s->more->facts->queued : 0;
}

void
session_queue_on_time(struct session *s)
{
	session_unserved_now(s, REASON_QUEUE_TIMEOUT);
}

/* Whether a server that the client may use is full. One that had its turn may
 * come back although that server is blacklisted now. */
static bool
session_has_full_server(const struct session *s)
{
	const struct pool *p = s->frontend->pool;

	return (session_queued(s) != 0 && !pool_options(p)->stubborn &&
		   pool_may_recover(p)) ||
	    pool_may_wait(p, &s->client, &s->attempts);
}

/* The queue of its route, or of those that have none. */
static struct route_queue *
queue_of(struct session *s)
{
	return s->attempts.allowed == NULL
	    ? &s->frontend->sessions->queue.all
	    : &list_entry(s->attempts.allowed, struct route, servers)->queue;
}

/* Appends the session, or puts it in front. */
static void
queue_add(struct session *s, bool in_front)
{
	struct route_queue *q = queue_of(s);

	if (list_is_empty(&q->link))
		list_append(&s->frontend->sessions->queue.queues, &q->link);
	if (in_front)
		list_prepend(&q->sessions, &s->more->facts->queue_link);
	else
		list_append(&q->sessions, &s->more->facts->queue_link);
}

static bool
session_may_queue(const struct session *s, uint64_t now)
{
	const struct frontend_core *f = s->frontend;

	return f->options.queue_ms > 0 && session_has_full_server(s) &&
	    pool_has_tries_left(f->pool, &s->attempts) &&
	    (session_queued(s) == 0 ||
		now - session_queued(s) < f->options.queue_ms);
}

/* A session that had left the queue for a server that failed was the oldest one
 * then, so it goes to the front. */
bool
session_queue(struct session *s)
{
	struct frontend_core *f = s->frontend;
	struct session_queue *q = &f->sessions->queue;
	uint64_t now = loop_now(f->loop);

	if (!session_may_queue(s, now) || session_facts(s) == NULL)
		return false;
	if (f->stats->queued == 0 &&
	    timer_start(f->loop, &q->regular, serve_interval_ms(f)) < 0)
		return false;
	session_set_state(s, QUEUED);
	queue_add(s, s->more->facts->queued != 0);
	if (s->more->facts->queued == 0) {
		s->more->facts->queued = now;
		f->stats->queued_total++;
	}
	f->stats->queued++;
	session_queue_schedule(s);
	return true;
}

void
session_queue_remove(struct session *s)
{
	struct frontend_core *f = s->frontend;
	struct route_queue *q = queue_of(s);

	list_remove(&s->more->facts->queue_link);
	if (list_is_empty(&q->sessions) && list_is_empty(&q->tried))
		list_remove(&q->link);
	f->stats->queued--;
	s->more->facts->queue_ms += (uint32_t)(loop_now(f->loop) - s->active);
}

/* Sets the events of the client that are of interest. Returns false when the
 * session is closed, as that of a client that has given up its turn by a reset;
 * in TLS a reset may follow an end that is unread, and then means nothing. poll
 * and select do not report errors without an interest in reading, and a reset
 * may have come while the watch was off. */
static bool
watch_client(struct session *s, unsigned what)
{
	/* one that was accepted in this very moment is not watched yet:
	 * session_start() does that */
	bool watched = s->down.watch.fd >= 0;

	stream_note_error(&s->down, sock_error(s->down.fd));
	if (s->down.flags & STREAM_GONE && !stream_is_tls(&s->down))
		session_close(s, REASON_CLIENT_RESET);
	else if (watched &&
	    watch_want(s->frontend->loop, &s->down.watch, what) < 0)
		session_close(s, REASON_NO_RESOURCES);
	else
		return true;
	return false;
}

void
session_wait_on_client(struct session *s, unsigned ready)
{
	stream_note_ready(&s->down, ready);
	(void)watch_client(s, 0);
}

bool
session_wait_is_over(struct session *s)
{
	return watch_client(s, READY_READ);
}

static void
session_queue_resume(struct session *s)
{
	session_queue_remove(s);
	session_set_state(s, CONNECTING);
	if (session_wait_is_over(s))
		session_connect_again(s);
}

/* Whether waiting clients should not wait any longer: there are free slots, or
 * there will be none, as after a reload that removes the full servers. Then the
 * emergency server gets the clients, or they are refused as new ones are. */
static bool
queue_moves(const struct pool *p, const struct route_queue *q)
{

	if (!pool_may_recover(p))
		return true;
	return q->servers == NULL
	    ? pool_has_eligible(p)
	    : server_set_next_around(q->servers, pool_eligible(p), 0) !=
		ELIGIBLE_NONE;
}

static struct session *
queue_first(struct route_queue *q)
{
	struct list *link = list_first(&q->sessions);

	return link != NULL
	    ? list_entry(link, struct session_facts, queue_link)->session
	    : NULL;
}

/* The first client that may go back to a server that is full for new ones. */
static struct session *
queue_first_old(struct route_queue *q)
{
	struct list *link;
	struct session *s;

	for (link = q->sessions.next; q->old && link != &q->sessions;
	     link = link->next) {
		s = list_entry(link, struct session_facts, queue_link)->session;
		if (pool_takes_back(s->frontend->pool, &s->client,
			&s->attempts, loop_now(s->frontend->loop)))
			return s;
	}
	q->old = false;
	return NULL;
}

/* Of the queues that are due, the client that has waited longest of those that
 * may go first; NULL: none. */
static struct session *
queue_next(const struct pool *p, struct list *queues)
{
	struct session *s, *best = NULL;
	struct route_queue *q;
	struct list *link;

	for (link = queues->next; link != queues; link = link->next) {
		q = list_entry(link, struct route_queue, link);
		if (!q->due)
			continue;
		s = queue_moves(p, q) ? queue_first(q) : queue_first_old(q);
		q->due = s != NULL;
		if (s != NULL &&
		    (best == NULL || session_queued(s) < session_queued(best)))
			best = s;
	}
	return best;
}

/* Puts the sessions that were tried in vain back to the front of their
 * queues. */
static void
queue_end_turn(struct list *queues)
{
	struct list *link;

	for (link = queues->next; link != queues; link = link->next) {
		struct route_queue *q =
		    list_entry(link, struct route_queue, link);

		list_move_all(&q->tried, &q->sessions);
		list_move_all(&q->sessions, &q->tried);
		q->due = q->old = false;
	}
}

/* Each session is tried once a call. One that comes back to its queue waits for
 * the next call, in front of those that were not tried. That is rare, and so is
 * that another one than the first gets the place: servers have access lists. */
void
session_queue_serve(struct sessions *all)
{
	const struct pool *p = all->frontend->pool;
	struct route_queue *q;
	struct session *s;

	all->queue.due = false;
	all->queue.serving = true;
	while ((s = queue_next(p, &all->queue.queues)) != NULL) {
		q = queue_of(s);
		session_queue_resume(s);
		if (queue_first(q) == s) {
			list_remove(&s->more->facts->queue_link);
			list_append(&q->tried, &s->more->facts->queue_link);
		}
	}
	queue_end_turn(&all->queue.queues);
	all->queue.serving = false;
}

/* Takes the client that has waited longest, of all routes, out of its queue. */
static struct session *
queue_take(struct list *queues)
{
	struct route_queue *q, *best = NULL;
	struct session *s;
	struct list *link;

	for (link = queues->next; link != queues; link = link->next) {
		q = list_entry(link, struct route_queue, link);
		if (best == NULL ||
		    session_queued(queue_first(q)) <
			    session_queued(queue_first(best)))
			best = q;
	}
	if (best == NULL)
		return NULL;
	s = queue_first(best);
	list_remove(&s->more->facts->queue_link);
	if (list_is_empty(&best->sessions))
		list_remove(&best->link);
	return s;
}

/* The routes have changed: waiting clients wait for the servers of the new ones
 * now. */
void
sessions_reroute(struct sessions *all)
{
	struct session_queue *q = &all->queue;
	struct session *s;
	struct list taken;

	list_init(&taken);
	while ((s = queue_take(&q->queues)) != NULL)
		list_append(&taken, &s->more->facts->queue_link);
	while (!list_is_empty(&taken)) {
		s = list_entry(taken.next, struct session_facts, queue_link)
			->session;
		list_remove(&s->more->facts->queue_link);
		s->attempts.allowed = session_first_allowed(s);
		queue_add(s, false);
		queue_of(s)->due = true;
	}
	q->due = all->frontend->stats->queued > 0;
	if (q->due)
		loop_soon(all->frontend->loop, &q->task);
}

static void
queue_on_turn(struct task *t)
{
	struct sessions *all = list_entry(t, struct sessions, queue.task);

	if (all->queue.due)
		session_queue_serve(all);
}

/* The pool reports from inside of other work, a close or a command, so the
 * queue is served by a task. */
static void
queue_on_eligible(void *arg, unsigned slot)
{
	struct sessions *all = arg;
	struct list *queues = &all->queue.queues, *link;
	struct route_queue *q;
	bool due = all->queue.due;

	if (all->queue.serving)
		return;
	for (link = queues->next; link != queues; link = link->next) {
		q = list_entry(link, struct route_queue, link);
		if (q->servers == NULL || server_set_has(q->servers, slot)) {
			q->due = true;
			q->old |= !eligible_has(
			    pool_eligible(all->frontend->pool), slot);
		}
		all->queue.due |= q->due;
	}
	if (all->queue.due && !due)
		loop_soon(all->frontend->loop, &all->queue.task);
}

/* Nothing else notices that a blacklisting has expired, that a session that
 * came back to the queue may try once more, or that no server is full any
 * more. */
static void
queue_on_regular(struct timer *t)
{
	struct sessions *all = list_entry(t, struct sessions, queue.regular);
	struct frontend_core *f = all->frontend;
	struct list *queues = &all->queue.queues, *link;

	for (link = queues->next; link != queues; link = link->next)
		list_entry(link, struct route_queue, link)->due = true;
	pool_revive(f->pool, loop_now(f->loop));
	pool_refresh_full(f->pool, loop_now(f->loop));
	session_queue_serve(all);
	if (f->stats->queued > 0)
		(void)timer_start(f->loop, t, serve_interval_ms(f));
}

void
session_queue_init(struct sessions *all)
{
	struct session_queue *q = &all->queue;

	timer_init(&q->regular, queue_on_regular);
	route_queue_init(&q->all, NULL);
	list_init(&q->queues);
	list_init(&q->task.link);
	q->task.run = queue_on_turn;
	pool_on_eligible(all->frontend->pool, queue_on_eligible, all);
}

void
session_queue_fini(struct sessions *all)
{
	pool_on_eligible(all->frontend->pool, NULL, NULL);
	list_remove(&all->queue.task.link);
	timer_fini(&all->queue.regular);
}
