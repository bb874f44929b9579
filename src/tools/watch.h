/* watch.h: the answer to a command, again and again. */
#ifndef PEN_TOOLS_WATCH_H
#define PEN_TOOLS_WATCH_H

#include "tools/ask.h"

/* How often, and how many times; 0: for ever. */
struct repeat {
	uint64_t interval_ms;
	uint64_t count;
};

/* Sends the line and shows the reply: on a terminal the last one, as far as it
 * fits, else one after the other with an empty line between them. Returns an
 * exit status: at a terminal only a refusal ends it before its time. */
int watch(const struct target *t, const char *line, const struct repeat *r);

/* Writes what was printed. Returns false when that ends all, with an exit
 * status: a reader that stops, as head(1), is no error; all else is, and is
 * reported. */
bool watch_flush(int *status);

/* Waits for the next time. */
void watch_wait(const struct repeat *r);

#endif
