/* pooladmin.h: what the operator says of a server, without a plan. */
#ifndef PEN_TEST_POOLADMIN_H
#define PEN_TEST_POOLADMIN_H

#include "pool/pool_private.h"

static inline void
pool_set_admin(struct pool *p, struct server *s, enum server_admin admin)
{
	s->admin = admin;
	pool_refresh(s);
	pool_report(s, p->why);
}

#endif
