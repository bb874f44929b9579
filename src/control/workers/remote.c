/* remote.c: commands about what workers have: sessions, flows, clients. The
 * leader sends them to the workers concerned and joins the answers:
 *
 *     leader   remote_begin() ------------------> remote_continue(): the answer
 *                   |  which, level, service, line     ^ pieces, and the end
 *     worker        '-> worker_answer() -> a piece a turn */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "control/socket/request.h"
#include "control/workers/worker_private.h"
#include "control/workers/workers_private.h"
#include "net/sock_group.h"

/* ---- the leader ---- */

struct remote_answer {
	bool waits, failed, classic;
	struct buffer text;
	struct error error;
};

struct remote {
	struct wait wait;
	struct list link;
	struct task wake;
	struct loop *loop;
	struct reply *reply; /* NULL: only the ends of the answers count */
	uint32_t number;
	unsigned count;
	struct remote_answer answer[]; /* by worker */
};

/* In front of the service's name and the line. */
struct question {
	uint32_t number, access;
	char service[SERVICE_NAME_MAX + 1];
};

static void
remote_wait_begin(struct wait *w, struct service *svc)
{
	(void)w, (void)svc;
}

static bool
remote_waits(const struct remote *a)
{
	unsigned i;

	for (i = 0; i < a->count; i++)
		if (a->answer[i].waits)
			return true;
	return false;
}

/* The failure to report if all workers have failed. Success in one of them is
 * enough, because only one knows the client, or has done it: NULL then, or if
 * none has failed. */
static const struct remote_answer *
failure_of_all(const struct remote *a)
{
	const struct remote_answer *failed = NULL;
	unsigned i;

	for (i = 0; i < a->count; i++) {
		if (a->answer[i].failed)
			failed = &a->answer[i];
		else if (buffer_length(&a->answer[i].text) > 0)
			return NULL;
	}
	return failed;
}

/* Where the items of a list of JSON begin, and how many bytes they have; false:
 * it is no list. */
static bool
find_items(const struct buffer *b, const char **at, size_t *n)
{
	const char *text = buffer_bytes(b);
	size_t length = buffer_length(b);

	while (length > 0 && text[length - 1] == '\n')
		length--;
	if (length < 2 || text[0] != '[' || text[length - 1] != ']')
		return false;
	*at = text + 1;
	*n = length - 2;
	return true;
}

static void
join_answers(const struct remote *a, struct buffer *out)
{
	bool list = false, items = false;
	const char *at;
	unsigned i;
	size_t n;

	for (i = 0; i < a->count; i++) {
		const struct buffer *b = &a->answer[i].text;

		if (a->answer[i].failed || buffer_length(b) == 0)
			continue;
		if (!find_items(b, &at, &n)) {
			(void)buffer_append(
			    out, buffer_bytes(b), buffer_length(b));
			continue;
		}
		if (!list)
			(void)buffer_append(out, "[", 1);
		list = true;
		if (n == 0)
			continue;
		if (items)
			(void)buffer_append(out, ",", 1);
		items = true;
		(void)buffer_append(out, at, n);
	}
	if (list)
		(void)buffer_append(out, "]\n", 2);
}

static enum wait_result
remote_continue(struct wait *w, struct buffer *out, struct error *e)
{
	struct remote *a = container_of(w, struct remote, wait);
	const struct remote_answer *failed;

	if (remote_waits(a))
		return WAIT_ON;
	failed = a->reply != NULL ? failure_of_all(a) : NULL;
	if (failed != NULL) {
		*e = failed->error;
		a->reply->classic = failed->classic;
		return WAIT_FAILED;
	}
	join_answers(a, out);
	return WAIT_DONE;
}

static void
remote_end(struct wait *w)
{
	struct remote *a = container_of(w, struct remote, wait);
	unsigned i;

	for (i = 0; i < a->count; i++)
		buffer_fini(&a->answer[i].text);
	list_remove(&a->link);
	list_remove(&a->wake.link);
	free(a);
}

static void
on_all_answers(struct task *t)
{
	struct remote *a = list_entry(t, struct remote, wake);

	a->wait.on_wake(&a->wait);
}

static struct remote *
remote_new(struct workers *w)
{
	static const struct wait_kind kind = { remote_wait_begin,
		remote_continue, remote_end };
	struct remote *a =
	    calloc(1, sizeof(*a) + w->count * sizeof(a->answer[0]));

	if (a == NULL)
		return NULL;
	/* late answers to one that has ended are for no other */
	a->number = w->remotes_begun++;
	a->wait.kind = &kind;
	a->wake.run = on_all_answers;
	list_init(&a->wake.link);
	a->loop = w->pen->loop;
	a->count = w->count;
	list_append(&w->remotes, &a->link);
	return a;
}

/* The number, from 0 on, of the one worker that the command concerns; `count`:
 * it concerns all. */
static unsigned
worker_concerned(const struct call *c, unsigned count)
{
	const struct words *w = c->words;
	struct addr at;
	struct peer who;
	uint64_t n;

	if (w->count == 0)
		return count;
	if (c->row->flags & ROW_NUMBERS_WORKER)
		return number_parse(w->word[0], 0, UINT32_MAX, &n) == 0
		    ? (unsigned)(n % count)
		    : 0;
	if (!(c->row->flags & ROW_CLIENTS_WORKER))
		return count;
	if (c->pen->plan->process->workers_by != SOCK_GROUP_BY_ADDRESS)
		return c->row->kind == KIND_REPORT ? 0 : count;
	if (spec_parse_ip(&at, w->word[0], 0) < 0)
		return 0;
	peer_from_addr(&who, &at);
	return sock_group_of(&who, count, SOCK_GROUP_BY_ADDRESS);
}

/* Posts the question to worker `only`; if that is the number of workers, to
 * all. Returns 0, or -1 without memory: then `a` is freed. */
static int
post_question(struct remote *a, struct workers *w, unsigned only,
    struct question *q, const char *line, size_t length)
{
	struct buffer out;
	struct worker_slot *s;
	int rc;

	q->number = a->number;
	buffer_init(&out);
	rc = buffer_append(&out, q, sizeof(*q)) |
	    buffer_append(&out, line, length);
	WORKER_SLOT_EACH (w, s) {
		if (rc < 0 || (only < w->count && only != s->member - 1))
			continue;
		a->answer[s->member - 1].waits = true;
		worker_slot_post(s, MESSAGE_COMMAND, buffer_bytes(&out),
		    buffer_length(&out));
	}
	buffer_fini(&out);
	if (rc < 0)
		remote_end(&a->wait);
	return rc;
}

int
remote_begin(struct call *c, const char *line, size_t length, struct error *e)
{
	struct workers *w = c->pen->role.workers;
	struct question q = { .access =
				  c->caller != NULL ? c->caller->access
						    : ACCESS_ADMIN };
	struct remote *a = remote_new(w);

	if (a == NULL)
		return error_set(e, "out of memory");
	a->reply = c->reply;
	memcpy(q.service, c->service->name, sizeof(q.service));
	if (post_question(
		a, w, worker_concerned(c, w->count), &q, line, length) < 0)
		return error_set(e, "out of memory");
	c->wait = &a->wait;
	return 0;
}

/* An empty line: a worker has made the changes before it when it answers. */
struct wait *
remote_await_close(struct pen *p)
{
	struct workers *w = p->role.workers;
	struct question q = { .access = ACCESS_LOOK };
	struct remote *a = w->closes ? remote_new(w) : NULL;

	if (a == NULL || post_question(a, w, w->count, &q, "", 0) < 0)
		return NULL;
	return &a->wait;
}

static struct remote *
remote_find(struct workers *w, uint32_t number)
{
	struct list *link;
	struct remote *a;

	for (link = w->remotes.next; link != &w->remotes; link = link->next) {
		a = list_entry(link, struct remote, link);
		if (a->number == number)
			return a;
	}
	return NULL;
}

/* `why` it failed, behind a character; NULL: it did not. What waits goes on
 * later: one that has ended may be noticed while a change is posted. */
static void
answer_ends(struct remote *a, unsigned i, const char *why)
{
	struct remote_answer *answer = &a->answer[i];

	if (!answer->waits)
		return;
	answer->waits = false;
	answer->failed = why != NULL;
	if (why != NULL) {
		answer->classic = why[0] == '!';
		error_set(&answer->error, "%.400s", why + 1);
	}
	if (!remote_waits(a) && a->wait.on_wake != NULL)
		loop_soon(a->loop, &a->wake);
}

void
remote_receive(struct worker_slot *s, const struct message *m)
{
	uint32_t number = 0;
	struct remote *a;

	if (m->length < sizeof(number))
		return;
	memcpy(&number, m->bytes, sizeof(number));
	a = remote_find(s->workers, number);
	if (a == NULL) /* nothing waits for it any more */
		return;
	if (m->type == MESSAGE_ANSWER)
		(void)buffer_append(&a->answer[s->member - 1].text,
		    m->bytes + sizeof(number), m->length - sizeof(number));
	else
		answer_ends(a, s->member - 1,
		    m->bytes[sizeof(number)] == '+'
			? NULL
			: m->bytes + sizeof(number));
}

void
remote_lose(struct worker_slot *s)
{
	struct list *all = &s->workers->remotes, *link;

	for (link = all->next; link != all; link = link->next)
		answer_ends(list_entry(link, struct remote, link),
		    s->member - 1, "-a worker has ended");
}

/* ---- the worker ---- */

struct answering {
	struct list link;
	struct worker *worker;
	struct request request;
	struct caller caller;
	struct task task;
	uint32_t number;
	bool waits; /* for room */
};

static void
answering_free(struct answering *a)
{
	list_remove(&a->link);
	list_remove(&a->task.link);
	request_fini(&a->request);
	free(a);
}

void
worker_forget_answers(struct worker *w)
{
	struct list *link;

	while ((link = list_first(&w->answers)) != NULL)
		answering_free(list_entry(link, struct answering, link));
}

static void
send_numbered(
    const struct answering *a, unsigned type, const char *text, size_t n)
{
	struct buffer out;

	buffer_init(&out);
	if ((buffer_append(&out, &a->number, sizeof(a->number)) |
		buffer_append(&out, text, n)) == 0)
		worker_send(a->worker->pen, type, buffer_bytes(&out),
		    buffer_length(&out));
	buffer_fini(&out);
}

/* A refusal is a line of the answer, too, which the leader makes itself. */
static void
send_end(struct answering *a)
{
	char text[sizeof(struct error) + 1];
	struct request *q = &a->request;

	snprintf(text, sizeof(text), "%c%s",
	    !q->failed		   ? '+'
		: q->reply.classic ? '!'
				   : '-',
	    q->failed ? q->error.text : "");
	if (!q->failed && buffer_length(&q->reply.out) > 0)
		send_numbered(a, MESSAGE_ANSWER, buffer_bytes(&q->reply.out),
		    buffer_length(&q->reply.out));
	send_numbered(a, MESSAGE_ANSWERED, text, strlen(text));
}

static void
continue_answering(struct answering *a)
{
	struct request *q = &a->request;

	switch (request_run(q)) {
	case REQUEST_FULL:
		send_numbered(a, MESSAGE_ANSWER, buffer_bytes(&q->reply.out),
		    buffer_length(&q->reply.out));
		buffer_cut(&q->reply.out, 0);
		a->waits = worker_is_full(a->worker);
		if (!a->waits)
			pieces_soon(&a->worker->pen->replies, &a->task);
		break;
	case REQUEST_WAITS:
		break;
	case REQUEST_DONE:
		send_end(a);
		answering_free(a);
		break;
	}
}

static void
on_wake(struct request *q)
{
	continue_answering(list_entry(q, struct answering, request));
}

static void
on_piece(struct task *t)
{
	continue_answering(list_entry(t, struct answering, task));
}

void
worker_resume_answers(struct worker *w)
{
	struct answering *a;
	struct list *link;

	for (link = w->answers.next; link != &w->answers; link = link->next) {
		a = list_entry(link, struct answering, link);
		if (a->waits)
			pieces_soon(&w->pen->replies, &a->task);
		a->waits = false;
	}
}

void
worker_answer(struct worker *w, const struct message *m)
{
	struct answering *a = calloc(1, sizeof(*a));
	struct question q;

	if (a == NULL || m->length < sizeof(q)) {
		free(a);
		return;
	}
	memcpy(&q, m->bytes, sizeof(q));
	a->worker = w;
	a->number = q.number;
	a->caller.access = (enum access)q.access;
	a->caller.prompt = true; /* its service stays */
	memcpy(a->caller.service, q.service, sizeof(q.service));
	a->task.run = on_piece;
	list_init(&a->task.link);
	list_append(&w->answers, &a->link);
	request_init(&a->request, w->pen, &a->caller, on_wake);
	if (request_begin(&a->request, m->bytes + sizeof(q)) == 0)
		continue_answering(a);
	else
		answering_free(a);
}
