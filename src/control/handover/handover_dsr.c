/* handover_dsr.c: flows of direct server return; see handover_parts.h. */
#include "config.h"

#include <string.h>
#include <sys/socket.h>

#include "control/handover/handover_parts.h"
#include "control/life/context.h"
#include "dsr/director/director.h"

/* Flows in a piece: some ten kilobytes. */
enum { REPORTS = 250, TABLE = 900 };

/* ---- writing ---- */

static void
write_dsr_flow(
    struct handover_writer *w, const struct dsr_key *key, uint32_t server)
{
	handover_add(w, key->client, sizeof(key->client));
	handover_add(w, key->vip, sizeof(key->vip));
	handover_add_number(w, key->client_port, 2);
	handover_add_number(w, key->vip_port, 2);
	handover_add_number(w, key->protocol, 1);
	handover_add_number(w, key->family, 1);
	handover_add_number(w, server, 4);
}

static void
write_vlan(struct handover_writer *w, const struct director *d)
{
	struct director_export past = director_export(d);

	if (!past.vlan_known)
		return;
	handover_open(w, HANDOVER_DSR_VLAN);
	handover_add_number(w, past.vlan, 2);
	handover_close(w);
}

bool
handover_dsr_write_flows(
    struct handover_state_writer *l, struct handover_writer *w)
{
	struct director *d = l->service->director;
	uint32_t last = d != NULL ? director_flow_numbers(d) : 0;
	struct dsr_report r;
	unsigned i;

	if (d != NULL && l->at == 0)
		write_vlan(w, d);
	if (l->at >= last)
		return false;
	handover_open(w, HANDOVER_DSR_FLOWS);
	for (i = 0; i < REPORTS && l->at < last; i++) {
		if (!director_flow_at(d, (uint32_t)++l->at, &r))
			continue;
		write_dsr_flow(w, &r.key, r.server);
		l->flows++;
	}
	handover_close(w);
	return l->at < last;
}

/* Times as how long ago they are; 0: never. */
static void
write_role(struct handover_writer *w, const struct director *d, uint64_t now)
{
	struct role role = director_role(d);

	handover_open(w, HANDOVER_DSR_ROLE);
	handover_add_number(w, role.standby, 1);
	handover_add_number(w, now - role.since, 8);
	handover_add_number(
	    w, role.claimed_at != 0 ? now - role.claimed_at + 1 : 0, 8);
	handover_add(w, role.claimant.byte, sizeof(role.claimant.byte));
	handover_add_number(w, role.claimed.family, 2);
	handover_add(w, role.claimed.ip, sizeof(role.claimed.ip));
	handover_close(w);
}

bool
handover_dsr_write_table(
    struct handover_state_writer *l, struct handover_writer *w)
{
	const struct director *d = l->service->director;
	uint32_t at = (uint32_t)l->at;
	struct director_export past;
	struct director_flow f;
	unsigned i;

	if (d == NULL)
		return false;
	past = director_export(d);
	if (at == 0)
		write_role(w, d, loop_now(l->pen->loop));
	handover_open(w, HANDOVER_DSR_TABLE);
	handover_add_number(w, past.standby, 1);
	handover_add_number(w, past.vlan_known, 1);
	handover_add_number(w, past.vlan, 2);
	for (i = 0; i < TABLE && director_next_flow(d, &at, &f); i++) {
		write_dsr_flow(w, &f.key, f.server);
		handover_add_number(w, f.past.state, 1);
		handover_add_number(
		    w, f.past.learned | f.past.offloaded << 1, 1);
		handover_add_number(w, f.past.idle_s, 4);
		handover_add_number(w, f.past.frames, 8);
		handover_add_number(w, f.past.bytes, 8);
	}
	handover_close(w);
	l->at = at;
	return i == TABLE;
}

void
handover_dsr_write_change(struct handover_state_writer *l,
    struct handover_writer *w, const struct handover_change *c)
{
	struct dsr_report r;

	if (c->service->director == NULL ||
	    !director_flow_at(c->service->director, c->at, &r))
		return;
	write_dsr_flow(w, &r.key, r.server);
	l->flows++;
}

/* ---- reading ---- */

/* The key of a flow; returns its server, or NULL. */
static const struct server *
get_dsr_flow(const struct handover_state_service *l, struct handover_record *r,
    struct dsr_key *key)
{
	memset(key, 0, sizeof(*key));
	handover_get(r, key->client, sizeof(key->client));
	handover_get(r, key->vip, sizeof(key->vip));
	key->client_port = (uint16_t)handover_get_number(r, 2);
	key->vip_port = (uint16_t)handover_get_number(r, 2);
	key->protocol = (uint8_t)handover_get_number(r, 1);
	key->family = (uint8_t)handover_get_number(r, 1);
	return handover_servers_get(l, handover_get_number(r, 4));
}

void
handover_dsr_read_table(
    struct handover_state_service *l, struct handover_record *r)
{
	struct director *d = l->service->director;
	struct director_export past;
	struct director_flow f;
	const struct server *s;
	unsigned marks;

	past.standby = handover_get_number(r, 1) != 0;
	past.vlan_known = handover_get_number(r, 1) != 0;
	past.vlan = (uint16_t)handover_get_number(r, 2);
	if (d != NULL && !r->bad)
		director_restore(d, &past);
	while (r->left > 0 && d != NULL) {
		s = get_dsr_flow(l, r, &f.key);
		f.past.state = (enum dsr_state)handover_get_number(r, 1);
		marks = (unsigned)handover_get_number(r, 1);
		f.past.learned = marks & 1;
		f.past.offloaded = marks >> 1 & 1;
		f.past.idle_s = (uint32_t)handover_get_number(r, 4);
		f.past.frames = handover_get_number(r, 8);
		f.past.bytes = handover_get_number(r, 8);
		if (!r->bad && f.past.state < DSR_STATES)
			l->flow_count += director_restore_flow(d, &f, s);
	}
}

void
handover_dsr_read_role(
    const struct handover_state_service *l, struct handover_record *r)
{
	struct role role = { .standby = handover_get_number(r, 1) != 0 };
	struct director *d = l->service->director;
	uint64_t now = loop_now(l->service->pen->loop), age;

	age = handover_get_number(r, 8);
	role.since = age > 0 ? handover_ago(now, age) : now;
	role.claimed_at = handover_ago(now, handover_get_number(r, 8));
	handover_get(r, role.claimant.byte, sizeof(role.claimant.byte));
	role.claimed.family = (uint16_t)handover_get_number(r, 2);
	handover_get(r, role.claimed.ip, sizeof(role.claimed.ip));
	if (role.claimed.family != AF_INET && role.claimed.family != AF_INET6)
		role.claimed_at = 0;
	if (d != NULL && !r->bad)
		director_restore_role(d, &role);
}

void
handover_dsr_read_peer_vlan(
    const struct handover_state_service *l, struct handover_record *r)
{
	uint16_t vlan = (uint16_t)handover_get_number(r, 2);

	if (l->service->director != NULL && !r->bad)
		director_suggest_vlan(l->service->director, vlan);
}

void
handover_dsr_read_peer_flows(
    struct handover_state_reader *l, struct handover_record *r)
{
	struct service *svc = l->now->service;
	const struct server *s;
	struct dsr_report f;

	while (r->left > 0 && svc->director != NULL) {
		s = get_dsr_flow(l->now, r, &f.key);
		if (r->bad || s == NULL)
			continue;
		f.server = s->slot;
		l->flows++;
		(void)director_learn_flow(svc->director, &f);
	}
}
