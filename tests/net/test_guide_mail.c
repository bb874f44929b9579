/* test_guide_mail.c: the files of examples/guide for mail, with Postfix and
 * Dovecot behind pen, and curl in front. */
#include "config.h"

#include <check.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/guide.h"
#ifdef HAVE_OPENSSL
#include "support/identity.h"
#endif
#include "support/suite.h"
#include "support/wait.h"
#include "system/mail.h"

enum { SOON = 30000 };

static struct guide guide;
static struct child service;
static struct endpoint at;

static void
set_at(int port)
{
	struct endpoint any = { .port = port };

	endpoint_at_host(&at, &any, GUIDE_SERVER);
}

/* ---- SMTP ---- */

/* Lines of main.cf that write the mail of a domain to files. */
static const char *
delivers(const char *directory)
{
	const struct passwd *user = getpwnam("nobody");

	ck_assert_int_eq(mkdir(directory, 0755), 0);
	ck_assert_int_eq(chown(directory, user->pw_uid, user->pw_gid), 0);
	return text("virtual_mailbox_domains = example.org\n"
		    "virtual_mailbox_base = %s\n"
		    "virtual_mailbox_maps = static:box\n"
		    "virtual_uid_maps = static:%d\n"
		    "virtual_gid_maps = static:%d\n",
	    directory, (int)user->pw_uid, (int)user->pw_gid);
}

static void
send_mail(const char *words)
{
	const char *file = scratch("mail");

	write_file(file, text("Subject: guide\r\n\r\n%s\r\n", words));
	net_fixture_run(&guide.fixture, NET_FIXTURE_CLIENT, SOON, "curl", "-sS",
	    "smtp://" GUIDE_PEN, "--mail-from", "me@example.net", "--mail-rcpt",
	    "you@example.org", "--upload-file", file, NULL);
}

/* Mail is delivered, and its first header names who sent it. */
START_TEST(smtp)
{
	const char *lacks = postfix_lacks(), *box = scratch("boxes");

	if (lacks != NULL)
		SKIP(lacks);
	NEED_PROGRAM("curl");
	NEED_GUIDE(&guide, "smtp");
	set_at(25);
	net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER);
	postfix_up(&service, &at,
	    text("%s%s", delivers(box),
		guide_quote("smtp.conf", "In main.cf of each Postfix:")));
	net_fixture_leave(&guide.fixture);
	guide_start(&guide);
	/* the other one is not there */
	guide_wait_server(&guide, 0, "up result ok");
	guide_wait_server(&guide, 1, "down result failed");
	send_mail("hello by pen");
	WAIT_FOR(file_has(text("%s/box", box), "hello by pen"), SOON);
	ck_assert_ptr_nonnull(
	    strstr(contents(text("%s/box", box)), "[" GUIDE_CLIENT "]"));
	net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER);
	postfix_down(&service, &at);
	net_fixture_leave(&guide.fixture);
	guide_end(&guide);
}
END_TEST

/* ---- IMAP ---- */

static void
put_mail(const char *words)
{
	const struct passwd *user = getpwnam("nobody");
	const char *home = scratch("dovecot"), *sub;
	int i;

	for (i = 0; i < 4; i++) {
		sub = text("%s/mail%s", home,
		    (const char *[]){ "", "/cur", "/new", "/tmp" }[i]);
		ck_assert_int_eq(mkdir(sub, 0700), 0);
		ck_assert_int_eq(chown(sub, user->pw_uid, user->pw_gid), 0);
	}
	write_file(text("%s/mail/new/1.1.here", home),
	    text("Subject: guide\n\n%s\n", words));
	ck_assert_int_eq(chmod(text("%s/mail/new/1.1.here", home), 0644), 0);
}

/* Lines of Dovecot's configuration for port 993, where it talks TLS. */
static const char *
talks_tls(void)
{
#ifdef HAVE_OPENSSL
	struct identity id;

	identity_new(&id, GUIDE_PEN);
	return text("ssl = yes\nssl_cert = <%s\nssl_key = <%s\n"
		    "service imap-login {\n  inet_listener imaps {\n"
		    "    port = 993\n    ssl = yes\n  }\n}\n",
	    id.ec, id.ec);
#else
	return "";
#endif
}

static void
expect_mail(const char *url, const char *words)
{
	struct child curl;

	net_fixture_start(&guide.fixture, NET_FIXTURE_CLIENT, &curl,
	    (const char *[]){ "curl", "-vk", url, "-u", "somebody:x", NULL });
	ck_assert_msg(child_wait(&curl, SOON) == 0 &&
		strstr(child_out(&curl), words) != NULL,
	    "curl %s: exit %d: %s%s\npen: %s%s\nDovecot: %s", url,
	    curl.status, child_out(&curl), child_err(&curl),
	    guide_ask(&guide, "sessions"), child_err(&guide.pen.child),
	    child_err(&service));
}

/* Each connection to Dovecot starts a process, which takes port 143 first. On a
 * slow machine ten checks a second leave none for port 993. */
static void
rest_from_checks(void)
{
	ck_assert_str_eq(guide_ask(&guide, "check_interval 60"), "60\n");
}

/* A mail is read, and the server's log names who did that. */
START_TEST(imap)
{
	const char *lacks = dovecot_lacks();

	if (lacks != NULL)
		SKIP(lacks);
	NEED_PROGRAM("curl");
	NEED_GUIDE(&guide, "imap");
	set_at(143);
	net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER);
	dovecot_up(&service, &at,
	    text("%s%s",
		guide_quote(
		    "imap.conf", "In the configuration of each Dovecot:"),
		talks_tls()));
	net_fixture_leave(&guide.fixture);
	put_mail("read by pen");
	guide_start(&guide);
	guide_wait_server(&guide, 0, "up result ok");
	guide_wait_server(&guide, 1, "down result failed");
	rest_from_checks();
	expect_mail("imap://" GUIDE_PEN "/INBOX;MAILINDEX=1", "read by pen");
#ifdef HAVE_OPENSSL
	expect_mail("imaps://" GUIDE_PEN "/INBOX;MAILINDEX=1", "read by pen");
#endif
	ck_assert_ptr_nonnull(strstr(child_err(&service), "rip=" GUIDE_CLIENT));
	guide_end(&guide);
	child_stop(&service, SIGTERM);
}
END_TEST

SUITE(test_guide_mail)
{
	Suite *s = suite_create("guide_mail");

	SUITE_ADD(s, smtp, 60);
	SUITE_ADD(s, imap, 60);
	return s;
}
