/* server.c: what one server has, and questions about it. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pool/server/server.h"

static const struct addr no_addr;
/* Never written: see server_counts(). */
static const struct server_counters no_counters;

static struct server_counters *
nothing_counted(void)
{
	return (struct server_counters *)(uintptr_t)&no_counters;
}

/* ---- what it has ---- */

void
server_init(struct server *s)
{
	*s = (struct server){ .addrs = { .addr = &no_addr },
		.counters = nothing_counted() };
	s->set.acl = -1;
}

static void
free_addrs(struct server *s)
{
	if (s->addrs.addr != &no_addr)
		free((void *)(uintptr_t)s->addrs.addr);
}

void
server_fini(struct server *s)
{
	free_addrs(s);
	free(s->name);
	free(s->host);
	free(s->own_counters);
	free(s->reason);
	free(s->fault);
}

int
server_set_addrs(struct server *s, const struct server_addrs *a)
{
	const struct addr *list = &no_addr;
	struct addr *own;

	if (a->count > 0) {
		own = malloc(a->count * sizeof(*own));
		if (own == NULL)
			return -1;
		list = memcpy(own, a->addr, a->count * sizeof(*own));
	}
	free_addrs(s);
	s->addrs = (struct server_addr_list){ a->count, list };
	return 0;
}

struct server_addrs
server_addrs(const struct server *s)
{
	struct server_addrs a = { .count = s->addrs.count };

	memcpy(a.addr, s->addrs.addr, a.count * sizeof(a.addr[0]));
	return a;
}

bool
server_has_addrs(const struct server *s, const struct server_addrs *a)
{
	unsigned i;

	if (s->addrs.count != a->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (!addr_equal(&s->addrs.addr[i], &a->addr[i]))
			return false;
	return true;
}

int
server_find_addr(const struct server *s, const struct addr *at)
{
	unsigned i;

	for (i = 0; i < s->addrs.count; i++)
		if (addr_equal(&s->addrs.addr[i], at))
			return (int)i;
	return -1;
}

bool
server_counts(const struct server *s)
{
	return s->counters != &no_counters;
}

int
server_begin_counting(struct server *s)
{
	if (server_counts(s))
		return 0;
	s->own_counters = calloc(1, sizeof(*s->own_counters));
	if (s->own_counters == NULL)
		return -1;
	s->counters = s->own_counters;
	return 0;
}

/* Copies a reason, which may come from a peer, without quotes and control
 * characters: it goes to the log and into reports. */
static void
copy_reason(char to[SERVER_REASON_MAX], const char *reason)
{
	size_t n;

	for (n = 0; n < SERVER_REASON_MAX - 1 && reason[n] != '\0'; n++)
		to[n] = reason[n] == '"'		 ? '\''
		    : reason[n] < ' ' || reason[n] > '~' ? '?'
							 : reason[n];
	to[n] = '\0';
}

/* The text may be what *reason is now. */
void
server_set_reason(char **reason, const char *text)
{
	char copy[SERVER_REASON_MAX];

	copy_reason(copy, text);
	if (*reason != NULL && strcmp(*reason, copy) == 0)
		return;
	free(*reason);
	*reason = copy[0] != '\0' ? strdup(copy) : NULL;
}

/* ---- questions ---- */

enum server_state
server_state(const struct server *s)
{
	if (!s->present && !s->unresolved)
		return s->addrs.count > 0 ? SERVER_REMOVED : SERVER_EMPTY;
	if (s->admin != SERVER_ENABLED)
		return s->admin == SERVER_DRAINING ? SERVER_DRAIN
						   : SERVER_MAINT;
	if (s->health.down || s->unresolved)
		return SERVER_DOWN;
	if (s->blacklisted_until != 0)
		return s->checked && !s->by_operator ? SERVER_SUSPECT
						     : SERVER_BLACKLISTED;
	return SERVER_UP;
}

const char *
server_role_name(enum server_role role)
{
	static const char *const roles[] = { "regular", "emergency", "abuse" };

	return roles[role];
}

const char *
server_state_name(enum server_state state)
{
	static const char *const names[SERVER_STATES] = {
		[SERVER_EMPTY] = "empty",
		[SERVER_REMOVED] = "removed",
		[SERVER_MAINT] = "maint",
		[SERVER_DRAIN] = "drain",
		[SERVER_DOWN] = "down",
		[SERVER_SUSPECT] = "suspect",
		[SERVER_BLACKLISTED] = "blacklisted",
		[SERVER_UP] = "up",
	};

	return names[state];
}

bool
server_is_healthy(const struct server *s)
{
	return server_state(s) == SERVER_UP;
}
