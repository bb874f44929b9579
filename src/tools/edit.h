/* edit.h: reads one line from the terminal. Two files do it: edit_libedit.c
 * with history and completion, edit_plain.c without; configure chooses. */
#ifndef PEN_TOOLS_EDIT_H
#define PEN_TOOLS_EDIT_H

#include "tools/ask.h"

struct edit;

/* Names to complete will be requested from `t`, which outlives it. NULL:
 * errno. */
struct edit *edit_new(const struct target *t, const char *prompt);
void edit_free(struct edit *x);

/* The next line, without blanks and newline at its end; lives until the next
 * call. NULL at the end of the file, or after an error; with errno EINTR after
 * Ctrl-C. */
const char *edit_line(struct edit *x);

/* Keeps a line in the history. */
void edit_remember(struct edit *x, const char *line);

/* Whether this is the one with libedit. */
bool edit_is_rich(void);

#endif
