/* derive.c: settings that follow from others. */
#include "config.h"

#include "control/apply/derive.h"
#include "control/life/descriptors.h"
#include "pool/balance.h"

/* Pen's precedence: prio, weight, hash, round robin. A client goes back to its
 * last server only when no mode is set, or `sticky` is; each DNS query is
 * balanced by itself. */
static void
derive_pool_options(
    const struct mode_options *m, bool dns, struct pool_options *o)
{
	bool plain = !m->roundrobin && !m->hash && !m->weight && !m->prio &&
	    !m->balance && !dns;

	o->balance = balance_find(m->balance != NULL ? m->balance
		: m->prio			     ? "prio"
		: m->weight			     ? "wleastconn"
		: m->hash			     ? "hash"
						     : "roundrobin");
	o->sticky =
	    m->sticky == TRISTATE_UNSET ? plain : m->sticky == TRISTATE_ON;
	o->stubborn = m->stubborn;
	o->hash_port = m->roundrobin;
}

/* A director without a memory of flows must choose alike for each frame. */
static void
derive_alone(const struct dsr_settings *s, struct pool_options *o)
{
	if (s->interface == NULL || s->flows > 0)
		return;
	o->balance = balance_find("hash");
	o->sticky = false;
}

/* Derives all settings that do not depend on the number of descriptors. */
static void
derive_config(const struct process_plan *process, const struct plan *p,
    struct config *c)
{
	struct frontend_options *f = &c->frontend;
	int port = spec_default_port(&p->listen);

	derive_pool_options(&c->mode, f->dns.on, &c->pool);
	derive_alone(&c->dsr, &c->pool);
	c->tls.no_h2 = f->http.on;
	f->first_port = port > 0 ? (uint16_t)port : 0;
	f->udp.on = c->udp || f->dns.on;
	f->udp.each = c->mode.roundrobin && !c->mode.hash && !c->pool.sticky;
	f->dump = process_plan_dump(process);
	f->end.drain_ms = process->drain_ms;
}

int
derive_settings(const struct process_plan *process, struct plan *p,
    size_t descriptors, unsigned sharing, size_t kept)
{
	struct config c = *p->config;

	derive_config(process, p, &c);
	if (descriptors > 0) {
		descriptors_settle(
		    descriptors, sharing, process, p, kept, &c.frontend);
	} else {
		c.frontend.sessions_max = c.conn_max;
		c.frontend.preopened = c.idlers;
	}
	return plan_set_config(p, &c);
}

uint64_t
derived_changed(const struct plan *now, const struct plan *wanted)
{
	const struct frontend_options *a = &now->config->frontend,
				      *b = &wanted->config->frontend;

	return a->sessions_max == b->sessions_max &&
		a->preopened == b->preopened &&
		a->kernel_pipes_max == b->kernel_pipes_max
	    ? 0
	    : CHANGED_FRONTEND;
}
