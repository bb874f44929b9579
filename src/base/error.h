/* error.h: a message for the operator about an error.
 *
 * A function that can fail for reasons that errno does not have takes a `struct
 * error *`. If it fails it returns -1 and sets a full message that names the
 * operand: server "hostA:99999": port out of range 1..65535. The message has no
 * newline and no "pen: ". A "short message" lacks the operand: the caller adds
 * it by error_of().
 */
#ifndef PEN_BASE_ERROR_H
#define PEN_BASE_ERROR_H

#include <stdbool.h>

#include "base/buffer.h"

struct error {
	char text[512];
};

/* Sets the message; what it quotes may be a stranger's, so it holds nothing
 * that a terminal obeys. Returns -1, for `return error_set(...)`. */
int error_set(struct error *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Puts the operand in front of a short message, with a colon between them.
 * Returns -1. */
int error_of(struct error *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Several errors, the first ERRORS_MAX of which are kept: a function that has
 * found one gives it to errors_add() and goes on, as if there were none, to
 * find more; the owner of the list reads it at the end. Where `all` is NULL,
 * the first error ends everything. */
enum { ERRORS_MAX = 50 };

struct errors {
	struct error *list;
	unsigned count; /* also of those that are not kept */
	struct buffer refused; /* the lines that were not carried out */
};

void errors_init(struct errors *all);
void errors_fini(struct errors *all);
/* Returns whether to go on. */
bool errors_add(struct errors *all, const struct error *e);
unsigned errors_count(const struct errors *all);
/* The error of that number, and after the last one that is kept how many more
 * there were. Returns whether there is one. */
bool errors_at(const struct errors *all, unsigned i, struct error *e);
/* Puts the operand in front of those from number `from` on. */
void errors_of(struct errors *all, unsigned from, const char *operand);

/* Notes a line that is not carried out. */
void errors_refuse(struct errors *all, const char *line);
/* Whether such a line may have set or defined `word`: what lacks it is no error
 * of its own. */
bool errors_may_define(const struct errors *all, const char *word);

#endif
