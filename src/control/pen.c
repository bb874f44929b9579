/* pen.c: puts the rooms together, in order, and takes them apart again. */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "control/pen.h"
#include "control/report.h"
#include "net/sock.h"
#include "pool/balance.h"

/* Descriptors of the process itself, those kept back for all but the sockets of
 * sessions, and kernel pipes. */
enum { OWN_DESCRIPTORS = 16, RESERVE_MAX = 1000, KERNEL_PIPES_MAX = 4096 };

/* ---- settings to rooms ---- */

/* Pen's precedence: prio, weight, hash, round robin. A client goes back to its
 * last server only when no mode was asked for, or `sticky` was. */
static void
derive_pool_options(const struct mode_options *m, struct pool_options *o)
{
	bool plain =
	    !m->roundrobin && !m->hash && !m->weight && !m->prio && !m->balance;

	o->balance = balance_find(m->balance != NULL ? m->balance
		: m->prio			     ? "prio"
		: m->weight			     ? "wleastconn"
		: m->hash			     ? "hash"
						     : "roundrobin");
	o->sticky = m->sticky_set ? m->sticky : plain;
	o->stubborn = m->stubborn;
	o->hash_port = m->roundrobin;
}

int
pen_apply(struct pen *p, struct error *e)
{
	struct config *c = &p->config;

	derive_pool_options(&c->mode, &c->pool);
	if (pool_set_options(p->pool, &c->pool) < 0)
		return error_set(e, "out of memory");
	log_level = c->debug > 0 ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO;
	c->frontend.dump = c->debug < 2 ? 0 : c->ascii ? 2 : 1;
	if (p->frontend != NULL)
		frontend_set_options(p->frontend, &c->frontend);
	return 0;
}

/* Shares the descriptors out: two a session, the rest for kernel pipes. */
static void
share_descriptors(struct frontend_options *o, unsigned listeners)
{
	size_t limit = sock_raise_fd_limit(), own = OWN_DESCRIPTORS + listeners;
	size_t reserve = own + limit / 20, most, left;

	if (reserve > RESERVE_MAX)
		reserve = RESERVE_MAX;
	most = limit > own + 2 ? (limit - own) / 2 : 1;
	if (o->sessions_max == 0)
		o->sessions_max =
		    limit > reserve + 2 ? (limit - reserve) / 2 : 1;
	if (o->sessions_max > most) {
		log_warn("conn_max lowered from=%llu to=%zu descriptors=%zu",
		    (unsigned long long)o->sessions_max, most, limit);
		o->sessions_max = most;
	}
	left = limit - 2 * (size_t)o->sessions_max;
	left = left > own ? (left - own) / 2 : 0;
	o->kernel_pipes_max = left < KERNEL_PIPES_MAX ? left : KERNEL_PIPES_MAX;
}

/* ---- signals ---- */

static void
on_stop(void *arg)
{
	struct pen *p = arg;

	loop_stop(p->loop);
}

static void
on_hangup(void *arg)
{
	(void)arg;
	log_info("nothing to reload");
}

static void
on_statistics(void *arg)
{
	struct buffer text;
	char *line, *rest = NULL;

	buffer_init(&text);
	report_statistics(arg, &text);
	(void)buffer_append(&text, "", 1);
	for (line = buffer_length(&text) > 0 ? strtok_r(text.data, "\n", &rest)
					     : NULL;
	     line != NULL; line = strtok_r(NULL, "\n", &rest))
		log_write(NULL, LOG_LEVEL_INFO, "%s", line);
	buffer_fini(&text);
}

static int
catch_signals(struct pen *p, struct error *e)
{
	signal(SIGPIPE, SIG_IGN);
	if (loop_on_signal(p->loop, SIGTERM, on_stop, p) < 0 ||
	    loop_on_signal(p->loop, SIGINT, on_stop, p) < 0 ||
	    loop_on_signal(p->loop, SIGHUP, on_hangup, p) < 0 ||
	    loop_on_signal(p->loop, SIGUSR1, on_statistics, p) < 0)
		return error_set(e, "cannot catch signals");
	return 0;
}

/* ---- life ---- */

struct pen *
pen_new(void)
{
	struct pen *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	pool_options_init(&p->config.pool);
	frontend_options_init(&p->config.frontend);
	p->pool = pool_new();
	if (p->pool == NULL) {
		free(p);
		return NULL;
	}
	return p;
}

void
pen_free(struct pen *p)
{
	if (p == NULL)
		return;
	control_free(p->control);
	frontend_free(p->frontend);
	pool_free(p->pool);
	loop_free(p->loop);
	free(p);
}

/* Whoever reaches a TCP port commands the process: not one that is root. */
static int
open_control(struct pen *p, struct error *e)
{
	unsigned i;

	p->control = control_new(p, p->loop);
	if (p->control == NULL)
		return error_set(e, "out of memory");
	for (i = 0; i < p->control_at.count; i++) {
		const struct addr *at = &p->control_at.entry[i].at;

		if (at->u.sa.sa_family != AF_UNIX && geteuid() == 0 &&
		    p->config.process.user == NULL)
			return error_set(e,
			    "a TCP control port is refused as "
			    "root: use -u USER, or a path");
		if (control_listen(p->control, at, e) < 0)
			return -1;
	}
	return 0;
}

int
pen_start(struct pen *p, struct error *e)
{
	unsigned i;

	share_descriptors(&p->config.frontend, p->listen.count);
	if (pen_apply(p, e) < 0)
		return -1;
	p->loop = loop_new(p->config.method, e);
	if (p->loop == NULL)
		return -1;
	p->frontend = frontend_new(p->loop, p->pool, &p->config.frontend, e);
	if (p->frontend == NULL)
		return -1;
	for (i = 0; i < p->listen.count; i++)
		if (frontend_listen(p->frontend, &p->listen.entry[i].at,
			p->listen.entry[i].v6_only, e) < 0)
			return -1;
	if (open_control(p, e) < 0)
		return -1;
	return catch_signals(p, e);
}

int
pen_run(struct pen *p)
{
	if (frontend_start(p->frontend) < 0 || control_start(p->control) < 0)
		return -1;
	return loop_run(p->loop);
}
