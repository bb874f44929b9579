/* everywhere.c: a change comes into force in all processes, or in none.
 *
 *     leader   check, prepare --PREPARE--> all --PREPARED--> commit --COMMIT-->
 *     worker   -----------------check, prepare, wait for the verdict----commit
 *
 * The command goes to the workers as it was given, with the addresses that its
 * names have; each makes its own draft of it. The workers' participant is the
 * last that prepares: in the leader it sends the command to all, in a worker it
 * waits for the decision of the leader. A worker that does not answer is ended,
 * and its replacement has what the leader has. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "control/apply/apply.h"
#include "control/apply/checks.h"
#include "control/apply/direct.h"
#include "control/apply/services.h"
#include "control/socket/request.h"
#include "control/workers/worker_private.h"
#include "control/workers/workers_private.h"

/* A verdict comes when the slowest has prepared. */
enum { VERDICT_MS = PREPARE_MS + 10000 };

/* What a change begins with; its line, and the names, are behind it. */
struct change_head {
	char service[SERVICE_NAME_MAX + 1];
	char range_service[SERVICE_NAME_MAX + 1]; /* "": all */
	bool has_range_service;
	unsigned from, past; /* the range of the names */
	size_t line;	     /* bytes; 0: names were looked up again */
	unsigned names;
	uint64_t ttl_ms;
};

/* A name; its host, and the hosts of a service, are behind it, each with its
 * NUL. */
struct name_head {
	struct resolved result;
	struct error error;
	bool failed, partly;
};

/* ---- the leader: a change as bytes ---- */

static int
write_text(struct buffer *out, const char *text)
{
	return buffer_append(out, text, strlen(text) + 1);
}

static int
write_hosts(struct buffer *out, const struct resolved *r)
{
	unsigned i;
	int rc = 0;

	for (i = 0; i < r->hosts && rc == 0; i++)
		rc = write_text(
			 out, r->host[i].name != NULL ? r->host[i].name : "") |
		    buffer_append(
			out, &r->host[i].failed, sizeof(r->host[i].failed));
	return rc;
}

static int
write_name(struct buffer *out, const struct name *n)
{
	struct name_head head = { .result = n->query.result,
		.error = n->query.error,
		.failed = n->query.failed,
		.partly = n->query.partly };

	return buffer_append(out, &head, sizeof(head)) |
	    write_text(out, n->host) | write_hosts(out, &n->query.result);
}

static int
write_names(struct buffer *out, const struct names *n)
{
	const struct list *link;
	int rc = 0;

	for (link = n->all.next; link != &n->all && rc == 0; link = link->next)
		if (((const struct name *)(const void *)link)->done)
			rc = write_name(out, (const void *)link);
	return rc;
}

static unsigned
count_names(const struct names *n)
{
	const struct list *link;
	unsigned count = 0;

	for (link = n->all.next; link != &n->all; link = link->next)
		count += ((const struct name *)(const void *)link)->done;
	return count;
}

static int
write_change(const struct apply *a, struct buffer *out)
{
	const struct team_change *c = &a->pen->team.change;
	const struct names *n = a->names;
	struct change_head head;

	memset(&head, 0, sizeof(head));
	if (c->service != NULL)
		memcpy(head.service, c->service, strlen(c->service));
	if (n->service != NULL)
		memcpy(head.range_service, n->service->name,
		    sizeof(head.range_service));
	head.has_range_service = n->service != NULL;
	head.from = n->from;
	head.past = n->past;
	head.line = c->line != NULL ? c->length : 0;
	head.names = count_names(n);
	head.ttl_ms = n->ttl_ms;
	return buffer_append(out, &head, sizeof(head)) |
	    (head.line > 0 ? buffer_append(out, c->line, head.line) : 0) |
	    write_names(out, n);
}

/* ---- the leader: all or none ---- */

int
workers_check(struct apply *a, struct error *e)
{
	if (workers_wanted(a->draft) == 1)
		return 0;
	if (direct_is_wanted(a->wanted))
		return error_set(e,
		    "direct server return is served by one process: workers "
		    "must be 1");
	if (predecessor_is_there(&a->pen->predecessor))
		return error_set(e,
		    "an upgrade cannot begin several workers: stop the old "
		    "process, then start the new one");
	return 0;
}

struct sockets_of {
	struct seat *seat;
	bool failed;
};

static void
send_socket(void *arg, int fd)
{
	struct sockets_of *to = arg;

	if (to->seat->pid != 0 &&
	    channel_send_fd(&to->seat->channel, fd, SEND_MS) < 0)
		seat_kill(to->seat, "takes no sockets");
}

int
workers_sockets_prepare(struct apply *a, struct error *e)
{
	struct workers *w = a->pen->team.workers;
	struct sockets_of to;
	struct seat *s;

	(void)e;
	if (w == NULL ||
	    (!a->first &&
		listen_list_equal(&a->now->listen, &a->wanted->listen)))
		return 0;
	SEAT_EACH (w, s) {
		to = (struct sockets_of){ .seat = s };
		frontend_each_member(a->service->frontend, s->member - 1, false,
		    send_socket, &to);
	}
	return 0;
}

/* Workers forget sockets that they got for nothing. */
void
workers_sockets_cancel(struct apply *a)
{
	if (service_is_first(a->service))
		workers_cancel(a);
}

static int
hear_all(struct workers *w, bool prepared[], struct error *e)
{
	struct message *m;
	struct seat *s;
	int rc = 0;

	SEAT_EACH (w, s) {
		m = seat_wait(s, MESSAGE_PREPARED, MESSAGE_REFUSED, PREPARE_MS);
		if (m == NULL)
			continue;
		prepared[s->member - 1] = m->type == MESSAGE_PREPARED;
		if (m->type == MESSAGE_REFUSED)
			rc = error_set(
			    e, "worker %u: %.400s", s->member, m->bytes);
		free(m);
	}
	return rc;
}

static int
prepare_all(struct apply *a, struct error *e)
{
	struct workers *w = a->pen->team.workers;
	bool prepared[SOCK_GROUP_MAX] = { false };
	struct buffer change;
	struct seat *s;

	buffer_init(&change);
	if (write_change(a, &change) < 0) {
		buffer_fini(&change);
		return error_set(e, "out of memory");
	}
	SEAT_EACH (w, s)
		seat_send(s, MESSAGE_PREPARE, buffer_bytes(&change),
		    buffer_length(&change));
	buffer_fini(&change);
	if (hear_all(w, prepared, e) == 0)
		return 0;
	SEAT_EACH (w, s)
		if (prepared[s->member - 1])
			seat_send(s, MESSAGE_CANCEL, NULL, 0);
	return -1;
}

/* Servers that are new, or checked in another way. */
void
workers_states_commit(struct apply *a)
{
	struct workers *w = a->pen->team.workers;
	bool all = checks_concern_all(a);
	size_t i, n = all ? pool_slots(a->service->pool) : a->servers.count;
	const struct server *s;
	int rc = 0;

	for (i = 0; w != NULL && i < n && rc == 0; i++) {
		s = pool_slot(a->service->pool,
		    all ? (unsigned)i : a->servers.list[i].slot);
		if (s != NULL && s->present)
			rc = sync_write(a->service, s, &w->states);
	}
	if (rc < 0)
		log_error("out of memory");
}

/* ---- the worker ---- */

struct change_reader {
	const char *at;
	size_t left;
};

static const void *
take(struct change_reader *r, size_t n)
{
	const char *at = r->at;

	if (n > r->left)
		return NULL;
	r->at += n;
	r->left -= n;
	return at;
}

static const char *
take_text(struct change_reader *r)
{
	const char *end = memchr(r->at, '\0', r->left);

	return end != NULL ? take(r, (size_t)(end - r->at) + 1) : NULL;
}

static int
read_hosts(struct change_reader *r, struct resolved *to, unsigned hosts)
{
	const char *name;
	const void *failed;
	int i;

	while (hosts-- > 0) {
		name = take_text(r);
		failed = take(r, sizeof(unsigned));
		i = name != NULL && failed != NULL
		    ? resolved_add_host(to, name[0] != '\0' ? name : NULL)
		    : -1;
		if (i < 0)
			return -1;
		memcpy(&to->host[i].failed, failed, sizeof(unsigned));
	}
	return 0;
}

static int
read_name(struct change_reader *r, struct names *n)
{
	const void *bytes = take(r, sizeof(struct name_head));
	const char *host = bytes != NULL ? take_text(r) : NULL;
	struct name_head head;
	struct query *q;
	unsigned hosts;

	if (host == NULL)
		return -1;
	memcpy(&head, bytes, sizeof(head));
	q = names_give(n, host);
	if (q == NULL)
		return -1;
	hosts = head.result.hosts;
	head.result.host = NULL;
	head.result.hosts = 0;
	q->result = head.result;
	q->error = head.error;
	q->failed = head.failed;
	q->partly = head.partly;
	return read_hosts(r, &q->result, hosts);
}

static int
read_names(struct worker *w, struct change_reader *r,
    const struct change_head *head, struct names *n)
{
	unsigned i;

	n->quiet = true;
	for (i = 0; i < head->names; i++)
		if (read_name(r, n) < 0)
			return -1;
	n->ttl_ms = head->ttl_ms;
	n->from = head->from;
	n->past = head->past;
	n->service = head->has_range_service
	    ? service_find(w->pen, head->range_service)
	    : NULL;
	return 0;
}

static void
never_wakes(struct request *q)
{
	(void)q;
}

/* The command of the leader; it has what a command may wait for. */
static int
do_line(struct worker *w, struct change_reader *r,
    const struct change_head *head, struct error *e)
{
	const char *bytes = take(r, head->line);
	char *line = bytes != NULL ? strndup(bytes, head->line) : NULL;
	struct caller caller = {
		.access = ACCESS_ADMIN, .who = "by command", .prompt = true
	}; /* whose service stays */
	struct request q;
	int rc = 0;

	memcpy(caller.service, head->service, sizeof(caller.service));
	request_init(&q, w->pen, &caller, never_wakes);
	if (line == NULL || read_names(w, r, head, &q.names) < 0 ||
	    request_begin(&q, line) < 0)
		rc = error_set(e, "out of memory");
	while (rc == 0 && request_run(&q) == REQUEST_FULL)
		buffer_cut(&q.reply.out, 0);
	if (rc == 0 && q.failed) {
		*e = q.error;
		rc = -1;
	}
	request_fini(&q);
	free(line);
	return rc;
}

/* As refresh.c does it. */
static int
do_refresh(struct worker *w, struct change_reader *r,
    const struct change_head *head, struct error *e)
{
	struct plan *draft;
	struct names n;
	int rc = -1;

	names_init(&n);
	draft = plan_copy(w->pen->plan);
	if (draft == NULL || read_names(w, r, head, &n) < 0) {
		error_set(e, "out of memory");
		plan_free(draft);
	} else {
		rc = apply_plan(w->pen, draft, &n, e);
	}
	names_fini(&n);
	return rc;
}

static void
take_sockets(struct worker *w)
{
	struct channel *c = &w->channel;
	struct error e;
	uint32_t i;

	for (i = 0; i < c->fd_count; i++)
		if (inherited_add(&w->pen->inherited, c->fds[i], false, &e) ==
		    0)
			c->fds[i] = -1;
	channel_drop_fds(c);
}

void
worker_change(struct worker *w, const struct message *m)
{
	struct change_reader r = { m->bytes, m->length };
	const void *bytes = take(&r, sizeof(struct change_head));
	struct change_head head;
	struct error e;
	int rc;

	if (bytes == NULL)
		return;
	memcpy(&head, bytes, sizeof(head));
	take_sockets(w);
	w->verdict_due = false;
	team_hush(w->pen, true);
	rc = head.line > 0 ? do_line(w, &r, &head, &e)
			   : do_refresh(w, &r, &head, &e);
	if (rc < 0 || !w->verdict_due)
		inherited_fini(&w->pen->inherited);
	team_hush(w->pen, false);
	if (!w->verdict_due) {
		if (rc == 0)
			error_set(&e, "it changes nothing here");
		worker_say(w->pen, MESSAGE_REFUSED, e.text, strlen(e.text));
	}
	if (w->verdict != NULL)
		sync_hear(w->pen, w->verdict->bytes, w->verdict->length);
	free(w->verdict);
	w->verdict = NULL;
}

/* All is prepared here. */
static int
await_verdict(struct worker *w, struct error *e)
{
	struct message *m;

	w->verdict_due = true;
	worker_say(w->pen, MESSAGE_PREPARED, NULL, 0);
	m = channel_wait(
	    &w->channel, MESSAGE_COMMIT, MESSAGE_CANCEL, VERDICT_MS);
	if (m != NULL && m->type == MESSAGE_COMMIT) {
		w->verdict = m;
		return 0;
	}
	free(m);
	return error_set(e, "refused by another worker");
}

/* ---- either of them ---- */

int
workers_prepare(struct apply *a, struct error *e)
{
	struct team *t = &a->pen->team;

	return t->worker != NULL ? await_verdict(t->worker, e)
	    : t->workers != NULL ? prepare_all(a, e)
				 : 0;
}

void
workers_commit(struct apply *a)
{
	struct workers *w = a->pen->team.workers;
	struct seat *s;

	if (w == NULL)
		return;
	SEAT_EACH (w, s)
		seat_send(s, MESSAGE_COMMIT, buffer_bytes(&w->states),
		    buffer_length(&w->states));
	buffer_cut(&w->states, 0);
}

void
workers_cancel(struct apply *a)
{
	struct workers *w = a->pen->team.workers;
	struct seat *s;

	if (w == NULL)
		return;
	SEAT_EACH (w, s)
		seat_send(s, MESSAGE_CANCEL, NULL, 0);
}
