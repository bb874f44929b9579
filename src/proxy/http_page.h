/* http_page.h: the answers that pen gives itself. Pure. */
#ifndef PEN_PROXY_HTTP_PAGE_H
#define PEN_PROXY_HTTP_PAGE_H

#include <stddef.h>

enum { HTTP_PAGE_MAX = 512 };

/* Writes the answer of that status (400, 408, 431, 502 to 505); behind it the
 * connection ends. Returns how many bytes it is. */
size_t http_page(char page[HTTP_PAGE_MAX], unsigned status);

#endif
