/* test_checks.c: health checks on a kernel of the test's own: servers answer,
 * refuse, hang, say something else, or answer in pieces; servers come and go,
 * and checks are set anew. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "net/loop/loop_private.h"
#include "proxy/check/checker_private.h"
#include "proxy/frontend/frontend_private.h"
#include "support/suite.h"

enum { RESULTS = 400, STEPS_MAX = 400 * 1000 };
enum { ANSWERS, REFUSES, HANGS, IS_SILENT, LIES, ENDS, RESETS, MODES };

/* What the test knows of a server. */
struct known {
	unsigned mode;
	bool asks; /* its check sends a question */
	bool good; /* the last check has had what it wants */
	bool down;
	unsigned against; /* results in a row */
};

/* A connection of a check. */
struct asked {
	struct asked *next;
	struct conn *conn;
	unsigned server, heard, said;
	bool lies, closed;
};

static struct run {
	struct checker *checker;
	struct known of[MODEL_SERVERS];
	struct asked *first;
	unsigned steps, results, allowed;
	bool over;
} run;

/* ---- servers ---- */

static int
on_connect(struct conn *c)
{
	struct asked *a = calloc(1, sizeof(*a));
	struct known *k;

	MUST(a != NULL);
	a->server = (unsigned)ntohs(c->peer.sin_port) - MODEL_SERVER_PORT;
	MUST(a->server < MODEL_SERVERS);
	k = &run.of[a->server];
	k->good = false;
	if (k->mode == REFUSES && kernel_one_in(3)) {
		free(a);
		return ECONNREFUSED;
	}
	kernel_size(c, 64);
	c->arg = a;
	a->conn = c;
	a->next = run.first;
	run.first = a;
	return EINPROGRESS;
}

static void
connects(struct asked *a)
{
	struct known *k = &run.of[a->server];

	if (k->mode == HANGS && !run.over)
		return;
	a->closed = k->mode == REFUSES;
	k->good = !a->closed && !k->asks;
	kernel_connected(a->conn, a->closed ? ECONNREFUSED : 0);
}

/* A byte of the answer, or what comes instead. */
static void
answers(struct asked *a)
{
	struct known *k = &run.of[a->server];
	char bytes[64];

	a->heard += (unsigned)kernel_take(a->conn, bytes, sizeof(bytes));
	if (k->good)
		return;
	if (k->mode == RESETS || k->mode == ENDS) {
		a->closed = true;
		if (k->mode == RESETS)
			kernel_reset(a->conn);
		else
			kernel_hang_up(a->conn);
	} else if (a->heard == 4 && a->said < 4 && k->mode != IS_SILENT) {
		a->lies |= k->mode == LIES;
		kernel_put(a->conn, (a->lies ? "ugly" : "pong") + a->said++, 1);
		k->good |= a->said == 4 && !a->lies;
	}
}

static void
act(struct asked *a)
{
	if (a->conn->fd == -1) {
		if (!a->closed)
			kernel_hang_up(a->conn);
		a->closed = true;
	} else if (a->conn->connecting) {
		connects(a);
	} else if (!a->closed) {
		answers(a);
	}
}

static void
servers_act(void)
{
	struct asked **at = &run.first, *a;

	while ((a = *at) != NULL) {
		if (kernel_one_in(2))
			act(a);
		if (!a->closed || a->conn->fd != -1) {
			at = &a->next;
			continue;
		}
		*at = a->next;
		kernel_forget(a->conn);
		free(a);
	}
}

/* ---- what holds ---- */

/* By the definition of rise and fall. */
static void
take_result(struct known *k, bool good)
{
	const struct health_options *o = &pool_options(model.pool)->health;

	if (good == !k->down) {
		k->against = 0;
		return;
	}
	if (++k->against < (good ? o->rise : o->fall))
		return;
	k->against = 0;
	k->down = !good;
}

bool __real_pool_checked(struct pool *p, struct server *s, bool good,
    const char *reason, uint64_t now);
bool __wrap_pool_checked(struct pool *p, struct server *s, bool good,
    const char *reason, uint64_t now);

/* A result, as the pool gets it. */
bool
__wrap_pool_checked(struct pool *p, struct server *s, bool good,
    const char *reason, uint64_t now)
{
	struct known *k = &run.of[s->number % MODEL_SERVERS];

	if (run.checker != NULL) {
		run.results++;
		MUST_OR(good == k->good ||
			(!good && strstr(reason, "timed out") != NULL),
		    "server %u, which is %s: %s", s->number,
		    k->good ? "good" : "not", reason);
		take_result(k, good);
	}
	return __real_pool_checked(p, s, good, reason, now);
}

static void
compare(unsigned number)
{
	const struct server *s = pool_server(model.pool, number);

	MUST_OR(s->health.down == run.of[number].down, "server %u is %s",
	    number, s->health.down ? "down" : "up");
}

static void
invariants(bool idle)
{
	const struct checker *c = run.checker;
	uint64_t now = loop_now(model.loop);
	bool late = idle && now >= c->ticked + 10;
	unsigned i, running = 0;

	for (i = 0; i < c->slots; i++) {
		const struct checker_record *r = c->records[i];

		if (r == NULL || r->spec == NULL)
			continue;
		running += r->running != NULL;
		MUST(r->running != NULL || r->due + 1 > r->began_ms);
		MUST(!late || r->running != NULL || r->due > now ||
		    c->stats.running >= c->options.running_max);
	}
	MUST(c->stats.running == running);
	if (run.allowed > running)
		run.allowed = running;
	if (run.allowed < c->options.running_max)
		run.allowed = c->options.running_max;
	MUST(running <= run.allowed);
	/* a listener and an alarm besides */
	MUST(kernel.open <= running + 2);
	MUST(!late || heap_top(&c->deadlines) == HEAP_EMPTY ||
	    heap_top_key(&c->deadlines) > now);
}

/* ---- the operator ---- */

static void
set_options(void)
{
	struct checker_options o = { .interval_ms = model_some(1000, 100),
		.timeout_ms = model_some(500, 50),
		.running_max = (unsigned)model_some(1, 10) };

	/* those that run go on */
	run.allowed = checker_stats(run.checker)->running;
	checker_set_options(run.checker, &o);
}

/* A server that is there is checked, one way or the other. */
static void
set_check(unsigned number)
{
	struct known *k = &run.of[number];
	struct checker_target t = { .spec = NULL };
	struct server *s = pool_server(model.pool, number);

	k->asks = kernel_one_in(2);
	t.spec = check_spec_read(
	    k->asks ? "send ping expect pong" : "connect", &model.e);
	ck_assert_msg(t.spec != NULL, "%s", model.e.text);
	ck_assert_int_eq(checker_reserve(run.checker, s->slot), 0);
	pool_begin_checks(model.pool, s);
	checker_set(run.checker, s->slot, &t, kernel_one_in(2));
	check_spec_drop(t.spec);
}

static void
remove_server(unsigned number)
{
	struct checker_target none = { .spec = NULL };
	struct server *s = pool_server(model.pool, number);

	checker_set(run.checker, s->slot, &none, false);
	pool_unchecked(model.pool, s);
	if (kernel_one_in(2)) {
		pool_remove_server(model.pool, s);
		model_add_server(number);
	}
	run.of[number].down = false;
	run.of[number].against = 0;
	set_check(number);
}

static void
operate(struct task *task)
{
	unsigned number = kernel_below(MODEL_SERVERS);

	(void)task;
	switch (kernel_below(8)) {
	case 0:
		set_options();
		break;
	case 1:
		remove_server(number);
		break;
	case 2:
		checker_hurry(run.checker, pool_server(model.pool, number));
		break;
	default:
		run.of[number].mode =
		    kernel_one_in(2) ? ANSWERS : kernel_below(MODES);
	}
}

static void
on_sleep(bool idle)
{
	unsigned i, what = kernel_below(100);

	MUST(run.steps++ < STEPS_MAX);
	for (i = 0; i < MODEL_SERVERS; i++)
		compare(i);
	invariants(idle);
	servers_act();
	if (idle && what < 50)
		model_wait();
	if (what >= 98)
		model_wake_operator();
	if (run.results >= RESULTS && idle)
		model_stop();
}

static int
trouble(const char *call)
{
	return strcmp(call, "timerfd_create") != 0 && kernel_one_in(20) ? EMFILE
									: 0;
}

START_TEST(any_order)
{
	unsigned i;

	memset(&run, 0, sizeof(run));
	model_begin(model_seed(_i), operate);
	kernel.on_connect = on_connect;
	kernel.on_sleep = on_sleep;
	model_front();
	run.checker = checker_new(
	    model.loop, model.pool, frontend_core_of(model.frontend));
	ck_assert_ptr_nonnull(run.checker);
	set_options();
	for (i = 0; i < MODEL_SERVERS; i++)
		set_check(i);
	if (kernel_one_in(5))
		kernel.trouble = trouble;
	ck_assert_int_eq(loop_run(model.loop), 0);
	checker_free(run.checker);
	run.checker = NULL;
	run.over = true;
	while (run.first != NULL)
		servers_act();
	model_end();
}
END_TEST

SUITE(test_checks)
{
	Suite *s = suite_create("checks");

	SUITE_ADD_LOOP(s, any_order, 60, model_runs(20, 2000));
	return s;
}
