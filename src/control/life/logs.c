/* logs.c: see logs.h. */
#include "config.h"

#include "base/log.h"
#include "control/life/context.h"
#include "control/life/logs.h"
#include "net/sink.h"
#include "proxy/log/log_target.h"

/* A log, as messages name it. */
struct log_sink {
	struct sink *sink; /* NULL: there is none */
	const char *what;
};

/* Calls `each` for all of them. */
static void
logs_each(
    struct pen *p, void (*each)(const struct log_sink *l, void *arg), void *arg)
{
	struct log_sink l = { p->log, "log" };
	struct list *at = NULL;

	each(&l, arg);
	while ((l.sink = log_target_next(&p->log_targets, &at, &l.what)) !=
	    NULL)
		each(&l, arg);
}

static void
logs_reopen_one(const struct log_sink *l, void *arg)
{
	const bool *logs = arg;
	struct error e;

	if (sink_reopen(l->sink, &e) < 0 && *logs)
		log_error("%s not reopened error=\"%s\"", l->what, e.text);
}

void
logs_reopen(struct pen *p, bool logs)
{
	logs_each(p, logs_reopen_one, &logs);
}

static void
logs_follow_one(const struct log_sink *l, void *arg)
{
	(void)arg;
	sink_follow(l->sink);
}

void
logs_follow(struct pen *p)
{
	logs_each(p, logs_follow_one, NULL);
}

static void
log_set_owner(const struct log_sink *l, void *arg)
{
	const uid_t *user = arg;

	sink_set_owner(l->sink, *user);
}

void
logs_set_owner(struct pen *p, uid_t user)
{
	logs_each(p, log_set_owner, &user);
}
