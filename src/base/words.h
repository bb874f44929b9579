/* words.h: cuts a command line into words, as control commands, -O and
 * configuration files all spell them: blanks separate; a ; ends the command;
 * '...' and "..." keep both ("..." knows \" and \\); a # at the start of a word
 * begins a comment. */
#ifndef PEN_BASE_WORDS_H
#define PEN_BASE_WORDS_H

#include <stdbool.h>

#include "base/buffer.h"

enum { WORDS_MAX = 64 };

struct words {
	int count;
	char *word[WORDS_MAX + 1]; /* word[count] is NULL */
};

/* Splits `line` in place: the words point into it. *rest is what follows a ;
 * that ends them, or NULL. Returns 0, or -1 with errno EINVAL (a quote is not
 * closed) or E2BIG (more than WORDS_MAX words). */
int words_split(struct words *w, char *line, char **rest);

/* Appends a word so that words_split() reads it back: quoted where it must be.
 * What memory has no room for is missing. */
void words_append(struct buffer *out, const char *word);

/* Whether two texts are the same; NULL is one that is not there. */
bool text_equal(const char *a, const char *b);

#endif
