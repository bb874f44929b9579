/* test_spec.c: the addresses of the command line, good and bad. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "control/value/spec.h"
#include "support/suite.h"

static struct listen_list list;
static struct server_plan spec;
static struct error e;

static void
listens(const char *from, const char *wanted)
{
	char out[ADDR_TEXT_MAX], all[1024] = "";
	unsigned i;

	listen_list_fini(&list);
	ck_assert_msg(spec_parse_listen(&list, from, RESOLVE_NAMES, &e) == 0,
	    "%s", e.text);
	for (i = 0; i < list.count; i++) {
		strcat(all, i > 0 ? " " : "");
		strcat(all, addr_format(&list.entry[i].at, out));
		strcat(all, list.entry[i].v6_only ? "!" : "");
	}
	ck_assert_str_eq(all, wanted);
}

static void
refuses(const char *from, const char *why)
{
	listen_list_fini(&list);
	ck_assert_int_eq(spec_parse_listen(&list, from, RESOLVE_NAMES, &e), -1);
	ck_assert_msg(strstr(e.text, why) != NULL && strstr(e.text, from),
	    "%s: %s", from, e.text);
}

START_TEST(listening)
{
	listens("80", "0.0.0.0:80");
	listens("smtp", "0.0.0.0:25");
	listens("127.0.0.1:81", "127.0.0.1:81");
	listens("*:81", "0.0.0.0:81");
	listens(":81", "0.0.0.0:81");
	listens("::1:2222", "[::1]:2222");
	listens("[::1]:2222", "[::1]:2222");
	listens(":::2222", "[::]:2222");
	listens("[::]:80,0.0.0.0:80,/run/pen.sock",
	    "[::]:80! 0.0.0.0:80 /run/pen.sock");
	listens("[::]:80,0.0.0.0:81", "[::]:80 0.0.0.0:81");
	listens("./ssh", "./ssh");
	listens("@name,8080", "@name 0.0.0.0:8080");
	listens("10.0.0.10:0", "10.0.0.10:0"); /* all ports */
	listens("80+443", "0.0.0.0:80 0.0.0.0:443");
	listens("[::1]:80+smtp+8000-8002,81",
	    "[::1]:80 [::1]:25 [::1]:8000 [::1]:8001 [::1]:8002 0.0.0.0:81");
	listens("::1:65534-65535", "[::1]:65534 [::1]:65535");
	listens("80-80", "0.0.0.0:80");
	listens("http-alt", "0.0.0.0:8080");
}
END_TEST

START_TEST(bad_listening)
{
	refuses("65536", "out of range");
	refuses("", "not a valid port");
	refuses("80,", "not a valid port");
	refuses("no-such-service-at-all", "not a valid port or service name");
	refuses("@", "not a path");
	refuses("80+", "not a valid port");
	refuses("+80", "not a valid port");
	refuses("80++81", "not a valid port");
	refuses("80-", "not a valid port");
	refuses("-80", "not a valid port");
	refuses("90-80", "the first is higher than the last");
	refuses("0-80", "out of range");
	refuses("80-65536", "out of range");
	refuses("1-1024,70", "more than 1024");
	refuses("1-1025", "more than 1024");
}
END_TEST

START_TEST(default_port)
{
	listens("/x,@y,127.0.0.1:70,80", "/x @y 127.0.0.1:70 0.0.0.0:80");
	ck_assert_int_eq(spec_default_port(&list), 70);
	listens("/x", "/x");
	ck_assert_int_eq(spec_default_port(&list), 0);
	listens("/x,10.0.0.10:0", "/x 10.0.0.10:0");
	ck_assert_int_eq(spec_default_port(&list), SPEC_ANY_PORT);
}
END_TEST

static void
serves(const char *from, const char *at, uint64_t soft, uint64_t hard,
    unsigned weight, int prio)
{
	char out[SPEC_TEXT_MAX];

	ck_assert_msg(
	    spec_parse_server(&spec, from, 99, &e) == 0, "%s", e.text);
	ck_assert_str_eq(spec_format_server(&spec, out), at);
	ck_assert_uint_eq(spec.set.soft, soft);
	ck_assert_uint_eq(spec.set.hard, hard);
	ck_assert_uint_eq(spec.set.weight, weight);
	ck_assert_int_eq(spec.set.prio, prio);
	free(spec.host);
}

START_TEST(servers)
{
	serves("10.0.0.1", "10.0.0.1:99", 0, 0, 0, 0);
	serves("10.0.0.1:80", "10.0.0.1:80", 0, 0, 0, 0);
	serves("10.0.0.1:smtp:1:2:3:4", "10.0.0.1:25", 1, 2, 3, 4);
	serves("10.0.0.1:80:5", "10.0.0.1:80", 5, 0, 0, 0);
	serves("10.0.0.1:::7", "10.0.0.1:99", 0, 7, 0, 0);
	serves("[::1]:80:1:2:3:4", "[::1]:80", 1, 2, 3, 4);
	serves("[::1]", "[::1]:99", 0, 0, 0, 0);
	serves("::1", "[::1]:99", 0, 0, 0, 0);
	serves("/run/x", "/run/x", 0, 0, 0, 0);
	serves("@x", "@x", 0, 0, 0, 0);
}
END_TEST

static void
limits(const char *from, const char *out)
{
	char at[SPEC_TEXT_MAX];

	ck_assert_msg(spec_parse_server(&spec, from, SPEC_ANY_PORT, &e) == 0,
	    "%s", e.text);
	ck_assert_uint_eq(spec.port, 0);
	ck_assert_str_eq(spec_format_limits(&spec, at), out);
	free(spec.host);
}

START_TEST(servers_of_all_ports)
{
	limits("10.0.0.1", "10.0.0.1");
	limits("10.0.0.1:0", "10.0.0.1:0");
	limits("10.0.0.1:0:1:2:3:4", "10.0.0.1:0:1:2:3:4");
	limits("10.0.0.1::::3", "10.0.0.1:0:0:0:3:0");
	limits("[::1]:0:0:0:3", "[::1]:0:0:0:3:0");
	limits("/run/x", "/run/x");
}
END_TEST

static void
bad(const char *from, uint16_t port, const char *why)
{
	ck_assert_int_eq(spec_parse_server(&spec, from, port, &e), -1);
	free(spec.host);
	ck_assert_msg(strstr(e.text, why) != NULL && strstr(e.text, from),
	    "%s: %s", from, e.text);
}

START_TEST(bad_servers)
{
	bad("hostA:99999", 80,
	    "server \"hostA:99999\": port out of range "
	    "1..65535");
	bad("10.0.0.1:65536", 80, "out of range");
	bad("10.0.0.1:80:x", 80, "soft limit \"x\" is not a number");
	bad("10.0.0.1:80:1:2:65536", 80, "weight out of range");
	bad("10.0.0.1:80:1:2:3:4:5", 80, "too many fields");
	bad("10.0.0.1", 0, "no port");
	bad("[::1", 80, "missing ]");
	bad("[::1]80", 80, "brackets");
	bad(":80", 80, "no host");
	bad("", 80, "no host");
}
END_TEST

/* "[[5]" was host "[5", and printed as that no server. */
START_TEST(brackets_within_a_host)
{
	bad("[[5]", 80, "no host");
	bad("[[5]:80", 80, "no host");
	bad("a[5:80", 80, "no host");
	bad("a]5:80", 80, "no host");
}
END_TEST

START_TEST(a_socket_in_brackets)
{
	bad("[@]", 80, "no host");
	bad("[@name]:80", 80, "no host");
}
END_TEST

/* A name is as much a port as a number is. */
START_TEST(a_page_at_a_port_is_local)
{
	static const char *const ports[] = { "8080", "http-alt" };
	char out[ADDR_TEXT_MAX];
	struct addr at;
	size_t i;

	for (i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
		ck_assert_msg(
		    spec_parse_web(&at, ports[i], &e) == 0, "%s", e.text);
		ck_assert_str_eq(addr_format(&at, out), "127.0.0.1:8080");
	}
	/* the system would choose one, which nobody knows */
	ck_assert_int_eq(spec_parse_web(&at, "0", &e), -1);
	ck_assert_str_eq(e.text,
	    "listening address \"0\": port out of range 1..65535");
	ck_assert_int_eq(spec_parse_web(&at, "[::1]:0", &e), -1);
	ck_assert_int_eq(spec_parse_web(&at, "*:http-alt", &e), 0);
	ck_assert_str_eq(addr_format(&at, out), "0.0.0.0:8080");
}
END_TEST

SUITE(test_spec)
{
	Suite *s = suite_create("spec");

	SUITE_ADD(s, listening, 10);
	SUITE_ADD(s, bad_listening, 10);
	SUITE_ADD(s, default_port, 10);
	SUITE_ADD(s, servers, 10);
	SUITE_ADD(s, servers_of_all_ports, 30);
	SUITE_ADD(s, bad_servers, 30);
	SUITE_ADD(s, brackets_within_a_host, 30);
	SUITE_ADD(s, a_socket_in_brackets, 10);
	SUITE_ADD(s, a_page_at_a_port_is_local, 10);
	return s;
}
