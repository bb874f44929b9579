/* options.h: the command line: options, listening addresses, servers. */
#ifndef PEN_CONTROL_OPTIONS_H
#define PEN_CONTROL_OPTIONS_H

#include "base/error.h"
#include "control/life/context.h"

enum options_result { OPTIONS_RUN, OPTIONS_DONE, OPTIONS_BAD };

/* Parses everything into p->given: the listening addresses, then the servers,
 * then the options in their order, so that an option may count on both; errors
 * of options are kept in p->errors, if that is there. OPTIONS_DONE: --help or
 * the like has been printed. OPTIONS_BAD: a full message is in `e`. */
enum options_result options_parse(
    struct pen *p, int argc, char **argv, struct error *e);

#endif
