/* rig.c: one frontend at a time; the tests of a program share nothing else. */
#include "config.h"

#include <check.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

#include "support/rig.h"
#include "support/suite.h"

struct rig rig;

static void
on_tick(struct timer *t)
{
	(void)t;
	loop_stop(rig.loop);
}

void
rig_breathe(void)
{
	ck_assert_int_eq(timer_start(rig.loop, &rig.tick, 1), 0);
	ck_assert_int_eq(loop_run(rig.loop), 0);
}

const struct frontend_stats *
rig_stats(void)
{
	return frontend_stats(rig.frontend);
}

struct addr
rig_addr(const struct spot *s)
{
	struct addr a = { .len = s->len };

	memcpy(&a.u, &s->addr, s->len);
	return a;
}

void
rig_add_server(unsigned index, const struct spot *at)
{
	struct server_spec spec;

	server_spec_init(&spec);
	spec.name = (char *)(uintptr_t)at->text;
	spec.addrs.count = 1;
	spec.addrs.addr[0] = rig_addr(at);
	ck_assert_ptr_nonnull(
	    pool_set_slot(rig.pool, server_slot(index), &spec));
}

void
rig_begin(void)
{
	rig.loop = loop_new(NULL, &rig.e);
	ck_assert_ptr_nonnull(rig.loop);
	rig.pool = pool_new();
	ck_assert_ptr_nonnull(rig.pool);
	frontend_options_init(&rig.options);
	rig.options.sessions_max = 100;
	rig.options.kernel_pipes_max = 8;
	timer_init(&rig.tick, on_tick);
	spot_new(&rig.front, SPOT_TCP4);
}

void
rig_front(void)
{
	struct addr at = rig_addr(&rig.front);

	rig.frontend = frontend_new(rig.loop, rig.pool, &rig.options, &rig.e);
	ck_assert_ptr_nonnull(rig.frontend);
	ck_assert_int_eq(frontend_listen(rig.frontend, &at, false, &rig.e), 0);
	ck_assert_int_eq(frontend_start(rig.frontend), 0);
}

void
rig_with(backend_fn *serve, const void *arg)
{
	backend_start(&rig.backend, SPOT_TCP4, serve, arg);
	rig_add_server(0, &rig.backend.at);
	rig_front();
}

void
rig_end(void)
{
	frontend_free(rig.frontend);
	pool_free(rig.pool);
	timer_fini(&rig.tick);
	loop_free(rig.loop);
}

bool
rig_tells(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

bool
rig_holds(int fd, int n)
{
	int has = 0;

	return ioctl(fd, FIONREAD, &has) == 0 && has >= n;
}

void
rig_hears(int fd, const char *what)
{
	char bytes[64];
	size_t n = strlen(what);

	ck_assert_uint_lt(n, sizeof(bytes));
	RUN_UNTIL(rig_holds(fd, (int)n));
	spot_recv(fd, bytes, n);
	bytes[n] = '\0';
	ck_assert_str_eq(bytes, what);
}

int
rig_talks(void)
{
	int fd = spot_connect(&rig.front);

	spot_send(fd, "hello", 5);
	rig_hears(fd, "hello");
	return fd;
}

void
rig_ended(enum reason why, uint64_t n)
{
	const char *other = "none";
	uint64_t sum = 0;
	int r;

	RUN_UNTIL(rig_stats()->accepted >= n && rig_stats()->sessions == 0);
	for (r = 0; r < REASONS; r++) {
		sum += rig_stats()->reasons[r];
		if (r != (int)why && rig_stats()->reasons[r] > 0)
			other = reason_name((enum reason)r);
	}
	ck_assert_uint_eq(sum, rig_stats()->accepted);
	ck_assert_msg(rig_stats()->reasons[why] == n,
	    "%s: %llu instead of %llu; there is %s", reason_name(why),
	    (unsigned long long)rig_stats()->reasons[why],
	    (unsigned long long)n, other);
	ck_assert_uint_eq(rig_stats()->connecting, 0);
	ck_assert_uint_eq(pool_server(rig.pool, 0)->connections, 0);
}
