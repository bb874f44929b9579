/* dsr_command.c: commands about direct server return. */
#include "config.h"

#include <string.h>

#include "base/number.h"
#include "control/command.h"
#include "control/facts.h"
#include "control/pen.h"
#include "dsr/director.h"

int
run_dsr_ip(struct call *c, struct error *e)
{
	struct dsr_settings *s = &c->plan->config.dsr;
	struct addr a;

	if (c->no && c->words->count == 0) {
		memset(s->ip, 0, sizeof(s->ip));
		return 0;
	}
	if (c->no || c->words->count != 1)
		return error_set(e, "expects %s", c->row->args);
	if (addr_parse_ip(&a, c->words->word[0], 0) < 0)
		return error_set(
		    e, "\"%.100s\" is no IP address", c->words->word[0]);
	s->ip[a.u.sa.sa_family == AF_INET6] = a;
	return 0;
}

static int
set_tarpit_acl(struct call *c, struct error *e)
{
	uint64_t n;

	if (c->no || strcmp(c->words->word[0], "-1") == 0) {
		c->plan->config.dsr.tarpit_acl = -1;
		return 0;
	}
	if (number_parse(c->words->word[0], 0, ACL_LISTS - 1, &n) < 0)
		return error_set(e, "\"%.100s\" is no access list 0..%d",
		    c->words->word[0], ACL_LISTS - 1);
	c->plan->config.dsr.tarpit_acl = (int)n;
	return 0;
}

int
run_tarpit_acl(struct call *c, struct error *e)
{
	struct facts f;

	if (c->words->count > 1 || (c->no && c->words->count > 0))
		return error_set(e, "expects %s", c->row->args);
	if ((c->no || c->words->count > 0) && set_tarpit_acl(c, e) < 0)
		return -1;
	if (c->no)
		return 0;
	facts_begin(&f, c->reply, FACTS_SILENT);
	facts_integer(&f, "tarpit_acl", c->plan->config.dsr.tarpit_acl);
	facts_end(&f);
	if (!c->reply->json)
		reply_add(&c->reply->out, "tarpit_acl = %d\n",
		    c->plan->config.dsr.tarpit_acl);
	return 0;
}

/* ---- what it is doing ---- */

static const struct {
	const char *name;
	size_t place; /* in struct director_stats */
} counters[] = {
	{ "received", offsetof(struct director_stats, received) },
	{ "received_bytes", offsetof(struct director_stats, received_bytes) },
	{ "forwarded", offsetof(struct director_stats, forwarded) },
	{ "forwarded_bytes", offsetof(struct director_stats, forwarded_bytes) },
	{ "answered", offsetof(struct director_stats, answered) },
	{ "held", offsetof(struct director_stats, held) },
	{ "dropped_bad", offsetof(struct director_stats, dropped_bad) },
	{ "dropped_other", offsetof(struct director_stats, dropped_other) },
	{ "dropped_no_server",
	    offsetof(struct director_stats, dropped_no_server) },
	{ "dropped_neighbor",
	    offsetof(struct director_stats, dropped_neighbor) },
	{ "dropped_fragment",
	    offsetof(struct director_stats, dropped_fragment) },
	{ "dropped_send", offsetof(struct director_stats, dropped_send) },
};

static void
tell_counters(struct facts *f, const struct director *d)
{
	const char *stats = (const char *)director_stats(d);
	const struct dsr_flows *flows = director_flows(d);
	const struct tarpit_stats *tarpit = director_tarpit_stats(d);
	uint64_t value;
	size_t i;

	for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		memcpy(&value, stats + counters[i].place, sizeof(value));
		facts_number(f, counters[i].name, value);
	}
	facts_number(f, "tarpit_arp", tarpit->arp);
	facts_number(f, "tarpit_syn", tarpit->syn);
	facts_number(f, "tarpit_ack", tarpit->ack);
	facts_number(f, "tarpit_limited", tarpit->limited);
	facts_number(f, "flows", flows->count);
	facts_number(f, "flows_max", flows->max);
	facts_number(f, "flows_opened", flows->stats.opened);
	for (i = 0; i < DSR_STATES; i++)
		facts_number(f, dsr_state_name((enum dsr_state)i),
		    flows->lists[i].count);
}

static void
tell_servers(struct reply *r, const struct pen *p)
{
	char text[MAC_TEXT_MAX];
	struct facts f;
	struct mac mac;
	unsigned i;

	for (i = 0; i < pool_count(p->pool); i++) {
		const struct server *s = pool_server(p->pool, i);

		if (!s->present)
			continue;
		facts_begin(&f, r, FACTS_LINE);
		facts_number(&f, "server", i);
		facts_text(&f, "mac",
		    director_server_mac(p->director, s, &mac)
			? mac_format(&mac, text)
			: "unknown");
		facts_end(&f);
	}
}

int
run_dsr(struct call *c, struct error *e)
{
	const struct director *d = c->pen->director;
	char text[MAC_TEXT_MAX];
	struct mac mac;
	struct facts f;

	if (d == NULL)
		return error_set(e, "dsr_if is not set");
	mac = director_mac(d);
	facts_begin(&f, c->reply, FACTS_LINES);
	facts_text(&f, "interface", c->plan->config.dsr.interface);
	facts_text(&f, "link", director_link(d));
	facts_text(&f, "mac", mac_format(&mac, text));
	tell_counters(&f, d);
	facts_end(&f);
	if (!c->reply->json)
		tell_servers(c->reply, c->pen);
	return 0;
}
