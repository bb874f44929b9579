/* client.c: one client of the control socket: its line, its answer, its end.
 *
 *     reads a line -> carries it out -> answers -> closes
 *        ^                |  ^             |
 *        |                '--' names       '-- with a prompt: the next line
 *
 * Owns a line while it is incomplete and an answer while it is not taken; an
 * answer of any size is made in pieces, as it is taken. Commands are carried
 * out, and pieces made, in turn with all others that wait for some. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/life/context.h"
#include "control/socket/request.h"
#include "control/socket/socket_private.h"
#include "net/sock.h"
#include "net/stream.h"

/* The longest line; what is read of a client in one turn; what is read, and
 * thrown away, after the line of one that is closing; lines in a turn. */
enum {
	LINE_MAX_LENGTH = 64 * 1024,
	CHUNK = 16 * 1024,
	DROP_MAX = 16 * 1024 * 1024,
	LINES = 8
};

struct client {
	struct control *control;
	struct list link;
	struct stream stream;
	struct caller caller;
	struct request request;
	struct buffer in; /* lines not carried out yet */
	bool ended;	  /* it has sent FIN */
	bool gone;	  /* and takes nothing any more */
	bool busy;	  /* a line is being carried out */
	bool waits;	  /* for names, or for a server to drain */
	bool answered;	  /* and that was all */
	bool counted;	  /* a stop waits for the end of its answer */
	bool told;	  /* it got our FIN */
	size_t dropped;	  /* bytes that came too late */
	struct expiry expiry;
	struct task turn; /* goes on when those before it had theirs */
	struct task free_task;
};

static void
client_free_task(struct task *t)
{
	free(list_entry(t, struct client, free_task));
}

/* Keeps count of the answers that are not finished. */
static void
count_answer(struct client *k, bool unfinished)
{
	if (unfinished != k->counted)
		k->control->pen->answers += unfinished ? 1 : -1;
	k->counted = unfinished;
}

/* Half an answer ends with a RST, where there is one: it is not to be taken for
 * a whole one. */
static void
client_close(struct client *k, bool reset)
{
	struct control *c = k->control;

	count_answer(k, false);
	stream_close(c->loop, &k->stream, reset);
	request_fini(&k->request);
	buffer_fini(&k->in);
	expiry_cancel(&k->expiry);
	list_remove(&k->link);
	list_remove(&k->turn.link);
	loop_soon(c->loop, &k->free_task);
	c->count--;
}

void
client_on_idle(struct timeouts *t, struct expiry *x)
{
	struct client *k = list_entry(x, struct client, expiry);

	(void)t;
	client_close(k, k->counted);
}

/* Restarts the idle timeout of a client that has done something. */
static void
be_patient(struct client *k)
{
	struct control *c = k->control;

	expiry_cancel(&k->expiry);
	timeouts_add(&c->idle, &k->expiry, loop_now(c->loop) + IDLE_MS);
	list_remove(&k->link);
	list_append(&c->clients, &k->link);
}

/* ---- lines ---- */

static void
client_begin(struct client *k, char *line)
{
	be_patient(k);
	if (request_begin(&k->request, line) == 0)
		k->busy = true;
	else
		reply_add(&k->request.reply.out, "error: out of memory\n");
}

/* Takes the next line, complete with its newline or with the client's end.
 * Returns whether there was one. */
static bool
client_take_line(struct client *k)
{
	size_t n = buffer_length(&k->in), skip;
	const char *bytes = n > 0 ? buffer_bytes(&k->in) : "";
	const char *newline = memchr(bytes, '\n', n);
	char *line;

	if ((newline != NULL ? (size_t)(newline - bytes) : n) >
	    LINE_MAX_LENGTH) {
		reply_add(&k->request.reply.out,
		    "error: line longer than %d bytes\n", LINE_MAX_LENGTH);
		k->caller.quit = true;
		buffer_cut(&k->in, 0);
		return true;
	}
	if (newline == NULL && (!k->ended || n == 0))
		return false;
	skip = newline != NULL ? (size_t)(newline - bytes) + 1 : n;
	line = strndup(bytes, newline != NULL ? skip - 1 : n);
	if (line == NULL)
		reply_add(&k->request.reply.out, "error: out of memory\n");
	else if (memchr(bytes, '\0', skip) != NULL)
		reply_add(
		    &k->request.reply.out, "error: a line with a NUL byte\n");
	else
		client_begin(k, line);
	free(line);
	buffer_consume(&k->in, skip);
	return true;
}

/* Whether its bytes are lines to be carried out. */
static bool
is_heard(const struct client *k)
{
	return !k->answered && (k->caller.prompt || !k->busy);
}

/* Whether there is room for more of its bytes. */
static bool
client_has_room(const struct client *k)
{
	return !is_heard(k) || buffer_length(&k->in) <= LINE_MAX_LENGTH;
}

/* A client that disconnects is not logged; that pen lacks memory for one is.
 * Returns -1. */
static int
client_lost(int error)
{
	if (error == ENOMEM || error == ENOBUFS || error == ENOSPC)
		log_warn("control client not served error=\"%s\"",
		    strerror(error));
	return -1;
}

/* Reads some of what is there. After its one line a client without a prompt
 * is read from only to see it go. Returns 0, or -1 when it is gone, or talks
 * on and on. */
static int
client_read(struct client *k)
{
	char chunk[CHUNK];
	ssize_t n;

	if (!(k->stream.flags & STREAM_READABLE) || !client_has_room(k))
		return 0;
	n = stream_read(&k->stream, chunk, sizeof(chunk));
	if (n < 0)
		return errno == EAGAIN ? 0 : client_lost(errno);
	if (n == 0) {
		k->ended = true;
		return k->told ? -1 : 0;
	}
	if (is_heard(k) && buffer_append(&k->in, chunk, (size_t)n) < 0)
		return client_lost(ENOMEM);
	if (is_heard(k))
		return 0;
	k->dropped += (size_t)n;
	return k->dropped < DROP_MAX ? 0 : -1;
}

/* ---- answers ---- */

/* Returns 0, or -1 when it is gone, which no second write would find out. */
static int
client_write(struct client *k)
{
	struct buffer *out = &k->request.reply.out;
	ssize_t n;

	while (buffer_length(out) > 0 && k->stream.flags & STREAM_WRITABLE) {
		n = stream_write(
		    &k->stream, buffer_bytes(out), buffer_length(out), false);
		if (n < 0) {
			k->gone = errno != EAGAIN;
			return k->gone ? client_lost(errno) : 0;
		}
		buffer_consume(out, (size_t)n);
		be_patient(k);
	}
	return 0;
}

void
clients_close_in_child(struct control *c)
{
	struct list *link;

	while ((link = list_first(&c->clients)) != NULL)
		client_close(list_entry(link, struct client, link), false);
}

/* Closes the client that was idle for the longest time. One that waits gets an
 * error line, as it would take the end of the connection for the end of its
 * wait. */
void
client_close_oldest(struct control *c)
{
	struct client *k =
	    list_entry(list_first(&c->clients), struct client, link);

	if (k->waits) {
		reply_add(&k->request.reply.out,
		    "error: closed by pen before it was done\n");
		(void)client_write(k);
	}
	client_close(k,
	    k->counted &&
		(!k->waits || buffer_length(&k->request.reply.out) > 0));
}

/* After an answer: the next line, or the end. */
static void
line_is_done(struct client *k)
{
	k->busy = false;
	if (k->caller.prompt && !k->caller.quit)
		reply_add(&k->request.reply.out, "pen> ");
	else
		k->answered = true;
}

/* Whether a turn may be of use: to a line that is carried out, or has come. */
static bool
has_work(const struct client *k)
{
	return !k->waits && !k->answered &&
	    buffer_length(&k->request.reply.out) < REPLY_PIECE &&
	    (k->busy || buffer_length(&k->in) > 0);
}

/* Carries out what there is, as far as the client takes the answers, if it is
 * its turn; returns whether there is more to do. A piece of a long answer is a
 * turn's work. It writes first and last, so that an answer left over means a
 * full socket, and the loop reports when to continue. */
static bool
client_work(struct client *k, bool turn)
{
	enum request_result result;
	int i;

	if (client_write(k) < 0)
		return false;
	if (!turn)
		return has_work(k);
	for (i = 0; i < LINES; i++) {
		if (!has_work(k) || (!k->busy && !client_take_line(k)))
			return false;
		result = k->busy ? request_run(&k->request) : REQUEST_DONE;
		k->waits = result == REQUEST_WAITS;
		if (result == REQUEST_DONE)
			line_is_done(k);
		if (client_write(k) < 0)
			return false;
		if (result == REQUEST_FULL)
			return buffer_length(&k->request.reply.out) <
			    REPLY_PIECE;
	}
	return true;
}

/* The events that the loop is to wait for: only those that can be handled
 * now. */
static unsigned
client_wanted(const struct client *k)
{
	return (k->ended || !client_has_room(k) ? 0u : READY_READ) |
	    (buffer_length(&k->request.reply.out) > 0 ? READY_WRITE : 0u);
}

/* Whether there are bytes it may read at once, not waiting for the loop. */
static bool
may_read_on(const struct client *k)
{
	return k->stream.flags & STREAM_READABLE && !k->ended &&
	    client_has_room(k);
}

static void
client_go_on(struct client *k, bool turn)
{
	bool busy, gone, again = false;

	gone = client_read(k) < 0;
	if (!gone) {
		again = client_work(k, turn);
		gone = k->gone || client_write(k) < 0;
	}
	busy = buffer_length(&k->request.reply.out) > 0;
	if (!gone && !busy && !again && !k->told &&
	    (k->answered || (k->ended && !k->busy))) {
		stream_shutdown(&k->stream);
		k->told = true;
	}
	if (gone || (k->told && k->ended)) {
		client_close(k, false);
		return;
	}
	count_answer(k, k->busy || busy);
	if (watch_want(k->control->loop, &k->stream.watch, client_wanted(k)) <
	    0) {
		(void)client_lost(errno);
		client_close(k, k->counted);
	} else if (again || may_read_on(k))
		pieces_soon(&k->control->pen->replies, &k->turn);
}

static void
client_on_ready(struct watch *w, unsigned ready)
{
	struct client *k = list_entry(w, struct client, stream.watch);

	stream_note_ready(&k->stream, ready);
	client_go_on(k, false);
}

static void
client_on_turn(struct task *t)
{
	client_go_on(list_entry(t, struct client, turn), true);
}

/* Continues a client whose wait is over, or had a turn. It was silent because
 * of pen, so that its idle timeout begins again. */
static void
client_on_wake(struct request *q)
{
	struct client *k = list_entry(q, struct client, request);

	k->waits = false;
	be_patient(k);
	client_go_on(k, true);
}

/* ---- life ---- */

static void
client_name_client(struct caller *a, int fd, const struct peer *who)
{
	char text[PEER_TEXT_MAX];
	struct peer_owner owner;

	if (who->family == AF_UNIX && sock_peer_owner(fd, &owner) == 0)
		snprintf(a->who, sizeof(a->who), "by uid=%ld pid=%ld",
		    (long)owner.uid, (long)owner.pid);
	else
		snprintf(
		    a->who, sizeof(a->who), "by %s", peer_format(who, text));
}

void
client_start(
    struct control *c, int fd, const struct peer *who, enum access access)
{
	struct client *k = calloc(1, sizeof(*k));

	if (k == NULL) {
		(void)client_lost(ENOMEM);
		close(fd);
		return;
	}
	k->control = c;
	k->caller.access = access;
	k->caller.remote = who->family != AF_UNIX;
	client_name_client(&k->caller, fd, who);
	k->free_task.run = client_free_task;
	k->turn.run = client_on_turn;
	list_init(&k->free_task.link);
	list_init(&k->turn.link);
	expiry_init(&k->expiry);
	buffer_init(&k->in);
	request_init(&k->request, c->pen, &k->caller, client_on_wake);
	stream_open_plain(&k->stream, fd, false);
	list_append(&c->clients, &k->link);
	c->count++;
	be_patient(k);
	if (watch_start(
		c->loop, &k->stream.watch, fd, READY_READ, client_on_ready) <
	    0) {
		(void)client_lost(errno);
		client_close(k, false);
	}
}
