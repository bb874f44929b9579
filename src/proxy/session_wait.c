/* session_wait.c: clients that no server takes at the moment, and who may wait
 * for one: all servers refused, as they do while they are started again, or those
 * that are well are at their limits.
 *
 * The latter stand in a queue. The pool says when a server may take clients
 * again; as many as there are places then leave the queue, the oldest first. */
#include "config.h"

#include "net/sock.h"
#include "proxy/session_private.h"

/* How soon servers that refused are tried again for the same client. */
enum { RETRY_MS = 500 };

/* All servers may be tried once more, as far as `tries` lets them. */
static void
session_try_again(struct session *s)
{
	s->attempts = (struct attempts){ .hint = s->attempts.hint,
		.proven = s->attempts.proven,
		.given = s->attempts.given };
	session_next_server(s);
}

/* ---- servers that refuse ---- */

static void
session_on_retry(struct timeouts *t, struct expiry *x)
{
	(void)t;
	session_try_again(list_entry(x, struct session, expiry));
}

static bool
session_retry(struct session *s)
{
	struct frontend *f = s->frontend;
	uint64_t again = loop_now(f->loop) + RETRY_MS;

	if (!s->refused || pool_options(f->pool)->stubborn ||
	    !pool_has_tries_left(f->pool, &s->attempts) ||
	    again - s->started > f->options.retry_ms)
		return false;
	timeouts_add(&f->retrying, &s->expiry, again);
	return true;
}

/* ---- servers that are full ---- */

void
session_schedule_queued(struct session *s)
{
	struct frontend *f = s->frontend;

	expiry_cancel(&s->expiry);
	timeouts_add(
	    &f->queue.over, &s->expiry, s->queued + f->options.queue_ms);
}

static void
session_on_queue_over(struct timeouts *t, struct expiry *x)
{
	(void)t;
	session_close(
	    list_entry(x, struct session, expiry), REASON_QUEUE_TIMEOUT);
}

/* Whether the client may join the queue: a server that it may use is full. One
 * that had its turn may come back although that server is blacklisted now. */
static bool
session_may_queue(const struct session *s)
{
	const struct pool *p = s->frontend->pool;

	return (s->queued != 0 && !pool_options(p)->stubborn) ||
	    pool_may_wait(p, &s->client);
}

/* One that had left the queue for a server that failed was the oldest then, and
 * is in front again. */
static bool
session_queue(struct session *s)
{
	struct frontend *f = s->frontend;
	struct session_queue *q = &f->queue;
	uint64_t now = loop_now(f->loop);

	if (f->options.queue_ms == 0 || !session_may_queue(s) ||
	    !pool_has_tries_left(f->pool, &s->attempts) ||
	    (s->queued != 0 && now - s->queued >= f->options.queue_ms))
		return false;
	if (f->stats.queued == 0 &&
	    timer_start(f->loop, &q->look, RETRY_MS) < 0)
		return false;
	session_set_state(s, QUEUED);
	if (s->queued == 0) {
		s->queued = now;
		f->stats.queued_total++;
		list_append(&q->sessions, &s->place);
	} else {
		list_prepend(&q->sessions, &s->place);
	}
	f->stats.queued++;
	list_remove(&s->task.link); /* what the client says stays there */
	session_schedule_queued(s);
	return true;
}

void
session_leave_queue(struct session *s)
{
	list_remove(&s->place);
	s->frontend->stats.queued--;
}

void
session_on_queued(struct session *s, unsigned ready)
{
	stream_note_ready(&s->down, ready);
	/* poll and select do not report errors to who wants to read */
	if (sock_error(s->down.fd) != 0)
		session_close(s, REASON_CLIENT_RESET);
	else if (watch_want(s->frontend->loop, &s->down.watch, 0) < 0)
		session_close(s, REASON_NO_RESOURCES);
}

/* Its client is listened to again. One that has just come is not watched yet. */
static void
session_resume(struct session *s)
{
	session_leave_queue(s);
	session_set_state(s, CONNECTING);
	/* a reset behind what it said first: the watch was off by then */
	if (sock_error(s->down.fd) != 0)
		session_close(s, REASON_CLIENT_RESET);
	else if (s->down.watch.fd >= 0 &&
	    watch_want(s->frontend->loop, &s->down.watch, READY_READ) < 0)
		session_close(s, REASON_NO_RESOURCES);
	else
		session_try_again(s);
}

/* Each is looked at once: one that comes back is for the next time, in front of
 * those that were not. It is rare that one comes back, or that the first is not
 * the one to be served: where servers have access lists. */
void
session_serve_queue(struct frontend *f)
{
	struct list all, back, *link;

	f->queue.due = false;
	f->queue.serving = true;
	list_init(&all);
	list_init(&back);
	list_move_all(&all, &f->queue.sessions);
	while (
	    pool_has_eligible(f->pool) && (link = list_first(&all)) != NULL) {
		session_resume(list_entry(link, struct session, place));
		list_move_all(&back, &f->queue.sessions);
	}
	list_move_all(&f->queue.sessions, &back);
	list_move_all(&f->queue.sessions, &all);
	f->queue.serving = false;
}

static void
on_turn(struct task *t)
{
	struct frontend *f = list_entry(t, struct frontend, queue.task);

	if (f->queue.due)
		session_serve_queue(f);
}

static void
on_eligible(void *arg)
{
	struct frontend *f = arg;

	if (f->stats.queued == 0 || f->queue.due || f->queue.serving)
		return;
	f->queue.due = true;
	loop_soon(f->loop, &f->queue.task);
}

/* Nobody else says that a blacklisting is over, or that one who came back to the
 * queue may try once more. */
static void
on_look(struct timer *t)
{
	struct frontend *f = list_entry(t, struct frontend, queue.look);

	pool_revive(f->pool, loop_now(f->loop));
	session_serve_queue(f);
	if (f->stats.queued > 0)
		(void)timer_start(f->loop, t, RETRY_MS);
}

/* ---- both ---- */

bool
session_wait(struct session *s)
{
	return session_queue(s) || session_retry(s);
}

void
session_wait_init(struct frontend *f)
{
	struct session_queue *q = &f->queue;

	timeouts_init(&f->retrying, f->loop, session_on_retry, NULL);
	timeouts_init(&q->over, f->loop, session_on_queue_over, NULL);
	timer_init(&q->look, on_look);
	list_init(&q->sessions);
	list_init(&q->task.link);
	q->task.run = on_turn;
	pool_on_eligible(f->pool, on_eligible, f);
}

void
session_wait_fini(struct frontend *f)
{
	pool_on_eligible(f->pool, NULL, NULL);
	list_remove(&f->queue.task.link);
	timer_fini(&f->queue.look);
	timeouts_fini(&f->queue.over);
	timeouts_fini(&f->retrying);
}
