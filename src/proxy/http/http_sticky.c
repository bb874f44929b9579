/* http_sticky.c: see http_sticky.h. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proxy/http/http_sticky.h"

enum { DIGITS = 16 };

bool
http_cookie_name_is_valid(const char *name)
{
	size_t n = strlen(name);

	return n < HTTP_COOKIE_NAME &&
	    http_is_token((struct http_text){ name, n });
}

static int
digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

uint64_t
http_sticky_digest(const char *value)
{
	uint64_t all = 0;
	int i;

	if (strlen(value) != DIGITS)
		return 0;
	for (i = 0; i < DIGITS; i++) {
		if (digit(value[i]) < 0)
			return 0;
		all = all << 4 | (uint64_t)digit(value[i]);
	}
	return all;
}

void
http_sticky_set(
    char line[HTTP_STICKY_LINE], const char *name, uint64_t digest, bool secure)
{
	snprintf(line, HTTP_STICKY_LINE,
	    "Set-Cookie: %.64s=%016" PRIx64
	    "; Path=/; HttpOnly%s; SameSite=Lax\r\n",
	    name, digest, secure ? "; Secure" : "");
}
