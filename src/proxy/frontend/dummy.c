/* dummy.c: a web client's connection to the built-in server. Owns its stream
 * and, only while a request or an answer is incomplete, buffers for it. */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/number.h"
#include "net/sock.h"
#include "net/stream.h"
#include "proxy/core/frontend_core.h"
#include "proxy/frontend/dummy.h"

/* Longest request head; a longer one is refused. */
enum { HEAD_MAX = 16 * 1024, ANSWER_MAX = 512 };
/* How long a client may take when no limit is set, and how often that is looked
 * at at least: a limit that is set anew counts from the next time on. */
enum { IDLE_MS = 60 * 1000, LOOK_MS = 5000 };

struct dummy {
	struct frontend_core *frontend;
	struct list link;
	struct stream client;
	struct buffer in;  /* an incomplete head */
	struct buffer out; /* answers the client has not taken */
	uint64_t body;	   /* bytes of a request body still to drop */
	bool last;	   /* close once out is empty */
	bool ended;	   /* the client sends no more */
	bool told;	   /* we send no more; waiting for the client's end */
	uint64_t active;   /* ms: last answer begun or taken, or body byte */
	struct expiry expiry;
	struct task task; /* goes on next time, or frees */
};

struct request {
	bool keep;     /* the connection stays */
	bool no_body;  /* HEAD: the answer is its head alone */
	uint64_t body; /* Content-Length */
};

/* ---- requests ---- */

/* The length of the head at the start of `text`, its empty line included; 0
 * when it is incomplete. */
static size_t
head_length(const char *text, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++) {
		if (text[i] != '\n')
			continue;
		if (text[i - 1] == '\n' ||
		    (i >= 3 && memcmp(text + i - 3, "\r\n\r", 3) == 0))
			return i + 1;
	}
	return 0;
}

static bool
has_token(const char *value, const char *token)
{
	size_t n = strlen(token);

	for (; *value != '\0'; value++)
		if (strncasecmp(value, token, n) == 0)
			return true;
	return false;
}

static void
parse_field(struct request *r, const char *name, const char *value)
{
	if (strcasecmp(name, "Connection") == 0) {
		if (has_token(value, "close"))
			r->keep = false;
		else if (has_token(value, "keep-alive"))
			r->keep = true;
	} else if (strcasecmp(name, "Content-Length") == 0) {
		if (number_parse(value, 0, UINT64_MAX, &r->body) < 0)
			r->keep = false;
	} else if (strcasecmp(name, "Transfer-Encoding") == 0) {
		r->keep = false;
	}
}

static void
trim_end(char *text)
{
	size_t n = strlen(text);

	while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		text[--n] = '\0';
}

/* Reads a complete head, which it cuts into lines in place. */
static struct request
parse_head(char *head)
{
	struct request r = { .keep = false };
	char *line, *rest = NULL, *value;

	line = strtok_r(head, "\r\n", &rest);
	if (line == NULL)
		return r;
	r.keep = strstr(line, " HTTP/1.1") != NULL;
	r.no_body = strncmp(line, "HEAD ", 5) == 0;
	while ((line = strtok_r(NULL, "\r\n", &rest)) != NULL) {
		value = strchr(line, ':');
		if (value == NULL)
			continue;
		*value++ = '\0';
		value += strspn(value, " \t");
		trim_end(value);
		parse_field(&r, line, value);
	}
	return r;
}

/* ---- answers ---- */

static int
dummy_answer(struct dummy *d, const struct request *r)
{
	char at[ADDR_TEXT_MAX] = "", body[ANSWER_MAX], text[2 * ANSWER_MAX];
	struct addr local;
	int length, n;

	if (sock_local_addr(d->client.fd, &local) == 0)
		addr_format(&local, at);
	length = snprintf(body, sizeof(body),
	    "<html><head><title>pen</title></head><body>\n"
	    "pen dummy server %s\n</body></html>\n",
	    at);
	n = snprintf(text, sizeof(text),
	    "HTTP/1.1 200 OK\r\nServer: pen\r\nContent-Type: text/html\r\n"
	    "Content-Length: %d\r\nConnection: %s\r\n\r\n%s",
	    length, r->keep ? "keep-alive" : "close", r->no_body ? "" : body);
	return buffer_append(&d->out, text, (size_t)n);
}

static int
refuse_long_head(struct dummy *d)
{
	static const char text[] =
	    "HTTP/1.1 431 Request Header Fields Too Large\r\n"
	    "Content-Length: 0\r\nConnection: close\r\n\r\n";

	d->last = true;
	buffer_consume(&d->in, buffer_length(&d->in));
	return buffer_append(&d->out, text, sizeof(text) - 1);
}

/* Answers the requests that are complete. Returns 0, or -1 with ENOMEM. */
static int
answer_all(struct dummy *d)
{
	char head[HEAD_MAX + 1];
	struct request r;
	size_t n;

	while (buffer_length(&d->in) > 0 && !d->last) {
		if (d->body > 0) {
			n = buffer_length(&d->in);
			n = d->body < n ? (size_t)d->body : n;
			buffer_consume(&d->in, n);
			d->body -= n;
			d->active = loop_now(d->frontend->loop);
			continue;
		}
		n = head_length(buffer_bytes(&d->in), buffer_length(&d->in));
		if (n > HEAD_MAX ||
		    (n == 0 && buffer_length(&d->in) > HEAD_MAX))
			return refuse_long_head(d);
		if (n == 0)
			return 0;
		memcpy(head, buffer_bytes(&d->in), n);
		head[n] = '\0';
		buffer_consume(&d->in, n);
		r = parse_head(head);
		d->body = r.body;
		r.keep = r.keep && !d->frontend->draining;
		d->last = !r.keep;
		d->active = loop_now(d->frontend->loop);
		if (dummy_answer(d, &r) < 0)
			return -1;
	}
	return 0;
}

/* ---- the connection ---- */

static void
dummy_free_task(struct task *t)
{
	free(list_entry(t, struct dummy, task));
}

static void
dummy_close(struct dummy *d, enum reason why)
{
	struct frontend_core *f = d->frontend;

	stream_close(f->loop, &d->client,
	    why != REASON_DONE && why != REASON_IDLE_TIMEOUT);
	buffer_fini(&d->in);
	buffer_fini(&d->out);
	expiry_cancel(&d->expiry);
	list_remove(&d->link);
	list_remove(&d->task.link);
	d->task.run = dummy_free_task;
	loop_soon(f->loop, &d->task);
	frontend_client_out(f, why);
}

/* ---- time ---- */

static uint64_t
dummy_deadline(const struct dummy *d)
{
	const struct frontend_options *o = &d->frontend->options;
	uint64_t limit = o->idle_timeout_ms > 0 ? o->idle_timeout_ms : IDLE_MS;

	if (d->frontend->draining && o->end.quiet_ms < limit)
		limit = o->end.quiet_ms;
	return d->active + limit;
}

static void
dummy_schedule(struct dummy *d)
{
	struct frontend_core *f = d->frontend;
	uint64_t due = dummy_deadline(d), look = loop_now(f->loop) + LOOK_MS;

	timeouts_add(f->dummies->silent, &d->expiry, due < look ? due : look);
}

static void
dummy_on_silence(struct timeouts *t, struct expiry *x)
{
	struct dummy *d = list_entry(x, struct dummy, expiry);

	if (dummy_deadline(d) > loop_now(t->loop))
		dummy_schedule(d);
	else
		dummy_close(d, REASON_IDLE_TIMEOUT);
}

void
dummies_hurry(struct dummies *all)
{
	struct list *link;

	for (link = all->list.next; link != &all->list; link = link->next) {
		struct dummy *d = list_entry(link, struct dummy, link);

		expiry_cancel(&d->expiry);
		dummy_schedule(d);
	}
}

int
dummies_init(struct dummies *all, struct frontend_core *f)
{
	list_init(&all->list);
	all->silent = timeouts_of_loop(f->loop, dummy_on_silence, NULL);
	return all->silent != NULL ? 0 : -1;
}

/* ---- bytes ---- */

/* Reads what is there, a scratch full at most. Returns 0, or -1 with errno. */
static int
dummy_read(struct dummy *d)
{
	struct pipe_share *share = &d->frontend->share;
	ssize_t n;

	if (d->ended || !(d->client.flags & STREAM_READABLE))
		return 0;
	n = stream_read(&d->client, share->scratch, share->scratch_size);
	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	if (n == 0)
		d->ended = true;
	else if (!d->last &&
	    buffer_append(&d->in, share->scratch, (size_t)n) < 0)
		return -1;
	return 0;
}

/* Returns 0, or -1 with errno. */
static int
dummy_write(struct dummy *d)
{
	ssize_t n;

	while (
	    buffer_length(&d->out) > 0 && d->client.flags & STREAM_WRITABLE) {
		n = stream_write(&d->client, buffer_bytes(&d->out),
		    buffer_length(&d->out), d->last || d->ended);
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		buffer_consume(&d->out, (size_t)n);
		d->active = loop_now(d->frontend->loop);
	}
	return 0;
}

/* A client that sends faster than it reads is not read until it has. */
static void
dummy_on_io(struct dummy *d)
{
	struct frontend_core *f = d->frontend;
	bool busy = buffer_length(&d->out) > 0;

	if ((!busy && dummy_read(d) < 0) || answer_all(d) < 0 ||
	    dummy_write(d) < 0) {
		dummy_close(d, REASON_CLIENT_RESET);
		return;
	}
	busy = buffer_length(&d->out) > 0;
	if (!busy && d->ended) {
		dummy_close(d, REASON_DONE);
		return;
	}
	if (!busy && d->last && !d->told) {
		stream_shutdown(&d->client);
		d->told = true;
	}
	if (!busy && d->client.flags & STREAM_READABLE)
		loop_soon(f->loop, &d->task);
	if (watch_want(
		f->loop, &d->client.watch, busy ? READY_WRITE : READY_READ) < 0)
		dummy_close(d, REASON_NO_RESOURCES);
}

static void
dummy_on_client(struct watch *w, unsigned ready)
{
	struct dummy *d = list_entry(w, struct dummy, client.watch);

	stream_note_ready(&d->client, ready);
	dummy_on_io(d);
}

static void
dummy_on_turn(struct task *t)
{
	dummy_on_io(list_entry(t, struct dummy, task));
}

void
dummy_start(struct frontend_core *f, int fd)
{
	struct dummy *d = calloc(1, sizeof(*d));

	if (d == NULL) {
		sock_close_reset(fd);
		return;
	}
	d->frontend = f;
	stream_open_plain(&d->client, fd, false);
	buffer_init(&d->in);
	buffer_init(&d->out);
	list_init(&d->task.link);
	d->task.run = dummy_on_turn;
	d->active = loop_now(f->loop);
	expiry_init(&d->expiry);
	dummy_schedule(d);
	list_append(&f->dummies->list, &d->link);
	frontend_client_in(f);
	if (watch_start(
		f->loop, &d->client.watch, fd, READY_READ, dummy_on_client) < 0)
		dummy_close(d, REASON_NO_RESOURCES);
}

void
dummies_fini(struct dummies *all)
{
	struct list *link;

	while ((link = list_first(&all->list)) != NULL)
		dummy_close(
		    list_entry(link, struct dummy, link), REASON_STOPPED);
}
