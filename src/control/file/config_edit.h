/* config_edit.h: a configuration file whose commands are changed, while its
 * comments, empty lines and order stay.
 *
 *     timeout 4; blacklist 9   # slow    a changed command stays in its place
 *     server 0 \                         lines without changes stay as they
 *             address web1               are, byte for byte
 *
 * A line of which no command is left goes, with its comment. What is new
 * stands after what is of its kind. */
#ifndef PEN_CONTROL_CONFIG_EDIT_H
#define PEN_CONTROL_CONFIG_EDIT_H

#include "control/file/config_lines.h"

/* Appends the file that `have` has been read from, with what is wanted that is
 * not CONFIG_KEPT, and with `all` that it does not have. Returns 0, or -1 with
 * errno ENOMEM. */
int config_edit(struct config_lines *have, const struct config_lines *wanted,
    bool all, struct buffer *out);

#endif
