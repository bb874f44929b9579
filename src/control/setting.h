/* setting.h: rows whose value is a member of struct config. */
#ifndef PEN_CONTROL_SETTING_H
#define PEN_CONTROL_SETTING_H

#include "control/command.h"

/* Sets the value from the argument, or answers it when there is none. What was
 * set is in force at once. Returns 0, or -1 with a phrase, the value as it was.
 */
int setting_run(struct call *c, struct error *e);

#endif
