/* tls_config_check.c: whether the TLS settings of a plan make sense together;
 * nothing is opened. */
#include "config.h"

#include "control/value/choices.h"
#include "control/plan/origin.h"
#include "control/plan/setting.h"
#include "control/verify/tls_config_check.h"
#include "tls/tls_settings.h"

/* ---- settings that need others ---- */

static int
tls_config_check_needs(const struct plan *p, const char *setting,
    const char *others, struct error *e)
{
	return error_set(e, "%s needs %s", origin_name(p, setting), others);
}

/* The first setting of TLS with clients that is not as it is by itself;
 * switches before the rest, as they are the most serious. */
static const struct command *
find_unused(const struct plan *p, const struct plan *defaults)
{
	const struct command *row = NULL, *found = NULL;

	while ((row = setting_next_difference(p, defaults, row)) != NULL) {
		if ((row->flags & ROW_CLIENTS) != ROW_CLIENTS)
			continue;
		if (row->kind == KIND_FLAG)
			return row;
		if (found == NULL)
			found = row;
	}
	return found;
}

/* With them but without a certificate clients would be served in plain text,
 * unnoticed. */
static int
check_unused(const struct plan *p, struct error *e)
{
	struct plan *defaults;
	const struct command *row;
	int rc = 0;

	if (p->config->tls.pair[0].key != NULL)
		return tls_config_check_needs(p, "ssl_key", "ssl_cert (-E)", e);
	if (p->config->tls.password != NULL &&
	    p->config->tls.upstream_cert == NULL)
		return tls_config_check_needs(
		    p, "ssl_password", "ssl_cert (-E) or ssl_upstream_cert", e);
	defaults = plan_new_service(NULL);
	if (defaults == NULL)
		return error_set(e, "out of memory");
	row = find_unused(p, defaults);
	if (row != NULL)
		rc = tls_config_check_needs(p, row->name,
		    "ssl_cert (-E) or ssl_sni_path (--sni-path)", e);
	plan_free(defaults);
	return rc;
}

/* ---- what is served ---- */

static int
check_served(const struct plan *p, struct error *e)
{
	const struct tls_settings *t = &p->config->tls;
	const char *first = t->pairs > 0 ? "ssl_cert" : "ssl_sni_path";

	if (p->config->frontend.udp.on && !p->config->frontend.dns.on)
		return error_set(e, "%s: TLS is not possible with udp",
		    origin_name(p, first));
	if (p->config->frontend.dummy)
		return error_set(
		    e, "%s: dummy does not support TLS", origin_name(p, first));
	if ((t->require || t->request) && !t->request_any &&
	    t->ca_file == NULL && t->ca_dir == NULL)
		return tls_config_check_needs(p,
		    t->require ? "ssl_require" : "ssl_request",
		    "ssl_ca_file (-G) or ssl_ca_dir (-A)", e);
	/* which refused all clients, not those of other names */
	if (t->strict_sni && t->sni_path == NULL)
		return tls_config_check_needs(
		    p, "ssl_strict_sni", "ssl_sni_path (--sni-path)", e);
	if (t->options & TLS_NO_1_3 &&
	    (t->min > 12 || t->options & TLS_NO_1_2))
		return error_set(e,
		    "%s and ssl_min %s disable every version of TLS",
		    origin_name(p, "ssl_option"),
		    choice_name(choices_tls_min, (int)t->min));
	return 0;
}

/* ---- servers ---- */

static int
check_names(const struct plan *p, struct error *e)
{
	const struct tls_settings *t = &p->config->tls;
	const struct server_plan *s;
	unsigned i;

	if (!t->upstream_verify || t->upstream_name != NULL)
		return 0;
	for (i = 0; (s = plan_slot(p, i)) != NULL; i++)
		if (tls_config_is_upstream(p, s) && addr_is_unix_text(s->host))
			return error_set(e,
			    "%.200s has no host name to verify: set "
			    "ssl_upstream_name",
			    s->host);
	return 0;
}

int
tls_config_check(struct apply *a, struct error *e)
{
	const struct plan *p = a->wanted;
	int rc = tls_settings_serve(&p->config->tls) ? check_served(p, e)
						    : check_unused(p, e);

	return rc == 0 ? check_names(p, e) : rc;
}
