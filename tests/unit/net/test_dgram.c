/* test_dgram.c: batches of datagrams: together or one by one, all arrive as
 * they were, in order. */
#include "config.h"

#include <check.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/dgram.h"
#include "net/dgram_reply.h"
#include "net/sock.h"
#include "support/suite.h"
#include "support/veth.h"

static char memory[2][LOOP_SCRATCH];
static struct dgram_batch *out, *in;
static struct addr here, sender_at;
static int from, to;

static int
open_one(struct addr *at)
{
	struct sockaddr_in *in4 = &at->u.in;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	memset(at, 0, sizeof(*at));
	at->len = sizeof(*in4);
	in4->sin_family = AF_INET;
	in4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(fd, &at->u.sa, at->len), 0);
	ck_assert_int_eq(getsockname(fd, &at->u.sa, &at->len), 0);
	return fd;
}

static void
up(void)
{
	out = dgram_batch_new(memory[0]);
	in = dgram_batch_new(memory[1]);
	to = open_one(&here);
	from = open_one(&sender_at);
	dgram_prepare(to, AF_INET);
}

static void
down(void)
{
	close(from);
	close(to);
	free(out);
	free(in);
}

static void
put(unsigned i, size_t n, unsigned segment)
{
	out->at[i].n = n;
	out->at[i].segment = segment;
	memset(out->at[i].bytes, 'a' + (int)i, n);
	out->count = i + 1;
}

/* The next one has come: a busy kernel brings it some time after it is sent. */
static void
arrives(void)
{
	struct pollfd p = { .fd = to, .events = POLLIN };

	ck_assert_int_eq(poll(&p, 1, 5000), 1);
}

/* The next one as any program receives it. */
static void
expect(char what, size_t n)
{
	static char bytes[DGRAM_MAX];

	arrives();
	ck_assert_int_eq(recv(to, bytes, sizeof(bytes), 0), (int)n);
	if (n > 0) {
		ck_assert_int_eq(bytes[0], what);
		ck_assert_int_eq(bytes[n - 1], what);
	}
}

static void
expect_nothing(void)
{
	char byte;

	ck_assert_int_lt(recv(to, &byte, 1, MSG_DONTWAIT), 0);
}

START_TEST(all_sizes_in_order)
{
	static const size_t sizes[] = { 100, 100, 100, 99, 100, 0, 0, 1452,
		1452, 7, 7, 1453, 1453, 60000, 1, 2 };
	static const struct dgram_local nowhere;
	unsigned i;

	up();
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		put(i, sizes[i], 0);
	ck_assert_int_eq(
	    dgram_send_batch(from, out, &here, &nowhere), (int)out->count);
	for (i = 0; i < out->count; i++)
		expect((char)('a' + (int)i), sizes[i]);
	expect_nothing();
	down();
}
END_TEST

/* A group's address is none of this host: answers leave from one that is, over
 * a socket of both families as well. */
START_TEST(answers_to_broadcasts)
{
	struct addr all, port = { .len = sizeof(port.u) };
	int v6 = socket(AF_INET6, SOCK_DGRAM, 0), on = 1, off = 0;
	char byte;

	if (v6 < 0)
		SKIP("no IPv6");
	up();
	ck_assert_int_eq(addr_parse_ip(&all, "::", 0), 0);
	(void)setsockopt(v6, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	ck_assert_int_eq(bind(v6, &all.u.sa, all.len), 0);
	ck_assert_int_eq(getsockname(v6, &port.u.sa, &port.len), 0);
	dgram_prepare(v6, AF_INET6);
	ck_assert_int_eq(
	    addr_parse_ip(&all, "127.255.255.255", addr_port(&port)), 0);
	(void)setsockopt(from, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on));
	ck_assert_int_eq(sendto(from, "q", 1, 0, &all.u.sa, all.len), 1);
	close(to);
	to = v6;
	arrives();
	ck_assert_int_eq(dgram_receive(v6, in), 1);
	ck_assert_int_eq(dgram_send_to(v6, "a", 1, &in->at[0].from,
			     &in->at[0].local),
	    0);
	to = from;
	from = v6;
	arrives();
	ck_assert_int_eq(recv(to, &byte, 1, 0), 1);
	down();
}
END_TEST

#ifdef HAVE_LINK_PACKET

START_TEST(answers_to_multicasts)
{
	const char *why = veth_up();
	struct addr all, port = { .len = sizeof(port.u) };

	if (why != NULL)
		SKIP(why);
	veth_ip("link set lo up");
	veth_ip("addr add fd01::1/64 dev near nodad");
	up();
	close(to);
	close(from);
	to = socket(AF_INET6, SOCK_DGRAM, 0);
	from = socket(AF_INET6, SOCK_DGRAM, 0);
	ck_assert_int_eq(addr_parse_ip(&all, "::", 0), 0);
	ck_assert_int_eq(bind(to, &all.u.sa, all.len), 0);
	ck_assert_int_eq(getsockname(to, &port.u.sa, &port.len), 0);
	dgram_prepare(to, AF_INET6);
	ck_assert_int_eq(
	    addr_parse_ip(&all, "ff02::1%near", addr_port(&port)), 0);
	ck_assert_int_eq(sendto(from, "q", 1, 0, &all.u.sa, all.len), 1);
	arrives(); /* perhaps by both ends of the cable */
	ck_assert_int_ge(dgram_receive(to, in), 1);
	ck_assert_int_eq(dgram_send_to(to, "a", 1, &in->at[0].from,
			     &in->at[0].local),
	    0);
	down();
}
END_TEST

#endif

/* What came as several goes as several, also when the system will not cut it
 * (no system cuts one into 500). */
/* One that is too long for any packet, alone or joined, goes nowhere; those
 * around it do. */
START_TEST(others_go)
{
	static const struct dgram_local nowhere;

	up();
	put(0, 100, 0);
	put(1, 65520, 0);
	put(2, 100, 0);
	put(3, 100, 0);
	put(4, 65520, 0);
	put(5, 7, 0);
	ck_assert_int_eq(dgram_send_batch(from, out, &here, &nowhere), 4);
	expect('a', 100);
	expect('c', 100);
	expect('d', 100);
	expect('f', 7);
	expect_nothing();
	ck_assert(out->at[1].unsent && out->at[4].unsent && !out->at[5].unsent);
	out->at[0] = out->at[1];
	out->count = 1;
	ck_assert_int_eq(dgram_send_batch(from, out, &here, &nowhere), -1);
	down();
}
END_TEST

START_TEST(pieces_stay_pieces)
{
	struct dgram_local local = { .ip = { [10] = 0xff, 0xff, 127, 0, 0, 1 },
		.family = AF_INET };
	static const unsigned segments[] = { 1000, 10, 4999 };
	unsigned segment = segments[_i];
	size_t left;

	up();
	put(0, 300, 0);
	put(1, 5000, segment);
	put(2, 300, 0);
	ck_assert_int_eq(dgram_send_batch(from, out, &here, &local), 3);
	expect('a', 300);
	for (left = 5000; left > 0; left -= left < segment ? left : segment)
		expect('b', left < segment ? left : segment);
	expect('c', 300);
	ck_assert_int_eq(connect(from, &here.u.sa, here.len), 0);
	ck_assert_int_eq(
	    dgram_send_segments(from, AF_INET, out->at[1].bytes, 5000, segment),
	    0);
	for (left = 5000; left > 0; left -= left < segment ? left : segment)
		expect('b', left < segment ? left : segment);
	expect_nothing();
	down();
}
END_TEST

/* A Unix socket takes what it shall cut without a word, and cuts nothing. */
START_TEST(pieces_on_unix_sockets)
{
	static const struct dgram_local nowhere;
	struct addr at;
	int i;

	up();
	close(from);
	close(to);
	from = socket(AF_UNIX, SOCK_DGRAM, 0);
	to = socket(AF_UNIX, SOCK_DGRAM, 0);
	ck_assert_int_eq(addr_parse_unix(&at, scratch("pieces")), 0);
	ck_assert_int_eq(bind(to, &at.u.sa, at.len), 0);
	put(0, 300, 0);
	put(1, 300, 0);
	put(2, 2500, 1000);
	put(3, 200, 0);
	ck_assert_int_eq(dgram_send_batch(from, out, &at, &nowhere), 4);
	expect('a', 300);
	expect('b', 300);
	for (i = 0; i < 3; i++)
		expect('c', i < 2 ? 1000 : 500);
	expect('d', 200);
	ck_assert_int_eq(connect(from, &at.u.sa, at.len), 0);
	ck_assert_int_eq(
	    dgram_send_segments(from, AF_UNIX, out->at[2].bytes, 2500, 1000),
	    0);
	for (i = 0; i < 3; i++)
		expect('c', i < 2 ? 1000 : 500);
	expect_nothing();
	down();
}
END_TEST

/* Whether they come as one or one by one: the bytes and the pieces are the
 * same, and so is the sender. */
START_TEST(coalesced)
{
	static const struct dgram_local nowhere;
	size_t bytes = 0;
	unsigned i, pieces = 0;
	int n;

	up();
	dgram_coalesce(to, true);
	for (i = 0; i < 10; i++)
		put(i, i < 9 ? 1200 : 5, 0);
	ck_assert_int_eq(dgram_send_batch(from, out, &here, &nowhere), 10);
	while (pieces < 10) {
		arrives();
		n = dgram_receive(to, in);
		ck_assert_int_gt(n, 0);
		for (i = 0; i < in->count; i++) {
			pieces += dgram_segments(&in->at[i]);
			bytes += in->at[i].n;
			ck_assert_mem_eq(&in->at[i].from.u, &sender_at.u,
			    sizeof(struct sockaddr_in));
			/* who is bound to one address is told none */
			ck_assert_int_eq(in->at[i].local.family, 0);
		}
	}
	ck_assert_uint_eq(pieces, 10);
	ck_assert_uint_eq(bytes, 9 * 1200 + 5);
	ck_assert_int_lt(dgram_receive(to, in), 0);
	down();
}
END_TEST

/* A socket of all addresses is told to which one a datagram came, so that the
 * answer comes from there. */
START_TEST(told_where_it_came)
{
	struct addr any = { .len = sizeof(any.u.in) };

	up();
	close(to);
	to = socket(AF_INET, SOCK_DGRAM, 0);
	any.u.in.sin_family = AF_INET;
	ck_assert_int_eq(bind(to, &any.u.sa, any.len), 0);
	ck_assert_int_eq(getsockname(to, &any.u.sa, &any.len), 0);
	addr_set_port(&here, addr_port(&any));
	dgram_prepare(to, AF_INET);
	ck_assert_int_eq(connect(from, &here.u.sa, here.len), 0);
	ck_assert_int_eq(dgram_send(from, NULL, 0, "x", 1), 0);
	arrives();
	ck_assert_int_eq(dgram_receive(to, in), 1);
#ifdef IP_PKTINFO
	ck_assert_int_eq(in->at[0].local.family, AF_INET);
	ck_assert_mem_eq(in->at[0].local.ip + 12, &here.u.in.sin_addr, 4);
#endif
	/* "from" hears only that address */
	ck_assert_int_eq(
	    dgram_send_to(to, "y", 1, &sender_at, &in->at[0].local), 0);
	close(to);
	to = dup(from);
	expect('y', 1);
	down();
}
END_TEST

/* One is received without the others, which keep their order. */
START_TEST(one_of_several)
{
	static const struct dgram_local nowhere;

	up();
	put(0, 3, 0);
	put(1, 4, 0);
	put(2, 5, 0);
	ck_assert_int_eq(dgram_send_batch(from, out, &here, &nowhere), 3);
	arrives();
	ck_assert_int_eq(dgram_receive_most(to, in, 1), 1);
	ck_assert_uint_eq(in->count, 1);
	ck_assert_int_eq((int)in->at[0].n, 3);
	ck_assert_int_eq(in->at[0].bytes[0], 'a');
	ck_assert_mem_eq(
	    &in->at[0].from.u.in.sin_port, &sender_at.u.in.sin_port, 2);
	ck_assert_int_eq(dgram_receive(to, in), 2);
	ck_assert_int_eq(in->at[0].bytes[0], 'b');
	ck_assert_int_eq(in->at[1].bytes[0], 'c');
	ck_assert_int_lt(dgram_receive_most(to, in, 1), 0);
	down();
}
END_TEST

#ifdef __linux__
static struct addr
any_listener(void)
{
	struct addr any = { .len = sizeof(any.u.in) };

	close(to);
	to = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	any.u.in.sin_family = AF_INET;
	ck_assert_int_eq(bind(to, &any.u.sa, any.len), 0);
	ck_assert_int_eq(getsockname(to, &any.u.sa, &any.len), 0);
	dgram_prepare(to, AF_INET);
	return any;
}

/* A datagram from `from` to 127.0.0.`last` of the listener, which gets it. */
static struct dgram_local
comes_to(const struct addr *any, int last)
{
	struct addr at = *any;

	at.u.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + (uint32_t)last);
	ck_assert_int_eq(connect(from, &at.u.sa, at.len), 0);
	ck_assert_int_eq(dgram_send(from, NULL, 0, "x", 1), 0);
	arrives();
	ck_assert_int_eq(dgram_receive(to, in), 1);
	return in->at[0].local;
}

/* The answer leaves from that address, the next question still goes to the
 * listener, and nobody else gets the port. */
START_TEST(bound_replies)
{
	struct dgram_replies r = { .count = 0 };
	static const struct dgram_local none;
	struct dgram_local local;
	struct addr any, taken;
	char answer;
	int fd, last, on = 1, other;

	up();
	any = any_listener();
	for (last = 2; last < 2 + DGRAM_REPLIES; last++) {
		local = comes_to(&any, last);
		ck_assert_int_lt(dgram_reply_from(&r, &local), 0);
		fd = dgram_reply_next(&r, to);
		ck_assert_int_ge(fd, 0);
		ck_assert_int_eq(dgram_reply_from(&r, &local), fd);
		/* once more for what was on its way to it, then no more */
		ck_assert_int_eq(dgram_reply_next(&r, to), fd);
		ck_assert_int_lt(dgram_reply_next(&r, to), 0);
		local = comes_to(&any, last);
		ck_assert_int_eq(dgram_receive(fd, in), -1);
		ck_assert_int_eq(
		    dgram_send_to(fd, "y", 1, &sender_at, &none), 0);
		/* "from" is connected: it hears that address only */
		ck_assert_int_eq((int)recv(from, &answer, 1, 0), 1);
		ck_assert_int_eq(answer, 'y');
	}
	taken = any;
	taken.u.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	other = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_eq(
	    setsockopt(other, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)), 0);
	ck_assert_int_eq(bind(other, &taken.u.sa, taken.len), -1);
	close(other);
	/* of one address more, and where it is not known, none is wanted */
	local = comes_to(&any, last);
	ck_assert_int_lt(dgram_reply_from(&r, &local), 0);
	ck_assert_int_lt(dgram_reply_from(&r, &none), 0);
	ck_assert_int_lt(dgram_reply_next(&r, to), 0);
	dgram_replies_close(&r);
	ck_assert_int_lt(dgram_reply_from(&r, &local), 0);
	ck_assert_int_ge(dgram_reply_next(&r, to), 0);
	dgram_replies_close(&r);
	down();
}
END_TEST

/* The options are the listener's. */
START_TEST(replies_as_the_listener)
{
	struct dgram_replies r = { .count = 0 };
	struct dgram_local local;
	struct addr any;
	int fd, value = 0, tos = 0x10, answers_named = 0;
	socklen_t n = sizeof(value);

	up();
	any = any_listener();
	local = comes_to(&any, 1);
	setsockopt(to, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	ck_assert_int_lt(dgram_reply_from(&r, &local), 0);
	fd = dgram_reply_next(&r, to);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(getsockopt(fd, IPPROTO_IP, IP_TOS, &value, &n), 0);
	ck_assert_int_eq(value, tos);
	dgram_replies_close(&r);
	/* without one, another try is made after many answers */
	ck_assert_int_lt(dgram_reply_from(&r, &local), 0);
	ck_assert_int_lt(dgram_reply_next(&r, -1), 0);
	ck_assert_int_lt(dgram_reply_from(&r, &local), 0);
	ck_assert_int_lt(dgram_reply_next(&r, to), 0);
	do {
		ck_assert_int_lt(dgram_reply_from(&r, &local), 0);
		fd = dgram_reply_next(&r, to);
	} while (fd < 0 && ++answers_named < 100000);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_gt(answers_named, 1000);
	dgram_replies_close(&r);
	down();
}
END_TEST
#endif

/* Answers are taken one by one while they come so, and in batches when there
 * are several: none is lost, and all stay in order. */
START_TEST(answers)
{
	enum { ONE_BY_ONE = 3 * DGRAM_BATCH, TOGETHER = 3 * DGRAM_BATCH };
	uint8_t alone = 0;
	unsigned batches = 0, calls = 0;
	char byte, next = 0;
	int i, n;

	up();
	ck_assert_int_eq(connect(from, &here.u.sa, here.len), 0);
	ck_assert_int_eq(connect(to, &sender_at.u.sa, sender_at.len), 0);
	for (i = 0; i < ONE_BY_ONE; i++) {
		byte = (char)i;
		ck_assert_int_eq(dgram_send(from, NULL, 0, &byte, 1), 0);
		arrives();
		ck_assert_int_eq(dgram_receive_answers(to, in, &alone), 1);
		ck_assert_int_eq((int)in->at[0].n, 1);
		ck_assert_int_eq(in->at[0].bytes[0], byte);
	}
	for (byte = 0; byte < TOGETHER; byte++)
		ck_assert_int_eq(dgram_send(from, NULL, 0, &byte, 1), 0);
	while (next < TOGETHER) {
		arrives();
		n = dgram_receive_answers(to, in, &alone);
		ck_assert_int_gt(n, 0);
		for (i = 0; i < n; i++)
			ck_assert_int_eq(in->at[i].bytes[0], next++);
		batches += n > 1;
		calls++;
	}
	ck_assert_uint_gt(batches, 0);
#ifdef HAVE_RECVMMSG
	ck_assert_uint_lt(calls, TOGETHER);
#endif
	ck_assert_int_lt(dgram_receive_answers(to, in, &alone), 0);
	down();
}
END_TEST

/* One byte more than a datagram can have is cut, and said to be. */
START_TEST(long_answer)
{
	static char bytes[DGRAM_MAX + 10];
	int pair[2];
	uint8_t alone, i;

	up();
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
	for (i = 0; i < 2; i++) { /* one, and a batch */
		alone = i * DGRAM_BATCH;
		ck_assert_int_eq(
		    dgram_send(pair[0], NULL, 0, bytes, DGRAM_MAX), 0);
		ck_assert_int_eq(
		    dgram_receive_answers(pair[1], in, &alone), 1);
		ck_assert(!in->at[0].truncated && in->at[0].n == DGRAM_MAX);
		alone = i * DGRAM_BATCH;
		ck_assert_int_eq(
		    dgram_send(pair[0], NULL, 0, bytes, DGRAM_MAX + 1), 0);
		ck_assert_int_eq(
		    dgram_receive_answers(pair[1], in, &alone), 1);
		ck_assert(in->at[0].truncated);
		ck_assert_uint_eq(dgram_drop_truncated(in), 1);
		ck_assert_uint_eq(in->count, 0);
	}
	close(pair[0]);
	close(pair[1]);
	down();
}
END_TEST

static int
option(int fd, int level, int name)
{
	int value = -1;
	socklen_t n = sizeof(value);

	ck_assert_int_eq(getsockopt(fd, level, name, &value, &n), 0);
	return value;
}

/* As a setting may change, back again. */
START_TEST(fragments)
{
#ifdef IP_PMTUDISC_OMIT
	static const int families[] = { AF_INET, AF_INET6, AF_UNIX };
	int fd = socket(families[_i], SOCK_DGRAM, 0), i;

	if (fd < 0)
		SKIP("no IPv6 here");
	for (i = 0; i < 3; i++) {
		sock_set_fragments(fd, families[_i], i % 2 == 0);
		if (families[_i] == AF_UNIX)
			continue;
		ck_assert_int_eq(option(fd, IPPROTO_IP, IP_MTU_DISCOVER),
		    i % 2 == 0 ? IP_PMTUDISC_OMIT : IP_PMTUDISC_WANT);
	}
	close(fd);
#endif
}
END_TEST

/* Many sockets get less each, so that all of them have no more than there is,
 * and what is given back is another one's. */
START_TEST(queues_are_bounded)
{
	enum { MANY = 2000 };
	struct dgram_queues q = { .given = 0 };
	int fd = socket(AF_INET, SOCK_DGRAM, 0),
	    before = option(fd, SOL_SOCKET, SO_RCVBUF), i;
	size_t first = dgram_queue(fd, &q), size, last = first;

	ck_assert_uint_ge(first, 4 << 20);
	ck_assert_int_ge(option(fd, SOL_SOCKET, SO_RCVBUF), before);
	for (i = 0; i < MANY; i++) {
		size = dgram_queue(fd, &q);
		ck_assert_uint_le(size, last);
		last = size;
	}
	ck_assert_uint_eq(last, 0);
	ck_assert_uint_le(q.given, 1 << 30);
	q.given -= first;
	ck_assert_uint_gt(dgram_queue(fd, &q), 0);
	close(fd);
}
END_TEST

SUITE(test_dgram)
{
	Suite *s = suite_create("dgram");
	TCase *pieces = tcase_create("pieces");

	SUITE_ADD(s, all_sizes_in_order, 10);
	SUITE_ADD(s, others_go, 10);
	tcase_add_loop_test(pieces, pieces_stay_pieces, 0, 3);
	suite_add_tcase(s, pieces);
	SUITE_ADD(s, pieces_on_unix_sockets, 10);
	SUITE_ADD(s, coalesced, 10);
	SUITE_ADD(s, told_where_it_came, 10);
	SUITE_ADD(s, one_of_several, 10);
#ifdef __linux__
	SUITE_ADD(s, bound_replies, 10);
	SUITE_ADD(s, replies_as_the_listener, 10);
#endif
	SUITE_ADD(s, answers, 10);
	SUITE_ADD(s, answers_to_broadcasts, 10);
#ifdef HAVE_LINK_PACKET
	SUITE_ADD(s, answers_to_multicasts, 10);
#endif
	SUITE_ADD(s, long_answer, 10);
	SUITE_ADD_LOOP(s, fragments, 10, 3);
	SUITE_ADD(s, queues_are_bounded, 10);
	return s;
}
