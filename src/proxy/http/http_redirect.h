/* http_redirect.h: the answer that sends a client of plain HTTP to HTTPS: 308,
 * so that it repeats method and body there (RFC 9110, 15.4.9). Pure. */
#ifndef PEN_PROXY_HTTP_REDIRECT_H
#define PEN_PROXY_HTTP_REDIRECT_H

#include "base/buffer.h"
#include "proxy/wire/first.h"

enum { HTTP_REDIRECT_PORT = 443 }; /* that no address has to name */

/* Reads the beginning of a request, of which `n` bytes are there, and appends
 * the answer: to the same host and path, at that port. FIRST_WRONG: it is no
 * request, or names no host or no path, or there is no memory; nothing is
 * appended. */
enum first_verdict http_redirect(
    const char *bytes, size_t n, unsigned port, struct buffer *answer);

#endif
