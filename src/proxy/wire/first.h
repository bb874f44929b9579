/* first.h: what the first bytes of a client contain: its protocol, the name of
 * the server that it wants, the protocols that it offers inside of TLS.
 *
 *     16 03 01 .. 01   TLS: a ClientHello (RFC 8446, 4.1.2; RFC 6066, 3; 7301)
 *     SSH-             SSH (RFC 4253, 4.2)
 *     GET / HTTP/1.1   HTTP/1 and, as "PRI * HTTP/2.0", HTTP/2 (RFC 9112, 9113)
 *     00 00 00 08 ..   PostgreSQL: SSLRequest, StartupMessage and their kin
 *
 * The functions see all bytes so far, from the first one on, each time, and
 * read them strictly: what two readers could understand differently has no
 * name. Pure, and bounded by FIRST_MAX. */
#ifndef PEN_PROXY_FIRST_H
#define PEN_PROXY_FIRST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FIRST_MAX = 16 * 1024, /* bytes that are read before the decision */
	FIRST_NAME = 256,      /* of a host, with its NUL (RFC 1035, 2.3.4) */
	FIRST_ALPN = 256       /* bytes of the client's list that are kept */
};

/* The client's protocol; silence: its clients wait for the server to send
 * first. */
enum first_protocol {
	FIRST_UNKNOWN,
	FIRST_SILENT,
	FIRST_TLS,
	FIRST_SSH,
	FIRST_HTTP,
	FIRST_POSTGRES
};

enum first_verdict {
	FIRST_MORE,  /* more bytes decide */
	FIRST_KNOWN, /* they are complete */
	FIRST_WRONG  /* not what they began as: nothing in them counts */
};

/* What is known of a client; all zero at first. */
struct first {
	enum first_protocol protocol;
	char sni[FIRST_NAME];  /* lower case, without a last dot; "": none */
	char host[FIRST_NAME]; /* the same, without a port */
	/* Names after a byte with their length, whole ones as far as there is
	 * room. */
	unsigned char alpn[FIRST_ALPN];
	size_t alpn_length;
};

/* What is needed of the bytes; without `hello` and `host` only the protocol. */
struct first_wants {
	bool hello; /* the names in a ClientHello */
	bool host;  /* that of a request of HTTP/1 */
};

/* Reads what is wanted of `n` bytes, which may be none, into `f`. With
 * FIRST_WRONG the protocol is what the bytes began as. */
enum first_verdict first_read(const char *bytes, size_t n,
    const struct first_wants *wants, struct first *f);

/* ---- one reader for each protocol ---- */

/* Which protocol the bytes are of. Never FIRST_WRONG. */
enum first_verdict first_protocol(
    const char *bytes, size_t n, enum first_protocol *protocol);
/* The names in a ClientHello, in one record or several. That of ECH is the
 * public one (RFC 9849). */
enum first_verdict first_tls(const char *bytes, size_t n, struct first *f);
/* The host that a request is for: of its target, or its header Host. */
enum first_verdict first_http(const char *bytes, size_t n, struct first *f);

/* Copies the name of a host in lower case and drops a last dot. Returns false
 * when it is none: letters, digits, ".", "-" and "_" in labels that are not
 * empty; an IPv6 address in brackets. */
bool first_set_name(char to[FIRST_NAME], const char *name, size_t n);

/* ---- kept with a session ---- */

/* The same in as few bytes as it takes, or NULL (ENOMEM). Freed with free().
 */
struct first_packed *first_pack(const struct first *f);
void first_unpack(const struct first_packed *p, struct first *f);

/* "tls", "ssh" .., "unknown". */
const char *first_protocol_name(enum first_protocol p);

#endif
