/* preflight.c: tries what would be opened, without opening it. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/words.h"
#include "control/apply/apply.h"
#include "control/apply/checks.h"
#include "control/apply/direct.h"
#include "control/apply/geoip.h"
#include "control/life/process.h"
#include "control/plan/origin.h"
#include "control/life/rooted.h"
#include "control/value/value_peers.h"
#include "control/verify/preflight.h"
#include "control/verify/transparent.h"
#include "net/program/program.h"
#include "net/sock_try.h"
#include "proxy/log/sessionlog.h"
#include "tls/tls_psk.h"

/* ---- what is used later ---- */

/* A pipe may get its reader, and a link its target, until the file is
 * written. */
static int
try_web_stats(const struct pen *p, const struct plan *draft, struct error *e)
{
	const char *file = draft->process->web_stats, *path;
	char text[4096];
	struct stat st;

	if (file == NULL)
		return 0;
	path = rooted_path(p, file, text, sizeof(text));
	if ((lstat(path, &st) == 0 && !S_ISREG(st.st_mode) &&
		!S_ISDIR(st.st_mode)) ||
	    file_may_write(path, e) == 0)
		return 0;
	error_of(e, "\"%.300s\"", file);
	origin_add(draft, "web_stats", e);
	return -1;
}

static int
try_source(const struct plan *draft, struct error *e)
{
	const struct sources *list = &draft->config->frontend.source;
	char host[ADDR_TEXT_MAX];
	struct addr at;
	unsigned i;

	for (i = 0; i < list->count; i++) {
		addr_from_peer(&at, &list->at[i]);
		if (sock_try_source(&at) < 0)
			break;
	}
	if (i == list->count)
		return 0;
	error_set(e, "\"%s\": %s", addr_format_host(&at, host),
	    sock_bind_error(&at, errno));
	origin_add(draft, "source", e);
	return -1;
}

static int
try_on_state(const struct pen *p, const struct plan *draft, struct error *e)
{
	const char *program = draft->process->on_state;

	if (program == NULL || rooted_program(p, program, e) == 0)
		return 0;
	origin_add(draft, "on_state", e);
	return -1;
}

int
preflight_prepare(struct apply_all *a, struct error *e)
{
	if (a->changed & CHANGED_WEB_STATS &&
	    try_web_stats(a->pen, a->draft, e) < 0)
		return -1;
	return a->changed & CHANGED_ON_STATE
	    ? try_on_state(a->pen, a->draft, e)
	    : 0;
}

int
preflight_prepare_service(struct apply *a, struct error *e)
{
	if (transparent_prepare(a, e) < 0)
		return -1;
	return try_source(a->wanted, e);
}

/* ---- what a start opens ---- */

/* Any client of a TCP port commands the process: so it must not be root. */
int
preflight_control(
    const struct process_plan *p, const struct addr *at, struct error *e)
{
	if (at->u.sa.sa_family == AF_UNIX || geteuid() != 0 ||
	    p->run.user != NULL)
		return 0;
	return error_set(
	    e, "a TCP control port is refused as root: use -u USER, or a path");
}

/* Whether listeners at both addresses cannot be open at a time. */
static bool
addresses_collide(
    const struct frontend_address *a, const struct frontend_address *b)
{
	return addr_equal(&a->at, &b->at) ||
	    sock_takes(&a->at, a->v6_only, &b->at) ||
	    sock_takes(&b->at, b->v6_only, &a->at);
}

/* Tries an address, and whether an earlier one of this start conflicts with
 * it. */
static int
try_place(struct listen_list *taken, const struct frontend_address *a,
    bool freebind, struct error *e)
{
	struct frontend_address *entry;
	char text[ADDR_TEXT_MAX], other[ADDR_TEXT_MAX];
	uint32_t i;

	for (i = 0; i < taken->count; i++)
		if (taken->entry[i].datagram == a->datagram &&
		    addresses_collide(&taken->entry[i], a))
			return error_set(e,
			    "\"%s\": address already in use, by \"%s\" of this "
			    "configuration",
			    addr_format(&a->at, text),
			    addr_format(&taken->entry[i].at, other));
	entry = array_grow(
	    taken->entry, &taken->room, sizeof(*entry), taken->count);
	if (entry == NULL)
		return error_set(e, "out of memory");
	taken->entry = entry;
	entry[taken->count++] = *a;
	return sock_try_listen(&a->at, a->datagram, freebind, e);
}

static int
try_places(const struct plan *p, bool datagram, struct listen_list *taken,
    struct errors *all, struct error *e)
{
	struct frontend_address a;
	unsigned i;

	for (i = 0; i < p->listen.count; i++) {
		a = p->listen.entry[i];
		a.datagram = datagram;
		if (try_place(taken, &a, p->config->frontend.freebind, e) == 0)
			continue;
		origin_add(p, "listen", e);
		if (!errors_add(all, e))
			return -1;
	}
	return 0;
}

/* Direct return has its addresses on no interface of ours. */
static int
try_service(const struct service *svc, struct listen_list *taken,
    struct errors *all, struct error *e)
{
	const struct plan *p = svc->plan;

	if (direct_is_wanted(p) || errors_may_define(all, "dsr_if") ||
	    errors_may_define(all, "freebind"))
		return 0;
	if (plan_service_takes_connections(p) &&
	    try_places(p, false, taken, all, e) < 0)
		return -1;
	return p->config->frontend.udp.on ? try_places(p, true, taken, all, e)
					 : 0;
}

static int
try_listeners(const struct pen *p, struct listen_list *taken, struct error *e)
{
	const struct service *svc;
	unsigned from;
	int rc;

	SERVICE_EACH (p, svc) {
		from = errors_count(p->errors);
		rc = try_service(svc, taken, p->errors, e);
		if (plan_service_errors(svc->plan, p->errors, from, rc, e) < 0)
			return -1;
	}
	return 0;
}

static int
try_controls(const struct pen *pen, struct listen_list *taken, struct error *e)
{
	const struct process_plan *p = pen->plan->process;
	bool freebind = pen->plan->config->frontend.freebind;
	unsigned i, k;

	for (i = 0; i < p->control_count; i++) {
		const struct control_plan *c = &p->controls[i];

		for (k = 0; k < c->at.count; k++) {
			const struct frontend_address *a = &c->at.entry[k];

			if ((errors_may_define(pen->errors, "user") ||
				preflight_control(p, &a->at, e) == 0) &&
			    try_place(taken, a, freebind, e) == 0)
				continue;
			origin_put(c->origin, "control", e);
			if (!errors_add(pen->errors, e))
				return -1;
		}
	}
	return 0;
}

static int
try_web(const struct pen *p, struct listen_list *taken, struct error *e)
{
	struct frontend_address a = { .datagram = false };

	if (origin_find_web(p->plan, &a.at, e) < 0)
		return -1;
	if (a.at.len == 0 ||
	    try_place(taken, &a, p->plan->config->frontend.freebind, e) == 0)
		return 0;
	origin_add(p->plan, "web", e);
	return -1;
}

static int
try_peer_list(const struct pen *p, const char *name, const char *list,
    struct listen_list *taken, struct error *e)
{
	struct peer_spec spec;
	struct frontend_address a = { .datagram = false };

	while (peer_spec_next(&list, &spec)) {
		a.at = spec.at;
		if (tls_psk_try(spec.file, e) == 0 &&
		    (taken == NULL ||
			try_place(taken, &a, p->plan->config->frontend.freebind,
			    e) == 0))
			continue;
		origin_add(p->plan, name, e);
		if (!errors_add(p->errors, e))
			return -1;
	}
	return 0;
}

static int
try_peers(const struct pen *p, struct listen_list *taken, struct error *e)
{
	const struct process_plan *c = p->plan->process;

	return try_peer_list(p, "peer", c->peers, NULL, e) < 0
	    ? -1
	    : try_peer_list(p, "peer_listen", c->peer_listen, taken, e);
}

static int
try_loop(const struct pen *p, struct error *e)
{
	const char *method = p->plan->process->method;
	struct loop *l = loop_new(method, e);

	loop_free(l);
	if (l == NULL && method != NULL)
		origin_add(p->plan, method, e);
	return l != NULL ? 0 : -1;
}

static int
try_log(const struct pen *p, struct error *e)
{
	const char *log = p->plan->process->log;
	struct addr to;

	if (log == NULL ||
	    (apply_log_find(p, log, &to, e) == 0 &&
		(to.len > 0 || file_may_write(log, e) == 0)))
		return 0;
	error_of(e, "log \"%.200s\"", log);
	origin_add(p->plan, "log", e);
	return -1;
}

static int
try_process(const struct pen *p, struct error *e)
{
	const struct process_options *o = &p->plan->process->run;

	return o->pid_file != NULL ? process_try_pid_file(o->pid_file, e) : 0;
}

/* Tries the file of web_stats of the running plan. */
static int
try_stats_file(const struct pen *p, struct error *e)
{
	return try_web_stats(p, p->plan, e);
}

static int
try_state_program(const struct pen *p, struct error *e)
{
	return try_on_state(p, p->plan, e);
}

static int
try_service_tls(struct service *svc, struct error *e)
{
	return errors_may_define(svc->pen->errors, "ssl")
	    ? 0
	    : tls_config_try(svc, e);
}

static int
try_checks(struct service *svc, struct error *e)
{
	return checks_try_programs(svc, e);
}

static int
try_service_source(struct service *svc, struct error *e)
{
	return try_source(svc->plan, e);
}

/* Tries the log of sessions of a service; services that use the one of the
 * first service need no try. */
static int
try_session_log(struct service *svc, struct error *e)
{
	const struct plan *all = svc->pen->plan;
	struct sessionlog_options o;

	if (svc->plan != all &&
	    text_equal(svc->plan->config->session_log, "auto"))
		return 0;
	return apply_log_sessions(svc->pen, all, svc->plan, &o, e);
}

static int
try_request_log(struct service *svc, struct error *e)
{
	struct sessionlog_options o;

	return apply_log_requests(svc->pen, svc->plan, &o, e);
}

static int
try_services(const struct pen *p, struct error *e)
{
	static int (*const tries[])(struct service *, struct error *) = {
		try_service_tls, try_checks, try_service_source,
		try_session_log, try_request_log
	};
	struct service *svc;
	unsigned from;
	size_t i;
	int rc;

	SERVICE_EACH (p, svc)
		for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
			from = errors_count(p->errors);
			rc = tries[i](svc, e);
			rc = plan_service_errors(
			    svc->plan, p->errors, from, rc, e);
			if (rc < 0)
				return -1;
		}
	return 0;
}

void
preflight(const struct pen *p)
{
	static int (*const places[])(const struct pen *, struct listen_list *,
	    struct error *) = { try_listeners, try_controls, try_web,
		try_peers };
	static int (*const tries[])(const struct pen *,
	    struct error *) = { try_services, geoip_try, try_process, try_loop,
		try_log, try_stats_file, try_state_program };
	struct listen_list taken = { .count = 0 };
	struct error e;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (places[i](p, &taken, &e) < 0)
			(void)errors_add(p->errors, &e);
	listen_list_fini(&taken);
	for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
		if (tries[i](p, &e) < 0)
			(void)errors_add(p->errors, &e);
}
