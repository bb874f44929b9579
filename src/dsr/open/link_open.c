/* link_open.c: the kinds of links this build has, in the order of trial. */
#include "config.h"

#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "dsr/link/link_kinds.h"
#include "dsr/open/link_open.h"
#ifdef HAVE_XDP
#include "dsr/xdp/xdp_fast.h"
#endif

static const struct link_ops *const kinds[] = {
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

static int
open_as(struct link *l, const struct link_ops *ops, const char *ifname,
    const struct link_filter *f, struct error *e)
{
	if (f->past != NULL && ops->take == NULL)
		return error_set(
		    e, "dsr_link %s cannot take over an interface", ops->name);
	memset(l, 0, sizeof(*l));
	l->fd = -1;
	l->ops = ops;
	memcpy(l->name, ifname, strlen(ifname) + 1);
	return ops->open(l, f, e);
}

static bool
link_kind_is_wanted(const struct link_ops *ops, const char *kind)
{
	return kind == NULL || strcmp(kind, ops->name) == 0;
}

/* The first kind that is wanted and opens. */
static int
open_first(struct link *l, const char *kind, const char *ifname,
    const struct link_filter *f, struct error *e)
{
	struct error later;
	unsigned tried = 0;

	if (ifname[0] == '\0' || strlen(ifname) >= sizeof(l->name))
		return error_set(e, "no interface \"%s\"", ifname);
	for (unsigned i = 0; kinds[i] != NULL; i++) {
		if (!link_kind_is_wanted(kinds[i], kind))
			continue;
		/* the first message is the best kind's: it is returned */
		if (open_as(l, kinds[i], ifname, f, tried++ ? &later : e) != 0)
			continue;
		if (tried > 1)
			log_info("link=%s, the best available: %s",
			    l->ops->name, e->text);
		return 0;
	}
	if (tried > 0)
		return -1;
	if (kind == NULL)
		return error_set(e, "built without any kind of link");
	return error_set(e,
	    strcmp(kind, "xdp") == 0
		? "there is no dsr_link xdp: leave it out; dsr_fast_path is "
		  "on by default"
		: "this build has no dsr_link \"%s\"",
	    kind);
}

static int
open_program(struct link *l, const struct link_filter *f, struct error *e)
{
#ifdef HAVE_XDP
	return xdp_fast_open(l, f, e);
#else
	(void)l;
	(void)f;
	return error_set(e, "built without libbpf");
#endif
}

/* A link without a fast path is slower, not wrong. */
static void
open_fast(struct link *l, const struct link_filter *f)
{
	struct error why;

	if (f->fast == LINK_FAST_OFF)
		return;
	if (f->fast_flows == 0)
		error_set(&why, "dsr_flows is 0");
	else if (l->changes == NULL)
		error_set(&why, "this kind of link has no fast path");
	else if (open_program(l, f, &why) == 0)
		return;
	if (f->fast == LINK_FAST_ON)
		log_warn("dsr_fast_path has no effect: %s link=%s", why.text,
		    l->ops->name);
	else
		log_info("no fast path: %s link=%s", why.text, l->ops->name);
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
	if (open_first(l, kind, ifname, f, e) != 0)
		return -1;
	open_fast(l, f);
	return 0;
}
