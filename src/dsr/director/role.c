/* role.c: see role.h. */
#include "config.h"

#include "dsr/director/role.h"

void
role_set(struct role *r, bool standby, uint64_t since)
{
	if (r->since != 0 && r->standby == standby)
		return;
	r->standby = standby;
	r->since = since;
	if (!standby)
		r->claimed_at = 0;
}

void
role_claim(struct role *r, const struct who_has *m, uint64_t now)
{
	r->claimant = m->mac;
	r->claimed = m->sender;
	r->claimed_at = now;
}

const char *
role_name(const struct role *r)
{
	return r->standby ? "standby" : "active";
}
