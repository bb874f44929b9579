/* test_worker_counters.c: counters of workers, and their leader's sums. The
 * workers of these tests are children that count what they are sent, and send
 * nothing. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/pen.h"
#include "control/workers/workers.h"
#include "control/workers/workers_private.h"
#include "proxy/core/frontend_core.h"
#include "proxy/wire/route.h"
#include "support/ask.h"
#include "support/suite.h"

enum { WORKERS = 2 };

static struct pen *pen;
static struct error e;

struct child {
	pid_t pid;
	int to, from; /* so many connects; they are counted */
};

static void
tell(const char *line)
{
	char answer[1024];

	ck_assert_msg(ask_pen(pen, line, answer, sizeof(answer), &e) == 0,
	    "%s: %s", line, e.text);
}

static struct server *
server(void)
{
	return pool_server(pen->service->pool, 0);
}

static struct frontend_core *
core(void)
{
	return frontend_core_of(pen->service->frontend);
}

/* Clients that come, and go again. */
static void
count(unsigned n)
{
	struct attempts attempts = { .set = 0 };
	struct peer who = { .family = 0 };
	struct pool *p = pen->service->pool;

	while (n-- > 0) {
		frontend_client_in(core());
		pool_opened(p, server(), &who, &attempts, 1);
		pool_connected(p, server(), 1);
		pool_took(p, server(), 100);
		pool_moved(p, server(), &who, &attempts, 3, 4);
		pool_session_ended(server(), SERVER_END_GOOD);
		++*core()->routes->list[0].clients;
		if (n > 0)
			frontend_client_out(core(), REASON_DONE);
	}
}

/* It is the worker of a part until it is killed. The last client stays. */
static void
work(unsigned part, int from, int to)
{
	struct shared_memory m = pen->role.workers->counters;
	unsigned char n;

	m.own = part;
	*core()->stats = (struct frontend_stats){ .sessions = 0 };
	worker_counters_join(pen, &m, true);
	while (read(from, &n, 1) == 1) {
		count(n);
		if (write(to, &n, 1) != 1)
			break;
	}
}

static struct child
begin(unsigned part)
{
	int to[2], from[2];
	struct child c;

	ck_assert_int_eq(pipe(to) | pipe(from), 0);
	c = (struct child){ fork(), to[1], from[0] };
	if (c.pid == 0) {
		close(to[1]);
		close(from[0]);
		work(part, to[0], from[1]);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	return c;
}

static void
let_count(const struct child *c, unsigned char n)
{
	ck_assert_int_eq(write(c->to, &n, 1), 1);
	ck_assert_int_eq(read(c->from, &n, 1), 1);
}

static void
end(const struct child *c)
{
	ck_assert_int_eq(kill(c->pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(c->pid, NULL, 0), c->pid);
	close(c->to);
	close(c->from);
}

/* A part of the set has no process any more. */
static void
move(unsigned part)
{
	const struct shared_memory *m = &pen->role.workers->counters;

	worker_counters_move(pen, m, m, part);
}

static void
open_set(void)
{
	pen = ask_start();
	tell("route default 0");
	ck_assert_msg(workers_open(pen, WORKERS, &e) == 0, "%s", e.text);
}

static void
expect(unsigned n)
{
	const struct frontend_stats *st;
	const struct server_counters *c;

	worker_counters_sum(pen);
	st = frontend_stats(pen->service->frontend);
	c = server()->counters;
	ck_assert_uint_eq(st->accepted, n);
	ck_assert_uint_eq(c->connects, n);
	ck_assert_uint_eq(c->sent, 3 * n);
	ck_assert_uint_eq(c->received, 4 * n);
	ck_assert_uint_eq(c->ended[SERVER_END_GOOD], n);
	ck_assert_uint_eq(c->connect_durations.sum_us, 100 * n);
	ck_assert_uint_eq(c->connect_times.total, n);
}

static uint64_t
clients(void)
{
	return core()->routes->list[0].own_clients;
}

/* At once, from a worker that is stopped, too; the new one in its place begins
 * at zero. */
START_TEST(sums_are_there_at_any_time)
{
	const struct frontend_stats *st;
	struct child a, b;

	open_set();
	a = begin(0);
	b = begin(1);
	let_count(&a, 5);
	let_count(&b, 7);
	ck_assert_int_eq(kill(a.pid, SIGSTOP), 0);
	ck_assert_uint_eq(server()->counters->answered_ms, 0);
	worker_counters_sum_server(pen, server());
	ck_assert_uint_eq(server()->counters->answered_ms, 1);
	ck_assert_uint_eq(server()->counters->connects, 12);
	expect(12);
	ck_assert_uint_eq(clients(), 12);
	st = frontend_stats(pen->service->frontend);
	ck_assert_uint_eq(st->sessions, 2);
	ck_assert_uint_eq(st->sessions_peak, 2);
	end(&a);
	move(0);
	expect(12);
	ck_assert_uint_eq(clients(), 12);
	ck_assert_uint_eq(st->sessions, 1);
	a = begin(0);
	expect(12);
	let_count(&a, 1);
	expect(13);
	end(&a);
	end(&b);
	pen_free(pen);
}
END_TEST

/* What was counted until then, by those that are gone, too, is off the sum. */
START_TEST(a_clear_is_a_base)
{
	struct child a, b;

	open_set();
	a = begin(0);
	b = begin(1);
	let_count(&a, 5);
	let_count(&b, 7);
	end(&b);
	move(1);
	tell("clear counters");
	expect(0);
	ck_assert_uint_eq(
	    frontend_stats(pen->service->frontend)->sessions_peak, 1);
	let_count(&a, 3);
	expect(3);
	ck_assert_uint_eq(
	    frontend_stats(pen->service->frontend)->sessions_peak, 2);
	end(&a);
	move(0);
	expect(3);
	tell("clear counters");
	expect(0);
	pen_free(pen);
}
END_TEST

/* A server at other addresses counts anew, although a worker, and those that
 * are gone, have counted at the ones before. */
START_TEST(other_addresses_count_anew)
{
	struct child a;

	open_set();
	a = begin(0);
	let_count(&a, 5);
	end(&a);
	move(0);
	a = begin(0);
	let_count(&a, 1);
	expect(6);
	server()->generation++;
	worker_counters_sum(pen);
	ck_assert_uint_eq(server()->counters->connects, 0);
	ck_assert_uint_eq(server()->connections, 0);
	ck_assert_uint_eq(frontend_stats(pen->service->frontend)->accepted, 6);
	end(&a);
	move(0);
	worker_counters_sum(pen);
	ck_assert_uint_eq(server()->counters->connects, 0);
	pen_free(pen);
}
END_TEST

/* A set that leaves goes on counting; when it has ended its counts stay. */
START_TEST(a_set_that_leaves)
{
	struct workers *old;
	struct child a, b;

	open_set();
	a = begin(0);
	let_count(&a, 5);
	old = pen->role.workers;
	old->leaves = true;
	ck_assert_int_eq(workers_open(pen, WORKERS + 1, &e), 0);
	ck_assert_ptr_eq(pen->role.workers->past, old);
	b = begin(2);
	let_count(&b, 1);
	let_count(&a, 2);
	expect(8);
	ck_assert_uint_eq(clients(), 8);
	end(&a);
	worker_counters_move(pen, &old->counters, &old->counters, 0);
	expect(8);
	workers_end(old);
	ask_turn(pen);
	ck_assert_ptr_null(pen->role.workers->past);
	expect(8);
	ck_assert_uint_eq(clients(), 8);
	end(&b);
	pen_free(pen);
}
END_TEST

/* What this process has counted before it led workers, as another one that it
 * has taken over from. */
START_TEST(what_was_counted_before)
{
	struct child a;

	pen = ask_start();
	tell("route default 0");
	count(2);
	frontend_client_out(core(), REASON_DONE);
	ck_assert_int_eq(workers_open(pen, WORKERS, &e), 0);
	expect(2);
	ck_assert_uint_eq(clients(), 2);
	a = begin(1);
	expect(2);
	let_count(&a, 3);
	expect(5);
	end(&a);
	pen_free(pen);
}
END_TEST

/* Servers and routes that are new have places; routes that stay keep theirs. */
START_TEST(what_comes_later_counts)
{
	uint32_t place;

	open_set();
	place = core()->routes->list[0].place;
	ck_assert_uint_gt(place, 0);
	pen->role.workers->slots[0].due = pen->role.workers->slots[1].due =
	    false;
	tell("workers 2; server 1 address 10.0.0.2 port 80");
	ck_assert_uint_gt(
	    pool_server(pen->service->pool, 1)->place, server()->place);
	tell("no route default; route sni a.example 1; route default 0");
	ck_assert_uint_gt(core()->routes->list[0].place, 0);
	ck_assert_uint_ne(core()->routes->list[0].place, place);
	tell(text("service add web; service web listen %s; "
		  "service web server add 10.0.0.3:80",
	    scratch("web")));
	ck_assert_uint_gt(pen->service->next->place, 0);
	pen_free(pen);
}
END_TEST

/* Lines of its own log that the leader has lost are the first service's. */
START_TEST(lines_of_the_leader)
{
	open_set();
	*worker_counters_lines_lost(pen, &pen->role.workers->counters) += 3;
	worker_counters_sum(pen);
	ck_assert_uint_eq(
	    frontend_stats(pen->service->frontend)->lines_lost.own, 3);
	pen_free(pen);
}
END_TEST

SUITE(test_worker_counters)
{
	Suite *s = suite_create("worker_counters");

	SUITE_ADD(s, sums_are_there_at_any_time, 30);
	SUITE_ADD(s, a_clear_is_a_base, 30);
	SUITE_ADD(s, other_addresses_count_anew, 30);
	SUITE_ADD(s, a_set_that_leaves, 30);
	SUITE_ADD(s, what_was_counted_before, 30);
	SUITE_ADD(s, what_comes_later_counts, 30);
	SUITE_ADD(s, lines_of_the_leader, 30);
	return s;
}
