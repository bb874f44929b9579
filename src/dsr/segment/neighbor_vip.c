/* neighbor_vip.c: addresses that are ours: announced, defended. */
#include "config.h"

#include <stdlib.h>

#include "dsr/segment/neighbor_private.h"

struct vip {
	struct who_has_entry entry;
	uint64_t due;	   /* of the next announcement */
	unsigned left;	   /* announcements */
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
	list_remove(&v->entry.order);
	list_prepend(&n->queue[NEIGHBOR_ANNOUNCING], &v->entry.order);
}

void
neighbors_tick_vips(struct neighbors *n, uint64_t now)
{
	struct list *announcing = &n->queue[NEIGHBOR_ANNOUNCING];
	struct vip *v;

	while ((v = vip_first_of(announcing)) != NULL && v->due <= now) {
		vip_announce(n, v);
		v->due = now + NEIGHBOR_ANNOUNCE_MS;
		list_remove(&v->entry.order);
		list_append(
		    --v->left > 0 ? announcing : &n->queue[NEIGHBOR_SILENT],
		    &v->entry.order);
	}
}

/* All go into one list first: each gets to the front of a queue that is
 * walked. */
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
	if (v->ever_reported && now - v->reported < NEIGHBOR_CONFLICT_MS)
		return true;
	v->ever_reported = true;
	v->reported = now;
	if (n->options.on_conflict != NULL &&
	    n->options.on_conflict(n->options.arg, &v->entry.ip, &m->mac))
		vip_announce(n, v);
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
