/* rooms.c: what a plan means for the rooms that run: log, listeners, pool and
 * frontend. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/words.h"
#include "control/adopt.h"
#include "control/checks.h"
#include "control/direct.h"
#include "control/origin.h"
#include "control/preflight.h"
#include "net/resolve.h"
#include "proxy/requestlog.h"

/* ---- the log of requests ---- */

/* HOST:PORT, by UDP; all else is a file. */
static bool
is_remote(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon != NULL && colon != text && colon[1] != '\0' &&
	    strchr(text, '/') == NULL;
}

int
rooms_find_log(
    const struct pen *p, const char *text, struct addr *to, struct error *e)
{
	const char *rest;
	struct resolved found;
	uint16_t port;
	char *host;
	int rc;

	memset(to, 0, sizeof(*to));
	if (!is_remote(text))
		return 0;
	host = spec_split_host(text, &rest, e);
	if (host == NULL)
		return -1;
	rc = *rest == ':' ? resolve_port(rest + 1, &port, e)
			  : error_set(e, "no port");
	if (rc == 0)
		rc = resolve_host(host, port,
		    p->frontend == NULL ? RESOLVE_NAMES : RESOLVE_NUMERIC,
		    &found, e);
	if (rc == 0)
		*to = found.addr[0];
	free(host);
	return rc;
}

static int
open_log(
    struct pen *p, const char *text, struct requestlog **log, struct error *e)
{
	struct error why;
	struct addr to;

	*log = NULL;
	if (text == NULL)
		return 0;
	if (rooms_find_log(p, text, &to, &why) == 0)
		*log = to.len > 0 ? requestlog_open_udp(p->loop, &to, &why)
				  : requestlog_open_file(p->loop, text, &why);
	if (*log != NULL)
		return 0;
	return error_set(e, "log \"%.200s\": %.250s", text, why.text);
}

int
rooms_open_log(struct pen *p, struct error *e)
{
	if (open_log(p, p->plan->config.log, &p->log, e) == 0)
		return 0;
	origin_add(p->plan, "log", e);
	return -1;
}

/* ---- listeners ---- */

static bool
same_listeners(const struct listen_list *a, const struct listen_list *b)
{
	unsigned i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (!addr_equal(&a->entry[i].at, &b->entry[i].at) ||
		    a->entry[i].v6_only != b->entry[i].v6_only)
			return false;
	return true;
}

/* Connections, datagrams, or both at the same addresses. */
int
rooms_listen(struct pen *p, const struct listen_list *at, struct error *e)
{
	const struct frontend_options *o = frontend_options(p->frontend);
	struct frontend_address all[2 * LISTEN_MAX];
	unsigned i, n = 0;

	if (p->director != NULL)
		return direct_listen(p, at, e);
	for (i = 0; i < at->count; i++) {
		all[n] = at->entry[i];
		all[n++].datagram = o->udp;
		if (!o->dns)
			continue;
		all[n] = at->entry[i];
		all[n++].datagram = false;
	}
	return frontend_relisten(p->frontend, all, n, e);
}

/* Direct return has a tarpit beside the addresses it listens at. */
static int
listen_anew(struct pen *p, const struct plan *draft, struct error *e)
{
	struct error again;

	if (direct_set_tarpit(p, draft, e) < 0)
		return -1;
	if (same_listeners(&p->plan->listen, &draft->listen) ||
	    rooms_listen(p, &draft->listen, e) == 0)
		return 0;
	if (direct_set_tarpit(p, p->plan, &again) < 0)
		log_error("tarpit does not go back error=\"%s\"", again.text);
	return -1;
}

/* ---- all of them ---- */

static int
prepare_running(
    struct pen *p, const struct plan *draft, struct changes *c, struct error *e)
{
	const char *before = p->plan->config.log, *now = draft->config.log;

	if (preflight_settings(p, draft, e) < 0 ||
	    direct_prepare(p, draft, e) < 0)
		return -1;
	c->log_changed = !text_equal(before, now);
	if (c->log_changed && open_log(p, now, &c->log, e) < 0) {
		origin_add(draft, "log", e);
		return -1;
	}
	if (secure_prepare(p, draft, &c->secure, e) == 0) {
		if (listen_anew(p, draft, e) == 0)
			return 0;
		secure_cancel(&c->secure);
	}
	requestlog_close(c->log);
	return -1;
}

/* The draft's, with all clients still known: they are forgotten when nothing can
 * fail any more. */
static int
set_pool(struct pen *p, const struct plan *draft)
{
	struct pool_options o = draft->config.pool;

	o.sticky = o.sticky || pool_options(p->pool)->sticky;
	return pool_set_options(p->pool, &o);
}

int
rooms_prepare(
    struct pen *p, const struct plan *draft, struct changes *c, struct error *e)
{
	if (set_pool(p, draft) < 0)
		return error_set(e, "out of memory");
	if (p->frontend == NULL || prepare_running(p, draft, c, e) == 0)
		return 0;
	(void)pool_set_options(p->pool, &p->plan->config.pool);
	return -1;
}

/* Without their memory if that is not wanted: giving it up cannot fail. */
static void
forget_clients(struct pen *p, const struct pool_options *wanted)
{
	if (pool_options(p->pool)->sticky != wanted->sticky)
		(void)pool_set_options(p->pool, wanted);
}

void
rooms_commit(struct pen *p, const struct plan *draft, struct changes *c)
{
	forget_clients(p, &draft->config.pool);
	if (p->frontend == NULL)
		return;
	if (c->log_changed) {
		frontend_set_requestlog(p->frontend, c->log);
		requestlog_close(p->log);
		p->log = c->log;
	}
	frontend_set_options(p->frontend, &draft->config.frontend);
	secure_commit(p, draft, &c->secure);
	direct_commit(p, draft);
	checks_commit(p, draft);
}
