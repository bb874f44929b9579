/* test_ssh.c: the chain of adapters: ssh, TCP of both families, pen, a Unix
 * socket, pen, TCP, a real sshd. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/penrun.h"
#include "support/suite.h"
#include "system/sshd.h"

START_TEST(ssh_through_a_chain)
{
	struct endpoint sshd_at, path, front;
	struct pen inner, outer;
	struct child sshd;
	const char *out;

	NEED_PROGRAM("sshd");
	NEED_PROGRAM("ssh");
	NEED_PROGRAM("ssh-keygen");
	endpoint_new(&sshd_at, ENDPOINT_TCP4);
	sshd_up(&sshd, &sshd_at);
	if (!sshd_lets_in(&sshd_at))
		SKIP("sshd lets this user not in");

	/* a path may be relative */
	ck_assert_int_eq(chdir(scratch(".")), 0);
	endpoint_new(&path, ENDPOINT_UNIX);
	snprintf(path.text, sizeof(path.text), "./ssh");
	pen_up(&inner, &path, path.text, sshd_at.text, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&outer, &front, text(":::%d", front.port), path.text, NULL);
	sshd_run("127.0.0.1", front.port, "true");
	if (endpoint_has_kind(ENDPOINT_TCP6))
		sshd_run("::1", front.port, "true");
	out = sshd_run("127.0.0.1", front.port, "seq 1 100000");
	ck_assert_uint_eq(strlen(out), 588895);
	ck_assert_str_eq(out + 588888, "100000\n");
	pen_down(&outer);
	pen_down(&inner);
	ck_assert_int_ne(access("./ssh", F_OK), 0);
	child_stop(&sshd, SIGTERM);
}
END_TEST

SUITE(test_ssh)
{
	Suite *s = suite_create("ssh");

	SUITE_ADD(s, ssh_through_a_chain, 60);
	return s;
}
