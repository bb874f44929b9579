/* postgres.h: PostgreSQL in a scratch directory, at one address and TCP port
 * and nowhere else. It refuses to run as root: then it is postgres or
 * nobody. */
#ifndef PEN_TEST_POSTGRES_H
#define PEN_TEST_POSTGRES_H

#include "support/endpoint.h"

/* What is not installed, or NULL. */
const char *postgres_lacks(void);
/* Makes one and starts it: `access` is its pg_hba.conf; with `certificate`, a
 * PEM file that has the key, too, it talks TLS. One of a test. */
void postgres_up(
    const struct endpoint *at, const char *access, const char *certificate);
/* Ends it: "fast", or "immediate". */
void postgres_down(const char *how);
/* Starts it again. */
void postgres_again(void);

/* A standby of it: a copy, made while the first one is down, for reading. */
void postgres_standby_up(const struct endpoint *at);
/* From now on it takes changes, as a primary. */
void postgres_promote(void);
void postgres_standby_down(void);

#endif
