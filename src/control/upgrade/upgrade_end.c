/* upgrade_end.c: the new process serves, or it has failed; and callers are
 * notified. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "control/apply/checks.h"
#include "control/apply/services.h"
#include "control/life/context.h"
#include "control/life/on_state.h"
#include "control/life/process.h"
#include "control/peers/peers.h"
#include "control/socket/socket.h"
#include "control/life/stopping.h"
#include "control/report/fit.h"
#include "control/upgrade/upgrade_private.h"
#include "dsr/director/director.h"
#include "net/listener.h"

/* How often to see whether a process that failed has ended, and how many times
 * before it is killed. */
enum { REAP_MS = 20, REAPS = 50 };

/* Why it failed, if not by itself. */
static const char is_stopping[] = "pen is stopping";

/* ---- standard error of the new process ---- */

void
upgrade_receive(struct upgrade *u)
{
	char rest[512];
	size_t room;
	ssize_t n;

	for (;;) {
		room = sizeof(u->said) - 1 - u->said_length;
		n = room > 0
		    ? read(u->child.error_fd, u->said + u->said_length, room)
		    : read(u->child.error_fd, rest, sizeof(rest));
		if (n <= 0)
			break;
		if (room > 0)
			u->said_length += (size_t)n;
	}
	if (n == 0)
		watch_stop(u->pen->loop, &u->error_watch);
}

/* After "pen: " or the time of a log line. */
static const char *
message_of(const char *line)
{
	const char *colon = strstr(line, ": ");

	if (strncmp(line, "pen: ", 5) == 0)
		return line + 5;
	if (line[0] >= '0' && line[0] <= '9' && colon == line + 19)
		return colon + 2;
	return line;
}

/* Why it has ended: its message, which follows any warnings; or the first line
 * that it has printed, or "". To be called once. */
static const char *
cause_line(struct upgrade *u)
{
	char *found = u->said, *line, *rest = u->said;

	u->said[u->said_length] = '\0';
	while ((line = strsep(&rest, "\n")) != NULL)
		if (strncmp(line, "pen: ", 5) == 0)
			found = line;
	return message_of(found);
}

static void
upgrade_end_log_lines(struct upgrade *u)
{
	char *line, *rest = u->said;

	u->said[u->said_length] = '\0';
	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line != '\0')
			log_info("new process: %s", message_of(line));
}

/* ---- waiting callers ---- */

static void
upgrade_wait_begin(struct wait *wait, struct service *svc)
{
	struct upgrade *u = svc->pen->upgrade;
	struct upgrade_waiter *w =
	    container_of(wait, struct upgrade_waiter, wait);

	w->pid = u->child.pid;
	list_append(&u->waiters, &w->link);
}

static enum wait_result
upgrade_wait_go_on(struct wait *wait, struct buffer *out, struct error *e)
{
	const struct upgrade_waiter *w =
	    container_of(wait, struct upgrade_waiter, wait);

	switch (w->result) {
	case UPGRADE_WAITS:
		reply_add(out, "process %ld starts\n", (long)w->pid);
		return WAIT_ON;
	case UPGRADE_DONE:
		reply_add(out, "process %ld serves\n", (long)w->pid);
		return WAIT_DONE;
	default:
		error_set(e, "upgrade: %.400s", w->why.text);
		return WAIT_FAILED;
	}
}

static void
upgrade_wait_end(struct wait *wait)
{
	struct upgrade_waiter *w =
	    container_of(wait, struct upgrade_waiter, wait);

	if (w->pid != 0 && w->result == UPGRADE_WAITS)
		list_remove(&w->link);
	free(w);
}

struct wait *
upgrade_wait_new(void)
{
	static const struct wait_kind kind = { upgrade_wait_begin,
		upgrade_wait_go_on, upgrade_wait_end };
	struct upgrade_waiter *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->wait.kind = &kind;
	return &w->wait;
}

/* A caller that is notified may go. */
void
upgrade_emit_waiters(
    struct upgrade *u, enum upgrade_result result, const struct error *why)
{
	struct list now = LIST_INIT(now), *link;
	struct upgrade_waiter *w;

	while ((link = list_first(&u->waiters)) != NULL) {
		list_remove(link);
		list_append(&now, link);
	}
	while ((link = list_first(&now)) != NULL) {
		w = list_entry(link, struct upgrade_waiter, link);
		list_remove(link);
		if (result == UPGRADE_WAITS)
			list_append(&u->waiters, link);
		w->result = result;
		if (why != NULL)
			w->why = *why;
		w->wait.on_wake(&w->wait);
	}
}

/* ---- SIGHUP ---- */

void
upgrade_pass_hangup(struct pen *p)
{
	if (p->upgrade != NULL) {
		p->upgrade->hangup = true;
		log_info("SIGHUP waits for the end of the upgrade");
	} else if (p->successor != 0 && kill(p->successor, SIGHUP) == 0) {
		log_info("SIGHUP passed on pid=%ld", (long)p->successor);
	} else {
		log_warn("SIGHUP not passed on error=\"the process that took "
			 "over has exited\"");
	}
}

/* ---- the end ---- */

static void
upgrade_end_free_task(struct task *t)
{
	free(list_entry(t, struct upgrade, task));
}

/* Events that were fetched already may point to it. */
void
upgrade_discard(struct upgrade *u)
{
	struct pen *p = u->pen;

	timer_fini(&u->timer);
	watch_stop(p->loop, &u->watch);
	watch_stop(p->loop, &u->error_watch);
	close(u->child.fd);
	close(u->child.error_fd);
	buffer_fini(&u->out);
	passed_drop(&u->sockets);
	p->upgrade = NULL;
	list_init(&u->task.link);
	u->task.run = upgrade_end_free_task;
	loop_soon(p->loop, &u->task);
}

void
upgrade_forget(struct pen *p)
{
	if (p->upgrade != NULL)
		upgrade_discard(p->upgrade);
}

/* Nothing has happened: clients are accepted again. */
static void
upgrade_end_go_on(struct upgrade *u)
{
	struct pen *p = u->pen;

	if (u->stage != UPGRADE_SWITCHING && u->stage != UPGRADE_SWITCHED)
		return;
	process_claim_pid_file(p->process);
	services_pause(p, false);
	control_start(p->control);
}

static void
log_failure(struct upgrade *u, int status)
{
	const char *line;
	struct error e;
	char how[64];

	if (WIFEXITED(status))
		snprintf(
		    how, sizeof(how), "exit status %d", WEXITSTATUS(status));
	else
		snprintf(
		    how, sizeof(how), "killed by signal %d", WTERMSIG(status));
	line = cause_line(u);
	error_set(&e, "process %ld: %s (%s): \"%.200s\"", (long)u->child.pid,
	    u->why, how, line);
	log_error("upgrade failed%s pid=%ld error=\"%s\" status=\"%s\" "
		  "output=\"%s\"",
	    u->why != is_stopping ? ", old process continues" : "",
	    (long)u->child.pid, u->why, how, line);
	upgrade_emit_waiters(u, UPGRADE_FAILED, &e);
}

/* It ends soon, or is killed; nothing here waits for that. */
void
upgrade_reap(struct upgrade *u)
{
	int status = 0;

	if (waitpid(u->child.pid, &status, WNOHANG) == u->child.pid) {
		upgrade_receive(u);
		upgrade_discard(u);
		log_failure(u, status);
		if (u->hangup)
			(void)raise(SIGHUP);
		return;
	}
	if (u->reaps++ == REAPS)
		kill(u->child.pid, SIGKILL);
	(void)timer_start(u->pen->loop, &u->timer, REAP_MS);
}

/* The upgrade has failed: whether the new process wanted the listener's socket
 * no longer matters. */
static void
note_kept(void *arg, struct listener *l)
{
	(void)arg;
	l->passed = 0;
}

void
upgrade_fail(struct upgrade *u, const char *why, bool kill_it)
{
	if (kill_it)
		kill(u->child.pid, SIGKILL);
	socket_set_each(&u->pen->sockets, note_kept, NULL);
	upgrade_end_go_on(u);
	u->stage = UPGRADE_ENDING;
	u->why = why;
	watch_stop(u->pen->loop, &u->watch);
	upgrade_reap(u);
}

void
upgrade_cancel(struct pen *p)
{
	if (p->upgrade != NULL && p->upgrade->stage != UPGRADE_ENDING)
		upgrade_fail(p->upgrade, is_stopping, true);
}

static void
leave_service(struct service *svc)
{
	frontend_pass_flows(svc->frontend);
	director_hand_over(svc->director);
	svc->director = NULL;
}

/* The new process has everything: this one drains. */
void
upgrade_finish(struct upgrade *u)
{
	struct pen *p = u->pen;
	struct service *svc;
	uint64_t ms = u->drain_ms;
	long pid = (long)u->child.pid;

	upgrade_receive(u);
	upgrade_end_log_lines(u);
	log_info("upgraded pid=%ld", pid);
	p->replaced = true;
	p->successor = u->child.pid;
	SERVICE_EACH (p, svc)
		checks_stop(svc);
	notify_hand_over(&p->notify, pid);
	process_hand_over_pid_file(p->process);
	socket_set_replace(&p->sockets);
	SERVICE_EACH (p, svc)
		if (!svc->leaves)
			leave_service(svc);
	if (p->role.hand_over != NULL)
		p->role.hand_over(p);
	peers_stop(p->peers);
	fit_hand_over(p);
	upgrade_discard(u);
	stopping_begin(p, ms, "upgrade");
	on_state_free(p->on_state);
	p->on_state = NULL;
	if (u->hangup)
		upgrade_pass_hangup(p);
	upgrade_emit_waiters(u, UPGRADE_DONE, NULL);
}
