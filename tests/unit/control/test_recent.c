/* test_recent.c: the last changes of servers, the latest first, and no more
 * than there is a slot for. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "control/life/recent.h"
#include "control/answer/fields.h"
#include "support/suite.h"

static struct recent recent;
static struct server server;

static void
note(unsigned number, const char *reason)
{
	struct server_change c = { SERVER_UP, SERVER_BLACKLISTED, 1000 };

	server.number = number;
	server.history.since_ms = 1000 * number;
	server_set_reason(&server.reason, reason);
	recent_note(&recent, "shop", &server, &c);
}

static const char *
told(uint64_t now_ms, bool several)
{
	struct reply r;
	const char *got;

	reply_init(&r);
	r.json = fields_have_json();
	recent_report(&recent, now_ms, several, &r);
	got = text("%.*s", (int)buffer_length(&r.out), buffer_bytes(&r.out));
	reply_fini(&r);
	return got;
}

static void
expect(const char *got, const char *what)
{
	ck_assert_msg(strstr(got, what) != NULL, "%s: %s", what, got);
}

START_TEST(latest_first)
{
	const char *got;

	memset(&recent, 0, sizeof(recent));
	server.name = (char[]){ "a\"<b>" };
	note(1, "Connection refused");
	note(2, "Connection reset");
	got = told(5000, false);
	ck_assert(strstr(got, "Connection reset") <
	    strstr(got, "Connection refused"));
	if (fields_have_json()) {
		expect(got, "\"name\":\"a\\\"<b>\"");
		expect(got, "\"ago_s\":3,\"was\":\"up\",");
		expect(got, "\"state\":\"blacklisted\"");
		ck_assert_ptr_null(strstr(got, "service"));
		expect(told(5000, true), "{\"service\":\"shop\",\"server\":2,");
	}
}
END_TEST

START_TEST(no_more_than_slots)
{
	const char *got;
	unsigned i;

	memset(&recent, 0, sizeof(recent));
	server.name = NULL;
	for (i = 1; i <= RECENT_CHANGES + 5; i++)
		note(i, text("reason %u.", i));
	got = told(1000000, false);
	expect(got, "reason 25.");
	expect(got, "reason 6.");
	ck_assert_ptr_null(strstr(got, "reason 5."));
}
END_TEST

START_TEST(long_names_are_cut)
{
	char name[1000];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memset(&recent, 0, sizeof(recent));
	server.name = name;
	note(1, "");
	ck_assert_uint_eq(strlen(recent.list[0].name), RECENT_NAME_MAX - 1);
}
END_TEST

SUITE(test_recent)
{
	Suite *s = suite_create("recent");

	SUITE_ADD(s, latest_first, 10);
	SUITE_ADD(s, no_more_than_slots, 10);
	SUITE_ADD(s, long_names_are_cut, 10);
	return s;
}
