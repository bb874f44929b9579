/* fit.c: see fit.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/words.h"
#include "control/apply/services.h"
#include "control/life/context.h"
#include "control/plan/origin.h"
#include "control/report/fit.h"
#include "control/report/fit_guard.h"
#include "control/report/service_report.h"
#include "dsr/director/director.h"
#include "pool/pool.h"

enum { FIT_TICK_MS = 250 };

/* The file of the process, or of a service. */
struct fit_file {
	char *path;
	char service[SERVICE_NAME_MAX + 1]; /* "": of the process */
	int lock; /* the file that was written, which is locked; -1: none */
	bool proven; /* it was fit once, or its predecessor was serving */
	bool begun;  /* the file agrees with `written` */
	bool written;
	bool failed; /* the last attempt, which was logged */
};

struct fit {
	struct pen *pen;
	struct timer timer;
	struct fit_guard guard;
	struct fit_file *file; /* as at the start: services come and go */
	unsigned count;
};

/* ---- whether it is ---- */

/* Whether nothing is known of the servers yet: all that could serve are
 * checked, and none has passed a check or served a client. Of direct return
 * only answers to ARP are known, which do not count. */
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

/* NULL: the service can serve. */
static const char *
obstacle_of(const struct fit_file *f, const struct service *svc)
{
	if (!service_is_ready(svc))
		return "no server is up";
	if (svc->director != NULL && !director_has_carrier(svc->director))
		return "no carrier";
	if (!f->proven && awaits_checks(svc))
		return "no server has passed a check yet";
	return NULL;
}

bool
fit_service(const struct service *svc)
{
	const struct fit_file f = { .proven = true };

	return svc->pen->phase == PHASE_SERVING && obstacle_of(&f, svc) == NULL;
}

/* Why no service can serve; NULL: one can. With several services the reason is
 * a common one. */
static const char *
obstacle_of_all(const struct fit_file *f, const struct pen *p)
{
	const struct service *svc;
	const char *why = NULL, *first = "no server is up";
	unsigned n = 0;

	SERVICE_EACH (p, svc) {
		if (!service_has_clients(svc))
			continue;
		why = obstacle_of(f, svc);
		if (why == NULL)
			return NULL;
		if (n++ == 0)
			first = why;
	}
	return n > 1 ? "no service can serve" : first;
}

/* NULL: it is fit. */
static const char *
obstacle(const struct fit_file *f, const struct pen *p)
{
	const struct service *svc;

	if (p->phase != PHASE_SERVING)
		return "stopping";
	if (f->service[0] == '\0')
		return obstacle_of_all(f, p);
	svc = service_find(p, f->service);
	return svc != NULL ? obstacle_of(f, svc) : "the service was removed";
}

/* ---- the files ---- */

/* Only a regular file is pen's to remove. */
static int
fit_check_kind(const char *file, struct error *e)
{
	struct stat st;

	return lstat(file, &st) < 0 || S_ISREG(st.st_mode)
	    ? 0
	    : error_set(e, "is not a regular file");
}

/* A full message about the file of a service. */
static int
fit_blame(const struct plan *p, struct error *e)
{
	struct error why = *e;

	error_set(e, "\"%.300s\": %.150s", p->config->fit_file, why.text);
	origin_add(p, "fit_file", e);
	return plan_service_blame(p, e);
}

/* A service before that one with the same file; or NULL. */
static const struct plan *
fit_find_same(const struct plan *p, const struct plan *one)
{
	const struct plan *other;
	unsigned i;

	for (i = 0; (other = plan_service_at(p, i)) != one; i++)
		if (text_equal(other->config->fit_file, one->config->fit_file))
			return other;
	return NULL;
}

static int
try_one(const struct plan *p, const struct plan *one, struct error *e)
{
	const char *file = one->config->fit_file;
	const struct plan *same;

	if (file == NULL)
		return 0;
	same = fit_find_same(p, one);
	if (same == NULL && fit_check_kind(file, e) == 0 &&
	    file_may_make(file, e) == 0)
		return 0;
	if (same != NULL)
		error_set(e,
		    "is the file of service %s, too; each needs its own",
		    plan_service_name(same));
	return fit_blame(one, e);
}

int
fit_try(const struct pen *p, struct error *e)
{
	const struct plan *one;
	unsigned i;

	for (i = 0; (one = plan_service_at(p->plan, i)) != NULL; i++)
		if (try_one(p->plan, one, e) < 0)
			return -1;
	return 0;
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
fit_unlock(struct fit_file *f)
{
	if (f->lock >= 0)
		close(f->lock);
	f->lock = -1;
}

/* Others see by the lock that a process keeps the file. */
static void
fit_lock(struct fit_file *f)
{
	fit_unlock(f);
	f->lock = open(f->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (f->lock >= 0)
		(void)flock(f->lock, LOCK_EX | LOCK_NB);
}

static int
fit_write(struct fit_file *f, bool fit, struct error *e)
{
	struct buffer text;
	int rc;

	if (!fit) {
		fit_unlock(f);
		return fit_remove(f->path, e);
	}
	buffer_init(&text);
	rc = buffer_append(&text, "1\n", 2) < 0
	    ? error_set(e, "out of memory")
	    : file_replace(f->path, &text, false, e);
	buffer_fini(&text);
	if (rc == 0)
		fit_lock(f);
	return rc;
}

/* Writes or removes the file. A file that has vanished is written again:
 * another pen, started by mistake, or a late guard may have removed it. */
static void
fit_update(struct fit_file *f, const struct pen *p)
{
	const char *why = obstacle(f, p);
	const char *label = f->service[0] != '\0' ? " service=" : "";
	bool fit = why == NULL;
	struct error e;

	if (f->begun && fit == f->written &&
	    (!fit || access(f->path, F_OK) == 0))
		return;
	if (fit_write(f, fit, &e) < 0) {
		if (!f->failed)
			log_error("fit_file not changed file=%s error=\"%s\"",
			    f->path, e.text);
		f->failed = true;
		return;
	}
	if (fit)
		log_info("fit file=%s%s%s", f->path, label, f->service);
	else
		log_warn("not fit file=%s reason=\"%s\"%s%s", f->path, why,
		    label, f->service);
	f->failed = false;
	f->proven |= fit;
	f->begun = true;
	f->written = fit;
}

static void
fit_on_time(struct timer *t)
{
	struct fit *f = container_of(t, struct fit, timer);
	unsigned i;

	for (i = 0; i < f->count; i++)
		fit_update(&f->file[i], f->pen);
	(void)timer_start(f->pen->loop, t, FIT_TICK_MS);
}

/* ---- life ---- */

static void
fit_free_files(struct fit *f)
{
	while (f->count > 0)
		free(f->file[--f->count].path);
	free(f->file);
}

static int
fit_add(struct fit *f, const struct plan *one, bool proven)
{
	struct fit_file *to = &f->file[f->count];

	*to = (struct fit_file){ .path = strdup(one->config->fit_file),
		.lock = -1,
		.proven = proven };
	if (to->path == NULL)
		return -1;
	f->count++;
	if (one->name != NULL)
		snprintf(to->service, sizeof(to->service), "%s", one->name);
	return 0;
}

/* The files of all services. NULL with errno; *none: no file is wanted. */
static struct fit *
fit_new(struct pen *p, bool *none)
{
	struct fit *f = calloc(1, sizeof(*f));
	bool proven = predecessor_is_there(&p->predecessor);
	const struct plan *one = NULL;
	unsigned i;

	*none = false;
	if (f == NULL)
		return NULL;
	f->pen = p;
	f->file = calloc(p->plan->service_count + 1u, sizeof(*f->file));
	for (i = 0;
	     f->file != NULL && (one = plan_service_at(p->plan, i)) != NULL;
	     i++)
		if (one->config->fit_file != NULL &&
		    fit_add(f, one, proven) < 0)
			break;
	if (f->file != NULL && one == NULL && f->count > 0)
		return f;
	*none = f->file != NULL && one == NULL;
	fit_free_files(f);
	free(f);
	return NULL;
}

/* No other process may keep one of them. */
static int
fit_check_kept(const struct pen *p, struct error *e)
{
	const struct plan *one;
	unsigned i;

	if (predecessor_is_there(&p->predecessor))
		return 0;
	for (i = 0; (one = plan_service_at(p->plan, i)) != NULL; i++)
		if (one->config->fit_file != NULL &&
		    fit_is_kept(one->config->fit_file)) {
			error_set(e, "another process keeps it");
			(void)fit_blame(one, e);
			return -1;
		}
	return 0;
}

pid_t
fit_fork(struct pen *p, struct error *e)
{
	struct fit *f;
	bool none;
	pid_t pid;
	unsigned i;

	if (fit_try(p, e) < 0 || fit_check_kept(p, e) < 0)
		return -1;
	f = fit_new(p, &none);
	if (none)
		return 1;
	if (f == NULL || (pid = fit_guard_fork(&f->guard)) < 0) {
		error_set(e, "fit_file: %s", strerror(errno));
		if (f != NULL)
			fit_free_files(f);
		free(f);
		return -1;
	}
	p->fit = f;
	timer_init(&f->timer, fit_on_time);
	for (i = 0; pid > 0 && i < f->count; i++)
		if (!f->file[i].proven)
			(void)fit_remove(f->file[i].path, e);
	return pid;
}

void
fit_guard(const struct pen *p, struct executable *x)
{
	const struct fit *f = p->fit;
	const char **files = calloc(f->count + 1u, sizeof(*files));
	unsigned i;

	for (i = 0; files != NULL && i < f->count; i++)
		files[i] = f->file[i].path;
	if (files != NULL)
		fit_guard_serve(&p->fit->guard, files, x);
	free(files);
}

/* A file that another process keeps is no matter of this one; and in a root
 * directory to be it is another file. */
void
fit_clear(const struct pen *p)
{
	const struct plan *one;
	struct error e;
	unsigned i;

	if (p->fit != NULL || p->plan->process->run.directory != NULL ||
	    predecessor_is_there(&p->predecessor))
		return;
	for (i = 0; (one = plan_service_at(p->plan, i)) != NULL; i++)
		if (one->config->fit_file != NULL &&
		    !fit_is_kept(one->config->fit_file))
			(void)fit_remove(one->config->fit_file, &e);
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
fit_stop_in_child(struct pen *p)
{
	struct fit *f = p->fit;
	unsigned i;

	if (f == NULL)
		return;
	timer_fini(&f->timer);
	for (i = 0; i < f->count; i++)
		fit_unlock(&f->file[i]);
	fit_guard_close(&f->guard);
	fit_free_files(f);
	free(f);
	p->fit = NULL;
}

void
fit_hand_over(struct pen *p)
{
	if (p->fit != NULL)
		*p->fit->guard.ours = false;
	fit_stop_in_child(p);
}

void
fit_free(struct pen *p)
{
	struct error e;
	unsigned i;

	for (i = 0; p->fit != NULL && i < p->fit->count; i++)
		if (p->fit->file[i].written)
			(void)fit_remove(p->fit->file[i].path, &e);
	fit_hand_over(p);
}
