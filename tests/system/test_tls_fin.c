/* test_tls_fin.c: clients of TLS whose connection ends without a goodbye, and
 * what they had said before. */
#include "config.h"

#include "support/suite.h"

#ifdef HAVE_OPENSSL

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/pattern.h"
#include "support/tlschain.h"
#include "support/wait.h"

/* ---- what came while no server had answered ---- */

enum { RECORDS = 2000 };

/* More records of a byte each than are read at a time: nothing but the stream
 * knows that they are there when the second server has taken the first of them. */
START_TEST(small_records_after_retry)
{
	struct tls_wish wish = { .min = TLS1_3_VERSION };
	struct backend server;
	struct tls_chain c;
	struct tls_peer *p;
	struct spot silent;
	int i, listener, fill;

	tls_chain_begin(&c);
	spot_new(&silent, SPOT_TCP4);
	listener = spot_listen(&silent, 0);
	fill = spot_connect(&silent);
	backend_start(&server, SPOT_TCP4, backend_sink, NULL);
	tls_chain_up(&c, text("timeout 1;roundrobin;ssl_cert %s", c.site),
	    silent.text, server.at.text, NULL);
	p = tls_chain_opens(&c, &wish);
	for (i = 0; i < RECORDS; i++)
		ck_assert(tls_peer_write(p, "x", 1));
	WAIT_FOR(server.received == RECORDS, 10000);
	tls_peer_close(p);
	tls_chain_down(&c);
	tls_chain_end(&c);
	backend_stop(&server);
	close(fill);
	close(listener);
}
END_TEST

static Suite *
all_tests(void)
{
	Suite *s = suite_create("tls_fin");

	SUITE_ADD(s, small_records_after_retry, 30);
	return s;
}

#else

START_TEST(tls)
{
	SKIP("built without OpenSSL");
}
END_TEST

static Suite *
all_tests(void)
{
	Suite *s = suite_create("tls_fin");

	SUITE_ADD(s, tls, 10);
	return s;
}

#endif

int
main(void)
{
	return suite_main(all_tests());
}
