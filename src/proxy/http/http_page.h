/* http_page.h: the answers that pen gives itself. Pure. */
#ifndef PEN_PROXY_HTTP_PAGE_H
#define PEN_PROXY_HTTP_PAGE_H

#include <stdbool.h>
#include <stddef.h>

/* A status of our own: 400 for HTTP where TLS is expected. */
enum { HTTP_PAGE_MAX = 512, HTTP_PAGE_NO_TLS = 1400 };

/* Writes the answer of that status (400, 403, 408, 417, 431, 501 to 505),
 * to HEAD without its body; after it the connection ends. Returns how many
 * bytes it is. */
size_t http_page(char page[HTTP_PAGE_MAX], unsigned status, bool head);

#endif
