/* test_tls_limits.c: clients of TLS beyond the limits of their source: pen
 * refuses them before it works for a handshake, or shakes hands later. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "support/pattern.h"
#include "support/suite.h"
#include "support/tlschain.h"
#include "support/wait.h"

enum { SOON = 10000 };

static struct tls_chain c;
static struct backend server;
static const struct tls_wish wish = { .min = TLS1_3_VERSION };

static void
up(const char *commands)
{
	tls_chain_begin(&c);
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	tls_chain_up(
	    &c, text("ssl_cert %s;%s", c.site, commands), server.at.text, NULL);
}

static void
down(void)
{
	backend_stop(&server);
	tls_chain_end(&c);
}

START_TEST(refused_before_the_handshake)
{
	struct tls_peer *p;
	int fd;

	up("client_conns 1");
	p = tls_chain_opens(&c, &wish);
	tls_peer_expect_echo(p, "hello");
	fd = endpoint_connect(&c.front); /* it says no word */
	endpoint_expect_reset(fd);
	close(fd);
	ck_assert_ptr_null(tls_peer_open(endpoint_connect(&c.front), &wish));
	tls_peer_expect_echo(p, "still here");
	tls_peer_close(p);
	down();
}
END_TEST

static void *
hang_up_soon(void *arg)
{
	struct tls_peer *first = arg;

	WAIT_FOR(child_has_said(&c.pen.child, "client over limit"), SOON);
	tls_peer_close(first);
	return NULL;
}

/* The hello that was said while it waited is answered when its turn comes. */
START_TEST(delayed_handshake)
{
	struct tls_peer *first, *second;
	pthread_t thread;

	up("client_conns 1; client_limit_action delay; client_limit_time 600");
	first = tls_chain_opens(&c, &wish);
	tls_peer_expect_echo(first, "hello");
	ck_assert_int_eq(pthread_create(&thread, NULL, hang_up_soon, first), 0);
	second = tls_chain_opens(&c, &wish);
	pthread_join(thread, NULL);
	tls_peer_expect_echo(second, "later");
	tls_peer_close(second);
	down();
}
END_TEST

SUITE(test_tls_limits)
{
	Suite *s = suite_create("tls_limits");

	SUITE_ADD(s, refused_before_the_handshake, 30);
	SUITE_ADD(s, delayed_handshake, 30);
	return s;
}
