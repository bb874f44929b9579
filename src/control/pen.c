/* pen.c: the life of the program: start, signals, end. */
#include "config.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "control/apply/apply.h"
#include "control/life/descriptors.h"
#include "control/apply/geoip.h"
#include "control/life/logs.h"
#include "control/life/on_state.h"
#include "control/plan/origin.h"
#include "control/pen.h"
#include "control/peers/peers.h"
#include "control/life/http_watch.h"
#include "control/apply/refresh.h"
#include "control/apply/services.h"
#include "control/report/fit.h"
#include "control/report/report.h"
#include "control/socket/request.h"
#include "control/registry.h"
#include "control/socket/socket.h"
#include "control/life/states.h"
#include "control/upgrade/takeover.h"
#include "control/upgrade/upgrade.h"
#include "control/web/web.h"
#include "control/workers/workers.h"
#include "dsr/director/director.h"
#include "net/program/program.h"
#include "net/program/starter.h"
#include "net/sink.h"
#include "net/sock.h"
#include "proxy/check/check.h"
#include "tls/tls.h"

/* Programs that run at a time: on_state never waits for those of checks. */
enum { PROGRAMS_MAX = ON_STATE_RUNNING + CHECK_PROGRAMS_MAX };

/* Shares the descriptors out. */
static void
share_descriptors(struct pen *p)
{
	struct descriptors d;

	p->descriptors = sock_raise_fd_limit(loop_fds_max(p->loop));
	d = descriptors_share(p->descriptors, p->plan->process, p->plan, 0);
	p->control_clients = d.control;
}

/* ---- signals ---- */

static void
on_stop(void *arg)
{
	stopping_end_by(arg, "SIGTERM or SIGINT");
}

/* The second signal ends at once what the first one lets take its time. A
 * process that drains because another one serves has had none yet. */
static void
on_quit(void *arg)
{
	struct pen *p = arg;
	uint64_t ms = p->plan->process->drain_ms;

	upgrade_cancel(p);
	if (p->phase == PHASE_DRAINING && p->stopping.asked)
		stopping_end_by(p, "SIGQUIT");
	else
		stopping_begin(p, stopping_sooner(p, ms), "SIGQUIT");
}

/* The end of a reload: done, or refused, which changed nothing. */
static void
finish_reload(struct pen *p)
{
	struct request *q = p->reload;
	struct error more;
	unsigned i;

	if (q->failed)
		log_error(
		    "configuration not reloaded error=\"%s\"", q->error.text);
	for (i = 1; errors_at(&q->errors, i, &more); i++)
		log_error(
		    "configuration not reloaded error=\"%s\"", more.text);
	p->reload = NULL;
	request_fini(q);
	free(q);
	notify_reloaded(&p->notify);
}

static void
continue_reload(struct request *q)
{
	enum request_result result;

	while ((result = request_run(q)) == REQUEST_FULL)
		buffer_fini(&q->reply.out);
	if (result == REQUEST_DONE)
		finish_reload(q->pen);
}

/* One that comes while another waits for names is done by that one, which reads
 * the file again when it has them. */
static void
reload(struct pen *p)
{
	if (p->reload != NULL) {
		p->reload->logged = false;
		return;
	}
	if (p->plan->process->file == NULL) {
		services_refresh(p);
		peers_refresh(p->peers);
		notify_reloaded(&p->notify);
		return;
	}
	p->reload = malloc(sizeof(*p->reload));
	if (p->reload == NULL) {
		log_error("configuration not reloaded error=\"out of memory\"");
		notify_reloaded(&p->notify);
		return;
	}
	request_init(p->reload, p, NULL, continue_reload);
	if (request_begin(p->reload, "reload") == 0)
		continue_reload(p->reload);
	else
		finish_reload(p);
}

/* Files are for the process that serves, or will. */
static void
on_hangup(void *arg)
{
	struct pen *p = arg;

	if (p->role.hang_up != NULL)
		p->role.hang_up(p);
	if (p->replaced || p->upgrade != NULL) {
		logs_reopen(p, true);
		upgrade_pass_hangup(p);
		return;
	}
	notify_reloading(&p->notify);
	logs_reopen(p, true);
	reload(p);
}

static void
on_statistics(void *arg)
{
	struct pen *p = arg;
	struct error e;

	pen_count(p);
	if (p->plan->process->web_stats == NULL)
		report_log(p);
	else if (web_plain_write(p, &e) < 0)
		log_error("status page not written error=\"%s\"", e.text);
}

static void
on_upgrade(void *arg)
{
	struct error e;

	if (upgrade_begin(arg, 0, "SIGUSR2", &e) < 0)
		log_error("not upgraded error=\"%s\"", e.text);
}

static int
pen_catch_signals(struct pen *p, struct error *e)
{
	signal(SIGPIPE, SIG_IGN);
	if (loop_on_signal(p->loop, SIGTERM, on_stop, p) < 0 ||
	    loop_on_signal(p->loop, SIGINT, on_stop, p) < 0 ||
	    loop_on_signal(p->loop, SIGQUIT, on_quit, p) < 0 ||
	    loop_on_signal(p->loop, SIGHUP, on_hangup, p) < 0 ||
	    loop_on_signal(p->loop, SIGUSR1, on_statistics, p) < 0 ||
	    loop_on_signal(p->loop, SIGUSR2, on_upgrade, p) < 0)
		return error_set(e, "cannot catch signals");
	return 0;
}

/* ---- life ---- */

struct pen *
pen_new(void)
{
	struct pen *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	stopping_init(&p->stopping);
	shared_limit_init(&p->shared_limit);
	socket_set_init(&p->sockets);
	buffer_init(&p->included);
	list_init(&p->log_targets);
	list_init(&p->log_formats);
	p->plan = plan_new();
	p->given = plan_new();
	p->role.size = 1;
	p->commands = command_groups;
	p->participants = participants;
	notify_init(&p->notify);
	predecessor_init(&p->predecessor);
	if (p->plan != NULL && p->given != NULL)
		p->service = service_new(p, "default", p->plan);
	if (p->service == NULL) {
		pen_free(p);
		return NULL;
	}
	return p;
}

/* What logs lose from now on is not counted: the frontend, whose counters they
 * add to, goes before them, as its last sessions have lines. */
static void
stop_counting(struct pen *p)
{
	sink_count_lost(p->log, NULL);
}

void
pen_free(struct pen *p)
{
	struct service *svc;

	if (p == NULL)
		return;
	if (p->reload != NULL) {
		request_fini(p->reload);
		free(p->reload);
	}
	fit_free(p);
	workers_free(p->role.workers);
	worker_free(p->role.worker);
	stopping_fini(&p->stopping);
	upgrade_free(p->upgrade);
	control_free(p->control);
	web_close(p->web);
	peers_free(p->peers);
	p->peers = NULL;
	stop_counting(p);
	SERVICE_EACH (p, svc)
		service_close(svc);
	geoip_free(p->geoip);
	sink_close(p->log);
	on_state_free(p->on_state);
	programs_free(p->programs);
	starter_free(p->starter);
	refresh_free(p->refresh);
	http_watch_free(p->http_watch);
	resolver_free(p->resolver);
	while ((svc = p->service) != NULL) {
		p->service = svc->next;
		service_free(svc);
	}
	service_free(p->blank);
	tls_memory_free(p->tls_memory);
	notify_fini(&p->notify);
	socket_set_fini(&p->sockets);
	predecessor_fini(&p->predecessor);
	executable_fini(&p->executable);
	loop_free(p->loop);
	plan_free(p->plan);
	plan_free(p->given);
	buffer_fini(&p->included);
	free(p->bounds);
	free(p);
}

/* ---- start and end ---- */

/* Names are looked up by the loop from here on. In a new root there may be no
 * resolv.conf: it is read before. */
static int
open_resolver(struct pen *p, struct error *e)
{
	const char *server = p->plan->process->resolver;
	struct addr at;

	p->resolver = resolver_new(p->loop);
	if (p->resolver == NULL)
		return error_set(e, "out of memory");
	if (server != NULL && spec_parse_ip(&at, server, NAMES_DNS_PORT) == 0)
		return resolver_use_server(
			   p->resolver, &at, RESOLVER_LIMIT_MS) == 0
		    ? 0
		    : error_set(e, "cannot query the name server %s", server);
	if (p->plan->process->run.directory != NULL)
		(void)resolver_prepare(p->resolver);
	return 0;
}

/* Opens what the plan wants. What was inherited and not wanted is closed, also
 * when that was in the way of an address of the plan. */
static int
pen_open_all(struct pen *p, struct plan *plan, struct error *e)
{
	int rc = apply_plan_now(p, plan, e);

	if (rc == 0)
		takeover_report(p);
	inherited_close_rest(&p->sockets.inherited);
	return rc;
}

/* Other parts wait for its end; the other children are orphans, or
 * starters. */
static bool
is_awaited(void *arg, pid_t pid)
{
	const struct pen *p = arg;

	return pid == p->successor || upgrade_awaits(p, pid) ||
	    workers_have(p, pid);
}

/* Before a new root is entered, which may lack /dev/null. */
static int
open_programs(struct pen *p, struct error *e)
{
	p->programs = programs_new(p->loop, PROGRAMS_MAX, e);
	if (p->programs == NULL)
		return -1;
	p->on_state = on_state_new(p->loop, p->programs);
	return p->on_state != NULL ? 0 : error_set(e, "out of memory");
}

int
pen_start(struct pen *p, struct error *e)
{
	struct plan *plan = plan_copy(p->plan);

	p->phase = PHASE_STARTING;
	p->started_ms = clock_monotonic_ms();
	p->started_wall = p->loaded_wall = time(NULL);
	if (plan == NULL)
		return error_set(e, "out of memory");
	p->role.size = workers_wanted(p, plan);
	p->loop = loop_new(plan->process->method, e);
	pieces_init(&p->replies, p->loop, REPLY_PIECES);
	if (p->loop == NULL && plan->process->method != NULL)
		origin_add(plan, plan->process->method, e);
	/* Once clients can connect, signals may come: they wait for the
	 * loop. */
	if (p->loop == NULL || pen_catch_signals(p, e) < 0 ||
	    open_resolver(p, e) < 0 || open_programs(p, e) < 0) {
		plan_free(plan);
		return -1;
	}
	share_descriptors(p);
	if (pen_open_all(p, plan, e) < 0)
		return -1;
	p->phase = PHASE_SERVING;
	p->refresh = refresh_new(p);
	if (p->refresh == NULL)
		return error_set(e, "out of memory");
	refresh_start(p->refresh);
	return 0;
}

/* One line for `systemctl status`; its cost does not grow with the tables. */
static void
pen_describe(void *arg, char status[NOTIFY_STATUS_MAX])
{
	struct pen *p = arg;
	uint64_t sessions = 0, flows = 0, accepted = 0;
	const struct frontend_stats *st;
	const struct service *svc;
	bool any = false;

	pen_count(p);
	SERVICE_EACH (p, svc) {
		st = frontend_stats(svc->frontend);
		sessions += st->sessions;
		flows += st->flows.now;
		accepted += st->accepted;
		any |= pool_has_eligible(svc->pool);
	}
	snprintf(status, NOTIFY_STATUS_MAX,
	    "%s, %" PRIu64 " sessions, %" PRIu64 " flows, %" PRIu64 " accepted",
	    any ? "serving" : "no server is available", sessions, flows,
	    accepted);
}

/* The interface that has ended a service; NULL: none has. */
static const char *
lost_interface(const struct pen *p)
{
	const struct service *svc;

	SERVICE_EACH (p, svc)
		if (svc->director != NULL && director_has_ended(svc->director))
			return svc->plan->config->dsr.interface;
	return NULL;
}

int
pen_begin(struct pen *p, struct error *e)
{
	if (predecessor_is_there(&p->predecessor)) /* it does not receive */
		services_steer_datagrams(p);
	if (p->role.size == 1)
		return 0;
	return workers_open(p, p->role.size, e) < 0 ? -1
						    : workers_fork_set(p, e);
}

static int
serve(struct pen *p, struct error *e)
{
	struct service *svc;

	SERVICE_EACH (p, svc)
		if (service_start(svc, e) < 0)
			return -1;
	return 0;
}

/* The loop of a leader stops, too, when a worker is to be forked; an upgrade in
 * the same turn may put that off. */
static int
run_loop(struct pen *p, struct error *e)
{
	do {
		while (workers_are_due(p))
			if (workers_fork(p, e) < 0 ||
			    (p->role.member > 0 && serve(p, e) < 0))
				return -1;
		if (loop_run(p->loop) < 0)
			return error_set(e, "the event loop failed");
	} while (p->phase < PHASE_STOPPING && lost_interface(p) == NULL);
	return 0;
}

int
pen_run(struct pen *p, struct error *e)
{
	bool steers = predecessor_is_there(&p->predecessor);

	if (serve(p, e) < 0)
		return -1;
	if (p->role.member == 0) {
		programs_reap_others(p->programs, is_awaited, p);
		control_start(p->control);
		takeover_finish(p);
		if (steers)
			services_steer(p);
		workers_go(p);
		peers_start(p->peers);
		fit_start(p);
		notify_ready(&p->notify, p->loop, pen_describe, p);
	}
	if (run_loop(p, e) < 0)
		return -1;
	return lost_interface(p) == NULL
	    ? 0
	    : error_set(e, "interface %s was removed", lost_interface(p));
}
