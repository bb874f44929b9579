/* apply_log.c: the log of requests of a plan. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "control/apply.h"
#include "control/origin.h"
#include "net/resolve.h"
#include "proxy/requestlog.h"

/* HOST:PORT, by UDP; all else is a file. */
static bool
is_remote(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon != NULL && colon != text && colon[1] != '\0' &&
	    strchr(text, '/') == NULL;
}

int
apply_log_find(
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
		    p->phase < PHASE_SERVING ? RESOLVE_NAMES : RESOLVE_NUMERIC,
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
	if (apply_log_find(p, text, &to, &why) == 0)
		*log = to.len > 0 ? requestlog_open_udp(p->loop, &to, &why)
				  : requestlog_open_file(p->loop, text, &why);
	if (*log != NULL)
		return 0;
	return error_set(e, "log \"%.200s\": %.250s", text, why.text);
}

int
apply_log_prepare(struct apply *a, struct error *e)
{
	const char *before = a->now->config.log, *now = a->wanted->config.log;

	a->log_changed = a->first || !text_equal(before, now);
	if (!a->log_changed || open_log(a->pen, now, &a->log, e) == 0)
		return 0;
	origin_add(a->wanted, "log", e);
	return -1;
}

void
apply_log_cancel(struct apply *a)
{
	requestlog_close(a->log);
}

void
apply_log_commit(struct apply *a)
{
	struct pen *p = a->pen;

	if (!a->log_changed)
		return;
	frontend_set_requestlog(p->frontend, a->log);
	requestlog_close(p->log);
	p->log = a->log;
}
