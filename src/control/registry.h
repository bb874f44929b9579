/* registry.h: the two arrays that tie all: the groups of the command language,
 * and the participants of an apply. */
#ifndef PEN_CONTROL_REGISTRY_H
#define PEN_CONTROL_REGISTRY_H

#include "control/language/command.h"

struct participant;

extern const struct command_group command_groups[];
/* See apply.h. */
extern const struct participant *const participants;

#endif
