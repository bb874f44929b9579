/* httpref.c: see httpref.h. */
#include "config.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "support/httpref.h"

enum { LINES_MAX = 2000 };

static const char digits[] = "0123456789";
static const char hexdigits[] = "0123456789abcdefABCDEF";
static const char hostchars[] =
    "-._~!$&'()*+,;=:[]%0123456789abcdefghijklmnopqrstuvwxyz"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char tchars[] =
    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

struct line {
	const char *text;
	size_t length;
	char name[48]; /* of a field, in lower case; "" if longer */
	const char *value;
	size_t value_length;
};

/* A header or trailer section: its lines, without the empty one. */
struct section {
	struct line line[LINES_MAX];
	size_t lines, length;
	bool complete, wrong;
};

static size_t
span(const char *text, size_t n, const char *of)
{
	size_t i = 0;

	while (i < n && text[i] != '\0' && strchr(of, text[i]) != NULL)
		i++;
	return i;
}

static bool
same(const char *text, size_t n, const char *word)
{
	size_t i;

	for (i = 0; i < n && word[i] != '\0'; i++)
		if (tolower((unsigned char)text[i]) != word[i])
			return false;
	return i == n && word[i] == '\0';
}

/* Splits at CRLF up to an empty line; a LF anywhere else is wrong. */
static void
split(struct section *s, const char *bytes, size_t n)
{
	size_t start = 0, i;

	s->lines = s->length = 0;
	s->complete = s->wrong = false;
	for (i = 0; i < n && !s->wrong && !s->complete; i++) {
		if (bytes[i] != '\n')
			continue;
		s->wrong = i == start || bytes[i - 1] != '\r';
		s->complete = i == start + 1 && !s->wrong;
		if (!s->wrong && !s->complete && s->lines < LINES_MAX)
			s->line[s->lines++] =
			    (struct line){ .text = bytes + start,
				    .length = i - 1 - start };
		start = i + 1;
	}
	s->length = start;
}

static bool
is_field_text(const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		unsigned c = (unsigned char)text[i];

		if (c != '\t' && (c < ' ' || c == 127))
			return false;
	}
	return true;
}

/* field-line = field-name ":" OWS field-value OWS */
static bool
is_field(struct line *l)
{
	size_t name = span(l->text, l->length, tchars), i, end = l->length;

	if (name == 0 || name == l->length || l->text[name] != ':' ||
	    !is_field_text(l->text, l->length))
		return false;
	for (i = 0; name < sizeof(l->name) && i < name; i++)
		l->name[i] = (char)tolower((unsigned char)l->text[i]);
	i = name + 1;
	while (i < end && (l->text[i] == ' ' || l->text[i] == '\t'))
		i++;
	while (end > i && (l->text[end - 1] == ' ' || l->text[end - 1] == '\t'))
		end--;
	l->value = l->text + i;
	l->value_length = end - i;
	return true;
}

/* host ":" port */
static bool
is_authority(const char *text, size_t n)
{
	size_t host = n;

	while (host > 0 && strchr(digits, text[host - 1]) != NULL)
		host--;
	return host < n && host > 1 && text[host - 1] == ':' &&
	    span(text, n, hostchars) == n;
}

/* authority-form of CONNECT / origin-form / absolute-form, without userinfo /
 * "*" of OPTIONS. */
static bool
is_target(const char *method, const char *text, size_t n)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t scheme = span(text, n, letters), host;

	if (strncmp(method, "CONNECT ", 8) == 0)
		return is_authority(text, n);
	if (text[0] == '/')
		return true;
	if (text[0] == '*')
		return n == 1 && strncmp(method, "OPTIONS ", 8) == 0;
	if (scheme == 0 || n < scheme + 4 ||
	    strncmp(text + scheme, "://", 3) != 0)
		return false;
	for (host = scheme += 3; host < n && text[host] != '/' &&
	     text[host] != '?' && text[host] != '@';
	     host++)
		;
	return host > scheme && (host == n || text[host] != '@');
}

/* request-line = method SP request-target SP HTTP-version */
static bool
is_request_line(const struct line *l)
{
	size_t method = span(l->text, l->length, tchars), i;

	if (method == 0 || method == l->length || l->text[method] != ' ')
		return false;
	for (i = method + 1; i < l->length && l->text[i] > ' ' &&
	     l->text[i] != '#' && (unsigned char)l->text[i] < 127;
	     i++)
		;
	return i > method + 1 && l->length == i + 9 &&
	    is_target(l->text, l->text + method + 1, i - method - 1) &&
	    (memcmp(l->text + i, " HTTP/1.1", 9) == 0 ||
		memcmp(l->text + i, " HTTP/1.0", 9) == 0);
}

static const struct line *
find(const struct section *s, const char *name, size_t *count)
{
	const struct line *found = NULL;
	size_t i;

	*count = 0;
	for (i = 0; i < s->lines; i++)
		if (strcmp(s->line[i].name, name) == 0) {
			found = found != NULL ? found : &s->line[i];
			++*count;
		}
	return found;
}

/* Calls for each element of comma lists in all fields of that name. */
static bool
any_element(const struct section *s, const char *name,
    bool (*is)(const char *text, size_t n))
{
	size_t i, start, end, stop;

	for (i = 0; i < s->lines; i++) {
		const struct line *l = &s->line[i];

		if (strcmp(l->name, name) != 0)
			continue;
		for (start = 0; start <= l->value_length; start = stop + 1) {
			for (stop = start; stop < l->value_length &&
			     l->value[stop] != ',';
			     stop++)
				;
			start += span(l->value + start, stop - start, " \t");
			for (end = stop; end > start &&
			     strchr(" \t", l->value[end - 1]) != NULL;
			     end--)
				;
			if (is(l->value + start, end - start))
				return true;
		}
	}
	return false;
}

static bool
is_needed(const char *text, size_t n)
{
	return same(text, n, "content-length") || same(text, n, "host") ||
	    same(text, n, "transfer-encoding") ||
	    same(text, n, "x-forwarded-for") ||
	    same(text, n, "x-forwarded-proto") || same(text, n, "forwarded");
}

static bool
is_close(const char *text, size_t n)
{
	return same(text, n, "close");
}

static bool
is_keep_alive(const char *text, size_t n)
{
	return same(text, n, "keep-alive");
}

static bool
is_protocol_with_requests(const char *text, size_t n)
{
	return (n >= 3 && same(text, 3, "h2c")) ||
	    (n >= 5 && same(text, 5, "http/")) ||
	    (n >= 4 && same(text, 4, "tls/"));
}

static void
put(struct httpref *r, const char *bytes, size_t n)
{
	if (r->length + n > HTTPREF_MAX)
		abort();
	memcpy(r->out + r->length, bytes, n);
	r->length += n;
}

/* ---- header sections ---- */

static bool
is_length(const struct line *l)
{
	size_t zeros = span(l->value, l->value_length, "0");

	return l->value_length > 0 &&
	    span(l->value, l->value_length, digits) == l->value_length &&
	    l->value_length - zeros <= 19 &&
	    strtoull(l->value, NULL, 10) <= INT64_MAX;
}

static bool
is_host(const struct line *l)
{
	return span(l->value, l->value_length, hostchars) == l->value_length;
}

static bool
is_other_expectation(const char *text, size_t n)
{
	return n > 0 && !same(text, n, "100-continue");
}

/* uri-host [ ":" port ]: cuts the port off; copies it, or `usual`. */
static void
split_port(const char *text, size_t *n, const char *usual, char port[64])
{
	size_t i = *n, length;

	while (i > 0 && strchr(digits, text[i - 1]) != NULL)
		i--;
	length = *n - i;
	strcpy(port, usual);
	if (i == 0 || text[i - 1] != ':')
		return;
	*n = i - 1;
	if (length > 0 && length < 64) {
		memcpy(port, text + i, length);
		port[length] = '\0';
	}
}

/* If the target has an authority, Host has the same one (RFC 9112, 3.2). */
static bool
is_host_of_target(const struct section *s)
{
	const struct line *first = &s->line[0], *host;
	const char *target, *colon, *usual = "";
	char port[64], other[64];
	size_t n, count, length;

	host = find(s, "host", &count);
	if (s->lines == 0 || host == NULL)
		return true;
	target = (const char *)memchr(first->text, ' ', first->length) + 1;
	n = (size_t)(first->text + first->length - 9 - target);
	if (*target == '/' || *target == '*')
		return true;
	if (strncmp(first->text, "CONNECT ", 8) != 0) {
		colon = memchr(target, ':', n);
		usual = same(target, (size_t)(colon - target), "https") ? "443"
									: "80";
		n -= (size_t)(colon + 3 - target);
		target = colon + 3;
		for (length = 0; length < n && target[length] != '/' &&
		     target[length] != '?';
		     length++)
			;
		n = length;
	}
	length = host->value_length;
	split_port(target, &n, usual, port);
	split_port(host->value, &length, *usual ? usual : port, other);
	return n == length && strncasecmp(target, host->value, n) == 0 &&
	    strcmp(port, other) == 0;
}

/* Fields that occur at most once, and what they may say. */
static bool
are_fields_right(const struct section *s)
{
	const struct line *l;
	size_t n;

	if ((l = find(s, "host", &n)) != NULL && (n > 1 || !is_host(l)))
		return false;
	if ((l = find(s, "content-length", &n)) != NULL &&
	    (n > 1 || !is_length(l)))
		return false;
	if ((l = find(s, "transfer-encoding", &n)) != NULL &&
	    (n > 1 || !same(l->value, l->value_length, "chunked")))
		return false;
	if (any_element(s, "expect", is_other_expectation) ||
	    !is_host_of_target(s))
		return false;
	return !any_element(s, "connection", is_needed);
}

/* What can only be said of all of it. */
static bool
is_whole_right(const struct section *s)
{
	const struct line *first = &s->line[0], *length;
	bool old = first->text[first->length - 1] == '0';
	size_t lengths, codings, hosts;

	length = find(s, "content-length", &lengths);
	(void)find(s, "transfer-encoding", &codings);
	(void)find(s, "host", &hosts);
	if (strncmp(first->text, "CONNECT ", 8) == 0 &&
	    (codings > 0 ||
		(lengths > 0 &&
		    span(length->value, length->value_length, "0") !=
			length->value_length)))
		return false;
	return (old || hosts == 1) && !(lengths > 0 && codings > 0) &&
	    !(old && codings > 0);
}

/* Lines that came before the section was complete, or wrong, count. */
static bool
is_head_right(struct section *s)
{
	size_t i;

	if (s->lines > 0 && !is_request_line(&s->line[0]))
		return false;
	for (i = 1; i < s->lines; i++)
		if (!is_field(&s->line[i]))
			return false;
	return !s->wrong && are_fields_right(s) &&
	    (!s->complete || s->lines == 0 || is_whole_right(s));
}

/* Of names that become the same variable of CGI, the usual one; valid until the
 * next call. */
static const char *
as_variable(const char *name)
{
	static char usual[sizeof(((struct line *)NULL)->name)];
	size_t i;

	for (i = 0; name[i] != '\0'; i++)
		usual[i] = isalnum((unsigned char)name[i]) ? name[i] : '-';
	usual[i] = '\0';
	return usual;
}

static bool
goes(const struct httpref_adding *a, struct line *l)
{
	struct section one = { .lines = 1 };
	const char *name = as_variable(l->name);

	if (strcmp(name, "x-forwarded-proto") == 0)
		return true;
	if (strcmp(l->name, "upgrade") == 0) {
		one.line[0] = *l;
		return any_element(&one, "upgrade", is_protocol_with_requests);
	}
	return a->drop_for &&
	    (strcmp(name, "x-forwarded-for") == 0 ||
		strcmp(name, "forwarded") == 0);
}

static void
put_head(
    struct httpref *r, const struct httpref_adding *a, struct section *s)
{
	size_t i;

	for (i = 0; i < s->lines; i++) {
		if (i > 0 && goes(a, &s->line[i]))
			continue;
		put(r, s->line[i].text, s->line[i].length);
		put(r, "\r\n", 2);
	}
	put(r, a->lines, strlen(a->lines));
	put(r, "\r\n", 2);
}

/* ---- chunks ---- */

/* chunk-ext = *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] ) */
static bool
is_extension(const char *text, size_t n)
{
	size_t at = 0, word, blanks;

	while (at < n) {
		at += span(text + at, n - at, " \t");
		if (at == n || text[at++] != ';')
			return false;
		at += span(text + at, n - at, " \t");
		word = span(text + at, n - at, tchars);
		at += word;
		if (word == 0)
			return false;
		blanks = span(text + at, n - at, " \t");
		if (at + blanks == n || text[at + blanks] != '=')
			continue;
		at += blanks + 1;
		at += span(text + at, n - at, " \t");
		word = span(text + at, n - at, tchars);
		if (word == 0) {
			if (at == n || text[at] != '"')
				return false;
			for (word = 1; at + word < n && text[at + word] != '"';)
				word += text[at + word] == '\\' ? 2 : 1;
			if (at + word >= n)
				return false;
			word++;
		}
		at += word;
	}
	return is_field_text(text, n);
}

static bool
is_forbidden_trailer(const char *name)
{
	static const char *const names[] = { "host", "cookie", "expect",
		"upgrade", "connection", "content-length",
		"transfer-encoding" };
	const char *usual = as_variable(name);
	size_t i;

	if (strcmp(usual, "forwarded") == 0 ||
	    strcmp(usual, "x-forwarded-for") == 0 ||
	    strcmp(usual, "x-forwarded-proto") == 0)
		return true;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Returns how many bytes it is; 0 when it is wrong, or not complete. */
static size_t
read_trailers(struct httpref *r, const char *bytes, size_t n)
{
	static struct section s;
	size_t i;

	split(&s, bytes, n);
	for (i = 0; i < s.lines; i++) {
		memset(s.line[i].name, 0, sizeof(s.line[i].name));
		if (!is_field(&s.line[i]) ||
		    is_forbidden_trailer(s.line[i].name))
			s.wrong = true;
	}
	r->wrong = s.wrong;
	r->partial = !s.wrong && !s.complete;
	if (!s.complete || s.wrong)
		return 0;
	put(r, bytes, s.length);
	return s.length;
}

/* chunk = chunk-size [ chunk-ext ] CRLF chunk-data CRLF */
static size_t
read_chunk(struct httpref *r, const char *bytes, size_t n, bool *last)
{
	const char *feed = memchr(bytes, '\n', n < 512 ? n : 512);
	size_t line = feed != NULL ? (size_t)(feed - bytes) + 1 : 0, size, left;
	size_t hex = span(bytes, line, hexdigits);
	char text[40] = "";

	r->partial = feed == NULL && n <= 512;
	r->wrong = (feed == NULL && n > 512) ||
	    (feed != NULL &&
		(line < 3 || bytes[line - 2] != '\r' || hex == 0 || hex > 32 ||
		    !is_extension(bytes + hex, line - 2 - hex)));
	if (r->partial || r->wrong)
		return 0;
	memcpy(text, bytes, hex);
	if (strtoull(text, NULL, 16) > INT32_MAX) {
		r->wrong = true;
		return 0;
	}
	size = (size_t)strtoull(text, NULL, 16);
	*last = size == 0;
	put(r, bytes, line);
	if (*last)
		return line;
	left = n - line;
	put(r, bytes + line, size < left ? size : left);
	if (left >= size + 1 && bytes[line + size] != '\r')
		r->wrong = true;
	else if (left >= size + 2 && bytes[line + size + 1] != '\n')
		r->wrong = true;
	else if (left < size + 2)
		r->partial = true;
	if (r->wrong || r->partial)
		return 0;
	put(r, "\r\n", 2);
	return line + size + 2;
}

static size_t
read_chunks(struct httpref *r, const char *bytes, size_t n)
{
	size_t at = 0, part;
	bool last = false;

	while (!last) {
		part = read_chunk(r, bytes + at, n - at, &last);
		at += part;
		if (part == 0)
			return 0;
	}
	part = read_trailers(r, bytes + at, n - at);
	return part == 0 ? 0 : at + part;
}

/* ---- requests ---- */

static size_t
read_body(
    struct httpref *r, const struct section *s, const char *bytes, size_t n)
{
	const struct line *length;
	size_t count, size;

	if (find(s, "transfer-encoding", &count) != NULL)
		return read_chunks(r, bytes, n);
	length = find(s, "content-length", &count);
	size = length == NULL ? 0 : (size_t)strtoull(length->value, NULL, 10);
	put(r, bytes, size < n ? size : n);
	r->partial = size > n;
	return size < n ? size : n;
}

static size_t
read_request(struct httpref *r, const struct httpref_adding *a,
    const char *bytes, size_t n)
{
	static struct section s;
	size_t skipped = n >= 2 && memcmp(bytes, "\r\n", 2) == 0 ? 2 : 0, i;
	bool upgrade = false;

	split(&s, bytes + skipped, n - skipped);
	for (i = 0; i < s.lines; i++)
		memset(s.line[i].name, 0, sizeof(s.line[i].name));
	r->wrong = !is_head_right(&s) || (s.complete && s.lines == 0);
	r->partial = !r->wrong && !s.complete;
	if (r->wrong || r->partial)
		return 0;
	put_head(r, a, &s);
	r->requests++;
	for (i = 1; i < s.lines; i++)
		upgrade |= strcmp(s.line[i].name, "upgrade") == 0 &&
		    !goes(a, &s.line[i]);
	i = skipped + s.length;
	i += read_body(r, &s, bytes + i, n - i);
	r->over = any_element(&s, "connection", is_close) ||
	    (s.line[0].text[s.line[0].length - 1] == '0' &&
		!any_element(&s, "connection", is_keep_alive));
	r->waits = !r->wrong && !r->partial &&
	    (upgrade || strncmp(s.line[0].text, "CONNECT ", 8) == 0);
	return i;
}

void
httpref_read(struct httpref *r, const struct httpref_adding *adding,
    const char *bytes, size_t n)
{
	size_t at = 0;

	r->length = 0;
	r->requests = 0;
	r->wrong = r->partial = r->waits = r->over = false;
	while (at < n && !r->wrong && !r->partial && !r->waits && !r->over)
		at += read_request(r, adding, bytes + at, n - at);
}
