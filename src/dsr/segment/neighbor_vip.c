/* neighbor_vip.c: addresses that are ours: announced, defended. */
#include "config.h"

#include <stdlib.h>

#include "dsr/segment/neighbor_private.h"

struct vip {
	struct who_has_entry entry;
	uint64_t due;	   /* of the next announcement */
	unsigned left;	   /* announcements */
	uint64_t wait;	   /* between those after a conflict, ms; 0: none is */
	bool defended;	   /* it is in that queue */
	uint64_t reported; /* a conflict: ms */
	bool ever_reported;
};

bool
neighbors_have_vip(const struct neighbors *n, const struct peer *ip)
{
	return who_has_find(&n->vips, ip) != NULL;
}

/* ---- announcing ---- */

static void
vip_announce(struct neighbors *n, const struct vip *v)
{
	unsigned char bytes[FRAME_MADE_MAX];
	struct frame_head head = neighbors_head(n, &mac_broadcast);

	neighbors_send(n, bytes,
	    who_has_make_announcement(
		bytes, sizeof(bytes), &head, &v->entry.ip));
}

static struct vip *
vip_first_of(struct list *queue)
{
	struct list *link = list_first(queue);

	return link != NULL ? list_entry(link, struct vip, entry.order) : NULL;
}

static void
start_announcing(struct neighbors *n, struct vip *v, uint64_t now)
{
	v->left = NEIGHBOR_ANNOUNCE;
	v->due = now;
	v->wait = 0;
	v->defended = false;
	list_remove(&v->entry.order);
	list_prepend(&n->queue[NEIGHBOR_ANNOUNCING], &v->entry.order);
}

/* Announcements for the time after a conflict. */
static void
begin_defending(struct neighbors *n, struct vip *v, uint64_t now)
{
	v->defended = true;
	v->left = NEIGHBOR_ANNOUNCE;
	v->due = now + v->wait;
	list_remove(&v->entry.order);
	list_append(&n->queue[NEIGHBOR_DEFENDED], &v->entry.order);
}

/* Another host may have been believed: routers keep what they have learnt for
 * hours. Each time the wait is twice as long, until all is over: so two hosts
 * that defend the same address do so ever more rarely. */
static void
tick_defended(struct neighbors *n, uint64_t now)
{
	struct list again = LIST_INIT(again), *link;
	struct vip *v;

	while ((v = vip_first_of(&n->queue[NEIGHBOR_DEFENDED])) != NULL) {
		list_remove(&v->entry.order);
		if (v->due <= now) {
			vip_announce(n, v);
			v->left--;
			v->wait = 2 * v->wait < NEIGHBOR_DEFEND_MAX_MS
			    ? 2 * v->wait
			    : NEIGHBOR_DEFEND_MAX_MS;
			v->due = now + v->wait;
		}
		if (v->left == 0) {
			v->wait = 0;
			v->defended = false;
		}
		list_append(v->left > 0 ? &again : &n->queue[NEIGHBOR_SILENT],
		    &v->entry.order);
	}
	while ((link = list_first(&again)) != NULL) {
		list_remove(link);
		list_append(&n->queue[NEIGHBOR_DEFENDED], link);
	}
}

/* Announces all VIPs, if their interval is over. */
static void
announce_again(struct neighbors *n, uint64_t now)
{
	struct list *link, *queue;
	int i;

	if (n->refresh_ms == 0 || now - n->refreshed < n->refresh_ms)
		return;
	n->refreshed = now;
	for (i = NEIGHBOR_ANNOUNCING; i <= NEIGHBOR_SILENT; i++) {
		queue = &n->queue[i];
		for (link = queue->next; link != queue; link = link->next)
			vip_announce(
			    n, list_entry(link, struct vip, entry.order));
	}
}

void
neighbors_refresh_vips(struct neighbors *n, uint64_t every_ms, uint64_t now)
{
	n->refresh_ms = every_ms;
	n->refreshed = now;
}

void
neighbors_tick_vips(struct neighbors *n, uint64_t now)
{
	struct list *announcing = &n->queue[NEIGHBOR_ANNOUNCING];
	struct vip *v;

	tick_defended(n, now);
	announce_again(n, now);

	while ((v = vip_first_of(announcing)) != NULL && v->due <= now) {
		vip_announce(n, v);
		v->due = now + NEIGHBOR_ANNOUNCE_MS;
		list_remove(&v->entry.order);
		list_append(
		    --v->left > 0 ? announcing : &n->queue[NEIGHBOR_SILENT],
		    &v->entry.order);
		if (v->left == 0 && v->wait > 0)
			begin_defending(n, v, now);
	}
}

/* Announces all VIPs. They are moved to one list first, as each gets to the
 * front of one of the queues that are walked. */
void
neighbors_announce(struct neighbors *n, uint64_t now)
{
	struct list all = LIST_INIT(all), *link;
	int i;

	for (i = NEIGHBOR_ANNOUNCING; i <= NEIGHBOR_SILENT; i++)
		while ((link = list_first(&n->queue[i])) != NULL) {
			list_remove(link);
			list_append(&all, link);
		}
	while ((link = list_last(&all)) != NULL)
		start_announcing(
		    n, list_entry(link, struct vip, entry.order), now);
	neighbors_tick_vips(n, now);
}

/* ---- conflicts ---- */

/* Another host has claimed the VIP: announces it again, all times, unless that
 * is under way. */
static void
defend_again(struct neighbors *n, struct vip *v, uint64_t now)
{
	if (v->wait == 0)
		v->wait = NEIGHBOR_CONFLICT_MS;
	/* else when it has been announced */
	if (v->left == 0 || v->defended)
		begin_defending(n, v, now);
}

bool
neighbors_claimed(struct neighbors *n, const struct who_has *m, uint64_t now)
{
	struct vip *v =
	    m->sender.family != 0 ? who_has_find(&n->vips, &m->sender) : NULL;

	/* Our own MAC claims nothing, whichever host sent the message. */
	if (v == NULL || mac_equal(&m->mac, &n->options.mac))
		return v != NULL;
	n->stats.conflicts++;
	/* Two that defend the same address must not do so for ever (RFC 5227,
	 * 2.4). */
	if (v->ever_reported && now - v->reported < NEIGHBOR_CONFLICT_MS) {
		if (v->wait > 0)
			defend_again(n, v, now);
		return true;
	}
	v->ever_reported = true;
	v->reported = now;
	if (n->options.on_conflict != NULL &&
	    n->options.on_conflict(n->options.arg, &v->entry.ip, &m->mac)) {
		vip_announce(n, v);
		defend_again(n, v, now);
	}
	return true;
}

/* ---- life ---- */

/* NULL: no memory, or it was ours before: *had. */
static struct vip *
new_vip(struct neighbors *n, const struct peer *ip, bool *had)
{
	struct vip *v;

	*had = neighbors_have_vip(n, ip);
	if (*had || (v = calloc(1, sizeof(*v))) == NULL)
		return NULL;
	list_append(&n->queue[NEIGHBOR_SILENT], &v->entry.order);
	who_has_add(&n->vips, &v->entry, ip);
	return v;
}

int
neighbors_take_vip(struct neighbors *n, const struct peer *ip)
{
	bool had;

	return new_vip(n, ip, &had) != NULL || had ? 0 : -1;
}

int
neighbors_add_vip(struct neighbors *n, const struct peer *ip, uint64_t now)
{
	bool had;
	struct vip *v = new_vip(n, ip, &had);

	if (v == NULL)
		return had ? 0 : -1;
	start_announcing(n, v, now);
	neighbors_tick_vips(n, now);
	return 0;
}

void
neighbors_remove_vip(struct neighbors *n, const struct peer *ip)
{
	struct vip *v = who_has_find(&n->vips, ip);

	if (v == NULL)
		return;
	list_remove(&v->entry.order);
	hash_table_remove(&n->vips, &v->entry.link);
	free(v);
}
