/* plan_config.c: the settings of a service, which its plan in force shares
 * with drafts that do not change them, and with services that have the same. So
 * a draft costs what it changes, a thousand services cost as many settings as
 * they have different ones, and settings that two plans share need not be
 * compared. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "control/plan/plan.h"
#include "control/plan/table.h"
#include "control/value/dsr_fast.h"
#include "control/value/value.h"

static void
config_init(struct config *c)
{
	pool_options_init(&c->pool);
	frontend_options_init(&c->frontend);
	tls_settings_init(&c->tls);
	c->dsr = (struct dsr_settings){
		.flows = 1000000,
		.tcp_timeout_ms = 900000,
		.fin_timeout_ms = 120000,
		.udp_timeout_ms = 300000,
		.announce = true,
		.fast = DSR_FAST_AUTO,
		.forward = SERVER_FORWARD_MAC,
		.tarpit_acl = ACL_REF_NONE,
	};
	c->client_exempt_acl = (struct acl_ref)ACL_REF_NONE;
	c->forwarded.number = HTTP_FORWARDED_APPEND;
	c->http_errors = 10;
	c->checks = (struct check_settings){
		.interval_ms = 2000, .timeout_ms = 1000, .running_max = 256
	};
	c->accept_proxy = (struct acl_ref)ACL_REF_NONE;
	c->log_sample = LOG_SAMPLE_AUTO;
}

/* Calls `visit` for each string; goes on after a failure, so that text_own()
 * leaves nothing that belongs to other settings. Returns 0 if all went well. */
static int
config_each_text(struct config *c, int (*visit)(char **text))
{
	const struct command *row;
	int rc = 0;

	TABLE_EACH_OF (SCOPE_SERVICE, row)
		rc |= value_each_text(row, c, visit);
	return rc;
}

/* Only `plans` of settings that are shared is written; all of those that one
 * plan has. */
static struct config *
config_writable(const struct config *c)
{
	return (struct config *)(uintptr_t)c;
}

void
config_drop(const struct config *shared)
{
	struct config *c = config_writable(shared);

	if (c == NULL || --c->plans > 0)
		return;
	config_each_text(c, text_free);
	free(c);
}

const struct config *
config_hold(const struct config *c)
{
	config_writable(c)->plans++;
	return c;
}

const struct config *
config_new(void)
{
	struct config *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	config_init(c);
	c->plans = 1;
	if (text_set(&c->session_log, "auto") == 0 &&
	    text_set(&c->log_format, "logfmt") == 0 &&
	    text_set(&c->request_log.format, "combined") == 0)
		return c;
	config_drop(c);
	return NULL;
}

/* A copy for one plan. */
static int
take_copy(struct plan *p, const struct config *c)
{
	struct config *own = malloc(sizeof(*own));

	if (own == NULL)
		return -1;
	*own = *c;
	own->plans = 1;
	if (config_each_text(own, text_own) < 0) {
		config_drop(own);
		return -1;
	}
	config_drop(p->config);
	p->config = own;
	return 0;
}

struct config *
plan_edit_config(struct plan *p)
{
	if (p->config->plans > 1 && take_copy(p, p->config) < 0)
		return NULL;
	return config_writable(p->config);
}

/* Bytes between members may differ, too, which costs a copy. */
int
plan_set_config(struct plan *p, const struct config *c)
{
	if (memcmp(p->config, c, sizeof(*c)) == 0)
		return 0;
	if (p->config->plans > 1)
		return take_copy(p, c);
	*config_writable(p->config) = *c;
	return 0;
}

static int
text_leave_out(char **text)
{
	*text = NULL;
	return 0;
}

/* Whether all but the strings is the same. Bytes between members may differ,
 * too, which costs a copy. */
static bool
has_same_numbers(const struct config *a, const struct config *b)
{
	struct config x = *a, y = *b;

	x.plans = y.plans = 0;
	config_each_text(&x, text_leave_out);
	config_each_text(&y, text_leave_out);
	return memcmp(&x, &y, sizeof(x)) == 0;
}

static bool
config_equal(const struct config *a, const struct config *b)
{
	const struct command *row;

	if (!has_same_numbers(a, b))
		return false;
	TABLE_EACH_OF (SCOPE_SERVICE, row)
		if (!value_equal(row, a, b))
			return false;
	return true;
}

bool
plan_share_config(struct plan *p, const struct plan *other)
{
	const struct config *own = p->config;

	if (own == other->config)
		return true;
	if (!config_equal(own, other->config))
		return false;
	p->config = config_hold(other->config);
	config_drop(own);
	return true;
}
