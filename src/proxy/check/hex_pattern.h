/* hex_pattern.h: bytes that an operator wrote as hexadecimal digits, with ".."
 * for a byte that may be any: "1b..00". */
#ifndef PEN_PROXY_HEX_PATTERN_H
#define PEN_PROXY_HEX_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* What fits into one packet of Ethernet. */
enum { HEX_PATTERN_MAX = 1472 };

struct hex_pattern {
	unsigned char *bytes; /* owned */
	unsigned char *mask;  /* after the bytes: 0 where any will do */
	size_t n;
};

/* Parses 1 to HEX_PATTERN_MAX bytes; wildcards only if `wild`. Returns 0, or -1
 * with a short message. */
int hex_pattern_parse(
    struct hex_pattern *p, const char *text, bool wild, struct error *e);
void hex_pattern_fini(struct hex_pattern *p);
/* Whether the bytes begin like the pattern. */
bool hex_pattern_begins(
    const struct hex_pattern *p, const void *bytes, size_t n);

#endif
