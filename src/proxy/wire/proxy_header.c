/* proxy_header.c: writes headers of the PROXY protocol. */
#include "config.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "proxy/wire/proxy_header_wire.h"

static char *
put_bytes(char *at, const void *bytes, size_t n)
{
	if (n > 0)
		memcpy(at, bytes, n);
	return at + n;
}

static char *
proxy_header_put16(char *at, size_t n)
{
	at[0] = (char)(n >> 8);
	at[1] = (char)n;
	return at + 2;
}

/* ---- version 2 ---- */

static char *
put_tlv(char *at, enum proxy_tlv type, struct proxy_text value, size_t max)
{
	if (value.n == 0 || value.n > max)
		return at;
	*at++ = (char)type;
	return put_bytes(proxy_header_put16(at, value.n), value.at, value.n);
}

static char *
proxy_header_put_tls(char *at, const struct proxy_tls *t)
{
	char *length = at + 1;

	*at = PROXY_TLV_TLS;
	at += PROXY_TLV_HEAD;
	*at++ = (char)(PROXY_CLIENT_TLS |
	    (t->certificate ? PROXY_CERT_SESSION : 0) |
	    (t->certificate && !t->resumed ? PROXY_CERT_NOW : 0));
	at = proxy_header_put16(at, t->verified >> 16);
	at = proxy_header_put16(at, t->verified & 0xffff);
	at = put_tlv(at, PROXY_TLV_TLS_VERSION, t->version, PROXY_TEXT_MAX);
	at = put_tlv(at, PROXY_TLV_TLS_NAME, t->name, PROXY_TEXT_MAX);
	at = put_tlv(at, PROXY_TLV_TLS_CIPHER, t->cipher, PROXY_TEXT_MAX);
	(void)proxy_header_put16(length, (size_t)(at - length) - 2);
	return at;
}

static char *
put_tlvs(char *at, const struct proxy_header *h)
{
	at = put_tlv(at, PROXY_TLV_ALPN, h->alpn, PROXY_TEXT_MAX);
	at = put_tlv(at, PROXY_TLV_SNI, h->sni, PROXY_TEXT_MAX);
	at = put_tlv(at, PROXY_TLV_ID, h->id, PROXY_ID_MAX);
	return h->tls.on ? proxy_header_put_tls(at, &h->tls) : at;
}

static bool
proxy_header_is_ip(const struct peer *p)
{
	return p->family == AF_INET || p->family == AF_INET6;
}

/* Whether both ends can be written as IPv4; else IPv4 is written mapped. */
static bool
are_ip4(const struct proxy_header *h)
{
	return peer_is_ip4(&h->client) && peer_is_ip4(&h->server);
}

static char *
put_ips(char *at, const struct proxy_header *h)
{
	size_t size = are_ip4(h) ? 4 : 16, skip = 16 - size;

	at = put_bytes(at, h->client.ip + skip, size);
	at = put_bytes(at, h->server.ip + skip, size);
	at = proxy_header_put16(at, h->client.port);
	return proxy_header_put16(at, h->server.port);
}

/* Programs that read headers take AF_UNIX, and PROXY without addresses, for an
 * error; they all accept LOCAL. It has no TLVs (2.2). */
static size_t
write_binary(char *header, const struct proxy_header *h)
{
	unsigned family = are_ip4(h) ? PROXY_INET : PROXY_INET6;
	unsigned transport = h->datagram ? PROXY_DGRAM : PROXY_STREAM;
	char *at = put_bytes(header, PROXY_SIGNATURE, PROXY_SIGNATURE_SIZE);

	if (!proxy_header_is_ip(&h->client))
		return (size_t)(put_bytes(at, "\x20\0\0", 4) - header);
	*at++ = PROXY_PROXY;
	*at++ = (char)(family | transport);
	at = put_tlvs(put_ips(at + 2, h), h);
	(void)proxy_header_put16(
	    header + 14, (size_t)(at - header) - PROXY_FIXED);
	return (size_t)(at - header);
}

/* ---- version 1 ---- */

static void
format_ip(char text[INET6_ADDRSTRLEN], const struct peer *p, bool ip4)
{
	inet_ntop(ip4 ? AF_INET : AF_INET6, p->ip + (ip4 ? 12 : 0), text,
	    INET6_ADDRSTRLEN);
}

static size_t
write_line(char *header, const struct proxy_header *h)
{
	char client[INET6_ADDRSTRLEN], server[INET6_ADDRSTRLEN];
	bool ip4 = are_ip4(h);

	if (!proxy_header_is_ip(&h->client))
		return (size_t)snprintf(
		    header, PROXY_HEADER_MAX, "PROXY UNKNOWN\r\n");
	format_ip(client, &h->client, ip4);
	format_ip(server, &h->server, ip4);
	return (size_t)snprintf(header, PROXY_HEADER_MAX,
	    "PROXY TCP%d %s %s %u %u\r\n", ip4 ? 4 : 6, client, server,
	    h->client.port, h->server.port);
}

/* ---- either ---- */

size_t
proxy_header_write(char header[PROXY_HEADER_MAX], enum proxy_version version,
    const struct proxy_header *h)
{
	return version == PROXY_V1 ? write_line(header, h)
				   : write_binary(header, h);
}

size_t
proxy_header_datagram(char header[PROXY_HEADER_DATAGRAM],
    const struct peer *client, const struct peer *local)
{
	const struct proxy_header h = { .client = *client,
		.server = *local,
		.datagram = true };

	return write_binary(header, &h);
}
