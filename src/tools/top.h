/* top.h: the servers of one or several pens, live: on a terminal with keys to
 * sort, filter, drain; else as plain lines, again and again. */
#ifndef PEN_TOOLS_TOP_H
#define PEN_TOOLS_TOP_H

#include "tools/top_sums.h"
#include "tools/top_table.h"
#include "tools/watch.h"

struct top {
	struct target pen[TOP_PENS];
	unsigned pens;
	const char *service; /* NULL: all of them */
	struct repeat repeat;
	struct top_table now, view;
	struct top_sums sums, sums_before;
	enum top_order order;
	char filter[TOP_TEXT];
	struct error message; /* what went wrong, or was done; "" */
	bool failing;	      /* the last refresh went wrong */
};

/* Shows them until the user quits. Returns an exit status. */
int top(struct top *t);

/* ---- for top_screen.c ---- */

/* Queries all pens. Returns how many did not answer; t->message has the reason,
 * until they do. */
unsigned top_refresh(struct top *t);
/* Applies order and filter to the servers that are shown. */
void top_arrange(struct top *t);
/* Writes the line above the servers. Returns `line`. */
const char *top_headline(const struct top *t, char line[TOP_LINE]);
/* Sends "drain" or "up" to all pens that have the server. */
void top_send(struct top *t, const struct top_server *s, const char *word);

/* Shows the table until a key ends it. Returns an exit status; -1: this build
 * has no ncurses, or the terminal cannot. */
int top_screen(struct top *t);

#endif
