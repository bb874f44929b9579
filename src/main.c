/* main.c: options, background, privileges, run. The only place that ends the
 * process. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "control/options.h"
#include "control/pen.h"
#include "control/process.h"

static int
fail(const struct error *e)
{
	fprintf(stderr, "pen: %s\n", e->text);
	return 1;
}

/* Opens everything, gives up what is not needed any more, and serves. */
static int
serve(struct pen *p, struct process *proc)
{
	const struct process_options *o = &p->config.process;
	struct error e;

	if (o->pid_file != NULL &&
	    process_lock_pid_file(proc, o->pid_file, &e) < 0)
		return fail(&e);
	if (pen_start(p, &e) < 0 || process_drop_privileges(o, &e) < 0 ||
	    process_ready(proc, &e) < 0)
		return fail(&e);
	if (pen_run(p) < 0) {
		error_set(&e, "the event loop failed");
		return fail(&e);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct pen *p = pen_new();
	struct process proc;
	struct error e;
	int status = -1;

	if (p == NULL) {
		error_set(&e, "out of memory");
		return fail(&e);
	}
	process_init(&proc);
	switch (options_parse(p, argc, argv, &e)) {
	case OPTIONS_DONE:
		status = 0;
		break;
	case OPTIONS_BAD:
		status = fail(&e);
		break;
	case OPTIONS_RUN:
		if (!p->config.process.foreground)
			status = process_background(&proc, &e);
		if (status == -2)
			status = fail(&e);
		if (status == -1)
			status = serve(p, &proc);
		break;
	}
	pen_free(p);
	process_fini(&proc);
	return status;
}
