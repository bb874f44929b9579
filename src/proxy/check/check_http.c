/* check_http.c: "http PATH [host NAME] [status LIST] [body TEXT]": an answer to
 * a GET, with one of these statuses, and a body that contains the text; "https"
 * the same over TLS. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "proxy/check/check_stream.h"
#include "proxy/check/check_text.h"
#include "proxy/http/http_answer.h"

enum { PATH_MAX_LENGTH = 1000, HOST_MAX_LENGTH = 255, REQUEST_MAX = 1536 };
enum { STATUS_RANGES = 16, STATUS_MIN = 200, STATUS_MAX = 599 };

struct http_settings {
	char *path, *host;
	struct {
		uint64_t first, last;
	} status[STATUS_RANGES];
	unsigned ranges;
	struct check_text body;
	struct check_tls tls;
};

struct http_state {
	struct check_stream stream; /* the first */
	struct http_answer answer;
	size_t matched; /* of the text in the body */
	char request[REQUEST_MAX];
};

/* ---- the answer ---- */

static const char not_in_body[] = "the text is not in the body";

static bool
status_is_expected(const struct http_settings *s, unsigned status)
{
	unsigned i;

	for (i = 0; i < s->ranges; i++)
		if (status >= s->status[i].first && status <= s->status[i].last)
			return true;
	return false;
}

static void
check_http_conclude(struct check *c, const char *why_not)
{
	const struct http_state *t = c->state;

	if (c->good)
		check_end(c, CHECK_GOOD, "status %u", t->answer.status);
	else
		check_end(c, CHECK_BAD, "%s", why_not);
}

/* A server that could not send its answer to the end would log that, at each
 * check: the rest of a good one is read, as far as it is not too long. */
static void
check_http_on_bytes(struct check *c, const char *bytes, size_t n)
{
	const struct http_settings *s = c->settings;
	struct http_state *t = c->state;
	const struct http_answer *h = &t->answer;
	enum http_event event = HTTP_BODY;

	while (!c->ended && event != HTTP_MORE) {
		event = http_answer_take(&t->answer, &bytes, &n);
		if (event == HTTP_HEADERS && !status_is_expected(s, h->status))
			check_end(c, CHECK_BAD, "status %u", h->status);
		else if (event == HTTP_BODY)
			t->matched = check_text_find(
			    &s->body, t->matched, h->body, h->body_length);
		else if (event == HTTP_END)
			check_http_conclude(c, not_in_body);
		else if (event == HTTP_WRONG)
			check_http_conclude(c, h->wrong);
		else if (event == HTTP_NO_MEMORY)
			check_end_errno(c, ENOMEM);
		/* without a text the headers are all */
		if ((event == HTTP_HEADERS || event == HTTP_BODY) &&
		    t->matched == s->body.length)
			c->good = true;
	}
}

static void
check_http_on_end(struct check *c)
{
	const struct http_state *t = c->state;

	check_http_conclude(c,
	    http_answer_ends(&t->answer) ? not_in_body
		: !t->stream.heard	 ? "connection closed, nothing received"
				   : "connection closed within the answer");
}

/* ---- the request ---- */

/* Host: the server's name, with the port unless it is the usual one
 * (RFC 9110, 7.2). The zone of an IPv6 address means something only on this
 * host, and many servers answer it with 400. */
static void
format_host(const struct check *c, char host[HOST_MAX_LENGTH + 16])
{
	const struct http_settings *s = c->settings;
	const char *name = s->host != NULL ? s->host : check_host(c);
	bool path = s->host == NULL && addr_is_unix_text(name);
	bool v6 = s->host == NULL && !path && strchr(name, ':') != NULL;
	uint16_t port = s->host == NULL ? addr_port(&c->at) : 0;
	size_t length = v6 ? strcspn(name, "%") : HOST_MAX_LENGTH;
	int n;

	if (length > HOST_MAX_LENGTH)
		length = HOST_MAX_LENGTH;
	n = snprintf(host, HOST_MAX_LENGTH + 16, v6 ? "[%.*s]" : "%.*s",
	    (int)length, path ? "localhost" : name);
	if (port != 0 && port != (s->tls.on ? 443 : 80))
		snprintf(
		    host + n, (size_t)(HOST_MAX_LENGTH + 16 - n), ":%u", port);
}

static void
check_http_start(struct check *c)
{
	const struct http_settings *s = c->settings;
	struct http_state *t = c->state;
	struct check_talk talk = { .say = t->request,
		.tls = &s->tls,
		.on_bytes = check_http_on_bytes,
		.on_end = check_http_on_end };
	char host[HOST_MAX_LENGTH + 16];

	format_host(c, host);
	talk.length = (size_t)snprintf(t->request, sizeof(t->request),
	    "GET %s HTTP/1.1\r\n"
	    "Host: %s\r\n"
	    "User-Agent: pen\r\n"
	    "Accept: */" /* in one piece it opens a comment to some tools */
	    "*\r\n"
	    "Connection: close\r\n"
	    "\r\n",
	    s->path, host);
	check_stream_start(c, &talk);
}

static void
check_http_stop(struct check *c)
{
	struct http_state *t = c->state;

	http_answer_fini(&t->answer);
	check_stream_stop(c);
}

/* ---- words ---- */

/* Text that ends up in the request must not end a line of it. */
static int
set_part(char **part, const char *word, size_t most, const char *what,
    struct error *e)
{
	const char *at;

	for (at = word; *at > ' ' && *at <= '~'; at++)
		;
	if (*at != '\0' || at == word || (size_t)(at - word) > most)
		return error_set(e,
		    "%s: expects 1 to %zu characters without blanks", what,
		    most);
	free(*part);
	*part = strdup(word);
	return *part != NULL ? 0 : error_set(e, "out of memory");
}

static int
add_range(struct http_settings *s, char *range)
{
	char *dash = strchr(range, '-');
	uint64_t first, last;

	if (dash != NULL)
		*dash = '\0';
	if (s->ranges == STATUS_RANGES ||
	    number_parse(range, STATUS_MIN, STATUS_MAX, &first) < 0 ||
	    number_parse(dash != NULL ? dash + 1 : range, STATUS_MIN,
		STATUS_MAX, &last) < 0 ||
	    first > last)
		return -1;
	s->status[s->ranges].first = first;
	s->status[s->ranges++].last = last;
	return 0;
}

/* "200-399,401" */
static int
set_status(struct http_settings *s, const char *word, struct error *e)
{
	char copy[STATUS_RANGES * 8 + 1], *rest = copy, *range;

	s->ranges = 0;
	if ((size_t)snprintf(copy, sizeof(copy), "%s", word) < sizeof(copy))
		do {
			range = rest;
			rest = strchr(range, ',');
			if (rest != NULL)
				*rest++ = '\0';
			if (add_range(s, range) < 0)
				break;
			if (rest == NULL)
				return 0;
		} while (true);
	return error_set(e,
	    "status \"%.100s\": expects a list as 200-399,401, from 200 to 599",
	    word);
}

/* Whether the word is known, and has a value. */
static int
expect_option(const struct http_settings *s, const char *name,
    const char *value, struct error *e)
{
	bool known = strcmp(name, "host") == 0 || strcmp(name, "status") == 0 ||
	    strcmp(name, "body") == 0;

	if (value == NULL &&
	    (known || (s->tls.on && strcmp(name, "name") == 0)))
		return error_set(e, "\"%.100s\" needs a value", name);
	return known
	    ? 0
	    : error_set(e, "\"%.100s\": expects host, status%s", name,
		  s->tls.on ? ", body, verify, noverify or name" : " or body");
}

static int
set_option(struct http_settings *s, const char *name, const char *value,
    struct error *e)
{
	if (strcmp(name, "host") == 0)
		return set_part(&s->host, value, HOST_MAX_LENGTH, name, e);
	if (strcmp(name, "status") == 0)
		return set_status(s, value, e);
	check_text_fini(&s->body);
	return check_text_parse(&s->body, value, e);
}

static int
check_http_parse(void *settings, const struct words *w, struct error *e)
{
	struct http_settings *s = settings;
	int at = 1;

	if (w->count == 0 || w->word[0][0] != '/')
		return error_set(e, "expects a PATH, which begins with /");
	s->status[0].first = 200;
	s->status[0].last = 399;
	s->ranges = 1;
	if (set_part(&s->path, w->word[0], PATH_MAX_LENGTH, "path", e) < 0)
		return -1;
	while (at < w->count) {
		if (s->tls.on && check_tls_parse(&s->tls, w, &at, e) < 0)
			return -1;
		if (at == w->count)
			break;
		if (expect_option(s, w->word[at], w->word[at + 1], e) < 0 ||
		    set_option(s, w->word[at], w->word[at + 1], e) < 0)
			return -1;
		at += 2;
	}
	return 0;
}

static int
parse_https(void *settings, const struct words *w, struct error *e)
{
	struct http_settings *s = settings;

	return check_tls_begin(&s->tls, e) < 0
	    ? -1
	    : check_http_parse(settings, w, e);
}

static void
check_http_fini(void *settings)
{
	struct http_settings *s = settings;

	free(s->path);
	free(s->host);
	check_text_fini(&s->body);
	check_tls_fini(&s->tls);
}

/* What both kinds have in common. */
#define CHECK_HTTP_HOOKS                                                    \
	.settings_size = sizeof(struct http_settings),                      \
	.fini = check_http_fini, .needs_port = true,                        \
	.state_size = sizeof(struct http_state), .start = check_http_start, \
	.stop = check_http_stop

const struct check_kind check_http = {
	.name = "http",
	.args = "PATH [host NAME] [status LIST] [body TEXT]",
	.parse = check_http_parse,
	CHECK_HTTP_HOOKS,
};

const struct check_kind check_https = {
	.name = "https",
	.args = "PATH [host NAME] [status LIST] [body TEXT] [noverify] "
		"[name HOST]",
	.parse = parse_https,
	.has_tls = true,
	.tls_at = offsetof(struct http_settings, tls),
	CHECK_HTTP_HOOKS,
};
