/* prompt.h: lines from a terminal, with history and completion where libedit is
 * built in, without them otherwise. */
#ifndef PEN_TOOLS_PROMPT_H
#define PEN_TOOLS_PROMPT_H

#include "tools/ask.h"

/* Carries out one line without its newline; returns an exit status. */
typedef int prompt_run_fn(void *arg, const char *line);

/* Reads lines until the end of the file or "quit" and runs those that are not
 * empty. Names to complete are requested from `t` when first needed. Returns
 * the status of the last line. */
int prompt(const struct target *t, prompt_run_fn *run, void *arg);

#endif
