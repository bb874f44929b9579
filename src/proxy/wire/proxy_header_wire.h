/* proxy_header_wire.h: the numbers of version 2 of the PROXY protocol, for the
 * writer (proxy_header.c) and the readers (proxy_header_read.c, _tlv.c). */
#ifndef PEN_PROXY_PROXY_HEADER_WIRE_H
#define PEN_PROXY_PROXY_HEADER_WIRE_H

#include "proxy/wire/proxy_header.h"

#define PROXY_SIGNATURE "\r\n\r\n\0\r\nQUIT\n"

enum {
	PROXY_SIGNATURE_SIZE = 12,
	PROXY_FIXED = 16, /* before the addresses */
	PROXY_LOCAL = 0x20,
	PROXY_PROXY = 0x21,
	/* High and low half of a byte: family, transport. */
	PROXY_INET = 0x10,
	PROXY_INET6 = 0x20,
	PROXY_UNIX = 0x30,
	PROXY_STREAM = 0x01,
	PROXY_DGRAM = 0x02,
	/* Bytes of two addresses and ports, or paths. */
	PROXY_INET_SIZE = 12,
	PROXY_INET6_SIZE = 36,
	PROXY_UNIX_SIZE = 2 * 108,
	PROXY_TLV_HEAD = 3,
	PROXY_TLS_HEAD = 5 /* of PP2_TYPE_SSL, before its own TLVs */
};

enum proxy_tlv {
	PROXY_TLV_ALPN = 0x01,
	PROXY_TLV_SNI = 0x02, /* PP2_TYPE_AUTHORITY */
	PROXY_TLV_CRC32C = 0x03,
	PROXY_TLV_ID = 0x05,
	PROXY_TLV_TLS = 0x20,
	PROXY_TLV_TLS_VERSION = 0x21,
	PROXY_TLV_TLS_NAME = 0x22,
	PROXY_TLV_TLS_CIPHER = 0x23
};

/* Bits of PP2_TYPE_SSL. */
enum { PROXY_CLIENT_TLS = 1, PROXY_CERT_NOW = 2, PROXY_CERT_SESSION = 4 };

static inline unsigned
proxy_get16(const char *at)
{
	return (unsigned)(unsigned char)at[0] << 8 | (unsigned char)at[1];
}

static inline uint32_t
proxy_get32(const char *at)
{
	return (uint32_t)proxy_get16(at) << 16 | proxy_get16(at + 2);
}

/* Reads the TLVs of the whole header `header`, `size` bytes, from `from` on.
 * Returns 0, or -1 with a short message. */
int proxy_tlv_read(struct proxy_header *h, const char *header, size_t size,
    size_t from, const char **why);

#endif
