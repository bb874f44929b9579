/* proxy_header_read.c: headers of either version, from bytes that may be wrong
 * in any way. */
#include "config.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/number.h"
#include "proxy/wire/proxy_header_wire.h"

enum { LINE_MAX_V1 = 107, WORDS = 6 };

/* ---- version 1: one line of words ---- */

/* Splits the line at single blanks. Returns how many words, WORDS + 1 if there
 * are more. */
static int
split(char *line, char *word[WORDS])
{
	int n = 0;

	for (; line != NULL && n < WORDS; n++) {
		word[n] = line;
		line = strchr(line, ' ');
		if (line != NULL)
			*line++ = '\0';
	}
	return line != NULL ? WORDS + 1 : n;
}

static int
read_port(const char *word, uint16_t *port)
{
	uint64_t n;

	if ((word[0] == '0' && word[1] != '\0') ||
	    number_parse(word, 0, UINT16_MAX, &n) < 0)
		return -1;
	*port = (uint16_t)n;
	return 0;
}

static int
read_end(struct peer *p, int family, const char *ip, const char *port)
{
	struct addr a = { .len = 0 };
	uint16_t number;
	void *bytes = family == AF_INET ? (void *)&a.u.in.sin_addr
					: (void *)&a.u.in6.sin6_addr;

	a.u.sa.sa_family = (sa_family_t)family;
	if (inet_pton(family, ip, bytes) != 1 || read_port(port, &number) < 0)
		return -1;
	peer_from_addr(p, &a);
	p->port = number;
	return 0;
}

static int
read_words(struct proxy_header *h, char *line, const char **why)
{
	char *word[WORDS];
	int n = split(line, word), family;

	if (n >= 2 && strcmp(word[1], "UNKNOWN") == 0)
		return 0; /* whatever follows */
	*why = "its line does not have six words";
	if (n != WORDS)
		return -1;
	family = strcmp(word[1], "TCP4") == 0 ? AF_INET
	    : strcmp(word[1], "TCP6") == 0    ? AF_INET6
					      : 0;
	*why = "neither TCP4, TCP6 nor UNKNOWN";
	if (family == 0)
		return -1;
	*why = "an address is invalid, or of another family";
	return read_end(&h->client, family, word[2], word[4]) < 0 ||
		read_end(&h->server, family, word[3], word[5]) < 0
	    ? -1
	    : 0;
}

static ssize_t
read_line(
    struct proxy_header *h, const char *bytes, size_t n, const char **why)
{
	char line[LINE_MAX_V1 + 1];
	size_t most = n < LINE_MAX_V1 ? n : LINE_MAX_V1;
	const char *end = memchr(bytes, '\n', most);
	size_t length;

	*why = "its line is too long";
	if (end == NULL)
		return n < LINE_MAX_V1 ? 0 : -1;
	length = (size_t)(end - bytes) + 1;
	*why = "its line does not end with CR LF";
	if (end[-1] != '\r')
		return -1;
	memcpy(line, bytes, length - 2);
	line[length - 2] = '\0';
	*why = "its line contains a NUL";
	if (strlen(line) != length - 2)
		return -1;
	return read_words(h, line, why) < 0 ? -1 : (ssize_t)length;
}

/* ---- version 2 ---- */

static void
read_ip(struct proxy_header *h, const char *at, int family)
{
	size_t size = family == AF_INET ? 4 : 16;
	struct addr a = { .len = 0 };
	char *bytes = family == AF_INET ? (char *)&a.u.in.sin_addr
					: (char *)&a.u.in6.sin6_addr;

	a.u.sa.sa_family = (sa_family_t)family;
	memcpy(bytes, at, size);
	peer_from_addr(&h->client, &a);
	memcpy(bytes, at + size, size);
	peer_from_addr(&h->server, &a);
	h->client.port = (uint16_t)proxy_get16(at + 2 * size);
	h->server.port = (uint16_t)proxy_get16(at + 2 * size + 2);
}

/* Reads the addresses of `family`, of which there are `n` bytes. Returns how
 * many they have, or -1. */
static int
read_addresses(
    struct proxy_header *h, int family, const char *at, size_t n)
{
	static const int sizes[] = { 0, PROXY_INET_SIZE, PROXY_INET6_SIZE,
		PROXY_UNIX_SIZE };
	int size = sizes[family >> 4];

	if (n < (size_t)size)
		return -1;
	switch (family) {
	case PROXY_INET:
		read_ip(h, at, AF_INET);
		break;
	case PROXY_INET6:
		read_ip(h, at, AF_INET6);
		break;
	case PROXY_UNIX:
		h->client.family = h->server.family = AF_UNIX;
		break;
	default:
		break;
	}
	return size;
}

/* An unspecified transport makes the addresses meaningless (2.2). */
static int
read_body(
    struct proxy_header *h, const char *header, size_t size, const char **why)
{
	int family = header[13] & 0xf0, transport = header[13] & 0x0f;
	int wanted = h->datagram ? PROXY_DGRAM : PROXY_STREAM, used;

	*why = "its family or transport is unknown";
	if (family > PROXY_UNIX || transport > PROXY_DGRAM)
		return -1;
	if (transport == 0 && family != 0)
		return 0;
	*why = h->datagram ? "it is for connections" : "it is for datagrams";
	if (transport != wanted && transport != 0)
		return -1;
	*why = "its addresses are truncated";
	used = read_addresses(
	    h, family, header + PROXY_FIXED, size - PROXY_FIXED);
	return used < 0
	    ? -1
	    : proxy_tlv_read(
		  h, header, size, PROXY_FIXED + (size_t)used, why);
}

static ssize_t
read_binary(
    struct proxy_header *h, const char *bytes, size_t n, const char **why)
{
	size_t size;

	if (n > PROXY_SIGNATURE_SIZE) {
		*why = "its version or command is unknown";
		if (bytes[12] != PROXY_LOCAL && bytes[12] != PROXY_PROXY)
			return -1;
	}
	if (n < PROXY_FIXED)
		return 0;
	size = PROXY_FIXED + proxy_get16(bytes + 14);
	*why = "it is too long";
	if (size > PROXY_HEADER_READ)
		return -1;
	if (n < size)
		return 0;
	if (bytes[12] == PROXY_PROXY && read_body(h, bytes, size, why) < 0)
		return -1;
	return (ssize_t)size;
}

/* ---- either ---- */

/* Whether as many of the bytes as there are begin like that. */
static bool
begins(const char *bytes, size_t n, const char *with, size_t size)
{
	return memcmp(bytes, with, n < size ? n : size) == 0;
}

ssize_t
proxy_header_read(
    struct proxy_header *h, const char *bytes, size_t n, const char **why)
{
	bool datagram = h->datagram;
	ssize_t used;

	*h = (struct proxy_header){ .datagram = datagram };
	*why = "it is missing";
	if (n == 0)
		return datagram ? -1 : 0;
	if (begins(bytes, n, PROXY_SIGNATURE, PROXY_SIGNATURE_SIZE))
		used = read_binary(h, bytes, n, why);
	else if (!datagram && begins(bytes, n, "PROXY ", 6))
		used = read_line(h, bytes, n, why);
	else
		return -1;
	if (used == 0 && datagram) {
		*why = "it is truncated";
		return -1;
	}
	return used;
}
