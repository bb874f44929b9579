/* direct_inspect.c: inspects the plan in force by dsr/inspect, for --check and
 * for the log of a director that starts. */
#include "config.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "control/apply/direct.h"
#include "control/verify/direct_inspect.h"
#include "dsr/inspect/inspect.h"
#include "dsr/segment/vip_lock.h"

/* What is wanted, and the memory behind it. */
struct wanted {
	struct inspect_request is;
	struct peer vip[LISTEN_MAX]; /* those of all ports are one */
	struct inspect_server *server;
};

static void
direct_inspect_add_vip(struct wanted *w, const struct addr *at)
{
	struct peer *new = &w->vip[w->is.vips];
	unsigned i;

	peer_from_addr(new, at);
	new->port = 0;
	for (i = 0; i < w->is.vips; i++)
		if (peer_same_host(&w->vip[i], new))
			return;
	w->is.vips++;
}

/* Adds a server to the request; with a tunnel it need not be on the segment. */
static void
direct_inspect_add_server(
    struct wanted *w, const struct plan *p, const struct server *s)
{
	struct inspect_server *new = &w->server[w->is.servers];

	if (!s->present || s->addrs.count == 0 ||
	    direct_is_tunnelled(p, s->set.forward))
		return;
	peer_from_addr(&new->ip, &s->addrs.addr[s->addr_first]);
	new->number = s->number;
	new->name = s->name;
	w->is.servers++;
}

/* Makes the request from the plan, and from the servers of the pool, as names
 * of the plan may not be resolved yet. */
static int
make_wanted(struct wanted *w, const struct plan *plan, const struct pool *pool)
{
	const struct dsr_settings *d = &plan->config->dsr;
	unsigned i, slots = pool_slots(pool);

	memset(w, 0, sizeof(*w));
	w->is.interface = d->interface;
	w->is.link = d->link;
	w->is.fast = (enum link_fast_mode)d->fast;
	w->is.no_flows = d->flows == 0;
	w->is.vip = w->vip;
	for (i = 0; i < plan->listen.count; i++)
		direct_inspect_add_vip(w, &plan->listen.entry[i].at);
	for (i = 0; i < 2; i++)
		if (d->ip[i].len > 0)
			peer_from_addr(&w->is.own[i], &d->ip[i]);
	w->server = calloc(slots, sizeof(*w->server));
	if (w->server == NULL)
		return -1;
	w->is.server = w->server;
	for (i = 0; i < slots; i++)
		direct_inspect_add_server(w, plan, pool_slot(pool, i));
	return 0;
}

/* ---- --check ---- */

/* Whether a director with such a VIP runs on the interface: the XDP program
 * there is that director's. */
static bool
is_running(const struct wanted *w, const struct process_plan *p)
{
	unsigned i, ifindex = if_nametoindex(w->is.interface);
	uid_t user = direct_user(p);

	for (i = 0; i < w->is.vips; i++)
		if (vip_is_locked(ifindex, user, &w->vip[i]))
			return true;
	return false;
}

int
direct_inspect(const struct service *svc, struct error *e)
{
	struct inspect_machine m = { .exists = false };
	struct wanted w;
	bool wrong = false;
	int rc;

	if (!direct_is_wanted(svc->plan))
		return 0;
	rc = make_wanted(&w, svc->plan, svc->pool);
	if (rc == 0 && (rc = inspect_machine_read(&m, &w.is)) == 0) {
		m.xdp = m.xdp && !is_running(&w, svc->pen->plan->process);
		inspect_judge_machine(&m, &w.is, finding_print, &wrong);
	}
	if (rc < 0)
		error_set(e, "interface %s: %s",
		    svc->plan->config->dsr.interface, strerror(errno));
	inspect_machine_free(&m);
	free(w.server);
	return rc < 0 ? -1 : wrong;
}

/* ---- at the start ---- */

int
direct_warn(struct apply *a, struct error *e)
{
	struct inspect_machine m;
	struct wanted w;

	(void)e;
	if (!a->first || !direct_is_wanted(a->wanted))
		return 0;
	if (make_wanted(&w, a->wanted, a->service->pool) == 0) {
		if (inspect_machine_read(&m, &w.is) == 0) {
			/* that of the process that this one replaces is ours */
			m.xdp = m.xdp &&
			    predecessor_link(
				&a->pen->predecessor, w.is.interface) == NULL;
			inspect_judge_machine(&m, &w.is, finding_log, NULL);
		}
		inspect_machine_free(&m);
	}
	free(w.server);
	return 0;
}
