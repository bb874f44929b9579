/* sandbox.c: the order of things; see sandbox.h. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "control/life/rights.h"
#include "control/life/sandbox.h"
#include "control/life/sandbox_bounds.h"
#include "control/life/sandbox_calls.h"
#include "control/life/sandbox_files.h"
#include "control/life/sandbox_plan.h"
#include "net/program/program.h"
#include "net/program/starter.h"

static enum sandbox_mode
mode_of(const struct pen *p)
{
	return p->plan->process->sandbox;
}

static bool
has_director(const struct pen *p)
{
	const struct service *svc = p->service;

	while (svc != NULL && svc->director == NULL)
		svc = svc->next;
	return svc != NULL;
}

int
sandbox_open(struct sandbox *s, const struct pen *p, struct error *e)
{
	s->files = -1;
	if (mode_of(p) != SANDBOX_ON)
		return 0;
	s->files = sandbox_files_new();
	if (s->files >= 0)
		sandbox_plan_files(p, s->files, has_director(p),
		    p->predecessor.rooted, false);
	else if (errno == EPERM)
		return error_set(e,
		    "sandbox: files: %s: a filter of system calls, such as "
		    "SystemCallFilter= of systemd, has to permit "
		    "landlock_create_ruleset, landlock_add_rule and "
		    "landlock_restrict_self",
		    strerror(EPERM));
	else if (errno == ENOSYS || errno == EOPNOTSUPP)
		log_warn("sandbox does not limit files error=\"no Landlock in "
			 "this kernel\"");
	else
		return error_set(e, "sandbox: files: %s", strerror(errno));
	return 0;
}

/* The starter has what programs and an upgrade get: the capability that pen has
 * kept, without which programs are started all the same (program.h). */
pid_t
sandbox_fork(struct pen *p, struct error *e)
{
	bool failed;
	pid_t pid;

	if (mode_of(p) == SANDBOX_OFF)
		return 1;
	p->starter = starter_new(
	    p->executable.path, p->executable.argv, mode_of(p) == SANDBOX_LOG);
	if (p->starter == NULL && errno == ENOSYS)
		return 1; /* programs start without pen's limits */
	if (p->starter == NULL || sandbox_plan_programs(p, p->starter) < 0)
		return error_set(e, "sandbox: %s", strerror(errno));
	starter_bound(p->starter, sandbox_bounds_new(p, &failed));
	if (failed)
		return error_set(e, "out of memory");
	pid = starter_fork(p->starter);
	if (pid < 0)
		return error_set(e, "sandbox: fork: %s", strerror(errno));
	if (pid > 0) {
		programs_start_by(p->programs, p->starter);
		starter_mend(p->starter); /* a spare */
	} else
		rights_hand_on(true);
	return pid;
}

static unsigned
needs_of(const struct pen *p, bool frames)
{
	return (p->role.size > 1 ? SANDBOX_FORK : 0) |
	    (frames ? SANDBOX_FRAMES : 0) |
	    /* the lock of a VIP is a Unix socket */
	    (p->has_unix || frames ? SANDBOX_UNIX : 0);
}

int
sandbox_enter(struct sandbox *s, struct pen *p, struct error *e)
{
	bool tries = mode_of(p) == SANDBOX_LOG, frames = has_director(p),
	     has_root = p->plan->process->run.directory != NULL;
	struct error why;

	if (mode_of(p) == SANDBOX_OFF)
		return 0;
	/* in another root these are other files */
	if (s->files >= 0 && has_root)
		sandbox_plan_files(p, s->files, frames, true, false);
	if (tries)
		sandbox_plan_files(p, -1, frames, has_root, true);
	if (s->files >= 0 && sandbox_files_enter(s->files) < 0)
		return error_set(e, "sandbox: files: %s", strerror(errno));
	s->files = -1;
	if (!tries && rights_reduce(frames, e) < 0)
		return -1;
	p->has_unix = tries || sandbox_plan_has_unix(p->plan);
	if (sandbox_calls_enter(tries, needs_of(p, frames), &why) < 0)
		return error_set(e, "sandbox: %s", why.text);
	return 0;
}
