/* apply_process.c: settings of the start, of each service; of the process how
 * much is logged, how the loop waits. */
#include "config.h"

#include "base/log.h"
#include "control/apply/apply.h"
#include "control/life/sandbox_plan.h"
#include "control/apply/services.h"
#include "control/plan/origin.h"
#include "control/plan/setting.h"
#include "control/plan/table.h"
#include "net/loop/loop.h"

/* NULL: nothing that a start alone can set differs. */
static const struct command *
find_changed(
    enum row_scope scope, const struct plan *now, const struct plan *wanted)
{
	const struct command *row;

	TABLE_EACH_OF (scope, row)
		if (row->flags & ROW_START && !setting_equal(now, wanted, row))
			return row;
	return NULL;
}

static int
refuse_changed(const struct command *row, const struct plan *p, struct error *e)
{
	return row == NULL ? 0
			   : error_set(e, "%s: can be set only at startup",
				 origin_name(p, row->name));
}

int
apply_process_check(struct apply_all *a, struct error *e)
{
	const struct process_plan *now = a->now->process;

	if (a->pen->phase < PHASE_SERVING)
		return 0;
	if (a->pen->upgrade != NULL)
		return error_set(e, "an upgrade is under way");
	if (now->sandbox == SANDBOX_ON && !a->pen->has_unix &&
	    sandbox_plan_has_unix(a->draft))
		return error_set(e,
		    "a Unix socket: the sandbox permits none, as none was "
		    "configured at startup: restart pen");
	if (a->changed & CHANGED_AT_START &&
	    refuse_changed(
		find_changed(SCOPE_PROCESS, a->now, a->draft), a->draft, e) < 0)
		return -1;
	if (a->changed & CHANGED_PROCESS &&
	    !process_plan_controls_equal(now, a->draft->process))
		return error_set(
		    e, "control sockets can be set only at startup");
	return 0;
}

int
apply_process_check_service(struct apply *a, struct error *e)
{
	if (a->pen->phase < PHASE_SERVING)
		return 0;
	if (a->pen->phase == PHASE_DRAINING &&
	    a->changed & CHANGED_LISTEN &&
	    !(a->new && a->wanted->listen.count == 0))
		return error_set(
		    e, "pen is stopping and opens no new listening sockets");
	if (a->new && a->wanted->config->fit_file != NULL)
		return error_set(e,
		    "%s: can be set only at startup, not for a new service",
		    origin_name(a->wanted, "fit_file"));
	return a->new || (a->changed & CHANGED_AT_START) == 0
	    ? 0
	    : refuse_changed(
		  find_changed(SCOPE_SERVICE, a->now, a->wanted), a->wanted, e);
}

void
apply_process_commit(struct apply_all *a)
{
	const struct process_plan *now = a->now->process,
				  *wanted = a->draft->process;

	if (now->drain_ms != wanted->drain_ms)
		stopping_limit(a->pen, wanted->drain_ms);
	if (a->pen->loop != NULL)
		loop_spin(a->pen->loop, wanted->spin);
	log_use_facility(wanted->syslog_facility);
	/* until it serves, an older process passes its lines on */
	log_use_json(
	    wanted->log_lines != 0 && a->pen->predecessor.error_fd < 0);
	if (a->pen->role.member > 0 && a->pen->phase >= PHASE_SERVING)
		return; /* its leader logs what is to be logged */
	log_level = wanted->debug > 0 ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO;
}
