/* test_ask.c: addresses, several of them, some dead or mute; names to complete
 * out of an answer. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/ctl.h"
#include "support/suite.h"
#include "support/wait.h"
#include "tools/ask.h"
#include "tools/names.h"

static struct target t;
static struct error e;

static void
parses(const char *from, const char *wanted)
{
	char out[ADDR_TEXT_MAX];
	unsigned i;

	ck_assert_msg(target_parse(&t, from, &e) == 0, "%s", e.text);
	for (i = 0; i < t.at.count; i++)
		if (strcmp(addr_format(&t.at.addr[i], out), wanted) == 0)
			return;
	ck_abort_msg("%s is not %s", from, wanted);
}

static void
refuses(const char *from, const char *why)
{
	ck_assert_int_eq(target_parse(&t, from, &e), -1);
	ck_assert_msg(
	    strstr(e.text, why) && strstr(e.text, from), "%s", e.text);
}

START_TEST(addresses)
{
	parses("127.0.0.1:80", "127.0.0.1:80");
	parses("localhost:80", "127.0.0.1:80");
	parses("80", "127.0.0.1:80");
	parses(":80", "127.0.0.1:80");
	parses("*:80", "127.0.0.1:80");
	parses("[::1]:80", "[::1]:80");
	parses("::1:80", "[::1]:80");
	parses("/run/pen.ctl", "/run/pen.ctl");
	parses("./pen.ctl", "./pen.ctl");
	refuses("", "not a valid port");
	refuses("[::1]", "not a valid port");
	refuses("127.0.0.1:0", "out of range");
	refuses("127.0.0.1:65536", "out of range");
	refuses("no-such-host.invalid:80", "no-such-host.invalid");
	refuses("@", "not a path");
	refuses(text("/%0150d", 0), "too long");
}
END_TEST

START_TEST(clearly_addresses)
{
	static const char *const yes[] = { "/x", "/x y", "@x", "[::1]:8",
		"a:80", ":80", "::1:80", "./x", "x/y" };
	static const char *const no[] = { "", "servers", "80", "a",
		"emergency a:80", "control /x" };
	size_t i;

	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		ck_assert_msg(target_is_clearly(yes[i]), "%s", yes[i]);
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		ck_assert_msg(!target_is_clearly(no[i]), "%s", no[i]);
}
END_TEST

static char said[256];

static int
collect(void *arg, bool refused, const char *bytes, size_t n)
{
	(void)refused;
	(void)arg;
	strncat(said, bytes, n);
	return strlen(said) > 100 ? -1 : 0;
}

static enum ask_status
asks(const char *line)
{
	said[0] = '\0';
	return ask(&t, line, strlen(line), collect, NULL, &e);
}

static void
add(const char *text)
{
	struct target one;

	ck_assert_int_eq(target_parse(&one, text, &e), 0);
	t.at.addr[t.at.count++] = one.at.addr[0];
}

/* The first refuses, the second lets nobody in. */
START_TEST(addresses_in_turn)
{
	struct backend b;
	struct endpoint dead, mute;
	long long began;
	int fds[3], n;

	backend_start(&b, ENDPOINT_TCP4, ctl_serve, ">");
	endpoint_new(&dead, ENDPOINT_TCP4);
	endpoint_new(&mute, ENDPOINT_UNIX);
	fds[0] = endpoint_listen(&mute, 1);
	for (n = 1; n < 3; n++)
		fds[n] = endpoint_try_connect(&mute);
	t.at.count = 0;
	t.timeout_ms = 600;
	add(dead.text);
	add(mute.text);
	began = wait_now_ms();
	ck_assert_int_eq(asks("a"), ASK_NO_ANSWER);
	ck_assert_ptr_nonnull(strstr(e.text, mute.text));
	/* its queue might have got room */
	ck_assert_int_ge(wait_now_ms() - began, 250);
	add(b.at.text);
	t.timeout_ms = 2400; /* a busy machine answers late */
	began = wait_now_ms();
	ck_assert_int_eq(asks("a"), ASK_ANSWERED);
	ck_assert_str_eq(said, "<a>");
	ck_assert_int_lt(wait_now_ms() - began, wait_scaled(5000));
	ck_assert_int_eq(atomic_load(&b.accepted), 1);
	for (n = 0; n < 3; n++)
		close(fds[n]);
	backend_stop(&b);
}
END_TEST

START_TEST(stops_when_told)
{
	struct backend b;

	backend_start(&b, ENDPOINT_UNIX, backend_say,
	    "................................................................"
	    "................................................................");
	ck_assert_int_eq(target_parse(&t, b.at.text, &e), 0);
	t.timeout_ms = 5000;
	ck_assert_int_eq(asks("a"), ASK_STOPPED);
	backend_stop(&b);
}
END_TEST

/* ---- names ---- */

static void
fit(const struct names *k, const char *prefix, const char *wanted)
{
	const char *name = NULL;
	char all[256] = "";
	size_t n;

	while ((name = names_next(k, name, prefix, strlen(prefix), &n))) {
		strncat(all, name, n);
		strcat(all, " ");
	}
	ck_assert_str_eq(all, wanted);
}

START_TEST(names_of_an_answer)
{
	struct backend b;
	struct names k;

	backend_start(&b, ENDPOINT_UNIX, ctl_serve, ">\n");
	ck_assert_int_eq(target_parse(&t, b.at.text, &e), 0);
	t.timeout_ms = 5000;
	names_init(&k);
	fit(&k, "", "");
	names_query(&k, &t);
	fit(&k, "", "acl server servers stubborn ");
	fit(&k, "s", "server servers stubborn ");
	fit(&k, "servers", "servers ");
	fit(&k, "serversx", "");
	fit(&k, "mode", "");
	names_query(&k, &t);
	ck_assert_int_eq(atomic_load(&b.accepted), 1);
	names_fini(&k);
	backend_stop(&b);
	names_init(&k);
	names_query(&k, &t);
	fit(&k, "", "");
	names_fini(&k);
}
END_TEST

SUITE(test_ask)
{
	Suite *s = suite_create("ask");

	SUITE_ADD(s, addresses, 30);
	SUITE_ADD(s, clearly_addresses, 10);
	SUITE_ADD(s, addresses_in_turn, 20);
	SUITE_ADD(s, stops_when_told, 20);
	SUITE_ADD(s, names_of_an_answer, 20);
	return s;
}
