/* finding.c: see finding.h. */
#include "config.h"

#include <stdio.h>

#include "base/finding.h"
#include "base/log.h"

void
finding_print(void *arg, const struct finding *f)
{
	static const char *const levels[] = { "note", "warning", "error" };
	bool *wrong = arg;

	fprintf(stderr, "%s: %s%s%s\n", levels[f->level], f->what,
	    f->fix[0] != '\0' ? "; fix: " : "", f->fix);
	*wrong = *wrong || f->level == FINDING_ERROR;
}

void
finding_log(void *arg, const struct finding *f)
{
	(void)arg;
	if (f->at_start && f->fix[0] != '\0')
		log_warn("%s fix=\"%s\"", f->what, f->fix);
	else if (f->at_start)
		log_warn("%s", f->what);
}
