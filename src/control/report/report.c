/* report.c: counters, and all at once for the log. */
#include "config.h"

#include <string.h>

#include "base/log.h"
#include "control/report/counters.h"
#include "control/life/context.h"
#include "control/report/report.h"

void
report_counters(const struct pen *p, struct reply *r, enum fields_style style)
{
	struct fields f;

	fields_begin(&f, r, style);
	counters_tell(&f, p->service, false);
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

void
report_log(struct pen *p)
{
	struct reply r;
	bool more = true;

	reply_init(&r);
	report_servers(&r);
	while (more) {
		more = r.more(&r, p->service);
		if (!more)
			report_counters(p, &r, FIELDS_LINES);
		report_log_lines(&r.out);
		buffer_fini(&r.out);
	}
	reply_fini(&r);
}
