/* http_sticky.h: the cookie by which a client comes back to its server: the
 * server's digest (pool/server/digest.h) in 16 hexadecimal digits. Pure. */
#ifndef PEN_PROXY_HTTP_STICKY_H
#define PEN_PROXY_HTTP_STICKY_H

#include "proxy/http/http_request.h"

/* Bytes of a cookie's name, with its NUL; of the line that sets it. */
enum { HTTP_COOKIE_NAME = 65, HTTP_STICKY_LINE = 160 };

/* What few sessions have: those whose client may bring the cookie. */
struct http_sticky {
	struct http_head head; /* of its first request, as far as it is here */
	uint64_t digest;       /* of the cookie; 0: none, or not valid */
	uint64_t given;	       /* that `line` sets; 0: none */
	char line[HTTP_STICKY_LINE]; /* that sets another one */
};

/* Whether that may be the name of a cookie (RFC 6265, 4.1.1: a token). */
bool http_cookie_name_is_valid(const char *name);
/* The digest in a value, or 0. */
uint64_t http_sticky_digest(const char *value);
/* Writes Set-Cookie with its CRLF. The cookie lasts as long as the browser
 * runs, is sent to the whole site, and no script of a page sees it. */
void http_sticky_set(char line[HTTP_STICKY_LINE], const char *name,
    uint64_t digest, bool secure);

#endif
