/* dsr_report.c: what direct return is doing. */
#include "config.h"

#include "control/language/command.h"
#include "control/report/counters.h"
#include "control/life/context.h"

/* "unknown" is a word of the text; JSON has null. */
static void
tell_mac(struct facts *f, const struct mac *mac)
{
	char text[MAC_TEXT_MAX];

	if (mac != NULL)
		facts_text(f, "mac", mac_format(mac, text));
	else if (f->reply->json)
		facts_text(f, "mac", NULL);
	else
		facts_text(f, "mac", "unknown");
}

static void
tell_servers(struct facts *whole, const struct pen *p)
{
	struct director_path w;
	struct facts f;
	unsigned i;

	facts_items(whole, "servers");
	for (i = 0; i < pool_count(p->pool); i++) {
		const struct server *s = pool_server(p->pool, i);

		if (!s->present)
			continue;
		facts_item_begin(&f, whole);
		facts_number(&f, "server", i);
		director_path(p->director, s, &w);
		if (w.route)
			facts_text(&f, "mac", "route");
		else
			tell_mac(&f, w.has_mac ? &w.mac : NULL);
		facts_text(&f, "forward", w.tunnel ? "tunnel" : "mac");
		if (w.path_mtu != 0)
			facts_number(&f, "path_mtu", w.path_mtu);
		facts_end(&f);
	}
}

struct listing {
	struct facts *whole;
	uint64_t now;
};

/* The last address that was answered for is told when it failed, too. */
static void
tell_neighbor(void *arg, const struct neighbor *w)
{
	const struct listing *l = arg;
	char ip[PEER_TEXT_MAX];
	struct facts f;

	facts_item_begin(&f, l->whole);
	facts_text(&f, "address", peer_format_host(&w->entry.ip, ip));
	tell_mac(&f, w->answered != 0 ? &w->mac : NULL);
	facts_text(&f, "state", neighbor_state_name(w->state));
	if (w->answered != 0)
		facts_number(&f, "age", (l->now - w->answered) / 1000);
	else
		facts_text(&f, "age", NULL);
	facts_end(&f);
}

static int
run_dsr(struct call *c, struct error *e)
{
	const struct pen *p = c->pen;
	const struct director *d = p->director;
	struct director_status s;
	char text[MAC_TEXT_MAX];
	struct facts f;
	struct listing l = { .whole = &f };

	if (d == NULL)
		return error_set(e, "dsr_if is not set");
	director_status(d, &s);
	l.now = loop_now(p->loop);
	facts_begin(&f, c->reply, FACTS_LINES);
	facts_text(&f, "interface", c->plan->config.dsr.interface);
	facts_text(&f, "link", s.link);
	if (s.mode != NULL)
		facts_text(&f, "mode", s.mode);
	facts_text(&f, "mac", mac_format(&s.mac, text));
	facts_flag(&f, "fast_path", s.fast.on && !s.fast.fails);
	counters_tell(&f, p, true);
	tell_servers(&f, p);
	facts_items(&f, "neighbors");
	neighbors_each(s.neighbors, tell_neighbor, &l);
	facts_end(&f);
	return 0;
}

const struct command dsr_commands[] = {
	{ .name = "dsr",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK,
	    .run = run_dsr,
	    .help = "prints the state of direct server return (DSR)" },
	{ .name = NULL },
};
