/* own_servers.c: see own_servers.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/words.h"
#include "control/apply/apply.h"
#include "control/apply/circles.h"
#include "control/apply/direct.h"
#include "control/apply/own_servers.h"
#include "control/plan/check_plan.h"
#include "control/value/own_address.h"

const char *
own_server_title(unsigned slot, char text[OWN_TITLE_MAX])
{
	if (slot == SLOT_EMERGENCY)
		snprintf(text, OWN_TITLE_MAX, "the emergency server");
	else if (slot == SLOT_ABUSE)
		snprintf(text, OWN_TITLE_MAX, "the abuse server");
	else
		snprintf(text, OWN_TITLE_MAX, "server %u", server_number(slot));
	return text;
}

bool
own_servers_are_looked_up(const struct apply *a)
{
	struct names_range r = names_range(a->names, a->service);

	return r.from < r.past;
}

/* ---- an address ---- */

static int
check_not_in(const struct apply *a, const struct listen_list *own,
    const char *what, unsigned slot, const struct addr *at, struct error *e)
{
	char text[ADDR_TEXT_MAX], name[OWN_TITLE_MAX];
	unsigned k;

	for (k = 0; k < own->count; k++)
		if (own_address_is(&own->entry[k], &a->wanted->listen, at))
			return error_set(e, "%s is %s %s %s",
			    own_server_title(slot, name),
			    addr_is_multicast(at) ? "a group that leads to "
						    "pen's own"
						  : "pen's own",
			    what, addr_format(at, text));
	return 0;
}

/* Each client would command pen as pen may, or the bytes of a check would. */
static int
check_no_control(const struct apply *a, unsigned slot, const struct addr *at,
    struct error *e)
{
	const struct server_plan *s = plan_slot(a->wanted, slot);
	const struct process_plan *process = a->draft->process;
	const struct control_plan *c = process->controls;
	const struct control_plan *end = c + process->control_count;
	uint16_t port = check_plan_port(a->wanted, s);
	struct addr checked = *at;

	addr_set_port(&checked, port);
	if (s->check_address != NULL)
		(void)addr_parse_ip(&checked, s->check_address, port);
	for (; c < end; c++)
		if (check_not_in(a, &c->at, "control socket", slot, at, e) <
			0 ||
		    check_not_in(a, &c->at, "control socket", slot, &checked,
			e) < 0)
			return -1;
	return 0;
}

static int
own_servers_check_one(const struct apply *a, unsigned slot,
    const struct addr *at, struct error *e)
{
	if (check_no_control(a, slot, at, e) < 0)
		return -1;
	return direct_is_wanted(a->wanted)
	    ? 0
	    : check_not_in(a, &a->wanted->listen, "listening address", slot,
		  at, e);
}

/* Of a name that was looked up while all services have their servers. */
static int
own_servers_check_found(const struct apply *a, unsigned slot,
    const struct addr *at, struct error *e)
{
	char text[ADDR_TEXT_MAX], name[OWN_TITLE_MAX];

	if (own_servers_check_one(a, slot, at, e) < 0)
		return -1;
	if (direct_is_wanted(a->wanted) || !circles_by(a, at))
		return 0;
	return error_set(e, "%s is a service of pen that leads back to it %s",
	    own_server_title(slot, name), addr_format(at, text));
}

/* ---- those of a server ---- */

/* Whether the draft changes nothing that decides it. */
static bool
is_as_before(const struct apply *a, unsigned slot, const struct addr *at)
{
	const struct server_plan *now = plan_slot(a->now, slot);
	const struct server_plan *s = plan_slot(a->wanted, slot);
	const struct server *old = pool_slot(a->service->pool, slot);

	return a->pen->phase >= PHASE_SERVING && now != NULL && old != NULL &&
	    now->host != NULL && strcmp(now->host, s->host) == 0 &&
	    old->present && server_find_addr(old, at) >= 0 &&
	    listen_list_equal(&a->now->listen, &a->wanted->listen);
}

int
own_servers_check(const struct apply *a, unsigned slot,
    const struct server_addrs *found, struct error *e)
{
	unsigned i;

	for (i = 0; i < found->count; i++)
		if (is_as_before(a, slot, &found->addr[i])
			? check_no_control(a, slot, &found->addr[i], e) < 0
			: own_servers_check_one(a, slot, &found->addr[i], e) <
			    0)
			return -1;
	return 0;
}

/* ---- names that are looked up again ---- */

/* Logs a line when an address is refused; the next one only after a time
 * without refused addresses. */
static void
own_servers_note(const struct apply *a, unsigned slot, bool refused,
    const struct error *e)
{
	struct server *s = pool_slot(a->service->pool, slot);

	if (s == NULL || !pool_refuse_address(s, refused) || !refused ||
	    a->pen->role.member > 0)
		return;
	log_warn("address of a name refused server=%u name=%s error=\"%s\"%s",
	    server_number(slot), plan_slot(a->wanted, slot)->host, e->text,
	    a->service->label);
}

void
own_servers_exclude(
    const struct apply *a, unsigned slot, struct server_addrs *found)
{
	const struct server *old = pool_slot(a->service->pool, slot);
	struct server_addrs left = { .count = 0 };
	struct error e;
	unsigned i;

	for (i = 0; i < found->count; i++)
		if (own_servers_check_found(a, slot, &found->addr[i], &e) == 0)
			left.addr[left.count++] = found->addr[i];
	own_servers_note(a, slot, left.count < found->count, &e);
	if (left.count == 0 && found->count > 0 && old != NULL && old->present)
		*found = server_addrs(old);
	else
		*found = left;
}

bool
own_servers_find(const struct apply *a, unsigned slot,
    const struct resolved *r, bool own[RESOLVE_MAX])
{
	const struct server_plan *s = plan_slot(a->wanted, slot);
	bool any = false, others = false;
	struct error e;
	struct addr at;
	unsigned i;

	for (i = 0; i < r->count; i++) {
		at = r->addr[i];
		addr_set_port(
		    &at, r->service[i].there ? r->service[i].port : s->port);
		own[i] = own_servers_check_found(a, slot, &at, &e) < 0;
		any = any || own[i];
		others = others || !own[i];
	}
	own_servers_note(a, slot, any, &e);
	return others;
}
