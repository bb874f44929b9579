/* on_state.c: the queue of changes, and their programs. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/list.h"
#include "base/log.h"
#include "control/life/on_state.h"

/* The data for a program, as it was at the moment of the change. */
struct change {
	struct list link;
	struct on_state *owner;
	struct program_run *run; /* NULL: waits */
	unsigned server;
	char *program;
	struct environment env;
};

struct on_state {
	struct loop *loop;
	struct programs *programs;
	struct list waiting, running;
	unsigned waits, runs;
	uint64_t dropped;
	struct task task;
};

static void
free_change(struct change *c)
{
	list_remove(&c->link);
	environment_fini(&c->env);
	free(c->program);
	free(c);
}

/* ---- programs ---- */

static bool
runs_already(struct on_state *o, unsigned server)
{
	struct list *link;

	for (link = o->running.next; link != &o->running; link = link->next)
		if (container_of(link, struct change, link)->server == server)
			return true;
	return false;
}

/* The first change of a server that has no program running, or NULL. */
static struct change *
next_change(struct on_state *o)
{
	struct list *link;

	for (link = o->waiting.next; link != &o->waiting; link = link->next) {
		struct change *c = container_of(link, struct change, link);

		if (!runs_already(o, c->server))
			return c;
	}
	return NULL;
}

static void
on_state_on_end(void *arg, const struct program_result *r)
{
	struct change *c = arg;
	struct on_state *o = c->owner;
	char text[PROGRAM_TEXT_MAX];

	if (r->end != PROGRAM_EXITED || r->code != 0)
		log_warn("on_state failed server=%u program=%s error=\"%s\"",
		    c->server, c->program, program_result_text(r, text));
	o->runs--;
	free_change(c);
	loop_soon(o->loop, &o->task);
}

static void
on_state_start(struct on_state *o, struct change *c)
{
	char *argv[] = { c->program, NULL };
	struct program_options options = { .argv = argv,
		.env = c->env.list,
		.limit_ms = ON_STATE_LIMIT_MS,
		.on_end = on_state_on_end,
		.arg = c };

	o->waits--;
	c->run = program_start(o->programs, &options);
	if (c->run == NULL) {
		log_error("on_state failed server=%u program=%s error=\"%s\"",
		    c->server, c->program, strerror(errno));
		free_change(c);
		return;
	}
	o->runs++;
	list_remove(&c->link);
	list_append(&o->running, &c->link);
}

static void
on_task(struct task *t)
{
	struct on_state *o = container_of(t, struct on_state, task);
	struct change *c;

	while (o->runs < ON_STATE_RUNNING && (c = next_change(o)) != NULL)
		on_state_start(o, c);
}

/* ---- changes ---- */

static void
on_state_describe(struct change *c, const char *service, const struct server *s,
    const struct server_change *w)
{
	char host[ADDR_TEXT_MAX] = "", port[8] = "";

	if (s->addrs.count > 0) {
		const struct addr *a = &s->addrs.addr[s->addr_first];

		addr_format_host(a, host);
		if (a->u.sa.sa_family != AF_UNIX)
			snprintf(port, sizeof(port), "%u", addr_port(a));
	}
	environment_init(&c->env);
	environment_add(&c->env, "PEN_SERVICE", "%s", service);
	environment_add(&c->env, "PEN_SERVER", "%u", s->number);
	environment_add(&c->env, "PEN_NAME", "%s", s->name);
	environment_add(&c->env, "PEN_ADDRESS", "%s", host);
	environment_add(&c->env, "PEN_PORT", "%s", port);
	environment_add(&c->env, "PEN_STATE", "%s", server_state_name(w->is));
	environment_add(&c->env, "PEN_WAS", "%s", server_state_name(w->was));
	environment_add(&c->env, "PEN_REASON", "%s", server_reason(s));
}

static struct change *
new_change(struct on_state *o, const char *program, const char *service,
    const struct server *s, const struct server_change *w)
{
	struct change *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->owner = o;
	c->server = s->number;
	list_init(&c->link);
	c->program = strdup(program);
	on_state_describe(c, service, s, w);
	if (c->program != NULL && !c->env.failed)
		return c;
	free_change(c);
	return NULL;
}

static void
on_state_drop(struct on_state *o, const struct server *s, const char *why)
{
	o->dropped++;
	log_warn("on_state dropped server=%u error=\"%s\" dropped=%llu",
	    s->number, why, (unsigned long long)o->dropped);
}

void
on_state_add(struct on_state *o, const char *program, const char *service,
    const struct server *s, const struct server_change *w)
{
	struct change *c;

	if (o->waits >= ON_STATE_WAITING) {
		on_state_drop(o, s, "too many queued changes");
		return;
	}
	c = new_change(o, program, service, s, w);
	if (c == NULL) {
		on_state_drop(o, s, "out of memory");
		return;
	}
	list_append(&o->waiting, &c->link);
	o->waits++;
	loop_soon(o->loop, &o->task);
}

/* ---- life ---- */

struct on_state *
on_state_new(struct loop *l, struct programs *programs)
{
	struct on_state *o = calloc(1, sizeof(*o));

	if (o == NULL)
		return NULL;
	o->loop = l;
	o->programs = programs;
	list_init(&o->waiting);
	list_init(&o->running);
	o->task.run = on_task;
	list_init(&o->task.link);
	return o;
}

void
on_state_free(struct on_state *o)
{
	struct list *link;

	if (o == NULL)
		return;
	while ((link = list_first(&o->waiting)) != NULL)
		free_change(container_of(link, struct change, link));
	while ((link = list_first(&o->running)) != NULL) {
		struct change *c = container_of(link, struct change, link);

		program_cancel(c->run);
		free_change(c);
	}
	list_remove(&o->task.link);
	free(o);
}
