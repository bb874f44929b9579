/* transparent.c: whether it is wanted, and may be. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "control/apply/direct.h"
#include "control/plan/origin.h"
#include "control/verify/transparent.h"
#include "control/verify/transparent_ways.h"
#include "net/sock_nonlocal.h"

bool
transparent_is_wanted(const struct plan *p)
{
	return p->config->frontend.transparent && !direct_is_wanted(p);
}

static const char *
why_not(const struct service *svc)
{
	if (errno != EPERM)
		return errno == ENOPROTOOPT ? "this system has none"
					    : strerror(errno);
	return svc->pen->phase < PHASE_SERVING
	    ? "they need root, or the capability CAP_NET_RAW: setcap "
	      "cap_net_raw+ep $(command -v pen)"
	    : "they need the capability CAP_NET_RAW, which is kept only if "
	      "transparent is set at startup";
}

int
transparent_prepare(struct apply *a, struct error *e)
{
	if (!transparent_is_wanted(a->wanted) ||
	    (!a->first && transparent_is_wanted(a->now)) ||
	    sock_try_transparent() == 0)
		return 0;
	error_set(
	    e, "no sockets with addresses of clients: %s", why_not(a->service));
	origin_add(a->wanted, "transparent", e);
	return -1;
}

/* ---- the way back ---- */

/* The port of a server, or that of its first clients. */
static void
choose_port(struct addr *a, const struct plan *p)
{
	int port = spec_default_port(&p->listen);

	if (addr_port(a) == 0)
		addr_set_port(a, port > 0 ? (uint16_t)port : 9);
}

/* The first servers that clients' addresses reach. Returns how many. */
static unsigned
list_ways(struct way list[WAYS_MAX], const struct service *svc)
{
	unsigned i, n = 0, slots = pool_slots(svc->pool);
	const struct server *s;

	for (i = 0; i < slots && n < WAYS_MAX; i++) {
		s = pool_slot(svc->pool, i);
		if (!s->present || s->addrs.count == 0 ||
		    s->addrs.addr[s->addr_first].u.sa.sa_family == AF_UNIX ||
		    addr_is_loopback(&s->addrs.addr[s->addr_first]))
			continue;
		list[n] = (struct way){ .number = s->number,
			.name = s->name,
			.at = s->addrs.addr[s->addr_first] };
		choose_port(&list[n++].at, svc->plan);
	}
	return n;
}

int
transparent_inspect(const struct service *svc)
{
	struct way list[WAYS_MAX];
	bool wrong = false, no_right;
	unsigned n;

	if (!transparent_is_wanted(svc->plan))
		return 0;
	no_right = sock_try_transparent() < 0;
	n = list_ways(list, svc);
	ways_read(list, n);
	ways_judge(list, n, no_right, finding_print, &wrong);
	return wrong;
}

void
transparent_warn(const struct service *svc)
{
	struct way list[WAYS_MAX];
	unsigned n;

	if (!transparent_is_wanted(svc->plan))
		return;
	n = list_ways(list, svc);
	ways_read(list, n);
	ways_judge(list, n, false, finding_log, NULL);
}
