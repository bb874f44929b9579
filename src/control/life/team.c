/* team.c: see team.h. */
#include "config.h"

#include "base/log.h"
#include "control/life/context.h"

void
team_hush(struct pen *p, bool quiet)
{
	if (p->team.member == 0)
		return;
	p->team.quiet = quiet;
	log_level = quiet		    ? LOG_LEVEL_NONE
	    : p->plan->config.debug > 0 ? LOG_LEVEL_DEBUG
					: LOG_LEVEL_INFO;
}
