/* first.c: the first bytes of a client: which reader they are for, and what is
 * kept of them. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/wire/first.h"

enum first_verdict
first_read(const char *bytes, size_t n, const struct first_wants *wants,
    struct first *f)
{
	*f = (struct first){ .protocol = FIRST_UNKNOWN };
	if (first_protocol(bytes, n, &f->protocol) == FIRST_MORE)
		return FIRST_MORE;
	if (f->protocol == FIRST_TLS && wants->hello)
		return first_tls(bytes, n, f);
	if (f->protocol == FIRST_HTTP && wants->host)
		return first_http(bytes, n, f);
	return FIRST_KNOWN;
}

/* ---- names ---- */

static bool
is_name_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool
is_bracketed(const char *name, size_t n)
{
	size_t i;

	if (n < 4 || name[0] != '[' || name[n - 1] != ']')
		return false;
	for (i = 1; i < n - 1; i++)
		if (strchr("0123456789abcdefABCDEF:.", name[i]) == NULL ||
		    name[i] == '\0')
			return false;
	return true;
}

static bool
is_name(const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!is_name_letter(name[i]) &&
		    (name[i] != '.' || i == 0 || name[i - 1] == '.'))
			return false;
	return n > 0 && name[n - 1] != '.';
}

bool
first_set_name(char to[FIRST_NAME], const char *name, size_t n)
{
	size_t i;

	if (n > 1 && name[n - 1] == '.')
		n--;
	if (n >= FIRST_NAME || (!is_name(name, n) && !is_bracketed(name, n)))
		return false;
	for (i = 0; i < n; i++)
		to[i] = lower(name[i]);
	to[n] = '\0';
	return true;
}

/* ---- packed ---- */

/* bytes[]: the three, one after the other, without NULs. */
struct first_packed {
	uint16_t alpn;
	uint8_t protocol, sni, host;
	unsigned char bytes[];
};

struct first_packed *
first_pack(const struct first *f)
{
	size_t sni = strlen(f->sni), host = strlen(f->host);
	struct first_packed *p =
	    malloc(sizeof(*p) + sni + host + f->alpn_length);

	if (p == NULL)
		return NULL;
	p->protocol = (uint8_t)f->protocol;
	p->sni = (uint8_t)sni;
	p->host = (uint8_t)host;
	p->alpn = (uint16_t)f->alpn_length;
	memcpy(p->bytes, f->sni, sni);
	memcpy(p->bytes + sni, f->host, host);
	memcpy(p->bytes + sni + host, f->alpn, f->alpn_length);
	return p;
}

void
first_unpack(const struct first_packed *p, struct first *f)
{
	const unsigned char *at = p->bytes;

	f->protocol = (enum first_protocol)p->protocol;
	memcpy(f->sni, at, p->sni);
	f->sni[p->sni] = '\0';
	at += p->sni;
	memcpy(f->host, at, p->host);
	f->host[p->host] = '\0';
	at += p->host;
	memcpy(f->alpn, at, p->alpn);
	f->alpn_length = p->alpn;
}

const char *
first_protocol_name(enum first_protocol p)
{
	static const char *const names[] = {
		[FIRST_UNKNOWN] = "unknown",
		[FIRST_SILENT] = "silent",
		[FIRST_TLS] = "tls",
		[FIRST_SSH] = "ssh",
		[FIRST_HTTP] = "http",
		[FIRST_POSTGRES] = "postgres",
	};

	return names[p];
}
