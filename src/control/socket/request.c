/* request.c: one line of commands: parse, may you, do, wait, answer. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "control/apply/apply.h"
#include "control/apply/services.h"
#include "control/answer/fields.h"
#include "control/plan/check_plan.h"
#include "control/report/plan_difference.h"
#include "control/socket/naming.h"
#include "control/socket/request.h"

static void
on_wait(struct wait *w)
{
	struct request *q = w->arg;

	q->on_wake(q);
}

static void
on_loads(struct acl_loads *l)
{
	struct request *q = list_entry(l, struct request, loads);

	q->on_wake(q);
}

void
request_init(struct request *q, struct pen *p, struct caller *caller,
    void (*on_wake)(struct request *q))
{
	memset(q, 0, sizeof(*q));
	q->pen = p;
	q->caller = caller;
	q->on_wake = on_wake;
	reply_init(&q->reply);
	names_init(&q->names);
	errors_init(&q->errors);
	acl_loads_init(&q->loads, on_loads);
	q->loads.loop = p->loop;
}

static void
end_wait(struct request *q)
{
	if (q->wait != NULL)
		q->wait->kind->end(q->wait);
	q->wait = NULL;
}

/* The answer waits for what a command that is in force wants. */
static void
begin_wait(struct request *q, struct wait *w, struct service *svc)
{
	q->wait = w;
	w->on_wake = on_wait;
	w->arg = q;
	w->kind->begin(w, svc);
}

void
request_fini(struct request *q)
{
	names_fini(&q->names);
	acl_loads_clear(&q->loads);
	end_wait(q);
	errors_fini(&q->errors);
	reply_fini(&q->reply);
	free(q->line);
	q->line = q->next = NULL;
}

int
request_begin(struct request *q, const char *line)
{
	free(q->line);
	q->failed = q->reply.classic = false;
	errors_fini(&q->errors);
	if (q->caller != NULL && !q->caller->prompt)
		q->caller->service[0] = '\0';
	q->line = q->next = strdup(line);
	if (q->line != NULL)
		return 0;
	q->failed = true;
	return error_set(&q->error, "out of memory");
}

/* ---- one command ---- */

/* "json" as the last word requests JSON; not of what changes something, nor of
 * what chooses a service, which has no answer. */
static int
take_json(const struct command *row, struct words *w, bool no, bool *json,
    struct error *e)
{
	int n = w->count;

	*json = n > 0 && strcmp(w->word[n - 1], "json") == 0 &&
	    !(row->flags & ROW_PREFIX) &&
	    (row->kind == KIND_REPORT || row_only_prints(row, n - 1, no) ||
		(n == 1 && row->kind <= KIND_CHANGE && !no &&
		    !row_changes(row, 0, no)));
	if (!*json)
		return 0;
	if (!fields_have_json())
		return error_set(e, "json: built without Jansson");
	w->word[--w->count] = NULL;
	return 0;
}

static void
request_on_names(struct names *n)
{
	struct request *q = list_entry(n, struct request, names);

	q->on_wake(q);
}

/* Looks the names up that the draft needs. Returns whether it waits for
 * them. */
static bool
wait_for_names(struct request *q)
{
	if (q->names.missing == 0)
		return false;
	if (q->pen->role.member > 0) {
		names_fail_rest(&q->names);
		return false;
	}
	if (q->pen->resolver == NULL) {
		names_look_up_now(&q->names, NULL);
		return false;
	}
	names_look_up(&q->names, q->pen->resolver, request_on_names);
	return true;
}

/* Runs the line on the draft. If it has waited for names, its warnings were
 * logged the first time, and are not logged again. */
static int
run_draft(struct request *q, struct call *c, struct error *e)
{
	enum log_level level = log_level;
	int rc;

	if (q->logged)
		log_level = LOG_LEVEL_NONE;
	rc = command_run(c, e);
	log_level = level;
	if (rc < 0 && errors_count(&q->errors) > 0)
		(void)errors_add(&q->errors, e);
	return errors_at(&q->errors, 0, e) ? -1 : rc;
}

static bool
reads_file(const struct command *row)
{
	return strcmp(row->name, "reload") == 0 ||
	    strcmp(row->name, "include") == 0;
}

/* A command is no line of the file, though a setting from there may be in its
 * way: takes "FILE:LINE: " out of a full message. */
static void
forget_line(const struct pen *p, struct error *e)
{
	const char *file = p->plan->process->file;
	size_t n = file != NULL ? strlen(file) : 0, digits;
	char *at = e->text, *end;

	if (strncmp(at, "service ", 8) == 0 && (end = strstr(at, ": ")) != NULL)
		at = end + 2;
	if (n == 0 || strncmp(at, file, n) != 0 || at[n] != ':')
		return;
	digits = strspn(at + n + 1, "0123456789");
	end = at + n + 1 + digits;
	if (digits > 0 && strncmp(end, ": ", 2) == 0)
		memmove(at, end + 2, strlen(end + 2) + 1);
}

/* The command changes a draft, which comes into force if it can. */
static int
request_change(struct request *q, struct call *c, bool *waits, struct error *e)
{
	size_t said = buffer_length(&q->reply.out);
	struct plan *before = NULL;
	struct pen *p = q->pen;
	int rc;

	c->draft = plan_copy(p->plan);
	if (c->draft != NULL)
		c->plan = plan_service_edit(c->draft, c->service->name);
	if (c->draft == NULL || c->plan == NULL) {
		plan_free(c->draft);
		return error_set(e, "out of memory");
	}
	errors_fini(&q->errors);
	p->errors = reads_file(c->row) ? &q->errors : NULL;
	p->loads = &q->loads;
	process_role_begin_change(p, q->next, q->length, q->service);
	rc = run_draft(q, c, e);
	if (rc == 0)
		rc = naming_check_draft(q, c->row, c->draft, e);
	p->loads = NULL;
	*waits = rc == 0 && acl_loads_wait(&q->loads);
	q->names.past = c->fresh ? UINT_MAX : 0;
	if (rc == 0 && apply_want_names(p, c->draft, &q->names) < 0)
		rc = error_set(e, "out of memory");
	if (rc == 0 && !*waits)
		*waits = wait_for_names(q);
	p->who = q->caller != NULL ? q->caller->who : NULL;
	if (rc == 0 && c->reloads && (before = plan_copy(p->plan)) == NULL)
		rc = error_set(e, "out of memory");
	if (rc < 0 || *waits)
		plan_free(c->draft);
	else
		rc = apply_plan(p, c->draft, &q->names, e);
	if (rc == 0 && !*waits && c->reloads && p->role.member == 0)
		plan_difference_log(before, p->plan,
		    q->caller != NULL ? q->caller->who : "SIGHUP");
	plan_free(before);
	p->who = NULL;
	p->errors = NULL;
	process_role_end_change(p);
	if (rc < 0 && !reads_file(c->row))
		forget_line(p, e);
	if (rc < 0 || *waits) /* what it answered is not true (yet) */
		buffer_cut(&q->reply.out, said);
	return rc;
}

/* A control session that stayed open over an upgrade is with the old process,
 * and commands can only be about its own sessions and end. */
static int
refuse_to_change(const struct request *q, const struct command *row,
    enum access needed, struct error *e)
{
	const struct pen *p = q->pen;

	if (q->caller == NULL || !p->replaced || needed == ACCESS_LOOK ||
	    row->flags & ROW_DRAINING)
		return 0;
	return p->successor != 0
	    ? error_set(e, "process %ld serves now", (long)p->successor)
	    : error_set(e, "another process serves now");
}

/* The result is for monitoring. */
static void
end_reload(struct pen *p, bool done)
{
	services_refresh(p);
	p->reload_failed = !done;
	if (done)
		p->loaded_wall = time(NULL);
}

/* Begins the wait that the command has set, if it was carried out; else drops
 * it. */
static void
request_finish(struct request *q, struct call *c, bool done)
{
	if (c->wait == NULL)
		return;
	if (done)
		begin_wait(q, c->wait, c->service);
	else
		c->wait->kind->end(c->wait);
}

/* The one that is meant; NULL: it is not there, or no more. */
static struct service *
request_service(const struct request *q)
{
	return q->service[0] == '\0' ? q->pen->service
				     : service_find(q->pen, q->service);
}

static uint64_t
preopened(const struct service *svc)
{
	return svc->frontend != NULL ? frontend_preopened(svc->frontend) : 0;
}

/* Carries out a report here, or requests it from the workers if only they have
 * its data. */
static int
run_here_or_there(struct request *q, struct call *c, struct error *e)
{
	struct process_role *t = &q->pen->role;

	if (t->workers == NULL)
		return command_run(c, e);
	if (c->row->flags & ROW_COUNTERS)
		pen_count(q->pen);
	if (!(c->row->flags & ROW_WORKERS))
		return command_run(c, e);
	return t->run(c, q->next, q->length, e);
}

/* Runs a report; callers that may not read secrets get a plan without them. */
static int
request_report(struct request *q, struct call *c, struct error *e)
{
	struct plan *shown;
	int rc;

	if (!(c->row->flags & ROW_SECRETS) || q->caller == NULL ||
	    q->caller->access > ACCESS_LOOK)
		return run_here_or_there(q, c, e);
	shown = plan_copy(q->pen->plan);
	if (shown == NULL || check_plan_hide_secrets(shown) < 0 ||
	    (c->plan = plan_service_edit(shown, c->service->name)) == NULL) {
		plan_free(shown);
		return error_set(e, "out of memory");
	}
	c->draft = shown;
	rc = command_run(c, e);
	plan_free(shown);
	return rc;
}

/* Checks the caller's rights and the arguments of the row, then carries it
 * out. */
static int
run_row(struct request *q, const struct command *row, struct words *w, bool no,
    bool *waits, struct error *e)
{
	struct service *svc = request_service(q);
	struct call c = { .pen = q->pen,
		.service = svc,
		.draft = q->pen->plan,
		.plan = svc != NULL ? svc->plan : NULL,
		.row = row,
		.words = w,
		.no = no,
		.caller = q->caller,
		.reply = &q->reply };
	enum access needed;
	int rc;

	if (svc == NULL)
		return error_set(e, "there is no service \"%s\"", q->service);
	if (q->pen->phase >= PHASE_SERVING) {
		c.preopened = preopened;
		call_set_service(&c, svc);
	}
	if (take_json(row, w, no, &q->reply.json, e) < 0)
		return -1;
	needed = row_access(row, w->count, no);
	if (q->caller != NULL && q->caller->access < needed)
		return error_set(e, "needs the level %s, yours is %s",
		    access_name(needed), access_name(q->caller->access));
	if (naming_check(q, row, needed, e) < 0 ||
	    refuse_to_change(q, row, needed, e) < 0)
		return -1;
	if (!row_changes(row, w->count, no)) {
		rc = request_report(q, &c, e);
		request_finish(q, &c, rc == 0);
		return rc;
	}
	if (row->flags & ROW_START && q->pen->phase >= PHASE_SERVING)
		return error_set(e, "can be set only at startup");
	rc = request_change(q, &c, waits, e);
	if (rc == 0 && !*waits && c.wait == NULL && q->caller != NULL &&
	    q->pen->role.await_close != NULL)
		c.wait = q->pen->role.await_close(q->pen);
	if (c.reloads && !*waits)
		end_reload(q->pen, rc == 0);
	request_finish(q, &c, rc == 0 && !*waits);
	return rc;
}

/* Puts the command's name in front of the error: "no acl: expects N". */
static void
name_error(struct request *q, const struct command *row, bool no,
    const struct error *why)
{
	command_name_error(row, no, why, &q->error);
	errors_of(&q->errors, 0, row->name);
	if (q->reply.classic)
		q->error = *why;
}

/* ---- the log of commands ---- */

enum { LOGGED_MAX = 200 };

/* The command, as one word between quotes. */
static void
copy_command(char to[LOGGED_MAX], const char *from, size_t length)
{
	size_t n;

	while (length > 0 && (*from == ' ' || *from == '\t')) {
		from++;
		length--;
	}
	while (length > 0 && strchr(" \t\r", from[length - 1]) != NULL)
		length--;
	for (n = 0; n < length && n < LOGGED_MAX - 1; n++)
		to[n] = from[n] == '"'		   ? '\''
		    : (unsigned char)from[n] < ' ' ? '?'
						   : from[n];
	to[n] = '\0';
}

/* Logs what a control client has changed or done, not what it has read. */
static void
log_command(const struct request *q, const struct command *row, int arguments,
    bool no, const char *text, size_t length)
{
	bool named = q->service[0] != '\0' && row->scope != SCOPE_PROCESS &&
	    strcmp(q->service, "default") != 0;
	char command[LOGGED_MAX];

	if (q->caller == NULL || q->pen->role.member > 0 ||
	    log_level < LOG_LEVEL_INFO ||
	    row_access(row, arguments, no) == ACCESS_LOOK ||
	    (row->kind != KIND_ACTION && !row_changes(row, arguments, no)))
		return;
	copy_command(command, text, length);
	log_write(NULL, LOG_LEVEL_INFO, "command \"%s\" %s%s%s", command,
	    q->caller->who, named ? " service=" : "", named ? q->service : "");
}

/* The command at q->next. On *waits it is to be done again. */
static int
run_next(struct request *q, bool *waits)
{
	struct error *e = &q->error;
	char *copy = strdup(q->next), *rest;
	const struct command *row;
	const char *name = NULL;
	struct words w;
	struct error why;
	bool no = false;
	int rc;

	if (copy == NULL)
		return error_set(e, "out of memory");
	rc = command_parse(q->pen->commands, copy, &row, &w, &no, &rest, e);
	if (rc == 0)
		name = command_take_service(q->pen->commands, &row, &w, &no);
	if (rc == 0 && row != NULL)
		rc = naming_choose(q, row, name, e);
	q->length =
	    rest != NULL ? (size_t)(rest - copy) - 1 : strlen(q->next);
	if (rc == 0 && row != NULL) {
		rc = run_row(q, row, &w, no, waits, &why);
		if (rc < 0)
			name_error(q, row, no, &why);
		else if (!*waits)
			log_command(
			    q, row, w.count, no, q->next, q->length);
	}
	q->logged = *waits && !acl_loads_wait(&q->loads);
	if (!*waits) {
		q->next = rest != NULL ? q->next + (rest - copy) : NULL;
		names_clear(&q->names);
		acl_loads_clear(&q->loads);
	}
	free(copy);
	return rc;
}

/* ---- the line ---- */

static void
hint_at_sandbox(const struct pen *p, struct error *e)
{
	size_t n = strlen(e->text);

	if (p->plan->process->sandbox == SANDBOX_ON &&
	    strstr(e->text, strerror(EACCES)) != NULL)
		snprintf(e->text + n, sizeof(e->text) - n,
		    " (sandbox on: files only in directories of the start)");
}

static enum request_result
request_refuse(struct request *q)
{
	struct error more;
	unsigned i;

	hint_at_sandbox(q->pen, &q->error);
	q->failed = true;
	q->next = NULL;
	q->reply.more = NULL;
	q->reply.in_list = q->reply.listed = false;
	reply_add(&q->reply.out, "%s%.500s\n",
	    q->reply.classic ? "" : "error: ", q->error.text);
	for (i = 1; errors_at(&q->errors, i, &more); i++)
		reply_add(&q->reply.out, "error: %.500s\n", more.text);
	return REQUEST_DONE;
}

/* Continues the wait of the previous command. */
static enum request_result
go_on_waiting(struct request *q)
{
	enum wait_result result;
	struct error why;

	if (q->wait == NULL)
		return REQUEST_DONE;
	result = q->wait->kind->go_on(q->wait, &q->reply.out, &why);
	if (result == WAIT_ON)
		return REQUEST_WAITS;
	end_wait(q);
	if (result == WAIT_DONE)
		return REQUEST_DONE;
	q->error = why;
	return request_refuse(q);
}

enum request_result
request_run(struct request *q)
{
	enum request_result result;
	struct service *svc;
	bool waits = false;

	for (;;) {
		if (buffer_length(&q->reply.out) >= REPLY_PIECE)
			return REQUEST_FULL;
		result = go_on_waiting(q);
		if (result == REQUEST_WAITS || q->failed)
			return result;
		if (q->reply.more != NULL) {
			svc = request_service(q);
			if (svc == NULL) {
				error_set(&q->error,
				    "the service \"%s\" was removed meanwhile",
				    q->service);
				return request_refuse(q);
			}
			if (!q->reply.more(&q->reply, svc))
				q->reply.more = NULL;
			if (q->reply.more != NULL)
				return REQUEST_FULL;
			continue;
		}
		if (q->next == NULL || (q->caller != NULL && q->caller->quit))
			return REQUEST_DONE;
		if (run_next(q, &waits) < 0)
			return request_refuse(q);
		if (waits)
			return REQUEST_WAITS;
	}
}
