/* test_tls.c: TLS in front of pen, behind it, and both: how conversations go
 * and end. A goodbye becomes a goodbye, what was cut never looks like an end
 * (RFC 8446, 6.1). */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "support/either.h"
#include "support/suite.h"
#include "support/tlschain.h"
#include "support/wait.h"

enum { FRONT = 1, BEHIND = 2, WHERES = 4 };

/* A client, pen and a server; which of the two lines is TLS, and of which
 * version. */
struct line {
	struct tls_chain chain;
	struct either_server server;
	struct tls_wish wish;
	struct either client;
	int where;
};

static void
line_up(struct line *l, int where, int version, either_talk_fn *talk,
    const char *setting)
{
	struct tls_chain *c = &l->chain;

	l->where = where;
	l->wish = (struct tls_wish){ .min = version,
		.max = version,
		.ca = c->ca_file,
		.verify = "a.test" };
	either_serve(
	    &l->server, talk, where & BEHIND ? c->site : NULL, version);
	tls_chain_up(c,
	    text("%s%s%s%s%s", where & FRONT ? "ssl_cert " : "",
		where & FRONT ? c->site : "",
		where & BEHIND ? ";ssl_upstream;ssl_upstream_ca " : "",
		where & BEHIND ? c->ca_file : "", setting),
	    l->server.tls.backend.at.text, NULL);
	l->client = either_connect(&c->front, where & FRONT ? &l->wish : NULL);
}

static void
line_down(struct line *l)
{
	tls_chain_down(&l->chain);
	either_serve_end(&l->server);
}

/* Tells a story for each version, with TLS in front, behind, and both. */
static void
everywhere(void (*story)(struct line *l), either_talk_fn *talk)
{
	static const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	struct line l;
	int i, where;

	tls_chain_begin(&l.chain);
	for (i = 0; i < 2; i++)
		for (where = 1; where < WHERES; where++) {
			line_up(&l, where, versions[i], talk, "");
			story(&l);
			line_down(&l);
		}
	tls_chain_end(&l.chain);
}

/* All sessions are over, for one reason. */
static void
ended(const struct line *l, const char *why, long n)
{
	tls_chain_counts(&l->chain, "sessions", 0);
	tls_chain_counts(&l->chain, text("closed_%s", why), n);
}

/* ---- what servers do, and see ---- */

static atomic_int saw;
static atomic_bool go_on;
enum { NOTHING, SAW_END, SAW_CUT };

/* Reads to the end and notes what it was. */
static void
read_on(struct either_server *s, struct either *e)
{
	char buf[16384];
	ssize_t k;

	while ((k = either_read(e, buf, sizeof(buf))) > 0)
		atomic_fetch_add(&s->tls.backend.received, k);
	/* the stream of a cut TLS connection breaks, or ends without goodbye */
	saw = k == 0				    ? SAW_END
	    : errno == ECONNRESET || errno == EPIPE ? SAW_CUT
						    : NOTHING;
}

static void
echo(struct either_server *s, struct either *e)
{
	char buf[16384];
	ssize_t k;

	(void)s;
	while ((k = either_read(e, buf, sizeof(buf))) > 0)
		if (!either_write(e, buf, (size_t)k))
			return;
	if (k == 0)
		either_finish(e);
}

static void
sink(struct either_server *s, struct either *e)
{
	long long before = s->tls.backend.received;
	char answer[64];

	read_on(s, e);
	snprintf(answer, sizeof(answer), "received %lld",
	    s->tls.backend.received - before);
	if (saw == SAW_END && either_write(e, answer, strlen(answer)))
		either_finish(e);
}

/* ---- ends ---- */

static void
emit_echo(struct line *l)
{
	struct either *c = &l->client;

	ck_assert(either_write(c, "hello", 5));
	either_expect(c, "hello");
	if (l->where & FRONT) {
		ck_assert_int_eq(tls_peer_version(c->peer), l->wish.min);
		ck_assert_str_eq(tls_peer_subject(c->peer), "CN=a.test");
	}
	either_finish(c);
	either_expect_end(c);
	either_close(c);
	ended(l, "done", 1);
	ck_assert_int_eq(tls_chain_count(&l->chain, "tls_handshakes"),
	    (l->where & FRONT) != 0);
	ck_assert_int_eq(tls_chain_count(&l->chain, "tls_up_handshakes"),
	    (l->where & BEHIND) != 0);
}

START_TEST(echoes)
{
	everywhere(emit_echo, echo);
}
END_TEST

static void
emit_client_ends_first(struct line *l)
{
	struct either *c = &l->client;

	ck_assert(either_write(c, "12345", 5));
	either_finish(c);
	either_expect(c, "received 5");
	either_expect_end(c);
	either_close(c);
	/* long after the answer could have come */
	*c =
	    either_connect(&l->chain.front, l->where & FRONT ? &l->wish : NULL);
	ck_assert(either_write(c, "123", 3));
	WAIT_FOR(l->server.tls.backend.received == 8, 5000);
	either_finish(c);
	either_expect(c, "received 3");
	either_expect_end(c);
	either_close(c);
	/* without a word */
	*c =
	    either_connect(&l->chain.front, l->where & FRONT ? &l->wish : NULL);
	either_finish(c);
	either_expect(c, "received 0");
	either_expect_end(c);
	either_close(c);
	ended(l, "done", 3);
}

START_TEST(client_ends_first)
{
	everywhere(emit_client_ends_first, sink);
}
END_TEST

static void
end_then_listen(struct either_server *s, struct either *e)
{
	either_write(e, "hello", 5);
	either_finish(e);
	read_on(s, e);
}

static void
emit_server_ends_first(struct line *l)
{
	atomic_llong *received = &l->server.tls.backend.received;
	struct either *c = &l->client;

	saw = NOTHING;
	either_expect(c, "hello");
	either_expect_end(c);
	ck_assert(either_write(c, "one", 3));
	WAIT_FOR(*received == 3, 5000);
	ck_assert(either_write(c, "two", 3));
	WAIT_FOR(*received == 6, 5000);
	ck_assert_int_eq(saw, NOTHING);
	either_finish(c);
	WAIT_FOR(saw != NOTHING, 5000);
	ck_assert_int_eq(saw, SAW_END);
	either_close(c);
	ended(l, "done", 1);
}

START_TEST(server_ends_first)
{
	everywhere(emit_server_ends_first, end_then_listen);
}
END_TEST

/* A client that was told the end has got all, and need not say goodbye. */
static void
emit_client_leaves(struct line *l)
{
	struct either *c = &l->client;

	saw = NOTHING;
	either_expect(c, "hello");
	either_expect_end(c);
	either_close(c);
	WAIT_FOR(saw != NOTHING, 5000);
	ck_assert_int_eq(saw, SAW_END);
	ended(l, "done", 1);
}

START_TEST(client_leaves_after_the_end)
{
	everywhere(emit_client_leaves, end_then_listen);
}
END_TEST

/* ---- cuts ---- */

/* One word, so that nothing is under way. */
static void
answer_then_read(struct either_server *s, struct either *e)
{
	char c;

	if (either_read(e, &c, 1) == 1 && either_write(e, "y", 1))
		read_on(s, e);
}

/* TLS tells it from an end, plain words cannot. */
static void
emit_client_is_cut(struct line *l)
{
	struct either *c = &l->client;
	bool end = l->where == FRONT;

	saw = NOTHING;
	ck_assert(either_write(c, "x", 1));
	either_expect(c, "y");
	either_cut(c);
	WAIT_FOR(saw != NOTHING, 5000);
	ck_assert_int_eq(saw, end ? SAW_END : SAW_CUT);
	ended(l, l->where & FRONT ? "no_close_notify" : "client_reset", 1);
}

START_TEST(client_is_cut)
{
	everywhere(emit_client_is_cut, answer_then_read);
}
END_TEST

/* Without an end; in plain words that is a reset. */
static void
leave(struct either_server *s, struct either *e)
{
	while (!go_on && !s->tls.backend.stopping)
		wait_nap();
	if (e->ssl == NULL)
		backend_reset(&s->tls.backend, e->fd);
}

static void
part_then_leave(struct either_server *s, struct either *e)
{
	char c;

	if (either_read(e, &c, 1) == 1 && either_write(e, "part", 4))
		leave(s, e);
}

/* Not a clean end: what it was is in errno. */
static void
expect_cut(struct either *c)
{
	char byte;
	ssize_t k = either_read(c, &byte, 1);

	ck_assert_msg(k<0, "wanted a cut, got %s", k> 0 ? "data" : "the end");
	ck_assert_msg(
	    errno == ECONNRESET || errno == EPIPE, "%s", strerror(errno));
}

static void
emit_server_is_cut(struct line *l)
{
	struct either *c = &l->client;

	go_on = false;
	ck_assert(either_write(c, "x", 1));
	either_expect(c, "part");
	go_on = true;
	expect_cut(c);
	either_close(c);
	ended(l, l->where & BEHIND ? "truncated" : "server_reset", 1);
}

START_TEST(server_is_cut)
{
	everywhere(emit_server_is_cut, part_then_leave);
}
END_TEST

/* The client has ended and waits for an answer that never comes whole. */
static void
emit_server_is_cut_answering(struct line *l)
{
	struct either *c = &l->client;

	go_on = false;
	ck_assert(either_write(c, "x", 1));
	either_finish(c);
	either_expect(c, "part");
	go_on = true;
	expect_cut(c);
	either_close(c);
	ended(l, l->where & BEHIND ? "truncated" : "server_reset", 1);
}

static void
end_then_part(struct either_server *s, struct either *e)
{
	char c;

	if (either_read(e, &c, 1) == 1 && either_read(e, &c, 1) == 0 &&
	    either_write(e, "part", 4))
		leave(s, e);
}

START_TEST(server_is_cut_answering)
{
	everywhere(emit_server_is_cut_answering, end_then_part);
}
END_TEST

/* ---- a client that is still sending ---- */

/* Sends until it breaks, then reads what is left: bytes and their end. */
static ssize_t
send_and_look(struct either *c, size_t *got)
{
	static const char zeros[65536];
	char buf[4096];
	ssize_t k;
	int i;

	for (i = 0; i < 400 && either_write(c, zeros, sizeof(zeros)); i++)
		go_on = true;
	for (*got = 0; (k = either_read(c, buf, sizeof(buf))) > 0;)
		*got += (size_t)k;
	return k;
}

/* In TLS it can be told a cut from an end: no goodbye is made up. (In plain
 * words a reset would lose it the answer, so there it is told an end.) */
static void
emit_cut_while_sending(struct line *l)
{
	struct either *c = &l->client;
	size_t got;
	ssize_t k;

	go_on = false;
	ck_assert(either_write(c, "x", 1));
	k = send_and_look(c, &got);
	if (l->where & FRONT)
		ck_assert_msg(k < 0, "a goodbye that the server did not say");
	ck_assert_uint_le(got, 4);
	either_close(c);
	tls_chain_counts(&l->chain, "sessions", 0);
}

START_TEST(server_is_cut_while_client_sends)
{
	everywhere(emit_cut_while_sending, part_then_leave);
}
END_TEST

SUITE(test_tls)
{
	Suite *s = suite_create("tls");

	SUITE_ADD(s, echoes, 30);
	SUITE_ADD(s, client_ends_first, 30);
	SUITE_ADD(s, server_ends_first, 30);
	SUITE_ADD(s, client_leaves_after_the_end, 30);
	SUITE_ADD(s, client_is_cut, 30);
	SUITE_ADD(s, server_is_cut, 30);
	SUITE_ADD(s, server_is_cut_answering, 30);
	SUITE_ADD(s, server_is_cut_while_client_sends, 60);
	return s;
}
