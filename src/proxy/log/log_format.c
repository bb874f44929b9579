/* log_format.c: a record of a session, or of a request, as a line. */
#include "config.h"

#include <limits.h>
#include <string.h>

#include "base/words.h"
#include "proxy/log/log_format_private.h"

/* ---- lines ---- */

static void
log_format_add(struct line *l, const char *text, size_t n)
{
	size_t left = l->max - l->length;

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

bool
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
    char escape[RECORD_LONG_MAX])
{
	char *value = l->text + l->length;
	bool special = !is_clean(f, field, value, n);

	if (special)
		memcpy(escape, value, n);
	else
		l->length += n;
	/* in front of the value, too, the line may be too long already */
	if (l->length > l->max)
		l->length = l->max;
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

/* The number of fields that a list of all fields has for this record. */
static size_t
count_pieces(const struct log_format *f, const struct session_record *r)
{
	bool tls = r->client_tls != NULL || r->server_tls != NULL ||
	    r->sni != NULL; /* of TLS that goes through */

	return tls ? f->count : f->without_tls;
}

/* ---- all fields ---- */

void
log_format_write_logfmt(const struct log_format *f,
    const struct session_record *r, bool timed, struct line *l)
{
	char copy[RECORD_LONG_MAX];
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
void
log_format_write_json(const struct log_format *f,
    const struct session_record *r, bool timed, struct line *l)
{
	char copy[RECORD_LONG_MAX];
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
	if (l->length < l->max)
		log_format_add(l, "}", 1);
	else
		l->length = 0;
}

/* A newline would begin another field. */
void
log_format_write_journal(const struct log_format *f,
    const struct session_record *r, bool timed, struct line *l)
{
	char message[LOG_FORMAT_ROOM], copy[RECORD_LONG_MAX];
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

void
log_format_write_template(const struct log_format *f,
    const struct session_record *r, bool timed, struct line *l)
{
	char copy[RECORD_LONG_MAX];
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

size_t
log_format_line(const struct log_format *f, const struct session_record *r,
    bool timed, char line[LOG_FORMAT_ROOM])
{
	struct line l = { line, 0,
		f->scope == RECORD_SESSION ? LOG_FORMAT_LINE_MAX
					   : LOG_FORMAT_REQUEST_MAX };

	f->write(f, r, timed, &l);
	return l.length;
}
