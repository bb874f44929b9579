/* test_ssh.c: the chain of adapters: ssh, TCP of both families, pen, a Unix
 * socket, pen, TCP, a real sshd. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static const char *key, *client_config;
static bool made_dir;

static void
start_sshd(struct child *c, const struct spot *at)
{
	const char *host_key = scratch("host_key"), *conf = scratch("conf");
	const char *keys = scratch("authorized_keys");
	const char *argv[] = { child_find("sshd"), "-D", "-e", "-f", conf,
		NULL };

	key = scratch("key");
	run_program(10000, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
	    host_key, NULL);
	run_program(10000, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
	    key, NULL);
	write_file(keys, contents(text("%s.pub", key)));
	write_file(conf,
	    text("ListenAddress 127.0.0.1:%d\nHostKey %s\n"
		 "AuthorizedKeysFile %s\nStrictModes no\nUsePAM no\n"
		 "PidFile none\nPermitRootLogin yes\nMaxStartups 100\n"
		 "PasswordAuthentication no\n",
		at->port, host_key, keys));
	client_config = scratch("client");
	write_file(client_config,
	    text("IdentityFile %s\nIdentitiesOnly yes\nBatchMode yes\n"
		 "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n"
		 "LogLevel ERROR\nConnectTimeout 20\n",
		key));
	if (geteuid() == 0) /* what its service would have made */
		made_dir = mkdir("/run/sshd", 0755) == 0;
	child_start(c, argv);
	WAIT_FOR(child_has_ended(c) || spot_is_listening(at), 10000);
	ck_assert_msg(c->running, "sshd: %s", child_err(c));
}

static const char *
ssh(const char *host, int port, const char *command)
{
	return run_program(30000, "ssh", "-F", client_config, "-p",
	    text("%d", port), host, command, NULL);
}

/* A user without a shell, say, has no use for sshd, with pen or without. */
static bool
may_log_in(const struct spot *at)
{
	const char *argv[] = { "ssh", "-F", client_config, "-p",
		text("%d", at->port), "127.0.0.1", "true", NULL };
	struct child c;

	child_start(&c, argv);
	return child_wait(&c, 30000) == 0;
}

START_TEST(ssh_through_a_chain)
{
	struct spot sshd_at, path, front;
	struct pen inner, outer;
	struct child sshd;
	const char *out;

	NEED_PROGRAM("sshd");
	NEED_PROGRAM("ssh");
	NEED_PROGRAM("ssh-keygen");
	spot_new(&sshd_at, SPOT_TCP4);
	start_sshd(&sshd, &sshd_at);
	if (!may_log_in(&sshd_at))
		SKIP("sshd lets this user not in");

	/* a path may be relative */
	ck_assert_int_eq(chdir(scratch(".")), 0);
	spot_new(&path, SPOT_UNIX);
	snprintf(path.text, sizeof(path.text), "./ssh");
	pen_up(&inner, &path, path.text, sshd_at.text, NULL);
	spot_new(&front, SPOT_TCP4);
	pen_up(&outer, &front, text(":::%d", front.port), path.text, NULL);
	ssh("127.0.0.1", front.port, "true");
	if (spot_has_kind(SPOT_TCP6))
		ssh("::1", front.port, "true");
	out = ssh("127.0.0.1", front.port, "seq 1 100000");
	ck_assert_uint_eq(strlen(out), 588895);
	ck_assert_str_eq(out + 588888, "100000\n");
	pen_down(&outer);
	pen_down(&inner);
	ck_assert_int_ne(access("./ssh", F_OK), 0);
	child_stop(&sshd, SIGTERM);
	if (made_dir)
		rmdir("/run/sshd");
}
END_TEST

SUITE(test_ssh)
{
	Suite *s = suite_create("ssh");

	SUITE_ADD(s, ssh_through_a_chain, 60);
	return s;
}
