/* first_words.h: properties of first bytes, as words of a command. */
#ifndef PEN_CONTROL_FIRST_WORDS_H
#define PEN_CONTROL_FIRST_WORDS_H

#include "base/error.h"
#include "proxy/wire/first.h"

/* Adds a property: `word` is sni, alpn, host or protocol. A name also implies
 * its protocol. Returns 0, or -1 with a short message. */
int first_words_set(
    struct first *f, const char *word, const char *value, struct error *e);

#endif
