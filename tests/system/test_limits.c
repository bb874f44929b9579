/* test_limits.c: more clients than there is room for; thousands that idle. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

enum { CLIENTS = 20, ROOM = 8 };

/* `ROOM` clients fit; the others wait in the backlog, costing nothing, and are
 * served as room comes. */
static void
expect_waiting(struct pen *pen, const struct endpoint *front, struct backend *b)
{
	struct pollfd p = { .events = POLLIN };
	int fds[CLIENTS], i, before = b->accepted;
	long long received = b->received;

	for (i = 0; i < CLIENTS; i++) {
		fds[i] = endpoint_connect(front);
		endpoint_send(fds[i], "x", 1);
	}
	WAIT_FOR(b->received >= received + ROOM, 5000);
	pen_expect_rest(pen);
	ck_assert_int_eq(b->accepted, before + ROOM);
	/* those in front go, those behind get their turn */
	for (i = 0; i < CLIENTS; i++) {
		p.fd = fds[i];
		ck_assert_int_eq(poll(&p, 1, (int)wait_scaled(10000)), 1);
		endpoint_recv(fds[i], &(char){ 0 }, 1);
		close(fds[i]);
	}
	WAIT_FOR(b->open == 0, 5000);
	ck_assert_int_eq(b->accepted, before + CLIENTS);
}

START_TEST(connection_limit)
{
	struct backend b;
	struct endpoint front;
	struct pen pen;

	NEEDS_ONE_WORKER("each worker has its part of conn_max");
	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-x", text("%d", ROOM), "-r", front.text,
	    b.at.text, NULL);
	expect_waiting(&pen, &front, &b);
	expect_waiting(&pen, &front, &b);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* More sessions are asked for than descriptors allow: the limit comes down and
 * the others wait. */
START_TEST(limit_fits_the_descriptors)
{
	struct backend b;
	struct endpoint front;
	struct pen pen;
	int fds[60], i;

	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_start_limited(
	    &pen, 100, "-f", "-x", "1000", "-r", front.text, b.at.text, NULL);
	pen_wait_ready(&pen, &front);
	for (i = 0; i < 60; i++) {
		fds[i] = endpoint_connect(&front);
		endpoint_send(fds[i], "x", 1);
	}
	WAIT_FOR(b.received >= 20, 5000);
	for (i = 0; i < 60; i++) {
		endpoint_recv(fds[i], &(char){ 0 }, 1);
		close(fds[i]);
	}
	WAIT_FOR(b.open == 0, 5000);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* With as many connections as there may be, as many control clients as there
 * may be get in, and spare connections take nobody's place. */
START_TEST(control_fits_the_descriptors)
{
	enum { LIMIT = 512, CONTROL = LIMIT / 20, MOST = LIMIT / 2 };
	struct backend b;
	struct endpoint front, ctl;
	struct pen pen;
	int fds[MOST], control[CONTROL], i;

	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_start_limited(&pen, LIMIT, "-f", "-x", "1000", "-O", "idlers 20",
	    "-C", ctl.text, "-r", front.text, b.at.text, NULL);
	pen_wait_ready(&pen, &front);
	for (i = 0; i < MOST; i++) {
		fds[i] = endpoint_connect(&front);
		endpoint_send(fds[i], "x", 1);
	}
	WAIT_FOR(b.received >= MOST / 2, 10000);
	for (i = 0; i < CONTROL; i++) {
		control[i] = endpoint_connect(&ctl);
		endpoint_set_deadline(control[i], 10000);
		endpoint_send(control[i], "prompt\nmode\n", 12);
	}
	for (i = 0; i < CONTROL; i++)
		endpoint_recv(control[i], &(char){ 0 }, 1);
	ck_assert(!child_has_said(&pen.child, "Too many open files"));
	for (i = 0; i < CONTROL; i++)
		close(control[i]);
	for (i = 0; i < MOST; i++)
		close(fds[i]);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* ---- several services ---- */

enum { SERVICES = 20, BUSY = 40 };

/* A file of services with one server; `first` is in front of them. */
static void
write_services(const char *file, const char *first, const struct endpoint *at,
    const struct backend *b, int count)
{
	const char *all = first;
	int i;

	for (i = 0; i < count; i++)
		all = text("%sservice s%d\nlisten %s\nserver 0 address "
			   "127.0.0.1 port %d\n",
		    all, i, at[i].text, b->at.port);
	write_file(file, all);
}

/* So many clients at one address are served at the same time. */
static void
serves_all(const struct endpoint *at, int count)
{
	int fds[2 * BUSY], i;

	for (i = 0; i < count; i++) {
		fds[i] = endpoint_connect(at);
		endpoint_send(fds[i], "x", 1);
	}
	for (i = 0; i < count; i++)
		endpoint_recv(fds[i], &(char){ 0 }, 1);
	for (i = 0; i < count; i++)
		close(fds[i]);
}

/* What the other services do not use is there for one: directly, by a route,
 * and by workers. */
START_TEST(idle_services_lend_descriptors)
{
	static const char *const more[] = { "", "", "workers 2\n" };
	const char *file = scratch("many.conf"), *first = more[_i];
	struct endpoint at[SERVICES], front;
	struct backend b;
	struct pen pen;
	int i;

	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	for (i = 0; i < SERVICES; i++)
		endpoint_new(&at[i], ENDPOINT_TCP4);
	endpoint_new(&front, ENDPOINT_TCP4);
	if (_i == 1)
		first = text("service front\nlisten %s\npeek_wait 5\n"
			     "route default service s0\n",
		    front.text);
	write_services(file, first, at, &b, SERVICES);
	pen_start_limited(&pen, 512, "-f", "-F", file, NULL);
	pen_wait_ready(&pen, &at[0]);
	serves_all(_i == 1 ? &front : &at[0], BUSY);
	serves_all(&at[SERVICES - 1], BUSY);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* A flood at one leaves the others what is theirs: no client waits for a
 * descriptor. */
START_TEST(services_keep_their_share_of_descriptors)
{
	enum { LIMIT = 256, FLOOD = 200 };
	const char *file = scratch("many.conf");
	struct endpoint at[4];
	int fds[FLOOD], i;
	struct backend b;
	struct pen pen;

	NEEDS_ONE_WORKER("each worker has as many descriptors");
	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	for (i = 0; i < 4; i++)
		endpoint_new(&at[i], ENDPOINT_TCP4);
	write_services(file, "", at, &b, 4);
	pen_start_limited(&pen, LIMIT, "-f", "-F", file, NULL);
	pen_wait_ready(&pen, &at[3]);
	for (i = 0; i < FLOOD; i++) {
		fds[i] = endpoint_connect(&at[0]);
		endpoint_send(fds[i], "x", 1);
	}
	WAIT_FOR(b.received >= 50, 5000);
	for (i = 1; i < 4; i++)
		serves_all(&at[i], 8);
	ck_assert(!child_has_said(&pen.child, "Too many open files"));
	for (i = 0; i < FLOOD; i++) {
		endpoint_recv(fds[i], &(char){ 0 }, 1);
		close(fds[i]);
	}
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* A share that is small is a warning, of a start as of --check. */
START_TEST(small_shares_are_a_warning)
{
	enum { LIMIT = 256 };
	const char *says = "services have ", *file = scratch("many.conf");
	struct endpoint at[SERVICES];
	struct backend b;
	struct pen pen;
	int i;

	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	for (i = 0; i < SERVICES; i++)
		endpoint_new(&at[i], ENDPOINT_TCP4);
	write_services(file, "conn_max_all 3000\n", at, &b, SERVICES);
	pen_start_limited(&pen, LIMIT, "--check", "-F", file, NULL);
	ck_assert_int_eq(child_wait(&pen.child, 10000), 0);
	ck_assert_ptr_nonnull(strstr(child_err(&pen.child), says));
	ck_assert_ptr_nonnull(strstr(child_err(&pen.child),
	    text("%s:1: conn_max_all: all services together have ", file)));
	pen_start_limited(&pen, LIMIT, "-f", "-F", file, NULL);
	pen_wait_ready(&pen, &at[0]);
	ck_assert(child_has_said(&pen.child, says));
	pen_down(&pen);
	write_services(file, "", at, &b, 2);
	pen_start_limited(&pen, LIMIT, "--check", "-F", file, NULL);
	ck_assert_int_eq(child_wait(&pen.child, 10000), 0);
	ck_assert_str_eq(child_err(&pen.child), "");
	backend_stop(&b);
}
END_TEST

/* ---- one service ---- */

/* What does not fit is lowered, and what follows from a setting is set; but the
 * operator's file stays his. */
START_TEST(what_was_wanted_is_kept)
{
	static const char *const files[] = {
		"conn_max 20000\nidlers 5000\n", "dns\n",
	};
	const char *file = scratch("wanted.conf");
	struct backend b;
	struct endpoint front, ctl;
	struct pen pen;
	const char *said;

	NEEDS_ONE_WORKER("each worker has as many descriptors");
	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	udp_endpoint(
	    &front, ENDPOINT_TCP4); /* dns takes that of datagrams, too */
	endpoint_new(&ctl, ENDPOINT_UNIX);
	write_file(file, files[_i]);
	pen_start_limited(&pen, 1024, "-f", "-C", ctl.text, "-F", file,
	    front.text, b.at.text, NULL);
	pen_wait_ready(&pen, &front);
	ck_assert_str_eq(endpoint_ask(&ctl, "diff\n"), "");
	ck_assert_str_eq(
	    endpoint_ask(&ctl, "timeout 4; timeout 3\n"), "4\n3\n");
	ck_assert_str_eq(endpoint_ask(&ctl, "write\n"), "");
	ck_assert_ptr_nonnull(strstr(contents(file), files[_i]));
	ck_assert(!file_has(file, "\nudp"));
	said = strstr(child_err(&pen.child), "conn_max lowered from=20000 ");
	ck_assert(_i > 0 ||
	    (said != NULL && strstr(said + 1, "conn_max lowered") == NULL));
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* Nor do they take one that was promised: conn_max, which never gets smaller,
 * stays as it is when more are wanted, and when none are. */
START_TEST(spare_connections_leave_conn_max)
{
	enum { LIMIT = 1024 };
	struct backend b;
	struct endpoint front, ctl;
	struct pen pen;
	const char *most;
	unsigned wanted;

	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_start_limited(&pen, LIMIT, "-f", "-C", ctl.text, "-r", front.text,
	    b.at.text, NULL);
	pen_wait_ready(&pen, &front);
	most = endpoint_ask(&ctl, "conn_max\n");
	ck_assert_int_gt(atoi(most), 400);
	endpoint_ask(&ctl, "idlers 400\n");
	ck_assert_str_eq(endpoint_ask(&ctl, "conn_max\n"), most);
	/* what is left is theirs */
	ck_assert_int_eq(
	    sscanf(endpoint_ask(&ctl, "idlers\n"), "Idlers: %*u/%u", &wanted),
	    1);
	ck_assert_uint_gt(wanted, 0);
	ck_assert_uint_lt(wanted, (unsigned)(LIMIT - 2 * atoi(most)));
	endpoint_ask(&ctl, "idlers 0\n");
	ck_assert_str_eq(endpoint_ask(&ctl, "conn_max\n"), most);
	WAIT_FOR(
	    strcmp(endpoint_ask(&ctl, "idlers\n"), "Idlers: 0/0\n") == 0, 5000);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

#ifdef HAVE_PRLIMIT
static void
limit_descriptors(pid_t pid, unsigned long n)
{
	struct rlimit limit;

	ck_assert_int_eq(prlimit(pid, RLIMIT_NOFILE, NULL, &limit), 0);
	limit.rlim_cur = n;
	ck_assert_int_eq(prlimit(pid, RLIMIT_NOFILE, &limit, NULL), 0);
}

/* Descriptors run out all the same: it costs sessions, not the program, and no
 * processor time; then all is as before. */
START_TEST(out_of_descriptors)
{
	struct backend b;
	struct endpoint front;
	struct pen pen;
	int fds[60], i, fd, served = 0, before;
	char c;

	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", front.text, b.at.text, NULL);
	before = pen_fds(&pen);
	limit_descriptors(pen.child.pid, (unsigned long)before + 21);
	for (i = 0; i < 60; i++) {
		fds[i] = endpoint_connect(&front);
		send(fds[i], "x", 1, MSG_NOSIGNAL); /* may be refused */
	}
	WAIT_FOR(b.received >= 5, 5000);
	pen_expect_rest(&pen);
	limit_descriptors(pen.child.pid, 1000);
	for (i = 0; i < 60; i++) {
		served += recv(fds[i], &c, 1, 0) == 1;
		close(fds[i]);
	}
	printf("%d of 60 clients served on 21 descriptors\n", served);
	ck_assert_int_ge(served, 10);
	WAIT_FOR(pen_fds(&pen) <= before, 5000);
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "still here");
	close(fd);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST
#endif

/* ---- a crowd ---- */

struct crowd {
	int n;
	int *clients;
	struct pollfd *servers;
};

/* Both ends of every connection are in this process: 0.95 descriptors of the
 * limit, and pen's are as many. */
static int
crowd_size(void)
{
	struct rlimit r;
	long fits, want = suite_amount(9500, 500);

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &r), 0);
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
	fits = r.rlim_max > 30000 ? 30000 : (long)r.rlim_max;
	fits = (fits - 500) / 2;
	return (int)(want < fits ? want : fits);
}

static void
crowd_connect(struct crowd *c, const struct endpoint *front, int listener)
{
	int i;

	for (i = 0; i < c->n; i++) {
		c->clients[i] = endpoint_connect(front);
		c->servers[i].fd = accept(listener, NULL, NULL);
		ck_assert_msg(
		    c->servers[i].fd >= 0, "accept %d: %s", i, strerror(errno));
		c->servers[i].events = POLLIN;
		endpoint_set_deadline(c->servers[i].fd, 10000);
	}
}

/* Everybody speaks, then every server answers, then everybody listens. */
static void
crowd_echo(struct crowd *c)
{
	char word[32], back[32];
	int i, left = c->n;
	ssize_t k;

	for (i = 0; i < c->n; i++) {
		snprintf(word, sizeof(word), "client %06d", i);
		endpoint_send(c->clients[i], word, 13);
	}
	while (left > 0) {
		ck_assert_int_gt(
		    poll(c->servers, (nfds_t)c->n, (int)wait_scaled(10000)), 0);
		for (i = 0; i < c->n; i++) {
			if (c->servers[i].revents == 0)
				continue;
			k = recv(c->servers[i].fd, back, sizeof(back), 0);
			ck_assert_int_eq((int)k, 13);
			endpoint_send(c->servers[i].fd, back, 13);
			left--;
		}
	}
	for (i = 0; i < c->n; i++) {
		snprintf(word, sizeof(word), "client %06d", i);
		endpoint_recv(c->clients[i], back, 13);
		ck_assert_int_eq(memcmp(back, word, 13), 0);
	}
}

/* select(2) has no more: pen was aborted by the first one beyond. */
START_TEST(select_has_its_limit)
{
	enum { MANY = 600 };
	struct endpoint front, back;
	int fds[MANY], i, listener, before;
	struct pen pen;

	any_event_method();
	endpoint_new(&back, ENDPOINT_TCP4);
	endpoint_new(&front, ENDPOINT_TCP4);
	listener = endpoint_listen(&back, MANY);
	pen_up(&pen, &front, "-O", "select", "-r", front.text, back.text, NULL);
	before = pen_fds(&pen);
	if (before == 0)
		SKIP("needs /proc");
	for (i = 0; i < MANY; i++)
		fds[i] = endpoint_connect(&front);
	WAIT_FOR(pen_fds(&pen) > 900, 5000);
	pen_expect_rest(&pen);
	for (i = 0; i < MANY; i++)
		endpoint_reset(fds[i]);
	WAIT_FOR(pen_fds(&pen) <= before, 5000);
	pen_down(&pen);
	close(listener);
}
END_TEST

START_TEST(thousands_idle_then_speak)
{
	struct crowd c = { .n = crowd_size() };
	struct endpoint front, back;
	struct pen pen;
	int i, listener, fds;
	long rss;

	NEEDS_MORE_THAN_SELECT();
	c.clients = calloc((size_t)c.n, sizeof(*c.clients));
	c.servers = calloc((size_t)c.n, sizeof(*c.servers));
	endpoint_new(&back, ENDPOINT_TCP4);
	endpoint_new(&front, ENDPOINT_TCP4);
	listener = endpoint_listen(&back, 1024);
	pen_up(&pen, &front, "-r", front.text, back.text, NULL);
	/* one connection first: what is shared by all is not any one's */
	fds = pen_fds_at_rest(&pen); /* workers may still start */
	i = endpoint_connect(&front);
	close(accept(listener, NULL, NULL));
	endpoint_expect_end(i);
	close(i);
	WAIT_FOR(pen_fds(&pen) <= fds, 5000);
	rss = pen_rss_kb(&pen);

	crowd_connect(&c, &front, listener);
	rss = pen_rss_kb(&pen) - rss;
	printf("%d idle connections, %ld bytes each\n", c.n, rss * 1024 / c.n);
	/* each worker gets pages of its own, too */
	if (pen_is_plain() && pen_workers() == 1)
		ck_assert_int_lt(rss * 1024 / c.n, 800);
	/* at most: a worker that has just started may have had one more */
	if (fds > 0 && pen_is_plain())
		ck_assert_int_le(pen_fds(&pen), fds + 2 * c.n);
	crowd_echo(&c);
	crowd_echo(&c);
	for (i = 0; i < c.n; i++) {
		close(c.clients[i]);
		close(c.servers[i].fd);
	}
	WAIT_FOR(pen_fds(&pen) <= fds, 20000);
	pen_down(&pen);
	close(listener);
	free(c.clients);
	free(c.servers);
}
END_TEST

#ifdef SO_MAX_PACING_RATE
enum { MUCH = 4 << 20 };

static void
serve_much(struct backend *b, int fd)
{
	static const char bytes[MUCH];

	(void)b;
	(void)backend_send(fd, bytes, sizeof(bytes));
}

/* How long it takes to hear all of that, or, with `up`, to say it. */
static long long
takes_ms(const struct endpoint *front, bool up)
{
	static char bytes[MUCH];
	long long began = wait_now_ms();
	int fd = endpoint_connect(front);

	if (up)
		endpoint_send(fd, bytes, sizeof(bytes));
	shutdown(fd, SHUT_WR);
	while (recv(fd, bytes, sizeof(bytes), 0) > 0)
		;
	close(fd);
	return wait_now_ms() - began;
}
#endif

/* Four megabytes at two a second. The first segments go at once, and on
 * loopback they are long. */
START_TEST(rates)
{
#ifdef SO_MAX_PACING_RATE
	struct endpoint front, ctl;
	struct backend from, to;
	struct pen pen;

	backend_start(&from, ENDPOINT_TCP4, serve_much, NULL);
	backend_start(&to, ENDPOINT_TCP4, backend_sink, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-C", ctl.text, "-r", "--rate-down", "2m",
	    front.text, from.at.text, to.at.text, NULL);
	ck_assert_int_ge(takes_ms(&front, false), 1000);
	(void)takes_ms(&front, true);
	(void)endpoint_ask(&ctl, "rate_down 0; rate_up 2m\n");
	(void)takes_ms(&front, false);
	ck_assert_int_ge(takes_ms(&front, true), 1000);
	ck_assert_int_eq(to.received, 2 * MUCH);
	pen_down(&pen);
	backend_stop(&from);
	backend_stop(&to);
#else
	SKIP("this system cannot limit the rate of a socket");
#endif
}
END_TEST

SUITE(test_limits)
{
	Suite *s = suite_create("limits");

	SUITE_ADD_LOOP(s, idle_services_lend_descriptors, 60, 3);
	SUITE_ADD(s, services_keep_their_share_of_descriptors, 60);
	SUITE_ADD(s, small_shares_are_a_warning, 30);
	SUITE_ADD(s, connection_limit, 30);
	SUITE_ADD(s, limit_fits_the_descriptors, 30);
	SUITE_ADD(s, control_fits_the_descriptors, 30);
	SUITE_ADD_LOOP(s, what_was_wanted_is_kept, 20, 2);
	SUITE_ADD(s, spare_connections_leave_conn_max, 30);
#ifdef HAVE_PRLIMIT
	SUITE_ADD(s, out_of_descriptors, 30);
#endif
	SUITE_ADD(s, select_has_its_limit, 30);
	SUITE_ADD(s, thousands_idle_then_speak, 60);
	SUITE_ADD(s, rates, 60);
	return s;
}
