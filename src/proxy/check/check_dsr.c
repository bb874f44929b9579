/* check_dsr.c: "dsr [PORT]": direct return. The director carries it out, on the
 * way of clients' frames; see dsr/director/checks.h. */
#include "config.h"

#include "net/resolve/resolve.h"
#include "proxy/check/check.h"

static int
check_dsr_parse(void *settings, const struct words *w, struct error *e)
{
	struct check_dsr_settings *s = settings;

	if (w->count > 1)
		return error_set(e, "expects [PORT]");
	return w->count == 1 ? resolve_port(w->word[0], &s->port, e) : 0;
}

const struct check_kind check_dsr = {
	.name = "dsr",
	.args = "[PORT]",
	.settings_size = sizeof(struct check_dsr_settings),
	.parse = check_dsr_parse,
};
