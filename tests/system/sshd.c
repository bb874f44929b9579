/* sshd.c: its keys, its configuration, its life. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"
#include "system/sshd.h"

static const char *key, *client_config;

void
sshd_again(struct child *c, const struct endpoint *at)
{
	child_start(c,
	    (const char *[]){ child_find("sshd"), "-D", "-e", "-f",
		scratch("conf"), NULL });
	WAIT_FOR(child_has_ended(c) || endpoint_is_listening(at), 10000);
	ck_assert_msg(c->running, "sshd: %s", child_err(c));
}

void
sshd_up(struct child *c, const struct endpoint *at)
{
	const char *host_key = scratch("host_key"), *conf = scratch("conf");
	const char *keys = scratch("authorized_keys");

	key = scratch("key");
	run_program(10000, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
	    host_key, NULL);
	run_program(10000, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
	    key, NULL);
	write_file(keys, contents(text("%s.pub", key)));
	write_file(conf,
	    text("ListenAddress %s\nHostKey %s\n"
		 "AuthorizedKeysFile %s\nStrictModes no\nUsePAM no\n"
		 "PidFile none\nPermitRootLogin yes\nMaxStartups 100\n"
		 "PasswordAuthentication no\n",
		at->text, host_key, keys));
	client_config = scratch("client");
	write_file(client_config,
	    text("IdentityFile %s\nIdentitiesOnly yes\nBatchMode yes\n"
		 "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n"
		 "LogLevel ERROR\nConnectTimeout 20\n",
		key));
	/* What its service would have made. It stays: without it, an sshd that
	 * another test, or this one, still has resets its clients. */
	if (geteuid() == 0)
		(void)mkdir("/run/sshd", 0755);
	sshd_again(c, at);
}

const char *
sshd_client(void)
{
	return client_config;
}

const char *
sshd_run(const char *host, int port, const char *command)
{
	return run_program(30000, "ssh", "-F", client_config, "-p",
	    text("%d", port), host, command, NULL);
}

bool
sshd_lets_in(const struct endpoint *at)
{
	const char *argv[] = { "ssh", "-F", client_config, "-p",
		text("%d", at->port), "127.0.0.1", "true", NULL };
	struct child c;

	child_start(&c, argv);
	return child_wait(&c, 30000) == 0;
}
