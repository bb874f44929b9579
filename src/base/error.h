/* error.h: one line for the user about what went wrong.
 *
 * Functions that can fail in more ways than errno can tell take a
 * `struct error *` and return -1 with a sentence in it that names the operand:
 * server "hostA:99999": port out of range 1..65535. No newline, no "pen: ". */
#ifndef PEN_BASE_ERROR_H
#define PEN_BASE_ERROR_H

struct error {
	char text[512];
};

/* Sets the sentence; returns -1, so that `return error_set(...)` works. */
int error_set(struct error *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
