/* checkrig.h: a rig (rig.h) whose server 0 is health-checked: one check at a
 * time, as the words say, and its result. */
#ifndef PEN_TEST_CHECKRIG_H
#define PEN_TEST_CHECKRIG_H

#include "net/program/program.h"
#include "proxy/check/checker.h"
#include "support/rig.h"

extern struct checker *checkrig;
extern struct programs *checkrig_programs;

/* A rig with a server there, and a checker; `timeout_ms` of each check.
 * rig.options may be changed between the two. */
void checkrig_begin(const struct spot *at);
void checkrig_front(uint64_t timeout_ms);
/* Checks it once. The reason must be this one. */
void checkrig_good(const char *words, const char *reason);
void checkrig_bad(const char *words, const char *reason);
/* The words are refused, with that in the phrase. */
void checkrig_refuses(const char *words, const char *why);
/* No check runs any more. */
void checkrig_stop(void);
void checkrig_end(void);

#endif
