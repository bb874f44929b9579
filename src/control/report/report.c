/* report.c: counters, and all at once for the log. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "control/apply/services.h"
#include "control/report/counters.h"
#include "control/life/context.h"
#include "control/report/report.h"

void
report_counters(
    const struct service *svc, struct reply *r, enum fields_style style)
{
	struct fields f;

	fields_begin(&f, r, style);
	counters_report(&f, svc, false);
	fields_end(&f);
}

static void
report_log_lines(struct buffer *text)
{
	char *line, *rest = NULL;

	if (buffer_append(text, "", 1) < 0)
		return;
	for (line = strtok_r(text->data + text->start, "\n", &rest);
	     line != NULL; line = strtok_r(NULL, "\n", &rest))
		log_write(NULL, LOG_LEVEL_INFO, "%s", line);
}

static void
report_log_service(struct service *svc)
{
	struct reply r;
	bool more = true;

	reply_init(&r);
	report_servers(&r);
	while (more) {
		more = r.more(&r, svc);
		if (!more)
			report_counters(svc, &r, FIELDS_LINES);
		report_log_lines(&r.out);
		buffer_fini(&r.out);
	}
	reply_fini(&r);
}

void
report_log(struct pen *p)
{
	struct service *svc;

	SERVICE_EACH (p, svc) {
		if (!service_is_reported(svc))
			continue;
		if (service_has_others(p))
			log_write(
			    NULL, LOG_LEVEL_INFO, "service %s", svc->name);
		report_log_service(svc);
	}
}

/* ---- at the start ---- */

enum { START_LISTEN_MAX = 700 };

static void
add_addresses(const struct service *svc, struct buffer *out)
{
	const struct listen_list *l = &svc->plan->listen;
	char at[ADDR_TEXT_MAX];
	unsigned i;

	for (i = 0; i < l->count && buffer_length(out) < START_LISTEN_MAX; i++)
		reply_add(out, "%s%s", buffer_length(out) > 0 ? "," : "",
		    addr_format(&l->entry[i].at, at));
}

void
report_log_start(const struct pen *p)
{
	const struct server_plan *s;
	const struct service *svc;
	unsigned services = 0, servers = 0, slot;
	struct buffer at;

	buffer_init(&at);
	SERVICE_EACH (p, svc) {
		add_addresses(svc, &at);
		services += service_is_reported(svc);
		for (slot = 0; (s = plan_slot(svc->plan, slot)) != NULL; slot++)
			servers += s->host != NULL && s->parent == 0;
	}
	if (buffer_length(&at) >= START_LISTEN_MAX)
		reply_add(&at, ",..");
	if (buffer_append(&at, "", 1) < 0)
		buffer_fini(&at);
	log_info("started version=%s pid=%ld uid=%ld services=%u servers=%u "
		 "listen=%s",
	    PACKAGE_VERSION, (long)getpid(), (long)getuid(), services, servers,
	    buffer_length(&at) > 0 ? buffer_bytes(&at) : "");
	buffer_fini(&at);
}
