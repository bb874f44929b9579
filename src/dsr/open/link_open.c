/* link_open.c: the kinds of links this build has, in the order of trial. */
#include "config.h"

#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "dsr/link/link_kinds.h"
#include "dsr/open/link_open.h"

static const struct link_ops *const kinds[] = {
#ifdef HAVE_LINK_XDP
	&link_xdp,
#endif
#ifdef HAVE_LINK_PACKET
	&link_packet,
#endif
#ifdef HAVE_LINK_PCAP
	&link_pcap,
#endif
	NULL
};

const char *
link_kind(unsigned i)
{
	unsigned k = 0;

	while (k < i && kinds[k] != NULL)
		k++;
	return kinds[k] != NULL ? kinds[k]->name : NULL;
}

/* Why a link is opened. */
enum purpose { SERVE, TRY, LISTEN };

static int
open_as(struct link *l, const struct link_ops *ops, bool asked,
    enum purpose purpose, const char *ifname, const struct link_filter *f,
    struct error *e)
{
	if (f->past != NULL && ops->take == NULL)
		return error_set(
		    e, "dsr_link %s cannot take over an interface", ops->name);
	if (f->shared && ops->takes)
		return error_set(e,
		    "interface %s: %s would take the frames of another "
		    "director there: both need dsr_link packet",
		    ifname, ops->name);
	memset(l, 0, sizeof(*l));
	l->fd = -1;
	l->ops = ops;
	l->asked = asked;
	l->trial = purpose != SERVE;
	memcpy(l->name, ifname, strlen(ifname) + 1);
	return ops->open(l, f, e);
}

static bool
link_kind_is_wanted(
    const struct link_ops *ops, const char *kind, enum purpose purpose)
{
	return (kind == NULL || strcmp(kind, ops->name) == 0) &&
	    (purpose != LISTEN || !ops->takes);
}

/* The first kind that is wanted and opens. */
static int
open_first(struct link *l, const char *kind, enum purpose purpose,
    const char *ifname, const struct link_filter *f, struct error *e)
{
	struct error later;
	unsigned tried = 0;

	if (ifname[0] == '\0' || strlen(ifname) >= sizeof(l->name))
		return error_set(e, "no interface \"%s\"", ifname);
	for (unsigned i = 0; kinds[i] != NULL; i++) {
		if (!link_kind_is_wanted(kinds[i], kind, purpose))
			continue;
		/* the first message is the best kind's: it is returned */
		if (open_as(l, kinds[i], kind != NULL, purpose, ifname, f,
			tried++ ? &later : e) != 0)
			continue;
		if (tried > 1 && purpose == SERVE)
			log_info("link=%s, the best available: %s",
			    l->ops->name, e->text);
		return 0;
	}
	if (tried > 0)
		return -1;
	if (kind == NULL)
		return error_set(e, "built without any kind of link");
	return error_set(e, "this build has no dsr_link \"%s\"", kind);
}

int
link_open(struct link *l, const char *kind, const char *ifname,
    const struct link_filter *f, struct error *e)
{
	if (f->past != NULL && kind == NULL)
		kind = f->past->kind;
	if (f->past != NULL && strcmp(kind, f->past->kind) != 0)
		return error_set(e,
		    "dsr_link %s: the process that is replaced has %s, which "
		    "needs a restart",
		    kind, f->past->kind);
	return open_first(l, kind, SERVE, ifname, f, e);
}

int
link_try(struct link *l, const char *kind, const char *ifname,
    const struct link_filter *f, struct error *e)
{
	return open_first(l, kind, TRY, ifname, f, e);
}

int
link_listen(struct link *l, const char *ifname, const struct link_filter *f,
    struct error *e)
{
	return open_first(l, NULL, LISTEN, ifname, f, e);
}
