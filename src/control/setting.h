/* setting.h: rows that are values: one parser and one printer for all. */
#ifndef PEN_CONTROL_SETTING_H
#define PEN_CONTROL_SETTING_H

#include "control/command.h"

enum { SETTING_TEXT_MAX = 32 };

/* NAME VALUE sets, NAME asks, no NAME unsets: on c->plan. Returns 0, or -1 with
 * a phrase. */
int setting_run(struct call *c, struct error *e);

/* Whether the value is a number of any kind. */
bool setting_is_number(const struct command *row);
/* A number as somebody types it. Returns `text`. */
const char *setting_text(const struct plan *p, const struct command *row,
    char text[SETTING_TEXT_MAX]);
bool setting_flag(const struct plan *p, const struct command *row);
const char *setting_string(const struct plan *p, const struct command *row);
/* Whether two plans agree in it; rows without a value always do. */
bool setting_equal(
    const struct plan *a, const struct plan *b, const struct command *row);

/* The value as a fact under `key`. */
struct facts;
void setting_tell(struct facts *f, const char *key, const struct plan *p,
    const struct command *row);

#endif
