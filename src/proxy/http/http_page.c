/* http_page.c: see http_page.h. */
#include "config.h"

#include <stdio.h>

#include "proxy/http/http_page.h"

static const struct page {
	unsigned status;
	const char *phrase;
	const char *text;
} pages[] = {
	{ 400, "Bad Request", "The request is malformed." },
	{ HTTP_PAGE_NO_TLS, "Bad Request",
	    "This port expects TLS: use an address with https." },
	{ 403, "Forbidden", "Clients with this address are not permitted." },
	{ 408, "Request Timeout", "The request did not arrive in time." },
	{ 417, "Expectation Failed",
	    "The expectation of the request is not supported." },
	{ 431, "Request Header Fields Too Large",
	    "The header of the request is too long." },
	{ 501, "Not Implemented",
	    "The request needs a feature that is not supported." },
	{ 502, "Bad Gateway", "The server did not answer." },
	{ 503, "Service Unavailable",
	    "No server is available. Please try again later." },
	{ 504, "Gateway Timeout", "The server did not answer in time." },
	{ 505, "HTTP Version Not Supported",
	    "HTTP/1.0 and HTTP/1.1 are supported." },
};
enum { PAGES = sizeof(pages) / sizeof(pages[0]) };

size_t
http_page(char page[HTTP_PAGE_MAX], unsigned status, bool head)
{
	const struct page *p = pages;
	char body[HTTP_PAGE_MAX / 2];
	int n;

	while (p->status != status && p < pages + PAGES - 1)
		p++;
	status = p->status % 1000;
	n = snprintf(body, sizeof(body), "%u %s\n\n%s\n", status, p->phrase,
	    p->text);
	return (size_t)snprintf(page, HTTP_PAGE_MAX,
	    "HTTP/1.1 %u %s\r\nContent-Type: text/plain\r\n"
	    "Content-Length: %d\r\nCache-Control: no-store\r\n"
	    "%sConnection: close\r\n\r\n%s",
	    status, p->phrase, n,
	    status == 503 ? "Retry-After: 5\r\n" : "", head ? "" : body);
}
