/* first_protocol.c: which protocol first bytes are of. */
#include "config.h"

#include <string.h>

#include "proxy/wire/first.h"

/* The verdict of one protocol: the bytes are of it; they may become so; they
 * are not. */
enum claim { CLAIM_NO, CLAIM_PERHAPS, CLAIM_YES };

static unsigned
at(const char *bytes, size_t i)
{
	return (unsigned char)bytes[i];
}

/* A record of a handshake, whose first message is a ClientHello. */
static enum claim
claim_tls(const char *bytes, size_t n)
{
	if ((n > 0 && at(bytes, 0) != 22) || (n > 1 && at(bytes, 1) != 3) ||
	    (n > 2 && at(bytes, 2) > 4))
		return CLAIM_NO;
	if (n > 4 && (at(bytes, 3) << 8 | at(bytes, 4)) - 1u >= 16384)
		return CLAIM_NO;
	if (n < 6)
		return CLAIM_PERHAPS;
	return at(bytes, 5) == 1 ? CLAIM_YES : CLAIM_NO;
}

static enum claim
claim_ssh(const char *bytes, size_t n)
{
	size_t seen = n < 4 ? n : 4;

	if (memcmp(bytes, "SSH-", seen) != 0)
		return CLAIM_NO;
	return seen == 4 ? CLAIM_YES : CLAIM_PERHAPS;
}

/* Messages that may be first have a length and a code (PostgreSQL, "Message
 * Formats"): StartupMessage has version 3 there, CancelRequest, SSLRequest and
 * GSSENCRequest have 1234 and their number. */
static enum claim
claim_postgres(const char *bytes, size_t n)
{
	static const unsigned char request[] = { 0x04, 0xd2, 0x16 };
	unsigned length;

	if ((n > 0 && at(bytes, 0) != 0) || (n > 1 && at(bytes, 1) != 0))
		return CLAIM_NO;
	if (n < 8)
		return CLAIM_PERHAPS;
	length = at(bytes, 2) << 8 | at(bytes, 3);
	if (at(bytes, 4) == 0 && at(bytes, 5) == 3)
		return length >= 8 && length <= 10000 ? CLAIM_YES : CLAIM_NO;
	if (memcmp(bytes + 4, request, sizeof(request)) != 0)
		return CLAIM_NO;
	if (at(bytes, 7) == 46) /* with a key, which may be long */
		return length >= 16 && length <= 268 ? CLAIM_YES : CLAIM_NO;
	return (at(bytes, 7) == 47 || at(bytes, 7) == 48) && length == 8
	    ? CLAIM_YES
	    : CLAIM_NO;
}

static bool
is_token(unsigned c)
{
	return c > ' ' && c < 0x7f &&
	    strchr("\"(),/:;<=>?@[\\]{}", (int)c) == NULL;
}

/* Whether a line that has ended is a request line, by its last word after a
 * target. */
static enum claim
claim_version(const char *line, size_t n)
{
	static const char version[] = " HTTP/";
	const char *v;

	if (n > 0 && line[n - 1] == '\r')
		n--;
	if (n < 9 + 1)
		return CLAIM_NO;
	v = line + n - 9;
	return memcmp(v, version, 6) == 0 && v[6] >= '0' && v[6] <= '9' &&
		v[7] == '.' && v[8] >= '0' && v[8] <= '9'
	    ? CLAIM_YES
	    : CLAIM_NO;
}

/* A token, a space, printable bytes, and HTTP/x.y at the end of the line: other
 * protocols have lines that begin with a word, too. */
static enum claim
claim_http(const char *bytes, size_t n)
{
	size_t i, method = 0;

	while (method < n && is_token(at(bytes, method)))
		method++;
	if (method == n)
		return CLAIM_PERHAPS;
	if (method == 0 || bytes[method] != ' ')
		return CLAIM_NO;
	for (i = method + 1; i < n; i++) {
		if (bytes[i] == '\n')
			return claim_version(
			    bytes + method + 1, i - method - 1);
		if (at(bytes, i) < ' ' && bytes[i] != '\r')
			return CLAIM_NO;
	}
	return CLAIM_PERHAPS;
}

enum first_verdict
first_protocol(const char *bytes, size_t n, enum first_protocol *protocol)
{
	static const struct {
		enum first_protocol protocol;
		enum claim (*claim)(const char *bytes, size_t n);
	} readers[] = {
		{ FIRST_TLS, claim_tls },
		{ FIRST_SSH, claim_ssh },
		{ FIRST_POSTGRES, claim_postgres },
		{ FIRST_HTTP, claim_http },
	};
	bool perhaps = false;
	size_t i;

	*protocol = FIRST_UNKNOWN;
	if (n == 0)
		return FIRST_MORE;
	for (i = 0; i < sizeof(readers) / sizeof(*readers); i++) {
		enum claim c = readers[i].claim(bytes, n);

		if (c == CLAIM_YES) {
			*protocol = readers[i].protocol;
			return FIRST_KNOWN;
		}
		perhaps |= c == CLAIM_PERHAPS;
	}
	return perhaps ? FIRST_MORE : FIRST_KNOWN;
}
