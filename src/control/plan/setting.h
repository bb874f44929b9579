/* setting.h: rows that are settings, on a plan: one walk for all of them. */
#ifndef PEN_CONTROL_SETTING_H
#define PEN_CONTROL_SETTING_H

#include "control/plan/plan.h"
#include "control/value/row.h"

/* NAME VALUE sets, NAME prints, no NAME unsets: on c->plan. Returns 0, or -1
 * with a short message. */
int setting_run(struct call *c, struct error *e);

/* The settings that this build has and that commands set, in the order of the
 * table. NULL begins, and ends. */
const struct command *setting_next(const struct command *row);
#define SETTING_EACH(row)                               \
	for ((row) = setting_next(NULL); (row) != NULL; \
	     (row) = setting_next(row))

/* What the row's offset refers to: the plan of the process, which `all` has, or
 * the settings of `service`. NULL if `all` is the plan of another service,
 * which has no plan of the process. */
const void *setting_base(const struct plan *all, const struct plan *service,
    const struct command *row);
/* Whether two plans agree in it; rows without a value always do, and those of
 * the process if one is the plan of another service. */
bool setting_equal(
    const struct plan *a, const struct plan *b, const struct command *row);
/* The next setting of a service after `row` in which the two plans differ; NULL
 * begins, and ends. */
const struct command *setting_next_difference(
    const struct plan *a, const struct plan *b, const struct command *row);

/* The value of a row of KIND_TEXT or KIND_FILE, which stays the plan's; else
 * NULL, and also for a setting of the process if `p` is the plan of another
 * service. */
const char *setting_string(const struct plan *p, const struct command *row);
uint64_t setting_number(const struct plan *p, const struct command *row);

/* Prints all settings as commands, and as fields: those of the process from
 * `all`, the others from `service`. */
void setting_print_all(
    const struct plan *all, const struct plan *service, struct buffer *out);
void setting_emit_all(
    struct fields *f, const struct plan *all, const struct plan *service);

#endif
