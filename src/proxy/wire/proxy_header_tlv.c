/* proxy_header_tlv.c: the fields of a version 2 header after its addresses. */
#include "config.h"

#include "proxy/wire/proxy_header_wire.h"

/* The checksum of those bytes, the four from `skip` on taken as zeros (RFC
 * 9260, appendix A). Four bits at a time: the table stays small, and headers
 * are short. */
static uint32_t
proxy_crc32c(const char *bytes, size_t n, size_t skip)
{
	static const uint32_t table[16] = { 0x00000000, 0x105ec76f, 0x20bd8ede,
		0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
		0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4,
		0xd3d3e1ab, 0xe330a81a, 0xf36e6f75 };
	uint32_t crc = UINT32_MAX;
	size_t i;

	for (i = 0; i < n; i++) {
		if (i < skip || i >= skip + 4)
			crc ^= (unsigned char)bytes[i];
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

struct tlv {
	unsigned type;
	struct proxy_text value;
};

/* Takes the next one of *left, which it shortens. Returns 1, 0 at the end, or
 * -1 when it ends after the bytes. */
static int
next_tlv(struct proxy_text *left, struct tlv *t)
{
	if (left->n == 0)
		return 0;
	if (left->n < PROXY_TLV_HEAD)
		return -1;
	t->type = (unsigned char)left->at[0];
	t->value = (struct proxy_text){ left->at + PROXY_TLV_HEAD,
		proxy_get16(left->at + 1) };
	if (t->value.n > left->n - PROXY_TLV_HEAD)
		return -1;
	left->at += PROXY_TLV_HEAD + t->value.n;
	left->n -= PROXY_TLV_HEAD + t->value.n;
	return 1;
}

/* Two values of one kind contradict each other. */
static int
set_once(struct proxy_text *to, struct proxy_text value, size_t max,
    const char **why)
{
	*why = to->at != NULL ? "a TLV comes twice" : "a TLV is too long";
	if (to->at != NULL || value.n > max)
		return -1;
	*to = value;
	return 0;
}

static int
read_tls_tlv(struct proxy_tls *tls, const struct tlv *t, const char **why)
{
	switch (t->type) {
	case PROXY_TLV_TLS_VERSION:
		return set_once(&tls->version, t->value, PROXY_TEXT_MAX, why);
	case PROXY_TLV_TLS_NAME:
		return set_once(&tls->name, t->value, PROXY_TEXT_MAX, why);
	case PROXY_TLV_TLS_CIPHER:
		return set_once(&tls->cipher, t->value, PROXY_TEXT_MAX, why);
	default:
		return 0;
	}
}

static int
read_tls(struct proxy_header *h, struct proxy_text value, const char **why)
{
	struct proxy_tls *tls = &h->tls;
	struct tlv t;
	int rc, bits;

	*why = "a TLV is truncated";
	if (value.n < PROXY_TLS_HEAD)
		return -1;
	bits = value.at[0];
	tls->on = (bits & PROXY_CLIENT_TLS) != 0;
	tls->resumed = !(bits & PROXY_CERT_NOW);
	tls->certificate = !tls->resumed || bits & PROXY_CERT_SESSION;
	tls->verified = proxy_get32(value.at + 1);
	value.at += PROXY_TLS_HEAD;
	value.n -= PROXY_TLS_HEAD;
	while ((rc = next_tlv(&value, &t)) > 0)
		if (read_tls_tlv(tls, &t, why) < 0)
			return -1;
	*why = "a TLV is truncated";
	return rc;
}

static int
check_crc(struct proxy_text value, const char *header, size_t size,
    const char **why)
{
	*why = "the checksum is wrong";
	return value.n == 4 &&
		proxy_crc32c(header, size, (size_t)(value.at - header)) ==
		    proxy_get32(value.at)
	    ? 0
	    : -1;
}

int
proxy_tlv_read(struct proxy_header *h, const char *header, size_t size,
    size_t from, const char **why)
{
	struct proxy_text left = { header + from, size - from }, tls = { 0 },
			  crc = { 0 };
	struct tlv t;
	int rc, bad = 0;

	while (bad == 0 && (rc = next_tlv(&left, &t)) != 0) {
		*why = "a TLV is truncated";
		if (rc < 0)
			return -1;
		if (t.type == PROXY_TLV_ALPN)
			bad = set_once(&h->alpn, t.value, PROXY_TEXT_MAX, why);
		else if (t.type == PROXY_TLV_SNI)
			bad = set_once(&h->sni, t.value, PROXY_TEXT_MAX, why);
		else if (t.type == PROXY_TLV_ID)
			bad = set_once(&h->id, t.value, PROXY_ID_MAX, why);
		else if (t.type == PROXY_TLV_CRC32C)
			bad = set_once(&crc, t.value, 4, why);
		else if (t.type == PROXY_TLV_TLS)
			bad = set_once(&tls, t.value, size, why);
	}
	if (bad != 0 || (crc.at != NULL && check_crc(crc, header, size, why)))
		return -1;
	return tls.at != NULL ? read_tls(h, tls, why) : 0;
}
