/* countries.h: the country of an address, from a database in MaxMind's format,
 * by libmaxminddb. A build without that library has no countries.
 *
 * The database is one file in memory. The last address that was looked up is
 * remembered with its country: many access lists need that of one client. */
#ifndef PEN_POOL_COUNTRIES_H
#define PEN_POOL_COUNTRIES_H

#include <stdbool.h>

#include "base/addr.h"
#include "base/error.h"

struct countries;

/* Whether libmaxminddb is built in. */
bool countries_are_built_in(void);
/* The version of libmaxminddb; "" in a build without it. */
const char *countries_library_version(void);
/* Made without a database. NULL with errno ENOMEM. */
struct countries *countries_new(void);
/* NULL is fine. */
void countries_free(struct countries *c);
/* Takes the database at `path` in place of the one before; NULL: none. The file
 * stays mapped. Returns 0, or -1 with a short message and the one before. */
int countries_open(struct countries *c, const char *path, struct error *e);
/* Gives `c` the database of `from`, in place of its own. */
void countries_take(struct countries *c, struct countries *from);
/* The country of an address: 26 times its first letter plus its second one, A
 * being 0; or -1: not known. */
int countries_of(struct countries *c, const struct peer *who);
/* When the database was made: seconds since 1970; 0: there is none. */
uint64_t countries_made(const struct countries *c);

#endif
