/* http_chunk.c: see http_chunk.h. */
#include "config.h"

#include <string.h>

#include "proxy/http/http_chunk.h"

/* Some servers read no more of them. */
enum { DIGITS_MAX = 32 };

static int
hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* How many bytes of it are a token, or a quoted string; 0: none. */
static size_t
token_length(struct http_text t)
{
	size_t n = 0;

	while (n < t.length && http_is_token((struct http_text){ t.at + n, 1 }))
		n++;
	return n;
}

/* The line has no control characters but tabs. */
static size_t
quoted_length(struct http_text t)
{
	size_t n;

	if (t.length == 0 || t.at[0] != '"')
		return 0;
	for (n = 1; n < t.length; n++) {
		if (t.at[n] == '"')
			return n + 1;
		if (t.at[n] == '\\' && n + 1 < t.length)
			n++;
	}
	return 0;
}

static struct http_text
without(struct http_text t, size_t n)
{
	return (struct http_text){ t.at + n, t.length - n };
}

static struct http_text
without_blanks(struct http_text t)
{
	while (t.length > 0 && (t.at[0] == ' ' || t.at[0] == '\t'))
		t = without(t, 1);
	return t;
}

/* Takes the mark off, and blanks around it. False: something else is next. */
static bool
take_mark(struct http_text *t, char mark)
{
	struct http_text rest = without_blanks(*t);

	if (rest.length == 0 || rest.at[0] != mark)
		return false;
	*t = without_blanks(without(rest, 1));
	return true;
}

/* *( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] ) (RFC 9112,
 * 7.1.1). */
static bool
are_extensions(struct http_text t)
{
	size_t n;

	if (!http_is_value(t))
		return false;
	while (t.length > 0) {
		if (!take_mark(&t, ';') || (n = token_length(t)) == 0)
			return false;
		t = without(t, n);
		if (!take_mark(&t, '='))
			continue;
		n = token_length(t);
		if (n == 0 && (n = quoted_length(t)) == 0)
			return false;
		t = without(t, n);
	}
	return true;
}

/* How many bytes of it are digits; 0: none are, or the size is more than
 * `most`, which is a power of two but one. */
static size_t
size_length(struct http_text line, uint64_t most, uint64_t *size)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < line.length && hex_value(line.at[i]) >= 0; i++) {
		if (n > most >> 4)
			return 0;
		n = n << 4 | (uint64_t)hex_value(line.at[i]);
	}
	*size = n;
	return i;
}

int
http_chunk_parse(struct http_text line, uint64_t *size)
{
	size_t n = size_length(line, INT32_MAX, size);

	return n > 0 && n <= DIGITS_MAX && are_extensions(without(line, n))
	    ? 0
	    : -1;
}

int
http_chunk_guess(struct http_text line, uint64_t *size)
{
	size_t n = size_length(line, INT64_MAX, size);

	return n > 0 && memchr(line.at, '\r', line.length) == NULL &&
		memchr(line.at, '\0', line.length) == NULL &&
		(n == line.length || line.at[n] == ';' || line.at[n] == ' ' ||
		    line.at[n] == '\t')
	    ? 0
	    : -1;
}
