/* check_text.h: texts of checks: read with escapes, found in a stream of bytes
 * of which nothing is kept (Knuth, Morris, Pratt 1977).
 *
 *     \r \n \t \\ \" \xHH       all else stands for itself */
#ifndef PEN_PROXY_CHECK_TEXT_H
#define PEN_PROXY_CHECK_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { CHECK_TEXT_MAX = 1024 };

struct check_text {
	char *bytes;	   /* owned, and may have NULs; NULL: none */
	uint16_t *restart; /* owned: how much of a match is still one */
	size_t length;
};

/* Returns 0, or -1 with a short message and nothing to free. */
int check_text_parse(struct check_text *t, const char *word, struct error *e);
void check_text_fini(struct check_text *t);

/* Goes on with a search: `matched` is 0 at first, then what was returned for
 * the bytes before. Returns t->length when the text was found. */
size_t check_text_find(
    const struct check_text *t, size_t matched, const char *bytes, size_t n);

#endif
