/* value.h: the values of settings, by the kind that their row names: parsed,
 * printed, reported as JSON, compared and copied in one place for all of them.
 *
 * A value is what stands row->offset bytes after `base`, which is a struct
 * config or a struct process_plan for rows of the command table, and a struct
 * server_plan for those of a server (see table_server.c). Rows of kinds without
 * a value are not handled here. */
#ifndef PEN_CONTROL_VALUE_H
#define PEN_CONTROL_VALUE_H

#include "control/value/row.h"
#include "control/answer/fields.h"

/* Whether the row has a value. */
bool value_is_there(const struct command *row);

/* Sets it from the words behind NAME, or behind "no NAME". Returns 0, or -1
 * with a short message and the value as it was. */
int value_set(const struct command *row, void *base, const struct words *w,
    bool no, struct error *e);
/* Appends it as words of the command language, without NAME. Returns false when
 * there is none to append. */
bool value_words(
    const struct command *row, const void *base, struct buffer *out);
/* Appends the lines that set it, whatever was set before. */
void value_print(
    const struct command *row, const void *base, struct buffer *out);
/* Appends what "NAME" alone answers. */
void value_answer(
    const struct command *row, const void *base, struct buffer *out);
/* Reports it as JSON. */
void value_emit(struct fields *f, const char *key, const struct command *row,
    const void *base);
bool value_equal(const struct command *row, const void *a, const void *b);
/* Calls `visit` for each string it owns. Returns 0 if all calls did. */
int value_each_text(
    const struct command *row, void *base, int (*visit)(char **text));

/* The mode of a file: "0660". Returns 0, or -1 with a short message. */
int value_parse_mode(const char *word, unsigned *mode, struct error *e);

/* Whether the row's value is a number. */
bool value_is_number(const struct command *row);
uint64_t value_number(const struct command *row, const void *base);
void value_put_number(const struct command *row, void *base, uint64_t n);
/* Whether setting it is answered with it, as in classic Pen. */
bool value_echoes(const struct command *row);

#endif
