/* lend.c: a worker that is away for a while, as it dies again and again, leaves
 * its sockets to one that is there: clients in their backlogs, and those that
 * come, do not wait. Who has which is decided here, at the end of a turn in
 * which that may have changed. */
#include "config.h"

#include "control/apply/services.h"
#include "control/workers/workers_private.h"

/* The next one in the circle of those that are there. */
static struct seat *
helper_of(const struct seat *s)
{
	struct workers *w = s->workers;
	struct seat *other;
	unsigned i;

	for (i = 0; i + 1 < w->count; i++) {
		other = &w->seat[(s->member + i) % w->count];
		if (other->pid != 0)
			return other;
	}
	return NULL;
}

/* Whether it has sockets of one that is there again, or other ones. */
static bool
has_too_many(const struct seat *helper)
{
	const struct workers *w = helper->workers;
	unsigned i;

	for (i = 0; i < w->count; i++)
		if (w->seat[i].helper == helper->member &&
		    (w->lends_anew || w->seat[i].pid != 0))
			return true;
	return false;
}

static void
take_back(struct seat *helper)
{
	struct workers *w = helper->workers;
	unsigned i;

	for (i = 0; i < w->count; i++)
		if (w->seat[i].helper == helper->member)
			w->seat[i].helper = 0;
	seat_post(helper, MESSAGE_GIVE_BACK, NULL, 0);
}

static void
lend(struct seat *s, struct seat *helper)
{
	struct service *svc;

	SERVICE_EACH (s->workers->pen, svc)
		if (!svc->leaves)
			frontend_each_member(svc->frontend, s->member - 1, true,
			    seat_post_socket, helper);
	seat_post(helper, MESSAGE_LEND, NULL, 0);
	s->helper = helper->member;
}

void
lend_on_task(struct task *t)
{
	struct workers *w = list_entry(t, struct workers, lend);
	struct seat *s, *helper;
	unsigned i;

	if (w->leaves || w->waits || w->pen->phase != PHASE_SERVING)
		return;
	SEAT_EACH (w, s)
		if (has_too_many(s))
			take_back(s);
	w->lends_anew = false;
	for (i = 0; i < w->count; i++) {
		s = &w->seat[i];
		helper = s->helper == 0 && s->pid == 0 ? helper_of(s) : NULL;
		if (helper != NULL)
			lend(s, helper);
	}
}

void
lend_soon(struct workers *w)
{
	loop_soon(w->pen->loop, &w->lend);
}

void
lend_anew(struct workers *w)
{
	unsigned i;

	for (i = 0; i < w->count; i++)
		w->lends_anew |= w->seat[i].helper != 0;
	if (w->lends_anew)
		lend_soon(w);
}
