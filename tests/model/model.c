/* model.c: begins and ends a run. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "model/model.h"
#include "pool/balance.h"
#include "support/pooladmin.h"
#include "support/suite.h"

struct model model;

int
model_runs(int few, int many)
{
	if (getenv("PEN_MODEL_SEED") != NULL)
		return 1;
	if (suite_is_full())
		return many;
	return suite_rounds(suite_is_light() ? (few + 1) / 2 : few);
}

uint64_t
model_seed(int i)
{
	const char *seed = getenv("PEN_MODEL_SEED");

	return seed != NULL ? strtoull(seed, NULL, 10) : (uint64_t)i + 1;
}

static struct addr
addr_at(uint16_t port)
{
	struct addr a;

	ck_assert_int_eq(addr_parse_ip(&a, "127.0.0.1", port), 0);
	return a;
}

void
model_add_server(unsigned number)
{
	struct server_spec spec;

	server_spec_init(&spec);
	spec.name = (char *)(uintptr_t)text("s%u", number);
	spec.addrs.count = 1;
	spec.addrs.addr[0] = addr_at((uint16_t)(MODEL_SERVER_PORT + number));
	ck_assert_ptr_nonnull(
	    pool_set_slot(model.pool, server_slot(number), &spec));
}

void
model_begin(uint64_t seed, void (*operate)(struct task *task))
{
	unsigned i;

	fprintf(
	    stderr, "model: PEN_MODEL_SEED=%llu\n", (unsigned long long)seed);
	log_level = LOG_LEVEL_ERROR;
	kernel_begin(seed);
	memset(&model, 0, sizeof(model));
	list_init(&model.operator.link);
	model.operator.run = operate;
	model.pool = pool_new();
	ck_assert_ptr_nonnull(model.pool);
	for (i = 0; i < MODEL_SERVERS; i++)
		model_add_server(i);
	frontend_options_init(&model.options);
	model.options.sessions_max = 50;
	model.options.kernel_pipes_max = 8;
}

void
model_front(void)
{
	struct frontend_address at = { .at = addr_at(MODEL_PORT),
		.datagram = model.options.udp.on };

	model.loop = loop_new("epoll", &model.e);
	ck_assert_msg(model.loop != NULL, "%s", model.e.text);
	model.frontend =
	    frontend_new(model.loop, model.pool, &model.options, &model.e);
	ck_assert_ptr_nonnull(model.frontend);
	ck_assert_msg(frontend_relisten(model.frontend, &at, 1, &model.e) == 0,
	    "%s", model.e.text);
	frontend_start(model.frontend);
}

void
model_end(void)
{
	frontend_free(model.frontend);
	pool_free(model.pool);
	loop_free(model.loop);
	kernel.on_sleep = NULL; /* the clock is the system's */
	kernel_end();
}

void
model_wake_operator(void)
{
	loop_soon(model.loop, &model.operator);
	kernel.woken = true;
}

void
model_stop(void)
{
	kernel.stop = true;
	loop_stop(model.loop);
}

/* ---- what the operator does ---- */

static struct server *
some_server(void)
{
	return pool_server(model.pool, kernel_below(MODEL_SERVERS));
}

uint64_t
model_some(uint64_t a, uint64_t b)
{
	return kernel_one_in(2) ? a : b;
}

void
model_draw_pool_options(void)
{
	static const char *const names[] = { "roundrobin", "leastconn", "hash",
		"least_time", "prio", "p2c" };
	struct pool_options o = *pool_options(model.pool);
	const struct balance *b = balance_find(names[kernel_below(6)]);

	if (b != NULL)
		o.balance = b;
	o.sticky = kernel_one_in(2);
	o.stubborn = kernel_one_in(8);
	o.blacklist_ms = model_some(30000, 200);
	o.on_down = (enum server_on_down)(1 + kernel_below(2));
	o.failback = (enum failback)kernel_below(3);
	ck_assert_int_eq(pool_set_options(model.pool, &o), 0);
}

/* At MODEL_PORT, or at the next one, or both. */
static void
relisten(void)
{
	struct frontend_address list[2];
	unsigned n = 0, i, which = 1 + kernel_below(3);

	memset(list, 0, sizeof(list));
	for (i = 0; i < 2; i++) {
		if (which >> i & 1) {
			list[n].datagram = model.options.udp.on;
			list[n++].at = addr_at((uint16_t)(MODEL_PORT + i));
		}
	}
	if (frontend_relisten(model.frontend, list, n, &model.e) == 0)
		frontend_relistened(model.frontend);
	else
		MUST(kernel.trouble != NULL);
}

static void
change_server(struct server *s)
{
	static const enum server_admin states[] = { SERVER_ENABLED,
		SERVER_ENABLED, SERVER_DRAINING, SERVER_DISABLED };
	uint64_t now = loop_now(model.loop);

	switch (kernel_below(5)) {
	case 0:
		pool_set_admin(model.pool, s, states[kernel_below(4)]);
		break;
	case 1:
		pool_take_out(model.pool, s, now);
		break;
	case 2:
		pool_begin_checks(model.pool, s);
		(void)pool_checked(
		    model.pool, s, kernel_one_in(2), "model", now);
		frontend_cut_sessions(model.frontend);
		break;
	case 3:
		s->set.hard = model_some(0, 3);
		pool_refresh(s);
		break;
	default:
		pool_unchecked(model.pool, s);
	}
}

/* Removed ones come back. */
static void
change_servers(void)
{
	struct server *s = some_server();

	if (!s->present)
		model_add_server(s->number);
	else if (kernel_one_in(3))
		pool_remove_server(model.pool, s);
	else
		change_server(s);
}

static void
pause_or_resume(void)
{
	model.paused = !model.paused && kernel_one_in(2);
	if (model.paused)
		frontend_pause(model.frontend);
	else
		frontend_resume(model.frontend);
}

void
model_operate(void (*draw_options)(void))
{
	switch (kernel_below(6)) {
	case 0:
		draw_options();
		frontend_set_options(model.frontend, &model.options);
		break;
	case 1:
		model_draw_pool_options();
		break;
	case 2:
		if (!model.paused)
			relisten();
		break;
	case 3:
		pause_or_resume();
		break;
	case 4:
		model.modes[kernel_below(MODEL_SERVERS)] =
		    kernel_below(MODEL_MODES);
		break;
	default:
		change_servers();
	}
}

void
model_wait(void)
{
	uint64_t most = kernel_one_in(4) ? 5000000 : 20000;
	uint64_t us = kernel_random() % most;

	if (kernel.alarm_us > kernel.now_us &&
	    us > kernel.alarm_us - kernel.now_us)
		us = kernel.alarm_us - kernel.now_us + kernel_below(2000);
	kernel.now_us += us;
}
