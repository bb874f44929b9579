/* http_forwarded.c: see http_forwarded.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "proxy/http/http_forwarded.h"

/* An address without the interface it is valid on, which means nothing to
 * others. */
static void
format_client(const struct peer *client, char text[PEER_TEXT_MAX])
{
	if (client->family == AF_UNIX || client->family == 0) {
		strcpy(text, "unknown");
		return;
	}
	peer_format_host(client, text);
	text[strcspn(text, "%")] = '\0';
}

size_t
http_forwarded_lines(char lines[HTTP_ADDED_MAX], const struct peer *client,
    bool tls, bool standard, size_t *proto)
{
	const char *scheme = tls ? "https" : "http";
	char who[PEER_TEXT_MAX];
	bool quoted;
	size_t n;

	format_client(client, who);
	quoted = strchr(who, ':') != NULL; /* RFC 7239, 6 */
	*proto = (size_t)snprintf(
	    lines, HTTP_ADDED_MAX, "X-Forwarded-Proto: %s\r\n", scheme);
	n = *proto + (size_t)snprintf(lines + *proto, HTTP_ADDED_MAX - *proto,
			 "X-Forwarded-For: %s\r\n", who);
	if (standard)
		n += (size_t)snprintf(lines + n, HTTP_ADDED_MAX - n,
		    "Forwarded: for=%s%s%s;proto=%s\r\n", quoted ? "\"[" : "",
		    who, quoted ? "]\"" : "", scheme);
	return n;
}
