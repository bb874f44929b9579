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
		    "prio, hash, p2c and default",
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

int
run_mode(struct call *c, struct error *e)
{
	const struct mode_options *m = &c->plan->config.mode;
	struct facts f;

	(void)e;
	facts_begin(&f, c->reply, FACTS_SILENT);
	facts_flag(&f, "hash", m->hash);
	facts_flag(&f, "roundrobin", m->roundrobin);
	facts_flag(&f, "stubborn", m->stubborn);
	facts_flag(&f, "weight", m->weight);
	facts_flag(&f, "prio", m->prio);
	facts_json_text(&f, "balance", c->plan->config.pool.balance->name);
	facts_end(&f);
	if (!c->reply->json)
		reply_add(&c->reply->out,
		    "%shash %sroundrobin %sstubborn %sweight %sprio\n",
		    m->hash ? "" : "no ", m->roundrobin ? "" : "no ",
		    m->stubborn ? "" : "no ", m->weight ? "" : "no ",
		    m->prio ? "" : "no ");
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
