/* test_guide_mail.c: the files of examples/guide for mail, with Postfix and
 * Dovecot behind pen, and curl in front. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <string.h>

#include "net/guide_programs.h"
#include "support/suite.h"
#include "support/wait.h"
#include "system/mail.h"

enum { SOON = 30000 };

static struct guide guide;
static struct child service;

/* ---- SMTP ---- */

/* Mail is delivered, and its first header names who sent it. */
START_TEST(smtp)
{
	const char *lacks = postfix_lacks();

	if (lacks != NULL)
		SKIP(lacks);
	NEED_PROGRAM("curl");
	NEED_GUIDE(&guide, "smtp");
	guide_postfix_up(&guide, &service, 0);
	guide_start(&guide);
	/* the other one is not there */
	guide_wait_server(&guide, 0, "up result ok");
	guide_wait_server(&guide, 1, "down result failed");
	guide_send_mail(&guide, "hello by pen");
	WAIT_FOR(file_has(guide_mailbox(0), "hello by pen"), SOON);
	ck_assert_ptr_nonnull(
	    strstr(contents(guide_mailbox(0)), "[" GUIDE_CLIENT "]"));
	guide_postfix_down(&guide, &service, 0);
	guide_end(&guide);
}
END_TEST

/* ---- IMAP ---- */

static void
expect_mail(const char *scheme, const char *words)
{
	const char *mail = guide_read_mail(&guide, scheme);

	ck_assert_msg(strstr(mail, words) != NULL, "%s: %s\nDovecot: %s",
	    scheme, mail, child_err(&service));
}

/* A mail is read, and the server's log names who did that. */
START_TEST(imap)
{
	const char *lacks = dovecot_lacks();

	if (lacks != NULL)
		SKIP(lacks);
	NEED_PROGRAM("curl");
	NEED_GUIDE(&guide, "imap");
	guide_dovecot_up(&guide, &service, 0, "read by pen");
	guide_start(&guide);
	guide_wait_server(&guide, 0, "up result ok");
	guide_wait_server(&guide, 1, "down result failed");
	expect_mail("imap", "read by pen");
	expect_mail("imaps", "read by pen");
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
