/* test_seat.c: what a leader hears of a worker that talks while the leader
 * does, or that has ended. The workers here are children that only do that. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/pen.h"
#include "control/workers/workers.h"
#include "control/workers/workers_private.h"
#include "net/loop/loop.h"
#include "support/ask.h"
#include "support/suite.h"
#include "support/wait.h"

enum { LONG = 3 * 1000 * 1000, MS = 10000 };

static struct pen *pen;
static struct error e;

/* A leader, whose first worker does that, and then is over. */
static struct seat *
begin(void (*work)(struct channel *leader))
{
	char answer[64];
	struct channel end;
	struct seat *s;

	pen = pen_new();
	ck_assert_int_eq(spec_parse_listen(&pen->plan->listen, scratch("s"),
			     RESOLVE_NAMES, &e),
	    0);
	ck_assert_int_eq(ask_pen(pen, "server 0 address 10.0.0.1 port 80",
			     answer, sizeof(answer), &e),
	    0);
	ck_assert_msg(pen_start(pen, &e) == 0, "%s", e.text);
	ck_assert_msg(workers_open(pen, 2, &e) == 0, "%s", e.text);
	s = pen->team.workers->seat;
	ck_assert_int_eq(channel_open_pair(&s->channel, &end), 0);
	s->pid = fork();
	if (s->pid == 0) {
		channel_close(&s->channel);
		work(&end);
		_exit(0);
	}
	channel_close(&end);
	ck_assert_int_gt(s->pid, 0);
	return s;
}

static void
say_counts(struct channel *leader)
{
	struct buffer out;

	pool_server(pen->service->pool, 0)->connects = 5;
	buffer_init(&out);
	(void)tally_write(pen, &out);
	(void)channel_send(leader, MESSAGE_COUNTS, buffer_bytes(&out),
	    buffer_length(&out), MS);
}

static void
talk_and_listen(struct channel *leader)
{
	say_counts(leader);
	(void)channel_wait(leader, MESSAGE_END, MESSAGE_END, MS);
}

static void
stop_loop(struct timer *t)
{
	(void)t;
	loop_stop(pen->loop);
}

static void
run_briefly(void)
{
	struct timer t;

	timer_init(&t, stop_loop);
	ck_assert_int_eq(timer_start(pen->loop, &t, 1), 0);
	ck_assert_int_eq(loop_run(pen->loop), 0);
	timer_fini(&t);
}

/* No event will report what was read with it. */
START_TEST(talks_while_it_is_sent_to)
{
	struct seat *s = begin(talk_and_listen);
	char *bytes = calloc(1, LONG);

	seat_send(s, MESSAGE_STATE, bytes, LONG);
	ck_assert_ptr_null(s->counts);
	WAIT_FOR((run_briefly(), s->counts != NULL), MS);
	free(bytes);
	pen_free(pen);
}
END_TEST

/* What it has counted last counts, although its end was seen first. */
START_TEST(has_ended)
{
	struct seat *s = begin(say_counts);
	siginfo_t info;

	ck_assert_int_eq(
	    waitid(P_PID, (id_t)s->pid, &info, WEXITED | WNOWAIT), 0);
	seat_send(s, MESSAGE_PING, NULL, 0);
	ck_assert_int_eq(s->pid, 0);
	tally_apply(pen, &pen->team.workers->gone);
	ck_assert_uint_eq(pool_server(pen->service->pool, 0)->connects, 5);
	pen_free(pen);
}
END_TEST

SUITE(test_seat)
{
	Suite *s = suite_create("seat");

	SUITE_ADD(s, talks_while_it_is_sent_to, 30);
	SUITE_ADD(s, has_ended, 30);
	return s;
}
