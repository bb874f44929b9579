/* http_first.h: the first bytes of a client, as HTTP/1 (RFC 9112): what may be
 * done with the connection, and with the request. */
#ifndef PEN_PROXY_HTTP_FIRST_H
#define PEN_PROXY_HTTP_FIRST_H

#include <stddef.h>

enum http_first {
	/* Something else, or a request whose header is not complete; or the
	 * connection is to become another protocol (CONNECT, Upgrade). */
	HTTP_FIRST_OTHER,
	/* A request: requests and answers follow one another. */
	HTTP_FIRST_REQUEST,
	/* One whole request and no byte more, of a safe method (RFC 9110,
	 * 9.2.1) and without a body: a server that gets it twice does nothing
	 * twice. */
	HTTP_FIRST_REPEATABLE
};

enum http_first http_first_of(const char *bytes, size_t n);

#endif
