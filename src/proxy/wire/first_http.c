/* first_http.c: the host that a request of HTTP/1 is for (RFC 9112, 3.2).
 *
 *     GET http://HOST/ HTTP/1.1      a target with a host names it,
 *     Host: HOST                     else this header does, alone
 *
 * Strict: lines end with CR LF, none begins with a space, names of headers end
 * at their colon, Host comes at most once. */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "proxy/wire/first.h"

/* A line without its CR LF; bytes NULL: it is not complete. */
struct line {
	const char *bytes;
	size_t n;
	bool wrong; /* a CR or LF alone, or a NUL */
};

static struct line
next_line(const char **bytes, size_t *n)
{
	const char *end = memchr(*bytes, '\n', *n);
	struct line l = { .bytes = NULL };
	size_t length;

	if (end == NULL)
		return l;
	length = (size_t)(end - *bytes);
	l.bytes = *bytes;
	l.n = length > 0 ? length - 1 : 0;
	l.wrong = length == 0 || end[-1] != '\r' ||
	    memchr(l.bytes, '\r', l.n) != NULL ||
	    memchr(l.bytes, '\0', l.n) != NULL;
	*bytes += length + 1;
	*n -= length + 1;
	return l;
}

/* HOST[:PORT] */
static bool
set_host(struct first *f, const char *at, size_t n)
{
	size_t host = n;

	while (host > 0 && at[host - 1] >= '0' && at[host - 1] <= '9')
		host--;
	if (host > 0 && at[host - 1] == ':')
		n = host - 1;
	return first_set_name(f->host, at, n);
}

/* The host of a target: "http://HOST/..", or for CONNECT "HOST:PORT". Returns
 * false when there should be one and is not. */
static bool
read_target(
    const char *method, size_t m, const char *target, size_t n, struct first *f)
{
	const char *at, *end = target + n, *slash;

	if (m == 7 && memcmp(method, "CONNECT", 7) == 0)
		return set_host(f, target, n);
	if (target[0] == '/' || (n == 1 && target[0] == '*'))
		return true;
	if (n > 7 && strncasecmp(target, "http://", 7) == 0)
		at = target + 7;
	else if (n > 8 && strncasecmp(target, "https://", 8) == 0)
		at = target + 8;
	else
		return false;
	for (slash = at; slash < end && strchr("/?", *slash) == NULL;)
		slash++;
	return set_host(f, at, (size_t)(slash - at));
}

/* METHOD SP TARGET SP HTTP/1.x */
static bool
read_request_line(const struct line *l, struct first *f)
{
	const char *end = l->bytes + l->n, *version = end - 9, *target;

	if (l->wrong || l->n < 9 || memcmp(version, " HTTP/1.", 8) != 0)
		return false;
	target = memchr(l->bytes, ' ', l->n);
	if (target == l->bytes || target >= version - 1 ||
	    memchr(target + 1, ' ', (size_t)(version - target - 1)) != NULL)
		return false;
	return read_target(l->bytes, (size_t)(target - l->bytes), target + 1,
	    (size_t)(version - target - 1), f);
}

static bool
first_http_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Reads a header. The first Host is kept in `host`. */
static bool
read_header(const struct line *l, struct line *host)
{
	const char *colon = memchr(l->bytes, ':', l->n);
	size_t name;

	if (l->wrong || colon == NULL || colon == l->bytes ||
	    first_http_is_blank(l->bytes[0]) || first_http_is_blank(colon[-1]))
		return false;
	name = (size_t)(colon - l->bytes);
	if (name != 4 || strncasecmp(l->bytes, "host", 4) != 0)
		return true;
	if (host->bytes != NULL)
		return false;
	*host = (struct line){ colon + 1, l->n - name - 1, false };
	while (host->n > 0 && first_http_is_blank(host->bytes[0])) {
		host->bytes++;
		host->n--;
	}
	while (host->n > 0 && first_http_is_blank(host->bytes[host->n - 1]))
		host->n--;
	return true;
}

static enum first_verdict
first_http_wrong(struct first *f)
{
	f->host[0] = '\0';
	return FIRST_WRONG;
}

/* An empty Host is one of a target without a host. */
enum first_verdict
first_http(const char *bytes, size_t n, struct first *f)
{
	struct line l = next_line(&bytes, &n), host = { .bytes = NULL };

	if (l.bytes == NULL)
		return FIRST_MORE;
	if (!read_request_line(&l, f))
		return first_http_wrong(f);
	for (;;) {
		l = next_line(&bytes, &n);
		if (l.bytes == NULL)
			return FIRST_MORE;
		if (!l.wrong && l.n == 0)
			break;
		if (!read_header(&l, &host))
			return first_http_wrong(f);
	}
	if (host.bytes != NULL && host.n > 0 && f->host[0] == '\0' &&
	    !set_host(f, host.bytes, host.n))
		return first_http_wrong(f);
	return FIRST_KNOWN;
}
