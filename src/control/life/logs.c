/* logs.c: see logs.h. */
#include "config.h"

#include "base/log.h"
#include "control/life/context.h"
#include "control/life/logs.h"
#include "net/sink.h"
#include "proxy/frontend/frontend.h"
#include "proxy/log/sessionlog.h"

/* A log, as messages name it; `label`: the field of its service, or "". */
struct log_sink {
	struct sink *sink; /* NULL: there is none */
	const char *what, *label;
};

/* Calls `each` for all of them. */
static void
logs_each(const struct pen *p,
    void (*each)(const struct log_sink *l, void *arg), void *arg)
{
	struct log_sink l = { p->log, "log", "" };
	struct service *svc;

	each(&l, arg);
	l = (struct log_sink){ sessionlog_sink(p->sessionlog), "session log",
		"" };
	each(&l, arg);
	SERVICE_EACH (p, svc) {
		if (svc->frontend == NULL)
			continue;
		l = (struct log_sink){ frontend_httplog_sink(svc->frontend),
			"request log", svc->label };
		each(&l, arg);
	}
}

static void
logs_reopen_one(const struct log_sink *l, void *arg)
{
	const bool *tell = arg;
	struct error e;

	if (sink_reopen(l->sink, &e) < 0 && *tell)
		log_error("%s not reopened error=\"%s\"%s", l->what, e.text,
		    l->label);
}

void
logs_reopen(const struct pen *p, bool tell)
{
	logs_each(p, logs_reopen_one, &tell);
}

static void
logs_follow_one(const struct log_sink *l, void *arg)
{
	(void)arg;
	sink_follow(l->sink);
}

void
logs_follow(const struct pen *p)
{
	logs_each(p, logs_follow_one, NULL);
}

static void
logs_give_one(const struct log_sink *l, void *arg)
{
	const uid_t *user = arg;

	sink_give(l->sink, *user);
}

void
logs_give(const struct pen *p, uid_t user)
{
	logs_each(p, logs_give_one, &user);
}
