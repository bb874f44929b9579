/* fields.h: named values, printed as text or JSON.
 *
 *     FIELDS_LINE    "0 addr 127.0.0.1 port 80": the first value alone, then
 *                   names and values in one line
 *     FIELDS_LINES   "accepted 5": a line each
 *     FIELDS_SILENT  no text: the handler writes its own
 *     FIELDS_HTML    a row each of a table, escaped as the next
 *     FIELDS_CELLS   a cell each of a row, also of those without a value
 *     FIELDS_HEADS   the names of these columns
 *
 * As JSON each is an object (made by the Jansson library); between
 * fields_list_begin() and _end() they are the items of an array. The
 * fields of a whole may be followed by lists of things that belong to it,
 * FIELDS_LINEs after it as text, arrays in its object as JSON. Nothing here can
 * fail visibly: what memory has no room for is missing. */
#ifndef PEN_CONTROL_FIELDS_H
#define PEN_CONTROL_FIELDS_H

#include <stdint.h>

#include "control/answer/reply.h"

enum fields_style {
	FIELDS_LINE,
	FIELDS_LINES,
	FIELDS_SILENT,
	FIELDS_HTML, /* as all after it */
	FIELDS_CELLS,
	FIELDS_HEADS
};

struct fields {
	struct reply *reply;
	enum fields_style style;
	unsigned count;
	void *object; /* of JSON, as the next */
	void *items;
	struct fields *whole; /* this is an item of its list; or NULL */
};

/* Whether JSON is built in. */
bool fields_have_json(void);
/* The version of Jansson that it was built with; "" without it. */
const char *fields_library_version(void);

void fields_begin(struct fields *f, struct reply *r, enum fields_style style);
void fields_end(struct fields *f);
/* A list with that name begins, empty as yet, after the fields of the whole. */
void fields_items(struct fields *whole, const char *key);
/* An item of it, with fields_end(); the whole ends later. */
void fields_item_begin(struct fields *f, struct fields *whole);
/* NULL is null, and no text. */
void fields_text(struct fields *f, const char *key, const char *value);
/* The same, as text a word that words_split() reads back: quoted where it must
 * be. */
void fields_word(struct fields *f, const char *key, const char *value);
/* The same, in quotes as text: it may have blanks. */
void fields_phrase(struct fields *f, const char *key, const char *value);
void fields_number(struct fields *f, const char *key, uint64_t value);
void fields_integer(struct fields *f, const char *key, int64_t value);
/* A decimal fraction, as text. */
void fields_decimal(struct fields *f, const char *key, const char *value);
void fields_flag(struct fields *f, const char *key, bool value);
/* Fields that only JSON has: the text has the form of classic Pen. */
void fields_json_text(struct fields *f, const char *key, const char *value);
void fields_json_number(struct fields *f, const char *key, uint64_t value);
/* An array of `n` strings, NULL being null. */
void fields_json_texts(
    struct fields *f, const char *key, const char *const *values, unsigned n);

/* Text for HTML. */
void fields_add_escaped(struct buffer *out, const char *text);

void fields_list_begin(struct reply *r);
void fields_list_end(struct reply *r);

#endif
