/* http_first.c: see http_first.h. It runs for each connection: lines with an
 * irrelevant first letter are skipped. */
#include "config.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "proxy/http/http_first.h"

/* The methods' names end at a space; no known one is longer. */
enum { METHOD_MAX = 32 };

/* The length of the method that the bytes begin with; 0: they do not. */
static size_t
method_length(const char *bytes, size_t n)
{
	size_t i = 0;

	while (i < n && i <= METHOD_MAX && bytes[i] >= 'A' && bytes[i] <= 'Z')
		i++;
	return i < n && i <= METHOD_MAX && bytes[i] == ' ' ? i : 0;
}

/* "GET / HTTP/1.1", whose method has that length. */
static bool
is_request_line(const char *line, size_t n, size_t method)
{
	static const char version[] = " HTTP/1.";
	size_t v = sizeof(version) - 1;

	if (n > 0 && line[n - 1] == '\r')
		n--;
	return n > method + v + 2 &&
	    memcmp(line + n - v - 1, version, v) == 0;
}

static bool
http_first_is_method(const char *bytes, size_t length, const char *name)
{
	return length == strlen(name) && memcmp(bytes, name, length) == 0;
}

static bool
http_first_is_safe(const char *bytes, size_t method)
{
	return http_first_is_method(bytes, method, "GET") ||
	    http_first_is_method(bytes, method, "HEAD") ||
	    http_first_is_method(bytes, method, "OPTIONS");
}

/* Names that begin with the same letter are distinguished first by the byte at
 * `mark`, which is no letter. */
static inline bool
is_field(const char *line, size_t n, const char *name, size_t mark)
{
	size_t length = strlen(name);

	return n > length && line[mark] == name[mark] &&
	    strncasecmp(line, name, length) == 0;
}

enum field { FIELD_PLAIN, FIELD_UPGRADE, FIELD_BODY };

/* A body, or one that may come (RFC 9112, 6; RFC 9110, 10.1.1). */
static inline enum field
field_of(const char *line, size_t n)
{
	switch (line[0] | 0x20) {
	case 'u':
		return is_field(line, n, "upgrade:", 7) ? FIELD_UPGRADE
							: FIELD_PLAIN;
	case 'c':
		return is_field(line, n, "content-length", 7) ? FIELD_BODY
							      : FIELD_PLAIN;
	case 't':
		return is_field(line, n, "transfer-encoding", 8) ? FIELD_BODY
								 : FIELD_PLAIN;
	case 'e':
		return is_field(line, n, "expect:", 6) ? FIELD_BODY
						       : FIELD_PLAIN;
	default:
		return FIELD_PLAIN;
	}
}

/* Goes through the header's fields, which begin at `line`. Returns its end, a
 * blank line, or NULL when it has not come, and could request another protocol,
 * or when it does. Sets `body` if one follows. */
static const char *
read_fields(const char *line, const char *end, bool *body)
{
	const char *feed;

	for (;; line = feed + 1) {
		feed = memchr(line, '\n', (size_t)(end - line));
		if (feed == NULL)
			return NULL;
		if (feed - line <= 1)
			return line;
		switch (field_of(line, (size_t)(feed - line))) {
		case FIELD_UPGRADE:
			return NULL;
		case FIELD_BODY:
			*body = true;
			break;
		case FIELD_PLAIN:
			break;
		}
	}
}

enum http_first
http_first_of(const char *bytes, size_t n)
{
	const char *end = bytes + n, *feed, *blank;
	size_t method = method_length(bytes, n);
	bool body = false;

	if (method == 0 || http_first_is_method(bytes, method, "CONNECT"))
		return HTTP_FIRST_OTHER;
	feed = memchr(bytes, '\n', n);
	if (feed == NULL ||
	    !is_request_line(bytes, (size_t)(feed - bytes), method))
		return HTTP_FIRST_OTHER;
	blank = read_fields(feed + 1, end, &body);
	if (blank == NULL)
		return HTTP_FIRST_OTHER;
	return http_first_is_safe(bytes, method) && !body && blank + 2 == end &&
		memcmp(blank - 2, "\r\n\r\n", 4) == 0
	    ? HTTP_FIRST_REPEATABLE
	    : HTTP_FIRST_REQUEST;
}
