/* http_log.c: see http_log.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/http/http_log.h"

/* ---- texts ---- */

static const uint16_t longest[HTTP_LOG_TEXTS] = {
	[HTTP_LOG_LINE] = HTTP_LOG_LINE_MAX,
	[HTTP_LOG_HOST] = HTTP_LOG_HOST_MAX,
	[HTTP_LOG_AGENT] = HTTP_LOG_AGENT_MAX,
	[HTTP_LOG_REFERER] = HTTP_LOG_REFERER_MAX,
	[HTTP_LOG_IDENTITY] = HTTP_IDENTITY_MAX,
};

/* A request line in its three parts; without a method it is none, and all of it
 * is the path. */
struct request_line {
	struct http_text method, path, protocol;
};

static struct http_text
cut_text(struct http_text t, size_t most)
{
	if (t.length > most)
		t.length = most;
	return t;
}

/* Without the blanks around it. */
static struct http_text
http_log_value_of(struct http_text line, size_t name)
{
	const char *at = line.at + name, *end = line.at + line.length;

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (struct http_text){ at, (size_t)(end - at) };
}

static void
http_log_note(struct http_text line, const char *name, struct http_text *text)
{
	if (text->at == NULL && http_text_begins(line, name))
		*text = http_log_value_of(line, strlen(name));
}

/* Other fields are passed over by their first letter. */
static void
http_log_take_field(
    struct http_text line, struct http_text texts[HTTP_LOG_TEXTS])
{
	switch (line.length > 0 ? line.at[0] | 0x20 : 0) {
	case 'h':
		http_log_note(line, "host:", &texts[HTTP_LOG_HOST]);
		break;
	case 'r':
		http_log_note(line, "referer:", &texts[HTTP_LOG_REFERER]);
		break;
	case 'u':
		http_log_note(line, "user-agent:", &texts[HTTP_LOG_AGENT]);
		break;
	default:
		break;
	}
}

static void
read_section(struct http_text section, struct http_text texts[HTTP_LOG_TEXTS])
{
	struct http_text line = { section.at, 0 };

	while (line.length == 0 && section.length > 0)
		line = http_section_next(&section);
	texts[HTTP_LOG_LINE] = line;
	while (section.length > 0) {
		line = http_section_next(&section);
		if (line.length == 0)
			return;
		http_log_take_field(line, texts);
	}
}

static bool
is_protocol(struct http_text t)
{
	return t.length == 8 && memcmp(t.at, "HTTP/", 5) == 0 &&
	    http_is_target(t);
}

/* With `valid` the line has the three parts. */
static struct request_line
http_log_split_line(struct http_text line, bool valid)
{
	struct request_line none = { .path =
					 cut_text(line, HTTP_LOG_LINE_MAX) };
	struct request_line l;
	const char *end = line.at + line.length, *first, *last;

	first = line.length > 0 ? memchr(line.at, ' ', line.length) : NULL;
	last = first != NULL ? memchr(first + 1, ' ', (size_t)(end - first) - 1)
			     : NULL;
	if (last == NULL)
		return none;
	l.method = (struct http_text){ line.at, (size_t)(first - line.at) };
	l.path = (struct http_text){ first + 1, (size_t)(last - first) - 1 };
	l.protocol = (struct http_text){ last + 1, (size_t)(end - last) - 1 };
	if ((!valid &&
		(!http_is_token(l.method) || !http_is_target(l.path) ||
		    !is_protocol(l.protocol))) ||
	    l.method.length > HTTP_LOG_HOST_MAX)
		return none;
	l.path = cut_text(l.path, HTTP_LOG_PATH_MAX);
	return l;
}

/* ---- requests ---- */

static char *
http_log_put(char *to, struct http_text t)
{
	if (t.length > 0)
		memcpy(to, t.at, t.length);
	return to + t.length;
}

static void
http_log_put_line(struct http_logged *e, const struct request_line *l)
{
	char *to = http_log_put(e->bytes, l->method);

	e->method = (uint16_t)l->method.length;
	e->path = (uint16_t)l->path.length;
	if (e->method > 0)
		*to++ = ' ';
	to = http_log_put(to, l->path);
	if (e->method > 0) {
		*to++ = ' ';
		to = http_log_put(to, l->protocol);
	}
	e->length[HTTP_LOG_LINE] = (uint16_t)(to - e->bytes);
}

/* A record of a request for the log, with copies of its texts, cut where they
 * are too long. NULL without memory. */
static struct http_logged *
new_logged(const struct request_line *l, struct http_text texts[HTTP_LOG_TEXTS])
{
	size_t n = l->method.length + l->path.length + l->protocol.length + 2;
	struct http_logged *e;
	char *to;
	int i;

	for (i = HTTP_LOG_LINE + 1; i < HTTP_LOG_TEXTS; i++) {
		texts[i] = cut_text(texts[i], longest[i]);
		n += texts[i].length;
	}
	e = malloc(sizeof(*e) + n);
	if (e == NULL)
		return NULL;
	memset(e, 0, sizeof(*e));
	http_log_put_line(e, l);
	to = e->bytes + e->length[HTTP_LOG_LINE];
	for (i = HTTP_LOG_LINE + 1; i < HTTP_LOG_TEXTS; i++) {
		e->length[i] = (uint16_t)texts[i].length;
		to = http_log_put(to, texts[i]);
	}
	return e;
}

/* NULL: there is no memory. */
static struct http_logged *
http_log_add(
    struct http_log *g, uint64_t number, struct http_text section, bool valid)
{
	struct http_text texts[HTTP_LOG_TEXTS] = { { NULL, 0 } };
	struct http_logged *e, **end = &g->first;
	struct request_line line;

	read_section(section, texts);
	if (valid)
		texts[HTTP_LOG_IDENTITY] = g->identity;
	line = http_log_split_line(texts[HTTP_LOG_LINE], valid);
	e = new_logged(&line, texts);
	if (e == NULL) {
		g->logging->lose(g->logging);
		return NULL;
	}
	e->number = number;
	e->began_us = g->logging->now_us(g->logging);
	while (*end != NULL)
		end = &(*end)->next;
	*end = e;
	return e;
}

void
http_log_request(struct http_log *g, uint64_t number, struct http_text section,
    size_t emitted)
{
	struct http_logged *e = http_log_add(g, number, section, true);

	if (e != NULL)
		e->up_from = g->logging->position(g->owner, false) + emitted;
}

void
http_log_refused(struct http_log *g, uint64_t number, struct http_text section)
{
	struct http_logged *e = http_log_add(g, number, section, false);

	if (e != NULL)
		e->refused = e->sent = true;
}

struct http_logged *
http_log_find(const struct http_log *g, uint64_t number)
{
	struct http_logged *e = g->first;

	while (e != NULL && e->number < number)
		e = e->next;
	return e != NULL && e->number == number ? e : NULL;
}

struct http_text
http_logged_text(const struct http_logged *e, enum http_log_text which)
{
	const char *at = e->bytes;
	int i;

	for (i = 0; i < (int)which; i++)
		at += e->length[i];
	return (struct http_text){ at, e->length[which] };
}

/* ---- what becomes of them ---- */

void
http_log_sent(struct http_log *g, uint64_t number, size_t emitted)
{
	struct http_logged *e = http_log_find(g, number);

	if (e == NULL)
		return;
	e->sent = true;
	e->up_to = g->logging->position(g->owner, false) + emitted;
}

void
http_log_answer(struct http_log *g, uint64_t number, size_t emitted)
{
	struct http_logged *e = http_log_find(g, number);

	if (e == NULL || e->first_us != 0)
		return;
	e->first_us = g->logging->now_us(g->logging);
	e->down_from = e->body_from =
	    g->logging->position(g->owner, true) + emitted;
}

void
http_log_status(struct http_log *g, uint64_t number, unsigned status,
    bool endless, size_t emitted)
{
	struct http_logged *e = http_log_find(g, number);

	if (e == NULL)
		return;
	e->status = status;
	e->endless = endless;
	e->body_from = g->logging->position(g->owner, true) + emitted;
}

void
http_log_answered(struct http_log *g, uint64_t number, size_t emitted)
{
	struct http_logged *e = http_log_find(g, number);

	if (e == NULL)
		return;
	e->answered = true;
	e->down_to = g->logging->position(g->owner, true) + emitted;
}

void
http_log_page(struct http_log *g, uint64_t number, unsigned status, size_t head,
    size_t body)
{
	struct http_logged *e = http_log_find(g, number);

	if (e == NULL)
		return;
	e->status = status;
	e->answered = e->page = true;
	e->down_to = g->logging->position(g->owner, true);
	e->body_from = e->down_to - body;
	e->down_from = e->body_from - head;
}

void
http_log_cut(struct http_log *g)
{
	struct http_logged *e;

	for (e = g->first; e != NULL; e = e->next)
		e->cut = !e->answered && !e->refused;
}

void
http_log_failed(struct http_log *g)
{
	struct http_logged *e;

	for (e = g->first; e != NULL; e = e->next)
		if (!e->answered && !e->refused)
			e->retries++;
}

/* ---- the end ---- */

void
http_log_withdraw(struct http_log *g, uint64_t number)
{
	struct http_logged **end = &g->first;

	while (*end != NULL && (*end)->number != number)
		end = &(*end)->next;
	free(*end);
	*end = NULL;
}

void
http_log_remove(struct http_log *g)
{
	struct http_logged *e = g->first;

	g->first = e->next;
	free(e);
}

void
http_log_fini(struct http_log *g)
{
	while (g->first != NULL)
		http_log_remove(g);
}
