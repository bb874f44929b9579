/* log_format.c: a record of a session as a line. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "proxy/log/log_format.h"

/* The longest text before a value, with a NUL. */
enum { PIECE_MAX = 32 };

/* Text, then a field: " ms=" and what it took. */
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
	char *text; /* owned; pieces point into it */
	struct piece *pieces;
	size_t count, without_tls;   /* those before the fields of TLS */
	bool special[UCHAR_MAX + 1]; /* bytes that a value cannot have as such
				      */
	struct log_format *message;  /* of the journal; owned */
};

/* ---- lines ---- */

static void
log_format_add(struct line *l, const char *text, size_t n)
{
	size_t left = LOG_FORMAT_LINE_MAX - l->length;

	if (n > left)
		n = left;
	memcpy(l->text + l->length, text, n);
	l->length += n;
}

static void
add_text(struct line *l, const char *text)
{
	log_format_add(l, text, strlen(text));
}

static bool
log_format_is_safe(unsigned char c)
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

		if (log_format_is_safe(c) && c <= last)
			continue;
		log_format_add(l, value + from, i - from);
		from = i + 1;
		if (c == '"' || c == '\\') {
			log_format_add(l, "\\", 1);
			log_format_add(l, value + i, 1);
			continue;
		}
		add_text(l, prefix);
		log_format_add(l, hex, 2);
	}
	log_format_add(l, value + from, n - from);
}

/* Some terminals obey U+0080 to U+009F, too. */
static bool
has_controls(const char *value, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if ((unsigned char)value[i - 1] == 0xc2 &&
		    (unsigned char)value[i] < 0xa0)
			return true;
	return false;
}

/* JSON is UTF-8: what is not is taken for Latin-1, byte by byte, as in what
 * control answers. */
static void
add_json(struct line *l, const char *value, size_t n)
{
	bool utf8 = text_is_utf8(value, n) && !has_controls(value, n);

	add_escaped(l, value, n, "\\u00", utf8 ? UCHAR_MAX : 0x7e);
}

/* ---- values ---- */

static bool
is_special(const struct log_format *f, const char *value, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (f->special[(unsigned char)value[i]])
			return true;
	return false;
}

/* Neither "unix" nor "@name" nor a path. */
static bool
log_format_is_ip(const char *value, size_t n)
{
	return (value[0] == '[' || (value[0] >= '0' && value[0] <= '9')) &&
	    memchr(value, '/', n) == NULL;
}

static bool
is_clean(const struct log_format *f, const struct record_field *field,
    const char *value, size_t n)
{
	return field->is_plain ||
	    (field->is_address && log_format_is_ip(value, n)) ||
	    !is_special(f, value, n);
}

/* The `n` bytes of a value have been written behind the end of the line. If
 * none has to be escaped they become its end, and 0 is returned; else they are
 * copied to `escape`, for the caller to append them in its way, and `n` is
 * returned. */
static size_t
append_unless_special(const struct log_format *f,
    const struct record_field *field, struct line *l, size_t n,
    char escape[RECORD_VALUE_MAX])
{
	char *value = l->text + l->length;
	bool special = !is_clean(f, field, value, n);

	if (special)
		memcpy(escape, value, n);
	else
		l->length += n;
	/* in front of the value, too, the line may be too long already */
	if (l->length > LOG_FORMAT_LINE_MAX)
		l->length = LOG_FORMAT_LINE_MAX;
	return special ? n : 0;
}

/* The text of the piece, of which the first `skip` bytes are left out, and the
 * field's value after it, if it has one. Returns its length. Copies as many
 * bytes as any text has at most, which takes two instructions. */
static inline size_t
put_piece(const struct piece *p, const struct session_record *r, size_t skip,
    struct line *l)
{
	char *at = l->text + l->length;
	size_t n;

	memcpy(at, p->text + skip, PIECE_MAX);
	at += p->length - skip;
	n = record_put(p->field, r, at);
	if (n > 0)
		l->length = (size_t)(at - l->text);
	return n;
}

/* Of a list of all fields. */
static size_t
count_pieces(const struct log_format *f, const struct session_record *r)
{
	bool tls = r->client_tls != NULL || r->server_tls != NULL ||
	    r->sni != NULL; /* of TLS that goes through */

	return tls ? f->count : f->without_tls;
}

/* ---- all fields ---- */

static void
write_logfmt(const struct log_format *f, const struct session_record *r,
    bool timed, struct line *l)
{
	char copy[RECORD_VALUE_MAX];
	size_t i, n, count = count_pieces(f, r);

	for (i = timed ? 0 : 1; i < count; i++) {
		const struct piece *p = &f->pieces[i];

		n = put_piece(p, r, l->length == 0, l);
		if (n > 0)
			n = append_unless_special(f, p->field, l, n, copy);
		if (n == 0)
			continue;
		log_format_add(l, "\"", 1);
		add_json(l, copy, n);
		log_format_add(l, "\"", 1);
	}
}

/* A line that was cut would not be JSON: it is left out as a whole then. */
static void
write_json(const struct log_format *f, const struct session_record *r,
    bool timed, struct line *l)
{
	char copy[RECORD_VALUE_MAX];
	size_t i, n, count = count_pieces(f, r);

	(void)timed;
	for (i = 0; i < count; i++) {
		const struct piece *p = &f->pieces[i];

		n = put_piece(p, r, 0, l);
		if (n == 0)
			continue;
		n = append_unless_special(f, p->field, l, n, copy);
		if (n > 0)
			add_json(l, copy, n);
		if (!p->field->is_number)
			log_format_add(l, "\"", 1);
	}
	l->text[0] = '{';
	if (l->length < LOG_FORMAT_LINE_MAX)
		log_format_add(l, "}", 1);
	else
		l->length = 0;
}

/* A newline would begin another field. */
static void
write_journal(const struct log_format *f, const struct session_record *r,
    bool timed, struct line *l)
{
	char message[LOG_FORMAT_ROOM], copy[RECORD_VALUE_MAX];
	size_t i, n;

	(void)timed;
	add_text(l, "PRIORITY=6\nSYSLOG_IDENTIFIER=pen\nMESSAGE=");
	log_format_add(
	    l, message, log_format_line(f->message, r, false, message));
	for (i = 0; i < f->count; i++) {
		const struct piece *p = &f->pieces[i];

		n = put_piece(p, r, 0, l);
		if (n > 0)
			n = append_unless_special(f, p->field, l, n, copy);
		if (n > 0)
			add_escaped(l, copy, n, "\\x", UCHAR_MAX);
	}
	log_format_add(l, "\n", 1);
}

/* ---- templates ---- */

static void
write_template(const struct log_format *f, const struct session_record *r,
    bool timed, struct line *l)
{
	char copy[RECORD_VALUE_MAX];
	size_t i, n;

	(void)timed;
	for (i = 0; i < f->count; i++) {
		const struct piece *p = &f->pieces[i];

		log_format_add(l, p->text, p->length);
		if (p->field == NULL)
			continue;
		n = record_put(p->field, r, l->text + l->length);
		if (n == 0)
			log_format_add(l, "-", 1);
		else
			n = append_unless_special(f, p->field, l, n, copy);
		if (n > 0)
			add_escaped(l, copy, n, "\\x", UCHAR_MAX);
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

static void
refuse_field(const char *name, size_t n, struct error *e)
{
	const struct record_field *f;
	char list[300];
	size_t at = 0;

	/* what does not fit is in the manual */
	for (f = record_fields;
	     f->name != NULL && at + strlen(f->name) + 8 < sizeof(list); f++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s",
		    at > 0 ? ", " : "", f->name);
	error_set(e, "no field \"%.*s\" (there are %s%s)",
	    (int)(n < 40 ? n : 40), name, list, f->name != NULL ? ", .." : "");
}

/* The piece up to the next brace, or the end. Returns what follows, NULL with a
 * short message. */
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
		refuse_field(at, name, e);
		return NULL;
	}
	return at + name + 1;
}

/* ---- lines of all fields ---- */

/* What stands around a name. */
struct style {
	const char *before, *behind;
	bool upper, quotes; /* a quote after that, unless it is a number */
};

static const struct style style_logfmt = { " ", "=", false, false };
static const struct style style_json = { ",\"", "\":", false, true };
static const struct style style_journal = { "\nPEN_", "=", true, false };

static void
print_name(char text[PIECE_MAX], const struct style *s,
    const struct record_field *field)
{
	char name[RECORD_NAME_MAX + 1];
	size_t i;

	for (i = 0; field->name[i] != '\0' && i < RECORD_NAME_MAX; i++)
		name[i] = s->upper
		    ? (char)toupper((unsigned char)field->name[i])
		    : field->name[i];
	name[i] = '\0';
	snprintf(text, PIECE_MAX, "%s%s%s%s", s->before, name, s->behind,
	    s->quotes && !field->is_number ? "\"" : "");
}

static int
list_fields(struct log_format *f, const struct style *s)
{
	const struct record_field *field;
	struct piece *p;
	char *at;

	for (field = record_fields; field->name != NULL; field++)
		f->count++;
	f->text = calloc(f->count + 1, PIECE_MAX); /* they are read beyond */
	f->pieces = calloc(f->count, sizeof(*f->pieces));
	if (f->text == NULL || f->pieces == NULL)
		return -1;
	p = f->pieces;
	at = f->text;
	for (field = record_fields; field->name != NULL; field++) {
		if (field->on_request)
			continue;
		print_name(at, s, field);
		*p++ = (struct piece){ at, strlen(at), field };
		if (!field->is_tls)
			f->without_tls = (size_t)(p - f->pieces);
		at += PIECE_MAX;
	}
	f->count = (size_t)(p - f->pieces);
	return 0;
}

/* ---- life ---- */

static const struct word {
	const char *name;
	void (*write)(const struct log_format *f,
	    const struct session_record *r, bool timed, struct line *l);
	const struct style *style; /* NULL: the template */
	const char *template;
} formats[] = {
	{ "logfmt", write_logfmt, &style_logfmt, NULL },
	{ "jsonl", write_json, &style_json, NULL },
	{ "journal", write_journal, &style_journal, NULL },
	{ "common", write_template, NULL,
	    "{clf_host} - - [{clf_time}] \"CONNECT {server} HTTP/1.1\" "
	    "{status} {down} {reason} {port}" },
	{ NULL, write_template, NULL, NULL }, /* any other text is one */
};

static void
set_special(struct log_format *f)
{
	bool utf8 = f->write == write_logfmt || f->write == write_json;
	int c;

	for (c = 0; c <= UCHAR_MAX; c++)
		f->special[c] =
		    !log_format_is_safe((unsigned char)c) || (utf8 && c > 0x7f);
	f->special[' '] = f->special['='] = f->write == write_logfmt;
}

static int
compile(struct log_format *f, const char *text, struct error *e)
{
	const struct word *word = formats;
	const char *at;
	bool journal;

	while (word->name != NULL && strcmp(word->name, text) != 0)
		word++;
	f->write = word->write;
	journal = f->write == write_journal;
	set_special(f);
	if (word->style != NULL) {
		if (list_fields(f, word->style) < 0)
			return error_set(e, "%s", strerror(ENOMEM));
		if (journal)
			f->message = log_format_new("logfmt", e);
		return journal && f->message == NULL ? -1 : 0;
	}
	f->text = strdup(word->template != NULL ? word->template : text);
	if (f->text == NULL)
		return error_set(e, "%s", strerror(ENOMEM));
	at = f->text;
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

struct log_format *
log_format_new(const char *text, struct error *e)
{
	struct log_format *f = calloc(1, sizeof(*f));

	if (f == NULL) {
		error_set(e, "%s", strerror(ENOMEM));
		return NULL;
	}
	if (compile(f, text, e) == 0)
		return f;
	log_format_free(f);
	return NULL;
}

void
log_format_free(struct log_format *f)
{
	if (f == NULL)
		return;
	log_format_free(f->message);
	free(f->pieces);
	free(f->text);
	free(f);
}

size_t
log_format_line(const struct log_format *f, const struct session_record *r,
    bool timed, char line[LOG_FORMAT_ROOM])
{
	struct line l = { line, 0 };

	f->write(f, r, timed, &l);
	return l.length;
}
