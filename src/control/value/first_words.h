/* first_words.h: what first bytes say, as words of a command. */
#ifndef PEN_CONTROL_FIRST_WORDS_H
#define PEN_CONTROL_FIRST_WORDS_H

#include "base/error.h"
#include "proxy/wire/first.h"

/* Adds a fact: `word` is sni, alpn, host or protocol. A name says which
 * protocol it was in, too. Returns 0, or -1 with a short message. */
int first_words_set(
    struct first *f, const char *word, const char *value, struct error *e);

#endif
