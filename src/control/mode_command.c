/* mode_command.c: commands that pick algorithms and ways of working. */
#include "config.h"

#include <string.h>

#include "control/command.h"
#include "control/facts.h"
#include "control/pen.h"
#include "pool/balance.h"

static int
want_one(struct call *c, struct error *e)
{
	if (c->words->count == 1)
		return 0;
	return error_set(e, "expects %s", c->row->args);
}

int
run_balance(struct call *c, struct error *e)
{
	struct mode_options *m = &c->plan->config.mode;
	const struct balance *b;

	if (want_one(c, e) < 0)
		return -1;
	if (strcmp(c->words->word[0], "default") == 0) {
		m->balance = NULL;
		m->sticky_set = false;
		return 0;
	}
	b = balance_find(c->words->word[0]);
	if (b == NULL)
		return error_set(e,
		    "no algorithm \"%.100s\"; there are "
		    "roundrobin, wrr, leastconn, wleastconn, "
		    "prio, hash, p2c, least_time and default",
		    c->words->word[0]);
	m->balance = b->name;
	return 0;
}

int
run_sticky(struct call *c, struct error *e)
{
	struct mode_options *m = &c->plan->config.mode;

	(void)e;
	m->sticky_set = true;
	m->sticky = !c->no;
	return 0;
}

/* Whether the algorithm is in force, by its mode or by its name. */
static bool
is_chosen(const struct plan *p, bool mode, const char *name)
{
	const char *balance = p->config.mode.balance;

	return balance != NULL ? strcmp(balance, name) == 0 : mode;
}

int
run_mode(struct call *c, struct error *e)
{
	const struct mode_options *m = &c->plan->config.mode;
	const struct {
		const char *name;
		bool on;
	} modes[] = {
		{ "hash", is_chosen(c->plan, m->hash, "hash") },
		{ "roundrobin",
		    is_chosen(c->plan, m->roundrobin, "roundrobin") },
		{ "stubborn", m->stubborn },
		{ "weight", is_chosen(c->plan, m->weight, "wleastconn") },
		{ "prio", is_chosen(c->plan, m->prio, "prio") },
	};
	enum { MODES = sizeof(modes) / sizeof(modes[0]) };
	struct facts f;
	int i;

	(void)e;
	facts_begin(&f, c->reply, FACTS_SILENT);
	for (i = 0; i < MODES; i++)
		facts_flag(&f, modes[i].name, modes[i].on);
	facts_json_text(&f, "balance", c->plan->config.pool.balance->name);
	facts_end(&f);
	for (i = 0; i < MODES && !c->reply->json; i++)
		reply_add(&c->reply->out, "%s%s%s", modes[i].on ? "" : "no ",
		    modes[i].name, i + 1 < MODES ? " " : "\n");
	return 0;
}

int
run_method(struct call *c, struct error *e)
{
	(void)e;
	c->plan->config.method = c->row->name;
	return 0;
}

int
run_fastclose(struct call *c, struct error *e)
{
	struct frontend_options *o = &c->plan->config.frontend;
	static const struct {
		const char *word;
		bool up, down;
	} kinds[] = { { "off", false, false }, { "up", true, false },
		{ "down", false, true }, { "both", true, true } };
	size_t i;

	if (want_one(c, e) < 0)
		return -1;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].word, c->words->word[0]) == 0) {
			o->fastclose_up = kinds[i].up;
			o->fastclose_down = kinds[i].down;
			return 0;
		}
	return error_set(
	    e, "expects %s, got \"%.100s\"", c->row->args, c->words->word[0]);
}

static const char *const proxies[] = { "off", "first", "every" };

const char *
mode_udp_proxy_name(enum udp_proxy when)
{
	return proxies[when];
}

int
run_udp_proxy(struct call *c, struct error *e)
{
	int i;

	if (want_one(c, e) < 0)
		return -1;
	for (i = 0; i < 3; i++)
		if (strcmp(proxies[i], c->words->word[0]) == 0) {
			c->plan->config.frontend.udp_proxy = (enum udp_proxy)i;
			return 0;
		}
	return error_set(
	    e, "expects %s, got \"%.100s\"", c->row->args, c->words->word[0]);
}
