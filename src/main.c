/* main.c: options, background, privileges, run. The only place that ends the
 * process. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/output.h"
#include "control/apply/apply.h"
#include "control/file/config_file.h"
#include "control/file/config_merge.h"
#include "control/apply/direct.h"
#include "control/upgrade/takeover.h"
#include "control/upgrade/upgrade.h"
#include "control/verify/direct_inspect.h"
#include "control/verify/warnings.h"
#include "control/verify/explain.h"
#include "control/apply/geoip.h"
#include "control/verify/route_warnings.h"
#include "control/report/fit.h"
#include "control/report/report.h"
#include "control/upgrade/inherit.h"
#include "control/language/options.h"
#include "control/pen.h"
#include "control/verify/preflight.h"
#include "control/life/logs.h"
#include "control/life/process.h"
#include "control/life/rights.h"
#include "control/life/sandbox.h"
#include "control/life/sandbox_bounds.h"
#include "control/verify/transparent.h"
#include "net/program/starter.h"

static int
main_fail(const struct error *e)
{
	fprintf(stderr, "%spen: %s\n", log_prefix(LOG_LEVEL_ERROR), e->text);
	return 1;
}

static bool
has_transparent(const struct pen *p)
{
	const struct service *svc = p->service;

	while (svc != NULL && !transparent_is_wanted(svc->plan))
		svc = svc->next;
	return svc != NULL;
}

static bool
has_proxy(const struct pen *p)
{
	const struct service *svc = p->service;

	while (svc != NULL &&
	    (svc->plan->listen.count == 0 || direct_is_wanted(svc->plan)))
		svc = svc->next;
	return svc != NULL;
}

/* A director has its sockets and needs no more; a proxy may have to open ports,
 * and root's files, later. */
static int
drop_rights(const struct pen *p, struct error *e)
{
	return has_proxy(p) ? 0 : rights_drop(e);
}

/* Files of sockets: with their modes, the group may connect. Before all is
 * open, for --check, there are none. */
static void
set_owner_of_sockets(struct pen *p, const struct passwd *pw)
{
	if (p->phase == PHASE_SERVING)
		socket_set_set_owner(&p->sockets, pw->pw_uid, pw->pw_gid);
}

/* A service manager may have made it that user already. A process that takes
 * over from one that has dropped its privileges has none, but for the right
 * that `transparent` needs. */
static int
drop_privileges(struct pen *p, struct error *e)
{
	struct process_options o = p->plan->process->run;
	bool transparent = o.user != NULL && has_transparent(p), keep;
	struct passwd user, *pw;
	struct error why;

	if (p->predecessor.rooted)
		o.directory = NULL;
	if ((predecessor_is_there(&p->predecessor) || geteuid() != 0) &&
	    process_is_user(o.user))
		o.user = NULL;
	pw = o.user != NULL && process_find_user(o.user, &user, &why) == 0
	    ? &user
	    : NULL;
	keep = transparent ||
	    (pw != NULL && pw->pw_uid != 0 && geteuid() == 0);
	if (keep && rights_begin_change(e) < 0)
		return -1;
	/* after the rights are dropped, logs are opened again as this user */
	if (pw != NULL) {
		logs_set_owner(p, pw->pw_uid);
		set_owner_of_sockets(p, pw);
	}
	if (process_drop_privileges(&o, e) < 0)
		return -1;
	return keep ? rights_end_change(transparent, e) : 0;
}

static int
open_fit(struct pen *p, struct error *e)
{
	pid_t pid = fit_fork(p, e);

	if (pid == 0) {
		fit_guard(p, &p->executable);
		_exit(0);
	}
	return pid > 0 ? 0 : -1;
}

/* The process that starts programs has the standard files that pen will
 * have. */
static int
enter_sandbox(
    struct pen *p, struct process *proc, struct sandbox *s, struct error *e)
{
	pid_t pid = sandbox_fork(p, e);

	if (pid < 0)
		return -1;
	if (pid > 0) {
		if (p->plan->process->sandbox == SANDBOX_ON)
			socket_set_set_modes(&p->sockets);
		return sandbox_enter(s, p, e);
	}
	if (p->predecessor.error_fd >= 0)
		(void)dup2(p->predecessor.error_fd, STDERR_FILENO);
	if (process_detach(proc, e) < 0)
		_exit(1);
	_exit(starter_serve(p->starter));
}

/* From here on clients are ours, and so are the pid file and the terminal. */
static int
main_replace_predecessor(struct pen *p, struct process *proc, struct error *e)
{
	if (!predecessor_is_there(&p->predecessor))
		return 0;
	if (takeover_wait(p, e) < 0)
		return -1;
	process_claim_pid_file(proc);
	return 0;
}

/* The process that serves instead reports it, too. */
static int
fail_to_serve(const struct pen *p, const struct error *e)
{
	takeover_blame(p, e);
	return main_fail(e);
}

/* Opens everything, gives up what is not needed any more, and serves. */
static int
main_serve(struct pen *p, struct process *proc)
{
	const char *pid_file = p->plan->process->run.pid_file;
	struct sandbox sandbox;
	struct service *svc;
	struct error e;

	output_own(STDOUT_FILENO);
	output_own(STDERR_FILENO);
	if ((pid_file != NULL &&
		process_lock_pid_file(
		    proc, pid_file, p->predecessor.rooted, &e) < 0) ||
	    pen_start(p, &e) < 0 || sandbox_open(&sandbox, p, &e) < 0 ||
	    drop_privileges(p, &e) < 0 || drop_rights(p, &e) < 0 ||
	    open_fit(p, &e) < 0 || enter_sandbox(p, proc, &sandbox, &e) < 0 ||
	    main_replace_predecessor(p, proc, &e) < 0 || pen_begin(p, &e) < 0 ||
	    process_ready(proc, &e) < 0) {
		fit_clear(p);
		return fail_to_serve(p, &e);
	}
	if (p->role.member == 0) {
		SERVICE_EACH (p, svc)
			transparent_warn(svc);
		report_log_start(p);
	}
	return pen_run(p, &e) < 0 ? fail_to_serve(p, &e) : 0;
}

/* The text may be that of any file. */
static int
fail_in_bounds(void)
{
	struct error e;

	error_set(&e, "the configuration has an error, see --check");
	return main_fail(&e);
}

/* Prints the errors that were kept; of an upgrade the one that is its
 * answer. */
static int
fail_with_all(const struct pen *p)
{
	unsigned most = predecessor_is_there(&p->predecessor) ? 1 : UINT_MAX, i;
	struct error e;

	if (p->bounds != NULL)
		return fail_in_bounds();
	for (i = 0; i < most && errors_at(p->errors, i, &e); i++)
		main_fail(&e);
	return 1;
}

/* The plan of the command line and the file, looked up but not opened. All
 * errors are kept. Returns whether there is one. */
static bool
make_plan(struct pen *p)
{
	struct error e;
	struct plan *draft = config_draft(p, false, &e);

	if (draft != NULL && apply_plan_now(p, draft, &e) == 0)
		return true;
	(void)errors_add(p->errors, &e);
	return false;
}

static void
main_print(struct buffer *text)
{
	fwrite(buffer_bytes(text), 1, buffer_length(text), stdout);
	buffer_fini(text);
}

/* --explain: what a client would get of what would be in force. */
static int
explain(struct pen *p)
{
	struct reply r;
	struct error e;
	int rc;

	reply_init(&r);
	rc = explain_client(p, p->plan->process->explain, &r, &e);
	main_print(&r.out);
	reply_fini(&r);
	return rc < 0 ? main_fail(&e) : 0;
}

static void
log_warnings(struct pen *p)
{
	struct service *svc;
	struct buffer of_routes;

	SERVICE_EACH (p, svc) {
		buffer_init(&of_routes);
		route_warnings_print(svc, svc->plan, &of_routes);
		warnings_log(NULL, NULL, svc->plan, p->plan, CHANGED_ALL);
		warnings_log_lines(svc->plan, &of_routes, UINT_MAX);
		buffer_fini(&of_routes);
	}
}

static bool
is_to_print(const struct process_plan *o)
{
	return o->print || o->print_all;
}

/* --print: what would be in force, as `write` has it in a new file. */
static int
print_configuration(struct pen *p)
{
	struct buffer text, none;
	struct error e;
	int rc;

	buffer_init(&none);
	buffer_init(&text);
	if (p->plan->process->print_all) {
		plan_print(p->plan, &text);
		rc = 0;
	} else {
		rc = config_merge(p, "new file", &none, false, &text, &e);
	}
	main_print(&text);
	return rc < 0 ? main_fail(&e) : 0;
}

/* The error that the child reports. */
static int
receive_from_child(int fd, pid_t child, struct error *e)
{
	ssize_t n;
	int status;

	memset(e, 0, sizeof(*e));
	do
		n = read(fd, e->text, sizeof(e->text) - 1);
	while (n < 0 && errno == EINTR);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return error_set(e, "waitpid: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (n > 0)
		return -1;
	return error_set(e, "the background process exited without a message");
}

/* Gives it up in a child process: whether it can be done, and what it then
 * lacks, is known only when it is done. */
static int
try_to_drop(struct pen *p, struct error *e)
{
	int fd[2], rc;
	pid_t child;

	if (pipe(fd) < 0)
		return error_set(e, "pipe: %s", strerror(errno));
	child = fork();
	if (child == 0) {
		rc = drop_privileges(p, e) < 0 || drop_rights(p, e) < 0
		    ? -1
		    : fit_try(p, e);
		if (rc < 0)
			(void)!write(fd[1], e->text, strlen(e->text));
		_exit(rc < 0 ? 1 : 0);
	}
	close(fd[1]);
	rc = child < 0 ? error_set(e, "fork: %s", strerror(errno))
		       : receive_from_child(fd[0], child, e);
	close(fd[0]);
	return rc;
}

/* Whether a start would get all that it needs. */
static void
check_start(struct pen *p)
{
	struct error e;

	preflight(p);
	if (try_to_drop(p, &e) < 0)
		(void)errors_add(p->errors, &e);
}

/* What direct server return and transparent mode find around pen. */
static int
inspect(const struct pen *p)
{
	const struct service *svc;
	struct error e;
	int bad = 0, rc;

	SERVICE_EACH (p, svc) {
		rc = direct_inspect(svc, &e);
		if (rc < 0)
			main_fail(&e);
		bad |= rc != 0 || transparent_inspect(svc) != 0;
	}
	return bad;
}

static void
recommend_user(const struct pen *p)
{
	const struct process_plan *o = p->plan->process;

	if (o->sandbox == SANDBOX_ON && geteuid() == 0 &&
	    (o->run.user == NULL || process_is_user(o->run.user)))
		log_warn("sandbox on: pen remains root, whose files and "
			 "sockets others protect less: -u USER");
}

/* --check: prints all that is wrong, also around pen. */
static int
main_check(struct pen *p)
{
	if (make_plan(p))
		check_start(p);
	if (errors_count(p->errors) > 0)
		return fail_with_all(p);
	log_warnings(p);
	recommend_user(p);
	if (p->plan->process->explain != NULL)
		return explain(p);
	if (is_to_print(p->plan->process) && print_configuration(p) != 0)
		return 1;
	return inspect(p);
}

/* Returns the exit status: 1 also when not all of the output was written. */
static int
end_output(int status)
{
	struct error e;

	if (status != 0 || (fflush(stdout) == 0 && !ferror(stdout)))
		return status;
	error_set(&e, "standard output cannot be written");
	return main_fail(&e);
}

static int
main_run(struct pen *p, struct process *proc)
{
	const struct process_plan *o = p->given->process;
	struct error e;
	int status = -1;

	/* those of the command line; names in it need not be looked up */
	if (errors_count(p->errors) > 0 && o->file == NULL)
		return fail_with_all(p);
	if (o->check || is_to_print(o) || o->explain != NULL)
		return end_output(main_check(p));
	(void)make_plan(p);
	if (errors_count(p->errors) > 0)
		return fail_with_all(p);
	p->errors = NULL;
	if (sandbox_bounds_check(p, &e) < 0)
		return main_fail(&e);
	log_warnings(p);
	if (!p->plan->process->run.foreground) {
		if (predecessor_is_there(&p->predecessor))
			process_stay_in_background(proc);
		else
			status = process_background(proc, &e);
	}
	if (status == -2)
		return main_fail(&e);
	return status == -1 ? main_serve(p, proc) : status;
}

int
main(int argc, char **argv)
{
	struct process proc;
	struct errors errors;
	struct error e;
	struct pen *p;
	int status = 0;

	/* a file that may not be larger costs lines, not the process */
	signal(SIGXFSZ, SIG_IGN);
	memory_return_large();
	log_find_journal();
	errors_init(&errors);
	output_fill_standard_files();
	p = pen_new();
	if (p == NULL) {
		error_set(&e, "out of memory");
		return main_fail(&e);
	}
	process_init(&proc);
	notify_open(&p->notify);
	inherit_sockets(&p->sockets.inherited);
	takeover_begin(p, &proc);
	sandbox_bounds_take(p);
	p->process = &proc;
	p->errors = &errors;
	executable_note(&p->executable, argc, argv);
	switch (options_parse(p, argc, argv, &e)) {
	case OPTIONS_DONE:
		status = end_output(0);
		break;
	case OPTIONS_BAD:
		status = main_fail(&e);
		break;
	case OPTIONS_RUN:
		status = main_run(p, &proc);
		break;
	}
	p->errors = NULL;
	errors_fini(&errors);
	pen_free(p);
	process_fini(&proc);
	return status;
}
