/* plan.h: plans that are printed and read again, for targets with a pen. */
#ifndef PEN_FUZZ_PLAN_H
#define PEN_FUZZ_PLAN_H

#include <string.h>

#include "control/file/config_file.h"
#include "control/pen.h"
#include "fuzz/fuzz.h"

/* Reads a file as a start would, and prints what it says. Returns 0, or -1 when
 * it is wrong. */
static inline int
fuzz_load(struct pen *p, const void *bytes, size_t n, struct buffer *printed)
{
	struct plan *draft = plan_copy(p->given);
	struct reply unheard;
	struct call c = { .pen = p,
		.service = p->service,
		.draft = draft,
		.plan = draft,
		.reply = &unheard,
		.dry = true };
	struct error e;
	int rc;

	FUZZ_MUST(draft != NULL);
	reply_init(&unheard);
	rc = config_load(&c, fuzz_file(bytes, n), NULL, &e);
	if (rc == 0)
		plan_print(draft, printed);
	reply_fini(&unheard);
	plan_free(draft);
	return rc;
}

/* Read again, a plan that was printed is the same. */
static inline void
fuzz_check_printed(struct pen *p, const struct buffer *printed)
{
	const char *text = buffer_bytes(printed);
	size_t n = buffer_length(printed);
	struct buffer again;

	buffer_init(&again);
	FUZZ_MUST(fuzz_load(p, text, n, &again) == 0);
	FUZZ_MUST(buffer_length(&again) == n &&
	    memcmp(buffer_bytes(&again), text, n) == 0);
	buffer_fini(&again);
}

#endif
