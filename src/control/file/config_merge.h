/* config_merge.h: updates a configuration file to match the running plan.
 *
 *     timeout 4; blacklist 9   # slow    a changed command stays where it is
 *     server 0 \                         what has not changed stays as it is,
 *             address web1               byte for byte
 *
 * In one pass over the file, read as a start would: commands of keys with
 * another value are replaced, obsolete ones go, those that are missing follow
 * at the end of their section. What an included file sets later, or a command
 * for all servers, is overridden after that. Then the result is read. */
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
