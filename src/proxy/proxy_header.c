/* proxy_header.c: sixteen bytes and two addresses. */
#include "config.h"

#include <string.h>
#include <sys/socket.h>

#include "proxy/proxy_header.h"

enum {
	LOCAL = 0x20,
	PROXY = 0x21,
	UDP4 = 0x12,
	UDP6 = 0x22,
	FIXED = 16,
	SIGNATURE = 12
};

static char *
put(char *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

static char *
put16(char *at, unsigned n)
{
	at[0] = (char)(n >> 8);
	at[1] = (char)n;
	return at + 2;
}

size_t
proxy_header_datagram(char header[PROXY_HEADER_MAX], const struct peer *client,
    const struct peer *local)
{
	bool ip = client->family == AF_INET || client->family == AF_INET6;
	bool v4 = client->family == AF_INET && peer_is_ip4(local);
	size_t size = v4 ? 4 : 16, skip = 16 - size;
	char *at = put(header, "\r\n\r\n\0\r\nQUIT\n", SIGNATURE);

	*at++ = ip ? PROXY : LOCAL;
	*at++ = ip ? (v4 ? UDP4 : UDP6) : 0;
	at = put16(at, ip ? (unsigned)(2 * size + 4) : 0);
	if (!ip)
		return FIXED;
	at = put(at, client->ip + skip, size);
	at = put(at, local->ip + skip, size);
	at = put16(at, client->port);
	at = put16(at, local->port);
	return (size_t)(at - header);
}
