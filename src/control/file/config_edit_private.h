/* config_edit_private.h: what config_edit.c and config_edit_write.c share. */
#ifndef PEN_CONTROL_CONFIG_EDIT_PRIVATE_H
#define PEN_CONTROL_CONFIG_EDIT_PRIVATE_H

#include "control/file/config_edit.h"

/* Whether the thing need not be said: it is as defaults and command line have
 * it. */
bool config_edit_is_default(
    const struct config_edit *d, const struct config_thing *x);

#endif
