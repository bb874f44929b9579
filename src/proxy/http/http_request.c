/* http_request.c: see http_request.h. */
#include "config.h"

#include <string.h>

#include "proxy/http/http_request.h"

static enum http_head_state
http_request_wrong(struct http_head *h, unsigned status, const char *why)
{
	h->status = status;
	h->wrong = why;
	return HTTP_HEAD_WRONG;
}

/* ---- the request line ---- */

static enum http_head_state
take_version(struct http_head *h, struct http_text v)
{
	if (v.length != 8 || memcmp(v.at, "HTTP/", 5) != 0 || v.at[5] < '0' ||
	    v.at[5] > '9' || v.at[6] != '.' || v.at[7] < '0' || v.at[7] > '9')
		return http_request_wrong(h, 400, "no version of HTTP");
	if (v.at[5] != '1' || v.at[7] > '1')
		return http_request_wrong(h, 505, "another version of HTTP");
	h->old = v.at[7] == '0';
	return HTTP_HEAD_MORE;
}

static bool
http_request_is_method(struct http_text method, const char *name)
{
	return method.length == strlen(name) &&
	    memcmp(method.at, name, method.length) == 0;
}

/* scheme://host..., without a user, which must not be there (RFC 9110, 4.2.4).
 * Returns the host, with its port; of length 0: that is not what it is. */
static struct http_text
target_host_of(struct http_text t)
{
	struct http_text host = { t.at, 0 };
	size_t i = 0;

	while (i < t.length && ((t.at[i] | 0x20) >= 'a' &&
				   (t.at[i] | 0x20) <= 'z'))
		i++;
	if (i == 0 || t.length - i < 4 || memcmp(t.at + i, "://", 3) != 0)
		return host;
	host.at = t.at + i + 3;
	for (i += 3; i < t.length && t.at[i] != '/' && t.at[i] != '?'; i++)
		if (t.at[i] == '@')
			return (struct http_text){ t.at, 0 };
	host.length = (size_t)(t.at + i - host.at);
	return host;
}

/* The port of a scheme, by which it is left out (RFC 9110, 4.2). */
static const char *
port_of(struct http_text target)
{
	return http_text_begins(target, "https:") ? "443" : "80";
}

/* host:port (RFC 9112, 3.2.3). */
static bool
is_authority(struct http_text t)
{
	size_t digits = 0;

	while (digits < t.length && t.at[t.length - 1 - digits] >= '0' &&
	    t.at[t.length - 1 - digits] <= '9')
		digits++;
	return digits > 0 && digits + 1 < t.length &&
	    t.at[t.length - 1 - digits] == ':' && http_is_host(t);
}

/* One of the four forms (RFC 9112, 3.2), which goes with the method. Its bytes
 * are checked before. */
static bool
is_target_of(struct http_text target, struct http_text method)
{
	if (http_request_is_method(method, "CONNECT"))
		return is_authority(target);
	if (target.at[0] == '/')
		return true;
	return target.length == 1 && target.at[0] == '*'
	    ? http_request_is_method(method, "OPTIONS")
	    : target_host_of(target).length > 0;
}

/* Notes where the target names a host, for when Host is known. */
static void
note_target_host(struct http_head *h, struct http_text target, bool connect)
{
	struct http_text host = connect ? target : target_host_of(target);

	h->target_host = (size_t)(host.at - h->section);
	h->target_host_length = host.length;
	h->port = connect ? NULL : port_of(target);
}

/* METHOD SP target SP HTTP/1.1 (RFC 9112, 3), with single blanks. */
static enum http_head_state
take_request_line(struct http_head *h, struct http_text line)
{
	const char *end = line.at + line.length, *first, *last = NULL;
	struct http_text method, target;

	h->begun = true;
	first = memchr(line.at, ' ', line.length);
	if (first != NULL)
		last = memchr(first + 1, ' ', (size_t)(end - first) - 1);
	if (last == NULL)
		return http_request_wrong(h, 400, "no request line");
	method = (struct http_text){ line.at, (size_t)(first - line.at) };
	target = (struct http_text){ first + 1, (size_t)(last - first) - 1 };
	if (!http_is_token(method) || !http_is_target(target))
		return http_request_wrong(h, 400, "no request line");
	h->safe = http_request_is_method(method, "GET") ||
	    http_request_is_method(method, "HEAD") ||
	    http_request_is_method(method, "OPTIONS");
	if (http_request_is_method(method, "HEAD"))
		h->kind |= HTTP_KIND_HEAD;
	else if (http_request_is_method(method, "CONNECT"))
		h->kind |= HTTP_KIND_CONNECT;
	if (take_version(h,
		(struct http_text){ last + 1, (size_t)(end - last) - 1 }) ==
	    HTTP_HEAD_WRONG)
		return HTTP_HEAD_WRONG;
	if (!is_target_of(target, method))
		return http_request_wrong(h, 400, "wrong target");
	if (target.at[0] != '/' && target.at[0] != '*')
		note_target_host(h, target, h->kind & HTTP_KIND_CONNECT);
	return HTTP_HEAD_MORE;
}

/* ---- fields ---- */

/* True the first time. */
static bool
is_first(struct http_head *h, enum http_seen which)
{
	bool first = !(h->seen & which);

	h->seen |= which;
	return first;
}

/* Takes ":port" off; what is left is the host. */
static struct http_text
cut_port(struct http_text *host)
{
	size_t n = host->length;
	struct http_text port = { host->at + n, 0 };

	while (n > 0 && host->at[n - 1] >= '0' && host->at[n - 1] <= '9')
		n--;
	if (n == 0 || host->at[n - 1] != ':')
		return port;
	port = (struct http_text){ host->at + n, host->length - n };
	host->length = n - 1;
	return port;
}

/* Whether Host names what the target does, a port that may be left out or not;
 * after CONNECT, which has no scheme, any (RFC 9112, 3.2 and 3.2.2). */
static bool
is_same_host(struct http_text target, struct http_text host, const char *usual)
{
	struct http_text a = cut_port(&target), b = cut_port(&host);
	struct http_text left_out = { "", 0 };

	if (!http_text_equals(target, host))
		return false;
	if (usual != NULL)
		left_out = (struct http_text){ usual, strlen(usual) };
	else if (b.length == 0)
		return true;
	return http_text_equals(
	    a.length > 0 ? a : left_out, b.length > 0 ? b : left_out);
}

static enum http_head_state
take_host(struct http_head *h, struct http_text value)
{
	struct http_text target = { h->section + h->target_host,
		h->target_host_length };

	if (!is_first(h, HTTP_SEEN_HOST) || !http_is_host(value))
		return http_request_wrong(h, 400, "wrong Host");
	if (target.length > 0 && !is_same_host(target, value, h->port))
		return http_request_wrong(
		    h, 400, "another Host than in the target");
	return HTTP_HEAD_MORE;
}

static enum http_head_state
take_length(struct http_head *h, struct http_text value)
{
	if (!is_first(h, HTTP_SEEN_LENGTH) ||
	    http_length_parse(value, &h->body) < 0)
		return http_request_wrong(h, 400, "wrong Content-Length");
	return HTTP_HEAD_MORE;
}

/* Codings that are not known; chunked comes last, and once (RFC 9112, 6.1). */
static bool
are_unknown(struct http_text codings)
{
	struct http_text one;
	bool chunked = false;

	while (http_list_next(&codings, &one)) {
		if (chunked || !http_is_token(one))
			return false;
		chunked = http_text_is(one, "chunked");
	}
	return true;
}

static enum http_head_state
take_coding(struct http_head *h, struct http_text value)
{
	if (!is_first(h, HTTP_SEEN_CODING) || value.length == 0)
		return http_request_wrong(h, 400, "wrong Transfer-Encoding");
	if (!http_text_is(value, "chunked"))
		return are_unknown(value)
		    ? http_request_wrong(h, 501, "unknown Transfer-Encoding")
		    : http_request_wrong(h, 400, "wrong Transfer-Encoding");
	h->chunked = true;
	return HTTP_HEAD_MORE;
}

/* A list, which may have no member (RFC 9110, 10.1.1). */
static enum http_head_state
take_expect(struct http_head *h, struct http_text value)
{
	struct http_text one;

	while (http_list_next(&value, &one)) {
		if (!http_text_is(one, "100-continue"))
			return http_request_wrong(h, 417, "unknown Expect");
		h->seen |= HTTP_SEEN_EXPECT;
	}
	return HTTP_HEAD_MORE;
}

/* The next proxy would remove what is named here: clients may not make it
 * remove what frames the request or has the client address (RFC 9110,
 * 7.6.1). */
static enum http_head_state
take_connection(struct http_head *h, struct http_text value)
{
	static const char *const needed[] = { "content-length", "host",
		"transfer-encoding", "x-forwarded-for", "x-forwarded-proto",
		"forwarded" };
	struct http_text option;
	size_t i;

	while (http_list_next(&value, &option)) {
		h->close |= http_text_is(option, "close");
		h->keep |= http_text_is(option, "keep-alive");
		for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
			if (http_text_is(option, needed[i]))
				return http_request_wrong(
				    h, 400, "wrong Connection");
	}
	return HTTP_HEAD_MORE;
}

/* After a switch to one of these come requests without added fields. */
static bool
is_upgrade_to_requests(struct http_text value)
{
	struct http_text protocol;

	while (http_list_next(&value, &protocol))
		if (http_text_begins(protocol, "h2c") ||
		    http_text_begins(protocol, "http/") ||
		    http_text_begins(protocol, "tls/"))
			return true;
	return false;
}

static enum http_head_state
take_upgrade(struct http_head *h, struct http_text value)
{
	if (is_upgrade_to_requests(value))
		h->seen |= HTTP_SEEN_NO_UPGRADE;
	else
		h->kind |= HTTP_KIND_UPGRADE;
	return HTTP_HEAD_MORE;
}

/* The first one of that name counts; one that is too long is none of ours. */
static void
note_cookie(struct http_head *h, struct http_text value)
{
	if (h->cookie_found || value.length >= sizeof(h->cookie_value))
		return;
	memcpy(h->cookie_value, value.at, value.length);
	h->cookie_value[value.length] = '\0';
	h->cookie_found = true;
}

/* NAME=value; ... (RFC 6265, 4.2.1). */
static enum http_head_state
take_cookie(struct http_head *h, struct http_text value)
{
	size_t name = h->cookie != NULL ? strlen(h->cookie) : 0, n;
	const char *end;

	while (name > 0 && value.length > 0) {
		end = memchr(value.at, ';', value.length);
		n = end != NULL ? (size_t)(end - value.at) : value.length;
		if (n > name && value.at[name] == '=' &&
		    memcmp(value.at, h->cookie, name) == 0)
			note_cookie(h,
			    (struct http_text){
				value.at + name + 1, n - name - 1 });
		for (n += end != NULL; n < value.length && value.at[n] == ' ';)
			n++;
		value.at += n;
		value.length -= n;
	}
	return HTTP_HEAD_MORE;
}

/* Fields that mean something here. */
#define NAMED(text) .name = (text), .length = sizeof(text) - 1
static const struct field {
	const char *name;
	size_t length;
	enum http_head_state (*take)(
	    struct http_head *h, struct http_text value);
	enum http_seen seen; /* where that is all */
} fields[] = {
	{ NAMED("host"), .take = take_host },
	{ NAMED("cookie"), .take = take_cookie },
	{ NAMED("expect"), .take = take_expect },
	{ NAMED("upgrade"), .take = take_upgrade },
	{ NAMED("connection"), .take = take_connection },
	{ NAMED("content-length"), .take = take_length },
	{ NAMED("transfer-encoding"), .take = take_coding },
	{ NAMED("forwarded"), .seen = HTTP_SEEN_FORWARDED },
	{ NAMED("x-forwarded-for"), .seen = HTTP_SEEN_FOR },
	{ NAMED("x-forwarded-proto"), .seen = HTTP_SEEN_PROTO },
};

static const struct field *
find_field(struct http_text name)
{
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (name.length == fields[i].length &&
		    (fields[i].take != NULL
			    ? http_text_is(name, fields[i].name)
			    : http_text_is_like(name, fields[i].name)))
			return &fields[i];
	return NULL;
}

/* Servers that merge trailers with the header section would believe them (RFC
 * 9110, 6.5.1). */
static enum http_head_state
take_field(struct http_head *h, struct http_text line)
{
	struct http_text name, value;
	const struct field *f;

	if (!http_field_split(line, &name, &value))
		return http_request_wrong(h, 400, "a line is not a field");
	f = find_field(name);
	if (f == NULL)
		return HTTP_HEAD_MORE;
	if (h->trailers)
		return http_request_wrong(
		    h, 400, "a trailer that may not be one");
	if (f->take != NULL)
		return f->take(h, value);
	h->seen |= f->seen;
	return HTTP_HEAD_MORE;
}

bool
http_field_is_known(struct http_text name)
{
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (http_text_is_like(name, fields[i].name))
			return true;
	return false;
}

unsigned
http_line_is(struct http_text line)
{
	struct http_text name, value;
	const struct field *f;

	if (!http_field_split(line, &name, &value))
		return 0;
	f = find_field(name);
	if (f == NULL)
		return 0;
	if (f->take == take_upgrade)
		return is_upgrade_to_requests(value) ? HTTP_SEEN_NO_UPGRADE : 0;
	return f->seen;
}

/* ---- the section ---- */

/* Refuses a header section that contradicts itself (RFC 9112, 3.2, 6.1, 6.3;
 * RFC 9110, 9.3.6). */
static enum http_head_state
http_request_judge(struct http_head *h)
{
	if (h->trailers)
		return HTTP_HEAD_DONE;
	if (!h->old && !(h->seen & HTTP_SEEN_HOST))
		return http_request_wrong(h, 400, "no Host");
	if (h->chunked && h->seen & HTTP_SEEN_LENGTH)
		return http_request_wrong(
		    h, 400, "Content-Length and Transfer-Encoding");
	if (h->chunked && h->old)
		return http_request_wrong(
		    h, 400, "Transfer-Encoding in HTTP/1.0");
	if (h->kind & HTTP_KIND_CONNECT && (h->chunked || h->body > 0))
		return http_request_wrong(h, 400, "CONNECT with a body");
	if (h->safe && !h->chunked && h->body == 0 &&
	    !(h->kind & HTTP_KIND_UPGRADE) && !(h->seen & HTTP_SEEN_EXPECT))
		h->kind |= HTTP_KIND_REPEATABLE;
	if (h->close || (h->old && !h->keep))
		h->kind |= HTTP_KIND_LAST;
	return HTTP_HEAD_DONE;
}

/* One empty line may come before a request (RFC 9112, 2.2). */
static enum http_head_state
http_request_take_line(struct http_head *h, struct http_text line)
{
	if (line.length == 0 && (h->begun || h->trailers))
		return http_request_judge(h);
	if (line.length == 0) {
		if (h->skipped > 0)
			return http_request_wrong(h, 400, "no request line");
		h->skipped = 2;
		return HTTP_HEAD_MORE;
	}
	return h->begun || h->trailers ? take_field(h, line)
				       : take_request_line(h, line);
}

/* Whether the bytes are no HTTP at all, for example a TLS handshake: these may
 * never have the end of a line. */
static bool
is_other_protocol(const struct http_head *h, const char *bytes, size_t n)
{
	return !h->begun && !h->trailers && h->skipped < n &&
	    bytes[h->skipped] != '\r' &&
	    !http_is_token((struct http_text){ bytes + h->skipped, 1 });
}

enum http_head_state
http_head_take(struct http_head *h, const char *bytes, size_t n)
{
	enum http_head_state state = HTTP_HEAD_MORE;
	const char *end;
	size_t at;

	h->section = bytes;
	while (state == HTTP_HEAD_MORE) {
		end = h->searched < n
		    ? memchr(bytes + h->searched, '\n', n - h->searched)
		    : NULL;
		if (end == NULL) {
			/* The line whose end is not here yet. */
			h->searched = n;
			if (n > HTTP_HEAD_MAX)
				return http_request_wrong(
				    h, 431, "too many bytes of fields");
			if (is_other_protocol(h, bytes, n))
				return http_request_wrong(
				    h, 400, "no request line");
			return HTTP_HEAD_MORE;
		}
		at = (size_t)(end - bytes);
		h->length = h->searched = at + 1;
		if (h->length > HTTP_HEAD_MAX)
			return http_request_wrong(
			    h, 431, "too many bytes of fields");
		if (at == h->line || end[-1] != '\r')
			return http_request_wrong(
			    h, 400, "a line without CRLF");
		state = http_request_take_line(
		    h, (struct http_text){ bytes + h->line, at - 1 - h->line });
		h->line = at + 1;
	}
	return state;
}
