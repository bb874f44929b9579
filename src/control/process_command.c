/* process_command.c: commands about the process itself. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "control/command.h"
#include "control/pen.h"

/* As an option each one is a step more; as a command it is set or asked for. */
int
run_debug(struct call *c, struct error *e)
{
	struct config *f = &c->pen->config;

	if (c->words->count > 1)
		return error_set(e, "expects %s", c->row->args);
	if (c->words->count == 1 &&
	    number_parse(c->words->word[0], 0, 9, &f->debug) < 0)
		return error_set(
		    e, "\"%.100s\" is no number 0..9", c->words->word[0]);
	reply_add(c->reply, "%llu\n", (unsigned long long)f->debug);
	return pen_apply(c->pen, e);
}

int
run_pid(struct call *c, struct error *e)
{
	(void)e;
	reply_add(c->reply, "%ld\n", (long)getpid());
	return 0;
}

/* A bare port is for this host alone: the socket has no password. */
static int
add_control(struct pen *p, const char *text, struct error *e)
{
	char local[64];

	if (strpbrk(text, ":/@") == NULL) {
		snprintf(local, sizeof(local), "127.0.0.1:%.40s", text);
		return spec_parse_listen(&p->control_at, local, e);
	}
	return spec_parse_listen(&p->control_at, text, e);
}

int
run_control(struct call *c, struct error *e)
{
	struct pen *p = c->pen;

	if (c->words->count > 1)
		return error_set(e, "expects %s", c->row->args);
	if (c->words->count == 0) {
		reply_add(c->reply, "%s\n", p->control_text);
		return 0;
	}
	if (p->loop != NULL)
		return error_set(e, "only at the start");
	if (add_control(p, c->words->word[0], e) < 0)
		return -1;
	snprintf(
	    p->control_text, sizeof(p->control_text), "%s", c->words->word[0]);
	return 0;
}

int
run_exit(struct call *c, struct error *e)
{
	(void)e;
	if (!c->pen->config.allow_exit) {
		reply_add(
		    c->reply, "Exit is not enabled; restart with -X flag\n");
		return 0;
	}
	if (c->pen->loop != NULL)
		loop_stop(c->pen->loop);
	return 0;
}
