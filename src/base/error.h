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

#endif
