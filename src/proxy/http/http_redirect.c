/* http_redirect.c: see http_redirect.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "proxy/http/http_field.h"
#include "proxy/http/http_redirect.h"

enum { HEAD_MAX = 256 }; /* of the answer, without host and path */

static const char body[] =
    "308 Permanent Redirect\n\nUse the address with https.\n";

/* Takes scheme and host off a target, so that it begins with "/", or "?", or is
 * empty. False where that is not so: "*", and those of CONNECT. */
static bool
cut_to_path(struct http_text *t)
{
	size_t i;

	if (t->at[0] == '/')
		return true;
	if (!http_text_begins(*t, "http://") &&
	    !http_text_begins(*t, "https://"))
		return false;
	i = (size_t)((const char *)memchr(t->at, ':', t->length) - t->at) + 3;
	while (i < t->length && t->at[i] != '/' && t->at[i] != '?')
		i++;
	t->at += i;
	t->length -= i;
	return true;
}

static bool
write_answer(struct buffer *answer, const char *host, unsigned port,
    struct http_text path, bool head)
{
	size_t room = HEAD_MAX + sizeof(body) + strlen(host) + path.length;
	char *to = buffer_reserve(answer, room), number[8] = "";
	int n;

	if (to == NULL)
		return false;
	if (port != HTTP_REDIRECT_PORT)
		snprintf(number, sizeof(number), ":%u", port);
	n = snprintf(to, room,
	    "HTTP/1.1 308 Permanent Redirect\r\n"
	    "Location: https://%s%s%s%.*s\r\nContent-Type: text/plain\r\n"
	    "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
	    host, number, path.length > 0 && path.at[0] == '/' ? "" : "/",
	    (int)path.length, path.at, sizeof(body) - 1, head ? "" : body);
	buffer_added(answer, (size_t)n);
	return true;
}

enum first_verdict
http_redirect(const char *bytes, size_t n, unsigned port, struct buffer *answer)
{
	struct first f = { .protocol = FIRST_UNKNOWN };
	struct first_wants wants = { .host = true };
	enum first_verdict v = first_read(bytes, n, &wants, &f);
	struct http_text path;
	const char *line_end, *at, *end;

	if (v != FIRST_KNOWN)
		return v;
	if (f.protocol != FIRST_HTTP || f.host[0] == '\0')
		return FIRST_WRONG;
	/* The target of a request whose line is complete. */
	line_end = memchr(bytes, '\r', n);
	at = (const char *)memchr(bytes, ' ', (size_t)(line_end - bytes)) + 1;
	end = memchr(at, ' ', (size_t)(line_end - at));
	path = (struct http_text){ at, (size_t)(end - at) };
	if (!http_is_target(path) || !cut_to_path(&path) ||
	    !write_answer(
		answer, f.host, port, path, strncmp(bytes, "HEAD ", 5) == 0))
		return FIRST_WRONG;
	return FIRST_KNOWN;
}
