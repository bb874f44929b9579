/* test_sessions.c: sessions of a frontend on a kernel of the test's own, with
 * clients and servers that do anything in any order, and an operator who does,
 * too; what must hold is checked at each turn of the loop. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/invariants.h"
#include "model/model.h"
#include "model/parties.h"
#include "proxy/frontend/frontend_private.h"
#include "proxy/session/connections.h"
#include "support/suite.h"

enum { CLIENTS = 300, AT_ONCE = 40, STEPS_MAX = 400 * 1000 };

static struct run {
	unsigned steps;
	bool draining;
} run;

/* ---- servers ---- */

static int
on_connect(struct conn *c)
{
	unsigned i = (unsigned)ntohs(c->peer.sin_port) - MODEL_SERVER_PORT;

	ck_assert_uint_lt(i, MODEL_SERVERS);
	if (model.modes[i] == MODEL_REFUSES && kernel_one_in(3))
		return ECONNREFUSED;
	parties_accept(c, i);
	return model.modes[i] == MODEL_ANSWERS && kernel_one_in(4)
	    ? 0
	    : EINPROGRESS;
}

/* Connects that are under way are over some time. */
static void
connects_go_on(void)
{
	struct party *p;

	for (p = parties.first; p != NULL; p = p->next)
		if (p->conn->connecting && kernel_one_in(4) &&
		    (model.modes[p->server] != MODEL_HANGS ||
			parties.hurried)) {
			bool refused = model.modes[p->server] == MODEL_REFUSES;

			kernel_connected(p->conn, refused ? ECONNREFUSED : 0);
			p->closed |= refused;
		}
}

/* ---- the operator ---- */

static void
draw_options(void)
{
	static const enum fastclose ends[] = { FASTCLOSE_OFF, FASTCLOSE_OFF,
		FASTCLOSE_OFF, FASTCLOSE_UP, FASTCLOSE_DOWN, FASTCLOSE_BOTH };
	struct frontend_options *o = &model.options;

	o->connect_timeout_ms = model_some(3000, 100);
	o->retry_ms = model_some(3000, 0);
	o->retry_requests = (unsigned)model_some(0, 3);
	o->queue_ms = model_some(0, 2000);
	o->idle_timeout_ms = model_some(0, 3000);
	o->half_timeout_ms = model_some(3600 * 1000, 2000);
	o->linger_ms = model_some(30 * 1000, 500);
	o->sessions_max = model_some(50, 10);
	o->pending_max = model_some(0, 5);
	o->buffer = model_some(0, model_some(100, 1 << 20));
	o->accept_max = (unsigned)model_some(64, 2);
	o->nodelay = kernel_one_in(2);
	o->fastclose = ends[kernel_below(6)];
	o->splice = kernel_one_in(2);
	o->preopened = model_some(0, 3);
	o->end.max_age_ms = model_some(0, model_some(0, 4000));
	o->end.quiet_ms = model_some(5000, 100);
	o->end.quiet = (enum quiet_end)kernel_below(3);
}

static void
close_down(void)
{
	if (model.paused)
		frontend_resume(model.frontend);
	model.paused = false;
	if (run.draining || kernel_one_in(2))
		return;
	run.draining = true;
	frontend_drain(model.frontend);
}

static void
operate(struct task *task)
{
	struct error e;
	uint64_t asked;

	(void)task;
	if (parties.hurried) {
		close_down();
		return;
	}
	switch (kernel_below(8)) {
	case 0:
		(void)connection_close(
		    frontend_sessions(model.frontend), kernel_below(40));
		break;
	case 1:
		(void)sessions_rebalance(frontend_sessions(model.frontend),
		    1 + kernel_below(100), &asked, &e);
		break;
	default:
		model_operate(draw_options);
	}
}

/* ---- the world ---- */

/* One more comes, or somebody does something, or time passes. */
static void
happen(void)
{
	unsigned what = kernel_below(100);

	if (what < 12 && parties.clients < AT_ONCE && parties.born < CLIENTS)
		(void)parties_visit((uint16_t)(MODEL_PORT + kernel_below(2)));
	else if (what < 85)
		parties_act();
	else if (what < 95)
		model_wait();
	else if (what < 97)
		model_wake_operator();
	connects_go_on();
	parties_tidy();
}

/* All end what they do, and all sessions end. */
static void
come_to_an_end(void)
{
	if (parties.hurried)
		return;
	parties.hurried = true;
	model_wake_operator();
}

static void
note_buffer(void)
{
	struct party *p;

	for (p = parties.first; p != NULL; p = p->next)
		p->let_go |= model.options.buffer > 0;
}

static void
on_sleep(bool idle)
{
	note_buffer();
	MUST(run.steps++ < STEPS_MAX);
	invariants_join(model.frontend);
	invariants_hold(model.frontend);
	if (idle)
		invariants_hold_asleep(model.loop, model.frontend);
	if (idle || kernel_one_in(3))
		happen();
	if (parties.born == CLIENTS)
		come_to_an_end();
	if (parties.hurried && frontend_left(model.frontend) == 0 &&
	    parties.clients == 0)
		model_stop();
}

/* A tenth of the runs is short of all. */
static int
trouble(const char *call)
{
	static const struct {
		const char *call;
		int error;
	} rows[] = { { "socket", EMFILE }, { "accept4", ENFILE },
		{ "accept4", ECONNABORTED }, { "connect", EADDRNOTAVAIL },
		{ "connect", ENETUNREACH }, { "send", ENOBUFS },
		{ "pipe2", EMFILE }, { "epoll_ctl", ENOSPC } };
	unsigned i = kernel_below(8);

	return !parties.hurried && strcmp(rows[i].call, call) == 0 &&
		kernel_one_in(8)
	    ? rows[i].error
	    : 0;
}

void __real_frontend_client_out(struct frontend_core *f, enum reason why);
void __wrap_frontend_client_out(struct frontend_core *f, enum reason why);
void __real_stream_close(struct loop *l, struct stream *s, bool reset);
void __wrap_stream_close(struct loop *l, struct stream *s, bool reset);

static struct party *leaving; /* whose client was closed last */

/* A session may begin and end in one turn. */
void
__wrap_stream_close(struct loop *l, struct stream *s, bool reset)
{
	struct conn *c = s->fd >= 0 ? kernel_conn(s->fd) : NULL;

	if (model.frontend != NULL)
		invariants_join(model.frontend);
	leaving = c != NULL && !c->outgoing ? c->arg : NULL;
	__real_stream_close(l, s, reset);
}

void
__wrap_frontend_client_out(struct frontend_core *f, enum reason why)
{
	if (leaving != NULL)
		leaving->reason = (int)why;
	leaving = NULL;
	__real_frontend_client_out(f, why);
}

static void
run_seed(uint64_t seed)
{
	bool short_of_all;

	memset(&run, 0, sizeof(run));
	model_begin(seed, operate);
	parties_begin();
	kernel.on_connect = on_connect;
	short_of_all = kernel_one_in(10);
	draw_options();
	model_draw_pool_options();
	kernel.on_sleep = on_sleep;
	model_front();
	if (short_of_all) /* not of its listener */
		kernel.trouble = trouble;
	ck_assert_int_eq(loop_run(model.loop), 0);
	model_end();
	parties_end();
}

START_TEST(any_order)
{
	run_seed(model_seed(_i));
}
END_TEST

/* A server whose FIN was known and not read, as the client was slow, reset. */
START_TEST(reset_after_fin)
{
	static const uint64_t seeds[] = { 134, 220, 1946 };

	run_seed(seeds[_i]);
}
END_TEST

SUITE(test_sessions)
{
	Suite *s = suite_create("sessions");

	SUITE_ADD_LOOP(s, any_order, 60, model_runs(8, 2000));
	SUITE_ADD_LOOP(s, reset_after_fin, 60, 3);
	return s;
}
