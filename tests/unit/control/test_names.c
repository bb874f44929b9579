/* test_names.c: many names, looked up through a loop. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/apply/names.h"
#include "control/value/spec.h"
#include "support/nameserver.h"
#include "support/suite.h"

/* How many names there are; questions that are sent at once, at most. */
enum { MANY = 600, AT_ONCE = 200 };

static struct loop *loop;
static struct resolver *resolver;
static struct names names;
static int calls;

static void
begin(const struct addr *server)
{
	struct error e;
	char host[32];
	int i;

	loop = loop_new(NULL, &e);
	ck_assert_ptr_nonnull(loop);
	resolver = resolver_new(loop);
	ck_assert_int_eq(
	    resolver_use_server(resolver, server, RESOLVER_LIMIT_MS), 0);
	names_init(&names);
	for (i = 0; i < MANY; i++) {
		snprintf(host, sizeof(host), "h%d.test", i);
		ck_assert_int_eq(names_want(&names, host), 0);
	}
}

static void
end(void)
{
	names_fini(&names);
	resolver_free(resolver);
	loop_free(loop);
}

static void
on_all(struct names *n)
{
	(void)n;
	calls++;
	loop_stop(loop);
}

/* The questions in the queue of a socket. */
static int
count_questions(int fd)
{
	char bytes[512];
	int n = 0;

	while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		n++;
	return n;
}

/* The loop is not kept from its work until all of them are sent. */
START_TEST(not_all_at_once)
{
	struct addr at = { .len = sizeof(struct sockaddr_in) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), n;

	ck_assert_int_eq(addr_parse_ip(&at, "127.0.0.1", 0), 0);
	ck_assert_int_eq(bind(fd, &at.u.sa, at.len), 0);
	ck_assert_int_eq(getsockname(fd, &at.u.sa, &at.len), 0);
	begin(&at);
	names_look_up(&names, resolver, on_all);
	n = count_questions(fd);
	ck_assert_int_gt(n, 0);
	ck_assert_int_le(n, AT_ONCE);
	end();
	close(fd);
}
END_TEST

/* Each is asked for, those that are not found too; the end is told once. */
START_TEST(all_are_looked_up)
{
	struct nameserver server;
	struct addr at;

	nameserver_start(&server);
	nameserver_set(&server, "h3.test", "127.0.0.3", NULL);
	nameserver_set(&server, "h599.test", "127.0.0.4", NULL);
	ck_assert_int_eq(spec_parse_ip(&at, server.text, 0), 0);
	begin(&at);
	names_look_up(&names, resolver, on_all);
	(void)loop_run(loop);
	ck_assert_int_eq(calls, 1);
	ck_assert_uint_eq(names.missing, 0);
	ck_assert_uint_eq(names.failed, MANY - 2);
	ck_assert(names.first_failed->query.failed);
	ck_assert(!names_find(&names, "h599.test")->query.failed);
	end();
	nameserver_stop(&server);
}
END_TEST

/* What another process has found is known, and not asked for again. */
START_TEST(given_by_another)
{
	struct query *q;

	names_init(&names);
	ck_assert_int_eq(names_want(&names, "h2.test"), 0);
	q = names_import(&names, "h1.test");
	ck_assert_ptr_nonnull(q);
	q->result.count = 1;
	ck_assert_int_eq(addr_parse_ip(&q->result.addr[0], "10.0.0.1", 0), 0);
	ck_assert_uint_eq(names_find(&names, "h1.test")->query.result.count, 1);
	ck_assert_int_eq(names_want(&names, "h1.test"), 0);
	ck_assert_uint_eq(names.missing, 1);
	names_fail_rest(&names);
	ck_assert_uint_eq(names.missing, 0);
	ck_assert(names_find(&names, "h2.test")->query.failed);
	names_fini(&names);
}
END_TEST

SUITE(test_names)
{
	Suite *s = suite_create("names");

	SUITE_ADD(s, not_all_at_once, 30);
	SUITE_ADD(s, all_are_looked_up, 120);
	SUITE_ADD(s, given_by_another, 10);
	return s;
}
