/* mode_command.c: commands that pick algorithms and ways of working. */
#include "config.h"

#include <string.h>

#include "control/command.h"
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
	struct mode_options *m = &c->pen->config.mode, old = *m;
	const struct balance *b;

	if (want_one(c, e) < 0)
		return -1;
	b = balance_find(c->words->word[0]);
	if (b == NULL)
		return error_set(e,
		    "no algorithm \"%.100s\"; there are "
		    "roundrobin, wrr, leastconn, wleastconn, "
		    "prio, hash and p2c",
		    c->words->word[0]);
	m->balance = b->name;
	if (pen_apply(c->pen, e) == 0)
		return 0;
	*m = old;
	return -1;
}

int
run_sticky(struct call *c, struct error *e)
{
	struct mode_options *m = &c->pen->config.mode, old = *m;

	m->sticky_set = true;
	m->sticky = !c->no;
	if (pen_apply(c->pen, e) == 0)
		return 0;
	*m = old;
	return -1;
}

int
run_mode(struct call *c, struct error *e)
{
	const struct mode_options *m = &c->pen->config.mode;

	(void)e;
	reply_add(c->reply, "%shash %sroundrobin %sstubborn %sweight %sprio\n",
	    m->hash ? "" : "no ", m->roundrobin ? "" : "no ",
	    m->stubborn ? "" : "no ", m->weight ? "" : "no ",
	    m->prio ? "" : "no ");
	return 0;
}

int
run_method(struct call *c, struct error *e)
{
	(void)e;
	c->pen->config.method = c->row->name;
	return 0;
}

int
run_fastclose(struct call *c, struct error *e)
{
	struct frontend_options *o = &c->pen->config.frontend;
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
			return pen_apply(c->pen, e);
		}
	return error_set(
	    e, "expects %s, got \"%.100s\"", c->row->args, c->words->word[0]);
}
