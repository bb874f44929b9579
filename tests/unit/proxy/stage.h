/* stage.h: a frontend in a real loop, with a backend in a thread behind it and
 * clients that are blocking sockets of the test itself: the loop must run while
 * they wait. For the test programs of this directory, one stage each. */
#ifndef PEN_TEST_PROXY_STAGE_H
#define PEN_TEST_PROXY_STAGE_H

#include <check.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

#include "net/loop.h"
#include "proxy/frontend.h"
#include "support/backend.h"
#include "support/spot.h"
#include "support/suite.h"
#include "support/wait.h"

static struct error e;
static struct loop *loop;
static struct pool *pool;
static struct frontend *frontend;
static struct frontend_options options;
static struct timer tick;
static struct backend backend;
static struct spot front;

static inline void
on_tick(struct timer *t)
{
	(void)t;
	loop_stop(loop);
}

static inline void
breathe(void)
{
	ck_assert_int_eq(timer_start(loop, &tick, 1), 0);
	ck_assert_int_eq(loop_run(loop), 0);
}

/* Runs the loop until it holds. */
#define RUN_UNTIL(expr)                                                 \
	do {                                                            \
		long long run_end = wait_now_ms() + wait_scaled(10000); \
		while (!(expr)) {                                       \
			if (wait_now_ms() > run_end)                    \
				ck_abort_msg("never: %s", #expr);       \
			breathe();                                      \
		}                                                       \
	} while (0)

static inline const struct frontend_stats *
stats(void)
{
	return frontend_stats(frontend);
}

static inline struct addr
addr_of(const struct spot *s)
{
	struct addr a = { .len = s->len };

	memcpy(&a.u, &s->addr, s->len);
	return a;
}

static inline void
add_server(unsigned index, const struct spot *at)
{
	struct server_spec spec;

	server_spec_init(&spec);
	spec.name = (char *)(uintptr_t)at->text;
	spec.addrs.count = 1;
	spec.addrs.addr[0] = addr_of(at);
	ck_assert_ptr_nonnull(pool_set_server(pool, index, &spec));
}

/* A frontend without servers; `options` may be changed before begin_front(). */
static inline void
begin(void)
{
	loop = loop_new(NULL, &e);
	ck_assert_ptr_nonnull(loop);
	pool = pool_new();
	ck_assert_ptr_nonnull(pool);
	frontend_options_init(&options);
	options.sessions_max = 100;
	options.kernel_pipes_max = 8;
	timer_init(&tick, on_tick);
	spot_new(&front, SPOT_TCP4);
}

static inline void
begin_front(void)
{
	struct addr at = addr_of(&front);

	frontend = frontend_new(loop, pool, &options, &e);
	ck_assert_ptr_nonnull(frontend);
	ck_assert_int_eq(frontend_listen(frontend, &at, false, &e), 0);
	ck_assert_int_eq(frontend_start(frontend), 0);
}

static inline void
begin_with(backend_fn *serve, const void *arg)
{
	backend_start(&backend, SPOT_TCP4, serve, arg);
	add_server(0, &backend.at);
	begin_front();
}

static inline void
end(void)
{
	frontend_free(frontend);
	pool_free(pool);
	timer_fini(&tick);
	loop_free(loop);
}

/* Something is to be read, or the end, or a reset. */
static inline bool
tells(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static inline bool
holds(int fd, int n)
{
	int has = 0;

	return ioctl(fd, FIONREAD, &has) == 0 && has >= n;
}

static inline void
hears(int fd, const char *what)
{
	char bytes[64];
	size_t n = strlen(what);

	ck_assert_uint_lt(n, sizeof(bytes));
	RUN_UNTIL(holds(fd, (int)n));
	spot_recv(fd, bytes, n);
	bytes[n] = '\0';
	ck_assert_str_eq(bytes, what);
}

static inline int
talks(void)
{
	int fd = spot_connect(&front);

	spot_send(fd, "hello", 5);
	hears(fd, "hello");
	return fd;
}

/* All sessions are over, each for one reason, `n` of them for this one. */
static inline void
ended(enum reason why, uint64_t n)
{
	uint64_t sum = 0;
	int r;

	RUN_UNTIL(stats()->accepted >= n && stats()->sessions == 0);
	for (r = 0; r < REASONS; r++)
		sum += stats()->reasons[r];
	ck_assert_uint_eq(sum, stats()->accepted);
	ck_assert_msg(stats()->reasons[why] == n, "%s: %llu instead of %llu",
	    reason_name(why), (unsigned long long)stats()->reasons[why],
	    (unsigned long long)n);
	ck_assert_uint_eq(stats()->connecting, 0);
	ck_assert_uint_eq(pool_server(pool, 0)->connections, 0);
}

#endif
