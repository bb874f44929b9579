/* fields.c: the only file that uses the JSON library. */
#include "config.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

#include "base/words.h"
#include "control/answer/fields.h"

/* ---- text ---- */

static bool
takes_text(const struct fields *f)
{
	return !f->reply->json && f->style != FIELDS_SILENT;
}

static bool
is_html(const struct fields *f)
{
	return f->style >= FIELDS_HTML;
}

void
fields_add_escaped(struct buffer *out, const char *text)
{
	for (; *text != '\0'; text++)
		switch (*text) {
		case '<':
			reply_add(out, "&lt;");
			break;
		case '&':
			reply_add(out, "&amp;");
			break;
		case '"':
			reply_add(out, "&quot;");
			break;
		default:
			(void)buffer_append(out, text, 1);
		}
}

static void
add_html(
    struct fields *f, const char *key, const char *value, const char *class)
{
	struct buffer *out = &f->reply->out;

	if (f->style == FIELDS_HEADS) {
		reply_add(out, "<th%s>%s</th>", class, key);
		return;
	}
	if (f->style == FIELDS_CELLS)
		reply_add(out, "<td%s data-label=\"%s\">", class, key);
	else
		reply_add(out, "<tr><th>%s</th><td%s>", key, class);
	if (value != NULL)
		fields_add_escaped(out, value);
	reply_add(out, f->style == FIELDS_CELLS ? "</td>" : "</td></tr>\n");
}

/* Writes what stands before a value as text, which the caller writes then. If
 * there is none to write, or HTML has it already, false. */
static bool
lead(struct fields *f, const char *key, const char *value, bool number)
{
	struct buffer *out = &f->reply->out;

	if (!takes_text(f))
		return false;
	if (is_html(f)) {
		add_html(f, key, value, number ? " class=\"n\"" : "");
		return false;
	}
	if (value == NULL)
		return false;
	if (f->style == FIELDS_LINES)
		reply_add(out, "%s%s ", f->count > 0 ? "\n" : "", key);
	else if (f->count > 0)
		reply_add(out, " %s ", key);
	f->count++;
	return true;
}

static void
add_value(struct fields *f, const char *key, const char *value, bool number)
{
	if (lead(f, key, value, number))
		(void)buffer_append(&f->reply->out, value, strlen(value));
}

/* ---- JSON ---- */

#ifdef HAVE_JANSSON

/* Digits that a double keeps of a decimal fraction: 0.2 stays 0.2. */
enum { DECIMAL_DIGITS = DBL_DIG };

bool
fields_have_json(void)
{
	return true;
}

const char *
fields_library_version(void)
{
	return JANSSON_VERSION;
}

static void
fields_put(struct fields *f, const char *key, json_t *value)
{
	if (f->object != NULL)
		(void)json_object_set_new(f->object, key, value);
	else
		json_decref(value);
}

/* A string of JSON. Bytes that are not UTF-8, as JSON requires, are taken for
 * Latin-1, so that they can be reported. */
static json_t *
json_of(const char *text)
{
	json_t *value = json_string(text);
	char *copy, *to;

	if (value != NULL || (copy = malloc(2 * strlen(text) + 1)) == NULL)
		return value;
	for (to = copy; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c >= 0x80)
			*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
	}
	*to = '\0';
	value = json_string(copy);
	free(copy);
	return value;
}

static void
begin_object(struct fields *f)
{
	f->object = json_object();
}

static json_t *
json_list(const char *const *values, unsigned n)
{
	json_t *list = json_array();
	unsigned i;

	for (i = 0; i < n; i++)
		(void)json_array_append_new(
		    list, values[i] != NULL ? json_of(values[i]) : json_null());
	return list;
}

static int
fields_append(const char *bytes, size_t n, void *out)
{
	return buffer_append(out, bytes, n);
}

static void
begin_items(struct fields *f, const char *key)
{
	f->items = json_array();
	fields_put(f, key, f->items);
}

static void
end_object(struct fields *f)
{
	struct reply *r = f->reply;

	if (f->whole != NULL) {
		(void)json_array_append_new(f->whole->items, f->object);
		return;
	}
	if (r->listed)
		(void)buffer_append(&r->out, ",\n", 2);
	r->listed = r->in_list;
	(void)json_dump_callback(f->object, fields_append, &r->out,
	    JSON_COMPACT | JSON_PRESERVE_ORDER |
		JSON_REAL_PRECISION(DECIMAL_DIGITS));
	json_decref(f->object);
}

#define PUT(f, key, value)                         \
	do {                                       \
		if ((f)->reply->json)              \
			fields_put(f, key, value); \
	} while (0)

#else

bool
fields_have_json(void)
{
	return false;
}

const char *
fields_library_version(void)
{
	return "";
}

static void
begin_object(struct fields *f)
{
	(void)f;
}

static void
begin_items(struct fields *f, const char *key)
{
	(void)f;
	(void)key;
}

static void
end_object(struct fields *f)
{
	(void)f;
}

#define PUT(f, key, value) (void)0

#endif

/* ---- fields ---- */

void
fields_begin(struct fields *f, struct reply *r, enum fields_style style)
{
	*f = (struct fields){ .reply = r, .style = style };
	if (r->json)
		begin_object(f);
}

void
fields_items(struct fields *whole, const char *key)
{
	if (whole->reply->json)
		begin_items(whole, key);
	else if (takes_text(whole) && whole->count > 0)
		(void)buffer_append(&whole->reply->out, "\n", 1);
	whole->count = 0;
}

void
fields_item_begin(struct fields *f, struct fields *whole)
{
	fields_begin(f, whole->reply, FIELDS_LINE);
	f->whole = whole;
}

void
fields_end(struct fields *f)
{
	struct reply *r = f->reply;

	if (r->json && f->object != NULL) {
		end_object(f);
		if (!r->in_list && f->whole == NULL)
			(void)buffer_append(&r->out, "\n", 1);
	} else if (takes_text(f) && f->count > 0 && !is_html(f)) {
		(void)buffer_append(&r->out, "\n", 1);
	}
}

void
fields_text(struct fields *f, const char *key, const char *value)
{
	PUT(f, key, value != NULL ? json_of(value) : json_null());
	add_value(f, key, value, false);
}

void
fields_word(struct fields *f, const char *key, const char *value)
{
	PUT(f, key, value != NULL ? json_of(value) : json_null());
	if (lead(f, key, value, false))
		words_append(&f->reply->out, value);
}

void
fields_phrase(struct fields *f, const char *key, const char *value)
{
	PUT(f, key, value != NULL ? json_of(value) : json_null());
	if (lead(f, key, value, false))
		reply_add(&f->reply->out, "\"%.500s\"", value);
}

void
fields_number(struct fields *f, const char *key, uint64_t value)
{
	char text[24];

	PUT(f, key, json_integer((json_int_t)value));
	if (!takes_text(f))
		return;
	snprintf(text, sizeof(text), "%" PRIu64, value);
	add_value(f, key, text, true);
}

void
fields_integer(struct fields *f, const char *key, int64_t value)
{
	char text[24];

	PUT(f, key, json_integer(value));
	if (!takes_text(f))
		return;
	snprintf(text, sizeof(text), "%" PRId64, value);
	add_value(f, key, text, true);
}

void
fields_decimal(struct fields *f, const char *key, const char *value)
{
	PUT(f, key,
	    strchr(value, '.') != NULL
		? json_real(strtod(value, NULL))
		: json_integer(strtoll(value, NULL, 10)));
	add_value(f, key, value, true);
}

void
fields_flag(struct fields *f, const char *key, bool value)
{
	PUT(f, key, json_boolean(value));
	add_value(f, key, value ? "yes" : "no", false);
}

void
fields_json_text(struct fields *f, const char *key, const char *value)
{
	PUT(f, key, value != NULL ? json_of(value) : json_null());
	(void)f, (void)key, (void)value;
}

void
fields_json_number(struct fields *f, const char *key, uint64_t value)
{
	PUT(f, key, json_integer((json_int_t)value));
	(void)f, (void)key, (void)value;
}

void
fields_json_texts(
    struct fields *f, const char *key, const char *const *values, unsigned n)
{
	PUT(f, key, json_list(values, n));
	(void)f, (void)key, (void)values, (void)n;
}

void
fields_list_begin(struct reply *r)
{
	if (!r->json)
		return;
	(void)buffer_append(&r->out, "[", 1);
	r->in_list = true;
	r->listed = false;
}

void
fields_list_end(struct reply *r)
{
	if (!r->json)
		return;
	(void)buffer_append(&r->out, "]\n", 2);
	r->in_list = r->listed = false;
}
