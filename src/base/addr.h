/* addr.h: IPv4, IPv6 and Unix socket addresses.
 *
 * `struct addr` holds any socket address, as bind() and connect() take it.
 * `struct peer` is the address of the other end in 24 bytes, so that there can
 * be one for each connection and each remembered client. Host names are looked
 * up elsewhere, in net/resolve. */
#ifndef PEN_BASE_ADDR_H
#define PEN_BASE_ADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct addr {
	socklen_t len; /* of the address below; 0: none */
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} u;
};

/* An IPv4 address is kept IPv4-mapped (RFC 4291, 2.5.5.2), so that a client is
 * the same one through an IPv4 and through a dual-stack listener. Clients on
 * Unix sockets have no address: their family is AF_UNIX and all else zero,
 * until peer_set_owner() sets the process and user. */
struct peer {
	uint8_t ip[16];
	uint32_t scope;	 /* interface of a link-local IPv6 address, else 0 */
	uint16_t port;	 /* host byte order */
	uint16_t family; /* AF_INET (mapped), AF_INET6 or AF_UNIX; 0: none */
};

/* The longest texts addr_format() and peer_format() make, with the NUL. */
enum { ADDR_TEXT_MAX = 128, PEER_TEXT_MAX = 72 };

/* How many bytes of it are in use: an address on the heap is as long as its
 * kind needs, not as the longest. */
static inline size_t
addr_size(const struct addr *a)
{
	return offsetof(struct addr, u) + a->len;
}

/* Parses a numeric IPv4 or IPv6 address (with %scope, without brackets) and
 * puts `port` into it. Returns 0, or -1 if `text` is not a numeric address. */
int addr_parse_ip(struct addr *a, const char *text, uint16_t port);

/* Makes the address of a Unix socket: a path (anything with a '/'), or an
 * abstract name "@name" (Linux, unix(7)). Returns 0, or -1 with errno
 * ENAMETOOLONG when it does not fit into sun_path (never cut short), EINVAL
 * when it is empty or abstract names do not exist here. */
int addr_parse_unix(struct addr *a, const char *path);

/* Whether the word names a Unix socket: it begins with '@' or contains '/'. */
bool addr_is_unix_text(const char *text);

/* Prints "1.2.3.4:80", "[::1]:80", "/path", "@name" into `text`, always
 * NUL-terminated. Returns `text`. */
char *addr_format(const struct addr *a, char text[ADDR_TEXT_MAX]);

/* The address alone, without port and brackets. Returns `text`. */
char *addr_format_host(const struct addr *a, char text[ADDR_TEXT_MAX]);

/* The port in host byte order; 0 for Unix sockets. */
uint16_t addr_port(const struct addr *a);
void addr_set_port(struct addr *a, uint16_t port);
/* Returns `a`, but if that is an IP address with port 0 fills in *copy with the
 * address and `port` and returns `copy`. */
const struct addr *addr_with_port(
    const struct addr *a, uint16_t port, struct addr *copy);

/* Same family, address, scope and port (or path). */
bool addr_equal(const struct addr *a, const struct addr *b);

/* Whether it is the wildcard address of its family (0.0.0.0 or ::). */
bool addr_is_any(const struct addr *a);

/* Whether it is a multicast address, of either family, also IPv4-mapped. */
bool addr_is_multicast(const struct addr *a);
/* The same, or an IPv4 broadcast or reserved address (240.0.0.0 and up). */
bool addr_is_group(const struct addr *a);
/* 127.0.0.0/8, in IPv6 as well, or ::1. */
bool addr_is_loopback(const struct addr *a);

/* Converts an address that accept() or recvfrom() returned. */
void peer_from_addr(struct peer *p, const struct addr *a);
/* The other way: an IPv4 or IPv6 address with its port. */
void addr_from_peer(struct addr *a, const struct peer *p);
/* The process, the user and the group at the other end of a Unix socket. */
struct peer_owner {
	uint32_t pid; /* 0: not known */
	uint32_t uid, gid;
};
/* Makes them stand for its address. */
void peer_set_owner(struct peer *p, const struct peer_owner *owner);
/* The owner, as far as it is known; all zero: nothing is. */
struct peer_owner peer_owner(const struct peer *p);
/* The mask of addresses under which those of one user are the same, or those of
 * one group. */
void peer_owner_mask(uint8_t mask[16], bool group);
/* Prints "1.2.3.4:80" or "[::1]:80"; "unix", or "unix:pid=7,uid=0" after
 * peer_set_owner(). Returns `text`. */
char *peer_format(const struct peer *p, char text[PEER_TEXT_MAX]);
/* The same without port and brackets. */
char *peer_format_host(const struct peer *p, char text[PEER_TEXT_MAX]);
/* Same address, whatever the port. */
bool peer_same_host(const struct peer *a, const struct peer *b);
bool peer_is_ip4(const struct peer *p);
/* Sets the first `bits` bits of a mask for peer.ip and clears the others. */
void peer_prefix_mask(uint8_t mask[16], unsigned bits);

#endif
