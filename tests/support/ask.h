/* ask.h: commands put to a context in this process, as the control socket
 * would. */
#ifndef PEN_TEST_ASK_H
#define PEN_TEST_ASK_H

#include "control/pen.h"

/* Carries out a line; the answer (without the line of an error) goes into
 * `answer` of `size` bytes, cut if it must. Names are looked up at once.
 * Returns 0, or -1 with the sentence in `e`. */
int ask_pen(struct pen *p, const char *line, char *answer, size_t size,
    struct error *e);

/* What main() does with a command line: applies p->given. Returns 0, or -1 with
 * a sentence. */
int apply_given(struct pen *p, struct error *e);

/* Starts one that listens on a Unix socket of the test's, with a server; and
 * runs its loop for a millisecond. */
struct pen *ask_start(void);
void ask_turn(struct pen *p);

/* The whole plan in force, as --print-all has it; lives until the test ends. */
const char *ask_printed(const struct pen *p);

#endif
