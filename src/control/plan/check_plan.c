/* check_plan.c: see check_plan.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "control/plan/check_plan.h"
#include "control/value/spec.h"
#include "proxy/check/check.h"
#include "proxy/check/check_stream.h"

const char *
check_plan_text(const struct plan *p, unsigned slot)
{
	const struct server_plan *s = plan_slot(p, slot);

	if (s == NULL || s->host == NULL)
		return NULL;
	if (s->check == NULL)
		return p->config->checks.text;
	return strcmp(s->check, "off") != 0 ? s->check : NULL;
}

bool
check_plan_is_wanted(const struct plan *p)
{
	return check_plan_any(p, TRAIT_CHECKED);
}

/* Compiling one takes a microsecond, and each server may have its own. */
bool
check_plan_has(const char *text, unsigned traits)
{
	const struct check_tls *tls;
	struct check_spec *s;
	struct error e;
	bool has;

	if (strcmp(text, "off") == 0)
		return false;
	if (traits & TRAIT_CHECKED)
		return true;
	if (!(traits & (TRAIT_CHECK_TLS | TRAIT_CHECK_VERIFY)) ||
	    !check_spec_may_talk_tls(text))
		return false;
	s = check_spec_read(text, &e);
	tls = s != NULL ? check_spec_tls(s) : NULL;
	has = tls != NULL && (traits & TRAIT_CHECK_TLS || !tls->no_verify);
	check_spec_drop(s);
	return has;
}

bool
check_plan_any(const struct plan *p, unsigned traits)
{
	const char *text = p->config->checks.text;

	return (text != NULL && check_plan_has(text, traits)) ||
	    plan_any_server(p, traits);
}

/* The first one that clients come to; 0: any. */
uint16_t
check_plan_first_port(const struct plan *p)
{
	int port = spec_default_port(&p->listen);

	return port > 0 ? (uint16_t)port : 0;
}

uint16_t
check_plan_other_port(const struct plan *p, const struct server_plan *s)
{
	if (s->check_port != 0)
		return (uint16_t)s->check_port;
	if (p->config->checks.port != 0)
		return (uint16_t)p->config->checks.port;
	return s->same_port && !s->service.there ? check_plan_first_port(p) : 0;
}

uint16_t
check_plan_port(const struct plan *p, const struct server_plan *s)
{
	uint16_t other = check_plan_other_port(p, s);

	return other != 0      ? other
	    : s->service.there ? s->service.port
			       : s->port;
}

uint16_t
check_plan_dsr_port(
    const struct check_settings *s, const struct check_spec *spec)
{
	const struct check_dsr_settings *o = check_spec_settings(spec);

	return o->port != 0 ? o->port : (uint16_t)s->port;
}

/* ---- for reports ---- */

/* Checks whose words are of the protocol, and no secrets. */
static bool
is_public(const char *check)
{
	static const char *const kinds[] = { "connect", "tls", "http", "https",
		"dns", "none", "off" };
	size_t n = strcspn(check, " "), i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i]) == n && memcmp(kinds[i], check, n) == 0)
			return true;
	return check[n] == '\0';
}

static bool
is_secret(const char *check)
{
	return check != NULL && !is_public(check);
}

static int
hide_arguments(char **check)
{
	char text[64];

	snprintf(text, sizeof(text), "%.*s ...", (int)strcspn(*check, " ") % 50,
	    *check);
	return text_set(check, text);
}

static int
hide_service(struct plan *p)
{
	const struct server_plan *s;
	struct server_plan *mine;
	struct config *c;
	unsigned slot;

	for (slot = 0; (s = plan_slot(p, slot)) != NULL; slot++) {
		if (!is_secret(s->check))
			continue;
		mine = plan_edit(p, slot);
		if (mine == NULL || hide_arguments(&mine->check) < 0)
			return -1;
	}
	if (!is_secret(p->config->checks.text))
		return 0;
	c = plan_edit_config(p);
	return c != NULL ? hide_arguments(&c->checks.text) : -1;
}

int
check_plan_hide_secrets(struct plan *p)
{
	const struct plan *one;
	struct plan *mine;
	unsigned i;

	for (i = 0; (one = plan_service_at(p, i)) != NULL; i++) {
		mine = plan_service_edit(p, plan_service_name(one));
		if (mine == NULL || hide_service(mine) < 0)
			return -1;
	}
	return 0;
}
