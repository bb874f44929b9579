/* invariants.h: what holds of the sessions of a frontend between two turns of
 * the loop, whatever has happened. */
#ifndef PEN_TEST_MODEL_INVARIANTS_H
#define PEN_TEST_MODEL_INVARIANTS_H

#include <stdbool.h>

struct frontend;
struct loop;

/* At any time: what is counted is there, descriptors are open and each has one
 * owner, no byte is lost or made up. */
void invariants_hold(const struct frontend *f);
/* Besides, when the loop is about to sleep with nothing to report: nobody waits
 * for what is there, who has nothing to keep owns no memory, timers are due
 * later, and there is an alarm for the first one. */
void invariants_hold_asleep(const struct loop *l, const struct frontend *f);
/* Who is whose server. */
void invariants_join(const struct frontend *f);

#endif
