/* server_find.c: see server_find.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/words.h"
#include "control/language/command.h"
#include "control/apply/expand.h"
#include "control/life/context.h"
#include "control/apply/server_find.h"

/* Servers listed in an error, up to 60 letters each; those that are compared
 * for a hint. */
enum { FOUND_MAX = 4, HINTS_MAX = 1000 };

/* The meaning of the word. */
struct wanted {
	char host[SPEC_TEXT_MAX];
	struct addr at; /* without port; if it is an IP address */
	bool ip, path;
	int port; /* -1: any */
};

struct search {
	const struct call *call;
	struct wanted wanted;
	unsigned count;
	unsigned slot[FOUND_MAX];
	void (*each)(void *arg, unsigned slot); /* NULL: they are counted */
	void *arg;
	unsigned parent; /* only its addresses, by number + 1; 0: any */
};

/* ---- the word ---- */

static int
server_find_parse_word(struct wanted *w, const char *word, struct error *e)
{
	const char *rest = "";
	char *host = addr_is_unix_text(word) ? strdup(word)
					     : spec_split_host(word, &rest, e);
	uint16_t port = 0;
	int rc = 0;

	*w = (struct wanted){ .port = -1, .path = addr_is_unix_text(word) };
	if (host == NULL)
		return error_set(e, "\"%.100s\" is not a server", word);
	w->ip = !w->path && addr_parse_ip(&w->at, host, 0) == 0;
	snprintf(w->host, sizeof(w->host), "%s", host);
	free(host);
	if (rest[0] == ':') {
		if (strcmp(rest, ":0") != 0)
			rc = resolve_port(rest + 1, &port, e);
		w->port = port;
	}
	return rc;
}

/* ---- servers that fit ---- */

/* An IPv4 address can be written in one way only. */
static bool
text_is_ip(const char *host, const struct wanted *w)
{
	struct addr a;

	if (host == NULL || w->at.u.sa.sa_family == AF_INET)
		return text_equal(host, w->host);
	return strchr(host, ':') != NULL && addr_parse_ip(&a, host, 0) == 0 &&
	    addr_equal(&a, &w->at);
}

/* Whether the server in force has the address: a name has several. */
static bool
server_find_has_address(const struct service *svc, unsigned slot,
    const struct server_plan *s, const struct addr *ip)
{
	const struct server_plan *now = plan_slot(svc->plan, slot);
	const struct server *have = pool_slot(svc->pool, slot);
	struct addr a;
	unsigned i;

	if (now == NULL || !text_equal(now->host, s->host) || have == NULL ||
	    !have->present)
		return false;
	for (i = 0; i < have->addrs.count; i++) {
		a = have->addrs.addr[i];
		addr_set_port(&a, 0);
		if (addr_equal(&a, ip))
			return true;
	}
	return false;
}

static bool
server_find_fits(const struct search *f, unsigned slot)
{
	const struct server_plan *s = plan_slot(f->call->plan, slot);
	const struct wanted *w = &f->wanted;

	if (s->host == NULL)
		return false;
	if (w->port >= 0 && w->port != s->port)
		return false;
	if (!w->ip)
		return w->path ? strcmp(s->host, w->host) == 0
			       : strcasecmp(s->host, w->host) == 0;
	return text_is_ip(s->host, w) || text_is_ip(s->address, w) ||
	    server_find_has_address(f->call->service, slot, s, &w->at);
}

/* Searches all servers, in the order of their numbers. */
static void
server_find_search(struct search *f)
{
	const struct plan *p = f->call->plan;
	unsigned slot, slots = plan_slots(p);

	for (slot = SLOTS_SPECIAL; slot < slots; slot++) {
		if (!server_find_fits(f, slot))
			continue;
		if (f->each == NULL) {
			if (f->count < FOUND_MAX)
				f->slot[f->count] = slot;
			f->count++;
		} else if (f->parent == 0 ||
		    plan_slot(p, slot)->parent == f->parent) {
			f->each(f->arg, slot);
		}
	}
}

/* ---- errors ---- */

static int
refuse_several(const struct search *f, const char *word, struct error *e)
{
	char list[FOUND_MAX * 75], one[SPEC_TEXT_MAX];
	size_t n = 0;
	unsigned i;

	for (i = 0; i < f->count && i < FOUND_MAX; i++)
		n +=
		    (size_t)snprintf(list + n, sizeof(list) - n, "%s%u (%.60s)",
			i > 0 ? ", " : "", server_number(f->slot[i]),
			spec_format_server(
			    plan_slot(f->call->plan, f->slot[i]), one));
	return error_set(e,
	    "\"%.60s\" matches several servers: %s%s; use a number", word,
	    list, f->count > FOUND_MAX ? " .." : "");
}

/* The host that was meant, of not too many. */
static const char *
nearest(const struct plan *p, const char *host)
{
	struct words_nearest n = words_nearest_to(host, true);
	const struct server_plan *s;
	unsigned slot;

	for (slot = SLOTS_SPECIAL;
	     slot < HINTS_MAX && (s = plan_slot(p, slot)) != NULL; slot++)
		if (s->host != NULL)
			words_nearest_offer(&n, s->host);
	return n.best;
}

static int
refuse_none(const struct search *f, const char *word, struct error *e)
{
	const char *near = nearest(f->call->plan, f->wanted.host);

	if (near != NULL)
		return error_set(e,
		    "there is no server \"%.100s\" (did you mean %.100s?)",
		    word, near);
	return error_set(e,
	    "there is no server \"%.100s\" (\"server add %.100s\" adds it)",
	    word, word);
}

int
server_find_refuse(const struct call *c, unsigned number, struct error *e)
{
	const struct plan *p = c->service->plan;
	unsigned count = plan_count(p);
	char last[64] = "";

	while (count > 0 && plan_server(p, count - 1)->host == NULL)
		count--;
	if (count > 0)
		snprintf(last, sizeof(last), "the last is %u; ", count - 1);
	return error_set(e,
	    "there is no server %u (%s\"server %u address HOST\" adds it)",
	    number, last, number);
}

/* ---- the server ---- */

static int
server_find_parse_number(const char *word, unsigned *number, struct error *e)
{
	uint64_t n;

	if (number_parse(word, 0, SERVERS_MAX - 1, &n) < 0)
		return error_set(e,
		    "\"%.100s\" is not a number from 0 to %d: a service has at "
		    "most %d servers",
		    word, SERVERS_MAX - 1, SERVERS_MAX);
	*number = (unsigned)n;
	return 0;
}

int
server_find(
    const struct call *c, const char *word, unsigned *number, struct error *e)
{
	struct search f = { .call = c };

	if (number_is_digits(word))
		return server_find_parse_number(word, number, e);
	if (server_find_parse_word(&f.wanted, word, e) < 0)
		return -1;
	server_find_search(&f);
	if (f.count == 0)
		return refuse_none(&f, word, e);
	if (f.count > 1)
		return refuse_several(&f, word, e);
	*number = server_number(f.slot[0]);
	return 0;
}

/* A server by its number, and the addresses of its name that have others. */
static int
find_number(struct search *f, const char *word, struct error *e)
{
	const struct server_plan *s;
	unsigned number = 0;

	if (server_find_parse_number(word, &number, e) < 0)
		return -1;
	s = plan_server(f->call->plan, number);
	if (s == NULL || s->host == NULL)
		return 0;
	f->each(f->arg, server_slot(number));
	if (!expand_is_wanted(s))
		return 0;
	f->parent = number + 1;
	f->wanted = (struct wanted){ .port = -1 };
	snprintf(f->wanted.host, sizeof(f->wanted.host), "%s", s->host);
	server_find_search(f);
	return 0;
}

int
server_find_check(const char *word, struct error *e)
{
	struct wanted w;
	unsigned number;

	return number_is_digits(word)
	    ? server_find_parse_number(word, &number, e)
	    : server_find_parse_word(&w, word, e);
}

int
server_find_each(const struct call *c, const char *word,
    void (*visit_one)(void *arg, unsigned slot), void *arg, struct error *e)
{
	struct search f = { .call = c, .each = visit_one, .arg = arg };

	if (number_is_digits(word))
		return find_number(&f, word, e);
	if (server_find_parse_word(&f.wanted, word, e) < 0)
		return -1;
	server_find_search(&f);
	return 0;
}
