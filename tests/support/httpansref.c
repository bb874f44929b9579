/* httpansref.c: see httpansref.h. */
#include "config.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proxy/http/http_request.h"
#include "support/httpansref.h"

enum { LINES_MAX = 10000, ELEMENTS_MAX = 10000 };

struct line {
	const char *text;
	size_t length; /* without its end */
	size_t whole;  /* with it */
};

struct text {
	const char *at;
	size_t length;
};

/* A section, with its empty line at last: its lines as they go on. */
static struct {
	struct line line[LINES_MAX];
	size_t lines, length; /* of the section as it came */
	bool complete;
	char text[HTTPREF_MAX];
} head;
static struct line raw[LINES_MAX]; /* as they came */

static bool
same(struct text t, const char *word)
{
	return t.length == strlen(word) &&
	    strncasecmp(t.at, word, t.length) == 0;
}

static bool
begins(const struct line *l, const char *word)
{
	return l->length >= strlen(word) &&
	    strncasecmp(l->text, word, strlen(word)) == 0;
}

static void
put(struct httpansref *a, const char *bytes, size_t n)
{
	if (a->length + n > HTTPREF_MAX)
		abort();
	memcpy(a->out + a->length, bytes, n);
	a->length += n;
}

/* False: its end is not here. */
static bool
read_line(struct line *l, const char *bytes, size_t n)
{
	const char *feed = n > 0 ? memchr(bytes, '\n', n) : NULL;

	if (feed == NULL)
		return false;
	l->text = bytes;
	l->whole = (size_t)(feed - bytes) + 1;
	l->length = l->whole - 1;
	if (l->length > 0 && bytes[l->length - 1] == '\r')
		l->length--;
	return true;
}

static bool
is_no_byte_of_a_line(char c)
{
	return c == '\r' || c == '\0';
}

static bool
is_folded(const struct line *l)
{
	return l->length > 0 && (l->text[0] == ' ' || l->text[0] == '\t');
}

/* RFC 9112, 5.1: no blanks before the first colon. */
static void
trim_name(struct line *l, char *text)
{
	char *colon = memchr(text, ':', l->length);

	while (colon != NULL && colon > text && strchr(" \t", colon[-1])) {
		memmove(colon - 1, colon, l->whole - (size_t)(colon - text));
		colon--;
		l->length--;
		l->whole--;
	}
}

/* The lines from `first` to before `after`, which are folded, as one at `to`
 * (RFC 9112, 5.2). RFC 9110, 5.5: CR and NUL are replaced. */
static void
join(struct line *l, char *to, size_t first, size_t after)
{
	const struct line *last = &raw[after - 1];
	size_t i, k;

	*l = (struct line){ to, 0, last->whole - last->length };
	for (i = first; i < after; i++)
		for (k = 0; k < raw[i].length; k++)
			to[l->length++] = is_no_byte_of_a_line(raw[i].text[k])
			    ? ' '
			    : raw[i].text[k];
	memcpy(to + l->length, last->text + last->length, l->whole);
	l->whole += l->length;
}

/* Joins and cleans them; what is folded behind the status line, or behind a
 * line that is left out, is left out. */
static void
join_all(size_t lines, bool status)
{
	char *to = head.text;
	size_t i, next;

	for (i = 0; i < lines; i = next) {
		struct line *l = &head.line[head.lines];
		bool field = !status || i > 0;

		for (next = i + 1;
		     field && next < lines && is_folded(&raw[next]); next++)
			;
		if (field && raw[i].length > 0 &&
		    (is_folded(&raw[i]) ||
			is_no_byte_of_a_line(raw[i].text[0])))
			continue;
		join(l, to, i, next);
		if (field)
			trim_name(l, to);
		to += l->whole;
		head.lines++;
	}
}

static void
split(const char *bytes, size_t n, bool status)
{
	size_t lines = 0;

	head.lines = head.length = 0;
	head.complete = false;
	while (!head.complete && lines < LINES_MAX) {
		struct line *l = &raw[lines];

		if (!read_line(l, bytes + head.length, n - head.length))
			return;
		head.length += l->whole;
		lines++;
		head.complete = l->length == 0;
	}
	join_all(lines, status);
}

/* status-line = "HTTP/1." DIGIT SP 3DIGIT [ SP .. ] */
static bool
is_status(const struct line *l)
{
	return l->length >= 12 && strncmp(l->text, "HTTP/1.", 7) == 0 &&
	    isdigit((unsigned char)l->text[7]) && l->text[8] == ' ' &&
	    l->text[9] >= '1' && l->text[9] <= '9' &&
	    isdigit((unsigned char)l->text[10]) &&
	    isdigit((unsigned char)l->text[11]) &&
	    (l->length == 12 || l->text[12] == ' ');
}

/* ---- fields ---- */

/* field-name ":" OWS field-value OWS; false: it is none. */
static bool
is_field(const struct line *l, struct text *name, struct text *value)
{
	const char *colon = memchr(l->text, ':', l->length);
	const char *end = l->text + l->length, *at;

	if (colon == NULL || colon == l->text)
		return false;
	for (at = l->text; at < colon; at++)
		if (!isalnum((unsigned char)*at) &&
		    (*at == '\0' || !strchr("!#$%&'*+-.^_`|~", *at)))
			return false;
	for (at = colon + 1; at < end; at++)
		if (*at != '\t' &&
		    ((unsigned char)*at < ' ' || (unsigned char)*at == 127))
			return false;
	for (at = colon + 1; at < end && (*at == ' ' || *at == '\t'); at++)
		;
	while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*name = (struct text){ l->text, (size_t)(colon - l->text) };
	*value = (struct text){ at, (size_t)(end - at) };
	return true;
}

/* The elements of all fields of that name, without empty ones. */
static size_t
elements(const char *name, struct text all[ELEMENTS_MAX], size_t *fields)
{
	struct text n, v, one;
	size_t i, count = 0, at, stop;

	*fields = 0;
	for (i = 1; i < head.lines; i++) {
		if (!is_field(&head.line[i], &n, &v) || !same(n, name))
			continue;
		++*fields;
		for (at = 0; at < v.length; at = stop + 1) {
			for (stop = at; stop < v.length && v.at[stop] != ',';)
				stop++;
			one = (struct text){ v.at + at, stop - at };
			while (one.length > 0 &&
			    strchr(" \t", one.at[one.length - 1]))
				one.length--;
			while (one.length > 0 && strchr(" \t", one.at[0])) {
				one.at++;
				one.length--;
			}
			if (one.length > 0 && count < ELEMENTS_MAX)
				all[count++] = one;
		}
	}
	return count;
}

static bool
has_element(const char *name, const char *word)
{
	static struct text all[ELEMENTS_MAX];
	size_t fields, n = elements(name, all, &fields);

	while (n-- > 0)
		if (same(all[n], word))
			return true;
	return false;
}

/* Lines that begin like a field that frames an answer, and are none. */
static bool
is_doubtful(void)
{
	struct text n, v;
	size_t i;

	for (i = 1; i < head.lines; i++) {
		const struct line *l = &head.line[i];

		if (!is_field(l, &n, &v) &&
		    (begins(l, "content-length") ||
			begins(l, "transfer-encoding") ||
			begins(l, "connection:")))
			return true;
	}
	return false;
}

/* 0: there is none; -1: it is not valid; 1: it is. */
static int
find_length(uint64_t *length)
{
	static struct text all[ELEMENTS_MAX];
	size_t fields, n = elements("content-length", all, &fields), i, k;
	struct text n2, v;
	uint64_t value;

	*length = 0;
	if (fields == 0)
		return 0;
	for (i = 1; i < head.lines; i++) /* each field has an element */
		if (is_field(&head.line[i], &n2, &v) &&
		    same(n2, "content-length") &&
		    strspn(v.at, ", \t") >= v.length)
			return -1;
	for (i = 0; i < n; i++) {
		for (k = 0, value = 0; k < all[i].length; k++) {
			unsigned digit = (unsigned)all[i].at[k] - '0';

			if (digit > 9 ||
			    value > ((uint64_t)INT64_MAX - digit) / 10)
				return -1;
			value = value * 10 + digit;
		}
		if (i > 0 && value != *length)
			return -1;
		*length = value;
	}
	return 1;
}

/* Whether the length is not one number, in one field. */
static bool
is_repeated(void)
{
	struct text n, v;
	size_t fields = 0, commas = 0, i;

	for (i = 1; i < head.lines; i++)
		if (is_field(&head.line[i], &n, &v) &&
		    same(n, "content-length")) {
			fields++;
			commas += memchr(v.at, ',', v.length) != NULL;
		}
	return fields > 1 || commas > 0;
}

/* ---- the section goes on ---- */

/* Which framing fields go on. */
struct framing {
	bool length, coding;
};

static bool
goes(const struct line *l, struct framing f, bool closes)
{
	struct text n, v;

	if (!is_field(l, &n, &v))
		return true;
	return (f.length || !same(n, "content-length")) &&
	    (f.coding || !same(n, "transfer-encoding")) &&
	    !(closes &&
		(same(n, "keep-alive") ||
		    (same(n, "connection") && same(v, "keep-alive"))));
}

/* RFC 9110, 8.6: a wrong length never goes on, a repeated one once; neither
 * does what frames a body where none may be (`bare`). */
static void
put_head(struct httpansref *a, bool coded, bool closes, bool bare)
{
	uint64_t length;
	int has_length = find_length(&length);
	bool once = has_length > 0 && !coded && !bare && is_repeated();
	struct framing f = { .coding = !bare,
		.length = has_length == 0 ||
		    (has_length > 0 && !coded && !is_repeated() &&
			(!bare || length == 0)) };
	char text[60];
	size_t i;

	put(a, head.line[0].text, head.line[0].whole);
	if (closes)
		put(a, "Connection: close\r\n", 19);
	if (once) {
		sprintf(text, "Content-Length: %llu\r\n",
		    (unsigned long long)length);
		put(a, text, strlen(text));
	}
	for (i = 1; i < head.lines; i++)
		if (goes(&head.line[i], f, closes))
			put(a, head.line[i].text, head.line[i].whole);
}

/* ---- bodies; each returns how many bytes it is, 0: it is not complete ---- */

static size_t
read_chunk(struct httpansref *a, const char *bytes, size_t n, bool *last)
{
	uint64_t size = 0;
	struct line l;
	size_t i, left;

	if (!read_line(&l, bytes, n))
		return 0;
	for (i = 0; i < l.length && isxdigit((unsigned char)l.text[i]); i++) {
		char digit[2] = { l.text[i], '\0' };

		if (size > INT64_MAX / 16)
			break;
		size = size * 16 + strtoull(digit, NULL, 16);
	}
	if (i == 0 || (i < l.length && !strchr("; \t", l.text[i])) ||
	    memchr(l.text, '\r', l.length) || memchr(l.text, '\0', l.length)) {
		a->end = HTTPANSREF_WRONG;
		return 0;
	}
	put(a, bytes, l.whole);
	*last = size == 0;
	if (*last)
		return l.whole;
	left = n - l.whole;
	put(a, bytes + l.whole, size < left ? (size_t)size : left);
	if (left <= size)
		return 0;
	i = l.whole + (size_t)size;
	if (bytes[i] == '\n') {
		put(a, "\n", 1);
		return i + 1;
	}
	if (bytes[i] != '\r' || (i + 1 < n && bytes[i + 1] != '\n'))
		a->end = HTTPANSREF_WRONG;
	if (a->end == HTTPANSREF_WRONG || i + 1 == n)
		return 0;
	put(a, "\r\n", 2);
	return i + 2;
}

static size_t
read_chunks(struct httpansref *a, const char *bytes, size_t n)
{
	size_t at = 0, part, i;
	bool last = false;

	while (!last) {
		part = read_chunk(a, bytes + at, n - at, &last);
		at += part;
		if (part == 0)
			return 0;
	}
	split(bytes + at, n - at, false);
	for (i = 0; head.complete && i < head.lines; i++)
		put(a, head.line[i].text, head.line[i].whole);
	return head.complete ? at + head.length : 0;
}

/* ---- answers ---- */

static bool
may_be_status(const char *bytes, size_t n)
{
	return strncmp(bytes, "HTTP/1.", n < 7 ? n : 7) == 0 ||
	    (n == 1 && bytes[0] == '\r');
}

static void
finish(struct httpansref *a, bool last)
{
	a->left--;
	if (last)
		a->end = HTTPANSREF_OVER;
}

/* What comes after the section, which is in `head`. Returns how many bytes of
 * it and the body were taken. */
static size_t
read_rest(struct httpansref *a, unsigned kind, const char *bytes, size_t n)
{
	static struct text all[ELEMENTS_MAX];
	const char *first = head.line[0].text;
	int status = atoi((char[4]){ first[9], first[10], first[11], '\0' });
	size_t codings, count = elements("transfer-encoding", all, &codings);
	bool chunked = count > 0 && same(all[count - 1], "chunked");
	bool close = has_element("connection", "close");
	bool keep = has_element("connection", "keep-alive");
	bool old = first[7] == '0', coded = codings > 0, ends, last;
	uint64_t length;
	int has_length = find_length(&length);
	size_t length_of_head = head.length, body = n - head.length, taken;

	if (status < 200 && !(status == 101)) {
		put_head(a, coded, false, true);
		return head.length;
	}
	if (status == 101 && !(kind & HTTP_KIND_UPGRADE)) {
		a->end = HTTPANSREF_WRONG;
		return 0;
	}
	if (status == 101 || (status < 300 && kind & HTTP_KIND_CONNECT)) {
		put_head(a, coded, false, true);
		put(a, bytes + head.length, body);
		a->left--;
		a->end = HTTPANSREF_TUNNEL;
		return n;
	}
	last = close || (old && (!keep || coded));
	ends = kind & HTTP_KIND_HEAD || status == 204 || status == 304;
	if (!ends &&
	    (is_doubtful() || (coded && !chunked) ||
		(!coded && has_length == 0))) {
		put_head(a, coded, !close, false);
		put(a, bytes + head.length, body);
		a->end = HTTPANSREF_CLOSE;
		return n;
	}
	if (!ends && !coded && has_length < 0) {
		a->end = HTTPANSREF_WRONG;
		return 0;
	}
	put_head(a, coded, last && keep && !close, status == 204);
	last |= (kind & HTTP_KIND_LAST) != 0;
	if (ends) {
		finish(a, last);
		return head.length;
	}
	if (chunked) {
		taken = read_chunks(a, bytes + head.length, body);
		if (taken > 0)
			finish(a, last);
		return taken > 0 ? length_of_head + taken : n;
	}
	taken = length < body ? (size_t)length : body;
	put(a, bytes + head.length, taken);
	if (taken == length)
		finish(a, last);
	return head.length + taken;
}

static size_t
read_answer(struct httpansref *a, unsigned kind, const char *bytes, size_t n)
{
	struct line l;

	if (read_line(&l, bytes, n) ? l.length > 0 && !is_status(&l)
				    : !may_be_status(bytes, n)) {
		a->end = HTTPANSREF_WRONG;
		return 0;
	}
	if (!read_line(&l, bytes, n))
		return n;
	if (l.length == 0)
		return l.whole; /* an empty line before it */
	split(bytes, n, true);
	return head.complete ? read_rest(a, kind, bytes, n) : n;
}

void
httpansref_read(struct httpansref *a, const uint8_t *kinds, unsigned requests,
    const char *bytes, size_t n)
{
	size_t at = 0;

	a->length = 0;
	a->left = requests;
	a->end = HTTPANSREF_MORE;
	while (at < n && a->end == HTTPANSREF_MORE) {
		if (a->left == 0)
			a->end = HTTPANSREF_UNASKED;
		else
			at += read_answer(
			    a, kinds[requests - a->left], bytes + at, n - at);
	}
}
