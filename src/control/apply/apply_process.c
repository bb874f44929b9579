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

int
apply_process_check(struct apply *a, struct error *e)
{
	const struct command *row;

	if (a->pen->phase < PHASE_SERVING)
		return 0;
	if (a->pen->upgrade != NULL)
		return error_set(e, "an upgrade is under way");
	if (a->pen->phase == PHASE_DRAINING &&
	    !listen_list_equal(&a->now->listen, &a->wanted->listen))
		return error_set(
		    e, "pen is stopping and opens no new listening sockets");
	if (a->pen->plan->process->sandbox == SANDBOX_ON && !a->pen->has_unix &&
	    sandbox_plan_has_unix(a->draft))
		return error_set(e,
		    "a Unix socket: the sandbox was entered without any, of "
		    "listeners, servers or pages: restart pen");
	if (a->new && a->wanted->config.fit_file != NULL)
		return error_set(e,
		    "%s: can be set only at startup, not for a new service",
		    origin_name(a->wanted, "fit_file"));
	if (a->new)
		return 0;
	TABLE_EACH (row)
		if (row->flags & ROW_START &&
		    !setting_equal(a->now, a->wanted, row))
			return error_set(e, "%s: can be set only at startup",
			    origin_name(a->wanted, row->name));
	if (!process_plan_controls_equal(
		a->pen->plan->process, a->draft->process))
		return error_set(
		    e, "control sockets can be set only at startup");
	return 0;
}

static uint64_t
drain_ms(const struct plan *p)
{
	return p->process->drain_ms;
}

void
apply_process_commit(struct apply *a)
{
	if (!service_is_first(a->service))
		return;
	if (drain_ms(a->now) != drain_ms(a->wanted))
		stopping_limit(a->pen, drain_ms(a->wanted));
	if (a->pen->loop != NULL)
		loop_spin(a->pen->loop, a->wanted->process->spin);
	log_use_facility(a->wanted->process->syslog_facility);
	/* until it serves, an older process passes its lines on */
	log_use_json(a->wanted->process->log_lines != 0 &&
	    a->pen->predecessor.error_fd < 0);
	if (a->pen->team.member > 0 && a->pen->phase >= PHASE_SERVING)
		return; /* its leader logs what is to be logged */
	log_level =
	    a->wanted->process->debug > 0 ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO;
}
