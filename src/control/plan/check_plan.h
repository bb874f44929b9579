/* check_plan.h: the health checks of a plan. */
#ifndef PEN_CONTROL_CHECK_PLAN_H
#define PEN_CONTROL_CHECK_PLAN_H

#include "control/plan/plan.h"
#include "proxy/check/check_spec.h"

/* How the server in the slot is to be checked, in words (check_spec.h);
 * NULL: it is not. */
const char *check_plan_text(const struct plan *p, unsigned slot);
/* Whether any server is to be. */
bool check_plan_is_wanted(const struct plan *p);
/* Whether a check, in words, has one of the TRAIT_CHECK*. */
bool check_plan_has(const char *text, unsigned traits);
/* Whether the check for all, or any server, has one of the TRAIT_*. */
bool check_plan_any(const struct plan *p, unsigned traits);
/* The first port that clients come to; 0: any. */
uint16_t check_plan_first_port(const struct plan *p);
/* The port for checks of the server that is not its own: set, or the first that
 * clients come to, where it has none; 0: none. */
uint16_t check_plan_other_port(
    const struct plan *p, const struct server_plan *s);
/* The port to check the server on; 0: none. */
uint16_t check_plan_port(const struct plan *p, const struct server_plan *s);
/* The port of "dsr" where the listening address has none; 0: none. */
uint16_t check_plan_dsr_port(
    const struct check_settings *s, const struct check_spec *spec);

/* Takes out of all services what only operators may read: the words of checks
 * that start a program or send a text, which may be passwords. Such a plan is
 * for reports only. Returns 0, or -1 with errno ENOMEM. */
int check_plan_hide_secrets(struct plan *p);

#endif
