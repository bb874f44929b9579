/* special.h: settings whose rows have handlers of their own (KIND_CHANGE), in
 * the places where all settings are treated alike: printed, compared, told.
 *
 * Servers, access lists, listening addresses and control sockets are no
 * settings: plan_print.c prints them. */
#ifndef PEN_CONTROL_SPECIAL_H
#define PEN_CONTROL_SPECIAL_H

#include <stdbool.h>

#include "control/facts.h"
#include "control/plan.h"

struct special {
	const char *name; /* of its row, or of all the rows that set it */
	/* Appends the lines that set it, whatever was set before. */
	void (*print)(const struct plan *p, struct buffer *text);
	/* Tells it as JSON does. */
	void (*tell)(struct facts *f, const char *name, const struct plan *p);
};

/* All that this build has, in the order of printing; NULL behind the last. */
const struct special *special_at(unsigned i);
/* The one of that row, or NULL. */
const struct special *special_find(const char *row);
/* Whether both plans print it alike; not when memory is out. */
bool special_equal(
    const struct special *s, const struct plan *a, const struct plan *b);

#endif
