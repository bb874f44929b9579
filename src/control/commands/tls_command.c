/* tls_command.c: commands about certificates and protocols of TLS. */
#include "config.h"

#include <string.h>
#include <time.h>

#include "control/apply/services.h"
#include "control/commands/commands.h"
#include "control/language/command.h"
#include "control/answer/fields.h"
#include "control/life/context.h"
#include "control/apply/tls_config.h"

static void
tls_emit_certificate(struct reply *r, const struct tls_certificate *c)
{
	char ends[32] = "?";
	struct fields f;
	struct tm day;

	if (gmtime_r(&c->ends, &day) != NULL)
		strftime(ends, sizeof(ends), "%Y-%m-%dT%H:%M:%SZ", &day);
	fields_begin(&f, r, FIELDS_LINE);
	fields_text(&f, "cert", c->name);
	fields_text(&f, "file", c->file);
	fields_text(&f, "ends", ends);
	fields_integer(&f, "days", tls_config_days_left(c->ends));
	fields_text(&f, "for",
	    c->to_servers    ? "servers"
		: c->by_name ? "name"
		: c->unused  ? "none"
			     : "default");
	fields_number(&f, "used", c->used);
	fields_end(&f);
}

static bool
more_certificates(struct reply *r, struct service *svc)
{
	struct tls_certificate c;

	while (buffer_length(&r->out) < REPLY_PIECE) {
		if (!tls_config_certificate(svc, (unsigned)r->at, &c)) {
			fields_list_end(r);
			return false;
		}
		tls_emit_certificate(r, &c);
		r->at++;
	}
	return true;
}

static int
run_certs(struct call *c, struct error *e)
{
	(void)e;
	fields_list_begin(c->reply);
	c->reply->at = 0;
	c->reply->more = more_certificates;
	return 0;
}

const struct command tls_commands[] = {
	{ .name = "certs",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_SERVICE,
	    .run = run_certs,
	    .help = "prints the certificates" },
	{ .name = NULL },
};
