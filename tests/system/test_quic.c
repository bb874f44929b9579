/* test_quic.c: QUIC through pen: a download, also while the client moves to
 * another port, which is a new flow to the same server. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/child.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

enum { SIZE = 30000000 };

static bool
somebody_is_at(const struct endpoint *s)
{
	int fd = socket(s->addr.ss_family, SOCK_DGRAM, 0), rc;

	rc = bind(fd, (const struct sockaddr *)&s->addr, s->len);
	close(fd);
	return rc < 0;
}

static void
make_page(const char *path)
{
	FILE *f = fopen(path, "w");
	unsigned x = 1;
	int i;

	ck_assert_ptr_nonnull(f);
	for (i = 0; i < SIZE; i++) {
		x = x * 1103515245 + 12345;
		fputc((int)(x >> 16 & 0xff), f);
	}
	ck_assert_int_eq(fclose(f), 0);
}

START_TEST(downloads)
{
	const char *root = scratch(""), *key = scratch("key.pem"),
		   *cert = scratch("cert.pem"), *got = scratch("got"),
		   *moves = _i == 0 ? "--quiet" : "--change-local-addr=5ms";
	struct child server, client;
	struct endpoint at, front, ctl;
	struct pen pen;

	NEED_PROGRAM("gtlsserver");
	NEED_PROGRAM("gtlsclient");
	NEED_PROGRAM("openssl");
	(void)run_program(20000, "openssl", "req", "-x509", "-newkey",
	    "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "30",
	    "-subj", "/CN=localhost", NULL);
	make_page(scratch("page"));
	ck_assert_int_eq(mkdir(got, 0755), 0);
	udp_endpoint(&at, ENDPOINT_TCP4);
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	child_start(&server,
	    (const char *[]){ child_find("gtlsserver"), "--quiet", "-d", root,
		udp_host(&at), text("%d", at.port), key, cert, NULL });
	WAIT_FOR(child_has_ended(&server) || somebody_is_at(&at), 10000);
	ck_assert_msg(server.running, "%s", child_err(&server));
	pen_up(&pen, &ctl, "-U", "-C", ctl.text, front.text, at.text, NULL);
	child_start(&client,
	    (const char *[]){ child_find("gtlsclient"), "--quiet", moves,
		text("--download=%s", got), "--exit-on-all-streams-close",
		udp_host(&front), text("%d", front.port),
		"https://localhost/page", NULL });
	ck_assert_msg(
	    child_wait(&client, 40000) == 0, "%s", child_err(&client));
	(void)run_program(
	    10000, "cmp", scratch("page"), scratch("got/page"), NULL);
	ck_assert_ptr_nonnull(strstr(endpoint_ask(&ctl, "statistics\n"),
	    _i == 0 ? "flows_opened 1\n" : "flows_opened 2\n"));
	pen_down(&pen);
	child_stop(&server, SIGTERM);
}
END_TEST

SUITE(test_quic)
{
	Suite *s = suite_create("quic");
	TCase *c = tcase_create("downloads");

	tcase_set_timeout(c, 80);
	tcase_add_loop_test(c, downloads, 0, 2);
	suite_add_tcase(s, c);
	return s;
}
