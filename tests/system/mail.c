/* mail.c: configurations of mail servers, and their lives. */
#include "config.h"

#include <check.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/nginx.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"
#include "system/mail.h"

enum { SOON = 30000 };

static const char *
lacks(const char *program, const char *user)
{
	if (child_find(program) == NULL)
		return text("%s is not installed", program);
	if (geteuid() != 0 || getpwnam(user) == NULL)
		return text("%s needs root, and its users", program);
	return NULL;
}

static void
await(struct child *c, const struct endpoint *at)
{
	WAIT_FOR(child_has_ended(c) || endpoint_is_listening(at), SOON);
	ck_assert_msg(c->running, "%s%s", child_err(c), child_out(c));
}

/* Each address has a directory of its own. */
static const char *
dir_of(const char *program, const struct endpoint *at)
{
	return scratch(text("%s-%s", program, udp_host(at)));
}

/* ---- Postfix ---- */

static const char postfix_main[] =
    "compatibility_level = 3.6\nqueue_directory = %s/queue\n"
    "data_directory = %s/data\nmaillog_file = /dev/stdout\n"
    "inet_interfaces = %s\n"
    "smtpd_peername_lookup = no\n"
    "myhostname = mail.test\nmydestination =\nalias_maps =\n"
    "alias_database =\n%s";
static const char postfix_master[] = "%s inet n - n - - smtpd\n"
				     "postlog unix-dgram n - n - 1 postlogd\n"
				     "rewrite unix - - n - - trivial-rewrite\n"
				     "cleanup unix n - n - 0 cleanup\n"
				     "qmgr unix n - n 300 1 qmgr\n"
				     "anvil unix - - n - 1 anvil\n"
				     "proxymap unix - - n - - proxymap\n"
				     "virtual unix - n n - - virtual\n"
				     "bounce unix - - n - 0 bounce\n";

const char *
postfix_lacks(void)
{
	return lacks("postfix", "postfix");
}

void
postfix_again(struct child *c, const struct endpoint *at)
{
	child_start(c,
	    (const char *[]){ child_find("postfix"), "-c",
		dir_of("postfix", at), "start-fg", NULL });
	await(c, at);
}

void
postfix_up(struct child *c, const struct endpoint *at, const char *more)
{
	const char *dir = dir_of("postfix", at), *data = text("%s/data", dir);
	const struct passwd *user = getpwnam("postfix");

	ck_assert_int_eq(mkdir(dir, 0755), 0);
	ck_assert_int_eq(mkdir(text("%s/queue", dir), 0755), 0);
	ck_assert_int_eq(mkdir(data, 0700), 0);
	ck_assert_int_eq(chown(data, user->pw_uid, user->pw_gid), 0);
	write_file(text("%s/main.cf", dir),
	    text(postfix_main, dir, dir, udp_host(at), more));
	write_file(text("%s/master.cf", dir), text(postfix_master, at->text));
	postfix_again(c, at);
}

void
postfix_down(struct child *c, const struct endpoint *at)
{
	(void)run_program(30000, child_find("postfix"), "-c",
	    dir_of("postfix", at), "stop", NULL);
	WAIT_FOR(!endpoint_is_listening(at), SOON);
	child_wait(c, SOON);
}

/* ---- Dovecot ---- */

static const char dovecot_conf[] =
    "base_dir = %s/run\nlog_path = /dev/stderr\nprotocols = imap\nssl = no\n"
    "disable_plaintext_auth = no\nlisten = %s\n"
    "login_log_format_elements = rip=%%r rport=%%b lip=%%l\n"
    "mail_location = maildir:%s/mail\n"
    "passdb {\n  driver = static\n  args = nopassword=y\n}\n"
    "userdb {\n  driver = static\n  args = uid=nobody gid=nogroup home=%s\n}\n"
    "service imap-login {\n  inet_listener imap {\n    port = %d\n  }\n"
    "  inet_listener imaps {\n    port = 0\n  }\n  chroot =\n}\n%s";

const char *
dovecot_lacks(void)
{
	return lacks("dovecot", "dovenull");
}

const char *
dovecot_home(const struct endpoint *at)
{
	return dir_of("dovecot", at);
}

void
dovecot_up(struct child *c, const struct endpoint *at, const char *more)
{
	const char *dir = dovecot_home(at), *conf = text("%s/conf", dir);

	ck_assert_int_eq(mkdir(dir, 0755), 0);
	ck_assert_int_eq(mkdir(text("%s/run", dir), 0755), 0);
	write_file(conf,
	    text(dovecot_conf, dir, udp_host(at), dir, dir, at->port, more));
	child_start(c,
	    (const char *[]){ child_find("dovecot"), "-F", "-c", conf, NULL });
	await(c, at);
}
