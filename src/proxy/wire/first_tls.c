/* first_tls.c: the names in a ClientHello (RFC 8446, 4.1.2; RFC 5246, 7.4.1.2).
 *
 *     records:  type 22, version, length | fragment     one or several
 *     message:  1, length | version, random, session id, cipher suites,
 *               compression methods, extensions
 *
 * Strict: all lengths fit exactly, no extension that is read comes twice.
 * GREASE (RFC 8701) is passed over like all that is not known. */
#include "config.h"

#include <string.h>

#include "proxy/wire/first.h"

enum {
	RECORD_HEAD = 5,
	RECORD_HANDSHAKE = 22,
	RECORD_LENGTH_MAX = 16384,
	MESSAGE_HEAD = 4,
	CLIENT_HELLO = 1,
	EXTENSION_SERVER_NAME = 0,
	EXTENSION_ALPN = 16
};

/* What is left to be read. */
struct span {
	const unsigned char *at;
	size_t n;
};

static size_t
get_number(const unsigned char *at, unsigned width)
{
	size_t x = 0;

	while (width-- > 0)
		x = x << 8 | *at++;
	return x;
}

/* ---- records ---- */

/* Puts the fragments of the records together. Returns how many bytes of the
 * message are there, or -1: these are no records of a handshake. */
static long
join_records(const char *bytes, size_t n, unsigned char message[FIRST_MAX])
{
	const unsigned char *r = (const unsigned char *)bytes;
	size_t length, joined = 0;

	while (n >= RECORD_HEAD) {
		length = get_number(r + 3, 2);
		if (r[0] != RECORD_HANDSHAKE || r[1] != 3 || length == 0 ||
		    length > RECORD_LENGTH_MAX)
			return -1;
		r += RECORD_HEAD;
		n -= RECORD_HEAD;
		if (length > n)
			length = n;
		memcpy(message + joined, r, length);
		joined += length;
		r += length;
		n -= length;
		/* what comes after the message is not the hello's */
		if (joined >= MESSAGE_HEAD &&
		    joined >= MESSAGE_HEAD + get_number(message + 1, 3))
			break;
	}
	return (long)joined;
}

/* ---- the message ---- */

/* Takes `n` bytes, or returns false. */
static bool
first_tls_take(struct span *from, size_t n, struct span *taken)
{
	if (n > from->n)
		return false;
	*taken = (struct span){ from->at, n };
	from->at += n;
	from->n -= n;
	return true;
}

/* Takes a vector behind its length, which has `width` bytes. */
static bool
take_vector(struct span *from, unsigned width, struct span *taken)
{
	struct span length;

	return first_tls_take(from, width, &length) &&
	    first_tls_take(from, get_number(length.at, width), taken);
}

/* One name of type 0, a host; of other types none are known. */
static bool
read_server_name(struct span data, struct first *f)
{
	struct span list, type, name;

	if (f->sni[0] != '\0' || !take_vector(&data, 2, &list) || data.n > 0)
		return false;
	while (list.n > 0) {
		if (!first_tls_take(&list, 1, &type) ||
		    !take_vector(&list, 2, &name))
			return false;
		if (type.at[0] == 0 &&
		    (f->sni[0] != '\0' ||
			!first_set_name(f->sni, (const char *)name.at, name.n)))
			return false;
	}
	return f->sni[0] != '\0';
}

static bool
read_alpn(struct span data, struct first *f)
{
	struct span list, name;

	if (f->alpn_length > 0 || !take_vector(&data, 2, &list) || data.n > 0 ||
	    list.n == 0)
		return false;
	while (list.n > 0) {
		if (!take_vector(&list, 1, &name) || name.n == 0)
			return false;
		if (f->alpn_length + 1 + name.n > FIRST_ALPN)
			continue;
		memcpy(f->alpn + f->alpn_length, name.at - 1, name.n + 1);
		f->alpn_length += name.n + 1;
	}
	return true;
}

static bool
read_extensions(struct span list, struct first *f)
{
	struct span type, data;

	while (list.n > 0) {
		if (!first_tls_take(&list, 2, &type) ||
		    !take_vector(&list, 2, &data))
			return false;
		if (get_number(type.at, 2) == EXTENSION_SERVER_NAME &&
		    !read_server_name(data, f))
			return false;
		if (get_number(type.at, 2) == EXTENSION_ALPN &&
		    !read_alpn(data, f))
			return false;
	}
	return true;
}

/* Extensions may be missing as a whole (RFC 5246). */
static bool
read_hello(struct span hello, struct first *f)
{
	struct span fixed, session, suites, methods, extensions;

	if (!first_tls_take(&hello, 2 + 32, &fixed) || fixed.at[0] != 3 ||
	    !take_vector(&hello, 1, &session) || session.n > 32 ||
	    !take_vector(&hello, 2, &suites) || suites.n < 2 ||
	    suites.n % 2 != 0 || !take_vector(&hello, 1, &methods) ||
	    methods.n == 0)
		return false;
	if (hello.n == 0)
		return true;
	return take_vector(&hello, 2, &extensions) && hello.n == 0 &&
	    read_extensions(extensions, f);
}

enum first_verdict
first_tls(const char *bytes, size_t n, struct first *f)
{
	unsigned char message[FIRST_MAX];
	enum first_protocol protocol = f->protocol;
	size_t length;
	long joined;

	if (n > FIRST_MAX)
		n = FIRST_MAX;
	joined = join_records(bytes, n, message);
	if (joined < 0 || (joined > 0 && message[0] != CLIENT_HELLO))
		return FIRST_WRONG;
	if (joined < MESSAGE_HEAD)
		return FIRST_MORE;
	length = get_number(message + 1, 3);
	if ((size_t)joined < MESSAGE_HEAD + length)
		return FIRST_MORE;
	if (read_hello((struct span){ message + MESSAGE_HEAD, length }, f))
		return FIRST_KNOWN;
	*f = (struct first){ .protocol = protocol };
	return FIRST_WRONG;
}
