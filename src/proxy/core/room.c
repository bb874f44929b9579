/* room.c: the limit of all frontends together; each change costs what those
 * cost that are beyond their share, and only when the room gets full. */
#include "config.h"

#include "proxy/core/frontend_core.h"
#include "proxy/core/room.h"

void
room_init(struct room *r)
{
	*r = (struct room){ .max = 0 };
	list_init(&r->members);
}

static struct frontend_core *
member_of(struct list *link)
{
	return list_entry(link, struct frontend_core, room.link);
}

static void
take_place(struct frontend_core *f)
{
	struct room *r = f->room.room;

	list_remove(&f->room.link);
	if (f->stats->sessions >= f->room.share)
		list_prepend(&r->members, &f->room.link);
	else
		list_append(&r->members, &f->room.link);
}

void
room_set(struct room *r, uint64_t max, unsigned shares)
{
	struct list *link;

	while ((link = list_first(&r->members)) != NULL) {
		list_remove(link);
		member_of(link)->room.room = NULL;
	}
	r->max = max;
	r->share = max < shares || shares == 0
	    ? 0
	    : (max + 2 * shares - 1) / (2 * (uint64_t)shares);
	r->taken = r->share * shares;
}

void
room_join(struct room *r, struct frontend_core *f, bool has_share)
{
	f->room.room = r;
	f->room.share = has_share ? r->share : 0;
	if (f->stats->sessions > f->room.share)
		r->taken += f->stats->sessions - f->room.share;
	take_place(f);
}

void
room_part(struct frontend_core *f)
{
	list_remove(&f->room.link);
	f->room.room = NULL;
}

bool
room_has(const struct frontend_core *f)
{
	const struct room *r = f->room.room;

	return r == NULL || f->stats->sessions < f->room.share ||
	    r->taken < r->max;
}

/* There is room for those beyond their share, or no longer. */
static void
tell(struct room *r)
{
	struct list *link, *next;

	for (link = r->members.next; link != &r->members; link = next) {
		struct frontend_core *f = member_of(link);

		next = link->next;
		if (f->stats->sessions < f->room.share)
			return;
		frontend_check_limits(f);
	}
}

void
room_more(struct frontend_core *f)
{
	struct room *r = f->room.room;

	if (r == NULL)
		return;
	if (f->stats->sessions == f->room.share)
		take_place(f);
	if (f->stats->sessions > f->room.share && ++r->taken == r->max)
		tell(r);
}

void
room_less(struct frontend_core *f)
{
	struct room *r = f->room.room;

	if (r == NULL)
		return;
	if (f->stats->sessions + 1 == f->room.share)
		take_place(f);
	if (f->stats->sessions >= f->room.share && r->taken-- == r->max)
		tell(r);
}
