/* terminal.h: a program at a terminal of its own, typed at by the test. */
#ifndef PEN_TEST_TERMINAL_H
#define PEN_TEST_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "support/child.h"

enum { TERMINAL_TEXT = 1 << 16 };

struct terminal {
	struct child child;
	int fd;
	size_t n;
	char text[TERMINAL_TEXT]; /* what was shown, with a final NUL */
};

/* Starts argv[0] with the terminal as input, outputs and control. */
void terminal_start(struct terminal *t, const char *const argv[]);
/* Types it; the terminal makes signals and the end of the file of their keys:
 * "\003", "\004". */
void terminal_type(struct terminal *t, const char *keys);
/* Has it been shown since the start, or since terminal_clear()? */
bool terminal_shows(struct terminal *t, const char *what);
void terminal_clear(struct terminal *t);
/* Does the program read key by key? A key that is typed while it sets the
 * terminal is one of a line still: the end of the file is lost. */
bool terminal_is_edited(const struct terminal *t);
/* Waits for the end, closes the terminal; returns the exit status. */
int terminal_wait(struct terminal *t, int ms);

#endif
