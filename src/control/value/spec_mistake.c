/* spec_mistake.c: words that are no host, port or path, and what to write
 * instead. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "control/value/spec.h"
#include "control/value/spec_mistake.h"

/* HOST:PORT/..; a path of a socket has no port before its first slash. */
static int
refuse_path(const char *text, struct error *e)
{
	size_t n = strcspn(text, "/"), at = n;

	while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9')
		at--;
	if (text[n] == '\0' || at == n || at == 0 || text[at - 1] != ':' ||
	    text[0] == '.' || text[0] == '@')
		return 0;
	return error_set(e, "write %.*s, without %.100s",
	    (int)(n < 100 ? n : 100), text, text + n);
}

int
spec_refuse_list(const char *text, struct error *e)
{
	if (strchr(text, ',') == NULL || addr_is_unix_text(text))
		return 0;
	return error_set(
	    e, "several servers are several words, without commas");
}

/* A URL is what other programs take: advises what pen takes of it, a host
 * without a path behind, or a path. */
int
spec_refuse_url(const char *text, struct error *e)
{
	const char *scheme = strstr(text, "://"), *at = NULL;
	size_t n;

	if (scheme != NULL)
		at = scheme + 3;
	else if (strncmp(text, "unix:/", 6) == 0)
		at = text + 5;
	if (at == NULL)
		return refuse_path(text, e);
	n = at[0] == '/' ? strlen(at) : strcspn(at, "/");
	return error_set(e, "write %.*s, without %.*s",
	    (int)(n < 100 ? n : 100), at, (int)(at - text), text);
}

/* The port in ::1:80, which is an address, too, but of no host; else NULL. */
static const char *
port_of_loopback(const char *text)
{
	return strncmp(text, "::1:", 4) == 0 ? text + 4 : NULL;
}

/* The C library takes a number for an address: 8000 would be 0.0.31.64, of a
 * network that no host is in. */
static bool
is_port(const char *host)
{
	uint64_t port;

	return number_parse(host, 1, UINT16_MAX, &port) == 0;
}

int
spec_refuse_port(const char *text, const char *host, struct error *e)
{
	if (port_of_loopback(text) != NULL)
		return error_set(e,
		    "an IPv6 address needs brackets: [::1]:%.20s",
		    port_of_loopback(text));
	if (is_port(host))
		return error_set(
		    e, "a port without a host, such as 127.0.0.1:%.5s", host);
	return 0;
}

/* Brackets, and a port with a colon, are for one word that has both. */
static int
refuse_fields(
    const char *text, const char *host, const char *rest, struct error *e)
{
	const char *port = port_of_loopback(text);

	if (port != NULL)
		return error_set(e, "write address ::1 port %.20s", port);
	if (rest[0] == ':')
		return error_set(
		    e, "write address %.100s port %.20s", host, rest + 1);
	if (text[0] == '[')
		return error_set(e, "write %.100s, without brackets", host);
	if (is_port(host))
		return error_set(e,
		    "a port without a host, such as address 127.0.0.1 port "
		    "%.5s",
		    host);
	return 0;
}

int
spec_check_host(const char *text, struct error *e)
{
	const char *rest;
	char *host;
	int rc;

	if (spec_refuse_url(text, e) < 0 || spec_refuse_list(text, e) < 0)
		return error_of(e, "\"%.100s\"", text);
	if (addr_is_unix_text(text))
		return 0;
	host = spec_split_host(text, &rest, e);
	rc = host != NULL ? refuse_fields(text, host, rest, e) : -1;
	free(host);
	return rc == 0 ? 0 : error_of(e, "\"%.100s\"", text);
}
