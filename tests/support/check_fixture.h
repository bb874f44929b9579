/* check_fixture.h: a fixture (fixture.h) whose server 0 is health-checked: one
 * check at a time, as the words say, and its result. */
#ifndef PEN_TEST_CHECK_FIXTURE_H
#define PEN_TEST_CHECK_FIXTURE_H

#include "net/program/program.h"
#include "proxy/check/checker.h"
#include "support/fixture.h"

extern struct checker *check_fixture;
extern struct programs *check_fixture_programs;
extern uint16_t check_fixture_port; /* of checks; 0: the server's */

/* A fixture with a server there, and a checker; `timeout_ms` of each check.
 * fixture.options may be changed between the two. */
void check_fixture_begin(const struct endpoint *at);
void check_fixture_front(uint64_t timeout_ms);
/* Checks it once. The reason must be this one. */
void check_fixture_good(const char *words, const char *reason);
void check_fixture_bad(const char *words, const char *reason);
/* The words are refused, with that in the phrase. */
void check_fixture_refuses(const char *words, const char *why);
/* No check runs any more. */
void check_fixture_stop(void);
void check_fixture_end(void);

#endif
