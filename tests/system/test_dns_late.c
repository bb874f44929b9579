/* test_dns_late.c: pen --dns before servers that are slow: the first answer
 * counts, whenever it comes. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"
#include "system/nameserver.h"

enum { SERVERS = 2, SOON = 10000 };

/* id, flags, one question: a.test A IN; an answer goes on with a record of it:
 * 10.0.0.9, for a minute */
static const char query[] = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
			    "\x01"
			    "a\x04test\x00\x00\x01\x00\x01";
static const char record[] = "\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04"
			     "\x0a\x00\x00\x09";
enum { QUERY = sizeof(query) - 1, RECORD = sizeof(record) - 1, ROOM = 512 };

/* A server is a socket of the test, which answers when it likes. */
struct slow {
	struct endpoint at;
	int fd;
	struct sockaddr_storage from;
	socklen_t len;
	char got[ROOM];
	ssize_t n;
};

static struct slow servers[SERVERS];
static struct endpoint front, ctl;
static struct pen pen;

static void
slow_new(struct slow *s)
{
	udp_endpoint(&s->at, ENDPOINT_TCP4);
	s->fd = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_eq(
	    bind(s->fd, (struct sockaddr *)&s->at.addr, s->at.len), 0);
	endpoint_set_deadline(s->fd, SOON);
}

static void
take(struct slow *s)
{
	s->len = sizeof(s->from);
	s->n = recvfrom(
	    s->fd, s->got, ROOM, 0, (struct sockaddr *)&s->from, &s->len);
	ck_assert_int_ge(s->n, QUERY);
}

/* Answers what it took: with that code, and the record if that is 0. */
static void
give(struct slow *s, int code)
{
	char *end = memmem(s->got, (size_t)s->n, "test", 4);

	ck_assert_ptr_nonnull(end);
	end += 4 + 1 + 4;
	s->got[2] |= (char)0x80;
	s->got[3] = (char)code;
	s->got[7] = code == 0;
	memset(s->got + 8, 0, 4);
	memcpy(end, record, code == 0 ? RECORD : 0);
	ck_assert_int_gt(sendto(s->fd, s->got,
			     (size_t)(end - s->got) + (code == 0 ? RECORD : 0),
			     0, (struct sockaddr *)&s->from, s->len),
	    0);
}

static long
counter(const char *name)
{
	return report_number(
	    endpoint_ask(&ctl, "statistics\n"), text("\n%s ", name));
}

static void
pen_before(
    const char *option, const struct endpoint *a, const struct endpoint *b)
{
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "--dns", "-C", ctl.text, "-O", "dns_retry 0.1", "-O",
	    option, front.text, a->text, b->text, NULL);
}

/* Returns the client's socket, on which it has asked the first server. */
static int
up_first(const char *option)
{
	int fd, i;

	for (i = 0; i < SERVERS; i++)
		slow_new(&servers[i]);
	pen_before(option, &servers[0].at, &servers[1].at);
	fd = udp_client(&front);
	ck_assert_int_eq(send(fd, query, QUERY, 0), QUERY);
	take(&servers[0]);
	return fd;
}

/* The same; both have got it. */
static int
up(const char *option)
{
	int fd = up_first(option);

	take(&servers[1]);
	return fd;
}

static void
down(int fd)
{
	int i;

	close(fd);
	pen_down(&pen);
	for (i = 0; i < SERVERS; i++)
		close(servers[i].fd);
}

/* Returns the code of the answer that came. */
static int
code(int fd)
{
	char got[ROOM];

	ck_assert_int_ge(recv(fd, got, ROOM, 0), QUERY);
	ck_assert_int_eq(memcmp(got, query, 2), 0);
	ck_assert_int_eq(got[2] & 0x80, 0x80);
	return got[3] & 0x0f;
}

/* Both have been asked and taken longer than dns_retry; either answer, the
 * first server's or the last one's, is the client's. */
START_TEST(late_answer_wins)
{
	int fd = up("dns");

	WAIT_FOR(counter("retries") == 2, SOON);
	give(&servers[_i], 0);
	ck_assert_int_eq(code(fd), 0);
	/* the other one comes too late */
	give(&servers[1 - _i], 0);
	WAIT_FOR(counter("dns_unsolicited") == 1, SOON);
	ck_assert_int_eq(counter("dns_failed"), 0);
	ck_assert_int_eq(counter("dns_waiting"), 0);
	down(fd);
}
END_TEST

/* A server that fails says nothing about what another one will answer. */
START_TEST(other_may_know)
{
	int fd = up("dns_timeout 60");

	give(&servers[1], 2);
	WAIT_FOR(counter("retries") >= 1, SOON);
	give(&servers[0], 0);
	ck_assert_int_eq(code(fd), 0);
	down(fd);
}
END_TEST

/* It is asked at once then; the last one's word goes on. */
START_TEST(other_is_asked)
{
	int fd = up_first("dns_timeout 60; dns_retry 60");

	give(&servers[0], 5);
	take(&servers[1]);
	give(&servers[1], _i == 0 ? 0 : 2);
	ck_assert_int_eq(code(fd), _i == 0 ? 0 : 2);
	ck_assert_int_eq(counter("dns_failed"), 0);
	down(fd);
}
END_TEST

/* When all have failed the last one's word goes on. */
START_TEST(nobody_knows)
{
	int fd = up("dns_timeout 60");

	give(&servers[0], 5);
	give(&servers[1], 2);
	ck_assert_int_ne(code(fd), 0);
	ck_assert_int_eq(counter("dns_failed"), 0);
	down(fd);
}
END_TEST

/* In the end the client is told. A time set anew counts at once. */
START_TEST(time_is_over)
{
	int fd = up("dns_timeout 60");

	WAIT_FOR(counter("retries") == 2, SOON);
	ck_assert_int_eq(counter("dns_waiting"), 1);
	ck_assert_int_eq(counter("dns_failed"), 0);
	ck_assert_str_eq(endpoint_ask(&ctl, "dns_timeout 0.2\n"), "0.200\n");
	ck_assert_int_eq(code(fd), 2);
	ck_assert_int_eq(counter("dns_failed"), 1);
	down(fd);
}
END_TEST

/* ---- what is no query ---- */

enum { NOTIFY = 4 << 3, UPDATE = 5 << 3, UPDATES = 256 };

/* Asks for an UPDATE; the first server has it. */
static int
up_update(const char *option)
{
	char update[QUERY];
	int fd, i;

	for (i = 0; i < SERVERS; i++)
		slow_new(&servers[i]);
	pen_before(option, &servers[0].at, &servers[1].at);
	memcpy(update, query, QUERY);
	update[2] = UPDATE;
	fd = udp_client(&front);
	ck_assert_int_eq(send(fd, update, QUERY, 0), QUERY);
	take(&servers[0]);
	return fd;
}

/* The server takes longer than dns_retry, or fails: the other one does not get
 * it, too. */
START_TEST(update_is_not_sent_twice)
{
	int fd = up_update("dns_retry 0.01");
	char got[ROOM];

	/* a query that came after it has gone to both by then */
	ck_assert_int_eq(send(fd, query, QUERY, 0), QUERY);
	take(&servers[1]);
	ck_assert_int_eq(servers[1].got[2], 1);
	WAIT_FOR(counter("retries") == 2, SOON);
	give(&servers[1], 0);
	ck_assert_int_eq(code(fd), 0);
	ck_assert_int_eq(recv(servers[1].fd, got, ROOM, MSG_DONTWAIT), -1);
	give(&servers[0], _i == 0 ? 0 : 2);
	ck_assert_int_eq(code(fd), _i == 0 ? 0 : 2);
	ck_assert_int_eq(recv(servers[1].fd, got, ROOM, MSG_DONTWAIT), -1);
	ck_assert_int_eq(counter("dns_failed"), 0);
	down(fd);
}
END_TEST

/* None has carried it out then. */
START_TEST(refused_update_is_sent_again)
{
	int fd = up_update("dns_retry 60");

	give(&servers[0], 5);
	take(&servers[1]);
	ck_assert_int_eq(servers[1].got[2], UPDATE);
	give(&servers[1], 0);
	ck_assert_int_eq(code(fd), 0);
	down(fd);
}
END_TEST

/* Takes what a server has got. Returns how many of them were UPDATEs. */
static int
drain(struct slow *s)
{
	char got[ROOM];
	int n = 0;

	while (recv(s->fd, got, ROOM, MSG_DONTWAIT) > 0)
		n += got[2] == UPDATE;
	return n;
}

/* A server ends while it has several on each socket: which of them its system
 * refuses is not known, so that the other one gets none. */
START_TEST(update_beside_a_refusal)
{
	char update[QUERY], got[ROOM];
	int fd, i, sent = 0;

	for (i = 0; i < SERVERS; i++)
		slow_new(&servers[i]);
	pen_before("dns_timeout 60", &servers[0].at, &servers[1].at);
	memcpy(update, query, QUERY);
	update[2] = UPDATE;
	fd = udp_client(&front);
	for (i = 0; i < UPDATES; i++)
		ck_assert_int_eq(send(fd, update, QUERY, 0), QUERY);
	WAIT_FOR(
	    (sent += drain(&servers[0]) + drain(&servers[1])) == UPDATES, SOON);
	close(servers[0].fd);
	for (i = 0; i < UPDATES && counter("dns_failed") == 0; i++)
		ck_assert_int_eq(send(fd, query, QUERY, 0), QUERY);
	WAIT_FOR(counter("dns_failed") > 0, SOON);
	ck_assert_int_ge(recv(fd, got, ROOM, 0), QUERY);
	ck_assert_int_eq(got[2] & 0x7f, UPDATE);
	ck_assert_int_eq(got[3] & 0x0f, 2);
	ck_assert_int_eq(drain(&servers[1]), 0);
	down(fd);
}
END_TEST

/* The client is told in time, as of a query. */
START_TEST(update_without_an_answer)
{
	int fd = up_update("dns_timeout 0.2");

	ck_assert_int_eq(code(fd), 2);
	ck_assert_int_eq(counter("dns_failed"), 1);
	ck_assert_int_eq(counter("retries"), 0);
	down(fd);
}
END_TEST

/* NOTIFY is answered with a header only, and no error. */
START_TEST(header_answers_notify)
{
	char message[QUERY], got[ROOM];
	int fd, i;

	for (i = 0; i < SERVERS; i++)
		slow_new(&servers[i]);
	pen_before("dns_retry 60", &servers[0].at, &servers[1].at);
	memcpy(message, query, QUERY);
	message[2] = NOTIFY;
	fd = udp_client(&front);
	ck_assert_int_eq(send(fd, message, QUERY, 0), QUERY);
	take(&servers[0]);
	memset(servers[0].got + 3, 0, 9);
	servers[0].got[2] |= (char)0x80;
	ck_assert_int_eq(
	    sendto(servers[0].fd, servers[0].got, 12, 0,
		(struct sockaddr *)&servers[0].from, servers[0].len),
	    12);
	ck_assert_int_eq(recv(fd, got, ROOM, 0), 12);
	ck_assert_int_eq(memcmp(got, query, 2), 0);
	ck_assert_int_eq(counter("dns_unsolicited"), 0);
	down(fd);
}
END_TEST

/* Resolvers that forward a.test to a server that takes its time. */
START_TEST(resolvers)
{
	struct child unbound[SERVERS];
	struct endpoint at[SERVERS];
	struct slow *root = &servers[0];
	int i, fd;

	NEED_PROGRAM("unbound");
	slow_new(root);
	for (i = 0; i < SERVERS; i++) {
		udp_endpoint(&at[i], ENDPOINT_TCP4);
		nameserver_up_with(&unbound[i], NAMESERVER_UNBOUND, &at[i], i,
		    text("server:\ndo-not-query-localhost: no\n"
			 "module-config: iterator\n"
			 "local-zone: \"test.\" transparent\n"
			 "local-zone: \"slow.test.\" transparent\n"
			 "forward-zone:\nname: \"slow.test.\"\n"
			 "forward-addr: %s@%d\n",
			udp_host(&root->at), root->at.port));
	}
	pen_before("dns", &at[0], &at[1]);
	fd = udp_client(&front);
	ck_assert_int_eq(send(fd,
			     "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
			     "\x04slow\x04test\x00\x00\x01\x00\x01",
			     27, 0),
	    27);
	WAIT_FOR(counter("retries") == 2, SOON);
	for (i = 0; i < SERVERS; i++) {
		take(root);
		give(root, 0);
	}
	ck_assert_int_eq(code(fd), 0);
	close(fd);
	pen_down(&pen);
	for (i = 0; i < SERVERS; i++)
		ck_assert_int_eq(child_stop(&unbound[i], SIGTERM), 0);
	close(root->fd);
}
END_TEST

SUITE(test_dns_late)
{
	Suite *s = suite_create("dns_late");
	TCase *each = tcase_create("late_answer_wins");

	tcase_set_timeout(each, 30);
	tcase_add_loop_test(each, late_answer_wins, 0, SERVERS);
	suite_add_tcase(s, each);
	SUITE_ADD(s, other_may_know, 30);
	SUITE_ADD_LOOP(s, other_is_asked, 30, SERVERS);
	SUITE_ADD(s, nobody_knows, 30);
	SUITE_ADD(s, time_is_over, 30);
	SUITE_ADD_LOOP(s, update_is_not_sent_twice, 30, 2);
	SUITE_ADD(s, refused_update_is_sent_again, 30);
	SUITE_ADD(s, update_beside_a_refusal, 60);
	SUITE_ADD(s, update_without_an_answer, 30);
	SUITE_ADD(s, header_answers_notify, 30);
	SUITE_ADD(s, resolvers, 60);
	return s;
}
