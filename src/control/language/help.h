/* help.h: the command table for people: --help, `help`, --version. */
#ifndef PEN_CONTROL_HELP_H
#define PEN_CONTROL_HELP_H

#include "base/buffer.h"

struct command;
struct command_group;

/* Appends "NAME ARGUMENTS  what it does", broken to fit a terminal. */
void help_add_command(struct buffer *out, const struct command *row);
/* --help, to stdout: the options that most need; or, with the key of a group,
 * the options and commands of that; or, with "all", of all. Returns -1 when
 * there is no such group. */
int help_print(const struct command_group *all, const char *group);
/* Version, libraries and features, to stdout. */
void help_print_version(void);

#endif
