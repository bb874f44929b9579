/* server_command.c: commands about servers. They change the draft; nothing is
 * looked up here. */
#include "config.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "base/words.h"
#include "control/apply/services.h"
#include "control/apply/apply.h"
#include "control/commands/commands.h"
#include "control/commands/drain.h"
#include "control/language/command.h"
#include "control/value/choices.h"
#include "control/answer/fields.h"
#include "control/life/context.h"
#include "control/report/report.h"
#include "control/apply/server_find.h"
#include "control/plan/server_setting.h"
#include "control/plan/table.h"

/* ---- server add ---- */

static bool
server_is_planned(const struct plan *p, unsigned number)
{
	const struct server_plan *s = plan_server(p, number);

	return s != NULL && s->host != NULL;
}

/* The number of a running server that is the same, which keeps it what it is
 * when a file is read again; else the first free one. A file has its servers
 * mostly in the order of before: the search begins after the draft's last. */
static unsigned
number_for(const struct call *c, const struct server_plan *new)
{
	const struct plan *now = c->service->plan;
	unsigned count = plan_count(now), from = plan_count(c->plan), i, n;
	const struct server_plan *s;

	for (n = 0; n < count; n++) {
		i = (from + n) % count;
		s = plan_server(now, i);
		if (!server_is_planned(c->plan, i) && s->host != NULL &&
		    s->port == new->port && strcmp(s->host, new->host) == 0)
			return i;
	}
	for (i = 0; !apply_is_free(c->service, c->plan, i); i++)
		;
	return i;
}

static int
server_add_server(struct call *c, struct error *e)
{
	struct server_plan new, *s;
	unsigned i;

	server_plan_init(&new);
	if (c->words->count != 2)
		return error_set(
		    e, "add expects HOST[:PORT[:MAX[:HARD[:WEIGHT[:PRIO]]]]]");
	if (spec_parse_server(&new, c->words->word[1],
		spec_default_port(&c->plan->listen), e) < 0 ||
	    may_be_server(c, new.host, e) < 0 ||
	    text_set(&new.origin, c->origin) < 0) {
		server_plan_clear(&new);
		return -1;
	}
	i = number_for(c, &new);
	s = i < SERVERS_MAX ? plan_edit(c->plan, server_slot(i)) : NULL;
	if (s == NULL) {
		server_plan_clear(&new);
		return i < SERVERS_MAX ? error_set(e, "out of memory")
				       : plan_refuse_server(e);
	}
	server_plan_clear(s);
	*s = new;
	c->slot = server_slot(i);
	reply_add(&c->reply->out, "%u\n", i);
	return 0;
}

/* ---- handlers ---- */

/* Pen 0.34 has no "remove": its scripts use "address 0.0.0.0 port 0" instead,
 * and find a free number by that. */
static bool
is_nowhere(const struct call *c, const struct server_plan *s)
{
	bool has_port = false;
	int i;

	for (i = 1; i + 1 < c->words->count; i++)
		has_port |= strcmp(c->words->word[i], "port") == 0;
	return has_port && s->port == 0 && s->host != NULL &&
	    strcmp(s->host, "0.0.0.0") == 0;
}

/* Whether the last word is "remove", which may be that of a value, too: the
 * words have removed the server only if it has no host any more. */
static bool
ends_with_remove(const struct call *c)
{
	return strcmp(c->words->word[c->words->count - 1], "remove") == 0;
}

static int
change_all(struct call *c, struct error *e)
{
	struct server_plan *s;
	unsigned i;

	if (!plan_has_server(c->plan) && c->origin == NULL)
		return error_set(e, "there is no server");
	for (i = 0; i < plan_count(c->plan); i++) {
		if (!server_is_planned(c->plan, i))
			continue;
		s = plan_edit(c->plan, server_slot(i));
		if (s == NULL)
			return error_set(e, "out of memory");
		if (server_setting_run(c, s, e) < 0)
			return -1;
		/* what follows "remove" is for no server */
		if (s->host == NULL || is_nowhere(c, s))
			server_plan_clear(s);
	}
	return 0;
}

/* A file may have the server's address later; that is checked when the plan is
 * whole. */
static int
note_absent(const struct call *c, unsigned number, struct server_plan *s,
    struct error *e)
{
	if (c->origin == NULL)
		return server_find_refuse(c, number, e);
	if (text_set(&s->origin, c->origin) < 0)
		return error_set(e, "out of memory");
	return 0;
}

/* Whether it is what the operator may do to one of a name's addresses. */
static bool
is_of_one_address(const struct call *c)
{
	int i;

	for (i = 1; i < c->words->count; i++)
		if (choice_find(choices_admin, c->words->word[i]) == NULL)
			return false;
	return true;
}

/* Whether the line is what Pen 0.34 writes for a number that no server has: its
 * address is then the text "(unknown address type)". */
static bool
is_hole(const struct call *c)
{
	int i;

	for (i = 1; c->origin != NULL && i + 1 < c->words->count; i++)
		if (strcmp(c->words->word[i], "address") == 0 &&
		    strcmp(c->words->word[i + 1], "(unknown") == 0)
			return true;
	return false;
}

static int
change_one(struct call *c, struct error *e)
{
	struct server_plan *s;
	bool was_there, removed;
	unsigned n;

	if (is_hole(c))
		return 0;
	if (server_find(c, c->words->word[0], &n, e) < 0)
		return -1;
	s = plan_edit(c->plan, server_slot(n));
	if (s == NULL)
		return error_set(e, "out of memory");
	was_there = s->host != NULL;
	if (s->parent != 0 && !is_of_one_address(c))
		return error_set(e,
		    "server %u is an address of %s: set server %u", n, s->host,
		    s->parent - 1);
	if (server_setting_run(c, s, e) < 0)
		return -1;
	removed = is_nowhere(c, s);
	if (removed)
		server_plan_clear(s);
	removed |= ends_with_remove(c);
	c->slot = server_slot(n);
	if (s->host != NULL || (removed && (was_there || c->origin != NULL)))
		return 0;
	return note_absent(c, n, s, e);
}

/* Takes "wait [SEC]" off the end of the words, after what lets no new clients
 * in. */
static int
take_wait(struct call *c, struct words *w, bool *drains, uint64_t *ms,
    struct error *e)
{
	int n = w->count, at = n - 1;
	const struct choice *verb;

	if (n > 3 && strcmp(w->word[n - 2], "wait") == 0)
		at = n - 2;
	if (n < 3 || strcmp(w->word[at], "wait") != 0)
		return 0;
	verb = choice_find(choices_admin, w->word[at - 1]);
	if (verb != NULL ? verb->value == SERVER_ENABLED
			 : strcmp(w->word[at - 1], "remove") != 0)
		return 0;
	if (c->caller == NULL || c->origin != NULL)
		return error_set(e, "wait: only on the control socket");
	if (at == n - 2 &&
	    number_parse_ms(w->word[n - 1], 1, LONG_MS, ms) < 0)
		return error_set(
		    e, "wait: \"%.100s\" is not a duration", w->word[n - 1]);
	*drains = true;
	w->count = at;
	return 0;
}

/* 2001:db8::12:6443 is an address, but was probably meant to be one with a
 * port. */
static void
warn_of_port(const struct call *c)
{
	const struct words *w = c->words;
	const char *host = NULL, *port;
	char before[64];
	struct in6_addr a;
	uint64_t n;
	int i;

	for (i = 1; i + 1 < w->count; i++) {
		if (strcmp(w->word[i], "port") == 0)
			return;
		if (strcmp(w->word[i], "address") == 0)
			host = w->word[i + 1];
	}
	port = host != NULL ? strrchr(host, ':') : NULL;
	if (c->dry || port == NULL || port - host >= (ptrdiff_t)sizeof(before))
		return;
	snprintf(before, sizeof(before), "%.*s", (int)(port - host), host);
	if (number_parse(port + 1, 1, UINT16_MAX, &n) < 0 ||
	    inet_pton(AF_INET6, host, &a) != 1 ||
	    inet_pton(AF_INET6, before, &a) != 1)
		return;
	log_write(NULL, LOG_LEVEL_WARN,
	    "%s%sserver %s: %s is an address without a port (for port %llu: "
	    "address %s port %llu)",
	    c->origin != NULL ? c->origin : "", c->origin != NULL ? ": " : "",
	    w->word[0], host, (unsigned long long)n, before,
	    (unsigned long long)n);
	if (c->caller != NULL && c->origin == NULL)
		reply_add(&c->reply->out,
		    "warning: %s is an address without a port (for port %llu: "
		    "address %s port %llu)\n",
		    host, (unsigned long long)n, before, (unsigned long long)n);
}

static int
run_server(struct call *c, struct error *e)
{
	char args[COMMAND_TEXT_MAX];
	const struct words *all = c->words;
	struct words w = *all;
	bool drains = false;
	uint64_t ms = 0;
	int rc;

	if (w.count == 0)
		return error_set(e, "expects %s", command_args(c->row, args));
	if (take_wait(c, &w, &drains, &ms, e) < 0)
		return -1;
	c->words = &w;
	if (strcmp(w.word[0], "add") == 0)
		rc = server_add_server(c, e);
	else if (strcmp(w.word[0], "all") == 0)
		rc = change_all(c, e);
	else
		rc = change_one(c, e);
	c->words = all;
	if (rc == 0)
		warn_of_port(c);
	if (rc < 0 || !drains)
		return rc;
	c->wait = drain_new(
	    strcmp(all->word[0], "all") == 0 ? DRAIN_ALL : c->slot, ms);
	return c->wait != NULL ? 0 : error_set(e, "out of memory");
}

static int
run_servers(struct call *c, struct error *e)
{
	if (c->words->count == 0)
		report_servers(c->reply);
	else if (c->words->count == 1 && strcmp(c->words->word[0], "long") == 0)
		report_servers_long(c->reply);
	else
		return error_set(e, "expects %s", c->row->args);
	return 0;
}

/* ---- servers outside the list ---- */

static int
answer_special(struct call *c, const struct server_plan *s)
{
	struct fields f;
	char text[SPEC_TEXT_MAX];

	if (s->host != NULL)
		spec_format_server(s, text);
	fields_begin(&f, c->reply, FIELDS_LINE);
	fields_text(&f, c->row->name, s->host != NULL ? text : NULL);
	fields_end(&f);
	return 0;
}

static int
server_set_special(struct call *c, unsigned slot, struct error *e)
{
	struct server_plan new, *s;

	if (c->words->count == 0 && !c->no)
		return answer_special(c, plan_slot(c->plan, slot));
	s = plan_edit(c->plan, slot);
	if (s == NULL)
		return error_set(e, "out of memory");
	server_plan_clear(s);
	if (c->no)
		return 0;
	if (c->words->count != 1)
		return error_set(e, "expects %s", c->row->args);
	if (spec_parse_server(&new, c->words->word[0],
		spec_default_port(&c->plan->listen), e) < 0 ||
	    may_be_server(c, new.host, e) < 0 ||
	    text_set(&new.origin, c->origin) < 0) {
		server_plan_clear(&new);
		return -1;
	}
	*s = new;
	return 0;
}

static int
run_emergency(struct call *c, struct error *e)
{
	return server_set_special(c, SLOT_EMERGENCY, e);
}

static int
run_abuse(struct call *c, struct error *e)
{
	return server_set_special(c, SLOT_ABUSE, e);
}

const struct command server_commands[] = {
	{ .name = "server",
	    .kind = KIND_CHANGE,
	    .flags = ROW_OPERATE | ROW_SERVICE,
	    .run = run_server,
	    .args = "SERVER|all # [up|drain|maint|remove [wait [SEC]]] | add "
		    "SPEC",
	    .help =
		"changes, adds or removes a server; SERVER: a number, which "
		"may be new, a host or an address" },
	{ .name = "servers",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_SERVICE | ROW_COUNTERS,
	    .run = run_servers,
	    .args = "[long]",
	    .help = "prints the servers; long: all fields" },
	{ .name = "emergency",
	    .kind = KIND_CHANGE,
	    .flags = ROW_NO | ROW_OPERATE | ROW_SERVICE,
	    .run = run_emergency,
	    .letter = 'e',
	    .option = "emergency",
	    .args = "[HOST:PORT]",
	    .help = "server used while all others are unavailable" },
	{ .name = "abuse",
	    .kind = KIND_CHANGE,
	    .flags = ROW_NO | ROW_OPERATE | ROW_SERVICE,
	    .run = run_abuse,
	    .letter = 'B',
	    .option = "abuse",
	    .args = "[HOST:PORT]",
	    .help = "server for clients that client_acl denies" },
	{ .name = NULL },
};
