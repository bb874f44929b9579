/* test_tls_stop.c: a graceful stop ends kept connections of TLS in order:
 * client and server are told with close_notify. */
#include "config.h"

#include <check.h>
#include <signal.h>

#include "support/suite.h"
#include "support/tlschain.h"
#include "support/tlspeer.h"
#include "support/wait.h"

static const int version[] = { TLS1_2_VERSION, TLS1_3_VERSION };

START_TEST(both_sides_are_told)
{
	struct tls_wish wish = { .min = version[_i], .max = version[_i] };
	struct tls_echo server;
	struct tls_peer *kept;
	struct tls_seen seen;
	struct tls_chain c;
	const char *file;

	tls_chain_begin(&c);
	file = tls_chain_cert(
	    &c, "server.pem", (struct cert_wish){ .name = "IP:127.0.0.1" });
	tls_echo_start(&server, file, file, NULL);
	tls_chain_up(&c,
	    text("quiet_time 0.2; ssl_cert %s; ssl_upstream; "
		 "ssl_upstream_ca %s",
		c.site, c.ca_file),
	    server.backend.at.text, NULL);
	kept = tls_chain_opens(&c, &wish);
	tls_peer_expect_echo(kept, "GET / HTTP/1.1\r\n\r\n");
	ck_assert_int_eq(kill(c.pen.child.pid, SIGQUIT), 0);
	tls_peer_expect_end(kept);
	WAIT_FOR(child_has_ended(&c.pen.child), 10000);
	ck_assert_int_eq(c.pen.child.status, 0);
	WAIT_FOR(server.backend.open == 0, 5000);
	tls_echo_look(&server, &seen);
	ck_assert_uint_eq(seen.goodbyes, 1);
	ck_assert_uint_eq(seen.cut, 0);
	tls_peer_close(kept);
	tls_echo_stop(&server);
	tls_chain_end(&c);
}
END_TEST

SUITE(test_tls_stop)
{
	Suite *s = suite_create("tls_stop");
	TCase *told = tcase_create("both_sides_are_told");

	tcase_set_timeout(told, 30);
	tcase_add_loop_test(told, both_sides_are_told, 0,
	    sizeof(version) / sizeof(version[0]));
	suite_add_tcase(s, told);
	return s;
}
