/* link.c: see link.h. */
#include "config.h"

#include <stddef.h>

#include "dsr/link/link.h"

void
link_close(struct link *l)
{
	if (l->fast != NULL)
		l->fast->close(l);
	l->ops->close(l);
	l->inside = NULL;
	l->fd = -1;
}

unsigned
link_fds(const struct link *l, int list[LINK_FDS_MAX])
{
	if (l->ops->fds == NULL)
		return 0;
	l->ops->fds(l, list);
	return LINK_KIND_FDS +
	    (l->fast != NULL ? l->fast->fds(l, list + LINK_KIND_FDS) : 0);
}

int
link_take(struct link *l, const struct link_filter *f, struct error *e)
{
	/* until nothing can fail the interface is the other process's */
	if (l->ops->set_filter(l, f, e) != 0)
		return -1;
	l->paused = false;
	l->ops->take(l);
	return 0;
}

int
link_set_filter(struct link *l, const struct link_filter *f, struct error *e)
{
	return l->paused ? 0 : l->ops->set_filter(l, f, e);
}

int
link_receive(struct link *l, struct link_frame *list, unsigned most)
{
	return l->ops->receive(l, list, most);
}

void
link_release(struct link *l)
{
	l->ops->release(l);
}

bool
link_has_more(const struct link *l)
{
	return l->ops->more != NULL && l->ops->more(l);
}

int
link_send(struct link *l, const struct link_frame *list, unsigned n)
{
	return l->paused ? (int)n : l->ops->send(l, list, n);
}

void
link_refresh(struct link *l)
{
	l->ops->refresh(l);
	if (l->fast != NULL)
		l->fast->refresh(l);
}
