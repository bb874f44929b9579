/* timeouts.c: queues of expiries; the timer is left running for a head that
 * was cancelled, which costs one idle wake-up instead of a change per thing. */
#include "config.h"

#include "net/timeouts.h"

static void
start_timer(struct timeouts *t)
{
	struct list *head = list_first(&t->queue);
	uint64_t now = loop_now(t->loop), due;

	if (head == NULL || t->running)
		return;
	due = list_entry(head, struct expiry, link)->due;
	t->running =
	    timer_start(t->loop, &t->timer, due > now ? due - now : 0) == 0;
}

static void
on_time(struct timer *timer)
{
	struct timeouts *t = container_of(timer, struct timeouts, timer);
	struct list *head;

	t->running = false;
	while ((head = list_first(&t->queue)) != NULL) {
		struct expiry *x = list_entry(head, struct expiry, link);

		if (x->due > loop_now(t->loop))
			break;
		list_remove(head);
		t->on_expired(t, x);
	}
	start_timer(t);
}

void
timeouts_init(struct timeouts *t, struct loop *l,
    void (*on_expired)(struct timeouts *t, struct expiry *x))
{
	t->loop = l;
	list_init(&t->queue);
	timer_init(&t->timer, on_time);
	t->running = false;
	t->on_expired = on_expired;
}

void
timeouts_fini(struct timeouts *t)
{
	struct list *head;

	while ((head = list_first(&t->queue)) != NULL)
		list_remove(head);
	timer_fini(&t->timer);
}

void
expiry_init(struct expiry *x)
{
	list_init(&x->link);
	x->due = 0;
}

bool
expiry_is_waiting(const struct expiry *x)
{
	return !list_is_empty(&x->link);
}

void
timeouts_add(struct timeouts *t, struct expiry *x, uint64_t due)
{
	struct list *at = t->queue.prev;

	x->due = due;
	while (
	    at != &t->queue && list_entry(at, struct expiry, link)->due > due)
		at = at->prev;
	list_insert_after(at, &x->link);
	/* A new head that is due before the running timer: start it again. */
	if (at == &t->queue)
		t->running = false;
	start_timer(t);
}

void
expiry_cancel(struct expiry *x)
{
	list_remove(&x->link);
}
