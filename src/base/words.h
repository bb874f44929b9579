/* words.h: splits a command into words, for control commands, -O and
 * configuration files alike. Blanks separate words and a ; ends the command,
 * except in '...' and "...", which end on their line; in "..." a \" stands for
 * a quote and \\ for a backslash. A # at the start of a word begins a comment.
 * In files ${..} outside of '...' is a variable, which is replaced before. And
 * strings. */
#ifndef PEN_BASE_WORDS_H
#define PEN_BASE_WORDS_H

#include <stdbool.h>

#include "base/buffer.h"

enum { WORDS_MAX = 64 };

struct words {
	int count;
	char *end; /* of the command: where its ; or comment is, or the '\0' */
	char *word[WORDS_MAX + 1]; /* word[count] is NULL */
};

/* Splits `line` in place; the words point into it. Sets *rest to the text
 * after the ; that ended the command, or NULL. Returns 0, or -1 with errno
 * EINVAL (a quote is not closed) or E2BIG (more than WORDS_MAX words). */
int words_split(struct words *w, char *line, char **rest);

/* Appends a word so that words_split() reads it back: quoted where it must be.
 * Returns 0, or -1 with errno ENOMEM and the buffer as it was. */
int words_append(struct buffer *out, const char *word);

/* Which of several names a mistyped one was meant to be: the nearest of those
 * that are offered, if it is nearer than WORDS_TYPO; with `strict`, a name of
 * less than five letters must be one letter away. */
enum { WORDS_TYPO = 3 };
struct words_nearest {
	const char *typed;
	const char *best; /* the caller's; NULL: none is near */
	unsigned distance;
};
struct words_nearest words_nearest_to(const char *typed, bool strict);
void words_nearest_offer(struct words_nearest *n, const char *name);

/* Whether two texts are the same. Either may be NULL, which equals only NULL.
 */
bool text_equal(const char *a, const char *b);

/* How many bytes of a byte order mark, which some editors put before UTF-8, the
 * text of a file begins with; 0: none. */
size_t text_bom(const char *text);

/* ---- owned strings; NULL: none ---- */

/* Replaces a string; NULL empties it. Returns 0, or -1 with errno ENOMEM. */
int text_set(char **held, const char *text);
/* Gives `text`, a copied pointer, a string of its own. Returns
 * 0, or -1 with errno ENOMEM and nothing there. */
int text_own(char **text);
/* Empties it. Returns 0. */
int text_free(char **text);

/* ---- what may be shown ---- */

/* Whether all of it is UTF-8 (RFC 3629, section 4). */
bool text_is_utf8(const char *text, size_t n);
/* Puts '?' for what a terminal may obey, and for what is no UTF-8: controls,
 * but for tabs, C1 controls, bytes of no character. */
void text_make_printable(char *text, size_t n);
/* The same, and characters that look like nothing or like a blank, or that
 * change the order of others, become "<U+00A0>": a string in `size` bytes,
 * which is cut when it is longer then. */
void text_show(char *text, size_t size);

#endif
