/* fast_path.c: see fast_path.h. */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "dsr/director/fast_path.h"
#include "dsr/frame/frame_bytes.h"

enum {
	WORTH = 16,	    /* frames, until the first try and between two */
	FLOWS_MAX = 1 << 20 /* in the kernel */
};

/* ---- entries ---- */

/* The entry of a server for the fast path: the MAC of its next hop, or zeros if
 * the kernel must not forward to it, so that its frames come to pen. */
static struct link_entry
entry_of(const struct fast_path *fp, uint32_t number)
{
	const struct server *s = pool_slot(fp->pool, number);
	struct link_entry g = { .epoch = fp->epoch };

	if (s == NULL || fp->vips->standby || fp->link->fast_fails ||
	    s->health.down || !nexthops_may_go_on(fp->hops, s) ||
	    nexthop_is_tunnelled(fp->hops, s) ||
	    !nexthops_mac(fp->hops, s, &g.to))
		memset(&g.to, 0, sizeof(g.to));
	else
		g.longest = (uint16_t)(fp->link->mtu + FRAME_HEAD);
	return g;
}

/* Makes entries for all slots of servers, as far as the link has them, all
 * disabled. Without memory the ones that exist go on being set. */
static void
make_entries(struct fast_path *fp)
{
	uint32_t n = fp->hops->count < fp->ops->entries ? fp->hops->count
							: fp->ops->entries;
	struct link_entry *new;

	if (fp->entries_n >= n)
		return;
	new = realloc(fp->entries, n * sizeof(*new));
	if (new == NULL)
		return;
	memset(new + fp->entries_n, 0, (n - fp->entries_n) * sizeof(*new));
	fp->entries = new;
	fp->entries_n = n;
}

void
fast_path_refresh(struct fast_path *fp)
{
	struct link_entry g;
	uint32_t i;

	if (fp->ops == NULL)
		return;
	make_entries(fp);
	for (i = 0; i < fp->entries_n; i++) {
		g = entry_of(fp, i);
		/* Setting one is a system call. */
		if (memcmp(&g, &fp->entries[i], sizeof(g)) == 0)
			continue;
		fp->ops->set_entry(fp->link, i, &g);
		fp->entries[i] = g;
	}
}

void
fast_path_renew(struct fast_path *fp)
{
	fp->epoch++;
	fast_path_refresh(fp);
}

/* ---- flows ---- */

void
fast_path_remove(struct fast_path *fp, struct dsr_flow *w)
{
	struct link_offloaded c;

	if (!w->offloaded)
		return;
	/* False: the kernel has dropped the flow by itself, with its counts. */
	if (fp->ops->remove(fp->link, &w->key, &c)) {
		w->frames += c.frames;
		w->bytes += c.bytes;
	}
	w->offloaded = 0;
	fp->flows--;
}

/* Whether the sum was missing when the driver received the frame. It is missing
 * in what GRO has merged, too, but behind the driver, where the program sees
 * each segment with its own sum. */
static bool
lacks_checksum(const struct link_frame *l)
{
	return (l->offload.flags & LINK_CHECKSUM) && l->offload.type == 0;
}

/* Whether the program in the kernel would forward such a frame: no tag, options
 * or fragments, and no checksum that is missing. */
static bool
fast_path_is_plain(const struct frame *f, const struct link_frame *l)
{
	unsigned head = f->family == AF_INET6 ? IP6_HEAD : IP4_HEAD;

	return f->net == FRAME_HEAD && f->transport == f->net + head &&
	    !f->first_fragment && !lacks_checksum(l);
}

/* Whether the kernel has the flow: frames of it that were received before, or
 * are not plain, are no reason to add it again, which would lose its counts. */
static bool
is_added(const struct fast_path *fp, const struct dsr_flow *w)
{
	struct link_offloaded c;

	return w->offloaded && fp->ops->find(fp->link, &w->key, &c) &&
	    c.epoch == fp->epoch;
}

void
fast_path_on_frame(struct fast_path *fp, struct dsr_flow *w,
    const struct frame *f, const struct link_frame *l)
{
	if (fp->ops == NULL || fp->refused)
		return;
	if ((w->state != DSR_ESTABLISHED && w->state != DSR_UDP) ||
	    f->tcp_flags & (FRAME_SYN | FRAME_FIN | FRAME_RST)) {
		fast_path_remove(fp, w);
		return;
	}
	/* A frame that was received before its VIP was removed must not get its
	 * flow back into the kernel. */
	if (w->frames % WORTH != 0 || !fast_path_is_plain(f, l) ||
	    !vips_have_address(fp->vips, &f->to) ||
	    w->server >= fp->entries_n || fp->entries[w->server].longest == 0 ||
	    is_added(fp, w))
		return;
	fast_path_remove(fp, w);
	if (fp->ops->add(fp->link, &w->key, w->server, fp->epoch) != 0) {
		if (errno != EPERM)
			return;
		/* Before Linux 5.19 a map cannot be changed without rights,
		 * which this process has given up: no other flow can be added,
		 * either. */
		log_warn("fast path not used: the kernel refuses its flows "
			 "interface=%s error=\"%s\"",
		    fp->link->name, strerror(errno));
		fp->refused = true;
		return;
	}
	w->offloaded = 1;
	fp->flows++;
}

uint32_t
fast_path_last_frame(const struct fast_path *fp, const struct dsr_flow *w)
{
	struct link_offloaded c;

	if (!fp->ops->find(fp->link, &w->key, &c))
		return 0;
	return (uint32_t)((loop_now(fp->loop) - c.idle_ms) / 1000);
}

/* ---- life ---- */

uint32_t
fast_path_most(const struct director_options *o)
{
	return o->flows < FLOWS_MAX ? (uint32_t)o->flows : (uint32_t)FLOWS_MAX;
}

void
fast_path_open(struct fast_path *fp)
{
	fp->ops = fp->link->fast;
	fp->epoch = 1; /* entries that were never set have 0 */
	/* what went by it in another process is not counted here */
	fast_path_clear_counters(fp);
}

void
fast_path_take(struct fast_path *fp)
{
	if (fp->ops == NULL)
		return;
	fp->epoch = fp->ops->clear(fp->link) + 1;
	if (fp->entries != NULL)
		memset(fp->entries, 0, fp->entries_n * sizeof(*fp->entries));
	fast_path_refresh(fp);
}

void
fast_path_fini(struct fast_path *fp)
{
	free(fp->entries);
}

void
fast_path_clear_counters(struct fast_path *fp)
{
	if (fp->ops != NULL)
		fp->cleared = fp->ops->totals(fp->link);
}

void
fast_path_get(const struct fast_path *fp, struct director_fast *f)
{
	*f = (struct director_fast){ .on = fp->ops != NULL,
		.fails = fp->link->fast_fails || fp->refused,
		.flows = fp->flows };
	if (!f->on)
		return;
	f->passed = fp->ops->totals(fp->link);
	f->passed.frames -= fp->cleared.frames;
	f->passed.bytes -= fp->cleared.bytes;
}
