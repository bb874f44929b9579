/* fit.c: see fit.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "control/life/context.h"
#include "control/plan/origin.h"
#include "control/report/fit.h"
#include "control/report/fit_guard.h"
#include "control/report/service_report.h"
#include "dsr/director/director.h"
#include "pool/pool.h"

enum { FIT_TICK_MS = 250 };

struct fit {
	struct pen *pen;
	struct timer timer;
	struct fit_guard guard;
	int lock; /* the file that was written, which is locked; -1: none */
	bool proven; /* it was fit once, or its predecessor was serving */
	bool begun;  /* the file agrees with `written` */
	bool written;
	bool failed; /* the last attempt, which was logged */
};

/* ---- whether it is ---- */

/* All that could serve are checked, and none has passed, or served a client: of
 * direct return it is only known that they have answered ARP. */
static bool
awaits_checks(const struct service *svc)
{
	struct server *s;
	bool any = false, sees = svc->director == NULL;
	unsigned i;

	for (i = 0; i < pool_count(svc->pool); i++) {
		s = pool_server(svc->pool, i);
		if (!server_is_healthy(s))
			continue;
		pen_count_server(svc->pen, s);
		if (!s->checked || s->health.good > 0 ||
		    (sees && s->counters->answered_ms != 0))
			return false;
		any = true;
	}
	return any;
}

/* NULL: it is fit. */
static const char *
obstacle(const struct fit *f, const struct service **svc)
{
	const struct pen *p = f->pen;

	*svc = p->service;
	if (p->phase != PHASE_SERVING)
		return "stopping";
	*svc = service_not_ready(p);
	if (*svc != NULL)
		return "no server is up";
	SERVICE_EACH (p, *svc) {
		if ((*svc)->director != NULL &&
		    !director_has_carrier((*svc)->director))
			return "no carrier";
		if (!f->proven && awaits_checks(*svc))
			return "no server has passed a check yet";
	}
	return NULL;
}

/* ---- the file ---- */

static const char *
fit_file(const struct pen *p)
{
	return p->plan->config.fit_file;
}

/* Only a regular file is pen's to remove. */
static int
fit_check_kind(const char *file, struct error *e)
{
	struct stat st;

	return lstat(file, &st) < 0 || S_ISREG(st.st_mode)
	    ? 0
	    : error_set(e, "is not a regular file");
}

int
fit_try(const struct pen *p, struct error *e)
{
	const char *file = fit_file(p);

	if (file == NULL ||
	    (fit_check_kind(file, e) == 0 && file_may_make(file, e) == 0))
		return 0;
	error_of(e, "\"%.300s\"", file);
	origin_add(p->plan, "fit_file", e);
	return -1;
}

static int
fit_remove(const char *file, struct error *e)
{
	if (fit_check_kind(file, e) < 0)
		return -1;
	return unlink(file) == 0 || errno == ENOENT
	    ? 0
	    : error_set(e, "%s", strerror(errno));
}

static void
fit_unlock(struct fit *f)
{
	if (f->lock >= 0)
		close(f->lock);
	f->lock = -1;
}

/* Others see by the lock that a process keeps the file. */
static void
fit_lock(struct fit *f, const char *file)
{
	fit_unlock(f);
	f->lock = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (f->lock >= 0)
		(void)flock(f->lock, LOCK_EX | LOCK_NB);
}

static int
fit_write(struct fit *f, const char *file, bool fit, struct error *e)
{
	struct buffer text;
	int rc;

	if (!fit) {
		fit_unlock(f);
		return fit_remove(file, e);
	}
	buffer_init(&text);
	rc = buffer_append(&text, "1\n", 2) < 0
	    ? error_set(e, "out of memory")
	    : file_replace(file, &text, false, e);
	buffer_fini(&text);
	if (rc == 0)
		fit_lock(f, file);
	return rc;
}

/* It is written again if it has vanished: another pen, started by mistake, or a
 * guard that is late may have removed it. */
static void
fit_update(struct fit *f)
{
	const char *file = fit_file(f->pen);
	const struct service *svc;
	const char *why = obstacle(f, &svc);
	bool fit = why == NULL;
	struct error e;

	if (f->begun && fit == f->written && (!fit || access(file, F_OK) == 0))
		return;
	if (fit_write(f, file, fit, &e) < 0) {
		if (!f->failed)
			log_error("fit_file not changed file=%s error=\"%s\"",
			    file, e.text);
		f->failed = true;
		return;
	}
	if (fit)
		log_info("fit file=%s", file);
	else
		log_warn("not fit file=%s reason=\"%s\"%s", file, why,
		    svc->label);
	f->failed = false;
	f->proven |= fit;
	f->begun = true;
	f->written = fit;
}

static void
fit_on_time(struct timer *t)
{
	struct fit *f = container_of(t, struct fit, timer);

	fit_update(f);
	(void)timer_start(f->pen->loop, t, FIT_TICK_MS);
}

/* ---- life ---- */

pid_t
fit_fork(struct pen *p, struct error *e)
{
	struct fit *f;
	pid_t pid;

	if (fit_file(p) == NULL)
		return 1;
	if (fit_try(p, e) < 0)
		return -1;
	if (!predecessor_is_there(&p->predecessor) &&
	    fit_is_kept(fit_file(p))) {
		error_set(
		    e, "\"%.300s\": another process keeps it", fit_file(p));
		origin_add(p->plan, "fit_file", e);
		return -1;
	}
	f = calloc(1, sizeof(*f));
	if (f == NULL || (pid = fit_guard_fork(&f->guard)) < 0) {
		free(f);
		return error_set(e, "fit_file: %s", strerror(errno));
	}
	f->pen = p;
	f->lock = -1;
	f->proven = predecessor_is_there(&p->predecessor);
	p->fit = f;
	timer_init(&f->timer, fit_on_time);
	if (pid > 0 && !f->proven)
		(void)fit_remove(fit_file(p), e);
	return pid;
}

void
fit_guard(const struct pen *p, struct executable *x)
{
	fit_guard_serve(&p->fit->guard, fit_file(p), x);
}

/* A file that another process keeps is no matter of this one; and in a root
 * directory to be it is another file. */
void
fit_clear(const struct pen *p)
{
	const char *file = fit_file(p);
	struct error e;

	if (file != NULL && p->fit == NULL &&
	    p->plan->config.process.directory == NULL &&
	    !predecessor_is_there(&p->predecessor) && !fit_is_kept(file))
		(void)fit_remove(file, &e);
}

void
fit_start(struct pen *p)
{
	if (p->fit == NULL)
		return;
	*p->fit->guard.ours = true;
	fit_on_time(&p->fit->timer);
}

void
fit_forget(struct pen *p)
{
	if (p->fit == NULL)
		return;
	timer_fini(&p->fit->timer);
	fit_unlock(p->fit);
	fit_guard_close(&p->fit->guard);
	free(p->fit);
	p->fit = NULL;
}

void
fit_leave(struct pen *p)
{
	if (p->fit != NULL)
		*p->fit->guard.ours = false;
	fit_forget(p);
}

void
fit_free(struct pen *p)
{
	struct error e;

	if (p->fit != NULL && p->fit->written)
		(void)fit_remove(fit_file(p), &e);
	fit_leave(p);
}
