/* worker.c: a worker's side: what a child of the leader keeps of its parent,
 * and what its leader sends. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/log.h"
#include "control/apply/checks.h"
#include "control/life/http_watch.h"
#include "control/apply/refresh.h"
#include "control/apply/services.h"
#include "control/apply/shares.h"
#include "control/life/logs.h"
#include "control/life/on_state.h"
#include "control/life/process.h"
#include "control/report/fit.h"
#include "control/socket/request.h"
#include "control/socket/socket.h"
#include "control/upgrade/upgrade.h"
#include "control/web/web.h"
#include "control/workers/worker_private.h"
#include "control/workers/workers_private.h"
#include "net/program/program.h"
#include "net/program/starter.h"
#include "net/resolve/resolver.h"
#include "proxy/log/requestlog.h"

/* Bytes that are kept for the leader before lists wait; how long it may take
 * the last counters; how long this process may outlive it. */
enum { KEPT_MAX = 256 * 1024, LAST_MS = 1000, ORPHAN_S = 5 };

/* ---- messages ---- */

static void
want_room(struct worker *w)
{
	bool more = buffer_length(&w->channel.out) > 0;

	(void)watch_want(w->pen->loop, &w->watch,
	    READY_READ | WATCH_LEVEL | (more ? READY_WRITE : 0u));
}

/* Half a message is the end of the channel. */
void
worker_send(struct pen *p, unsigned type, const void *bytes, size_t n)
{
	struct worker *w = p->role.worker;

	if (w == NULL)
		return;
	if (channel_post(&w->channel, type, bytes, n) < 0) {
		log_error("out of memory");
		stopping_end(p);
	} else if (buffer_length(&w->channel.out) > 0) {
		want_room(w);
	}
}

bool
worker_is_full(const struct worker *w)
{
	return buffer_length(&w->channel.out) > KEPT_MAX;
}

/* There is room again. */
static void
send_rest(struct worker *w)
{
	if (channel_flush(&w->channel) == 0) {
		if (w->untold)
			states_sync_send_rest(w);
		worker_resume_answers(w);
	}
	want_room(w);
}

/* SIGHUP as in the leader: reads certificates and countries again, and reopens
 * logs. */
static void
hang_up(struct pen *p)
{
	logs_reopen(p, false);
	services_refresh(p);
}

void
worker_take_sockets(struct worker *w, const struct message *m)
{
	struct channel *c = &w->channel;
	unsigned n = channel_fds(c, m), i;
	struct error e;

	for (i = 0; i < n; i++)
		if (inherited_add(&w->pen->sockets.inherited, c->passed.fd[i],
			false, &e) == 0)
			c->passed.fd[i] = -1;
	channel_drop_fds(c, m);
}

/* Serves the sockets of another worker, too, until the next one takes its
 * place. */
static void
start_cover(struct worker *w, const struct message *m)
{
	struct service *svc;

	worker_take_sockets(w, m);
	SERVICE_EACH (w->pen, svc)
		if (!svc->leaves)
			frontend_cover(svc->frontend);
	inherited_fini(&w->pen->sockets.inherited);
}

static void
end_cover(struct pen *p)
{
	struct service *svc;

	SERVICE_EACH (p, svc)
		frontend_cover_end(svc->frontend);
}

/* Sends the sockets of flows, in front of the message that they belong to.
 * Flows whose sockets cannot be sent begin anew in the other process. */
static void
send_sockets(struct worker *w, struct passed *sockets)
{
	uint32_t i;

	for (i = 0; i < sockets->count; i++)
		if (channel_post_fd(&w->channel, sockets->fd[i]) < 0)
			break;
	passed_drop(sockets);
}

/* A piece of what this worker has of its clients. */
static void
gather_some(struct worker *w, const struct message *m)
{
	struct handover_state_writer *l = &w->state;
	struct passed sockets = { .fd = NULL };
	struct buffer out;
	struct gather g;
	int rc;

	if (m->length < sizeof(g))
		return;
	memcpy(&g, m->bytes, sizeof(g));
	if (l->pen == NULL || (g.first && !g.flows)) {
		handover_state_writer_init_worker(l, w->pen);
		l->sockets_left = HANDOVER_SOCKETS / w->pen->role.size;
	}
	l->sockets = g.sockets ? &sockets : NULL;
	buffer_init(&out);
	rc = g.flows ? handover_state_write_flows(l, &out)
		     : handover_state_write(l, &out);
	send_sockets(w, &sockets);
	worker_send(w->pen, rc > 0 ? MESSAGE_GATHERED : MESSAGE_GATHERED_ALL,
	    buffer_bytes(&out), rc >= 0 ? buffer_length(&out) : 0);
	buffer_fini(&out);
}

/* Ends gracefully: the leader has replaced this worker, or another process has
 * replaced the leader. */
static void
on_replaced(struct pen *p)
{
	struct service *svc;

	p->replaced = true;
	socket_set_replace(&p->sockets);
	SERVICE_EACH (p, svc)
		if (!svc->leaves)
			frontend_pass_flows(svc->frontend);
	stopping_begin(p, 0, "leader");
}

static void
on_message(struct worker *w, const struct message *m)
{
	struct pen *p = w->pen;

	switch (m->type) {
	case MESSAGE_COMMAND:
		worker_answer(w, m);
		break;
	case MESSAGE_STATE:
		states_sync_receive(p, m->bytes, m->length);
		w->taken++;
		break;
	case MESSAGE_PING:
		worker_send(p, MESSAGE_PONG, NULL, 0);
		break;
	case MESSAGE_HANG_UP:
		hang_up(p);
		break;
	case MESSAGE_PAUSE:
	case MESSAGE_RESUME:
		w->is_paused = m->type == MESSAGE_PAUSE;
		services_pause(p, w->is_paused || w->is_behind);
		break;
	case MESSAGE_GATHER:
		gather_some(w, m);
		break;
	case MESSAGE_COVER:
		start_cover(w, m);
		break;
	case MESSAGE_COVER_END:
		end_cover(p);
		break;
	case MESSAGE_HAND_OVER:
		on_replaced(p);
		break;
	case MESSAGE_DRAIN:
		stopping_begin(p, 0, "leader");
		break;
	case MESSAGE_END:
		stopping_end(p);
		break;
	default:
		break;
	}
}

/* The next message, in order; while a change waits, only pings and the order to
 * end are taken. */
static struct message *
next_message(struct worker *w)
{
	return w->making == NULL
	    ? channel_next(&w->channel)
	    : channel_wait(&w->channel, MESSAGE_PING, MESSAGE_END, 0);
}

static void
take_message(struct worker *w, struct message *m)
{
	if (m->type == MESSAGE_CHANGE) {
		worker_change(w, m);
		return;
	}
	on_message(w, m);
	free(m);
}

/* No client is accepted, and no datagram received, by a state that the leader
 * changes: the change has not come, or not all of it, or waits for a file. */
static void
pause_while_behind(struct worker *w)
{
	uint32_t number = atomic_load(w->announced.now);
	bool behind = (int32_t)(number - w->taken) > 0;

	if ((!behind && !w->is_behind) || w->pen->phase == PHASE_STOPPING)
		return;
	w->is_behind = behind;
	services_pause(w->pen, behind || w->is_paused);
}

/* Handles all messages that have come. If the leader has ended, so does the
 * worker: it would have no control, and would not be replaced. A message may
 * accept clients, which calls this again: then only a mark is set. */
static void
worker_take_messages(struct worker *w)
{
	struct message *m;
	int rc;

	w->take_again = true;
	if (w->takes)
		return;
	w->takes = true;
	do {
		w->take_again = false;
		rc = channel_read(&w->channel);
		while ((m = next_message(w)) != NULL)
			take_message(w, m);
	} while (w->take_again && rc == 0);
	w->takes = false;
	pause_while_behind(w);
	if (rc < 0)
		stopping_end(w->pen);
}

static void
on_ready(struct watch *watch, unsigned ready)
{
	struct worker *w = container_of(watch, struct worker, watch);

	worker_take_messages(w);
	if (ready & READY_WRITE)
		send_rest(w);
}

static void
on_announced(struct shared_number *n)
{
	worker_take_messages(container_of(n, struct worker, announced));
}

static void
worker_on_task(struct task *t)
{
	worker_take_messages(container_of(t, struct worker, task));
}

/* ---- the beginning ---- */

#ifdef PR_SET_PDEATHSIG

static pid_t leader;

/* Ends this worker soon if its leader has ended: its parent is process 1 then,
 * or a subreaper. */
static void
on_continued(int signal)
{
	(void)signal;
	if (getppid() != leader)
		(void)alarm(ORPHAN_S);
}

/* A worker ends when it sees the end of the channel; one that is stopped is
 * continued for that, and killed by SIGALRM if its loop does not turn: its
 * sockets would be in the way of the next start. */
static void
end_with_leader(void)
{
	leader = getppid();
	(void)signal(SIGALRM, SIG_DFL);
	(void)signal(SIGCONT, on_continued);
	(void)prctl(PR_SET_PDEATHSIG, SIGCONT);
}

#else

static void
end_with_leader(void)
{
}

#endif

/* The leader gets the signals, also those that a terminal or a service manager
 * sends to all processes. */
static void
leave_signals(struct loop *l)
{
	static const int all[] = { SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1,
		SIGUSR2, SIGPIPE };
	size_t i;

	loop_remove_signals(l);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		(void)signal(all[i], SIG_IGN);
	(void)signal(SIGCHLD, SIG_DFL);
	end_with_leader();
}

static void
forget_request(struct pen *p)
{
	if (p->reload == NULL)
		return;
	request_fini(p->reload);
	free(p->reload);
	p->reload = NULL;
}

/* In a new worker: closes what only the leader uses, without removing files or
 * ending programs, which are the leader's. */
static void
leave_leader(struct pen *p)
{
	struct service *svc;

	socket_set_disown_files(&p->sockets);
	forget_request(p);
	control_close_in_child(p->control);
	p->control = NULL;
	web_close_in_child(p->web);
	p->web = NULL;
	if (p->programs != NULL)
		programs_drop_in_child(p->programs);
	SERVICE_EACH (p, svc)
		checks_free(svc);
	http_watch_free(p->http_watch);
	p->http_watch = NULL;
	on_state_free(p->on_state);
	programs_free(p->programs);
	starter_free(p->starter);
	refresh_free(p->refresh);
	resolver_free(p->resolver);
	p->on_state = NULL;
	p->programs = NULL;
	p->starter = NULL;
	p->refresh = NULL;
	p->resolver = NULL;
	fit_stop_in_child(p);
	upgrade_forget(p);
	predecessor_fini(&p->predecessor);
	notify_fini(&p->notify);
	if (p->process != NULL)
		process_drop_in_child(p->process);
}

/* Sessions, and what was counted, are those of others. */
static void
begin_anew(struct service *svc, unsigned member)
{
	static const struct server_counters none;
	unsigned slot;

	if (svc->frontend != NULL)
		frontend_become(svc->frontend, member - 1, svc->pen->role.size);
	for (slot = 0; slot < pool_slots(svc->pool); slot++)
		pool_take_counters(pool_slot(svc->pool, slot), &none);
	pool_become(svc->pool);
}

static void
worker_join(struct pen *p)
{
	worker_counters_join(p, &p->role.worker->counters, false);
}

/* The logs count what they lose with the first service. */
static void
begin_to_count(struct pen *p)
{
	struct frontend *first = p->service->frontend;

	worker_counters_join(p, &p->role.worker->counters, true);
	p->role.join = worker_join;
	frontend_set_requestlog(first, p->log);
	frontend_count_log(first);
}

int
worker_become(struct worker_slot *s, struct channel *end, struct error *e)
{
	struct workers *all = s->workers;
	struct pool_share share = all->share;
	struct pen *p = all->pen;
	struct worker *w = calloc(1, sizeof(*w));
	struct service *svc;
	unsigned member = s->member;
	bool joined = p->role.share == &all->share, waits = all->waits;

	p->role = (struct process_role){ .size = all->count,
		.member = member,
		.worker = w,
		.flows = p->role.flows,
		.share_state = states_sync_send };
	if (w == NULL || loop_reopen(p->loop) < 0)
		return error_set(e, "worker %u: %s", member, strerror(errno));
	w->pen = p;
	w->changes = all->changes;
	list_init(&w->task.link);
	w->counters = all->counters;
	w->counters.own = member - 1;
	all->counters.parts = NULL; /* it is this worker's, as is the share */
	all->share.parts = NULL;
	w->share = share;
	w->share.own = member - 1;
	if (!joined)
		services_part(p);
	p->role.share = &w->share;
	services_join(p);
	w->is_paused = waits;
	w->announced = (struct shared_number){
		.now = shared_memory_number(&w->counters),
		.seen = all->announced,
		.on_change = on_announced
	};
	w->taken = w->announced.seen;
	loop_watch_number(p->loop, &w->announced);
	w->channel = *end;
	list_init(&w->channel.messages);
	w->task.run = worker_on_task;
	list_init(&w->answers);
	leave_signals(p->loop);
	leave_leader(p);
	reserve_forget(&all->reserve);
	workers_free_sets(all);
	SERVICE_EACH (p, svc)
		begin_anew(svc, member);
	begin_to_count(p);
	inherited_fini(&p->sockets.inherited);
	worker_take_clients(w);
	shares_settle(p);
	if (waits)
		services_pause(p, true);
	return watch_start(p->loop, &w->watch, w->channel.fd,
		   READY_READ | WATCH_LEVEL, on_ready) == 0
	    ? 0
	    : error_set(e, "cannot watch the channel: %s", strerror(errno));
}

void
worker_free(struct worker *w)
{
	if (w == NULL)
		return;
	if (w->pen->phase == PHASE_STOPPING)
		channel_empty(&w->channel, LAST_MS);
	loop_watch_number(w->pen->loop, NULL);
	worker_forget_answers(w);
	worker_give_up_change(w);
	list_remove(&w->task.link);
	timer_fini(&w->sweep);
	watch_stop(w->pen->loop, &w->watch);
	channel_close(&w->channel);
	w->pen->role.worker = NULL;
	services_part(w->pen);
	pool_share_close(&w->share);
	free(w); /* its part stays: the last sessions count there */
}
