/* checks.h: health checks of servers on the path of clients' frames; see
 * probe.h. */
#ifndef PEN_DSR_CHECKS_H
#define PEN_DSR_CHECKS_H

#include "dsr/director/director.h"
#include "dsr/forward/forward.h"
#include "dsr/segment/probe.h"

struct checks {
	/* Set once; they outlive this. */
	struct loop *loop;
	struct pool *pool;
	struct forward *forward;
	const struct vips *vips;

	struct director_check settings;
	struct probes probes;
	struct timer timer;
};

/* Returns 0, or -1 without memory. */
int checks_open(struct checks *c);
void checks_close(struct checks *c);
/* See director_set_check(). */
int checks_set(
    struct checks *c, const struct director_check *settings, struct error *e);
/* The VIPs have changed. Returns 0, or -1 with errno ENOMEM. */
int checks_renew(struct checks *c);
/* Probes nothing until checks_go_on(), which returns 0, or -1 with a full
 * message. */
void checks_pause(struct checks *c);
int checks_go_on(struct checks *c, struct error *e);
/* Follows the list of servers. */
void checks_tick(struct checks *c);
/* Servers that are probed here are as if they had never been checked. */
void checks_reset(struct checks *c);
/* A frame was received that is for no VIP. Returns whether it is a reply to a
 * probe, or a bad one to its source. */
bool checks_on_frame(
    struct checks *c, const struct frame *f, const struct link_frame *l);
/* Whether a server that lacks the VIP, but forwards packets, sent a probe's
 * request back: another server must not reply to it. */
static inline bool
checks_is_own_request(const struct checks *c, const struct frame *f)
{
	return c->settings.on && vips_is_own(c->vips, &f->from);
}

#endif
