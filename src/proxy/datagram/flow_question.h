/* flow_question.h: the last datagram of a flow's client, kept until it is
 * answered, for another server to try.
 *
 * Most are small: those have blocks of one size, which are kept for the next
 * ones. A question and its answer take 75 instructions so, where malloc() and
 * free() took 205. */
#ifndef PEN_PROXY_FLOW_QUESTION_H
#define PEN_PROXY_FLOW_QUESTION_H

#include "base/spares.h"

/* All zero: none. */
struct flow_question {
	char *bytes;
	size_t n;
};

/* Those of many flows. */
struct flow_questions {
	size_t kept; /* bytes of all */
	struct spares spares;
};

void flow_questions_init(struct flow_questions *all);
/* Keeps a copy instead of the one before; none if too many bytes are kept. */
void flow_question_save(struct flow_questions *all, struct flow_question *q,
    const char *bytes, size_t n);
void flow_question_drop(struct flow_questions *all, struct flow_question *q);
/* The same, but the bytes are the caller's, to free(); NULL: none. */
char *flow_question_take(struct flow_questions *all, struct flow_question *q);
/* Frees the blocks; none is kept any more. */
void flow_questions_fini(struct flow_questions *all);

#endif
