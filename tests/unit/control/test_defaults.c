/* test_defaults.c: the section "defaults" of a file: which services begin with
 * what, and what it refuses. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "control/language/command.h"
#include "control/language/defaults.h"
#include "support/ask.h"
#include "support/suite.h"

static struct pen *pen;
static struct error e;
static char answer[4096];

#define WEB  "service web\nlisten 127.0.0.1:81\nserver add 10.0.0.1\n"
#define MAIL "service mail\nlisten 127.0.0.1:82\nserver add 10.0.0.2\n"

static int
read_file(const char *file)
{
	const char *path = scratch("pen.conf");

	write_file(path, file);
	pen = pen_new();
	ck_assert_ptr_nonnull(pen);
	ck_assert_int_eq(text_set(&pen->given->process->file, path), 0);
	return apply_given(pen, &e);
}

static void
begin(const char *file)
{
	ck_assert_msg(read_file(file) == 0, "%s", e.text);
}

static void
says(const char *line, const char *wanted)
{
	ck_assert_msg(ask_pen(pen, line, answer, sizeof(answer), &e) == 0,
	    "%s: %s", line, e.text);
	ck_assert_str_eq(answer, wanted);
}

static void
refuses(const char *file, const char *why)
{
	ck_assert_msg(read_file(file) == -1, "%s: taken", file);
	ck_assert_msg(strstr(e.text, why) != NULL, "%s: %s", file, e.text);
	pen_free(pen);
}

START_TEST(services_begin_with_them)
{
	begin("timeout 4\n"
	      "defaults\nidle_timeout 50; roundrobin\n"
	      "check connect\nlog_format jsonl\n" WEB MAIL
	      "idle_timeout 60\nno roundrobin\nno check\n");
	says("service web idle_timeout", "Idle timeout: 50 seconds\n");
	says("service mail idle_timeout", "Idle timeout: 60 seconds\n");
	says("service web check; service mail check", "connect\nnone\n");
	says("service web log_format; service mail log_format",
	    "jsonl\njsonl\n");
	says("service mail mode",
	    "no hash no roundrobin no stubborn no weight no prio\n");
	/* what is before belongs to another one */
	says("service default timeout; service web timeout", "4\n3\n");
	says("service default idle_timeout", "Idle timeout: 0 seconds\n");
	pen_free(pen);
}
END_TEST

/* Another section replaces it as a whole; an empty one ends it. Sections of a
 * service that is there already do not begin anything. */
START_TEST(the_last_one_counts)
{
	begin("defaults\ntimeout 4\nblacklist 5\n" WEB
	      "defaults # again\ntimeout 6\n" MAIL
	      "service web\nqueue 2\ndefaults\n"
	      "service cache\nlisten 127.0.0.1:83\nserver add 10.0.0.3\n"
	      "defaults\ntimeout 9\n");
	says("service web timeout; service web blacklist; service web queue",
	    "4\n5\n2\n");
	says("service mail timeout; service mail blacklist", "6\n30\n");
	says("service cache timeout", "3\n");
	pen_free(pen);
}
END_TEST

/* "default" is there before all sections. */
START_TEST(the_first_service_has_none)
{
	begin(
	    "defaults\ntimeout 4\n"
	    "service default\nlisten 127.0.0.1:80\nserver add 10.0.0.9\n" WEB);
	says("timeout; service web timeout", "3\n4\n");
	pen_free(pen);
}
END_TEST

/* One that is added at run time begins without, as does a file that is
 * included then. */
START_TEST(only_of_its_file)
{
	const char *more = scratch("more");

	begin("defaults\ntimeout 4\n" WEB);
	says("service add mail; service mail timeout", "3\n");
	write_file(more,
	    "service cache\nlisten 127.0.0.1:83\n"
	    "server add 10.0.0.3\n");
	ck_assert_int_eq(
	    ask_pen(pen, text("include %s", more), answer, 4096, &e), 0);
	says("service cache timeout", "3\n");
	ck_assert_int_eq(ask_pen(pen, "defaults", answer, 4096, &e), -1);
	ck_assert_str_eq(
	    e.text, "defaults: only in a file: it begins a section");
	ck_assert_int_eq(ask_pen(pen, "defaults x", answer, 4096, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "takes no argument, got \"x\""));
	ck_assert_int_eq(
	    ask_pen(pen, "service add defaults", answer, 4096, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "is not a valid name"));
	pen_free(pen);
}
END_TEST

/* A section in an included file counts in the file that includes it; the lines
 * after it go on where they were. */
START_TEST(included)
{
	const char *more = scratch("more"), *part = scratch("part");

	write_file(part, "blacklist 8\ninclude /dev/null\n");
	write_file(more,
	    text("defaults\ntimeout 4\ninclude %s\nqueue 3\n" MAIL, part));
	begin(text("defaults\ntimeout 9\ninclude %s\nblacklist 7\n" WEB, more));
	says("service web timeout; service web blacklist; service web queue",
	    "4\n7\n3\n");
	says("service mail timeout; service mail blacklist", "4\n8\n");
	pen_free(pen);
	begin(text("timeout 5\ninclude %s\nblacklist 6\n" WEB, more));
	says("service default timeout; service default blacklist", "5\n6\n");
	says("service web blacklist", "8\n");
	pen_free(pen);
}
END_TEST

/* TLS with clients needs a certificate in each service: one without has other
 * defaults. */
START_TEST(settings_of_tls)
{
	refuses("defaults\nssl_option no_tlsv1.2\n" WEB,
	    "pen.conf:2: ssl_option needs ssl_cert");
	begin("defaults\nssl_option no_tlsv1.2\ndefaults\ntimeout 4\n" WEB);
	says("service web timeout", "4\n");
	pen_free(pen);
}
END_TEST

START_TEST(refused)
{
	static const char *const own[] = { "server 0 address 10.0.0.1",
		"server add 10.0.0.1", "emergency 10.0.0.1:1",
		"abuse 10.0.0.1:1", "route default 0", "listen 127.0.0.1:9" };
	static const char *const process[] = { "debug 1", "acl 1 permit ::1",
		"control /tmp/x", "log /tmp/x", "web 81" };
	size_t i;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		refuses(text("defaults\n%s\n" WEB, own[i]),
		    text("pen.conf:2: %.*s: not in \"defaults\", as each "
			 "service has its own",
			(int)strcspn(own[i], " "), own[i]));
	for (i = 0; i < sizeof(process) / sizeof(process[0]); i++)
		refuses(text("defaults\ntimeout 4\n%s\n" WEB, process[i]),
		    text("pen.conf:3: %.*s: applies to the whole process",
			(int)strcspn(process[i], " "), process[i]));
	refuses(
	    "defaults web\n" WEB, "pen.conf:1: defaults: takes no argument");
	refuses("no defaults\n" WEB, "there is no \"no defaults\"");
	refuses("service defaults\n" WEB, "\"defaults\" is not a valid name");
	refuses("defaults\ntimeout x\n" WEB, "pen.conf:2: timeout: \"x\"");
}
END_TEST

/* A changed section changes all that have no value of their own. */
START_TEST(reloaded)
{
	const char *path = scratch("pen.conf");

	begin("defaults\ntimeout 4\n" WEB MAIL "timeout 9\n");
	write_file(
	    path, "defaults # next\n\ntimeout 5\n" WEB MAIL "timeout 9\n");
	says("diff", "-service web timeout 5\n+service web timeout 4\n");
	says("reload; service web timeout; service mail timeout", "5\n9\n");
	write_file(path, WEB MAIL "timeout 9\n");
	says("reload; service web timeout; service mail timeout; diff",
	    "3\n9\n");
	pen_free(pen);
}
END_TEST

SUITE(test_defaults)
{
	Suite *s = suite_create("defaults");

	SUITE_ADD(s, services_begin_with_them, 10);
	SUITE_ADD(s, the_last_one_counts, 10);
	SUITE_ADD(s, the_first_service_has_none, 10);
	SUITE_ADD(s, only_of_its_file, 10);
	SUITE_ADD(s, included, 10);
	SUITE_ADD(s, settings_of_tls, 10);
	SUITE_ADD(s, refused, 10);
	SUITE_ADD(s, reloaded, 10);
	return s;
}
