/* checks.c: health checks of servers: what they need, and who carries them
 * out. */
#include "config.h"

#include "base/log.h"
#include "control/checks.h"
#include "control/direct.h"
#include "dsr/director/director.h"

static int
check_place(const struct plan *p, const struct addr *at, struct error *e)
{
	const struct dsr_settings *s = &p->config.dsr;
	bool v6 = at->u.sa.sa_family == AF_INET6;

	if (s->ip[v6].len == 0)
		return error_set(e,
		    "check dsr needs a dsr_ip of %s to ask servers from",
		    v6 ? "IPv6" : "IPv4");
	if (addr_port(at) == 0 && p->config.checks.port == 0)
		return error_set(e,
		    "check dsr needs a port to probe, as the listening address "
		    "has none");
	return 0;
}

int
checks_check(struct apply *a, struct error *e)
{
	const struct plan *p = a->wanted;
	unsigned i;

	if (p->config.checks.kind != CHECK_DSR)
		return 0;
	if (!direct_is_wanted(p))
		return error_set(e, "check dsr: dsr_if is not set");
	if (p->config.frontend.udp.on)
		return error_set(
		    e, "check dsr probes by TCP, but -U forwards only UDP");
	for (i = 0; i < p->listen.count; i++)
		if (check_place(p, &p->listen.entry[i].at, e) < 0)
			return -1;
	return 0;
}

static struct director_check
probing(const struct check_settings *s)
{
	return (struct director_check){ .on = s->kind == CHECK_DSR,
		.port = s->port,
		.interval_ms = s->interval_ms,
		.timeout_ms = s->timeout_ms };
}

static int
set_check(struct pen *p, const struct plan *plan, struct error *e)
{
	struct director_check c = probing(&plan->config.checks);

	return p->director != NULL ? director_set_check(p->director, &c, e) : 0;
}

int
checks_prepare(struct apply *a, struct error *e)
{
	return set_check(a->pen, a->wanted, e);
}

void
checks_cancel(struct apply *a)
{
	struct error e;

	/* of a start the director goes as a whole */
	if (!a->first && set_check(a->pen, a->now, &e) < 0)
		log_error("checks not restored error=\"%s\"", e.text);
}
