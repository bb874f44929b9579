/* web.h: pages about the program, for people and for monitoring; they change
 * nothing.
 *
 *     /              a page that shows servers and totals as they change
 *     /metrics       Prometheus, OpenMetrics
 *     /status.json   all that the page shows; of one service: ?service=NAME
 *     /trend.json    the last ten minutes; the same
 *     /healthz       200 while the program runs
 *     /readyz        200 while new clients are served, else 503; by all
 *                    services that listen, or by one: ?service=NAME */
#ifndef PEN_CONTROL_WEB_H
#define PEN_CONTROL_WEB_H

#include "base/addr.h"
#include "base/buffer.h"
#include "base/error.h"

struct apply_all;
struct plan;
struct pen;
struct web;

/* Listens and serves, beside the pages that there are, which are closed next.
 * The mode of a Unix socket's file and freebind are those of the plan. NULL
 * with a full message. */
struct web *web_open(struct pen *p, const struct addr *at,
    const struct plan *plan, struct error *e);
void web_close(struct web *w);
/* In a child process: leaves the pages to its parent. */
void web_close_in_child(struct web *w);
/* Accepts again, as the earlier pages are to stay; NULL is fine. */
void web_listen_again(struct web *w);

/* Appends the page without scripts, complete and well-formed; needs a
 * frontend. */
void web_plain_page(const struct pen *p, struct buffer *out);
/* Puts it into the file that web_stats names, at once, so that no reader sees
 * half of it. Nothing if none is named. Returns 0, or -1 with a full
 * message. */
int web_plain_write(const struct pen *p, struct error *e);

/* The pages of a draft, as a participant; see apply.h. */
int apply_web_prepare(struct apply_all *a, struct error *e);
void apply_web_commit(struct apply_all *a);
void apply_web_cancel(struct apply_all *a);

#endif
