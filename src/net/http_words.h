/* http_words.h: reads the header of a request for a page. Pure. */
#ifndef PEN_NET_HTTP_WORDS_H
#define PEN_NET_HTTP_WORDS_H

#include <stdbool.h>

/* The quality that Accept gives to a media type that it names itself, in
 * thousandths (RFC 9110, 12.4.2 and 12.5.1); 0: it does not want it, or does
 * not name it. NULL is no Accept. */
unsigned http_quality(const char *accept, const char *type);

/* Whether Host is no name that a stranger may have given to our address: an IP
 * address, "localhost" and what is below it, `own`, or one of `more`, names
 * with commas, or NULL; a port may follow. */
bool http_host_is_own(const char *host, const char *own, const char *more);

#endif
