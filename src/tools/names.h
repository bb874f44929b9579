/* names.h: the names of commands, as the answer to `help` lists them: each
 * line that begins with a name. */
#ifndef PEN_TOOLS_NAMES_H
#define PEN_TOOLS_NAMES_H

#include "base/buffer.h"
#include "tools/ask.h"

struct names {
	struct buffer text; /* the answer of help, with a final NUL */
	bool asked;
};

void names_init(struct names *k);
void names_fini(struct names *k);

/* Requests the names, the first time only. None when that fails. */
void names_query(struct names *k, const struct target *t);

/* The next name after `last` (NULL: the first) that begins with the `n` bytes
 * of `prefix`, its length in *length; NULL when there are no more. */
const char *names_next(const struct names *k, const char *last,
    const char *prefix, size_t n, size_t *length);

#endif
