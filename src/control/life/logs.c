/* logs.c: see logs.h. */
#include "config.h"

#include "base/log.h"
#include "control/life/context.h"
#include "control/life/logs.h"
#include "net/sink.h"
#include "proxy/frontend/frontend.h"
#include "proxy/log/sessionlog.h"

static void
logs_reopen_one(struct sink *s, const char *what, const char *label, bool tell)
{
	struct error e;

	if (sink_reopen(s, &e) < 0 && tell)
		log_error(
		    "%s not reopened error=\"%s\"%s", what, e.text, label);
}

void
logs_reopen(const struct pen *p, bool tell)
{
	struct service *svc;

	logs_reopen_one(p->log, "log", "", tell);
	logs_reopen_one(
	    sessionlog_sink(p->sessionlog), "session log", "", tell);
	SERVICE_EACH (p, svc)
		if (svc->frontend != NULL)
			logs_reopen_one(frontend_httplog_sink(svc->frontend),
			    "request log", svc->label, tell);
}

void
logs_follow(const struct pen *p)
{
	struct service *svc;

	sink_follow(p->log);
	sink_follow(sessionlog_sink(p->sessionlog));
	SERVICE_EACH (p, svc)
		if (svc->frontend != NULL)
			sink_follow(frontend_httplog_sink(svc->frontend));
}

void
logs_give(const struct pen *p, uid_t user)
{
	struct service *svc;

	sink_give(p->log, user);
	sink_give(sessionlog_sink(p->sessionlog), user);
	SERVICE_EACH (p, svc)
		if (svc->frontend != NULL)
			sink_give(frontend_httplog_sink(svc->frontend), user);
}
