/* server_command.c: commands about servers. They change the draft; nothing is
 * looked up here. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "control/command.h"
#include "control/direct.h"
#include "control/facts.h"
#include "control/pen.h"
#include "control/report.h"

static int
parse_number(const char *word, uint64_t max, uint64_t *value, struct error *e)
{
	if (number_parse(word, 0, max, value) == 0)
		return 0;
	return error_set(e, "\"%.100s\" is not a number from 0 to %llu", word,
	    (unsigned long long)max);
}

/* ---- words behind server N ---- */

/* A key takes the word behind it. */
struct key {
	const char *name;
	uint64_t max;
	int (*set)(struct call *c, struct server_plan *s, const char *word,
	    struct error *e);
	void (*put)(struct server_plan *s, uint64_t n); /* where set is NULL */
};

static void
set_default_port(const struct call *c, struct server_plan *s)
{
	int port = spec_default_port(&c->plan->listen);

	s->port = port > 0 ? (uint16_t)port : 0;
}

static int
set_address(
    struct call *c, struct server_plan *s, const char *word, struct error *e)
{
	struct addr a;

	if (addr_is_unix_text(word) && addr_parse_unix(&a, word) < 0)
		return error_set(
		    e, "\"%.150s\": no path of a Unix socket", word);
	if (word[0] == '\0')
		return error_set(e, "no host");
	if (plan_set_text(&s->host, word) < 0 ||
	    plan_set_text(&s->place, c->place) < 0)
		return error_set(e, "out of memory");
	if (addr_is_unix_text(word)) {
		s->port = 0;
		s->same_port = false;
	} else if (s->port == 0 && !s->same_port)
		set_default_port(c, s);
	return 0;
}

static int
set_port(
    struct call *c, struct server_plan *s, const char *word, struct error *e)
{
	(void)c;
	return spec_parse_server_port(s, word, e);
}

/* As in classic Pen, who says so on a control socket also takes the server out at
 * once. A file says what is to be later. */
static int
set_blacklist(
    struct call *c, struct server_plan *s, const char *word, struct error *e)
{
	if (number_parse_ms(word, 0, LONG_MS, &s->set.blacklist_ms) < 0)
		return error_set(e,
		    "\"%.100s\" is not a valid duration (5, 0.5, 200ms)", word);
	s->out_now = c->place == NULL;
	return 0;
}

static const char *const tls_words[] = { "default", "on", "off" };

/* Its place in a list of three; -1: it is not there. */
static int
place_of(const char *const list[3], const char *word)
{
	int i;

	for (i = 0; i < 3; i++)
		if (strcmp(list[i], word) == 0)
			return i;
	return -1;
}

static int
set_tls(
    struct call *c, struct server_plan *s, const char *word, struct error *e)
{
	int i = place_of(tls_words, word);

	(void)c;
	if (i < 0)
		return error_set(
		    e, "tls expects on, off or default, got \"%.100s\"", word);
	s->set.tls = (enum server_tls)i;
	return 0;
}

static const char *const forward_words[] = { "default", "mac", "tunnel" };

static int
set_forward(
    struct call *c, struct server_plan *s, const char *word, struct error *e)
{
	int i = place_of(forward_words, word);

	(void)c;
	if (i < 0)
		return error_set(e,
		    "forward expects mac, tunnel or default, got \"%.100s\"",
		    word);
	s->set.forward = (enum server_forward)i;
	return 0;
}

static void
put_acl(struct server_plan *s, uint64_t n)
{
	s->set.acl = (int)n;
}

static void
put_soft(struct server_plan *s, uint64_t n)
{
	s->set.soft = n;
}

static void
put_hard(struct server_plan *s, uint64_t n)
{
	s->set.hard = n;
}

static void
put_weight(struct server_plan *s, uint64_t n)
{
	s->set.weight = (unsigned)n;
}

static void
put_prio(struct server_plan *s, uint64_t n)
{
	s->set.prio = (int)n;
}

static const struct key keys[] = {
	{ "acl", ACL_LISTS - 1, NULL, put_acl },
	{ "address", 0, set_address, NULL },
	{ "port", 0, set_port, NULL },
	{ "max", UINT32_MAX, NULL, put_soft },
	{ "hard", UINT32_MAX, NULL, put_hard },
	{ "blacklist", 0, set_blacklist, NULL },
	{ "weight", SERVER_WEIGHT_MAX, NULL, put_weight },
	{ "prio", INT32_MAX, NULL, put_prio },
	{ "tls", 0, set_tls, NULL },
	{ "forward", 0, set_forward, NULL },
};

static int
set_key(struct call *c, struct server_plan *s, const char *name,
    const char *word, struct error *e)
{
	const struct key *key = NULL;
	uint64_t n;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(name, keys[i].name) == 0)
			key = &keys[i];
	if (key == NULL)
		return error_set(e,
		    "\"%.100s\": expected acl, address, port, max, hard, "
		    "blacklist, weight, prio, tls, forward, up, drain, down "
		    "or remove",
		    name);
	if (word == NULL)
		return error_set(e, "\"%.100s\" lacks its value", name);
	if (key->set != NULL)
		return key->set(c, s, word, e);
	if (parse_number(word, key->max, &n, e) < 0)
		return -1;
	key->put(s, n);
	return 0;
}

/* ---- words alone ---- */

static const struct {
	const char *name;
	enum server_admin admin;
} admins[] = {
	{ "up", SERVER_ENABLED },
	{ "drain", SERVER_DRAINING },
	{ "down", SERVER_DISABLED },
};

/* Whether the word was one. */
static bool
set_admin(struct server_plan *s, const char *word)
{
	size_t i;

	for (i = 0; i < sizeof(admins) / sizeof(admins[0]); i++)
		if (strcmp(word, admins[i].name) == 0) {
			s->admin = (int)admins[i].admin;
			return true;
		}
	return false;
}

/* All words behind the number, from words->word[1] on. */
static int
set_words(struct call *c, struct server_plan *s, struct error *e)
{
	const struct words *w = c->words;
	int k;

	for (k = 1; k < w->count; k++) {
		if (set_admin(s, w->word[k]))
			continue;
		if (strcmp(w->word[k], "remove") == 0) {
			server_plan_clear(s);
			continue;
		}
		if (set_key(c, s, w->word[k], w->word[k + 1], e) < 0)
			return -1;
		k++;
	}
	return 0;
}

/* ---- server add ---- */

static bool
is_free(const struct call *c, unsigned index)
{
	const struct plan *now = c->pen->plan;
	const struct server *s = pool_server(c->pen->pool, index);

	return (index >= c->plan->count ||
		   c->plan->servers[index].host == NULL) &&
	    (index >= now->count || now->servers[index].host == NULL) &&
	    (s == NULL ||
		(s->connections == 0 && !direct_has_flows(c->pen, s)));
}

/* The slot of a running server that is the same, which keeps it what it is when
 * a file is read again; else the first one that nobody uses. */
static unsigned
slot_for(const struct call *c, const struct server_plan *new)
{
	const struct plan *now = c->pen->plan;
	const struct server_plan *s;
	unsigned i;

	for (i = 0; i < now->count; i++) {
		s = &now->servers[i];
		if (s->host != NULL && strcmp(s->host, new->host) == 0 &&
		    s->port == new->port &&
		    (i >= c->plan->count || c->plan->servers[i].host == NULL))
			return i;
	}
	for (i = 0; !is_free(c, i); i++)
		;
	return i;
}

static int
add_server(struct call *c, struct error *e)
{
	struct server_plan new, *s;
	unsigned i;

	server_plan_init(&new);
	if (c->words->count != 2)
		return error_set(
		    e, "add expects HOST[:PORT[:MAX[:HARD[:WEIGHT[:PRIO]]]]]");
	if (spec_parse_server(&new, c->words->word[1],
		spec_default_port(&c->plan->listen), e) < 0 ||
	    plan_set_text(&new.place, c->place) < 0) {
		server_plan_clear(&new);
		return -1;
	}
	i = slot_for(c, &new);
	s = i < SERVERS_MAX ? plan_server(c->plan, i) : NULL;
	if (s == NULL) {
		server_plan_clear(&new);
		return error_set(e, "no room for another server");
	}
	server_plan_clear(s);
	*s = new;
	reply_add(&c->reply->out, "%u\n", i);
	return 0;
}

/* ---- handlers ---- */

static int
change_all(struct call *c, struct error *e)
{
	unsigned i;

	for (i = 0; i < c->plan->count; i++)
		if (c->plan->servers[i].host != NULL &&
		    set_words(c, &c->plan->servers[i], e) < 0)
			return -1;
	return 0;
}

static bool
is_removal(const struct call *c)
{
	return strcmp(c->words->word[c->words->count - 1], "remove") == 0;
}

/* A file may say where the server is later; that is found out when the plan is
 * whole. */
static int
note_absent(const struct call *c, struct server_plan *s, struct error *e)
{
	if (c->place == NULL)
		return error_set(e,
		    "there is no server %s (\"server %s address HOST\" makes "
		    "one)",
		    c->words->word[0], c->words->word[0]);
	if (plan_set_text(&s->place, c->place) < 0)
		return error_set(e, "out of memory");
	return 0;
}

int
run_server(struct call *c, struct error *e)
{
	struct server_plan *s;
	bool was_there;
	uint64_t n;

	if (c->words->count == 0)
		return error_set(e, "expects %s", c->row->args);
	if (strcmp(c->words->word[0], "add") == 0)
		return add_server(c, e);
	if (strcmp(c->words->word[0], "all") == 0)
		return change_all(c, e);
	if (parse_number(c->words->word[0], SERVERS_MAX - 1, &n, e) < 0)
		return -1;
	s = plan_server(c->plan, (unsigned)n);
	if (s == NULL)
		return error_set(e, "out of memory");
	was_there = s->host != NULL;
	if (set_words(c, s, e) < 0)
		return -1;
	if (s->host != NULL || (was_there && is_removal(c)))
		return 0;
	return note_absent(c, s, e);
}

int
run_servers(struct call *c, struct error *e)
{
	(void)e;
	report_servers(c->reply);
	return 0;
}

/* ---- servers outside the list ---- */

static int
answer_reserve(struct call *c, const struct server_plan *s)
{
	struct facts f;
	char text[SPEC_TEXT_MAX];

	if (s->host != NULL)
		spec_format_server(s, text);
	facts_begin(&f, c->reply, FACTS_LINE);
	facts_text(&f, c->row->name, s->host != NULL ? text : NULL);
	facts_end(&f);
	return 0;
}

static int
set_reserve(struct call *c, struct server_plan *s, struct error *e)
{
	struct server_plan new;

	if (c->words->count == 0 && !c->no)
		return answer_reserve(c, s);
	server_plan_clear(s);
	if (c->no)
		return 0;
	if (c->words->count != 1)
		return error_set(e, "expects %s", c->row->args);
	if (spec_parse_server(&new, c->words->word[0],
		spec_default_port(&c->plan->listen), e) < 0 ||
	    plan_set_text(&new.place, c->place) < 0) {
		server_plan_clear(&new);
		return -1;
	}
	*s = new;
	return 0;
}

int
run_emergency(struct call *c, struct error *e)
{
	return set_reserve(c, &c->plan->emergency, e);
}

int
run_abuse(struct call *c, struct error *e)
{
	return set_reserve(c, &c->plan->abuse, e);
}
