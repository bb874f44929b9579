/* http_words.c: see http_words.h. */
#include "config.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "net/http_words.h"

/* ---- Accept ---- */

/* "0", "0.5", "1.000"; what is wrong counts as 0. */
static unsigned
parse_quality(const char *text)
{
	unsigned value = 0, digit = 100;

	if (*text != '0' && *text != '1')
		return 0;
	value = *text++ == '1' ? 1000 : 0;
	if (*text == '.')
		while (*++text >= '0' && *text <= '9' && digit > 0) {
			value += (unsigned)(*text - '0') * digit;
			digit /= 10;
		}
	return value < 1000 ? value : 1000;
}

/* The parameter q of a media type, in thousandths: 1000 without one. `end` is
 * where the next type begins. */
static unsigned
quality_of(const char *at, const char *end)
{
	for (; at < end; at++) {
		if (*at != ';')
			continue;
		do
			at++;
		while (at < end && (*at == ' ' || *at == '\t'));
		if (end - at > 2 && (*at == 'q' || *at == 'Q') && at[1] == '=')
			return parse_quality(at + 2);
		at--;
	}
	return 1000;
}

unsigned
http_quality(const char *accept, const char *type)
{
	size_t n = strlen(type);
	const char *at = accept, *end;

	for (; at != NULL && *at != '\0'; at = *end == ',' ? end + 1 : end) {
		at += strspn(at, " \t");
		end = at + strcspn(at, ",");
		if (strncasecmp(at, type, n) == 0 &&
		    strchr(";, \t", at[n]) != NULL)
			return quality_of(at + n, end);
	}
	return 0;
}

/* ---- Host ---- */

/* Whether the last label of the name is "localhost" (RFC 6761, 6.3). */
static bool
is_localhost(const char *name)
{
	static const char word[] = "localhost";
	size_t n = strlen(name), w = sizeof(word) - 1;

	return n >= w && strcasecmp(name + n - w, word) == 0 &&
	    (n == w || name[n - w - 1] == '.');
}

static bool
is_in_list(const char *name, const char *list)
{
	size_t n = strlen(name), word;

	for (; list != NULL && *list != '\0'; list += word) {
		list += *list == ',';
		word = strcspn(list, ",");
		if (word == n && strncasecmp(list, name, n) == 0)
			return true;
	}
	return false;
}

bool
http_host_is_own(const char *host, const char *own, const char *more)
{
	char name[256];
	struct in_addr a4;
	struct in6_addr a6;
	size_t n;

	if (*host == '[') {
		n = strcspn(++host, "]");
		if (host[n] != ']' ||
		    (host[n + 1] != '\0' && host[n + 1] != ':'))
			return false;
	} else {
		n = strcspn(host, ":");
	}
	if (n == 0 || n >= sizeof(name))
		return false;
	memcpy(name, host, n);
	name[n] = '\0';
	if (host[n] == ']')
		return inet_pton(AF_INET6, name, &a6) == 1;
	if (inet_pton(AF_INET, name, &a4) == 1)
		return true;
	if (name[n - 1] == '.')
		name[n - 1] = '\0';
	return is_localhost(name) || strcasecmp(name, own) == 0 ||
	    is_in_list(name, more);
}
