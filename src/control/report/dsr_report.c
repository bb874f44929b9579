/* dsr_report.c: what direct return is doing. */
#include "config.h"

#include <string.h>

#include "control/language/command.h"
#include "control/report/counters.h"
#include "control/report/report.h"
#include "control/life/context.h"

/* "unknown" is a word of the text; JSON has null. */
static void
emit_mac(struct fields *f, const struct mac *mac)
{
	char text[MAC_TEXT_MAX];

	if (mac != NULL)
		fields_text(f, "mac", mac_format(mac, text));
	else if (f->reply->json)
		fields_text(f, "mac", NULL);
	else
		fields_text(f, "mac", "unknown");
}

static void
emit_servers(struct fields *whole, const struct service *svc)
{
	struct director_path w;
	struct fields f;
	unsigned i;

	fields_items(whole, "servers");
	for (i = 0; i < pool_count(svc->pool); i++) {
		const struct server *s = pool_server(svc->pool, i);

		if (!s->present)
			continue;
		fields_item_begin(&f, whole);
		fields_number(&f, "server", i);
		director_path(svc->director, s, &w);
		if (w.route)
			fields_text(&f, "mac", "route");
		else
			emit_mac(&f, w.has_mac ? &w.mac : NULL);
		fields_text(&f, "forward", w.tunnel ? "tunnel" : "mac");
		if (w.path_mtu != 0)
			fields_number(&f, "path_mtu", w.path_mtu);
		fields_end(&f);
	}
}

struct listing {
	struct fields *whole;
	uint64_t now;
};

/* The last address that was answered for is also reported when it failed. */
static void
emit_neighbor(void *arg, const struct neighbor *w)
{
	const struct listing *l = arg;
	char ip[PEER_TEXT_MAX];
	struct fields f;

	fields_item_begin(&f, l->whole);
	fields_text(&f, "address", peer_format_host(&w->entry.ip, ip));
	emit_mac(&f, w->answered != 0 ? &w->mac : NULL);
	fields_text(&f, "state", neighbor_state_name(w->state));
	if (w->answered != 0)
		fields_number(&f, "age", (l->now - w->answered) / 1000);
	else
		fields_text(&f, "age", NULL);
	fields_end(&f);
}

void
report_dsr(struct fields *f, const struct director *d)
{
	struct traffic_rate rate = director_rate(d);
	char mac[MAC_TEXT_MAX], ip[PEER_TEXT_MAX], text[REPORT_TEXT_MAX];
	struct director_status s;
	const struct role *role;

	director_status(d, &s);
	role = s.role;
	fields_text(f, "role", role_name(role));
	fields_text(f, "claimed_by",
	    role->claimed_at != 0 ? mac_format(&role->claimant, mac) : NULL);
	if (role->claimed_at != 0) {
		fields_text(
		    f, "claimed_address", peer_format_host(&role->claimed, ip));
		fields_number(f, "claimed_s", s.claimed_s);
	}
	fields_decimal(f, "frame_rate", report_tenths(rate.frame_tenths, text));
	fields_number(f, "byte_rate", rate.bytes);
}

static void
emit_director(struct call *c, const struct director *d)
{
	const struct pen *p = c->pen;
	struct director_status s;
	char text[MAC_TEXT_MAX];
	struct fields f;
	struct listing l = { .whole = &f };

	director_status(d, &s);
	l.now = loop_now(p->loop);
	fields_begin(&f, c->reply, FIELDS_LINES);
	fields_text(&f, "interface", s.interface);
	fields_text(&f, "link", s.link);
	if (s.mode != NULL)
		fields_text(&f, "mode", s.mode);
	fields_text(&f, "mac", mac_format(&s.mac, text));
	fields_flag(&f, "fast_path", s.fast.on && !s.fast.fails);
	report_dsr(&f, d);
	counters_report(&f, c->service, true);
	emit_servers(&f, c->service);
	fields_items(&f, "neighbors");
	neighbors_each(s.neighbors, emit_neighbor, &l);
	fields_end(&f);
}

static int
run_dsr(struct call *c, struct error *e)
{
	struct director *d = c->service->director;
	const char *word = c->words->count > 0 ? c->words->word[0] : NULL;
	bool standby = word != NULL && strcmp(word, "standby") == 0;

	if (c->words->count > 1 ||
	    (word != NULL && !standby && strcmp(word, "takeover") != 0))
		return error_set(e, "expects %s", c->row->args);
	if (d == NULL)
		return error_set(e, "dsr_if is not set");
	if (word == NULL)
		emit_director(c, d);
	else
		director_set_standby(d, standby);
	return 0;
}

const struct command dsr_commands[] = {
	{ .name = "dsr",
	    .kind = KIND_ACTION,
	    .flags = ROW_OPERATE | ROW_PRINTS | ROW_SERVICE,
	    .run = run_dsr,
	    .args = "[takeover|standby]",
	    .help = "prints the state of direct server return (DSR); takes "
		    "over the listening addresses from another director, or "
		    "stands by" },
	{ .name = NULL },
};
