/* peer_marks.c: see peer_marks.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/log.h"
#include "control/apply/services.h"
#include "control/life/context.h"
#include "control/peers/peer_marks.h"
#include "control/socket/request.h"

/* In a turn. Each copies the plan. */
enum { MARKS = 10 };

void
peer_marks_clear(struct peer_marks *m)
{
	m->count = 0;
}

void
peer_marks_fini(struct peer_marks *m)
{
	free(m->list);
	*m = (struct peer_marks){ .count = 0 };
}

static uint32_t
id_of(const struct peer *who)
{
	return (uint32_t)hash_stable(who->ip, sizeof(who->ip)) | 1;
}

/* Whether it is to be set, or the one that this peer had is to end. */
static bool
is_due(const struct server *s, enum server_admin admin, uint32_t peer)
{
	if (s->role != SERVER_REGULAR)
		return false;
	if (s->mark.peer == peer)
		return admin != s->mark.admin;
	return admin != SERVER_ENABLED && s->admin == SERVER_ENABLED;
}

/* The report that waits of that server, by that peer. */
static struct peer_mark *
find_mark(const struct peer_marks *m, const struct service *svc,
    const struct server *s, const struct peer *who)
{
	uint32_t i;

	for (i = 0; i < m->count; i++)
		if (m->list[i].slot == s->slot && m->list[i].service == svc &&
		    peer_same_host(&m->list[i].who, who))
			return &m->list[i];
	return NULL;
}

void
peer_marks_add(struct peer_marks *m, struct service *svc,
    const struct server *s, enum server_admin admin, const struct peer *who)
{
	struct peer_mark *list, *waits = find_mark(m, svc, s, who);

	if (waits != NULL)
		waits->admin = admin;
	if (waits != NULL || !is_due(s, admin, id_of(who)))
		return;
	list = array_grow(m->list, &m->room, sizeof(*list), m->count);
	if (list == NULL)
		return;
	m->list = list;
	list[m->count++] = (struct peer_mark){
		.service = svc,
		.slot = s->slot,
		.admin = admin,
		.who = *who,
		.digest = s->digest
	};
}

void
peer_marks_end(struct peer_marks *m, const struct peer *who)
{
	uint32_t i, left = 0;

	for (i = 0; i < m->count; i++)
		if (!m->list[i].held || !peer_same_host(&m->list[i].who, who))
			m->list[left++] = m->list[i];
	m->count = left;
}

/* ---- a command ---- */

/* The command has waited for names: it is carried out with the next report. */
static void
on_wake(struct request *q)
{
	(void)q;
}

static int
run_command(const struct peer_mark *m, const char *line)
{
	/* its service stays: it has a prompt */
	struct caller caller = { .access = ACCESS_ADMIN, .prompt = true };
	char who[PEER_TEXT_MAX];
	struct request q;
	int rc = -1;

	snprintf(caller.who, sizeof(caller.who), "by peer %s",
	    peer_format_host(&m->who, who));
	snprintf(
	    caller.service, sizeof(caller.service), "%s", m->service->name);
	request_init(&q, m->service->pen, &caller, on_wake);
	if (request_begin(&q, line) == 0 && request_run(&q) == REQUEST_DONE &&
	    !q.failed)
		rc = 0;
	if (q.failed)
		log_warn("mark of a peer not set peer=%s error=\"%s\"", who,
		    q.error.text);
	request_fini(&q);
	return rc;
}

static const char *const words[] = { [SERVER_ENABLED] = "up",
	[SERVER_DRAINING] = "drain",
	[SERVER_DISABLED] = "maint" };

/* Whether no server is up but this one, which would not be any more. */
static bool
takes_the_last(const struct peer_mark *m, const struct server *s)
{
	const struct pool *pool = m->service->pool;
	unsigned i;

	if (m->admin == SERVER_ENABLED || server_state(s) != SERVER_UP)
		return false;
	for (i = 0; i < pool_count(pool); i++)
		if (pool_server(pool, i) != s &&
		    server_state(pool_server(pool, i)) == SERVER_UP)
			return false;
	return true;
}

/* Leaves the mark for a later turn, as no other server is up; logs that
 * once. */
static void
defer_mark(struct peer_mark *m, const struct server *s)
{
	char who[PEER_TEXT_MAX];

	if (!m->held)
		log_warn("mark of a peer waits peer=%s server=%u mark=%s "
			 "error=\"no other server is up\"%s",
		    peer_format_host(&m->who, who), s->number, words[m->admin],
		    m->service->label);
	m->held = true;
}

/* Returns whether it must wait. */
static bool
set_mark(struct peer_mark *m)
{
	struct server_mark mark = { .peer = id_of(&m->who),
		.admin = m->admin };
	struct server *s = pool_slot(m->service->pool, m->slot);
	char line[64];

	if (s == NULL || !s->present || s->digest != m->digest ||
	    !is_due(s, m->admin, mark.peer))
		return false;
	if (takes_the_last(m, s)) {
		defer_mark(m, s);
		return true;
	}
	snprintf(line, sizeof(line), "server %u %s", s->number,
	    words[m->admin]);
	if (!(m->admin == SERVER_ENABLED && s->mark.overruled) &&
	    run_command(m, line) < 0)
		return false;
	if (m->admin == SERVER_ENABLED)
		mark.peer = 0;
	pool_note_mark(s, &mark);
	return false;
}

void
peer_marks_set(struct peer_marks *m)
{
	uint32_t n = m->count < MARKS ? m->count : MARKS, i, held = 0;
	struct peer_mark one, wait[MARKS];

	m->setting = true;
	for (i = 0; i < n && i < m->count; i++) {
		one = m->list[i];
		if (!one.service->leaves && set_mark(&one))
			wait[held++] = one;
	}
	m->setting = false;
	if (n > m->count) /* forgotten meanwhile */
		m->count = 0;
	if (m->count == 0) /* and there may be no list */
		return;
	memmove(m->list, m->list + n, (m->count - n) * sizeof(*m->list));
	memcpy(m->list + m->count - n, wait, held * sizeof(*m->list));
	m->count -= n - held;
}

unsigned
peer_marks_warn(const struct pen *p, const struct peer *who)
{
	char text[PEER_TEXT_MAX];
	const struct service *svc;
	const struct server *s;
	unsigned n = 0, i;

	SERVICE_EACH (p, svc)
		for (i = 0; i < pool_slots(svc->pool); i++) {
			s = pool_slot(svc->pool, i);
			n += s->mark.peer == id_of(who) && !s->mark.overruled;
		}
	if (n > 0)
		log_warn("marks of the peer remain client=%s servers=%u "
			 "hint=\"only a peer at that address can end them\"",
		    peer_format_host(who, text), n);
	return n;
}

void
peer_marks_note_change(struct server *s)
{
	struct server_mark mark = s->mark;

	if (mark.peer == 0 || s->admin == mark.admin)
		return;
	mark.overruled = true;
	pool_note_mark(s, &mark);
}
