/* upgrade.c: the stages of an upgrade, as the old process goes through them. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/log.h"
#include "control/learned.h"
#include "control/pen.h"
#include "control/process.h"
#include "control/socket.h"
#include "control/stopping.h"
#include "control/takeover.h"
#include "control/upgrade.h"
#include "control/upgrade_start.h"
#include "net/sock.h"

/* How long the new process may take until it serves, in steps; how often to see
 * whether one that failed has ended, and how many times before it is killed;
 * parts of the state in a turn; bytes that are kept of what it says. */
enum {
	STEP_MS = 5000,
	STEPS = 6,
	REAP_MS = 20,
	REAPS = 50,
	PARTS = 8,
	SAID_MAX = 4096
};

enum stage { STARTING, TELLING, TOLD, SWITCHING, SWITCHED, ENDING };

struct upgrade {
	struct pen *pen;
	enum stage stage;
	struct upgrade_child child;
	struct watch watch, error_watch;
	struct timer timer;
	struct learned_writer learned;
	struct buffer out; /* not sent yet */
	uint64_t drain_ms;
	char said[SAID_MAX];
	size_t said_length;
	const char *why; /* it failed */
	int steps, reaps;
	struct list waiters;
	struct task task; /* frees */
};

static struct upgrade *
of_watch(struct watch *w)
{
	return list_entry(w, struct upgrade, watch);
}

/* ---- what the new process says on standard error ---- */

static void
hear(struct upgrade *u)
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

static void
on_errors(struct watch *w, unsigned ready)
{
	(void)ready;
	hear(list_entry(w, struct upgrade, error_watch));
}

/* Behind "pen: " or the time of a log line. */
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

/* Calls for each line that it has said; to be called once. Returns the first
 * one, or "". */
static const char *
first_line(struct upgrade *u)
{
	u->said[u->said_length] = '\0';
	u->said[strcspn(u->said, "\n")] = '\0';
	return message_of(u->said);
}

static void
log_lines(struct upgrade *u)
{
	char *line, *rest = u->said;

	u->said[u->said_length] = '\0';
	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line != '\0')
			log_info("new process: %s", message_of(line));
}

/* ---- who waits ---- */

void
upgrade_wait(struct pen *p, struct upgrade_waiter *w)
{
	w->result = UPGRADE_WAITS;
	w->pid = p->upgrade->child.pid;
	list_append(&p->upgrade->waiters, &w->link);
}

void
upgrade_wait_cancel(struct upgrade_waiter *w)
{
	if (w->result == UPGRADE_WAITS)
		list_remove(&w->link);
	w->result = UPGRADE_NONE;
}

/* Who is told may go. */
static void
tell_waiters(
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
		w->on_news(w);
	}
}

/* ---- the end ---- */

static void
free_task(struct task *t)
{
	free(list_entry(t, struct upgrade, task));
}

/* Events that were fetched already may point to it. */
static void
discard(struct upgrade *u)
{
	struct pen *p = u->pen;

	timer_fini(&u->timer);
	watch_stop(p->loop, &u->watch);
	watch_stop(p->loop, &u->error_watch);
	close(u->child.fd);
	close(u->child.error_fd);
	buffer_fini(&u->out);
	p->upgrade = NULL;
	list_init(&u->task.link);
	u->task.run = free_task;
	loop_soon(p->loop, &u->task);
}

/* Nothing has happened: clients are accepted again. */
static void
go_on(struct upgrade *u)
{
	struct pen *p = u->pen;

	if (u->stage != SWITCHING && u->stage != SWITCHED)
		return;
	process_keep_pid_file(p->process);
	frontend_resume(p->frontend);
	if (control_start(p->control) < 0)
		log_error("control sockets not watched error=\"%s\"",
		    strerror(errno));
}

static void
log_failure(struct upgrade *u, int status)
{
	struct error e;
	char how[64];

	if (WIFEXITED(status))
		snprintf(how, sizeof(how), "exit status %d",
		    WEXITSTATUS(status));
	else
		snprintf(how, sizeof(how), "killed by signal %d",
		    WTERMSIG(status));
	hear(u);
	error_set(&e, "process %ld: %s (%s): \"%.200s\"", (long)u->child.pid,
	    u->why, how, first_line(u));
	log_error("not upgraded, this process goes on pid=%ld error=\"%s\" "
		  "end=\"%s\" said=\"%s\"",
	    (long)u->child.pid, u->why, how, first_line(u));
	tell_waiters(u, UPGRADE_FAILED, &e);
}

/* It ends soon, or is killed; nothing here waits for that. */
static void
reap(struct upgrade *u)
{
	int status = 0;

	if (waitpid(u->child.pid, &status, WNOHANG) == u->child.pid) {
		log_failure(u, status);
		discard(u);
		return;
	}
	if (u->reaps++ == REAPS)
		kill(u->child.pid, SIGKILL);
	(void)timer_start(u->pen->loop, &u->timer, REAP_MS);
}

static void
fail(struct upgrade *u, const char *why, bool kill_it)
{
	if (kill_it)
		kill(u->child.pid, SIGKILL);
	go_on(u);
	u->stage = ENDING;
	u->why = why;
	watch_stop(u->pen->loop, &u->watch);
	reap(u);
}

static void
on_time(struct timer *t)
{
	struct upgrade *u = list_entry(t, struct upgrade, timer);

	if (u->stage == ENDING) {
		reap(u);
	} else if (++u->steps < STEPS &&
	    timer_start(u->pen->loop, t, STEP_MS) == 0) {
		tell_waiters(u, UPGRADE_WAITS, NULL);
	} else {
		fail(u, "it does not serve after 30 seconds", true);
	}
}

/* The new process has everything: this one drains. */
static void
finish(struct upgrade *u)
{
	struct pen *p = u->pen;
	uint64_t ms = u->drain_ms;
	long pid = (long)u->child.pid;

	hear(u);
	log_lines(u);
	log_info("upgraded pid=%ld", pid);
	notify_leave(&p->notify, pid);
	process_leave_pid_file(p->process);
	frontend_leave(p->frontend);
	control_leave(p->control);
	tell_waiters(u, UPGRADE_DONE, NULL);
	discard(u);
	stopping_begin(p, ms, "upgrade");
}

/* ---- telling ---- */

static void
add_word(struct upgrade *u, char word)
{
	(void)buffer_append(&u->out, &word, 1);
}

/* Returns what the writer does. */
static int
add_part(struct upgrade *u,
    int (*write_part)(struct learned_writer *l, struct buffer *out))
{
	struct buffer part;
	uint32_t length;
	int rc;

	buffer_init(&part);
	rc = write_part(&u->learned, &part);
	length = (uint32_t)buffer_length(&part);
	add_word(u, TAKEOVER_STATE);
	if (rc < 0 || length > TAKEOVER_PART_MAX ||
	    buffer_append(&u->out, &length, sizeof(length)) < 0 ||
	    buffer_append(&u->out, buffer_bytes(&part), length) < 0)
		rc = -1;
	buffer_fini(&part);
	return rc;
}

/* Adds what comes next. Returns whether there was something. */
static bool
add_next(struct upgrade *u)
{
	int rc;

	if (u->stage != TELLING && u->stage != SWITCHING)
		return false;
	rc = add_part(u,
	    u->stage == TELLING ? learned_write : learned_write_flows);
	if (rc == 0) {
		add_word(
		    u, u->stage == TELLING ? TAKEOVER_ASK : TAKEOVER_GO);
		u->stage = u->stage == TELLING ? TOLD : SWITCHED;
	}
	return rc >= 0;
}

/* Sends some of what there is to tell, so that clients have their turn. Returns
 * 0, or -1 when the new process takes nothing. */
static int
tell(struct upgrade *u)
{
	bool more = true;
	ssize_t n = 0;
	int i;

	for (i = 0; i < PARTS && more && n >= 0; i++) {
		if (buffer_length(&u->out) == 0 && !add_next(u))
			more = false;
		if (buffer_length(&u->out) == 0)
			break;
		n = sock_send(u->child.fd, buffer_bytes(&u->out),
		    buffer_length(&u->out), false);
		if (n > 0)
			buffer_consume(&u->out, (size_t)n);
		else if (errno != EAGAIN)
			return -1;
	}
	more = buffer_length(&u->out) > 0 || u->stage == TELLING ||
	    u->stage == SWITCHING;
	return watch_want(u->pen->loop, &u->watch,
	    READY_READ | WATCH_LEVEL | (more ? READY_WRITE : 0u));
}

/* ---- what the new process says ---- */

/* Nobody accepts from here on; clients wait in the kernel's queues. */
static void
stop_accepting(struct upgrade *u)
{
	struct pen *p = u->pen;

	frontend_pause(p->frontend);
	control_pause(p->control);
	process_let_pid_file_go(p->process);
}

/* Returns 0, or -1 if that makes no sense now. */
static int
take_word(struct upgrade *u, char word)
{
	if (word == TAKEOVER_PREPARED && u->stage == STARTING) {
		learned_writer_init(&u->learned, u->pen);
		u->stage = TELLING;
		return 0;
	}
	if (word == TAKEOVER_LOADED && u->stage == TOLD) {
		stop_accepting(u);
		u->stage = SWITCHING;
		return 0;
	}
	return -1;
}

static void
on_ready(struct watch *w, unsigned ready)
{
	struct upgrade *u = of_watch(w);
	ssize_t n;
	char word;

	(void)ready;
	while ((n = read(u->child.fd, &word, 1)) == 1) {
		if (word == TAKEOVER_SERVING && u->stage == SWITCHED) {
			finish(u);
			return;
		}
		if (take_word(u, word) < 0) {
			fail(u, "it says what makes no sense", true);
			return;
		}
	}
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		fail(u, "it has ended", false);
	else if (tell(u) < 0)
		fail(u, "it takes no state", true);
}

/* ---- the beginning ---- */

static int
refuse_director(const struct pen *p, struct error *e)
{
	if (p->director == NULL)
		return 0;
	return error_set(e,
	    "direct server return has its interface and its VIPs to itself: "
	    "stop this process, then start the new one");
}

static int
check(const struct pen *p, struct error *e)
{
	struct error why;

	if (p->upgrade != NULL)
		return error_set(e, "one is under way already");
	if (p->phase != PHASE_SERVING)
		return error_set(e, "pen is stopping");
	if (refuse_director(p, e) < 0)
		return -1;
	if (executable_check(&p->executable, &why) == 0)
		return 0;
	if (p->plan->config.process.directory == NULL)
		return error_set(e, "%s", why.text);
	return error_set(e,
	    "%.300s in the root directory that -j has changed to: stop this "
	    "process, then start the new one",
	    why.text);
}

static int
watch_child(struct upgrade *u)
{
	struct loop *l = u->pen->loop;

	if (watch_start(l, &u->watch, u->child.fd, READY_READ | WATCH_LEVEL,
		on_ready) < 0)
		return -1;
	if (watch_start(l, &u->error_watch, u->child.error_fd,
		READY_READ | WATCH_LEVEL, on_errors) < 0) {
		watch_stop(l, &u->watch);
		return -1;
	}
	return timer_start(l, &u->timer, STEP_MS);
}

int
upgrade_begin(
    struct pen *p, uint64_t drain_ms, const char *who, struct error *e)
{
	struct upgrade *u;

	if (check(p, e) < 0)
		return -1;
	u = calloc(1, sizeof(*u));
	if (u == NULL)
		return error_set(e, "out of memory");
	if (upgrade_start(p, &u->child, e) < 0) {
		free(u);
		return -1;
	}
	u->pen = p;
	u->drain_ms = drain_ms;
	watch_init(&u->watch);
	watch_init(&u->error_watch);
	timer_init(&u->timer, on_time);
	buffer_init(&u->out);
	list_init(&u->waiters);
	p->upgrade = u;
	log_info("upgrading by=\"%s\" program=%s pid=%ld", who,
	    p->executable.path, (long)u->child.pid);
	if (watch_child(u) < 0)
		fail(u, strerror(errno), true);
	return 0;
}

bool
upgrade_is_under_way(const struct pen *p)
{
	return p->upgrade != NULL;
}

void
upgrade_free(struct upgrade *u)
{
	struct error e;

	if (u == NULL)
		return;
	kill(u->child.pid, SIGKILL);
	error_set(&e, "pen is stopping");
	tell_waiters(u, UPGRADE_FAILED, &e);
	discard(u);
}
