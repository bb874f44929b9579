/* descriptors.c: the budget of descriptors. */
#include "config.h"

#include "base/log.h"
#include "control/life/descriptors.h"
#include "control/value/value_peers.h"
#include "proxy/dns/dns.h"

/* Standard files, the loop, the log, a file being read. */
enum { OWN = 16 };
/* Control clients at a time; pipes that are left to long flows. */
enum { CONTROL_MIN = 8, CONTROL_MAX = 200, PIPES_MAX = 4096 };
/* For pipes, when the number of sessions is not set. */
enum { PIPES_USUAL = 750 };

static size_t
descriptors_smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t
larger(size_t a, size_t b)
{
	return a > b ? a : b;
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
	size_t most = (size_t)plan->config->checks.running_max;

	return plan->config->checks.text != NULL
	    ? descriptors_smaller(most, plan_slots(plan))
	    : 0;
}

static size_t
count_service(const struct plan *plan)
{
	size_t n = plan->listen.count + count_checks(plan);

	if (plan->config->frontend.dns.on) /* old ones stay for their answers */
		n += 2 * (size_t)DNS_SOCKETS * plan_count(plan);
	return n;
}

size_t
descriptors_needed(const struct plan *plan)
{
	return count_service(plan) + (size_t)plan->config->idlers;
}

/* How many descriptors the process has open without any client, also those of
 * control sockets after the first. */
static size_t
count_own(const struct process_plan *process, const struct plan *plan)
{
	size_t n = OWN + count_service(plan);
	unsigned i;

	for (i = 0; plan->process != NULL && i < process->control_count; i++)
		n += process->controls[i].at.count;
	if (process->peers != NULL || process->peer_listen != NULL)
		n += (size_t)4 * PEERS_MAX;
	return n;
}

static size_t
sessions_of(size_t left, size_t each)
{
	return left > each ? left / each : 1;
}

struct descriptors
descriptors_share(size_t limit, const struct process_plan *process,
    const struct plan *plan, size_t kept)
{
	size_t wanted = (size_t)plan->config->conn_max;
	size_t each = plan_service_takes_connections(plan) ? 2 : 1;
	size_t part = limit / 20, left;
	struct descriptors d;

	d.control = part < CONTROL_MIN ? CONTROL_MIN
				       : descriptors_smaller(part, CONTROL_MAX);
	left = minus(limit, count_own(process, plan) + d.control);
	d.idlers = descriptors_smaller((size_t)plan->config->idlers,
	    descriptors_smaller(left / 2, minus(left, each * kept)));
	left -= d.idlers;
	d.sessions = sessions_of(left, each);
	d.usual = larger(kept,
	    sessions_of(
		minus(left, descriptors_smaller(part, PIPES_USUAL)), each));
	left = minus(left, each * (wanted > 0 ? wanted : d.usual));
	d.kernel_pipes = descriptors_smaller(left / 2, PIPES_MAX);
	return d;
}

/* *value is what the plan before had, and was logged then. */
static void
descriptors_lower(const char *what, uint64_t wanted, uint64_t *value,
    size_t most, size_t limit)
{
	if (wanted > most && *value != most)
		log_warn("%s lowered from=%llu to=%zu descriptors=%zu", what,
		    (unsigned long long)wanted, most, limit);
	*value = wanted < most ? wanted : most;
}

void
descriptors_settle(size_t limit, unsigned sharing,
    const struct process_plan *process, const struct plan *plan, size_t kept,
    struct frontend_options *o)
{
	struct descriptors d = descriptors_share(limit, process, plan, kept);
	const struct config *c = plan->config;

	descriptors_lower("idlers", c->idlers, &o->preopened, d.idlers, limit);
	descriptors_lower("conn_max", c->conn_max > 0 ? c->conn_max : d.usual,
	    &o->sessions_max, d.sessions, limit);
	o->kernel_pipes_max = d.kernel_pipes / sharing;
}
