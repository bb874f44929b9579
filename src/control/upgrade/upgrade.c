/* upgrade.c: the stages of an upgrade, as the old process goes through them. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "control/apply/services.h"
#include "control/life/context.h"
#include "control/life/process.h"
#include "control/socket/socket.h"
#include "control/upgrade/takeover.h"
#include "control/upgrade/upgrade_private.h"
#include "dsr/director/director.h"
#include "net/listener.h"
#include "net/sock.h"

/* How long the new process may take until it serves, in steps; how long while
 * no process accepts; parts of the state in a turn. */
enum { STEP_MS = 5000, STEPS = 6, SWITCH_MS = 2000, PARTS = 8 };

/* ---- telling ---- */

static void
upgrade_add_word(struct upgrade *u, char word)
{
	(void)buffer_append(&u->out, &word, 1);
}

/* The next part of the state: of all but the flows, or of these. What workers
 * have is between the two of this process: of servers that are known, and in
 * front of the end. */
static int
write_part(struct upgrade *u, bool flows, struct buffer *out)
{
	struct pen *p = u->pen;
	int rc;

	if (!u->of_workers) {
		rc = flows ? handover_state_write_flows(&u->state, out)
			   : handover_state_write(&u->state, out);
		u->of_workers = rc == 0 && p->role.gather != NULL;
		u->gathers = false;
		return u->of_workers && !flows ? 1 : rc;
	}
	rc = p->role.gather(
	    p, flows, !u->gathers, out, u->takes_sockets ? &u->sockets : NULL);
	u->gathers = rc > 0;
	if (rc != 0 || !flows)
		return rc;
	u->of_workers = false;
	return 1;
}

/* Returns what write_part() does. */
static int
upgrade_add_part(struct upgrade *u, bool flows)
{
	struct buffer part;
	uint32_t length;
	int rc;

	buffer_init(&part);
	rc = write_part(u, flows, &part);
	length = (uint32_t)buffer_length(&part);
	upgrade_add_word(u, TAKEOVER_STATE);
	if (rc < 0 || length > TAKEOVER_PART_MAX ||
	    buffer_append(&u->out, &length, sizeof(length)) < 0 ||
	    buffer_append(&u->out, buffer_bytes(&part), length) < 0)
		rc = -1;
	buffer_fini(&part);
	return rc;
}

/* Adds what comes next. Returns whether there was something. */
static bool
upgrade_add_next(struct upgrade *u)
{
	bool flows = u->stage == UPGRADE_SWITCHING;
	int rc;

	if (!flows && u->stage != UPGRADE_TELLING)
		return false;
	rc = upgrade_add_part(u, flows);
	if (rc == 0) {
		upgrade_add_word(u, flows ? TAKEOVER_GO : TAKEOVER_ASK);
		u->stage = flows ? UPGRADE_SWITCHED : UPGRADE_TOLD;
	}
	return rc >= 0;
}

/* The new process has taken `n` more bytes of the state. Once it is switching,
 * its time limit begins again with each portion: the state may be large. */
static void
on_sent(struct upgrade *u, size_t n)
{
	buffer_consume(&u->out, n);
	if (u->stage >= UPGRADE_SWITCHING)
		(void)timer_start(u->pen->loop, &u->timer, SWITCH_MS);
}

/* Sends what there is, with sockets that belong to it. Where too many are on
 * their way (ETOOMANYREFS, unix(7)) it goes without. */
static ssize_t
upgrade_send(struct upgrade *u)
{
	const char *bytes = buffer_bytes(&u->out);
	size_t length = buffer_length(&u->out);
	ssize_t n;

	if (u->sockets.count > 0) {
		n = passed_send(&u->sockets, u->child.fd, bytes, length);
		if (n < 0 && errno == EAGAIN)
			return n;
		passed_drop(&u->sockets);
		if (n >= 0)
			return n;
	}
	return sock_send(u->child.fd, bytes, length, false);
}

/* Sends some of the state, so that clients have their turn. Returns 0, or -1
 * when the new process takes nothing. */
static int
upgrade_send_state(struct upgrade *u)
{
	bool more = true;
	ssize_t n = 0;
	int i;

	for (i = 0; i < PARTS && more && n >= 0; i++) {
		if (buffer_length(&u->out) == 0 && !upgrade_add_next(u))
			more = false;
		if (buffer_length(&u->out) == 0)
			break;
		n = upgrade_send(u);
		if (n > 0)
			on_sent(u, (size_t)n);
		else if (errno != EAGAIN)
			return -1;
	}
	more = buffer_length(&u->out) > 0 || u->stage == UPGRADE_TELLING ||
	    u->stage == UPGRADE_SWITCHING;
	return watch_want(u->pen->loop, &u->watch,
	    READY_READ | WATCH_LEVEL | (more ? READY_WRITE : 0u));
}

/* ---- messages of the new process ---- */

static void
note_unwanted(void *arg, struct listener *l)
{
	if (l->passed == *(const int *)arg)
		l->passed = -1;
}

/* The new process takes the socket that it got as that descriptor, or not: then
 * clients in its backlog, and its file, stay this one's. */
static void
upgrade_note_report(struct upgrade *u, bool taken)
{
	int number = STDERR_FILENO + ++u->reported;

	if (!taken)
		socket_set_each(&u->pen->sockets, note_unwanted, &number);
}

/* No process accepts from here on; clients wait in the kernel's queues. */
static void
stop_accepting(struct upgrade *u)
{
	struct pen *p = u->pen;

	services_pause(p, true);
	control_pause(p->control);
	process_unlock_pid_file(p->process);
}

/* Returns 0, or -1 if that makes no sense now. */
static int
upgrade_take_word(struct upgrade *u, char word)
{
	if (word == TAKEOVER_PREPARED && u->stage == UPGRADE_STARTING) {
		pen_count(u->pen);
		handover_state_writer_init(&u->state, u->pen);
		u->state.sockets = u->takes_sockets ? &u->sockets : NULL;
		u->state.sockets_left = HANDOVER_SOCKETS;
		u->stage = UPGRADE_TELLING;
		return 0;
	}
	if ((word == TAKEOVER_TAKEN || word == TAKEOVER_UNTAKEN) &&
	    u->stage == UPGRADE_STARTING) {
		upgrade_note_report(u, word == TAKEOVER_TAKEN);
		return 0;
	}
	if (word == TAKEOVER_SOCKETS && u->stage == UPGRADE_STARTING) {
		u->takes_sockets = true;
		return 0;
	}
	if (word == TAKEOVER_LOADED && u->stage == UPGRADE_TOLD) {
		stop_accepting(u);
		u->stage = UPGRADE_SWITCHING;
		return timer_start(u->pen->loop, &u->timer, SWITCH_MS);
	}
	return -1;
}

static void
upgrade_on_ready(struct watch *w, unsigned ready)
{
	struct upgrade *u = list_entry(w, struct upgrade, watch);
	ssize_t n;
	char word;

	(void)ready;
	while ((n = read(u->child.fd, &word, 1)) == 1) {
		if (word == TAKEOVER_SERVING && u->stage == UPGRADE_SWITCHED) {
			upgrade_finish(u);
			return;
		}
		if (upgrade_take_word(u, word) < 0) {
			upgrade_fail(u, "unexpected handover message", true);
			return;
		}
	}
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		upgrade_fail(u, "it exited", false);
	else if (upgrade_send_state(u) < 0)
		upgrade_fail(
		    u, "it did not read the state of this process", true);
}

static void
on_errors(struct watch *w, unsigned ready)
{
	(void)ready;
	upgrade_receive(list_entry(w, struct upgrade, error_watch));
}

static void
upgrade_on_time(struct timer *t)
{
	struct upgrade *u = list_entry(t, struct upgrade, timer);

	if (u->stage == UPGRADE_ENDING) {
		upgrade_reap(u);
	} else if (u->stage >= UPGRADE_SWITCHING) {
		upgrade_fail(u, "it does not serve within 2 seconds", true);
	} else if (++u->steps < STEPS &&
	    timer_start(u->pen->loop, t, STEP_MS) == 0) {
		upgrade_emit_waiters(u, UPGRADE_WAITS, NULL);
	} else {
		upgrade_fail(u, "it does not serve after 30 seconds", true);
	}
}

/* ---- the beginning ---- */

static int
refuse_director(const struct pen *p, struct error *e)
{
	const struct service *svc = p->service;
	int list[DIRECTOR_FDS_MAX];

	while (svc != NULL &&
	    (svc->director == NULL || director_fds(svc->director, list) > 0))
		svc = svc->next;
	if (svc == NULL)
		return 0;
	return error_set(e,
	    "interface %s cannot be handed over with this dsr_link: stop this "
	    "process, then start the new one",
	    svc->plan->config->dsr.interface);
}

static int
upgrade_check(const struct pen *p, struct error *e)
{
	struct error why;

	if (p->upgrade != NULL)
		return error_set(e, "another upgrade is under way");
	if (p->phase != PHASE_SERVING)
		return error_set(e, "pen is stopping");
	if (getpid() == 1) /* with it all others of its namespace end */
		return error_set(e, "process 1 of a container would end all "
		    "others with itself: start pen by an init process");
	if (executable_is_supervised(&p->executable))
		return error_set(e,
		    "%s would start pen again when this process ends: let it "
		    "restart pen",
		    p->executable.supervisor);
	if (plan_is_from_stdin(p->plan))
		return error_set(e,
		    "the configuration was standard input, which cannot be "
		    "read again");
	if (refuse_director(p, e) < 0)
		return -1;
	if (executable_check(&p->executable, &why) == 0)
		return 0;
	if (p->plan->process->run.directory == NULL)
		return error_set(e, "%s", why.text);
	return error_set(e,
	    "%.300s inside the directory of -j, which is now the root: stop "
	    "this process, then start the new one",
	    why.text);
}

static int
watch_child(struct upgrade *u)
{
	struct loop *l = u->pen->loop;

	if (watch_start(l, &u->watch, u->child.fd, READY_READ | WATCH_LEVEL,
		upgrade_on_ready) < 0)
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

	if (upgrade_check(p, e) < 0)
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
	timer_init(&u->timer, upgrade_on_time);
	buffer_init(&u->out);
	list_init(&u->waiters);
	p->upgrade = u;
	log_info("upgrading reason=\"%s\" program=%s pid=%ld", who,
	    p->executable.path, (long)u->child.pid);
	if (watch_child(u) < 0)
		upgrade_fail(u, strerror(errno), true);
	/* it may have exited already, and cannot be waited for */
	return p->upgrade != NULL
	    ? 0
	    : error_set(e, "the new process could not be watched");
}

bool
upgrade_awaits(const struct pen *p, pid_t pid)
{
	return p->upgrade != NULL && p->upgrade->child.pid == pid;
}

void
upgrade_free(struct upgrade *u)
{
	struct error e;

	if (u == NULL)
		return;
	kill(u->child.pid, SIGKILL);
	error_set(&e, "pen is stopping");
	upgrade_emit_waiters(u, UPGRADE_FAILED, &e);
	upgrade_discard(u);
}
