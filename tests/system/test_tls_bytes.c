/* test_tls_bytes.c: much, both ways at once, in random pieces and with random
 * pauses, over TLS in front of pen, behind it, and both; each byte is compared.
 *
 * PEN_TEST_FULL=1: a GiB each way. */
#include "config.h"

#include <stdlib.h>

#include "support/either.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/tlschain.h"
#include "support/wait.h"

enum { FRONT = 1, BEHIND = 2 };

static struct stream_plan servers_plan;
static const char *server_wrong;
static atomic_bool server_done;

static void
run_server(struct either_server *s, struct either *e)
{
	(void)s;
	server_wrong = either_stream(e, &servers_plan);
	server_done = true;
}

/* MiB each way. */
static long
amount(void)
{
	return suite_is_full() ? 1024 : suite_amount(64, 4);
}

/* The pieces differ in size: neither end may be the last to go by chance. */
static void
bytes(int where, int version, const char *setting)
{
	struct tls_wish wish = { .min = version, .max = version };
	uint64_t n = (uint64_t)amount() << 20;
	struct stream_plan plan = { .out_seed = 1,
		.in_seed = 2,
		.out_bytes = n + 1,
		.in_bytes = n,
		.pause_ms = 20,
		.pause_of = 4 * (unsigned)amount() };
	struct either_server server;
	struct tls_chain c;
	struct either client;
	const char *wrong;

	servers_plan = (struct stream_plan){ .end_last = servers_plan.end_last,
		.out_seed = 2,
		.in_seed = 1,
		.out_bytes = n,
		.in_bytes = n + 1,
		.pause_ms = 20,
		.pause_of = 4 * (unsigned)amount() };
	tls_chain_begin(&c);
	either_serve(
	    &server, run_server, where & BEHIND ? c.site : NULL, version);
	tls_chain_up(&c,
	    text("%s%s;%s%s;%s", where & FRONT ? "ssl_cert " : "",
		where & FRONT ? c.site : "",
		where & BEHIND ? "ssl_upstream;ssl_upstream_ca " : "",
		where & BEHIND ? c.ca_file : "", setting),
	    server.tls.backend.at.text, NULL);
	client = either_connect(&c.front, where & FRONT ? &wish : NULL);
	wrong = either_stream(&client, &plan);
	ck_assert_msg(wrong == NULL, "client: %s", wrong);
	WAIT_FOR(server_done, 20000);
	ck_assert_msg(server_wrong == NULL, "server: %s", server_wrong);
	either_close(&client);
	tls_chain_counts(&c, "closed_done", 1);
	tls_chain_down(&c);
	either_serve_end(&server);
	tls_chain_end(&c);
}

START_TEST(tls12_in_front)
{
	bytes(FRONT, TLS1_2_VERSION, "");
}
END_TEST

START_TEST(tls12_behind)
{
	bytes(BEHIND, TLS1_2_VERSION, "");
}
END_TEST

START_TEST(tls12_both)
{
	bytes(FRONT | BEHIND, TLS1_2_VERSION, "");
}
END_TEST

START_TEST(tls13_in_front)
{
	bytes(FRONT, TLS1_3_VERSION, "");
}
END_TEST

START_TEST(tls13_behind)
{
	bytes(BEHIND, TLS1_3_VERSION, "");
}
END_TEST

START_TEST(tls13_both)
{
	bytes(FRONT | BEHIND, TLS1_3_VERSION, "");
}
END_TEST

/* Where the loop tells of what is there as long as it is there. */
START_TEST(without_epoll)
{
	any_event_method();
	bytes(FRONT | BEHIND, TLS1_3_VERSION, "poll");
}
END_TEST

/* With a buffer a server that has ended may be let go before its client has, so
 * here the server ends last. */
START_TEST(through_a_buffer)
{
	servers_plan.end_last = true;
	bytes(FRONT | BEHIND, TLS1_3_VERSION, "buffer 1m");
}
END_TEST

SUITE(test_tls_bytes)
{
	Suite *s = suite_create("tls_bytes");
	int seconds = amount() > 64 ? 600 : 60;

	SUITE_ADD(s, tls12_in_front, seconds);
	SUITE_ADD(s, tls12_behind, seconds);
	SUITE_ADD(s, tls12_both, seconds);
	SUITE_ADD(s, tls13_in_front, seconds);
	SUITE_ADD(s, tls13_behind, seconds);
	SUITE_ADD(s, tls13_both, seconds);
	SUITE_ADD(s, without_epoll, seconds);
	SUITE_ADD(s, through_a_buffer, seconds);
	return s;
}
