/* test_log_format.c: records of sessions as lines. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "pool/server/server.h"
#include "proxy/http/http_log.h"
#include "proxy/log/log_format.h"
#include "support/suite.h"
#include "tls/tls.h"

static struct session_record record;
static struct record_time when;
static struct peer client;
static struct server server;
static struct addr server_at;
static struct tls_facts facts;

static void
prepare(void)
{
	struct addr a;

	setenv("TZ", "IST-5:30", 1);
	memset(&when, 0, sizeof(when));
	record_time_set(&when, 1795345200);
	ck_assert_int_eq(addr_parse_ip(&a, "192.0.2.1", 40000), 0);
	peer_from_addr(&client, &a);
	memset(&server, 0, sizeof(server));
	server.number = 3;
	server.name = (char *)(uintptr_t) "web1";
	server.addrs = (struct server_addr_list){ 1, &server_at };
	ck_assert_int_eq(addr_parse_ip(&server_at, "10.0.0.1", 80), 0);
	record = (struct session_record){
		.time = &when,
		.time_ms = 7,
		.reason = REASON_DONE,
		.client = &client,
		.port = 8080,
		.session = 17,
		.server = &server,
		.server_at = &server_at,
		.up = 517,
		.down = 18446744073709551615u,
		.connect_us = 1431,
		.first_ms = 12,
		.total_ms = 140,
	};
}

static const char *
line_in(enum record_scope scope, const char *format, bool timed)
{
	static char line[LOG_FORMAT_ROOM];
	struct error e = { "" };
	struct log_format *f = log_format_new(format, scope, &e);

	ck_assert_msg(f != NULL, "%s: %s", format, e.text);
	line[log_format_line(f, &record, timed, line)] = '\0';
	log_format_free(f);
	return line;
}

static const char *
line_of(const char *format, bool timed)
{
	return line_in(RECORD_SESSION, format, timed);
}

START_TEST(logfmt)
{
	prepare();
	ck_assert_str_eq(line_of("logfmt", true),
	    "time=2026-11-22T16:30:00.007+05:30 reason=done "
	    "client=192.0.2.1:40000 port=8080 server=10.0.0.1:80 name=web1 "
	    "up=517 down=18446744073709551615 connect_ms=1.431 first_ms=12 "
	    "ms=140");
	ck_assert_str_eq(line_of("logfmt", false),
	    "reason=done client=192.0.2.1:40000 port=8080 "
	    "server=10.0.0.1:80 name=web1 up=517 "
	    "down=18446744073709551615 connect_ms=1.431 first_ms=12 ms=140");
}
END_TEST

/* What is not known is left out. */
START_TEST(nothing_known)
{
	struct peer nobody = { .family = AF_UNIX };

	prepare();
	record = (struct session_record){ .time = &when,
		.client = &nobody,
		.reason = REASON_NO_SERVER,
		.first_ms = UINT64_MAX };
	ck_assert_str_eq(line_of("logfmt", false),
	    text("reason=no_server client=%s up=0 down=0 ms=0",
		peer_format(&nobody, (char[PEER_TEXT_MAX]){ 0 })));
	ck_assert_str_eq(line_of("{server} {sni} {ms}", true), "- - 0");
}
END_TEST

/* Names that strangers choose can end neither a value nor a line. */
START_TEST(hostile_names)
{
	prepare();
	facts.version = "TLSv1.3";
	facts.cipher = "X";
	strcpy(facts.name, "a b\" up=9 \\\n\033[31m=");
	record.client_tls = &facts;
	record.sni = facts.name;
	ck_assert_ptr_nonnull(strstr(line_of("logfmt", true),
	    " sni=\"a b\\\" up=9 \\\\\\u000a\\u001b[31m=\""));
	ck_assert_ptr_nonnull(strstr(line_of("jsonl", true),
	    "\"sni\":\"a b\\\" up=9 \\\\\\u000a\\u001b[31m=\""));
	ck_assert_str_eq(
	    line_of("\"{sni}\"", true), "\"a b\\\" up=9 \\\\\\x0a\\x1b[31m=\"");
	ck_assert_ptr_nonnull(strstr(line_of("journal", true),
	    "\nPEN_SNI=a b\\\" up=9 \\\\\\x0a\\x1b[31m=\n"));
	/* TLS that goes through */
	record.client_tls = NULL;
	record.sni = "one.test";
	ck_assert_ptr_nonnull(strstr(line_of("logfmt", true), " sni=one.test"));
}
END_TEST

/* An address may be a path, which may be anything. */
START_TEST(hostile_paths)
{
	prepare();
	ck_assert_int_eq(addr_parse_unix(&server_at, "/run/a b=\"c"), 0);
	ck_assert_ptr_nonnull(
	    strstr(line_of("logfmt", true), " server=\"/run/a b=\\\"c\" "));
	ck_assert_int_eq(addr_parse_unix(&server_at, "0/b\n"), 0);
	ck_assert_ptr_nonnull(
	    strstr(line_of("jsonl", true), "\"server\":\"0/b\\u000a\""));
	server_at.len = 0;
	client = (struct peer){ .family = AF_UNIX };
	peer_set_owner(&client, &(struct peer_owner){ .pid = 7, .uid = 8 });
	ck_assert_ptr_nonnull(strstr(
	    line_of("logfmt", true), " client=\"unix:pid=7,uid=8\" port="));
}
END_TEST

/* Of TLS that goes through to the server only the name is known. */
START_TEST(name_alone)
{
	prepare();
	record.sni = "a.test";
	ck_assert_ptr_nonnull(strstr(line_of("logfmt", true), " sni=a.test"));
	ck_assert_ptr_nonnull(
	    strstr(line_of("jsonl", true), ",\"sni\":\"a.test\"}"));
}
END_TEST

/* A flow counts datagrams, too. */
START_TEST(flow)
{
	prepare();
	record.is_flow = true;
	record.down = 600;
	record.datagrams_up = 3;
	record.connect_us = 0;
	ck_assert_ptr_nonnull(strstr(line_of("logfmt", true),
	    " up=517 down=600 datagrams_up=3 datagrams_down=0 first_ms=12 "));
}
END_TEST

/* In quotes it is the same as JSON's; what a terminal obeys is none. */
START_TEST(not_ascii)
{
	prepare();
	server.name = (char *)(uintptr_t) "b\xc3\xa4";
	ck_assert_ptr_nonnull(
	    strstr(line_of("logfmt", true), " name=\"b\xc3\xa4\" "));
	server.name = (char *)(uintptr_t) "\xc2\x9b";
	ck_assert_ptr_nonnull(
	    strstr(line_of("logfmt", true), " name=\"\\u00c2\\u009b\" "));
}
END_TEST

START_TEST(json)
{
	prepare();
	ck_assert_str_eq(line_of("jsonl", true),
	    "{\"time\":\"2026-11-22T16:30:00.007+05:30\",\"reason\":\"done\","
	    "\"client\":\"192.0.2.1:40000\",\"port\":8080,"
	    "\"server\":\"10.0.0.1:80\",\"name\":\"web1\",\"up\":517,"
	    "\"down\":18446744073709551615,\"connect_ms\":1.431,"
	    "\"first_ms\":12,\"ms\":140}");
}
END_TEST

/* The file system has names that are not UTF-8, JSON has not. */
START_TEST(json_is_utf8)
{
	prepare();
	server.name = (char *)(uintptr_t) "b\xc3\xa4";
	ck_assert_ptr_nonnull(
	    strstr(line_of("jsonl", true), "\"name\":\"b\xc3\xa4\""));
	server.name = (char *)(uintptr_t) "b\xe4\xff\x7f";
	ck_assert_ptr_nonnull(strstr(
	    line_of("jsonl", true), "\"name\":\"b\\u00e4\\u00ff\\u007f\""));
}
END_TEST

START_TEST(common)
{
	prepare();
	ck_assert_str_eq(line_of("common", true),
	    "192.0.2.1 - - [22/Nov/2026:16:30:00 +0530] "
	    "\"CONNECT 10.0.0.1:80 HTTP/1.1\" 200 18446744073709551615 done "
	    "8080");
	record.server = NULL;
	record.server_at = NULL;
	record.reason = REASON_NO_SERVER;
	record.down = 0;
	ck_assert_str_eq(line_of("common", true),
	    "192.0.2.1 - - [22/Nov/2026:16:30:00 +0530] "
	    "\"CONNECT - HTTP/1.1\" 503 0 no_server 8080");
	/* what reads such logs takes addresses alone */
	client = (struct peer){ .family = AF_UNIX };
	ck_assert_int_eq(
	    strncmp(line_of("common", true), "127.0.0.1 - - [", 15), 0);
}
END_TEST

/* By name and port, or by address; so many, and no more than a value has. */
START_TEST(tried_servers)
{
	static char long_name[RECORD_VALUE_MAX];
	char *list = NULL;
	int i;

	prepare();
	ck_assert_ptr_null(strstr(line_of("logfmt", true), "tried"));
	list = record_add_tried(list, &server, 8080);
	server.name = (char *)(uintptr_t) "10.0.0.1";
	list = record_add_tried(list, &server, 8080);
	record.tried = list;
	ck_assert_ptr_nonnull(
	    strstr(line_of("logfmt", true), " tried=web1:80,10.0.0.1:80"));
	ck_assert_ptr_nonnull(strstr(
	    line_of("jsonl", true), "\"tried\":\"web1:80,10.0.0.1:80\""));
	memset(long_name, 'n', sizeof(long_name) - 1);
	server.name = long_name;
	ck_assert_ptr_eq(record_add_tried(list, &server, 8080), list);
	server.name = (char *)(uintptr_t) "w";
	for (i = 0; i < 20; i++)
		list = record_add_tried(list, &server, 8080);
	ck_assert_str_eq(
	    list, "web1:80,10.0.0.1:80,w:80,w:80,w:80,w:80,w:80,w:80");
	free(list);
	list = NULL;
	server.name = long_name;
	list = record_add_tried(list, &server, 8080);
	ck_assert_uint_le(strlen(list), RECORD_VALUE_MAX);
	free(list);
}
END_TEST

/* Several servers have one name with a star, and each an address of its own. */
START_TEST(tried_servers_of_one_name)
{
	char *list;

	prepare();
	server.name = (char *)(uintptr_t) "web.test*";
	list = record_add_tried(NULL, &server, 8080);
	ck_assert_str_eq(list, "10.0.0.1:80");
	free(list);
}
END_TEST

/* A server with port 0 got the port that the client came to. */
START_TEST(servers_with_the_port_of_the_client)
{
	char *list;

	prepare();
	addr_set_port(&server_at, 0);
	list = record_add_tried(NULL, &server, 8080);
	server.name = (char *)(uintptr_t) "10.0.0.1";
	list = record_add_tried(list, &server, 8081);
	record.tried = list;
	ck_assert_str_eq(line_of("{server} {tried}", true),
	    "10.0.0.1:8080 web1:8080,10.0.0.1:8081");
	free(list);
}
END_TEST

START_TEST(templates)
{
	const struct record_field *f;

	prepare();
	ck_assert_str_eq(
	    line_of("{{{number}} {epoch}{session}", true), "{3} 179534520017");
	for (f = record_fields; f->name != NULL; f++)
		if (record_field_is_of(f, RECORD_SESSION))
			ck_assert_str_ne(
			    line_of(text("{%s}", f->name), true), "");
}
END_TEST

static const char *const refused[][2] = {
	{ "{nothing}", "no field \"nothing\" (there are " },
	{ "{ms}{method}",
	    "field \"method\" is of requests: request_format has it" },
	{ "{ms", "\"{ms\" has no }" },
	{ "yaml",
	    "expects logfmt, jsonl, journal, common or a template with "
	    "{fields}" },
	{ "",
	    "expects logfmt, jsonl, journal, common or a template with "
	    "{fields}" },
	{ "{ms}\n{up}", "a template is one line" },
};

START_TEST(mistakes)
{
	struct error e = { "" };
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		ck_assert_ptr_null(
		    log_format_new(refused[i][0], RECORD_SESSION, &e));
		ck_assert_msg(strncmp(e.text, refused[i][1],
				  strlen(refused[i][1])) == 0,
		    "%s", e.text);
	}
}
END_TEST

/* A long line is cut; of JSON, which would be none then, there is no line. */
START_TEST(too_long)
{
	static char name[LOG_FORMAT_LINE_MAX];
	char *format = calloc(1, 2 * LOG_FORMAT_LINE_MAX);
	int i;

	prepare();
	memset(name, 'n', sizeof(name) - 1);
	server.name = name;
	for (i = 0; i < 20; i++)
		strcat(format, "{name}");
	ck_assert_uint_eq(strlen(line_of(format, true)), LOG_FORMAT_LINE_MAX);
	free(format);
	ck_assert_uint_lt(strlen(line_of("jsonl", true)), LOG_FORMAT_LINE_MAX);
}
END_TEST

/* The name of a field ends at the limit, or beyond it, before a value of bytes
 * that are escaped. */
START_TEST(too_long_before_a_special_value)
{
	static const char *const formats[] = { "logfmt", "jsonl", "journal" };
	static char room[4 * LOG_FORMAT_ROOM], n[RECORD_VALUE_MAX + 1],
	    quotes[RECORD_VALUE_MAX + 1];
	struct error e = { "" };
	struct log_format *f = log_format_new(formats[_i], RECORD_SESSION, &e);

	ck_assert_ptr_nonnull(f);
	prepare();
	memset(n, 'n', RECORD_VALUE_MAX);
	memset(quotes, '"', RECORD_VALUE_MAX);
	memset(&facts, 0, sizeof(facts));
	facts.version = facts.cipher = n;
	memset(facts.alpn, 'n', sizeof(facts.alpn) - 1);
	facts.certificate = true;
	memset(facts.subject, 'n', sizeof(facts.subject) - 1);
	server.name = n;
	record.client_tls = &facts;
	record.server_tls = &(struct tls_facts){ .version = quotes };
	record.service = record.tried = record.sni = record.id = n;
	for (; record.id_n < RECORD_VALUE_MAX; record.id_n++)
		ck_assert_uint_le(log_format_line(f, &record, true, room),
		    LOG_FORMAT_LINE_MAX);
	log_format_free(f);
}
END_TEST

/* ---- requests ---- */

#define TEXT(t)                  \
	{                        \
		t, sizeof(t) - 1 \
	}

static struct request_record request;

static void
prepare_request(void)
{
	prepare();
	request = (struct request_record){ .line = TEXT("GET /a HTTP/1.1"),
		.method = TEXT("GET"),
		.path = TEXT("/a"),
		.protocol = TEXT("HTTP/1.1"),
		.host = TEXT("a.test"),
		.user_agent = TEXT("probe \"1\""),
		.status = 404,
		.body = 9,
		.first_us = 1500,
		.total_us = 20007 };
	record.request = &request;
	record.down = 99;
}

static const char *const request_lines[][2] = {
	{ "common",
	    "192.0.2.1 - - [22/Nov/2026:16:30:00 +0530] \"GET /a HTTP/1.1\" "
	    "404 9" },
	{ "combined",
	    "192.0.2.1 - - [22/Nov/2026:16:30:00 +0530] \"GET /a HTTP/1.1\" "
	    "404 9 \"-\" \"probe \\\"1\\\"\"" },
	{ "logfmt",
	    "reason=done client=192.0.2.1:40000 port=8080 method=GET path=/a "
	    "protocol=HTTP/1.1 host=a.test status=404 server=10.0.0.1:80 "
	    "name=web1 up=517 down=99 first_ms=1.500 ms=20.007 "
	    "user_agent=\"probe \\\"1\\\"\"" },
	{ "json",
	    "{\"time\":\"2026-11-22T16:30:00.007+05:30\","
	    "\"reason\":\"done\",\"client\":\"192.0.2.1:40000\","
	    "\"port\":8080,\"method\":\"GET\",\"path\":\"/a\","
	    "\"protocol\":\"HTTP/1.1\",\"host\":\"a.test\",\"status\":404,"
	    "\"server\":\"10.0.0.1:80\",\"name\":\"web1\",\"up\":517,"
	    "\"down\":99,\"first_ms\":1.500,\"ms\":20.007,"
	    "\"user_agent\":\"probe \\\"1\\\"\"}" },
	{ "{status} {retries} {malformed} {client_port}", "404 - - 40000" },
};

START_TEST(request_line)
{
	prepare_request();
	ck_assert_str_eq(line_in(RECORD_REQUEST, request_lines[_i][0], false),
	    request_lines[_i][1]);
}
END_TEST

/* What is no request has its first bytes, in each format. */
START_TEST(malformed_request)
{
	static const char *const words[] = { "common", "combined", "logfmt",
		"json", "journal" };
	size_t i;

	prepare_request();
	request =
	    (struct request_record){ .line = TEXT("wr\tong"), .status = 400 };
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ck_assert_ptr_nonnull(
		    strstr(line_in(RECORD_REQUEST, words[i], true), "ong"));
}
END_TEST

START_TEST(request_templates)
{
	const struct record_field *f;
	struct error e = { "" };

	prepare_request();
	for (f = record_fields; f->name != NULL; f++)
		if (record_field_is_of(f, RECORD_REQUEST))
			ck_assert_str_ne(line_in(RECORD_REQUEST,
					     text("{%s}", f->name), true),
			    "");
	ck_assert_ptr_null(log_format_new("{tried}", RECORD_REQUEST, &e));
	ck_assert_str_eq(
	    e.text, "field \"tried\" is of sessions: log_format has it");
	ck_assert_ptr_null(log_format_new("yaml", RECORD_REQUEST, &e));
	ck_assert_str_eq(e.text,
	    "expects common, combined, logfmt, json or a template with "
	    "{fields}");
}
END_TEST

/* Of one text and scope there is one format, as long as anything has it. */
START_TEST(equal_formats_are_one)
{
	struct list all = LIST_INIT(all);
	struct log_format *a, *b, *c, *d;
	struct error e = { "" };

	a = log_format_share(&all, "combined", RECORD_REQUEST, &e);
	b = log_format_share(&all, "combined", RECORD_REQUEST, &e);
	c = log_format_share(&all, "jsonl", RECORD_REQUEST, &e);
	d = log_format_share(&all, "jsonl", RECORD_SESSION, &e);
	ck_assert_ptr_nonnull(a);
	ck_assert_ptr_eq(a, b);
	ck_assert_ptr_ne(a, c);
	ck_assert_ptr_ne(c, d);
	ck_assert_ptr_null(log_format_share(&all, "xml", RECORD_SESSION, &e));
	log_format_free(a);
	ck_assert_ptr_eq(
	    log_format_share(&all, "combined", RECORD_REQUEST, &e), b);
	log_format_free(b);
	log_format_free(b);
	log_format_free(c);
	log_format_free(d);
	ck_assert(list_is_empty(&all));
}
END_TEST

/* All that strangers choose is in the line, though each byte is escaped. */
START_TEST(longest_request)
{
	static char quotes[HTTP_LOG_PATH_MAX], bytes[HTTP_LOG_PATH_MAX];
	const char *line;

	prepare_request();
	memset(quotes, '"', sizeof(quotes));
	memset(bytes, 0xff, sizeof(bytes));
	request.path = (struct record_text){ quotes, HTTP_LOG_PATH_MAX };
	request.host = (struct record_text){ bytes, HTTP_LOG_HOST_MAX };
	request.user_agent = (struct record_text){ bytes, HTTP_LOG_AGENT_MAX };
	request.referer = (struct record_text){ bytes, HTTP_LOG_REFERER_MAX };
	memset(facts.name, 0xff, sizeof(facts.name) - 1);
	memset(facts.subject, 0xff, sizeof(facts.subject) - 1);
	facts.version = facts.cipher = "x";
	facts.certificate = true;
	record.client_tls = &facts;
	record.sni = facts.name;
	line = line_in(RECORD_REQUEST, "json", true);
	ck_assert_uint_gt(strlen(line), 4096 + 6 * (256 + 512 + 1024 + 510));
	ck_assert_int_eq(line[strlen(line) - 1], '}');
}
END_TEST

SUITE(test_log_format)
{
	Suite *s = suite_create("log_format");

	SUITE_ADD(s, logfmt, 10);
	SUITE_ADD(s, nothing_known, 10);
	SUITE_ADD(s, hostile_names, 10);
	SUITE_ADD(s, hostile_paths, 10);
	SUITE_ADD(s, name_alone, 10);
	SUITE_ADD(s, flow, 10);
	SUITE_ADD(s, not_ascii, 10);
	SUITE_ADD(s, json, 10);
	SUITE_ADD(s, json_is_utf8, 10);
	SUITE_ADD(s, common, 10);
	SUITE_ADD(s, tried_servers_of_one_name, 10);
	SUITE_ADD(s, tried_servers, 10);
	SUITE_ADD(s, servers_with_the_port_of_the_client, 10);
	SUITE_ADD(s, templates, 10);
	SUITE_ADD(s, mistakes, 10);
	SUITE_ADD(s, too_long, 10);
	SUITE_ADD_LOOP(s, too_long_before_a_special_value, 10, 3);
	SUITE_ADD_LOOP(s, request_line, 10,
	    (int)(sizeof(request_lines) / sizeof(request_lines[0])));
	SUITE_ADD(s, malformed_request, 10);
	SUITE_ADD(s, request_templates, 10);
	SUITE_ADD(s, equal_formats_are_one, 10);
	SUITE_ADD(s, longest_request, 10);
	return s;
}
