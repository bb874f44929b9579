/* test_listener.c: accepting in portions, pausing, running out of
 * descriptors. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/listener.h"
#include "support/suite.h"
#include "support/wait.h"

enum { CLIENTS = 20 };

static const struct sock_listen_options plain = { .backlog = 64 };
static struct error e;
static struct loop *loop;
static struct listener l;
static struct timer alarm_;
static int clients[CLIENTS];
static int accepted, wanted;	  /* connections so far, before stopping */
static int in_turn, most_in_turn; /* of one wake-up */
static unsigned turn;
static bool pause_each;
static _Atomic uint32_t number; /* of another process, which each client .. */
static bool raises;		/* .. makes raise it */
static struct shared_number shared;
static int changes, last; /* what closes the listener */
static bool drains;
static int pauses; /* the change that pauses it */

static void
on_accept(struct listener *from, int fd, const struct peer *who)
{
	ck_assert_ptr_eq(from, &l);
	ck_assert_ptr_eq(from->arg, &loop);
	ck_assert_uint_eq(who->family, AF_INET);
	close(fd);
	in_turn = loop_turn(loop) == turn ? in_turn + 1 : 1;
	turn = loop_turn(loop);
	if (in_turn > most_in_turn)
		most_in_turn = in_turn;
	if (pause_each)
		listener_pause(from);
	/* what each client before it has raised was obeyed */
	ck_assert(!raises || drains || shared.seen == number);
	number += raises;
	if (++accepted == wanted)
		loop_stop(loop);
}

static void
on_alarm(struct timer *t)
{
	(void)t;
	if (pause_each && l.paused)
		ck_assert_int_eq(listener_resume(&l), 0);
	loop_stop(loop);
}

static void
begin(const struct addr *at, unsigned budget)
{
	loop = loop_new(NULL, &e);
	ck_assert_ptr_nonnull(loop);
	memset(&l, 0x5a, sizeof(l));
	ck_assert_msg(
	    listener_open(&l, loop, at, &plain, &e) == 0, "%s", e.text);
	l.budget = budget;
	l.on_accept = on_accept;
	l.arg = &loop;
	accepted = in_turn = most_in_turn = 0;
	turn = loop_turn(loop);
	pause_each = raises = drains = false;
	changes = last = pauses = 0;
	timer_init(&alarm_, on_alarm);
}

static void
begin_tcp(unsigned budget)
{
	struct addr at;

	ck_assert_int_eq(addr_parse_ip(&at, "127.0.0.1", 0), 0);
	begin(&at, budget);
}

static void
end(void)
{
	timer_fini(&alarm_);
	listener_close(&l);
	ck_assert_int_eq(l.fd, -1);
	listener_close(&l);
	loop_free(loop);
}

static void
connect_clients(int n)
{
	struct sock_connect_options c = { .sources = NULL };
	struct pollfd p;
	struct addr at;
	int i;

	ck_assert_int_eq(sock_local_addr(l.fd, &at), 0);
	for (i = 0; i < n; i++) {
		clients[i] = sock_connect(&at, &c);
		ck_assert_int_ge(clients[i], 0);
		p = (struct pollfd){ .fd = clients[i], .events = POLLOUT };
		ck_assert_int_eq(poll(&p, 1, 10000), 1);
		ck_assert_int_eq(sock_error(clients[i]), 0);
	}
}

static void
close_clients(int n)
{
	while (n-- > 0)
		close(clients[n]);
}

/* Runs until `n` connections are accepted, or `ms` are over. */
static void
run(int n, uint64_t ms)
{
	wanted = n;
	ck_assert_int_eq(
	    timer_start(loop, &alarm_, (uint64_t)wait_scaled((long)ms)), 0);
	ck_assert_int_eq(loop_run(loop), 0);
	timer_stop(&alarm_);
}

/* Quiet until resumed; then no wake-up takes more than the budget. */
START_TEST(portions)
{
	static const unsigned budgets[] = { 1, 3, 64 };

	begin_tcp(budgets[_i]);
	connect_clients(CLIENTS);
	run(CLIENTS, 20);
	ck_assert_int_eq(accepted, 0);
	ck_assert_int_eq(listener_resume(&l), 0);
	ck_assert_int_eq(listener_resume(&l), 0);
	run(CLIENTS, 10000);
	ck_assert_int_eq(accepted, CLIENTS);
	ck_assert_int_le(most_in_turn, (int)budgets[_i]);
	/* a queue that lasts is emptied faster and faster */
	if (budgets[_i] > 1)
		ck_assert_int_gt(most_in_turn, 1);
	close_clients(CLIENTS);
	end();
}
END_TEST

/* The owner may pause it in the callback; the rest waits in the backlog. */
START_TEST(paused_by_its_owner)
{
	int i;

	begin_tcp(64);
	pause_each = true;
	connect_clients(5);
	ck_assert_int_eq(listener_resume(&l), 0);
	for (i = 1; i <= 5; i++) {
		run(CLIENTS, 20);
		ck_assert_int_eq(accepted, i);
	}
	listener_pause(&l);
	listener_pause(&l);
	connect_clients(1);
	run(CLIENTS, 0);
	ck_assert_int_eq(accepted, 5);
	end();
}
END_TEST

/* Without descriptors it waits without spinning, and goes on by itself. Nothing
 * is asserted before they are back: that might need one. */
START_TEST(out_of_descriptors)
{
	struct rlimit r, none;
	unsigned turns, i;
	int rc, early, watched;
	bool starved;

	begin_tcp(64);
	connect_clients(3);
	ck_assert_int_eq(listener_resume(&l), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &r), 0);
	none = r;
	none.rlim_cur = 3;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	turns = loop_turn(loop);
	run(3, 50);
	turns = loop_turn(loop) - turns;
	early = accepted;
	/* but for the moment in which it tries again */
	for (i = 0; !l.starved && i < 100; i++)
		run(3, 1);
	starved = l.starved;
	/* the owner's wish does not end it, nor does its end undo the wish */
	listener_pause(&l);
	rc = listener_resume(&l);
	watched = l.watch.fd;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &r), 0);
	ck_assert_int_eq(early, 0);
	ck_assert(starved);
	/* it tries ten times a second */
	ck_assert_uint_lt(turns, 20 + (unsigned)wait_scaled(50) / 10);
	ck_assert_int_eq(rc, 0);
	ck_assert_int_lt(watched, 0);
	run(3, 10000);
	ck_assert_int_eq(accepted, 3);
	ck_assert(!l.starved);
	end();
}
END_TEST

/* However often it tries meanwhile. */
START_TEST(shortage_is_logged_once)
{
	const char *path = scratch("log");
	int err = dup(STDERR_FILENO), log;
	struct rlimit r, none;

	begin_tcp(1);
	connect_clients(3);
	ck_assert_int_eq(listener_resume(&l), 0);
	log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	ck_assert_int_eq(dup2(log, STDERR_FILENO), STDERR_FILENO);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &r), 0);
	none = r;
	none.rlim_cur = 3;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	run(3, 500);
	(void)setrlimit(RLIMIT_NOFILE, &r);
	run(1, 10000); /* one is served, which ends no shortage */
	(void)setrlimit(RLIMIT_NOFILE, &none);
	run(3, 500);
	(void)setrlimit(RLIMIT_NOFILE, &r);
	(void)dup2(err, STDERR_FILENO);
	close(err);
	close(log);
	run(3, 10000);
	ck_assert_int_eq(accepted, 3);
	ck_assert_int_eq(count_in(contents(path), "accept failed"), 1);
	close_clients(3);
	end();
}
END_TEST

/* Resumes without its descriptor, where no line of the log can be written.
 * Returns the errno. */
static int
cannot_resume(void)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC),
	    err = dup(STDERR_FILENO), error;

	(void)dup2(full, STDERR_FILENO);
	close(l.fd);
	errno = 0;
	error = listener_resume(&l) < 0 ? errno : 0;
	(void)dup2(err, STDERR_FILENO);
	close(err);
	close(full);
	return error;
}

/* What cannot be watched now is tried again, without another word of the
 * owner's. */
START_TEST(resumes_by_itself)
{
	int saved;

	begin_tcp(64);
	connect_clients(1);
	saved = dup(l.fd);
	ck_assert_int_ge(saved, 0);
	ck_assert_int_eq(cannot_resume(), EBADF);
	ck_assert_int_lt(l.watch.fd, 0);
	ck_assert_int_eq(dup2(saved, l.fd), l.fd);
	close(saved);
	run(1, 10000);
	ck_assert_int_eq(accepted, 1);
	close_clients(1);
	end();
}
END_TEST

static void
on_tick(struct timer *t)
{
	ck_assert_int_eq(timer_start(loop, t, 0), 0);
}

/* Timers between two looks at a queue do not make it look short. */
START_TEST(burst_grows_beside_timers)
{
	struct timer tick;

	begin_tcp(64);
	timer_init(&tick, on_tick);
	ck_assert_int_eq(timer_start(loop, &tick, 0), 0);
	connect_clients(CLIENTS);
	ck_assert_int_eq(listener_resume(&l), 0);
	run(CLIENTS, 10000);
	ck_assert_int_eq(accepted, CLIENTS);
	ck_assert_int_ge(most_in_turn, 8);
	timer_fini(&tick);
	close_clients(CLIENTS);
	end();
}
END_TEST

START_TEST(closed_while_starved)
{
	begin_tcp(64);
	l.starved = true;
	ck_assert_int_eq(timer_start(loop, &l.retry, 1), 0);
	listener_close(&l);
	run(1, 20);
	end();
}
END_TEST

/* ---- a number of another process ---- */

static void
on_change(struct shared_number *n)
{
	ck_assert_ptr_eq(n, &shared);
	ck_assert(!loop_check_number(loop));
	if (++changes == pauses) {
		listener_pause(&l);
		loop_stop(loop);
	}
	if (changes != last)
		return;
	if (drains)
		listener_drain(&l);
	listener_close(&l);
	loop_stop(loop);
}

static void
watch_number(void)
{
	shared = (struct shared_number){
		.now = &number, .seen = number, .on_change = on_change
	};
	loop_watch_number(loop, &shared);
	raises = true;
}

/* It comes before the next client, also of those that are accepted together. */
START_TEST(a_number_is_checked_for_each)
{
	begin_tcp(64);
	watch_number();
	connect_clients(CLIENTS);
	ck_assert_int_eq(listener_resume(&l), 0);
	run(CLIENTS, 10000);
	ck_assert_int_eq(accepted, CLIENTS);
	ck_assert_int_gt(most_in_turn, 1);
	ck_assert_int_ge(changes, CLIENTS - 1);
	close_clients(CLIENTS);
	end();
}
END_TEST

/* What closes it meanwhile closes the client that was just accepted, too, as
 * those in the backlog; or all of them are served. */
START_TEST(closed_for_a_number)
{
	char byte;

	begin_tcp(64);
	watch_number();
	connect_clients(CLIENTS);
	drains = _i;
	last = 5; /* within a burst */
	ck_assert_int_eq(listener_resume(&l), 0);
	run(CLIENTS + 1, 10000);
	ck_assert_int_eq(l.fd, -1);
	ck_assert_int_ge(changes, last);
	ck_assert_int_eq(accepted, drains ? CLIENTS : last);
	ck_assert_int_le(recv(clients[last], &byte, 1, 0), 0);
	close_clients(CLIENTS);
	end();
}
END_TEST

/* What pauses it lets the client that was just accepted wait, too. */
START_TEST(paused_for_a_number)
{
	begin_tcp(64);
	watch_number();
	pauses = 5;
	connect_clients(CLIENTS);
	ck_assert_int_eq(listener_resume(&l), 0);
	run(CLIENTS, 10000);
	ck_assert_int_eq(changes, pauses);
	ck_assert_int_eq(accepted, pauses);
	ck_assert_int_ge(l.waiting, 0);
	ck_assert_int_eq(listener_resume(&l), 0);
	ck_assert_int_eq(accepted, pauses + 1);
	run(CLIENTS, 10000);
	ck_assert_int_eq(accepted, CLIENTS);
	close_clients(CLIENTS);
	end();
}
END_TEST

static struct dgram_batch *
two_datagrams(char *memory)
{
	struct dgram_batch *b = dgram_batch_new(memory);

	b->count = 2;
	b->at[0].n = 3;
	b->at[1].n = 0;
	memcpy(b->at[0].bytes, "one", 3);
	return b;
}

static unsigned batches;
static struct dgram_batch *its_own; /* not a copy */

static void
on_batch(struct listener *from, struct dgram_batch *b)
{
	ck_assert_ptr_eq(from, &l);
	ck_assert(shared.seen == number);
	ck_assert_uint_eq(b->count, 2);
	ck_assert_uint_eq(b->at[0].n, 3);
	ck_assert_int_eq(memcmp(b->at[0].bytes, "one", 3), 0);
	ck_assert_uint_eq(b->at[1].n, 0);
	ck_assert((b == its_own) == (batches == 0));
	batches++;
}

/* Their memory may be used meanwhile, and the listener be paused or closed. */
START_TEST(a_number_is_checked_for_datagrams)
{
	char *memory = malloc(LOOP_SCRATCH);
	struct dgram_batch *b;

	begin_tcp(64);
	watch_number();
	l.on_batch = on_batch;
	batches = 0;
	ck_assert_int_eq(listener_resume(&l), 0);
	its_own = b = two_datagrams(memory);
	ck_assert(listener_take(&l, b));
	ck_assert_uint_eq(batches, 1);
	number++;
	ck_assert(listener_take(&l, b));
	ck_assert_int_eq(changes, 1);
	ck_assert_uint_eq(batches, 2);
	pauses = 2;
	number++;
	ck_assert(!listener_take(&l, b));
	ck_assert_uint_eq(batches, 2);
	memset(memory, 'x', 10);
	ck_assert_int_eq(listener_resume(&l), 0);
	ck_assert_uint_eq(batches, 3);
	last = 3;
	number++;
	ck_assert(!listener_take(&l, b));
	ck_assert_uint_eq(batches, 3);
	free(b);
	free(memory);
	end();
}
END_TEST

START_TEST(files_and_errors)
{
	const char *path = scratch("s");
	struct listener second;
	struct addr at;

	ck_assert_int_eq(addr_parse_unix(&at, path), 0);
	begin(&at, 1);
	ck_assert_int_eq(listener_open(&second, loop, &at, &plain, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, path));
	listener_close(&second);
	ck_assert_int_eq(access(path, F_OK), 0);
	end();
	ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

SUITE(test_listener)
{
	Suite *s = suite_create("listener");
	TCase *c = tcase_create("portions");

	tcase_set_timeout(c, 30);
	tcase_add_loop_test(c, portions, 0, 3);
	suite_add_tcase(s, c);
	SUITE_ADD(s, paused_by_its_owner, 30);
	/* valgrind, where tests share a process, takes a connection off the
	 * queue before it says EMFILE: nothing is left to wait for */
	if (getenv("CK_FORK") == NULL) {
		SUITE_ADD(s, out_of_descriptors, 30);
		SUITE_ADD(s, shortage_is_logged_once, 30);
	}
	SUITE_ADD(s, resumes_by_itself, 30);
	SUITE_ADD(s, burst_grows_beside_timers, 30);
	SUITE_ADD(s, closed_while_starved, 30);
	SUITE_ADD(s, a_number_is_checked_for_each, 30);
	SUITE_ADD_LOOP(s, closed_for_a_number, 30, 2);
	SUITE_ADD(s, paused_for_a_number, 30);
	SUITE_ADD(s, a_number_is_checked_for_datagrams, 30);
	SUITE_ADD(s, files_and_errors, 30);
	return s;
}
