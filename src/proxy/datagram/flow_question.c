/* flow_question.c: copies of datagrams, and the blocks that small ones had. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/shortcuts.h"
#include "proxy/datagram/flow_question.h"

/* Bytes of a block; how many wait for the next questions; bytes of questions
 * kept in all. */
enum {
	BLOCK = 128,
	SPARES_MAX = SHORTCUT_SPARES ? 64 : 0,
	KEPT_MAX = 32 * 1024 * 1024
};

static void *
get_room(struct flow_questions *all, size_t n)
{
	return n > BLOCK ? malloc(n) : spares_allocate(&all->spares);
}

static void
give_room(struct flow_questions *all, void *block, size_t n)
{
	if (n > BLOCK)
		free(block);
	else
		spares_free(&all->spares, block);
}

char *
flow_question_take(struct flow_questions *all, struct flow_question *q)
{
	char *bytes = q->bytes;

	all->kept -= q->n;
	*q = (struct flow_question){ .n = 0 };
	return bytes;
}

void
flow_question_drop(struct flow_questions *all, struct flow_question *q)
{
	size_t n = q->n;
	char *bytes = flow_question_take(all, q);

	if (bytes != NULL)
		give_room(all, bytes, n);
}

void
flow_question_save(struct flow_questions *all, struct flow_question *q,
    const char *bytes, size_t n)
{
	flow_question_drop(all, q);
	if (n == 0 || all->kept + n > KEPT_MAX)
		return;
	q->bytes = get_room(all, n);
	if (q->bytes == NULL)
		return;
	memcpy(q->bytes, bytes, n);
	q->n = n;
	all->kept += n;
}

void
flow_questions_init(struct flow_questions *all)
{
	all->kept = 0;
	spares_init(&all->spares, BLOCK, SPARES_MAX);
}

void
flow_questions_fini(struct flow_questions *all)
{
	spares_fini(&all->spares);
}
