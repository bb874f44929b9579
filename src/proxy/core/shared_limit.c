/* shared_limit.c: the limit of all frontends together. A change costs time only
 * when the limit is reached, or no longer: for each beyond its share. */
#include "config.h"

#include "proxy/core/frontend_core.h"
#include "proxy/core/shared_limit.h"

void
shared_limit_init(struct shared_limit *r)
{
	*r = (struct shared_limit){ .max = 0 };
	list_init(&r->members);
}

static struct frontend_core *
member_of(struct list *link)
{
	return list_entry(link, struct frontend_core, shared.link);
}

static void
take_place(struct frontend_core *f)
{
	struct shared_limit *r = f->shared.limit;

	list_remove(&f->shared.link);
	if (f->stats->sessions >= f->shared.share)
		list_prepend(&r->members, &f->shared.link);
	else
		list_append(&r->members, &f->shared.link);
}

void
shared_limit_set(struct shared_limit *r, uint64_t max, unsigned shares)
{
	struct list *link;

	while ((link = list_first(&r->members)) != NULL) {
		list_remove(link);
		member_of(link)->shared.limit = NULL;
	}
	r->max = max;
	r->share = max < shares || shares == 0
	    ? 0
	    : (max + 2 * shares - 1) / (2 * (uint64_t)shares);
	r->taken = r->share * shares;
}

void
shared_limit_join(
    struct shared_limit *r, struct frontend_core *f, bool has_share)
{
	f->shared.limit = r;
	f->shared.share = has_share ? r->share : 0;
	if (f->stats->sessions > f->shared.share)
		r->taken += f->stats->sessions - f->shared.share;
	take_place(f);
}

void
shared_limit_part(struct frontend_core *f)
{
	list_remove(&f->shared.link);
	f->shared.limit = NULL;
}

bool
shared_limit_has(const struct frontend_core *f)
{
	const struct shared_limit *r = f->shared.limit;

	return r == NULL || f->stats->sessions < f->shared.share ||
	    r->taken < r->max;
}

/* Rechecks the limits of frontends that are over their share: they may accept
 * now, or may not any more. */
static void
check_others(struct shared_limit *r)
{
	struct list *link, *next;

	for (link = r->members.next; link != &r->members; link = next) {
		struct frontend_core *f = member_of(link);

		next = link->next;
		if (f->stats->sessions < f->shared.share)
			return;
		frontend_check_limits(f);
	}
}

void
shared_limit_more(struct frontend_core *f)
{
	struct shared_limit *r = f->shared.limit;

	if (r == NULL)
		return;
	if (f->stats->sessions == f->shared.share)
		take_place(f);
	if (f->stats->sessions > f->shared.share && ++r->taken == r->max)
		check_others(r);
}

void
shared_limit_less(struct frontend_core *f)
{
	struct shared_limit *r = f->shared.limit;

	if (r == NULL)
		return;
	if (f->stats->sessions + 1 == f->shared.share)
		take_place(f);
	if (f->stats->sessions >= f->shared.share && r->taken-- == r->max)
		check_others(r);
}
