/* test_cut.c: what becomes of a server's sessions and flows when it goes down,
 * in a real loop. Health is what the test says it is. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pool/balance.h"
#include "support/acladd.h"
#include "support/backend.h"
#include "support/fixture.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/udp_fixture.h"

enum { SERVERS = 2, EACH = 20 };

static struct backend back[SERVERS];

static void
set_on_down(enum server_on_down what)
{
	struct pool_options o = *pool_options(fixture.pool);

	o.on_down = what;
	ck_assert_int_eq(pool_set_options(fixture.pool, &o), 0);
}

/* As control does when the pool tells of it. */
static void
goes_down(unsigned server)
{
	struct server *s = pool_server(fixture.pool, server);

	while (server_state(s) != SERVER_DOWN)
		pool_checked(
		    fixture.pool, s, false, "test", loop_now(fixture.loop));
	frontend_cut_sessions(fixture.frontend);
}

/* EACH sessions at both servers; `fd[i]` at server i % SERVERS. */
static void
begin(int fd[SERVERS * EACH])
{
	struct pool_options o;
	unsigned i;

	fixture_begin();
	o = *pool_options(fixture.pool);
	o.sticky = false;
	ck_assert_int_eq(pool_set_options(fixture.pool, &o), 0);
	for (i = 0; i < SERVERS; i++) {
		backend_start(&back[i], ENDPOINT_TCP4, backend_echo, NULL);
		fixture_add_server(i, &back[i].at);
	}
	fixture_front();
	for (i = 0; i < SERVERS * EACH; i++) {
		fd[i] = fixture_talks();
		ck_assert_uint_eq(
		    pool_server(fixture.pool, i % SERVERS)->connections,
		    i / SERVERS + 1);
	}
}

static void
end(int fd[SERVERS * EACH])
{
	unsigned i;

	for (i = 0; i < SERVERS * EACH; i++)
		close(fd[i]);
	fixture_end();
	for (i = 0; i < SERVERS; i++)
		backend_stop(&back[i]);
}

/* Those of the others go on. */
START_TEST(sessions_are_cut)
{
	int fd[SERVERS * EACH], i;

	begin(fd);
	set_on_down(SERVER_ON_DOWN_CUT);
	goes_down(0);
	RUN_UNTIL(fixture_stats()->reasons[REASON_SERVER_DOWN] == EACH);
	RUN_UNTIL(atomic_load(&back[0].open) == 0);
	ck_assert_uint_eq(fixture_stats()->sessions, EACH);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->connections, 0);
	for (i = 0; i < SERVERS * EACH; i++)
		if (i % SERVERS == 0)
			endpoint_expect_reset(fd[i]);
		else
			ck_assert(!fixture_tells(fd[i]));
	end(fd);
}
END_TEST

static void
set_addresses(
    unsigned server, const struct endpoint *a, const struct endpoint *b)
{
	struct server_spec spec;

	server_spec_init(&spec);
	spec.name = (char *)(uintptr_t) "a.test";
	spec.addrs.count = 2;
	spec.addrs.addr[0] = fixture_addr(a);
	spec.addrs.addr[1] = fixture_addr(b);
	ck_assert_ptr_nonnull(
	    pool_set_slot(fixture.pool, server_slot(server), &spec));
}

/* At an address that the server no longer has; but if it has got just another
 * one besides, they are its sessions still. */
START_TEST(sessions_of_other_addresses)
{
	int fd[SERVERS * EACH];
	struct endpoint other;

	begin(fd);
	set_on_down(SERVER_ON_DOWN_CUT);
	endpoint_new(&other, ENDPOINT_TCP4);
	if (_i == 0)
		fixture_add_server(0, &other);
	else
		set_addresses(0, &other, &back[0].at);
	goes_down(0);
	if (_i == 1)
		RUN_UNTIL(fixture_stats()->sessions == EACH);
	fixture_breathe();
	fixture_breathe();
	ck_assert_uint_eq(
	    fixture_stats()->reasons[REASON_SERVER_DOWN], _i == 0 ? 0 : EACH);
	end(fd);
}
END_TEST

/* By default, and of a server that says so. */
START_TEST(sessions_are_kept)
{
	int fd[SERVERS * EACH], i;

	begin(fd);
	if (_i == 1) {
		set_on_down(SERVER_ON_DOWN_CUT);
		pool_server(fixture.pool, 0)->set.on_down = SERVER_ON_DOWN_KEEP;
	}
	goes_down(0);
	set_on_down(SERVER_ON_DOWN_CUT);
	pool_server(fixture.pool, 0)->set.on_down = SERVER_ON_DOWN_KEEP;
	goes_down(1);
	RUN_UNTIL(fixture_stats()->reasons[REASON_SERVER_DOWN] == EACH);
	for (i = 0; i < SERVERS * EACH; i += SERVERS)
		ck_assert(!fixture_tells(fd[i]));
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->connections, EACH);
	end(fd);
}
END_TEST

/* ---- a better server comes up ---- */

enum way { CUT, KEPT, QUIETLY, UNPROVEN, WAYS };

static void
set_ways(enum way way)
{
	struct pool_options o = *pool_options(fixture.pool);

	pool_server(fixture.pool, 1)->set.prio = 5;
	o.balance = balance_find("prio");
	o.on_up = way == KEPT ? SERVER_ON_UP_KEEP : SERVER_ON_UP_CUT;
	o.sticky = true;
	ck_assert_int_eq(pool_set_options(fixture.pool, &o), 0);
	if (way == QUIETLY) {
		fixture.options.end.quiet = QUIET_END_ALL;
		fixture.options.end.quiet_ms = 20;
		frontend_set_options(fixture.frontend, &fixture.options);
	}
}

/* Without checks nobody knows whether it is well. */
static void
comes_up(unsigned server, enum way way)
{
	struct server *s = pool_server(fixture.pool, server);

	while (server_state(s) != SERVER_UP)
		pool_checked(
		    fixture.pool, s, true, "test", loop_now(fixture.loop));
	if (way == UNPROVEN)
		pool_unchecked(fixture.pool, s);
	frontend_cut_sessions(fixture.frontend);
}

/* They end, and come back to the better one; those that are there stay. */
START_TEST(sessions_leave_lesser_servers)
{
	int fd[EACH], i, better;
	enum reason why =
	    _i == QUIETLY ? REASON_QUIET_END : REASON_SERVER_UP;

	fixture_begin();
	for (i = 0; i < SERVERS; i++) {
		backend_start(&back[i], ENDPOINT_TCP4, backend_echo, NULL);
		fixture_add_server((unsigned)i, &back[i].at);
	}
	fixture_front();
	set_ways((enum way)_i);
	goes_down(0);
	for (i = 0; i < EACH; i++)
		fd[i] = fixture_talks();
	ck_assert_uint_eq(pool_server(fixture.pool, 1)->connections, EACH);
	comes_up(0, (enum way)_i);
	if (_i == KEPT || _i == UNPROVEN) {
		fixture_breathe();
		fixture_breathe();
		ck_assert_uint_eq(fixture_stats()->sessions, EACH);
	} else {
		RUN_UNTIL(fixture_stats()->reasons[why] == EACH);
		better = fixture_talks();
		ck_assert_uint_eq(pool_server(fixture.pool, 0)->connections, 1);
		frontend_cut_sessions(fixture.frontend);
		fixture_breathe();
		fixture_breathe();
		ck_assert(!fixture_tells(better));
		close(better);
	}
	for (i = 0; i < EACH; i++)
		close(fd[i]);
	fixture_end();
	for (i = 0; i < SERVERS; i++)
		backend_stop(&back[i]);
}
END_TEST

/* ---- with HTTP ---- */

#define OK	"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define SWITCH	"HTTP/1.1 101 a\r\n\r\n"
#define GET	"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define UPGRADE "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: b\r\n\r\n"

/* Answers what comes, in one piece each. */
static void
switches(struct backend *b, int fd)
{
	char got[1000];
	ssize_t n;

	(void)b;
	while ((n = recv(fd, got, sizeof(got) - 1, 0)) > 0) {
		const char *says;

		got[n] = '\0';
		says = strstr(got, "Upgrade:") != NULL ? SWITCH : OK;
		backend_send(fd, says, strlen(says));
	}
}

static void
asks(int fd, const char *what, const char *answer)
{
	endpoint_send(fd, what, strlen(what));
	fixture_hears(fd, answer);
}

/* A connection that has switched to another protocol is none of HTTP any more,
 * whenever it did. */
START_TEST(switched_sessions_leave_at_once)
{
	static const struct {
		bool get, upgrade;
		enum quiet_end quiet;
		enum reason why;
	} cases[] = {
		{ true, false, QUIET_END_HTTP, REASON_QUIET_END },
		{ false, true, QUIET_END_HTTP, REASON_SERVER_UP },
		{ true, true, QUIET_END_HTTP, REASON_SERVER_UP },
		{ true, true, QUIET_END_ALL, REASON_QUIET_END },
	};
	int fd, i;

	fixture_begin();
	fixture.options.http.on = true;
	fixture.options.end.quiet = cases[_i].quiet;
	fixture.options.end.quiet_ms = 20;
	for (i = 0; i < SERVERS; i++) {
		backend_start(&back[i], ENDPOINT_TCP4, switches, NULL);
		fixture_add_server((unsigned)i, &back[i].at);
	}
	fixture_front();
	set_ways(CUT);
	goes_down(0);
	fd = endpoint_connect(&fixture.front);
	if (cases[_i].get)
		asks(fd, GET, OK);
	if (cases[_i].upgrade)
		asks(fd, UPGRADE, SWITCH);
	comes_up(0, CUT);
	RUN_UNTIL(fixture_stats()->reasons[cases[_i].why] == 1);
	close(fd);
	fixture_end();
	for (i = 0; i < SERVERS; i++)
		backend_stop(&back[i]);
}
END_TEST

START_TEST(flows_go_elsewhere)
{
	struct endpoint at[SERVERS];
	int server[SERVERS], client;

	udp_fixture_begin(false);
	fixture.options.udp.timeout_ms = 3600 * 1000;
	server[0] = udp_fixture_server(0, &at[0]);
	server[1] = udp_fixture_server(1, &at[1]);
	udp_fixture_front();
	set_on_down(SERVER_ON_DOWN_CUT);
	client = udp_client(&fixture.front);
	udp_fixture_ask(client);
	udp_fixture_arrives(server[0]);
	udp_fixture_answer(server[0], client);
	ck_assert_uint_eq(fixture_stats()->flows.now, 1);
	goes_down(0);
	RUN_UNTIL(fixture_stats()->flows.now == 0);
	udp_fixture_ask(client);
	udp_fixture_arrives(server[1]);
	close(client);
	close(server[0]);
	close(server[1]);
	fixture_end();
}
END_TEST

/* A better server that is not for the client is none: its flow would end, and
 * begin again where it was. */
START_TEST(flows_stay_where_no_better_is)
{
	struct endpoint at[SERVERS];
	int server[SERVERS], client;
	struct acl nobody;

	udp_fixture_begin(false);
	fixture.options.udp.timeout_ms = 3600 * 1000;
	server[0] = udp_fixture_server(0, &at[0]);
	server[1] = udp_fixture_server(1, &at[1]);
	udp_fixture_front();
	set_ways(CUT);
	acl_init(&nobody);
	ck_assert_int_eq(acl_add(&nobody, false, "0.0.0.0/0", NULL), 0);
	pool_set_acl(fixture.pool, 1, &nobody);
	acl_fini(&nobody);
	goes_down(0);
	client = udp_client(&fixture.front);
	udp_fixture_ask(client);
	udp_fixture_arrives(server[1]);
	udp_fixture_answer(server[1], client);
	pool_server(fixture.pool, 0)->set.acl = 1;
	comes_up(0, CUT);
	fixture_breathe();
	fixture_breathe();
	ck_assert_uint_eq(fixture_stats()->flows.now, 1);
	pool_server(fixture.pool, 0)->set.acl = -1;
	comes_up(0, CUT);
	RUN_UNTIL(fixture_stats()->flows.now == 0);
	close(client);
	close(server[0]);
	close(server[1]);
	fixture_end();
}
END_TEST

SUITE(test_cut)
{
	Suite *s = suite_create("cut");
	TCase *kept = tcase_create("sessions_are_kept");

	SUITE_ADD(s, sessions_are_cut, 20);
	SUITE_ADD_LOOP(s, sessions_of_other_addresses, 20, 2);
	tcase_set_timeout(kept, 20);
	tcase_add_loop_test(kept, sessions_are_kept, 0, 2);
	suite_add_tcase(s, kept);
	SUITE_ADD_LOOP(s, sessions_leave_lesser_servers, 20, WAYS);
	SUITE_ADD_LOOP(s, switched_sessions_leave_at_once, 20, 4);
	SUITE_ADD(s, flows_go_elsewhere, 20);
	SUITE_ADD(s, flows_stay_where_no_better_is, 20);
	return s;
}
