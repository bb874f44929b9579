/* apply_log.c: the logs of a plan: of requests, and of sessions. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "control/apply/apply.h"
#include "control/apply/services.h"
#include "control/plan/origin.h"
#include "net/resolve/resolve.h"
#include "net/sink.h"
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

static int
prepare_requests(struct apply *a, struct error *e)
{
	const char *before = a->now->config.log, *now = a->wanted->config.log;

	a->log_changed = a->first || !text_equal(before, now);
	if (!a->log_changed || apply_log_open_log(a->pen, now, &a->log, e) == 0)
		return 0;
	origin_add(a->wanted, "log", e);
	return -1;
}

/* ---- sessions ---- */

/* Where lines of sessions go, NULL: nowhere. In the foreground they are
 * visible; with -d all of them are. */
static const char *
sessions_to(const struct config *c)
{
	const char *to = c->session_log.to;

	bool automatic = to != NULL && strcmp(to, "auto") == 0;

	if (to != NULL && !automatic && strcmp(to, "off") != 0)
		return to;
	if (c->debug > 0 || (automatic && c->process.foreground))
		return "log";
	return NULL;
}

static bool
are_sessions_equal(const struct config *a, const struct config *b)
{
	return text_equal(sessions_to(a), sessions_to(b)) &&
	    a->session_log.sample == b->session_log.sample;
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

/* ---- the format of each service ---- */

/* NULL for the one that logs have. Returns 0, or -1 with a full message. */
static int
make_format(const struct plan *p, struct log_format **format, struct error *e)
{
	const char *text = p->config.session_log.format;
	struct error why;

	*format = NULL;
	if (text == NULL || strcmp(text, "logfmt") == 0)
		return 0;
	*format = log_format_new(text, &why);
	if (*format != NULL)
		return 0;
	error_set(e, "\"%.200s\": %.250s", text, why.text);
	origin_add(p, "log_format", e);
	return -1;
}

/* A format is wrong wherever the lines go. */
int
apply_log_check(struct apply *a, struct error *e)
{
	struct log_format *format;
	int rc = make_format(a->wanted, &format, e);

	log_format_free(format);
	return rc;
}

static int
prepare_format(struct apply *a, struct error *e)
{
	a->format_changed = a->first ||
	    !text_equal(a->now->config.session_log.format,
		a->wanted->config.session_log.format);
	return a->format_changed ? make_format(a->wanted, &a->format, e) : 0;
}

/* ---- where lines of sessions go ---- */

static int
explain_sessions(const struct plan *p, const char *to, const struct error *why,
    struct error *e)
{
	error_set(e, "\"%.200s\": %.250s", to, why->text);
	origin_add(p, "session_log", e);
	return -1;
}

int
apply_log_sessions(const struct pen *p, const struct plan *plan,
    struct sessionlog_options *o, struct error *e)
{
	const struct config *c = &plan->config;
	struct error why;

	memset(o, 0, sizeof(*o));
	o->to = sessions_to(c);
	o->sample = c->session_log.sample;
	if (o->to == NULL ||
	    (find_remote(p, o->to, &o->remote, &why) == 0 &&
		sessionlog_check(o, &why) == 0))
		return 0;
	return explain_sessions(plan, o->to, &why, e);
}

static int
prepare_sessions(struct apply *a, struct error *e)
{
	struct sessionlog_options o;
	struct error why;

	a->sessions_changed = a->first ||
	    !are_sessions_equal(&a->now->config, &a->wanted->config);
	if (!a->sessions_changed)
		return 0;
	if (apply_log_sessions(a->pen, a->wanted, &o, e) < 0)
		return -1;
	if (o.to == NULL)
		return 0;
	a->sessions = sessionlog_open(a->pen->loop, &o, &why);
	return a->sessions != NULL ? 0
				   : explain_sessions(a->wanted, o.to, &why, e);
}

/* ---- all services have the same logs ---- */

static void
set_logs(struct service *svc)
{
	frontend_set_requestlog(svc->frontend, svc->pen->log);
	frontend_set_sessionlog(svc->frontend, svc->pen->sessionlog);
}

int
apply_log_prepare(struct apply *a, struct error *e)
{
	if (prepare_format(a, e) < 0)
		return -1;
	if (!service_is_first(a->service) ||
	    (prepare_requests(a, e) == 0 && prepare_sessions(a, e) == 0))
		return 0;
	apply_log_cancel(a);
	return -1;
}

void
apply_log_cancel(struct apply *a)
{
	sink_close(a->log);
	sessionlog_free(a->sessions);
	log_format_free(a->format);
}

/* A service that is new gets those that are there. The first one is always the
 * last to get them: it counts what they lose. */
void
apply_log_commit(struct apply *a)
{
	struct sessionlog *sessions = a->pen->sessionlog;
	struct sink *requests = a->pen->log;
	struct service *svc;

	if (a->format_changed)
		frontend_set_log_format(a->service->frontend, a->format);
	if (!service_is_first(a->service)) {
		if (a->first) {
			set_logs(a->service);
			set_logs(a->pen->service);
		}
		return;
	}
	if (a->log_changed)
		a->pen->log = a->log;
	if (a->sessions_changed)
		a->pen->sessionlog = a->sessions;
	if (!a->log_changed && !a->sessions_changed)
		return;
	SERVICE_EACH (a->pen, svc)
		if (svc->frontend != NULL)
			set_logs(svc);
	set_logs(a->service);
	if (a->first)
		frontend_count_log(a->service->frontend);
	if (a->log_changed)
		sink_close(requests);
	if (a->sessions_changed)
		sessionlog_free(sessions);
}
