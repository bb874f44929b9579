/* test_sock_group.c: several sockets at an address, and who comes to which. */
#include "config.h"

#include <check.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "net/sock_group.h"
#include "support/suite.h"

enum { MEMBERS = 3, CLIENTS = 90 };

static int group[MEMBERS];
static unsigned members;
static enum sock_group_by by;
static struct addr at;
static struct error e;

static void
steer(unsigned count)
{
	members = count;
	if (sock_group_steer(group[1], count, by) < 0)
		SKIP("this system deals nobody out");
}

/* A group at a port of the kernel's choice. */
static void
begin(const char *host, bool datagram)
{
	struct sock_listen_options o = {
		.backlog = 64, .datagram = datagram, .group = SOCK_GROUP_FIRST
	};
	struct addr any;

	ck_assert_int_eq(addr_parse_ip(&any, host, 0), 0);
	group[0] = sock_listen(&any, &o, NULL, &e);
	ck_assert_msg(group[0] >= 0, "%s", e.text);
	ck_assert_int_eq(sock_local_addr(group[0], &at), 0);
	ck_assert_msg(
	    sock_group_open(&at, &o, group, 1, MEMBERS, &e) == 0, "%s", e.text);
	steer(MEMBERS);
}

static void
end(void)
{
	int i;

	for (i = 0; i < MEMBERS; i++)
		close(group[i]);
}

/* Which one has somebody; exactly one. */
static int
comes_to(void)
{
	struct pollfd p[MEMBERS];
	int i, found = -1;

	for (i = 0; i < MEMBERS; i++)
		p[i] = (struct pollfd){ .fd = group[i], .events = POLLIN };
	ck_assert_int_eq(poll(p, MEMBERS, 5000), 1);
	for (i = 0; i < MEMBERS; i++)
		if (p[i].revents != 0)
			found = i;
	return found;
}

static void
connect_from(const char *host, struct peer *who, bool datagram)
{
	struct addr from;
	struct peer accepted;
	char bytes[8];
	int fd = socket(
		at.u.sa.sa_family, datagram ? SOCK_DGRAM : SOCK_STREAM, 0),
	    i;

	ck_assert_int_eq(addr_parse_ip(&from, host, 0), 0);
	ck_assert_int_eq(bind(fd, &from.u.sa, from.len), 0);
	ck_assert_int_eq(connect(fd, &at.u.sa, at.len), 0);
	ck_assert_int_eq(sock_local_addr(fd, &from), 0);
	if (datagram)
		ck_assert_int_eq(send(fd, "x", 1, 0), 1);
	peer_from_addr(who, &from);
	i = comes_to();
	ck_assert_int_eq(i, (int)sock_group_of(who, members, by));
	if (datagram)
		ck_assert_int_eq(recv(group[i], bytes, sizeof(bytes), 0), 1);
	else
		close(sock_accept(group[i], &accepted));
	close(fd);
}

/* All of them have clients, and each client the one that is computed. */
START_TEST(by_address)
{
	int i, of[MEMBERS] = { 0 };
	struct peer who;

	begin("127.0.0.1", _i == 1);
	for (i = 0; i < CLIENTS; i++) {
		connect_from(text("127.0.0.%d", i + 2), &who, _i == 1);
		of[sock_group_of(&who, MEMBERS, by)]++;
	}
	for (i = 0; i < MEMBERS; i++)
		ck_assert_int_ge(of[i], CLIENTS / MEMBERS / 2);
	end();
}
END_TEST

/* Its first 64 bits count: a host may have all the others. */
START_TEST(by_network)
{
	struct peer a, b;
	struct addr one, two;

	addr_parse_ip(&one, "2001:db8:1:2::1", 0);
	addr_parse_ip(&two, "2001:db8:1:2:ffff::9", 0);
	peer_from_addr(&a, &one);
	peer_from_addr(&b, &two);
	ck_assert_uint_eq(sock_group_of(&a, 64, by), sock_group_of(&b, 64, by));
	begin("::1", false);
	connect_from("::1", &a, false);
	end();
}
END_TEST

/* A thousand neighbours, as in one data centre. */
START_TEST(evenly)
{
	int of[2] = { 0, 0 }, i;
	struct addr at_i;
	struct peer who;

	for (i = 0; i < 1000; i++) {
		addr_parse_ip(
		    &at_i, text("10.1.%d.%d", i / 250, i % 250 + 1), 0);
		peer_from_addr(&who, &at_i);
		of[sock_group_of(&who, 2, SOCK_GROUP_BY_ADDRESS)]++;
	}
	ck_assert_int_le(100 * of[0], 115 * of[1]);
	ck_assert_int_le(100 * of[1], 115 * of[0]);
}
END_TEST

/* Another program cannot join by asking for a group of its own. */
START_TEST(nobody_else)
{
	struct sock_listen_options o = { .backlog = 64,
		.group = SOCK_GROUP_FIRST };

	begin("127.0.0.1", false);
	ck_assert_int_lt(sock_listen(&at, &o, NULL, &e), 0);
	ck_assert_ptr_nonnull(strstr(e.text, "address already in use"));
	end();
}
END_TEST

/* One address, many ports. */
START_TEST(by_connection)
{
	int i, of[MEMBERS] = { 0 };
	struct peer who;

	by = SOCK_GROUP_BY_CONNECTION;
	begin(_i < 2 ? "127.0.0.1" : "::1", _i % 2 == 1);
	for (i = 0; i < CLIENTS; i++) {
		connect_from(_i < 2 ? "127.0.0.1" : "::1", &who, _i % 2 == 1);
		of[sock_group_of(&who, MEMBERS, by)]++;
	}
	for (i = 0; i < MEMBERS; i++)
		ck_assert_int_ge(of[i], CLIENTS / MEMBERS / 3);
	end();
}
END_TEST

/* Those beyond the number have no new clients, and get some again. */
START_TEST(fewer_and_more)
{
	struct peer who;
	int i;

	begin("127.0.0.1", _i == 1);
	for (i = 0; i < CLIENTS; i++) {
		steer((unsigned)i % MEMBERS + 1);
		connect_from(text("127.0.0.%d", i + 2), &who, _i == 1);
	}
	end();
}
END_TEST

/* A process that is alone until now has all clients until others do. */
START_TEST(one_that_was_alone)
{
	struct sock_listen_options o = { .backlog = 64, .datagram = _i == 1 };
	struct addr any;
	struct peer who;
	int i;

	addr_parse_ip(&any, "127.0.0.1", 0);
	group[0] = sock_listen(&any, &o, NULL, &e);
	ck_assert_int_eq(sock_local_addr(group[0], &at), 0);
	ck_assert_int_eq(sock_group_open(&at, &o, group, 1, MEMBERS, &e), 0);
	members = 1;
	for (i = 0; i < CLIENTS; i++)
		connect_from(text("127.0.0.%d", i + 2), &who, _i == 1);
	steer(MEMBERS);
	for (i = 0; i < CLIENTS; i++)
		connect_from(text("127.0.0.%d", i + 2), &who, _i == 1);
	end();
}
END_TEST

/* The sockets of a Unix path are one. */
START_TEST(one_for_all)
{
	struct sock_listen_options o = { .backlog = 64 };
	struct addr any;
	int i;

	addr_parse_unix(&any, scratch("s"));
	group[0] = sock_listen(&any, &o, NULL, &e);
	ck_assert_int_eq(sock_group_open(&any, &o, group, 1, MEMBERS, &e), 0);
	for (i = 1; i < MEMBERS; i++) {
		ck_assert_int_eq(sock_local_addr(group[i], &at), 0);
		ck_assert_int_eq(sock_local_addr(group[0], &any), 0);
		ck_assert(addr_equal(&at, &any));
	}
	end();
}
END_TEST

SUITE(test_sock_group)
{
	Suite *s = suite_create("sock_group");
	TCase *c = tcase_create("by_address");

	tcase_set_timeout(c, 20);
	tcase_add_loop_test(c, by_address, 0, 2);
	tcase_add_loop_test(c, by_connection, 0, 4);
	tcase_add_loop_test(c, fewer_and_more, 0, 2);
	tcase_add_loop_test(c, one_that_was_alone, 0, 2);
	suite_add_tcase(s, c);
	SUITE_ADD(s, by_network, 10);
	SUITE_ADD(s, evenly, 10);
	SUITE_ADD(s, nobody_else, 10);
	SUITE_ADD(s, one_for_all, 10);
	return s;
}
