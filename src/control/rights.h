/* rights.h: what the process may do beyond its user's own. */
#ifndef PEN_CONTROL_RIGHTS_H
#define PEN_CONTROL_RIGHTS_H

#include "base/error.h"

/* Gives up all capabilities for good (capabilities(7)), also what a program
 * that is executed could bring; the user remains, and owns its files as before.
 * Nothing on systems that have none. Returns 0, or -1 with a sentence. */
int rights_give_up(struct error *e);

#endif
