/* ask.c: a request run to its end. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "control/apply/apply.h"
#include "control/file/config_file.h"
#include "control/plan/plan.h"
#include "control/socket/request.h"
#include "control/value/spec.h"
#include "net/loop/loop.h"
#include "support/ask.h"
#include "support/suite.h"

static void
on_wake(struct request *q)
{
	(void)q;
	ck_abort_msg("a request waits for names");
}

int
ask_pen(
    struct pen *p, const char *line, char *answer, size_t size, struct error *e)
{
	struct resolver *resolver = p->resolver;
	struct request q;
	size_t n = 0, more;
	int rc;

	e->text[0] = '\0';
	p->resolver = NULL;
	request_init(&q, p, NULL, on_wake);
	ck_assert_int_eq(request_begin(&q, line), 0);
	while (request_run(&q) != REQUEST_DONE || q.reply.more != NULL ||
	    buffer_length(&q.reply.out) > 0) {
		more = buffer_length(&q.reply.out);
		if (more > size - 1 - n)
			more = size - 1 - n;
		if (more > 0)
			memcpy(answer + n, buffer_bytes(&q.reply.out), more);
		n += more;
		buffer_fini(&q.reply.out);
	}
	answer[n] = '\0';
	rc = q.failed ? -1 : 0;
	if (rc < 0) {
		*e = q.error;
		*strstr(answer, "error: ") = '\0';
	}
	request_fini(&q);
	p->resolver = resolver;
	return rc;
}

int
apply_given(struct pen *p, struct error *e)
{
	struct plan *draft = config_draft(p, false, e);

	return draft != NULL ? apply_plan_now(p, draft, e) : -1;
}

const char *
ask_printed(const struct pen *p)
{
	struct buffer all;
	const char *kept;

	buffer_init(&all);
	plan_print(p->plan, &all);
	ck_assert_int_eq(buffer_append(&all, "", 1), 0);
	kept = text("%s", buffer_bytes(&all));
	buffer_fini(&all);
	return kept;
}

struct pen *
ask_start(void)
{
	struct pen *p = pen_new();
	struct error e;
	char answer[64];

	ck_assert_int_eq(spec_parse_listen(&p->plan->listen, scratch("s"),
			     RESOLVE_NAMES, &e),
	    0);
	ck_assert_int_eq(ask_pen(p, "server 0 address 10.0.0.1 port 80", answer,
			     sizeof(answer), &e),
	    0);
	ck_assert_msg(pen_start(p, &e) == 0, "%s", e.text);
	return p;
}

struct turn {
	struct timer timer;
	struct loop *loop;
};

static void
end_turn(struct timer *t)
{
	loop_stop(container_of(t, struct turn, timer)->loop);
}

void
ask_turn(struct pen *p)
{
	struct turn turn = { .loop = p->loop };

	timer_init(&turn.timer, end_turn);
	ck_assert_int_eq(timer_start(p->loop, &turn.timer, 1), 0);
	ck_assert_int_eq(loop_run(p->loop), 0);
	timer_fini(&turn.timer);
}
