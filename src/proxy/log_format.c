/* log_format.c: a record of a session as a line. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "proxy/log_format.h"

/* Of a template: text, then a field. */
struct piece {
	const char *text;
	size_t length;
	const struct record_field *field; /* NULL: none follows */
};

struct line {
	char *text;
	size_t length;
};

struct log_format {
	void (*write)(const struct log_format *f,
	    const struct session_record *r, bool timed, struct line *l);
	char *template; /* owned; pieces point into it */
	struct piece *pieces;
	size_t count;
};

/* ---- lines ---- */

static void
add(struct line *l, const char *text, size_t n)
{
	size_t room = LOG_FORMAT_LINE_MAX - l->length;

	if (n > room)
		n = room;
	memcpy(l->text + l->length, text, n);
	l->length += n;
}

static void
add_text(struct line *l, const char *text)
{
	add(l, text, strlen(text));
}

static bool
is_safe(unsigned char c)
{
	return c >= 0x20 && c != 0x7f && c != '"' && c != '\\';
}

/* `prefix` begins the escape of a byte by two hexadecimal digits; those above
 * `last` are escaped, too. */
static void
add_escaped(struct line *l, const char *value, size_t n, const char *prefix,
    unsigned char last)
{
	static const char digits[] = "0123456789abcdef";
	size_t i, from = 0;

	for (i = 0; i < n; i++) {
		unsigned char c = (unsigned char)value[i];
		char hex[2] = { digits[c >> 4], digits[c & 15] };

		if (is_safe(c) && c <= last)
			continue;
		add(l, value + from, i - from);
		from = i + 1;
		if (c == '"' || c == '\\') {
			add(l, "\\", 1);
			add(l, value + i, 1);
			continue;
		}
		add_text(l, prefix);
		add(l, hex, 2);
	}
	add(l, value + from, n - from);
}

/* ---- all fields ---- */

static bool
needs_quotes(const char *value, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!is_safe((unsigned char)value[i]) || value[i] == ' ' ||
		    value[i] == '=')
			return true;
	return false;
}

/* Calls `put` for each field of a full line that has a value. */
static void
each_field(const struct session_record *r, struct line *l,
    void (*put)(struct line *l, const struct record_field *f, const char *value,
	size_t n))
{
	char value[RECORD_VALUE_MAX];
	const struct record_field *f;
	size_t n;

	for (f = record_fields; f->name != NULL; f++)
		if (!f->on_request && (n = f->put(r, value)) > 0)
			put(l, f, value, n);
}

static void
put_logfmt(
    struct line *l, const struct record_field *f, const char *value, size_t n)
{
	bool quoted = !f->is_number && needs_quotes(value, n);

	if (l->length > 0)
		add(l, " ", 1);
	add_text(l, f->name);
	add(l, quoted ? "=\"" : "=", quoted ? 2 : 1);
	if (quoted) {
		add_escaped(l, value, n, "\\x", UCHAR_MAX);
		add(l, "\"", 1);
	} else {
		add(l, value, n);
	}
}

static void
put_untimed(
    struct line *l, const struct record_field *f, const char *value, size_t n)
{
	if (f != record_fields)
		put_logfmt(l, f, value, n);
}

static void
write_logfmt(const struct log_format *f, const struct session_record *r,
    bool timed, struct line *l)
{
	(void)f;
	each_field(r, l, timed ? put_logfmt : put_untimed);
}

/* JSON is UTF-8: what is not is taken for Latin-1, byte by byte, as in what
 * control answers. */
static void
put_json(
    struct line *l, const struct record_field *f, const char *value, size_t n)
{
	bool utf8 = text_is_utf8(value, n);

	add_text(l, l->length == 0 ? "{\"" : ",\"");
	add_text(l, f->name);
	add_text(l, f->is_number ? "\":" : "\":\"");
	add_escaped(l, value, n, "\\u00", utf8 ? UCHAR_MAX : 0x7e);
	if (!f->is_number)
		add(l, "\"", 1);
}

/* A line that was cut would not be JSON: it is left out as a whole then. */
static void
write_json(const struct log_format *f, const struct session_record *r,
    bool timed, struct line *l)
{
	(void)f;
	(void)timed;
	each_field(r, l, put_json);
	if (l->length < LOG_FORMAT_LINE_MAX)
		add(l, "}", 1);
	else
		l->length = 0;
}

/* A newline would begin another field. */
static void
put_journal(
    struct line *l, const struct record_field *f, const char *value, size_t n)
{
	const char *c;

	add_text(l, "\nPEN_");
	for (c = f->name; *c != '\0'; c++) {
		char upper = (char)toupper((unsigned char)*c);

		add(l, &upper, 1);
	}
	add(l, "=", 1);
	add_escaped(l, value, n, "\\x", UCHAR_MAX);
}

static void
write_journal(const struct log_format *f, const struct session_record *r,
    bool timed, struct line *l)
{
	char text[LOG_FORMAT_LINE_MAX];
	struct line message = { text, 0 };

	(void)timed;
	write_logfmt(f, r, false, &message);
	add_text(l, "PRIORITY=6\nSYSLOG_IDENTIFIER=pen\nMESSAGE=");
	add(l, message.text, message.length);
	each_field(r, l, put_journal);
	add(l, "\n", 1);
}

/* ---- templates ---- */

static void
write_template(const struct log_format *f, const struct session_record *r,
    bool timed, struct line *l)
{
	char value[RECORD_VALUE_MAX];
	size_t i, n;

	(void)timed;
	for (i = 0; i < f->count; i++) {
		const struct piece *p = &f->pieces[i];

		add(l, p->text, p->length);
		if (p->field == NULL)
			continue;
		n = p->field->put(r, value);
		if (n == 0)
			add(l, "-", 1);
		else
			add_escaped(l, value, n, "\\x", UCHAR_MAX);
	}
}

static struct piece *
add_piece(struct log_format *f, const char *text, size_t length)
{
	struct piece *more =
	    realloc(f->pieces, (f->count + 1) * sizeof(*f->pieces));

	if (more == NULL)
		return NULL;
	f->pieces = more;
	f->pieces[f->count] = (struct piece){ text, length, NULL };
	return &f->pieces[f->count++];
}

/* The piece up to the next brace, or the end. Returns what follows, NULL with a
 * phrase. */
static const char *
split_piece(struct log_format *f, const char *at, struct error *e)
{
	size_t n = strcspn(at, "{"), name;
	bool brace = at[n] == '{' && at[n + 1] == '{';
	struct piece *p = add_piece(f, at, n + brace);

	if (p == NULL) {
		error_set(e, "%s", strerror(ENOMEM));
		return NULL;
	}
	at += n;
	if (brace || *at == '\0')
		return at + 2 * brace;
	name = strcspn(++at, "}");
	if (at[name] == '\0') {
		error_set(e, "\"{%s\" has no }", at);
		return NULL;
	}
	p->field = record_field_find(at, name);
	if (p->field == NULL) {
		error_set(e, "no field \"%.*s\"", (int)name, at);
		return NULL;
	}
	return at + name + 1;
}

static int
split_template(struct log_format *f, struct error *e)
{
	const char *at = f->template;

	if (strcspn(at, "\r\n") != strlen(at))
		return error_set(e, "a template is one line");
	if (strchr(at, '{') == NULL)
		return error_set(e,
		    "expects logfmt, jsonl, journal, common or a template with "
		    "{fields}");
	while (*at != '\0')
		if ((at = split_piece(f, at, e)) == NULL)
			return -1;
	return 0;
}

/* ---- life ---- */

static const struct word {
	const char *name;
	void (*write)(const struct log_format *f,
	    const struct session_record *r, bool timed, struct line *l);
	const char *template;
} words[] = {
	{ "logfmt", write_logfmt, NULL },
	{ "jsonl", write_json, NULL },
	{ "journal", write_journal, NULL },
	{ "common", write_template,
	    "{client_ip} - - [{clf_time}] \"CONNECT {server} {port}\" {reason} "
	    "{down}" },
};

static const struct word *
find_word(const char *text)
{
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].name, text) == 0)
			return &words[i];
	return NULL;
}

struct log_format *
log_format_new(const char *text, struct error *e)
{
	const struct word *word = find_word(text);
	struct log_format *f = calloc(1, sizeof(*f));

	if (word != NULL)
		text = word->template;
	if (f == NULL ||
	    (text != NULL && (f->template = strdup(text)) == NULL)) {
		free(f);
		error_set(e, "%s", strerror(ENOMEM));
		return NULL;
	}
	f->write = word != NULL ? word->write : write_template;
	if (f->template != NULL && split_template(f, e) < 0) {
		log_format_free(f);
		return NULL;
	}
	return f;
}

void
log_format_free(struct log_format *f)
{
	if (f == NULL)
		return;
	free(f->pieces);
	free(f->template);
	free(f);
}

size_t
log_format_line(const struct log_format *f, const struct session_record *r,
    bool timed, char line[LOG_FORMAT_LINE_MAX])
{
	struct line l = { line, 0 };

	f->write(f, r, timed, &l);
	return l.length;
}
