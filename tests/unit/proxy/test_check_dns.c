/* test_check_dns.c: a query to a name server, by UDP and TCP, and what its
 * answers mean. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/sock.h"
#include "proxy/wire/dns_message.h"
#include "support/check_fixture.h"
#include "support/suite.h"
#include "support/udp.h"

enum { LONG = 600000, SHORT = 300, ANSWER_MAX = 600, PADDED = 4096 };

/* How the name server answers, to both. */
static struct {
	unsigned code, records, flags;
	bool other_id, other_name, no_question;
	size_t cut;  /* bytes that are sent; 0: all */
	size_t step; /* TCP: bytes at a time; 0: all */
	bool close;  /* TCP: says nothing, and ends */
	bool padded; /* TCP: with PADDED bytes in all */
} how;

static struct endpoint at;
static struct watch udp, tcp, talk;
static unsigned char asked[ANSWER_MAX];
static size_t asked_length;
static int questions;

/* ---- the name server ---- */

/* Makes the answer from a query. Returns its length. */
static size_t
make_answer(char *m, size_t n)
{
	memcpy(asked, m, n);
	asked_length = n;
	questions++;
	ck_assert_uint_eq(dns_query_end(m, n), n);
	m[2] = (char)((unsigned)m[2] | 0x80 | how.flags);
	m[3] = (char)how.code;
	m[7] = (char)how.records;
	if (how.other_id)
		m[1] = (char)(m[1] ^ 1);
	if (how.other_name)
		m[DNS_HEADER + 1] = (char)(m[DNS_HEADER + 1] ^ 1);
	if (how.no_question) {
		m[5] = 0;
		n = DNS_HEADER;
	}
	return how.cut != 0 ? how.cut : n;
}

static void
on_datagram(struct watch *w, unsigned ready)
{
	char m[ANSWER_MAX];
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	ssize_t n =
	    recvfrom(w->fd, m, sizeof(m), 0, (struct sockaddr *)&from, &len);

	(void)ready;
	if (n > 0)
		(void)sendto(w->fd, m, make_answer(m, (size_t)n), 0,
		    (struct sockaddr *)&from, len);
}

static void
on_query(struct watch *w, unsigned ready)
{
	char m[DNS_PREFIX + PADDED] = { 0 };
	ssize_t n = read(w->fd, m, ANSWER_MAX);
	size_t length, sent, step;

	(void)ready;
	if (n > 0 && !how.close) {
		ck_assert_uint_eq(dns_length(m), (size_t)n - DNS_PREFIX);
		length = make_answer(m + DNS_PREFIX, (size_t)n - DNS_PREFIX);
		if (how.padded)
			length = PADDED;
		dns_set_length(m, length);
		length += DNS_PREFIX;
		step = how.step != 0 ? how.step : length;
		for (sent = 0; sent < length; sent += step)
			ck_assert_int_gt(
			    send(w->fd, m + sent,
				length - sent < step ? length - sent : step,
				MSG_NOSIGNAL),
			    0);
		return;
	}
	n = w->fd;
	watch_stop(fixture.loop, w);
	close((int)n);
}

static void
on_connection(struct watch *w, unsigned ready)
{
	int fd = accept(w->fd, NULL, NULL), old = talk.fd;

	(void)ready;
	if (fd < 0)
		return;
	if (old >= 0) {
		watch_stop(fixture.loop, &talk);
		close(old);
	}
	sock_set_nodelay(fd);
	ck_assert_int_eq(watch_start(fixture.loop, &talk, fd,
			     READY_READ | WATCH_LEVEL, on_query),
	    0);
}

static void
serve(struct watch *w, int fd, watch_fn *fn)
{
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(
	    watch_start(fixture.loop, w, fd, READY_READ | WATCH_LEVEL, fn), 0);
}

static void
begin(uint64_t timeout_ms)
{
	int fd;

	memset(&how, 0, sizeof(how));
	questions = 0;
	udp_endpoint(&at, ENDPOINT_TCP4);
	check_fixture_begin(&at);
	check_fixture_front(timeout_ms);
	fd = sock_datagram(AF_INET);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at.addr, at.len), 0);
	serve(&udp, fd, on_datagram);
	serve(&tcp, endpoint_listen(&at, 8), on_connection);
	watch_init(&talk);
}

static void
stop(struct watch *w)
{
	int fd = w->fd;

	if (fd < 0)
		return;
	watch_stop(fixture.loop, w);
	close(fd);
}

static void
finish(void)
{
	check_fixture_stop();
	stop(&udp);
	stop(&tcp);
	stop(&talk);
	check_fixture_end();
}

/* ---- tests ---- */

static void
good(const char *words, const char *reason)
{
	check_fixture_good(words, reason);
	check_fixture_good(text("%s tcp", words), reason);
}

static void
bad(const char *words, const char *reason)
{
	check_fixture_bad(words, reason);
	check_fixture_bad(text("%s tcp", words), reason);
}

START_TEST(query)
{
	static const char bytes[] =
	    "\x01\0\0\1\0\0\0\0\0\0\3www\4test\0\0\x1c\0\1";
	unsigned first;

	begin(LONG);
	how.records = 2;
	good("dns www.test AAAA", "NOERROR, records: 2");
	ck_assert_uint_eq(asked_length, 2 + sizeof(bytes) - 1);
	ck_assert_int_eq(memcmp(asked + 2, bytes, sizeof(bytes) - 1), 0);
	first = dns_id((char *)asked);
	/* ids are drawn: thrice the same would be a miracle */
	good("dns www.test. AAAA", "NOERROR, records: 2");
	if (dns_id((char *)asked) == first)
		good("dns www.test. AAAA", "NOERROR, records: 2");
	ck_assert_uint_ne(dns_id((char *)asked), first);
	ck_assert_uint_eq(asked_length, 2 + sizeof(bytes) - 1);
	finish();
}
END_TEST

START_TEST(codes)
{
	begin(LONG);
	good("dns .", "NOERROR, records: 0");
	bad("dns www.test A", "NOERROR without a record");
	how.flags = 2; /* truncated */
	good("dns www.test A", "NOERROR, records: 0");
	how.flags = 0;
	how.code = DNS_SERVFAIL;
	bad("dns www.test nxdomain", "SERVFAIL");
	how.code = DNS_REFUSED;
	bad("dns www.test", "REFUSED");
	how.no_question = true;
	bad("dns www.test", "REFUSED");
	how.no_question = false;
	how.code = DNS_NXDOMAIN;
	bad("dns www.test", "NXDOMAIN");
	good("dns www.test TXT nxdomain", "NXDOMAIN");
	how.code = 9;
	bad("dns www.test", "NOTAUTH");
	finish();
}
END_TEST

START_TEST(malformed)
{
	begin(LONG);
	how.other_name = true;
	bad("dns www.test", "malformed answer");
	how.other_name = false;
	how.no_question = true;
	bad("dns www.test", "malformed answer");
	how.no_question = false;
	how.cut = DNS_HEADER + 3;
	bad("dns www.test", "malformed answer");
	how.cut = 0;
	how.other_id = true;
	check_fixture_bad("dns www.test tcp", "malformed answer");
	finish();
}
END_TEST

/* Whoever guesses at the answer has to find the id. */
START_TEST(other_ids_are_passed_over)
{
	begin(SHORT);
	how.other_id = true;
	check_fixture_bad("dns www.test", "timed out waiting for an answer");
	ck_assert_int_eq(questions, 2);
	how.other_id = false;
	how.cut = 5;
	check_fixture_bad("dns www.test", "timed out waiting for an answer");
	finish();
}
END_TEST

START_TEST(in_pieces)
{
	begin(LONG);
	how.step = 1;
	check_fixture_good(
	    "dns a.very.long.name.test tcp", "NOERROR, records: 0");
	how.step = 0;
	how.padded = true;
	check_fixture_good("dns www.test tcp", "NOERROR, records: 0");
	how.close = true;
	check_fixture_bad("dns www.test tcp", "connection closed");
	finish();
}
END_TEST

START_TEST(nobody_there)
{
	begin(LONG);
	stop(&udp);
	stop(&tcp);
	bad("dns www.test", "Connection refused");
	finish();
}
END_TEST

START_TEST(words)
{
	check_fixture_refuses("dns", "expects NAME");
	check_fixture_refuses("dns www.test B", "\"B\": expected a type");
	check_fixture_refuses(
	    "dns www.test A AAAA", "\"AAAA\": expected a type");
	check_fixture_refuses("dns www..test", "not a domain name");
	check_fixture_refuses("dns \"\"", "not a domain name");
}
END_TEST

SUITE(test_check_dns)
{
	Suite *s = suite_create("check_dns");

	SUITE_ADD(s, query, 20);
	SUITE_ADD(s, codes, 20);
	SUITE_ADD(s, malformed, 20);
	SUITE_ADD(s, other_ids_are_passed_over, 20);
	SUITE_ADD(s, in_pieces, 20);
	SUITE_ADD(s, nobody_there, 20);
	SUITE_ADD(s, words, 10);
	return s;
}
