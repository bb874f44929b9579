/* descriptors.c: the budget of descriptors. */
#include "config.h"

#include "base/log.h"
#include "control/descriptors.h"
#include "proxy/dns.h"

/* Standard files, the loop, the log, a file being read. */
enum { OWN = 16 };
/* Control clients at a time; pipes that are left to long flows. */
enum { CONTROL_MIN = 8, CONTROL_MAX = 200, PIPES_MAX = 4096 };
/* For pipes, when nobody says how many sessions there may be. */
enum { PIPES_USUAL = 750 };

static size_t
smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t
minus(size_t a, size_t b)
{
	return a > b ? a - b : 0;
}

/* Health checks that run at a time; those that single servers have of their own
 * are few. */
static size_t
count_checks(const struct plan *plan)
{
	size_t most = (size_t)plan->config.checks.running_max;

	return plan->config.checks.text != NULL
	    ? smaller(most, plan_slots(plan))
	    : 0;
}

/* What the process has open whoever comes. */
static size_t
count_own(const struct plan *plan)
{
	size_t n = OWN + plan->listen.count + count_checks(plan);
	unsigned i;

	for (i = 0; i < plan->control_count; i++)
		n += plan->controls[i].at.count;
	if (plan->config.frontend.dns.on) /* old ones stay for their answers */
		n += 2 * (size_t)DNS_SOCKETS * plan_count(plan);
	return n;
}

static size_t
sessions_of(size_t left, size_t each)
{
	return left > each ? left / each : 1;
}

struct descriptors
descriptors_share(size_t limit, const struct plan *plan, size_t kept)
{
	const struct frontend_options *o = &plan->config.frontend;
	size_t each = o->udp.on && !o->dns.on ? 1 : 2, part = limit / 20, left;
	struct descriptors d;

	d.control =
	    part < CONTROL_MIN ? CONTROL_MIN : smaller(part, CONTROL_MAX);
	left = minus(limit, count_own(plan) + d.control);
	d.idlers = smaller((size_t)o->preopened,
	    smaller(left / 2, minus(left, each * kept)));
	left -= d.idlers;
	d.sessions = sessions_of(left, each);
	d.usual = sessions_of(minus(left, smaller(part, PIPES_USUAL)), each);
	left = minus(left,
	    each * (o->sessions_max > 0 ? (size_t)o->sessions_max : d.usual));
	d.kernel_pipes = smaller(left / 2, PIPES_MAX);
	return d;
}

static void
lower(const char *what, uint64_t *value, size_t most, size_t limit)
{
	if (*value <= most)
		return;
	log_warn("%s lowered from=%llu to=%zu descriptors=%zu", what,
	    (unsigned long long)*value, most, limit);
	*value = most;
}

void
descriptors_settle(size_t limit, struct plan *plan, size_t kept)
{
	struct frontend_options *o = &plan->config.frontend;
	struct descriptors d = descriptors_share(limit, plan, kept);

	lower("idlers", &o->preopened, d.idlers, limit);
	if (o->sessions_max == 0)
		o->sessions_max = d.usual;
	lower("conn_max", &o->sessions_max, d.sessions, limit);
	o->kernel_pipes_max = d.kernel_pipes;
}
