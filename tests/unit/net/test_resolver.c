/* test_resolver.c: lookups against a name server in the same loop, which knows
 * a few names, keeps silent about others and talks rubbish about the rest. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/list.h"
#include "net/resolve/resolver.h"
#include "net/sock.h"
#include "support/suite.h"

enum { HEADER = 12, LIMIT_MS = 300, SOON_MS = 20000 };

static struct loop *loop;
static struct resolver *resolver;
static struct watch watch;
static int asked; /* questions the name server got */
static int done, wanted;
static struct timer guard, ticking;
static int ticks;
static bool inside; /* resolver_ask() has not returned */

/* ---- the name server ---- */

static void
put16(uint8_t *at, unsigned n)
{
	at[0] = (uint8_t)(n >> 8);
	at[1] = (uint8_t)n;
}

/* Appends an address record that points back to the question's name. */
static size_t
add_record(uint8_t *m, size_t n, unsigned type, const char *address)
{
	size_t length = type == 1 ? 4 : 16;

	put16(m + n, 0xc00c);
	put16(m + n + 2, type);
	put16(m + n + 4, 1);
	put16(m + n + 6, 0);
	put16(m + n + 8, 60);
	put16(m + n + 10, (unsigned)length);
	inet_pton(type == 1 ? AF_INET : AF_INET6, address, m + n + 12);
	return n + 12 + length;
}

/* What is after the question, EDNS, is left out. */
static size_t
question_end(uint8_t *m)
{
	size_t n = HEADER;

	while (m[n] != 0)
		n += m[n] + 1u;
	put16(m + 10, 0);
	return n + 5;
}

static size_t
reply_to(uint8_t *m)
{
	size_t n = question_end(m);
	char first = (char)(m[HEADER + 1] | 0x20); /* names come in any case */
	unsigned type = m[n - 3], code = 0, records = 0;

	if (first == 's') /* silent */
		return 0;
	if (first == 'r') { /* rubbish */
		memset(m + 2, 0xff, n - 2);
		return n;
	}
	if (first == 't') /* two of each, one of them twice */
		for (; records < 3; records++)
			n = add_record(m, n, type,
			    type == 1 ? (records == 1 ? "10.0.0.2" : "10.0.0.1")
				      : (records == 1 ? "fd00::2" : "fd00::1"));
	else if (first == 'h') /* half: IPv6 only, the rest fails */
		code = type == 1 ? 2 : 0;
	else if (first == 'f') /* four only */
		n = type == 1 ? add_record(m, n, 1, "10.0.0.4") : n;
	else
		code = 3; /* NXDOMAIN */
	if (first == 'h' && type != 1)
		n = add_record(m, n, type, "fd00::5");
	if (first == 'f' || first == 'h')
		records = (type == 1) == (first == 'f');
	put16(m + 2, 0x8180 | code);
	put16(m + 6, records);
	return n;
}

static void
on_question(struct watch *w, unsigned ready)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	uint8_t m[1024];
	ssize_t n;
	size_t size;

	(void)ready;
	while ((n = recvfrom(w->fd, m, 512, MSG_DONTWAIT,
		    (struct sockaddr *)&from, &len)) > HEADER) {
		asked++;
		size = reply_to(m);
		if (size > 0)
			(void)!sendto(
			    w->fd, m, size, 0, (struct sockaddr *)&from, len);
	}
}

/* ---- around ---- */

static void
on_guard(struct timer *t)
{
	(void)t;
	loop_stop(loop);
}

static void
on_tick(struct timer *t)
{
	ticks++;
	timer_start(loop, t, 5);
}

static void
on_done(struct query *q)
{
	(void)q;
	ck_assert(!inside);
	/* by a timer: a loop that has not begun to wait cannot be stopped */
	if (++done == wanted)
		timer_start(loop, &guard, 1);
}

static void
begin(unsigned limit_ms)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct error e;
	struct addr at;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	ck_assert_int_eq(sock_local_addr(fd, &at), 0);
	loop = loop_new(NULL, &e);
	ck_assert_ptr_nonnull(loop);
	watch_init(&watch);
	watch_start(loop, &watch, fd, READY_READ | WATCH_LEVEL, on_question);
	timer_init(&guard, on_guard);
	timer_init(&ticking, on_tick);
	timer_start(loop, &guard, SOON_MS);
	timer_start(loop, &ticking, 5);
	resolver = resolver_new(loop);
	ck_assert_ptr_nonnull(resolver);
	ck_assert_int_eq(resolver_use_server(resolver, &at, limit_ms), 0);
	asked = done = wanted = ticks = 0;
}

static void
end(void)
{
	int fd = watch.fd;

	resolver_free(resolver);
	timer_fini(&guard);
	timer_fini(&ticking);
	watch_stop(loop, &watch);
	close(fd);
	loop_free(loop);
}

static void
ask(struct query *q, const char *host)
{
	query_init(q);
	q->on_done = on_done;
	inside = true;
	resolver_ask(resolver, q, host, 80);
	inside = false;
	wanted++;
}

static void
wait_for_all(void)
{
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(done, wanted);
}

static bool
has(const struct query *q, const char *address)
{
	char text_[ADDR_TEXT_MAX];
	unsigned i;

	for (i = 0; i < q->result.count; i++)
		if (strcmp(addr_format(&q->result.addr[i], text_), address) ==
		    0)
			return true;
	return false;
}

START_TEST(names_are_found)
{
	struct query two, four, number, six;

	begin(SOON_MS);
	ask(&two, "two.test");
	ask(&four, "four.test");
	ask(&number, "10.0.0.9");
	ask(&six, "::1");
	wait_for_all();
	ck_assert(!two.failed && !four.failed && !number.failed && !six.failed);
	ck_assert_uint_eq(two.result.count, 4);
	ck_assert(has(&two, "10.0.0.1:80") && has(&two, "10.0.0.2:80") &&
	    has(&two, "[fd00::1]:80") && has(&two, "[fd00::2]:80"));
	ck_assert_uint_eq(four.result.count, 1);
	ck_assert(has(&four, "10.0.0.4:80"));
	ck_assert(has(&number, "10.0.0.9:80"));
	ck_assert(has(&six, "[::1]:80"));
	query_fini(&two);
	query_fini(&four);
	end();
}
END_TEST

/* No name server is asked about numbers, and all readers of them agree. */
START_TEST(numbers_are_no_names)
{
	struct query shorter, zero, hex;

	begin(SOON_MS);
	ask(&shorter, "10.9");
	ask(&zero, "010.0.0.9");
	ask(&hex, "0xa.0.0.9");
	wait_for_all();
	ck_assert_int_eq(asked, 0);
	ck_assert(!shorter.failed);
	ck_assert(has(&shorter, "10.0.0.9:80"));
	ck_assert(zero.failed && hex.failed);
	ck_assert_ptr_nonnull(strstr(zero.error.text, "leading zeros"));
	ck_assert_uint_eq(zero.result.count, 0);
	end();
}
END_TEST

START_TEST(names_are_not_there)
{
	struct query q;

	begin(SOON_MS);
	ask(&q, "nobody.test");
	wait_for_all();
	ck_assert(q.failed);
	ck_assert_uint_gt(strlen(q.error.text), 0);
	ck_assert_int_gt(asked, 0);
	query_fini(&q);
	end();
}
END_TEST

/* One family fails, or says nothing: what came of the other one counts, and it
 * is known which addresses are not. */
START_TEST(half_an_answer)
{
	struct query q, whole;
	struct addr v4, v6;

	ck_assert_int_eq(addr_parse_ip(&v4, "10.0.0.5", 80), 0);
	ck_assert_int_eq(addr_parse_ip(&v6, "fd00::6", 80), 0);
	begin(SOON_MS);
	ask(&q, "half.test");
	ask(&whole, "four.test");
	wait_for_all();
	ck_assert(!q.failed && q.partly);
	ck_assert_uint_eq(q.result.count, 1);
	ck_assert(has(&q, "[fd00::5]:80"));
	ck_assert(resolved_may_have(&q.result, NULL, &v4));
	ck_assert(!resolved_may_have(&q.result, NULL, &v6));
	ck_assert(strncmp(q.error.text, "A: ", 3) == 0);
	ck_assert(!whole.failed && !whole.partly);
	ck_assert(!resolved_may_have(&whole.result, NULL, &v6));
	query_fini(&q);
	query_fini(&whole);
	end();
}
END_TEST

/* The loop goes on meanwhile, and the lookup ends. */
START_TEST(silence)
{
	struct query q;

	begin(LIMIT_MS);
	ask(&q, "silent.test");
	wait_for_all();
	ck_assert(q.failed);
	ck_assert_str_eq(q.error.text, "name lookup timed out");
	ck_assert_int_gt(ticks, 1);
	query_fini(&q);
	end();
}
END_TEST

/* c-ares 1.34 fails all queries of a socket that gets what it cannot read. */
START_TEST(silence_and_rubbish)
{
	struct query silent, rubbish;

	begin(LIMIT_MS);
	ask(&silent, "silent.test");
	ask(&rubbish, "rubbish.test");
	wait_for_all();
	ck_assert(silent.failed && rubbish.failed);
	query_fini(&silent);
	query_fini(&rubbish);
	end();
}
END_TEST

START_TEST(nobody_waits_any_more)
{
	struct query gone, answered, left;

	begin(SOON_MS);
	ask(&answered, "four.test");
	ask(&gone, "silent.test");
	wanted--;
	query_fini(&gone);
	wait_for_all();
	query_fini(&answered);
	/* one that was answered at once, but not told yet */
	ask(&gone, "10.0.0.1");
	query_fini(&gone);
	wanted--;
	ask(&left, "silent.test");
	end();
	query_fini(&left);
	ck_assert_int_eq(done, 1);
}
END_TEST

START_TEST(hosts_file)
{
	struct query q;
	struct error e;

	begin(SOON_MS);
	resolver_free(resolver);
	resolver = resolver_new(loop);
	(void)e;
	ck_assert_int_eq(resolver_prepare(resolver), 0);
	ask(&q, "localhost");
	wait_for_all();
	ck_assert_msg(!q.failed, "%s", q.error.text);
	ck_assert(has(&q, "127.0.0.1:80") || has(&q, "[::1]:80"));
	query_fini(&q);
	end();
}
END_TEST

SUITE(test_resolver)
{
	Suite *s = suite_create("resolver");

	SUITE_ADD(s, names_are_found, 30);
	SUITE_ADD(s, numbers_are_no_names, 30);
	SUITE_ADD(s, names_are_not_there, 30);
	SUITE_ADD(s, half_an_answer, 30);
	SUITE_ADD(s, silence, 30);
	SUITE_ADD(s, silence_and_rubbish, 30);
	SUITE_ADD(s, nobody_waits_any_more, 30);
	SUITE_ADD(s, hosts_file, 30);
	return s;
}
