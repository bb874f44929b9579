/* frame_bytes.h: the bytes of headers: big-endian numbers at any address,
 * sizes, checksums, and an IP packet while it is read. */
#ifndef PEN_DSR_FRAME_BYTES_H
#define PEN_DSR_FRAME_BYTES_H

#include "dsr/frame/frame.h"

enum {
	TYPE_IP4 = 0x0800,
	TYPE_ARP = 0x0806,
	TYPE_VLAN = 0x8100,
	TYPE_IP6 = 0x86dd
};
enum { IP4_HEAD = 20, IP6_HEAD = 40, TCP_HEAD = 20, UDP_HEAD = 8 };
enum { ICMP_HEAD = 8, ARP_SIZE = 28, FRAGMENT_HEAD = 8 };
enum { FRAME_HOPS = 64 }; /* of packets we make */
enum { IP4_DONT_FRAGMENT = 0x4000, IP4_MORE = 0x2000, IP4_OFFSET = 0x1fff };
enum { ND_FIRST = 133, ND_SOLICIT = 135, ND_ADVERT = 136, ND_LAST = 137 };
enum { IP4_UNREACHABLE = 3, IP4_TIME = 11, IP4_PARAMETER = 12 };
enum { IP6_TOO_BIG = 2, IP6_ERROR_LAST = 4 };

static inline uint16_t
get16(const unsigned char *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t
get32(const unsigned char *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static inline void
put16(unsigned char *p, uint32_t n)
{
	p[0] = (unsigned char)(n >> 8);
	p[1] = (unsigned char)n;
}

static inline void
put32(unsigned char *p, uint32_t n)
{
	put16(p, n >> 16);
	put16(p + 2, n);
}

/* A sum of words of any width, as they stand in memory, as one of 16 bits. */
static inline uint16_t
sum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + ((sum >> 16) & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/* An IP packet that is read: one that came, or the one an error quotes, which
 * may be cut anywhere and whose lengths do not count. */
struct packet {
	const unsigned char *bytes;
	size_t at, end; /* what there is of it */
	size_t transport;
	size_t part; /* where the content of a fragment begins */
	uint8_t family, protocol;
	bool quoted;
	bool marked; /* has a fragment header, if only for form's sake */
	bool more;
	uint32_t offset, id; /* in bytes; of the fragment */
	const unsigned char *from, *to;
};

/* Reads the headers of IP; `bytes`, `at`, `end`, `family` and `quoted` are set.
 * Corrects `end`. Returns NULL, or what is wrong. */
const char *packet_read(struct packet *p);

/* Whether no host can be answered there: a group, or 255.255.255.255. */
bool ip_is_group(unsigned family, const unsigned char *ip);
void peer_of_ip(struct peer *p, unsigned family, const unsigned char *ip);
/* The 4 or 16 bytes that stand on the wire. */
const unsigned char *ip_of_peer(const struct peer *p);

/* Checksums of RFC 1071: sum_of() adds up, sum_end() is what a header contains;
 * over bytes that include a right checksum it is 0. No part but the last has an
 * odd length. */
uint32_t sum_of(uint32_t sum, const unsigned char *p, size_t n);
uint16_t sum_end(uint32_t sum);
/* The sum of the pseudo-header, with which the checksums of TCP, UDP and ICMPv6
 * of `n` bytes begin. */
uint32_t sum_pseudo(unsigned family, const unsigned char *from,
    const unsigned char *to, unsigned protocol, size_t n);
/* The same for ICMP of either family. */
uint32_t sum_icmp(unsigned family, const unsigned char *from,
    const unsigned char *to, size_t n);

/* Writes the Ethernet header; returns its length. */
size_t make_head(
    unsigned char *out, const struct frame_head *head, unsigned type);
size_t head_size(const struct frame_head *head);

/* An IP header of ours; its version is the family of both addresses. */
struct ip_fields {
	const struct peer *from, *to;
	uint8_t protocol, hops, class;
	bool may_fragment;
	uint16_t id;	/* IPv4, when it may be cut */
	uint32_t label; /* IPv6 */
	size_t content; /* bytes after it */
};

size_t ip_head_size(unsigned family);
/* Ethernet and IP header; returns where the content goes, or 0 when all of it
 * does not fit. */
size_t make_start(unsigned char *out, size_t room,
    const struct frame_head *head, const struct ip_fields *f);

#endif
