/* facts.h: named values, printed as text or JSON.
 *
 *     FACTS_LINE    "0 addr 127.0.0.1 port 80": the first value alone, then
 *                   names and values in one line
 *     FACTS_LINES   "accepted 5": a line each
 *     FACTS_HTML    a row each of a table; for numbers, nothing is escaped
 *     FACTS_SILENT  no text: the handler writes its own
 *
 * As JSON each is an object (made by the Jansson library); between
 * facts_list_begin() and _end() they are the items of an array. Facts of a
 * whole may be followed by lists of things that belong to it, FACTS_LINEs after
 * it as text, arrays in its object as JSON. Nothing here can fail visibly: what
 * memory has no room for is missing. */
#ifndef PEN_CONTROL_FACTS_H
#define PEN_CONTROL_FACTS_H

#include <stdint.h>

#include "control/answer/reply.h"

enum facts_style { FACTS_LINE, FACTS_LINES, FACTS_HTML, FACTS_SILENT };

struct facts {
	struct reply *reply;
	enum facts_style style;
	unsigned count;
	void *object; /* of JSON, as the next */
	void *items;
	struct facts *whole; /* this is an item of its list; or NULL */
};

/* Whether JSON is built in. */
bool facts_have_json(void);

void facts_begin(struct facts *f, struct reply *r, enum facts_style style);
void facts_end(struct facts *f);
/* A list with that name begins, empty as yet; the whole has told its own. */
void facts_items(struct facts *whole, const char *key);
/* An item of it, with facts_end(); the whole ends later. */
void facts_item_begin(struct facts *f, struct facts *whole);
/* NULL is null, and no text. */
void facts_text(struct facts *f, const char *key, const char *value);
/* The same, as text a word that words_split() reads back: quoted where it must
 * be. */
void facts_word(struct facts *f, const char *key, const char *value);
/* The same, in quotes as text: it may have blanks. */
void facts_phrase(struct facts *f, const char *key, const char *value);
void facts_number(struct facts *f, const char *key, uint64_t value);
void facts_integer(struct facts *f, const char *key, int64_t value);
/* A decimal fraction, as text. */
void facts_decimal(struct facts *f, const char *key, const char *value);
void facts_flag(struct facts *f, const char *key, bool value);
/* These are told in JSON only: the text's shape is classic Pen's. */
void facts_json_text(struct facts *f, const char *key, const char *value);
void facts_json_number(struct facts *f, const char *key, uint64_t value);
/* An array of `n` strings, NULL being null. */
void facts_json_texts(
    struct facts *f, const char *key, const char *const *values, unsigned n);

void facts_list_begin(struct reply *r);
void facts_list_end(struct reply *r);

#endif
