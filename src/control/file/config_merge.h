/* config_merge.h: updates a configuration file to match the running plan.
 *
 *     the file, read as a start would ---+
 *                                        |-- differs: in what?
 *     the plan in force -----------------+         |
 *                                                  v
 *     the file with these lines replaced, read again, until nothing differs
 *
 * What is set twice, by included files or by the command line, is found by
 * reading, not guessed: lines that have no effect where they stand go to the
 * end. So the result is right when it comes back, or there is none. */
#ifndef PEN_CONTROL_CONFIG_MERGE_H
#define PEN_CONTROL_CONFIG_MERGE_H

#include "control/life/context.h"

/* Puts into `out`, which is empty, what the file `path`, with the text `old`,
 * is to become so that a start with it gives the plan in force, with the
 * command line and without. Settings that are defaults are left out unless
 * `all` is set. Opens no sockets; reads included files. Returns 0, or -1 with a
 * full message. */
int config_merge(struct pen *p, const char *path, const struct buffer *old,
    bool all, struct buffer *out, struct error *e);

#endif
