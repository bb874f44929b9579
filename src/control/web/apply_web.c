/* apply_web.c: the pages of a plan. */
#include "config.h"

#include "control/apply/apply.h"
#include "control/plan/origin.h"
#include "control/report/trend.h"
#include "control/web/web.h"

int
apply_web_prepare(struct apply_all *a, struct error *e)
{
	struct error why;
	struct addr at;

	if (origin_find_web(a->draft, &at, e) < 0)
		return -1;
	if (at.len == 0)
		return 0;
	a->web = web_open(a->pen, &at, a->draft, &why);
	if (a->web != NULL)
		return 0;
	error_set(e, "%s", why.text);
	origin_add(a->draft, "web", e);
	return -1;
}

void
apply_web_cancel(struct apply_all *a)
{
	if (a->web == NULL)
		return;
	web_close(a->web);
	web_listen_again(a->pen->web);
}

void
apply_web_commit(struct apply_all *a)
{
	struct pen *p = a->pen;

	web_close(p->web);
	p->web = a->web;
	if (p->web == NULL)
		trends_stop(p);
}
