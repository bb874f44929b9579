/* http_forwarded.h: the header fields with the client address. Pure. */
#ifndef PEN_PROXY_HTTP_FORWARDED_H
#define PEN_PROXY_HTTP_FORWARDED_H

#include "base/addr.h"
#include "proxy/http/http_requests.h"

/* Writes X-Forwarded-Proto and X-Forwarded-For, and with `standard` also
 * Forwarded (RFC 7239), each with its CRLF. A client without an address is
 * "unknown" (RFC 7239, 6.2). Returns how many bytes they are; the first,
 * X-Forwarded-Proto, has *proto of them. */
size_t http_forwarded_lines(char lines[HTTP_ADDED_MAX],
    const struct peer *client, bool tls, bool standard, size_t *proto);

#endif
