/* test_tls_scan.c: what scanners say of pen with its defaults and certificates
 * of both kinds. What takes testssl.sh minutes needs PEN_TEST_FULL=1. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/identity.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"

enum { SCAN_MS = 280000 };

static struct identity id;
static struct nginx web;
static struct endpoint front;
static struct pen pen;

/* One more option with its value. */
static void
web_up(void)
{
	identity_new(&id, "localhost,IP:127.0.0.1");
	endpoint_new(&front, ENDPOINT_TCP4);
	nginx_up(&web, "hello");
	pen_up(&pen, &front, "-r", "-E", id.ec, "-E", id.rsa, front.text,
	    web.at.text, NULL);
}

static void
web_down(void)
{
	pen_down(&pen);
	nginx_down(&web);
}

static void
has(const char *report, const char *what)
{
	ck_assert_msg(
	    strstr(report, what) != NULL, "no \"%s\" in: %s", what, report);
}

/* "Accepted TLSv1.2 256 bits ECDHE-RSA-AES256-GCM-SHA384 ...": a key for each
 * connection, authenticated encryption, nothing short. */
static void
expect_strong(const char *line)
{
	char version[32], name[64];
	int bits;

	ck_assert_msg(
	    sscanf(line, "%*s %31s %d bits %63s", version, &bits, name) == 3,
	    "%s", line);
	ck_assert_msg(bits >= 128, "%s", line);
	ck_assert_msg(strstr(name, "GCM") != NULL ||
		strstr(name, "CHACHA20_POLY1305") != NULL ||
		strstr(name, "CHACHA20-POLY1305") != NULL,
	    "%s", line);
	if (strcmp(version, "TLSv1.2") == 0)
		ck_assert_msg(strncmp(name, "ECDHE-", 6) == 0, "%s", line);
	else
		ck_assert_str_eq(version, "TLSv1.3");
}

START_TEST(sslscan_finds_nothing)
{
	const char *out, *line;
	int ciphers = 0;

	NEED_PROGRAM("sslscan");
	NEED_PROGRAM("nginx");
	web_up();
	out = run_program(SCAN_MS, "sslscan", "--no-colour", front.text, NULL);
	has(out, "SSLv2     disabled");
	has(out, "SSLv3     disabled");
	has(out, "TLSv1.0   disabled");
	has(out, "TLSv1.1   disabled");
	has(out, "TLSv1.2   enabled");
	has(out, "TLSv1.3   enabled");
	has(out, "Server supports TLS Fallback SCSV");
	ck_assert_ptr_null(strstr(out, "Compression enabled"));
	ck_assert_ptr_null(strstr(out, "Insecure session renegotiation"));
	ck_assert_int_eq(count_in(out, "vulnerable to heartbleed"), 2);
	ck_assert_int_eq(count_in(out, "not vulnerable to heartbleed"), 2);
	for (line = out; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, "Accepted ", 9) == 0 ||
		    strncmp(line, "Preferred ", 10) == 0) {
			ciphers++;
			expect_strong(
			    text("%.*s", (int)strcspn(line, "\n"), line));
		}
	}
	ck_assert_int_ge(ciphers, 6);
	has(out, "ECDHE-ECDSA-");
	has(out, "ECDHE-RSA-");
	web_down();
}
END_TEST

/* What testssl.sh is right about, but not of pen. */
static bool
is_not_ours(const char *what)
{
	static const char *const ids[] = {
		/* our authority has no address to ask for revocations */
		"cert_revocation",
		/* nginx's answer, which pen does not touch */
		"HSTS", "security_headers", NULL
	};
	size_t i, n = strcspn(what, " "); /* "... <cert#2>" */

	for (i = 0; ids[i] != NULL; i++)
		if (strlen(ids[i]) == n && strncmp(what, ids[i], n) == 0)
			return true;
	return false;
}

/* The value in a line of JSON '  "key" : "value",'. */
static const char *
value_of(const char *line)
{
	const char *colon = strstr(line, ": \""), *end;

	ck_assert_msg(colon != NULL, "%.80s", line);
	end = strchr(colon + 3, '"');
	ck_assert_ptr_nonnull(end);
	return text("%.*s", (int)(end - colon - 3), colon + 3);
}

struct finding {
	const char *id, *severity, *says;
};

/* The next one in the report, which is moved on; false: no more. */
static bool
next_finding(const char **report, struct finding *f)
{
	const char *s = strstr(*report, "\"id\" "), *severity, *says;

	if (s == NULL)
		return false;
	severity = strstr(s, "\"severity\" ");
	ck_assert_ptr_nonnull(severity);
	says = strstr(severity, "\"finding\" ");
	ck_assert_ptr_nonnull(says);
	f->id = value_of(s);
	f->severity = value_of(severity);
	f->says = value_of(says);
	*report = says;
	return true;
}

static bool
is_above_low(const char *severity)
{
	return strcmp(severity, "DEBUG") != 0 &&
	    strcmp(severity, "INFO") != 0 && strcmp(severity, "OK") != 0 &&
	    strcmp(severity, "WARN") != 0 && strcmp(severity, "LOW") != 0;
}

/* Runs it with options (ended by NULL) and returns its report. Its exit status
 * is a number of findings. */
static const char *
testssl(const char *program, const char *const options[])
{
	const char *report = scratch("report");
	const char *argv[CHILD_ARGS] = { program, "--quiet", "--color", "0",
		"--warnings", "off", "--ip", "127.0.0.1", "--nodns", "none",
		"--add-ca", id.ca, "--jsonfile", report };
	struct child c;
	int n = 14;

	while (*options != NULL)
		argv[n++] = *options++;
	argv[n] = text("https://localhost:%d/", front.port);
	child_start(&c, argv);
	child_wait(&c, SCAN_MS);
	ck_assert_msg(file_has(report, "\"scanTime\""), "exit %d: %s%s",
	    c.status, child_out(&c), child_err(&c));
	return contents(report);
}

static const char *
find_testssl(void)
{
	const char *path = child_find("testssl"); /* Debian's name */

	return path != NULL ? path : child_find("testssl.sh");
}

/* A check that did not happen is no good news either. */
static void
expect_ok(const char *report, const char *ids)
{
	const char *good = "", *id_, *s = report;
	struct finding f;
	size_t n;

	while (next_finding(&s, &f))
		if (strcmp(f.severity, "OK") == 0)
			good = text("%s %s ", good, f.id);
	for (; *ids != '\0'; ids += n + (ids[n] == ' ')) {
		n = strcspn(ids, " ");
		id_ = text(" %.*s ", (int)n, ids);
		ck_assert_msg(strstr(good, id_) != NULL, "%sis not OK", id_);
	}
}

START_TEST(testssl_finds_nothing)
{
	static const char *const all[] = { NULL };
	const char *program, *report, *s;
	int n = 0, bad = 0;
	struct finding f;

	program = find_testssl();
	if (program == NULL)
		SKIP("testssl.sh is not installed");
	NEED_PROGRAM("nginx");
	web_up();
	report = testssl(program, all);
	for (s = report; next_finding(&s, &f); n++) {
		if (!is_above_low(f.severity) || is_not_ours(f.id))
			continue;
		printf("%s: %s: %s\n", f.severity, f.id, f.says);
		bad++;
	}
	ck_assert_msg(bad == 0, "%d findings", bad);
	ck_assert_int_gt(n, 20);
	expect_ok(report,
	    "SSLv2 SSLv3 TLS1_2 TLS1_3 heartbleed CCS ticketbleed ROBOT"
	    " secure_renego secure_client_renego CRIME_TLS POODLE_SSL SWEET32"
	    " FREAK DROWN LOGJAM BEAST LUCKY13 RC4 cipherlist_STRONG"
	    " cert_chain_of_trust");
	web_down();
}
END_TEST

START_TEST(the_order_is_ours)
{
	static const char *const order[] = { "-P", NULL };
	const char *program = find_testssl();

	if (program == NULL)
		SKIP("testssl.sh is not installed");
	NEED_PROGRAM("nginx");
	web_up();
	expect_ok(testssl(program, order), "cipher_order");
	web_down();
}
END_TEST

SUITE(test_tls_scan)
{
	Suite *s = suite_create("tls_scan");

	SUITE_ADD(s, sslscan_finds_nothing, 300);
	if (suite_is_full())
		SUITE_ADD(s, testssl_finds_nothing, 300);
	SUITE_ADD(s, the_order_is_ours, 300);
	return s;
}
