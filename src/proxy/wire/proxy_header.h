/* proxy_header.h: the PROXY protocol, versions 1 and 2 (proxy-protocol.txt of
 * HAProxy, sections 2.1 and 2.2): the address of a client, sent to its server
 * in front of all else. Pure: bytes in, fields out, and back.
 *
 *     PROXY TCP4 192.0.2.1 192.0.2.2 40000 443\r\n            version 1
 *     signature, command, family, length, addresses, TLVs     version 2
 *
 * TLVs (type, length, value) have more of the client: the server name in TLS
 * (SNI), the protocol (ALPN), its TLS, a number of the connection. */
#ifndef PEN_PROXY_PROXY_HEADER_H
#define PEN_PROXY_PROXY_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/addr.h"

enum {
	/* The longest header that is written. */
	PROXY_HEADER_MAX = 2048,
	/* The longest that is written in front of a datagram. */
	PROXY_HEADER_DATAGRAM = 16 + 36,
	/* The longest that is read; version 1 has 107 bytes at most. */
	PROXY_HEADER_READ = 16 * 1024,
	/* The values of TLVs at most: a unique id, other texts. */
	PROXY_ID_MAX = 128,
	PROXY_TEXT_MAX = 255
};

enum proxy_version { PROXY_OFF, PROXY_V1, PROXY_V2 };

/* Some bytes of another owner; n 0: there are none. */
struct proxy_text {
	const char *at;
	size_t n;
};

/* PP2_TYPE_SSL: how the client talks TLS. */
struct proxy_tls {
	bool on;
	bool certificate; /* it has shown one, */
	bool resumed;	  /* on the connection of which this resumes the TLS */
	uint32_t verified;     /* 0: its certificate was verified */
	struct proxy_text version, cipher;
	struct proxy_text name; /* the common name of its certificate */
};

/* The contents of a header. Without addresses (LOCAL, UNKNOWN, UNSPEC) the
 * peers have family 0: those of the connection apply. Unix clients have
 * AF_UNIX; of their paths nothing is kept. */
struct proxy_header {
	struct peer client, server; /* its address, and where it connected to */
	struct proxy_text sni, alpn, id;
	struct proxy_tls tls;
	bool datagram;
};

/* Reads the header that `bytes` begin with, of a connection or, if
 * `h->datagram`, of a datagram, which has version 2. Returns how many bytes it
 * has; 0 when more must come first, all of which, too, belongs to the header;
 * -1 when it is wrong, with a short message in *why. Never reads beyond `n`,
 * and refuses what is longer than PROXY_HEADER_READ. Texts in `h` point into
 * `bytes`. */
ssize_t proxy_header_read(
    struct proxy_header *h, const char *bytes, size_t n, const char **why);

/* Writes a header of a version; what does not fit into the limits above is left
 * out. Version 1 has only addresses. Of clients without an IP address, such as
 * those of Unix sockets, it has LOCAL, or UNKNOWN, and no more. Returns how
 * many bytes it has. */
size_t proxy_header_write(char header[PROXY_HEADER_MAX],
    enum proxy_version version, const struct proxy_header *h);

/* The same in version 2 of a datagram from `client` to `local`, of which the
 * port counts too. */
size_t proxy_header_datagram(char header[PROXY_HEADER_DATAGRAM],
    const struct peer *client, const struct peer *local);

#endif
