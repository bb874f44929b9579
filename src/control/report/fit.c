/* fit.c: see fit.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "control/life/context.h"
#include "control/plan/origin.h"
#include "control/report/fit.h"
#include "control/report/service_report.h"
#include "dsr/director/director.h"
#include "net/program/program_exec.h"
#include "pool/pool.h"

enum { FIT_TICK_MS = 250 };

/* The last one that the guard has read when pen ends is in force. */
static const char is_ours = '1', is_not_ours = '0';

struct fit {
	struct pen *pen;
	struct timer timer;
	int fd; /* the pipe to the guard, in the guard the one from pen */
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
	const struct server *s;
	bool any = false, sees = svc->director == NULL;
	unsigned i;

	for (i = 0; i < pool_count(svc->pool); i++) {
		s = pool_server(svc->pool, i);
		if (!server_is_healthy(s))
			continue;
		if (!s->checked || s->health.good > 0 ||
		    (sees && s->answered_ms != 0))
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

static int
fit_write(const char *file, bool fit, struct error *e)
{
	struct buffer text;
	int rc;

	if (!fit)
		return fit_remove(file, e);
	buffer_init(&text);
	rc = buffer_append(&text, "1\n", 2) < 0
	    ? error_set(e, "out of memory")
	    : file_replace(file, &text, false, e);
	buffer_fini(&text);
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
	if (fit_write(file, fit, &e) < 0) {
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
	int fd[2];
	pid_t pid;

	if (fit_file(p) == NULL)
		return 1;
	if (fit_try(p, e) < 0)
		return -1;
	f = calloc(1, sizeof(*f));
	if (f == NULL || pipe(fd) < 0 || (pid = fork()) < 0) {
		free(f);
		return error_set(e, "fit_file: %s", strerror(errno));
	}
	*f = (struct fit){ .pen = p,
		.fd = fd[pid > 0],
		.proven = predecessor_is_there(&p->predecessor) };
	p->fit = f;
	close(fd[pid == 0]);
	timer_init(&f->timer, fit_on_time);
	(void)fcntl(f->fd, F_SETFD, FD_CLOEXEC);
	if (pid > 0 && !f->proven)
		(void)fit_remove(fit_file(p), e);
	return pid;
}

/* Signals for all processes of the terminal or of the service are pen's, and so
 * are all descriptors: what it closes must be closed. */
void
fit_guard(const struct pen *p)
{
	static const int all[] = { SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1,
		SIGUSR2, SIGTSTP };
	char last = is_not_ours;
	struct error e;
	ssize_t n;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		(void)signal(all[i], SIG_IGN);
	if (dup2(p->fit->fd, 0) < 0)
		return;
	program_exec_close_from(1);
	do
		n = read(0, &last, 1);
	while (n > 0 || (n < 0 && errno == EINTR));
	if (last == is_ours)
		(void)fit_remove(fit_file(p), &e);
}

void
fit_start(struct pen *p)
{
	if (p->fit == NULL)
		return;
	(void)!write(p->fit->fd, &is_ours, 1);
	fit_on_time(&p->fit->timer);
}

void
fit_forget(struct pen *p)
{
	if (p->fit == NULL)
		return;
	timer_fini(&p->fit->timer);
	close(p->fit->fd);
	free(p->fit);
	p->fit = NULL;
}

void
fit_leave(struct pen *p)
{
	if (p->fit != NULL)
		(void)!write(p->fit->fd, &is_not_ours, 1);
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
