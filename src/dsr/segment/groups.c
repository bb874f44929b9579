/* groups.c: see groups.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "dsr/segment/groups.h"

/* ---- out ---- */

static void
group_report(
    struct groups *g, const struct group *p, enum mld_state state, uint64_t now)
{
	const struct neighbors_options *o = &g->neighbors->options;
	const uint8_t *own = g->neighbors->own6.ip;
	unsigned char bytes[FRAME_MADE_MAX];
	struct frame_head head = { .from = o->mac, .vlan = o->vlan };
	struct mld_report r = { .state = state, .v1 = now < g->v1_until };

	memcpy(r.group, p->ip, sizeof(r.group));
	if (own[0] == 0xfe && (own[1] & 0xc0) == 0x80)
		memcpy(r.from, own, sizeof(r.from));
	o->send(o->arg, bytes,
	    frame_make_mld_report(bytes, sizeof(bytes), &head, &r));
}

/* 0 to `most`; other hosts cannot know it. */
static uint64_t
groups_random(struct groups *g, uint64_t most)
{
	g->drawn = hash_table_hash(
	    &g->neighbors->vips, &g->drawn, sizeof(g->drawn));
	return g->drawn % (most + 1);
}

static void
group_send(struct groups *g, struct group *p, uint64_t now)
{
	group_report(g, p, p->left > 0 ? MLD_JOIN : MLD_IS_MEMBER, now);
	p->due = 0;
	if (p->left > 0 && --p->left > 0)
		p->due = now + 1 + groups_random(g, GROUPS_REPORT_MS - 1);
}

static void
group_begin(struct groups *g, struct group *p, uint64_t now)
{
	p->left = GROUPS_REPORTS;
	group_send(g, p, now);
}

/* ---- which ---- */

static struct group *
groups_find(const struct groups *g, const uint8_t ip[16])
{
	unsigned i;

	for (i = 0; i < g->count; i++)
		if (memcmp(g->list[i].ip, ip, 16) == 0)
			return &g->list[i];
	return NULL;
}

/* Addresses may share a group. */
static int
groups_need(struct groups *g, const struct peer *address, uint64_t now)
{
	uint8_t ip[16];
	struct group *p, *grown;

	ndp_group(ip, address->ip);
	p = groups_find(g, ip);
	if (p == NULL) {
		grown = realloc(g->list, (g->count + 1) * sizeof(*grown));
		if (grown == NULL)
			return -1;
		g->list = grown;
		p = &g->list[g->count++];
		*p = (struct group){ .due = 0 };
		memcpy(p->ip, ip, sizeof(p->ip));
		group_begin(g, p, now);
	}
	p->needed = true;
	return 0;
}

int
groups_set(
    struct groups *g, const struct peer *list, unsigned count, uint64_t now)
{
	unsigned i, n = 0;
	int failed = 0;

	for (i = 0; i < g->count; i++)
		g->list[i].needed = false;
	for (i = 0; i < count; i++)
		if (list[i].family == AF_INET6)
			failed |= groups_need(g, &list[i], now);
	for (i = 0; i < g->count; i++)
		if (g->list[i].needed)
			g->list[n++] = g->list[i];
		else
			group_report(g, &g->list[i], MLD_LEAVE, now);
	g->count = n;
	return failed;
}

void
groups_renew(struct groups *g, uint64_t now)
{
	unsigned i;

	for (i = 0; i < g->count; i++)
		group_begin(g, &g->list[i], now);
}

void
groups_fini(struct groups *g)
{
	(void)groups_set(g, NULL, 0, 0);
	free(g->list);
	g->list = NULL;
}

/* ---- queries and time ---- */

/* Each waits for a time of its own, so that a switch does not get all at
 * once. */
void
groups_on_query(
    struct groups *g, const struct mld_query *q, uint16_t vlan, uint64_t now)
{
	static const uint8_t any[16];
	uint64_t most = q->delay_ms > GROUPS_TICK_MS
	    ? q->delay_ms - GROUPS_TICK_MS
	    : 0;
	uint64_t due;
	unsigned i;

	if ((vlan & FRAME_VLAN_ID) !=
	    (g->neighbors->options.vlan & FRAME_VLAN_ID))
		return;
	if (q->v1)
		g->v1_until = now + GROUPS_V1_MS;
	for (i = 0; i < g->count; i++) {
		struct group *p = &g->list[i];

		if (memcmp(q->group, any, 16) != 0 &&
		    memcmp(q->group, p->ip, 16) != 0)
			continue;
		due = now + groups_random(g, most);
		if (p->due == 0 || due < p->due)
			p->due = due;
	}
	groups_tick(g, now);
}

void
groups_tick(struct groups *g, uint64_t now)
{
	unsigned i;

	for (i = 0; i < g->count; i++)
		if (g->list[i].due != 0 && g->list[i].due <= now)
			group_send(g, &g->list[i], now);
}
