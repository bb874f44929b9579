/* options_private.h: for the files of options. */
#ifndef PEN_CONTROL_OPTIONS_PRIVATE_H
#define PEN_CONTROL_OPTIONS_PRIVATE_H

#include <getopt.h>

#include "control/language/options.h"
#include "control/value/row.h"

struct command_group;

/* An option as given, carried out once all operands are known. */
struct given {
	const struct command *row; /* NULL: -O */
	char *argument;
};

struct options {
	const struct command_group *all;
	const struct command **rows; /* by number of long option; NULL: end */
	char (*names)[ROW_OPTION_MAX]; /* the same */
	struct option *longs;
	char *shorts;
	struct given *given;
	unsigned count;
};

/* Carries out the operands, which end with NULL, and then the options. Returns
 * 0, or -1 with a full message; errors of options are kept in p->errors. */
int options_run(
    struct pen *p, const struct options *o, char **operands, struct error *e);

#endif
