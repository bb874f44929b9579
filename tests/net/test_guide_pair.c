/* test_guide_pair.c: the files of examples/guide for more than one balancer and
 * for direct return: real keepaliveds move the address, and a director with one
 * network card passes on what clients send. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/ctl.h"
#include "support/dsrmany.h"
#include "support/guide.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 30000, SERVERS = 2, PAIR = 2 };

#define DSR_VIP "192.0.2.20"

static struct guide guide;
static struct nginx web[SERVERS];

/* nginx at port 80 of all addresses of the servers. */
static void
web_up(const char *page, const char *lines)
{
	int i;

	for (i = 0; i < SERVERS; i++) {
		net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER + i);
		nginx_up_with(&web[i], text("server %d %s", i, page), "",
		    text("listen *:80; %s", lines));
		net_fixture_leave(&guide.fixture);
	}
}

static void
web_down(void)
{
	nginx_down(&web[0]);
	nginx_down(&web[1]);
}

/* By that address of the client; "" when it cannot be fetched. */
static const char *
fetch_from(const char *from, const char *url)
{
	struct child c;

	net_fixture_start(&guide.fixture, NET_FIXTURE_CLIENT, &c,
	    (const char *[]){ "curl", "-sS", "--interface", from,
		"--connect-timeout", "1", "-m", "10", url, NULL });
	return child_wait(&c, SOON) == 0 ? child_out(&c) : "";
}

static const char *
fetch(const char *url)
{
	return fetch_from(GUIDE_CLIENT, url);
}

/* ---- direct return ---- */

/* Runs lines of the guide there. */
static void
carry_out(enum net_fixture_place where, const char *lines)
{
	net_fixture_run(
	    &guide.fixture, where, SOON, "sh", "-e", "-c", lines, NULL);
}

static bool
has_macvlan(void)
{
	struct child c;

	net_fixture_start(&guide.fixture, NET_FIXTURE_DIRECTOR, &c,
	    (const char *[]){ "ip", "link", "add", "try0", "link", "eth0",
		"type", "macvlan", "mode", "bridge", NULL });
	if (child_wait(&c, SOON) != 0)
		return false;
	net_fixture_ip(&guide.fixture, NET_FIXTURE_DIRECTOR, "link del try0\n");
	return true;
}

static void
prepare_server(int i)
{
	carry_out(NET_FIXTURE_SERVER + i,
	    guide_quote("dsr.conf", "On each server, at each boot"));
}

static void
prepare_director(enum net_fixture_place where)
{
	carry_out(
	    where, guide_quote("dsr.conf", "On this host, at each boot:"));
}

START_TEST(dsr)
{
	bool seen[SERVERS] = { false, false };
	const char *page;
	int i;

	NEED_PROGRAM("nginx");
	NEED_PROGRAM("curl");
	NEED_PROGRAM("sysctl");
	NEED_GUIDE(&guide, "dsr");
	if (!has_macvlan())
		SKIP("the kernel has no macvlan");
	web_up("client=$remote_addr", "");
	prepare_director(NET_FIXTURE_DIRECTOR);
	for (i = 0; i < SERVERS; i++)
		prepare_server(i);
	guide_start(&guide);
	for (i = 0; i < SERVERS; i++)
		guide_wait_server(&guide, i, "up result ok");
	for (i = 0; i < 6; i++) {
		page = fetch("http://192.0.2.20/");
		ck_assert_int_eq(strncmp(page, "server ", 7), 0);
		ck_assert_str_eq(page + 8, " client=" GUIDE_CLIENT);
		seen[page[7] - '0'] = true;
	}
	ck_assert(seen[0] && seen[1]);
	guide_end(&guide);
	web_down();
}
END_TEST

/* ---- keepalived on both hosts ---- */

static const char *shared = GUIDE_PEN "/24"; /* keepalived's address */

static struct balancer {
	enum net_fixture_place where;
	struct pen pen;
	struct child keepalived;
	const char *file, *ctl; /* of pen */
	const char *conf;	/* of keepalived */
} pair[PAIR] = {
	{ .where = NET_FIXTURE_DIRECTOR },
	{ .where = NET_FIXTURE_DIRECTOR2 },
};

static void
keepalived_start(struct balancer *b)
{
	const char *dir = scratch(text("keepalived%d", b->where));

	ck_assert_int_eq(mkdir(dir, 0755), 0);
	net_fixture_run(&guide.fixture, b->where, SOON,
	    child_find("keepalived"), "-t", "-f", b->conf, NULL);
	net_fixture_start(&guide.fixture, b->where, &b->keepalived,
	    (const char *[]){ child_find("keepalived"), "-n", "-l", "-P", "-f",
		b->conf, "-p", text("%s/pid", dir), "-r", text("%s/vrrp", dir),
		NULL });
}

static bool
has_address(const struct balancer *b)
{
	return strstr(net_fixture_run(&guide.fixture, b->where, SOON, "ip",
			  "addr", "show", "dev", "eth0", NULL),
		   shared) != NULL;
}

static struct balancer *
owner(void)
{
	WAIT_FOR(has_address(&pair[0]) != has_address(&pair[1]), SOON);
	return has_address(&pair[0]) ? &pair[0] : &pair[1];
}

/* `differs`: what the files have on each machine, see guide_differs(). */
static void
pair_up(const char *keepalived, const char *const *const differs[PAIR])
{
	const char *fit;
	int i;

	for (i = 0; i < PAIR; i++) {
		guide_machine(&guide, text("pen%d-", i));
		guide_differs(differs[i]);
		write_file(guide_path("/etc/pen/peer.key"),
		    "a secret of more than 32 bytes, shared");
		ck_assert_int_eq(
		    chmod(guide_path("/etc/pen/peer.key"), 0600), 0);
		guide_start_at(&guide, &pair[i].pen, pair[i].where);
		pair[i].file = guide_path(text("/etc/pen/%s.conf", guide.name));
		pair[i].ctl = guide_path(text("/run/pen-%s/ctl", guide.name));
		pair[i].conf = scratch(text("keepalived%d.conf", i));
		write_file(pair[i].conf, guide_text(keepalived));
		/* else the address moves once more after the start */
		fit = guide_path(text("/run/pen-%s/fit", guide.name));
		if (strstr(guide_text(keepalived), "track_file pen") != NULL)
			WAIT_FOR(access(fit, F_OK) == 0, SOON);
	}
	for (i = 0; i < PAIR; i++)
		keepalived_start(&pair[i]);
}

static void
pair_down(void)
{
	int i;

	for (i = 0; i < PAIR; i++) {
		child_stop(&pair[i].keepalived, SIGTERM);
		if (pair[i].pen.child.running)
			pen_down(&pair[i].pen);
	}
	net_fixture_down(&guide.fixture);
	web_down();
}

static const char *
ask(const struct balancer *b, const char *line)
{
	return net_fixture_run(
	    &guide.fixture, b->where, SOON, ctl_client(), b->ctl, line, NULL);
}

/* ---- clients of a pair ---- */

enum { LONG = 40, NEW = 20, NEW_MS = 100 };

static struct dsrmany many;

static void
open_long(const char *question, const char *ip, int port)
{
	unsigned i;

	dsrmany_init(&many, &guide.fixture, question);
	for (i = 0; i < LONG; i++)
		dsrmany_add(&many, SOCK_STREAM, NULL, ip, port);
	dsrmany_wait_known(&many, SOON);
}

static size_t
answers(void)
{
	size_t n = 0;
	unsigned i;

	for (i = 0; i < many.count; i++)
		n += many.one[i].got;
	return n;
}

static unsigned
cut(unsigned from, unsigned to)
{
	unsigned i, n = 0;

	for (i = from; i < to; i++)
		n += many.one[i].fate != DSRMANY_GOES_ON;
	return n;
}

static int
moves(struct balancer *b)
{
	struct child *c = &b->keepalived;

	return count_in(
	    text("%s%s", child_out(c), child_err(c)), "Entering MASTER STATE");
}

/* Long connections ask in turn, and new ones come, until the address has moved
 * and there is an answer; `before`: times that it moved there before. */
static void
go_on(const char *what, struct balancer *second, int before, const char *ip,
    int port)
{
	long long began = wait_now_ms(), moved = 0, answered = 0, now = began;
	unsigned next = 0, refused = 0;
	size_t had = 0;

	while (answered == 0 || many.count < LONG + NEW) {
		ck_assert_msg(now < began + wait_scaled(SOON), "%s: %s", what,
		    child_err(&second->pen.child));
		if (now >= began + (many.count - LONG) * NEW_MS)
			dsrmany_add(&many, SOCK_STREAM, NULL, ip, port);
		dsrmany_ask(&many, next++ % LONG);
		dsrmany_turn(&many, 5);
		now = wait_now_ms();
		if (moved == 0 && moves(second) > before) {
			moved = now;
			refused = cut(LONG, many.count);
		}
		if (moved == 0)
			had = answers();
		else if (answered == 0 && answers() > had)
			answered = now;
	}
	(void)dsrmany_wait_answers(&many, SOON);
	dsrmany_wait_known(&many, SOON);
	printf("%s: %u of %d long connections cut, first answer %lld ms after "
	       "the event, %lld ms after the move; of %u new ones %u refused "
	       "before it, %u later\n",
	    what, cut(0, LONG), LONG, answered - began, answered - moved,
	    many.count - LONG, refused, cut(LONG, many.count) - refused);
}

/* ---- two balancers ---- */

/* The switch, and the clients, have to learn where the address is. */
static const char *
page_of(unsigned i)
{
	const char *from = text("192.0.2.%u", 100 + i), *page = "";

	WAIT_FOR(
	    *(page = fetch_from(from, "http://" GUIDE_PEN "/")) != '\0', SOON);
	ck_assert_str_eq(page + 8, text(" client=%s", from));
	return page;
}

/* Clients that the other one has reported. */
static long
heard(const struct balancer *b)
{
	return report_number(ask(b, "statistics"), "peer_clients_received");
}

/* Pages come by the address, from the same server whoever has it. With
 * PEN_TEST_FULL=1 what long connections and new ones see is printed. */
START_TEST(two_balancers)
{
	static const char *const one[] = { NULL },
				 *const two[] = { "router_id pen1",
					 "router_id pen2", NULL };
	unsigned i, n = suite_is_full() ? LONG : 4;
	struct balancer *first, *second;
	const char *page[LONG];
	int before;

	NEED_PROGRAM("nginx");
	NEED_PROGRAM("keepalived");
	if (geteuid() != 0)
		SKIP("keepalived needs root");
	NEED_GUIDES(&guide, "two-balancers", true);
	web_up("client=$remote_addr",
	    guide_quote(
		"two-balancers.conf", "With nginx, in the block server { }"));
	pair_up(
	    "keepalived.conf", (const char *const *const[PAIR]){ one, two });
	(void)owner();
	for (i = 0; i < n; i++) {
		if (i > 0)
			net_fixture_ip(&guide.fixture, NET_FIXTURE_CLIENT,
			    text("addr add 192.0.2.%u/24 dev eth0\n", 100 + i));
		page[i] = page_of(i);
	}
	for (i = 0; i < n; i++)
		ck_assert_str_eq(page_of(i), page[i]);
	WAIT_FOR(heard(&pair[0]) + heard(&pair[1]) >= (long)n, SOON);
	first = owner();
	second = first == &pair[0] ? &pair[1] : &pair[0];
	before = moves(second);
	if (suite_is_full())
		open_long("GET / HTTP/1.1\r\nHost: a\r\n\r\n", GUIDE_PEN, 80);
	child_stop(&first->pen.child, SIGKILL);
	if (suite_is_full())
		go_on("proxies, pen killed", second, before, GUIDE_PEN, 80);
	WAIT_FOR(has_address(second) && !has_address(first), SOON);
	for (i = 0; i < n; i++)
		ck_assert_str_eq(page_of(i), page[i]);
	pair_down();
}
END_TEST

/* ---- two directors ---- */

static bool
stands_by(const struct balancer *b)
{
	return report_number(ask(b, "dsr"), "\nstandby") == 1;
}

static bool
is_up(const struct balancer *b)
{
	const char *checks = ask(b, "checks");

	return strstr(checks, " down ") == NULL &&
	    strstr(checks, "result ok") != NULL;
}

static bool
has_long(const struct balancer *b)
{
	return report_number(ask(b, "dsr"), "\nflows ") >= LONG;
}

/* Sets which one is active. Returns whether both have the states for that. */
static bool
are_settled(struct balancer **first, struct balancer **second)
{
	*first = owner();
	*second = *first == &pair[0] ? &pair[1] : &pair[0];
	return !stands_by(*first) && stands_by(*second);
}

static void
directors_up(const char *balance, const char *peer)
{
	const char *both[] = { "/usr/bin/penctl", ctl_client(), "roundrobin",
		balance, "peer 192", peer, "router_id pen1", "router_id pen2",
		"priority 100", "priority 90", "dsr_ip 192.0.2.19",
		"dsr_ip 192.0.2.18", NULL };
	const char *one[7];
	int i;

	memcpy(one, both, 6 * sizeof(*both));
	one[6] = NULL;
	for (i = 0; i < SERVERS; i++) {
		prepare_server(i);
		dsrmany_serve_at(&guide.fixture, (unsigned)i, DSR_VIP);
	}
	for (i = 0; i < PAIR; i++) {
		const char *script;

		prepare_director(pair[i].where);
		guide_machine(&guide, text("pen%d-", i));
		guide_differs(i == 0 ? one : both);
		script = guide_path("/etc/pen/dsr-pair.sh");
		write_file(script, guide_text("dsr-pair.sh"));
		ck_assert_int_eq(chmod(script, 0755), 0);
	}
	pair_up("keepalived-dsr.conf",
	    (const char *const *const[PAIR]){ one, both });
}

static void
start_again(struct balancer *b)
{
	child_stop(&b->pen.child, SIGKILL);
	net_fixture_enter(&guide.fixture, b->where);
	pen_start(&b->pen, "-f", "-F", b->file, NULL);
	net_fixture_leave(&guide.fixture);
	WAIT_FOR(child_has_said(&b->pen.child, "started version="), SOON);
}

/* What happens to the active host. */
enum event { CABLES_OUT, PEN_KILLED, STARTED_AGAIN, STOPPED };

static void
let_happen(enum event event, struct balancer *b)
{
	switch (event) {
	case CABLES_OUT:
		net_fixture_ip(&guide.fixture, NET_FIXTURE_SWITCH,
		    b == &pair[0] ? "link set d1 down\n"
				  : "link set d2 down\n");
		break;
	case PEN_KILLED:
		child_stop(&b->pen.child, SIGKILL);
		break;
	case STARTED_AGAIN:
		start_again(b);
		break;
	case STOPPED: /* it has time for all connections */
		(void)ask(b, "drain_timeout 0");
		ck_assert_int_eq(kill(b->pen.child.pid, SIGQUIT), 0);
		break;
	}
}

/* And when the other one has the address. */
static void
expect_end(enum event event, struct balancer *first, struct balancer *second)
{
	switch (event) {
	case PEN_KILLED:
		/* there is no other host: it gets the address again */
		start_again(second);
		WAIT_FOR(!stands_by(second), SOON);
		break;
	case STOPPED:
		WAIT_FOR(child_has_ended(&first->pen.child), SOON);
		break;
	case CABLES_OUT:
	case STARTED_AGAIN:
		WAIT_FOR(stands_by(first), SOON);
		break;
	}
}

static void
expect_pair(enum event event, const char *balance, const char *peer)
{
	static const char *const names[] = { "cables out", "pen killed",
		"pen started again", "pen stopped" };
	struct balancer *first, *second;
	unsigned i;
	int before;

	NEED_PROGRAM("nginx");
	NEED_PROGRAM("keepalived");
	NEED_PROGRAM("sysctl");
	if (geteuid() != 0)
		SKIP("keepalived needs root");
	NEED_GUIDES(&guide, "dsr-pair", true);
	if (!has_macvlan())
		SKIP("the kernel has no macvlan");
	web_up("", "");
	shared = "192.0.2.17/24";
	directors_up(balance, peer);
	WAIT_FOR(are_settled(&first, &second), SOON);
	WAIT_FOR(is_up(first) && is_up(second), SOON);
	open_long(NULL, DSR_VIP, DSRMANY_PORT);
	/* assured flows are those that a peer gets */
	for (i = 0; i < 4 * LONG; i++)
		dsrmany_ask(&many, i % LONG);
	ck_assert_uint_eq(dsrmany_wait_answers(&many, SOON), 0);
	WAIT_FOR(*peer != 'p' || (has_long(first) && has_long(second)), SOON);
	/* a busy machine may have moved it */
	WAIT_FOR(are_settled(&first, &second), SOON);
	before = moves(second);
	let_happen(event, first);
	go_on(text("%s, %s, %s", names[event], balance,
		  *peer == 'p' ? "peers" : "no peers"),
	    second, before, DSR_VIP, DSRMANY_PORT);
	if (*peer == 'p' || strcmp(balance, "hash") == 0)
		ck_assert_uint_eq(cut(0, many.count), 0);
	expect_end(event, first, second);
	dsrmany_close_all(&many);
	pair_down();
}

/* By turns, with peers, as the guide has it: no connection is cut. */
START_TEST(two_directors)
{
	static const struct {
		const char *balance, *peer;
	} ways[] = {
		{ "roundrobin", "peer 192" },
		{ "hash", "#" },
		{ "roundrobin", "#" },
	};

	if (_i >= 2 && !suite_is_full())
		SKIP("only with PEN_TEST_FULL=1");
	expect_pair(_i % 2 == 0 ? CABLES_OUT : PEN_KILLED, ways[_i / 2].balance,
	    ways[_i / 2].peer);
}
END_TEST

/* It has no flows any more, the other one has. */
START_TEST(director_is_started_again)
{
	expect_pair(STARTED_AGAIN, "roundrobin", "peer 192");
}
END_TEST

/* It takes no clients any more, the other one does. */
START_TEST(director_stops)
{
	expect_pair(STOPPED, "roundrobin", "peer 192");
}
END_TEST

SUITE(test_guide_pair)
{
	Suite *s = suite_create("guide_pair");

	SUITE_ADD(s, dsr, 60);
	SUITE_ADD(s, two_balancers, 120);
	SUITE_ADD_LOOP(s, two_directors, 120, 6);
	SUITE_ADD(s, director_is_started_again, 120);
	SUITE_ADD(s, director_stops, 120);
	return s;
}
