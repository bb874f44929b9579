/* plan.h: for targets with a pen: commands, a start, plans that are printed and
 * read again. */
#ifndef PEN_FUZZ_PLAN_H
#define PEN_FUZZ_PLAN_H

#include <signal.h>
#include <string.h>

#include "control/file/config_file.h"
#include "control/pen.h"
#include "control/socket/request.h"
#include "fuzz/fuzz.h"

static inline void
fuzz_on_wake(struct request *q)
{
	(void)q;
}

/* Runs the commands of a line; one that has to wait is given up. */
static inline void
fuzz_run(struct pen *p, struct caller *caller, const char *line)
{
	enum request_result result = REQUEST_FULL;
	struct request q;

	request_init(&q, p, caller, fuzz_on_wake);
	FUZZ_MUST(request_begin(&q, line) == 0);
	while (result == REQUEST_FULL || q.reply.more != NULL) {
		result = request_run(&q);
		buffer_fini(&q.reply.out);
		if (result == REQUEST_WAITS)
			break;
	}
	FUZZ_MUST(caller != NULL || !q.failed);
	request_fini(&q);
}

/* A pen that serves, with a plan of those commands, and no log. The signal by
 * which libFuzzer ends stays libFuzzer's. */
static inline struct pen *
fuzz_pen(const char *start)
{
	struct pen *p = pen_new();
	struct sigaction its;
	struct error e;

	FUZZ_MUST(p != NULL && sigaction(SIGUSR1, NULL, &its) == 0);
	fuzz_silence_log();
	fuzz_run(p, NULL, start);
	FUZZ_MUST(pen_start(p, &e) == 0);
	FUZZ_MUST(sigaction(SIGUSR1, &its, NULL) == 0);
	return p;
}

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
	rc = config_load(&c, fuzz_file(bytes, n), &e);
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
