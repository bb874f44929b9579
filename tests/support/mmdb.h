/* mmdb.h: writes small databases of countries in MaxMind's format (MaxMind DB
 * File Format Specification 2.0), so that no test needs one of theirs. */
#ifndef PEN_TEST_MMDB_H
#define PEN_TEST_MMDB_H

#include <stdint.h>

struct mmdb;

/* How an address's data names its country. */
enum mmdb_shape {
	MMDB_NESTED, /* {"country": {"iso_code": "SE"}} */
	MMDB_FLAT,   /* {"country": "SE"} */
	MMDB_CODE,   /* {"country_code": "SE"} */
	MMDB_OTHER   /* {"organization": "SE"}: it is none of countries */
};

struct mmdb *mmdb_new(enum mmdb_shape shape);
/* All of a network, "10.0.0.0/8" or "2001:db8::/32", is in that country from
 * now on; "" for none. */
void mmdb_add(struct mmdb *m, const char *network, const char *country);
/* Writes the file and frees `m`. `made`: seconds since 1970. */
void mmdb_write(struct mmdb *m, const char *path, uint64_t made);

#endif
