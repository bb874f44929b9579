/* checks.h: checks of servers of the plan in force. */
#ifndef PEN_CONTROL_CHECKS_H
#define PEN_CONTROL_CHECKS_H

#include "control/apply/apply.h"
#include "control/plan/check_plan.h"
#include "proxy/check/check_spec.h"

struct fields;

/* Checks that the draft has what its health checks need. Returns 0, or -1 with
 * a full message. */
int checks_check(struct apply *a, struct error *e);
/* Compiles the checks of the draft, and makes room for them. Returns 0, or -1
 * with a full message and everything as it was. */
int checks_prepare(struct apply *a, struct error *e);
/* Servers are checked so from now on; those that were checked so already, at
 * the same addresses, go on undisturbed. */
void checks_commit(struct apply *a);
/* Checks them as before. */
void checks_cancel(struct apply *a);
/* Checks no server any more; what is known of them stays. */
void checks_stop(struct service *svc);
/* Ends all checks. */
void checks_free(struct service *svc);

/* Whether the program that the check runs, if it runs one, can be executed; and
 * that of all checks, for --check. Return 0, or -1 with a full message. */
int checks_try_program(
    const struct pen *p, const struct check_spec *s, struct error *e);
int checks_try_programs(const struct service *svc, struct error *e);
/* What the checks of all servers depend on: their settings, the names that are
 * verified, and the first port. */
#define CHECKS_ON_ALL (CHANGED_CHECKS | CHANGED_TLS | CHANGED_LISTEN)

#endif
