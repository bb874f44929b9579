/* dsr_command.c: settings of direct server return. */
#include "config.h"

#include <string.h>

#include "base/number.h"
#include "control/command.h"
#include "control/facts.h"

int
run_dsr_ip(struct call *c, struct error *e)
{
	struct dsr_settings *s = &c->plan->config.dsr;
	struct addr a;

	if (c->no && c->words->count == 0) {
		memset(s->ip, 0, sizeof(s->ip));
		return 0;
	}
	if (c->no || c->words->count != 1)
		return error_set(e, "expects %s", c->row->args);
	if (addr_parse_ip(&a, c->words->word[0], 0) < 0)
		return error_set(
		    e, "\"%.100s\" is no IP address", c->words->word[0]);
	s->ip[a.u.sa.sa_family == AF_INET6] = a;
	return 0;
}

int
run_dsr_forward(struct call *c, struct error *e)
{
	const char *word = c->words->count == 1 ? c->words->word[0] : "";

	if (strcmp(word, "mac") != 0 && strcmp(word, "tunnel") != 0)
		return error_set(e, "expects %s", c->row->args);
	c->plan->config.dsr.tunnel = strcmp(word, "tunnel") == 0;
	return 0;
}

static int
set_tarpit_acl(struct call *c, struct error *e)
{
	uint64_t n;

	if (c->no || strcmp(c->words->word[0], "-1") == 0) {
		c->plan->config.dsr.tarpit_acl = -1;
		return 0;
	}
	if (number_parse(c->words->word[0], 0, ACL_LISTS - 1, &n) < 0)
		return error_set(e,
		    "\"%.100s\" is not an access list from 0 to %d",
		    c->words->word[0], ACL_LISTS - 1);
	c->plan->config.dsr.tarpit_acl = (int)n;
	return 0;
}

int
run_tarpit_acl(struct call *c, struct error *e)
{
	struct facts f;

	if (c->words->count > 1 || (c->no && c->words->count > 0))
		return error_set(e, "expects %s", c->row->args);
	if ((c->no || c->words->count > 0) && set_tarpit_acl(c, e) < 0)
		return -1;
	if (c->no)
		return 0;
	facts_begin(&f, c->reply, FACTS_SILENT);
	facts_integer(&f, "tarpit_acl", c->plan->config.dsr.tarpit_acl);
	facts_end(&f);
	if (!c->reply->json)
		reply_add(&c->reply->out, "tarpit_acl = %d\n",
		    c->plan->config.dsr.tarpit_acl);
	return 0;
}
