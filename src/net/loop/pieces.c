/* pieces.c: a queue of tasks behind one task of the loop. */
#include "config.h"

#include "net/loop/pieces.h"

static void
pieces_on_turn(struct task *turn)
{
	struct pieces *p = container_of(turn, struct pieces, turn);
	unsigned left = p->budget;

	while (left > 0 && !list_is_empty(&p->waiting)) {
		struct list *link = list_first(&p->waiting);
		struct task *t = list_entry(link, struct task, link);

		list_remove(link);
		t->run(t);
		left--;
	}
	if (!list_is_empty(&p->waiting))
		loop_soon(p->loop, &p->turn);
}

void
pieces_init(struct pieces *p, struct loop *l, unsigned budget)
{
	p->loop = l;
	p->budget = budget;
	list_init(&p->waiting);
	list_init(&p->turn.link);
	p->turn.run = pieces_on_turn;
}

void
pieces_soon(struct pieces *p, struct task *t)
{
	if (t->link.next != NULL && !list_is_empty(&t->link))
		return;
	list_append(&p->waiting, &t->link);
	loop_soon(p->loop, &p->turn);
}
