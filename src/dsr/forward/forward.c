/* forward.c: see forward.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "dsr/forward/forward.h"

/* ---- one frame ---- */

void
forward_flush(struct forward *fw)
{
	if (fw->tunnels != NULL)
		tunnels_flush(fw->tunnels);
	else
		wire_flush(&fw->wire);
}

/* Queues the frame for the server, with rewritten MACs or encapsulated; one
 * that came from that server is dropped. Returns false if the MAC of the next
 * hop is unknown. */
static bool
forward_pass(struct forward *fw, struct frame *f, const struct link_frame *l,
    const struct server *s)
{
	struct mac to;

	if (fw->tunnels != NULL && nexthop_is_tunnelled(&fw->hops, s))
		return tunnels_pass(fw->tunnels, f, l, s);
	if (!nexthops_mac(&fw->hops, s, &to))
		return false;
	/* It would go round until its TTL is over. */
	if (memcmp(f->bytes + sizeof(to), &to, sizeof(to)) == 0) {
		wire_drop(&fw->wire, DIRECTOR_LOOP, l->length);
		nexthops_note_loop(&fw->hops, s);
		return true;
	}
	frame_set_macs(f, &to, &fw->wire.link.mac);
	wire_put(&fw->wire, l, f->bytes);
	fw->wire.stats.forwarded++;
	fw->wire.stats.forwarded_bytes += l->length;
	return true;
}

bool
forward_send(struct forward *fw, const struct server *s, unsigned char *bytes,
    size_t length)
{
	struct link_frame l = { .bytes = bytes, .length = (unsigned)length };
	struct frame f;

	frame_parse(&f, bytes, length);
	if (!forward_pass(fw, &f, &l, s))
		return false;
	forward_flush(fw);
	return true;
}

/* ---- frames that wait for the MAC of their next hop ---- */

void
forward_frame(struct forward *fw, struct frame *f, const struct link_frame *l,
    const struct server *s)
{
	struct link_frame copy;

	if (s == NULL) {
		wire_drop(&fw->wire, DIRECTOR_NO_SERVER, l->length);
		return;
	}
	if (forward_pass(fw, f, l, s))
		return;
	copy = *l;
	copy.bytes = f->bytes;
	/* The queue only fills while the server's MAC may come to be known. */
	if (!nexthops_is_gone(&fw->hops, s) &&
	    pending_add(&fw->pending, &copy, s->slot, loop_now(fw->loop)))
		fw->wire.stats.pending++;
	else
		wire_drop(&fw->wire, DIRECTOR_NEIGHBOR, l->length);
}

/* The link needs the bytes until the flush, so they are freed after it. There
 * are no more of these frames than a batch has room for. */
void
forward_release(struct forward *fw)
{
	unsigned char *sent[PENDING_FRAMES];
	unsigned i, n = 0;

	fw->hops.resolved = false;
	if (fw->pending.count == 0)
		return;
	forward_flush(fw);
	for (i = 0; i < fw->pending.count; i++) {
		struct pending_frame *h = &fw->pending.list[i];
		struct server *s = pool_slot(fw->pool, h->server);
		struct frame f;

		frame_parse(&f, h->frame.bytes, h->frame.length);
		/* the server may be gone by now */
		if (s == NULL || !forward_pass(fw, &f, &h->frame, s))
			continue;
		sent[n++] = h->frame.bytes;
		h->frame.bytes = NULL;
	}
	forward_flush(fw);
	while (n > 0)
		free(sent[--n]);
	pending_compact(&fw->pending);
}

void
forward_tick(struct forward *fw, uint64_t now)
{
	forward_release(fw);
	pending_expire(
	    &fw->pending, now, &fw->wire.stats.dropped[DIRECTOR_NEIGHBOR]);
}

void
forward_fini(struct forward *fw)
{
	tunnels_free(fw->tunnels);
	pending_fini(&fw->pending);
}
