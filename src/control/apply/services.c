/* services.c: see services.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "control/apply/checks.h"
#include "control/apply/geoip.h"
#include "control/life/http_watch.h"
#include "control/life/process.h"
#include "control/apply/services.h"
#include "control/life/states.h"
#include "dsr/director/director.h"
#include "pool/pool_share.h"

/* How often it is seen whether one that leaves has sessions. */
enum { LEAVING_MS = 500 };

/* ---- life ---- */

static void
end_service(struct service *svc)
{
	struct service **at = &svc->pen->service;

	while (*at != svc)
		at = &(*at)->next;
	*at = svc->next;
	if (svc->pen->role.member == 0)
		log_info("service ended service=%s", svc->name);
	service_free(svc);
}

static void
on_end(struct timer *t)
{
	struct service *svc = container_of(t, struct service, end);

	pen_count(svc->pen);
	if ((frontend_left(svc->frontend) == 0 && !service_is_led_to(svc)) ||
	    timer_start(svc->pen->loop, t, LEAVING_MS) < 0)
		end_service(svc);
}

struct service *
service_new(struct pen *p, const char *name, struct plan *plan)
{
	struct service *svc = calloc(1, sizeof(*svc));

	if (svc == NULL)
		return NULL;
	timer_init(&svc->end, on_end);
	svc->pen = p;
	snprintf(svc->name, sizeof(svc->name), "%s", name);
	if (p->service != NULL)
		snprintf(svc->label, sizeof(svc->label), " service=%s", name);
	svc->plan = plan != NULL ? plan : plan_new_service(NULL);
	if (plan == NULL && svc->plan != NULL)
		plan_hold(svc->plan);
	svc->pool =
	    p->service == NULL ? pool_new() : pool_new_beside(p->service->pool);
	svc->tls_config = tls_config_new(svc);
	if (svc->plan != NULL && svc->pool != NULL && svc->tls_config != NULL) {
		states_watch(svc);
		return svc;
	}
	service_free(svc);
	return NULL;
}

void
service_close(struct service *svc)
{
	timer_fini(&svc->end);
	checks_free(svc);
	frontend_free(svc->frontend);
	director_free(svc->director);
	tls_config_free(svc->tls_config);
	svc->frontend = NULL;
	svc->director = NULL;
	svc->tls_config = NULL;
}

void
service_free(struct service *svc)
{
	if (svc == NULL)
		return;
	service_close(svc);
	http_watch_remove(svc);
	if (svc->forget != NULL)
		svc->forget(svc);
	states_unwatch(svc);
	pool_free(svc->pool);
	if (svc->plan != NULL && svc->plan->owners > 0)
		plan_drop(svc->plan);
	free(svc);
}

void
service_add(struct service *svc)
{
	struct service **at = &svc->pen->service;

	while (*at != NULL)
		at = &(*at)->next;
	*at = svc;
	svc->number = ++svc->pen->services_added;
}

void
services_join(struct pen *p)
{
	struct service *svc;

	if (p->role.join != NULL)
		p->role.join(p);
	if (p->role.share == NULL)
		return;
	SERVICE_EACH (p, svc)
		pool_join(svc->pool, p->role.share);
}

void
services_part(struct pen *p)
{
	struct service *svc;

	SERVICE_EACH (p, svc)
		pool_part(svc->pool);
	p->role.share = NULL;
}

static void
pause_director(struct director *d, bool pause)
{
	struct error e;

	if (pause)
		director_pause(d);
	else if (director_start(d, &e) < 0)
		log_error("interface not served error=\"%s\"", e.text);
}

void
services_pause(struct pen *p, bool pause)
{
	struct service *svc;

	if (p->role.pause != NULL) {
		p->role.pause(p, pause);
		return;
	}
	SERVICE_EACH (p, svc) {
		if (svc->leaves)
			continue;
		if (pause)
			frontend_pause(svc->frontend);
		else
			frontend_resume(svc->frontend);
		if (svc->director != NULL)
			pause_director(svc->director, pause);
	}
}

void
services_steer(struct pen *p)
{
	struct service *svc;

	SERVICE_EACH (p, svc)
		if (!svc->leaves)
			frontend_steer(svc->frontend);
}

void
services_steer_datagrams(struct pen *p)
{
	struct service *svc;

	SERVICE_EACH (p, svc)
		if (!svc->leaves)
			frontend_steer_datagrams(svc->frontend);
}

/* In another root directory the paths mean other files. */
static void
report_lost_files(struct pen *p)
{
	if (p->plan->process->run.directory != NULL)
		return;
	process_role_mute(p, true); /* its leader has the same files */
	socket_set_report_lost(&p->sockets);
	if (p->process != NULL && process_lost_pid_file(p->process))
		log_error("pid file was removed, only a restart makes it again "
			  "file=%s",
		    p->process->pid_file);
	process_role_mute(p, false);
}

void
services_refresh(struct pen *p)
{
	struct service *svc;

	report_lost_files(p);
	SERVICE_EACH (p, svc)
		tls_config_refresh(svc);
	geoip_refresh(p->geoip);
}

void
service_retire(struct service *svc)
{
	svc->leaves = true;
	if (svc->frontend == NULL) { /* it has not begun */
		end_service(svc);
		return;
	}
	checks_stop(svc);
	frontend_drain(svc->frontend);
	if (timer_start(svc->pen->loop, &svc->end, 0) < 0)
		log_error("out of memory service=%s", svc->name);
}

int
service_start(struct service *svc, struct error *e)
{
	if (svc->pen->role.workers != NULL) /* they serve */
		return 0;
	frontend_start(svc->frontend);
	return svc->director != NULL ? director_start(svc->director, e) : 0;
}

void
service_take_plan(struct service *svc, struct plan *plan)
{
	struct plan *before = svc->plan;

	if (service_is_first(svc)) {
		svc->pen->plan = svc->plan = plan;
		return;
	}
	svc->plan = plan_hold(plan);
	plan_drop(before);
}

/* ---- finding one ---- */

struct service *
service_find(const struct pen *p, const char *name)
{
	struct service *svc;

	SERVICE_EACH (p, svc)
		if (!svc->leaves && strcmp(svc->name, name) == 0)
			return svc;
	return NULL;
}

struct service *
service_find_behind(
    const struct pen *p, const struct service *svc, const char *name)
{
	struct service *next = svc != NULL ? svc->next : p->service;

	return next != NULL && !next->leaves && strcmp(next->name, name) == 0
	    ? next
	    : service_find(p, name);
}

struct service *
service_blank(struct pen *p)
{
	if (p->blank == NULL)
		p->blank = service_new(p, "", NULL);
	return p->blank;
}

const struct service *
service_at(const struct pen *p, uint64_t number)
{
	const struct service *svc = p->service;

	while (svc != NULL && number-- > 0)
		svc = svc->next;
	return svc;
}

bool
service_is_first(const struct service *svc)
{
	return svc->pen->service == svc;
}

bool
service_has_others(const struct pen *p)
{
	return p->service->next != NULL;
}

/* ---- those that are reported ---- */

bool
service_is_reported(const struct service *svc)
{
	return !svc->leaves &&
	    (!service_is_first(svc) || plan_first_is_there(svc->plan));
}

int
service_must_be_named(
    const struct service *svc, const char *command, struct error *e)
{
	return service_is_reported(svc)
	    ? 0
	    : error_set(e,
		  "the service default has no listening address: add a name, "
		  "\"service NAME %s\" (\"services\" lists them)",
		  command);
}
