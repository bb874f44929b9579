/* report.c: counters, and all at once for the log. */
#include "config.h"

#include <string.h>

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
