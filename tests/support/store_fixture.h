/* store_fixture.h: a store of certificates over a directory of them, for its
 * tests. What goes wrong fails the test. Only there when built with OpenSSL. */
#ifndef PEN_TEST_STORE_FIXTURE_H
#define PEN_TEST_STORE_FIXTURE_H

#include "tls/cert_store.h"
#include "support/certdir.h"

extern struct cert_store *store;
extern struct certdir store_dir;

/* An empty directory; its store is there after store_opens(). */
void store_begin(void);
void store_opens(void);
void store_end(void);

/* certdir_put(), certdir_file() of it. */
void store_put(const char *file, const char *name);
const char *store_file(const char *file);
/* A client that asks for `name` gets the certificate of `whose`, or none. */
void store_gives(const char *name, const char *whose);
void store_gives_none(const char *name);
/* The time that the store is told, which passes here alone. */
extern uint64_t store_now;
/* Looks until nothing is left to be looked at; nothing takes time but what
 * waits for files to settle. */
void store_look(void);
/* How many names have a good certificate. */
unsigned store_count(void);

/* From here on stderr is this file; how many lines a file has. */
const char *stderr_to_file(void);
unsigned file_lines(const char *path);

#endif
