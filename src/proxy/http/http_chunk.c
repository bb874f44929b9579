/* http_chunk.c: see http_chunk.h. */
#include "config.h"

#include <string.h>

#include "proxy/http/http_chunk.h"

enum { DIGITS_MAX = 16 };

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

/* *( ";" token [ "=" ( token / quoted-string ) ] ) (RFC 9112, 7.1.1). The
 * blanks that the RFC has a recipient remove are not taken: parsers differ
 * there. */
static bool
are_extensions(struct http_text t)
{
	size_t n;

	if (!http_is_value(t))
		return false;
	while (t.length > 0) {
		if (t.at[0] != ';')
			return false;
		t = without(t, 1);
		if ((n = token_length(t)) == 0)
			return false;
		t = without(t, n);
		if (t.length == 0 || t.at[0] != '=')
			continue;
		t = without(t, 1);
		n = token_length(t);
		if (n == 0 && (n = quoted_length(t)) == 0)
			return false;
		t = without(t, n);
	}
	return true;
}

int
http_chunk_parse(struct http_text line, uint64_t *size)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < line.length && hex_value(line.at[i]) >= 0; i++) {
		if (i == DIGITS_MAX)
			return -1;
		n = n << 4 | (uint64_t)hex_value(line.at[i]);
	}
	if (i == 0 || n > INT64_MAX || !are_extensions(without(line, i)))
		return -1;
	*size = n;
	return 0;
}
