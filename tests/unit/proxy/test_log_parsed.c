/* test_log_parsed.c: what strangers and operators may call themselves is read
 * back from lines of the session log as it was, by a parser of JSON: in logfmt
 * a value in quotes is a string of JSON. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "pool/server/server.h"
#include "proxy/log/log_format.h"
#include "support/suite.h"

#ifdef HAVE_JANSSON
#include <jansson.h>

enum { NAME_MAX_ = 40, ROUNDS = 3000 };

static const char *const nasty[] = { "\"", "\\", "\\\"", " ", "=", "\n", "\t",
	"\r\n", "\033[2J", "\x7f", "\x01", "a", "reason=done", "{", "}", ",",
	"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x90\xa7", "\xc2\x9b", "\xff",
	"\xe4", "\\u0041", "\\n", "'", "<script>", "%s", "\xc3" };

static char name[2 * NAME_MAX_];

static void
make_name(void)
{
	size_t pieces = (size_t)(rand() % 6 + 1);

	for (name[0] = '\0'; pieces > 0; pieces--)
		strcat(name,
		    nasty[(size_t)rand() % (sizeof(nasty) / sizeof(nasty[0]))]);
}

/* What the header promises: bytes that are no UTF-8, or hold what terminals
 * obey, are taken for Latin-1. */
static const char *
expected(void)
{
	static char as[4 * NAME_MAX_];
	const char *c;
	size_t n = 0;

	if (text_is_utf8(name, strlen(name)) &&
	    strstr(name, "\xc2\x9b") == NULL)
		return name;
	for (c = name; *c != '\0'; c++) {
		unsigned char byte = (unsigned char)*c;

		if (byte >= 0x80)
			as[n++] = (char)(0xc0 | byte >> 6);
		as[n++] = (char)(byte >= 0x80 ? 0x80 | (byte & 0x3f) : byte);
	}
	as[n] = '\0';
	return as;
}

static struct session_record
record(struct server *server)
{
	static struct record_time when;
	static struct peer client = { .family = AF_INET };

	record_time_set(&when, 1795345200);
	memset(server, 0, sizeof(*server));
	server->name = name;
	return (struct session_record){ .time = &when,
		.client = &client,
		.server = server,
		.sni = name,
		.first_ms = UINT64_MAX };
}

static const char *
line_of(const struct log_format *f)
{
	static char line[LOG_FORMAT_ROOM];
	struct server server;
	struct session_record r = record(&server);
	const char *c;

	line[log_format_line(f, &r, true, line)] = '\0';
	for (c = line; *c != '\0'; c++)
		ck_assert_msg((unsigned char)*c >= 0x20 && *c != 0x7f, "%s",
		    line);
	return line;
}

static void
is_name(json_t *value, const char *line)
{
	ck_assert_msg(json_is_string(value), "%s", line);
	ck_assert_str_eq(json_string_value(value), expected());
}

START_TEST(json)
{
	struct log_format *f = log_format_new("jsonl", RECORD_SESSION, NULL);
	const char *line;
	json_t *all;
	int i;

	for (i = 0; i < suite_rounds(ROUNDS); i++) {
		make_name();
		line = line_of(f);
		all = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
		ck_assert_msg(all != NULL, "%s", line);
		ck_assert_str_eq(
		    json_string_value(json_object_get(all, "reason")), "done");
		is_name(json_object_get(all, "sni"), line);
		json_decref(all);
	}
	log_format_free(f);
}
END_TEST

/* The value of the last field, "sni": its token, unquoted. */
static json_t *
last_value(const char *line)
{
	const char *token = line, *c;
	bool quoted = false;

	for (c = line; *c != '\0'; c++) {
		if (quoted && *c == '\\')
			c++;
		else if (*c == '"')
			quoted = !quoted;
		else if (*c == ' ' && !quoted)
			token = c + 1;
	}
	if (quoted || strncmp(token, "sni=", 4) != 0)
		return NULL;
	if (token[4] != '"')
		return strcspn(token + 4, "\"=") == strlen(token + 4)
		    ? json_string(token + 4)
		    : NULL;
	return json_loads(token + 4, JSON_DECODE_ANY, NULL);
}

START_TEST(logfmt)
{
	struct log_format *f = log_format_new("logfmt", RECORD_SESSION, NULL);
	const char *line;
	json_t *value;
	int i;

	for (i = 0; i < suite_rounds(ROUNDS); i++) {
		make_name();
		line = line_of(f);
		value = last_value(line);
		ck_assert_msg(value != NULL, "%s", line);
		is_name(value, line);
		json_decref(value);
	}
	log_format_free(f);
}
END_TEST
#else
START_TEST(json)
{
	SKIP("built without Jansson");
}
END_TEST

START_TEST(logfmt)
{
	SKIP("built without Jansson");
}
END_TEST
#endif

SUITE(test_log_parsed)
{
	Suite *s = suite_create("log_parsed");

	SUITE_ADD(s, json, 30);
	SUITE_ADD(s, logfmt, 30);
	return s;
}
