/* fixture.c: one frontend at a time; tests share nothing else. */
#include "config.h"

#include <check.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

#include "support/fixture.h"
#include "support/suite.h"

struct fixture fixture;

static void
on_tick(struct timer *t)
{
	(void)t;
	loop_stop(fixture.loop);
}

void
fixture_breathe(void)
{
	ck_assert_int_eq(timer_start(fixture.loop, &fixture.tick, 1), 0);
	ck_assert_int_eq(loop_run(fixture.loop), 0);
}

const struct frontend_stats *
fixture_stats(void)
{
	return frontend_stats(fixture.frontend);
}

struct addr
fixture_addr(const struct endpoint *s)
{
	struct addr a = { .len = s->len };

	memcpy(&a.u, &s->addr, s->len);
	return a;
}

void
fixture_add_server(unsigned index, const struct endpoint *at)
{
	struct server_spec spec;

	server_spec_init(&spec);
	spec.name = (char *)(uintptr_t)at->text;
	spec.addrs.count = 1;
	spec.addrs.addr[0] = fixture_addr(at);
	ck_assert_ptr_nonnull(
	    pool_set_slot(fixture.pool, server_slot(index), &spec));
}

void
fixture_begin(void)
{
	fixture.loop = loop_new(NULL, &fixture.e);
	ck_assert_ptr_nonnull(fixture.loop);
	fixture.pool = pool_new();
	ck_assert_ptr_nonnull(fixture.pool);
	frontend_options_init(&fixture.options);
	fixture.options.sessions_max = 100;
	fixture.options.kernel_pipes_max = 8;
	timer_init(&fixture.tick, on_tick);
	endpoint_new(&fixture.front, ENDPOINT_TCP4);
}

void
fixture_front(void)
{
	struct frontend_address at = { .at = fixture_addr(&fixture.front) };

	fixture.frontend = frontend_new(
	    fixture.loop, fixture.pool, &fixture.options, &fixture.e);
	ck_assert_ptr_nonnull(fixture.frontend);
	ck_assert_int_eq(
	    frontend_relisten(fixture.frontend, &at, 1, &fixture.e), 0);
	frontend_start(fixture.frontend);
}

void
fixture_with(backend_fn *serve, const void *arg)
{
	backend_start(&fixture.backend, ENDPOINT_TCP4, serve, arg);
	fixture_add_server(0, &fixture.backend.at);
	fixture_front();
}

void
fixture_end(void)
{
	frontend_free(fixture.frontend);
	pool_free(fixture.pool);
	timer_fini(&fixture.tick);
	loop_free(fixture.loop);
}

bool
fixture_tells(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

bool
fixture_holds(int fd, int n)
{
	int has = 0;

	return ioctl(fd, FIONREAD, &has) == 0 && has >= n;
}

void
fixture_hears(int fd, const char *what)
{
	char bytes[64];
	size_t n = strlen(what);

	ck_assert_uint_lt(n, sizeof(bytes));
	RUN_UNTIL(fixture_holds(fd, (int)n));
	endpoint_recv(fd, bytes, n);
	bytes[n] = '\0';
	ck_assert_str_eq(bytes, what);
}

int
fixture_talks(void)
{
	int fd = endpoint_connect(&fixture.front);

	endpoint_send(fd, "hello", 5);
	fixture_hears(fd, "hello");
	return fd;
}

void
fixture_ended(enum reason why, uint64_t n)
{
	const char *other = "none";
	uint64_t sum = 0;
	int r;

	RUN_UNTIL(
	    fixture_stats()->accepted >= n && fixture_stats()->sessions == 0);
	for (r = 0; r < REASONS; r++) {
		sum += fixture_stats()->reasons[r];
		if (r != (int)why && fixture_stats()->reasons[r] > 0)
			other = reason_name((enum reason)r);
	}
	ck_assert_uint_eq(sum, fixture_stats()->accepted);
	ck_assert_msg(fixture_stats()->reasons[why] == n,
	    "%s: %llu instead of %llu; there is %s", reason_name(why),
	    (unsigned long long)fixture_stats()->reasons[why],
	    (unsigned long long)n, other);
	ck_assert_uint_eq(fixture_stats()->connecting, 0);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->connections, 0);
}
