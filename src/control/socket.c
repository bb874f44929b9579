/* socket.c: listeners and clients of the control socket. Owns both; a client
 * owns a line while it is incomplete and an answer while it is not taken. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/log.h"
#include "control/command.h"
#include "control/socket.h"
#include "net/listener.h"
#include "net/stream.h"
#include "net/timeouts.h"

/* The longest line; clients at a time; what a client gets to speak, and to read
 * on. */
enum { LINE_MAX_LENGTH = 64 * 1024, CLIENTS_MAX = 200, PATIENCE_MS = 30000 };
enum { CHUNK = 4096 };

struct control {
	struct pen *pen;
	struct loop *loop;
	struct list listeners;
	struct list clients;
	unsigned count; /* clients */
	struct timeouts patience;
};

struct control_listener {
	struct list link;
	struct listener listener;
};

struct control_client {
	struct control *control;
	struct list link;
	struct stream stream;
	struct buffer in;  /* the beginning of a line */
	struct buffer out; /* the rest of an answer */
	bool answered;
	bool told; /* all is written, and the end */
	struct expiry expiry;
	struct task free_task;
};

static void
client_free_task(struct task *t)
{
	free(list_entry(t, struct control_client, free_task));
}

static void
client_close(struct control_client *k)
{
	struct control *c = k->control;

	stream_close(c->loop, &k->stream, false);
	buffer_fini(&k->in);
	buffer_fini(&k->out);
	expiry_cancel(&k->expiry);
	list_remove(&k->link);
	loop_soon(c->loop, &k->free_task);
	c->count--;
}

static void
be_patient(struct control_client *k)
{
	struct control *c = k->control;

	expiry_cancel(&k->expiry);
	timeouts_add(&c->patience, &k->expiry, loop_now(c->loop) + PATIENCE_MS);
}

/* ---- lines and answers ---- */

static void
answer(struct control_client *k, const char *line)
{
	struct error e;

	k->answered = true;
	if (command_run_line(k->control->pen, line, &k->out, &e) < 0)
		reply_add(&k->out, "error: %.500s\n", e.text);
	be_patient(k);
}

/* A line is complete with its newline, or with the client's end. */
static void
look_for_line(struct control_client *k, bool ended)
{
	size_t n = buffer_length(&k->in);
	char *newline = n > 0 ? memchr(buffer_bytes(&k->in), '\n', n) : NULL;

	if (newline == NULL && !ended && n <= LINE_MAX_LENGTH)
		return;
	if (newline == NULL && n > LINE_MAX_LENGTH) {
		k->answered = true;
		reply_add(&k->out, "error: line longer than %d bytes\n",
		    LINE_MAX_LENGTH);
		return;
	}
	if (newline != NULL)
		*newline = '\0';
	else if (buffer_append(&k->in, "", 1) < 0)
		return;
	answer(k, buffer_bytes(&k->in));
}

/* Reads what is there; what comes behind the line is dropped. Returns 0, or -1
 * when the client is gone. */
static int
client_read(struct control_client *k)
{
	char chunk[CHUNK];
	ssize_t n;

	while (k->stream.flags & STREAM_READABLE) {
		n = stream_read(&k->stream, chunk, sizeof(chunk));
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		if (!k->answered) {
			if (n > 0 &&
			    buffer_append(&k->in, chunk, (size_t)n) < 0)
				return -1;
			look_for_line(k, n == 0);
		}
		if (n == 0)
			return k->answered && !k->told ? 0 : -1;
	}
	return 0;
}

static int
client_write(struct control_client *k)
{
	ssize_t n;

	while (
	    buffer_length(&k->out) > 0 && k->stream.flags & STREAM_WRITABLE) {
		n = stream_write(&k->stream, buffer_bytes(&k->out),
		    buffer_length(&k->out), true);
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		buffer_consume(&k->out, (size_t)n);
		be_patient(k);
	}
	return 0;
}

static void
client_on_ready(struct watch *w, unsigned ready)
{
	struct control_client *k =
	    list_entry(w, struct control_client, stream.watch);
	bool busy;

	stream_note_ready(&k->stream, ready);
	if (client_read(k) < 0 || client_write(k) < 0) {
		client_close(k);
		return;
	}
	busy = buffer_length(&k->out) > 0;
	if (k->answered && !busy && !k->told) {
		stream_shutdown(&k->stream);
		k->told = true;
	}
	if (k->told && k->stream.flags & STREAM_AT_EOF) {
		client_close(k);
		return;
	}
	if (watch_want(k->control->loop, w,
		READY_READ | (busy ? READY_WRITE : 0u)) < 0)
		client_close(k);
}

static void
client_on_impatience(struct timeouts *t, struct expiry *x)
{
	(void)t;
	client_close(list_entry(x, struct control_client, expiry));
}

/* ---- life ---- */

static void
on_accept(struct listener *l, int fd, const struct peer *who)
{
	struct control *c = l->arg;
	struct control_client *k = calloc(1, sizeof(*k));

	(void)who;
	/* Silent ones must not keep others out: the oldest makes room. */
	if (c->count == CLIENTS_MAX)
		client_close(list_entry(
		    list_first(&c->clients), struct control_client, link));
	if (k == NULL) {
		close(fd);
		return;
	}
	k->control = c;
	k->free_task.run = client_free_task;
	list_init(&k->free_task.link);
	expiry_init(&k->expiry);
	buffer_init(&k->in);
	buffer_init(&k->out);
	stream_open_plain(&k->stream, fd, false);
	list_append(&c->clients, &k->link);
	c->count++;
	be_patient(k);
	if (watch_start(
		c->loop, &k->stream.watch, fd, READY_READ, client_on_ready) < 0)
		client_close(k);
}

struct control *
control_new(struct pen *p, struct loop *l)
{
	struct control *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->pen = p;
	c->loop = l;
	list_init(&c->listeners);
	list_init(&c->clients);
	timeouts_init(&c->patience, l, client_on_impatience);
	return c;
}

void
control_free(struct control *c)
{
	struct list *link;

	if (c == NULL)
		return;
	while ((link = list_first(&c->clients)) != NULL)
		client_close(list_entry(link, struct control_client, link));
	while ((link = list_first(&c->listeners)) != NULL) {
		struct control_listener *cl =
		    list_entry(link, struct control_listener, link);

		list_remove(link);
		listener_close(&cl->listener);
		free(cl);
	}
	timeouts_fini(&c->patience);
	free(c);
}

int
control_listen(struct control *c, const struct addr *at, struct error *e)
{
	struct control_listener *cl = calloc(1, sizeof(*cl));
	struct sock_listen_options o = { .backlog = 128, .unix_mode = 0600 };

	if (cl == NULL)
		return error_set(e, "out of memory");
	if (listener_open(&cl->listener, c->loop, at, &o, e) < 0) {
		free(cl);
		return -1;
	}
	cl->listener.budget = 16;
	cl->listener.on_accept = on_accept;
	cl->listener.arg = c;
	list_append(&c->listeners, &cl->link);
	return 0;
}

int
control_start(struct control *c)
{
	struct list *link;

	for (link = c->listeners.next; link != &c->listeners; link = link->next)
		if (listener_resume(
			&list_entry(link, struct control_listener, link)
			     ->listener) < 0)
			return -1;
	return 0;
}
