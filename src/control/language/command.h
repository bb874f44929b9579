/* command.h: finds the row of a line, and carries the line out. */
#ifndef PEN_CONTROL_COMMAND_H
#define PEN_CONTROL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/words.h"
#include "control/value/row.h"

/* Rows that belong together, ended by a NULL key. */
enum { COMMAND_PARTS = 8 };
struct command_group {
	const char *key; /* as --help takes it */
	const char *title;
	/* Each ended by a NULL name, and all of them by NULL. */
	const struct command *part[COMMAND_PARTS];
};

/* All functions below take the groups of the language; see registry.h. */

/* The row after `row`, group after group; NULL begins, and ends. */
const struct command *command_next(
    const struct command_group *all, const struct command *row);
#define COMMAND_EACH(all, row)                               \
	for ((row) = command_next(all, NULL); (row) != NULL; \
	     (row) = command_next(all, row))

/* The group that it is in, and its number among all rows. */
const struct command_group *command_group_of(
    const struct command_group *all, const struct command *row);
unsigned command_index(
    const struct command_group *all, const struct command *row);

/* The row of that name, or NULL. */
const struct command *command_find(
    const struct command_group *all, const char *name);
/* The error that there is no such command, with the nearest name. Returns
 * -1. */
int command_unknown(
    const struct command_group *all, const char *name, struct error *e);
/* The full message of a command that failed: its name, and why; but that
 * begins with the name for `server "x": no port`. Returns -1. */
int command_name_error(const struct command *row, bool no,
    const struct error *why, struct error *e);

/* The help and arguments of a row, with the names that # stands for. Return
 * `text`, or the row's own. */
const char *command_help(
    const struct command *row, char text[COMMAND_TEXT_MAX]);
const char *command_args(
    const struct command *row, char text[COMMAND_TEXT_MAX]);

/* Splits `line`, cut in place, and finds its row and arguments; *row is NULL
 * for an empty line or a comment. *rest is what follows a ';', or NULL. Returns
 * 0, or -1 with a full message. */
int command_parse(const struct command_group *all, char *line,
    const struct command **row, struct words *arguments, bool *no, char **rest,
    struct error *e);
/* Takes "service NAME" off "service NAME COMMAND ..": COMMAND becomes the row.
 * Returns NAME, which is in the line; NULL: it was no such command. */
const char *command_take_service(const struct command_group *all,
    const struct command **row, struct words *arguments, bool *no);
/* Carries out c->row. Returns 0, or -1 with a short message. */
int command_run(struct call *c, struct error *e);
/* Carries out all commands of one line of a file or -O, on c->plan of c->draft,
 * at once; c->row, words and no are used for that. Returns 0, or -1 with a full
 * message. */
int command_run_line(struct call *c, const char *line, struct error *e);

/* Makes the service that of the following commands; a running one is not the
 * blank one. */
void call_set_service(struct call *c, struct service *svc);
/* Returns 0, or -1 with a short message: that pen is not running yet. */
int call_needs_serving(const struct call *c, struct error *e);

#endif
