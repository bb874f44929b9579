/* frontend.c: listeners and limits; moves no byte itself. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "proxy/dummy.h"
#include "proxy/dump.h"
#include "proxy/frontend_private.h"
#include "proxy/session.h"

void
frontend_options_init(struct frontend_options *o)
{
	*o = (struct frontend_options){
		.connect_timeout_ms = 3000,
		.half_timeout_ms = 3600 * 1000,
		.linger_ms = 30 * 1000,
		.accept_max = 64,
		.backlog = 4096,
		.nodelay = true,
		.splice = true,
	};
}

/* ---- limits ---- */

/* Pauses or resumes the listeners when a limit has been reached or left. */
static void
check_limits(struct frontend *f)
{
	const struct frontend_options *o = &f->options;
	bool full = f->stats.sessions >= o->sessions_max ||
	    (o->pending_max > 0 && f->stats.connecting >= o->pending_max);
	struct list *link;

	if (full == f->full || !f->started)
		return;
	f->full = full;
	for (link = f->listeners.next; link != &f->listeners;
	     link = link->next) {
		struct frontend_listener *fl =
		    list_entry(link, struct frontend_listener, link);

		if (full)
			listener_pause(&fl->listener);
		else
			listener_resume(&fl->listener);
	}
}

void
frontend_client_in(struct frontend *f)
{
	f->stats.accepted++;
	f->stats.sessions++;
	if (f->stats.sessions > f->stats.sessions_peak)
		f->stats.sessions_peak = f->stats.sessions;
	check_limits(f);
}

void
frontend_client_out(struct frontend *f, enum reason why)
{
	f->stats.sessions--;
	f->stats.reasons[why]++;
	check_limits(f);
}

void
frontend_connecting(struct frontend *f, bool begins)
{
	if (begins)
		f->stats.connecting++;
	else
		f->stats.connecting--;
	check_limits(f);
}

static void
on_accept(struct listener *l, int fd, const struct peer *who)
{
	struct frontend *f = l->arg;

	if (f->options.dummy)
		dummy_start(f, fd);
	else
		session_start(f, fd, who);
}

/* ---- settings ---- */

static void
apply_options(struct frontend *f)
{
	f->share.keep_max = f->options.buffer;
	f->share.splice = f->options.splice;
	f->share.kernel_pipes_max = f->options.kernel_pipes_max;
	f->share.tap = f->options.dump > 0 ? dump_bytes : NULL;
	f->share.tap_arg = &f->options.dump;
	check_limits(f);
}

const struct frontend_options *
frontend_options(const struct frontend *f)
{
	return &f->options;
}

void
frontend_set_options(struct frontend *f, const struct frontend_options *o)
{
	f->options = *o;
	apply_options(f);
}

const struct frontend_stats *
frontend_stats(const struct frontend *f)
{
	return &f->stats;
}

/* ---- life ---- */

struct frontend *
frontend_new(struct loop *l, struct pool *p, const struct frontend_options *o,
    struct error *e)
{
	struct frontend *f = calloc(1, sizeof(*f));

	if (f == NULL || pipe_share_init(&f->share) < 0) {
		free(f);
		error_set(e, "out of memory");
		return NULL;
	}
	f->loop = l;
	f->pool = p;
	list_init(&f->listeners);
	list_init(&f->sessions);
	list_init(&f->dummies);
	session_init_timeouts(f);
	f->options = *o;
	apply_options(f);
	return f;
}

void
frontend_free(struct frontend *f)
{
	if (f == NULL)
		return;
	frontend_stop(f);
	session_close_all(f);
	dummy_close_all(f);
	timeouts_fini(&f->connecting);
	timeouts_fini(&f->busy);
	timeouts_fini(&f->unsent);
	timeouts_fini(&f->idle);
	timeouts_fini(&f->half);
	timeouts_fini(&f->lingering);
	pipe_share_fini(&f->share);
	free(f);
}

int
frontend_listen(
    struct frontend *f, const struct addr *at, bool v6_only, struct error *e)
{
	struct frontend_listener *fl = calloc(1, sizeof(*fl));
	struct sock_listen_options o = {
		.backlog = f->options.backlog,
		.v6_only = v6_only,
		.nodelay = f->options.nodelay,
	};

	if (fl == NULL)
		return error_set(e, "out of memory");
	if (listener_open(&fl->listener, f->loop, at, &o, e) < 0) {
		free(fl);
		return -1;
	}
	fl->listener.budget = f->options.accept_max;
	fl->listener.on_accept = on_accept;
	fl->listener.arg = f;
	list_append(&f->listeners, &fl->link);
	return 0;
}

int
frontend_start(struct frontend *f)
{
	struct list *link;

	f->started = true;
	for (link = f->listeners.next; link != &f->listeners; link = link->next)
		if (listener_resume(
			&list_entry(link, struct frontend_listener, link)
			     ->listener) < 0)
			return -1;
	return 0;
}

void
frontend_stop(struct frontend *f)
{
	struct list *link;

	while ((link = list_first(&f->listeners)) != NULL) {
		struct frontend_listener *fl =
		    list_entry(link, struct frontend_listener, link);

		list_remove(link);
		listener_close(&fl->listener);
		free(fl);
	}
}
