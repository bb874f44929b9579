/* apply_log.c: the logs of a plan: of what clients send first, of sessions, and
 * of requests of HTTP. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "control/apply/apply.h"
#include "control/apply/services.h"
#include "control/plan/origin.h"
#include "net/resolve/resolve.h"
#include "net/sink.h"
#include "proxy/log/log_target.h"
#include "proxy/log/sessionlog.h"

/* HOST:PORT, by UDP; all else is a file. */
static bool
is_remote(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon != NULL && colon != text && colon[1] != '\0' &&
	    strchr(text, '/') == NULL;
}

int
apply_log_find(
    const struct pen *p, const char *text, struct addr *to, struct error *e)
{
	const char *rest;
	struct resolved found;
	uint16_t port;
	char *host;
	int rc;

	memset(to, 0, sizeof(*to));
	if (!is_remote(text))
		return 0;
	host = spec_split_host(text, &rest, e);
	if (host == NULL)
		return -1;
	rc = *rest == ':' ? resolve_port(rest + 1, &port, e)
			  : error_set(e, "no port");
	if (rc == 0)
		rc = resolve_host(host, port,
		    p->phase < PHASE_SERVING ? RESOLVE_NAMES : RESOLVE_NUMERIC,
		    &found, e);
	if (rc == 0)
		*to = found.addr[0];
	free(host);
	return rc;
}

static int
apply_log_open_log(
    struct pen *p, const char *text, struct sink **log, struct error *e)
{
	static const char what[] = "request";
	struct error why;
	struct addr to;

	*log = NULL;
	if (text == NULL)
		return 0;
	if (apply_log_find(p, text, &to, &why) == 0)
		*log = to.len > 0 ? sink_open_datagram(p->loop, what, &to, &why)
				  : sink_open_file(p->loop, what, text, &why);
	if (*log != NULL)
		return 0;
	return error_set(e, "log \"%.200s\": %.250s", text, why.text);
}

/* ---- sessions ---- */

/* The plan that has what the service follows: its own, or the first one's. */
static const struct plan *
follow_sessions(const struct plan *all, const struct plan *p)
{
	return text_equal(p->config->session_log, "auto") ? all : p;
}

/* Where lines of sessions go; NULL: nowhere. By default they go to the
 * program's log in the foreground; with -d also if they are off. */
const char *
apply_log_sessions_to(const struct plan *all, const struct plan *p)
{
	const char *to = follow_sessions(all, p)->config->session_log;
	const struct process_plan *c = all->process;
	bool automatic = text_equal(to, "auto");

	if (to != NULL && !automatic && strcmp(to, "off") != 0)
		return to;
	if (c->debug > 0 || (automatic && c->run.foreground))
		return "log";
	return NULL;
}

bool
apply_log_sessions_are_wanted(const struct plan *all, const struct plan *p)
{
	const char *to = follow_sessions(all, p)->config->session_log;

	return text_equal(to, "auto") || apply_log_sessions_to(all, p) != NULL;
}

static uint64_t
sample_of(const struct plan *all, const struct plan *p)
{
	uint64_t own = p->config->log_sample, first = all->config->log_sample;

	if (own != LOG_SAMPLE_AUTO)
		return own;
	return first != LOG_SAMPLE_AUTO ? first : 1;
}

bool
apply_log_concerns_services(const struct plan *now, const struct plan *wanted)
{
	return !text_equal(apply_log_sessions_to(now, now),
		   apply_log_sessions_to(wanted, wanted)) ||
	    sample_of(now, now) != sample_of(wanted, wanted);
}

/* The address after "udp:" or "syslog:", if it is one of them. */
static int
find_remote(
    const struct pen *p, const char *to, struct addr *at, struct error *e)
{
	static const char *const schemes[] = { "udp:", "syslog:" };
	size_t i, n;

	at->len = 0;
	for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		n = strlen(schemes[i]);
		if (strncmp(to, schemes[i], n) != 0)
			continue;
		if (apply_log_find(p, to + n, at, e) < 0)
			return -1;
		return at->len > 0 ? 0 : error_set(e, "expects HOST:PORT");
	}
	return 0;
}

/* ---- the formats of each service ---- */

/* NULL for the one that the log of sessions has. Returns 0, or -1 with a full
 * message. */
static int
make_format(struct apply *a, enum record_scope scope,
    struct log_format **format, struct error *e)
{
	const struct plan *p = a->wanted;
	bool session = scope == RECORD_SESSION;
	const char *text =
	    session ? p->config->log_format : p->config->request_log.format;
	struct error why;

	*format = NULL;
	if (text == NULL)
		text = session ? "logfmt" : "combined";
	if (session && strcmp(text, "logfmt") == 0)
		return 0;
	*format = log_format_share(&a->pen->log_formats, text, scope, &why);
	if (*format != NULL)
		return 0;
	error_set(e, "\"%.200s\": %.250s", text, why.text);
	origin_add(p, session ? "log_format" : "request_format", e);
	return -1;
}

/* A format is wrong wherever the lines go. */
int
apply_log_check_service(struct apply *a, struct error *e)
{
	struct log_format *format;
	int rc = make_format(a, RECORD_SESSION, &format, e);

	log_format_free(format);
	if (rc < 0)
		return rc;
	rc = make_format(a, RECORD_REQUEST, &format, e);
	log_format_free(format);
	return rc;
}

static int
prepare_formats(struct apply *a, struct error *e)
{
	if (a->changed & CHANGED_LOG_FORMAT &&
	    make_format(a, RECORD_SESSION, &a->format, e) < 0)
		return -1;
	return a->changed & CHANGED_REQUEST_FORMAT
	    ? make_format(a, RECORD_REQUEST, &a->request_format, e)
	    : 0;
}

/* ---- where lines of sessions go ---- */

static int
explain_log(const struct plan *p, const char *setting, const char *to,
    const struct error *why, struct error *e)
{
	error_set(e, "\"%.200s\": %.250s", to, why->text);
	origin_add(p, setting, e);
	return -1;
}

static int
check_log(const struct pen *p, const struct plan *plan, const char *setting,
    struct sessionlog_options *o, struct error *e)
{
	struct error why;

	if (o->to == NULL ||
	    (find_remote(p, o->to, &o->remote, &why) == 0 &&
		log_target_check(o, &why) == 0))
		return 0;
	return explain_log(plan, setting, o->to, &why, e);
}

/* *log stays NULL where lines go nowhere. */
static int
open_log(struct pen *p, const struct plan *plan, const char *setting,
    const struct sessionlog_options *o, struct sessionlog **log,
    struct error *e)
{
	struct error why;

	if (o->to == NULL)
		return 0;
	*log =
	    sessionlog_open(&p->log_targets, &p->log_formats, p->loop, o, &why);
	return *log != NULL ? 0 : explain_log(plan, setting, o->to, &why, e);
}

int
apply_log_sessions(const struct pen *p, const struct plan *all,
    const struct plan *plan, struct sessionlog_options *o, struct error *e)
{
	memset(o, 0, sizeof(*o));
	o->to = apply_log_sessions_to(all, plan);
	o->sample = sample_of(all, plan);
	return check_log(p, follow_sessions(all, plan), "session_log", o, e);
}

/* Its own, or those of the first service; with -d all have a line. */
#define SESSIONS_ON (CHANGED_SESSION_LOG | CHANGED_LOG_SAMPLE | CHANGED_DEBUG)

static int
prepare_sessions(struct apply *a, struct error *e)
{
	const struct plan *wanted = a->draft;
	struct sessionlog_options o;

	if ((a->changed & SESSIONS_ON) == 0)
		return 0;
	if (apply_log_sessions(a->pen, wanted, a->wanted, &o, e) < 0)
		return -1;
	return open_log(a->pen, follow_sessions(wanted, a->wanted),
	    "session_log", &o, &a->sessions, e);
}

/* ---- requests of HTTP, of each service ---- */

const char *
apply_log_requests_to(const struct plan *p)
{
	const char *to = p->config->request_log.to;

	return to == NULL || strcmp(to, "off") == 0 ? NULL : to;
}

int
apply_log_requests(const struct pen *p, const struct plan *plan,
    struct sessionlog_options *o, struct error *e)
{
	memset(o, 0, sizeof(*o));
	o->requests = true;
	o->to = apply_log_requests_to(plan);
	return check_log(p, plan, "request_log", o, e);
}

/* Which of them have a line is set for both logs. */
#define HTTPLOG_ON (CHANGED_REQUEST_LOG | CHANGED_LOG_SAMPLE)

static int
prepare_httplog(struct apply *a, struct error *e)
{
	uint64_t sample = sample_of(a->draft, a->wanted);
	struct sessionlog_options o;

	if ((a->changed & HTTPLOG_ON) == 0)
		return 0;
	if (apply_log_requests(a->pen, a->wanted, &o, e) < 0)
		return -1;
	o.sample = sample;
	return open_log(
	    a->pen, a->wanted, "request_log", &o, &a->httplog, e);
}

/* ---- a plan comes into force ---- */

int
apply_log_prepare(struct apply_all *a, struct error *e)
{
	if (apply_log_open_log(a->pen, a->draft->process->log, &a->log, e) == 0)
		return 0;
	origin_add(a->draft, "log", e);
	return -1;
}

void
apply_log_cancel(struct apply_all *a)
{
	sink_close(a->log);
}

/* The first service is always the last to get it: it counts what is lost. */
void
apply_log_commit(struct apply_all *a)
{
	struct sink *requests = a->pen->log;
	struct service *svc;

	a->pen->log = a->log;
	SERVICE_EACH (a->pen, svc)
		if (svc->frontend != NULL)
			frontend_set_requestlog(svc->frontend, a->log);
	frontend_set_requestlog(a->pen->service->frontend, a->log);
	if (a->first)
		frontend_count_log(a->pen->service->frontend);
	sink_close(requests);
}

int
apply_log_prepare_service(struct apply *a, struct error *e)
{
	if (prepare_formats(a, e) == 0 && prepare_sessions(a, e) == 0 &&
	    prepare_httplog(a, e) == 0)
		return 0;
	apply_log_cancel_service(a);
	return -1;
}

void
apply_log_cancel_service(struct apply *a)
{
	sessionlog_free(a->sessions);
	sessionlog_free(a->httplog);
	log_format_free(a->format);
	log_format_free(a->request_format);
}

/* A service that is new gets the log that is there, too. */
void
apply_log_commit_service(struct apply *a)
{
	struct frontend *f = a->service->frontend;

	if (a->changed & CHANGED_LOG_FORMAT)
		frontend_set_log_format(f, a->format);
	if (a->changed & CHANGED_REQUEST_FORMAT)
		frontend_set_request_format(f, a->request_format);
	if (a->changed & SESSIONS_ON)
		frontend_set_sessionlog(f, a->sessions);
	if (a->changed & HTTPLOG_ON)
		frontend_set_httplog(f, a->httplog);
	if (!a->first)
		return;
	frontend_set_requestlog(f, a->pen->log);
	frontend_set_requestlog(a->pen->service->frontend, a->pen->log);
}
