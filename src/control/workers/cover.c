/* cover.c: another worker accepts from the listening sockets of one that has
 * died and is not replaced at once, because it dies again and again: clients in
 * its backlogs, and new ones, do not wait. Which worker covers which is decided
 * here, at the end of a turn of the loop in which that may have changed. */
#include "config.h"

#include "control/apply/services.h"
#include "control/workers/workers_private.h"

/* The next running worker, in the order of their numbers. */
static struct worker_slot *
helper_of(const struct worker_slot *s)
{
	struct workers *w = s->workers;
	struct worker_slot *other;
	unsigned i;

	for (i = 0; i + 1 < w->count; i++) {
		other = &w->slots[(s->member + i) % w->count];
		if (other->pid != 0)
			return other;
	}
	return NULL;
}

/* Whether it has sockets of a worker that runs again, or sockets that are
 * listened on no longer. */
static bool
has_too_many(const struct worker_slot *helper)
{
	const struct workers *w = helper->workers;
	unsigned i;

	for (i = 0; i < w->count; i++)
		if (w->slots[i].cover == helper->member &&
		    (w->covers_anew || w->slots[i].pid != 0))
			return true;
	return false;
}

static void
cover_end(struct worker_slot *helper)
{
	struct workers *w = helper->workers;
	unsigned i;

	for (i = 0; i < w->count; i++)
		if (w->slots[i].cover == helper->member)
			w->slots[i].cover = 0;
	worker_slot_post(helper, MESSAGE_COVER_END, NULL, 0);
}

static void
cover_worker(struct worker_slot *s, struct worker_slot *helper)
{
	struct service *svc;

	SERVICE_EACH (s->workers->pen, svc)
		if (!svc->leaves)
			frontend_each_member(svc->frontend, s->member - 1, true,
			    worker_slot_post_socket, helper);
	worker_slot_post(helper, MESSAGE_COVER, NULL, 0);
	s->cover = helper->member;
}

void
cover_on_task(struct task *t)
{
	struct workers *w = list_entry(t, struct workers, cover);
	struct worker_slot *s, *helper;
	unsigned i;

	if (w->leaves || w->waits || w->pen->phase != PHASE_SERVING)
		return;
	WORKER_SLOT_EACH (w, s)
		if (has_too_many(s))
			cover_end(s);
	w->covers_anew = false;
	for (i = 0; i < w->count; i++) {
		s = &w->slots[i];
		helper = s->cover == 0 && s->pid == 0 ? helper_of(s) : NULL;
		if (helper != NULL)
			cover_worker(s, helper);
	}
}

void
cover_soon(struct workers *w)
{
	loop_soon(w->pen->loop, &w->cover);
}

void
cover_anew(struct workers *w)
{
	unsigned i;

	for (i = 0; i < w->count; i++)
		w->covers_anew |= w->slots[i].cover != 0;
	if (w->covers_anew)
		cover_soon(w);
}
