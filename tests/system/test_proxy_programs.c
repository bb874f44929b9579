/* test_proxy_programs.c: real programs read the PROXY headers that pen sends,
 * and pen reads those of a real proxy: whom they log is the client. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"
#include "system/mail.h"

enum { SOON = 30000 };

static struct endpoint front, ctl, at;
static struct child service;
static struct pen pen;

/* What clients come from: two addresses of IPv4, IPv6, a Unix socket. */
static struct endpoint front6, front_unix;

/* `server` behind pen, which tells it in this version. */
static void
up(int version, const char *server)
{
	bool six = endpoint_has_kind(ENDPOINT_TCP6);

	endpoint_new(&ctl, ENDPOINT_UNIX);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&front_unix, ENDPOINT_UNIX);
	if (six)
		endpoint_new(&front6, ENDPOINT_TCP6);
	pen_up(&pen, &front, "-r", "-C", ctl.text, "-O",
	    text("proxy_protocol %d", version),
	    text("%s,%s%s%s", front.text, front_unix.text, six ? "," : "",
		six ? front6.text : ""),
	    server, NULL);
}

static int
port_of(int fd)
{
	struct sockaddr_storage a;
	socklen_t len = sizeof(a);
	char service_[8];

	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	memcpy(service_, (char *)&a + 2, 2); /* in both families */
	return (unsigned char)service_[0] << 8 | (unsigned char)service_[1];
}

/* ---- web servers, which answer what they know of the client ---- */

static const char request[] = "GET / HTTP/1.0\r\nHost: x\r\n\r\n";

static void
answers(int fd, const char *what)
{
	const char *got;

	endpoint_send(fd, request, sizeof(request) - 1);
	got = endpoint_recv_all(fd);
	ck_assert_msg(strstr(got, what) != NULL, "no %s in %s", what, got);
	close(fd);
}

static void
web_clients(const char *unix_says)
{
	int fd = endpoint_connect_from(&front, "127.0.0.2");

	answers(fd,
	    text("client=127.0.0.2,%d to=127.0.0.1,%d", port_of(fd),
		front.port));
	if (endpoint_has_kind(ENDPOINT_TCP6)) {
		fd = endpoint_connect(&front6);
		answers(fd,
		    text("client=::1,%d to=::1,%d", port_of(fd), front6.port));
	}
	answers(endpoint_connect(&front_unix), unix_says);
}

START_TEST(nginx)
{
	struct nginx n;

	NEED_PROGRAM("nginx");
	nginx_up_with(&n,
	    "client=$proxy_protocol_addr,$proxy_protocol_port "
	    "to=$proxy_protocol_server_addr,$proxy_protocol_server_port",
	    "proxy_protocol", "");
	up(_i + 1, n.at.text);
	web_clients(_i == 0 ? "client=127.0.0.1," : "client=, to=,");
	pen_down(&pen);
	nginx_down(&n);
}
END_TEST

static void
haproxy_start(const char *rest)
{
	const char *conf = scratch("haproxy.conf");

	write_file(conf,
	    text("global\n  log stdout format raw local0\n"
		 "defaults\n  mode http\n  timeout connect 20s\n"
		 "  timeout client 20s\n  timeout server 20s\n%s",
		rest));
	child_start(&service,
	    (const char *[]){
		child_find("haproxy"), "-db", "-f", conf, NULL });
	WAIT_FOR(child_has_ended(&service) || endpoint_is_listening(&at), SOON);
	ck_assert_msg(
	    service.running, "haproxy: %s", child_err(&service));
}

START_TEST(haproxy)
{
	NEED_PROGRAM("haproxy");
	endpoint_new(&at, ENDPOINT_TCP4);
	haproxy_start(text(
	    "frontend f\n  bind %s accept-proxy\n"
	    "  http-request return status 200 content-type text/plain "
	    "lf-string \"client=%%[src],%%[src_port] to=%%[dst],%%[dst_port] "
	    "id=%%[fc_pp_unique_id].\"\n",
	    at.text));
	up(_i + 1, at.text);
	web_clients("client=127.0.0.1,");
	if (_i == 1) {
		int fd = endpoint_connect(&front);
		const char *got, *id;

		endpoint_send(fd, request, sizeof(request) - 1);
		got = endpoint_recv_all(fd);
		id = strstr(got, "id=");
		ck_assert_ptr_nonnull(id);
		ck_assert_uint_eq(strspn(id + 3, "0123456789abcdef"), 16);
		close(fd);
	}
	pen_down(&pen);
	child_stop(&service, SIGTERM);
}
END_TEST

/* ---- mail, where the server speaks first ---- */

static void
hears(int fd, const char *what)
{
	char got[256];

	ck_assert_uint_lt(strlen(what), sizeof(got));
	endpoint_set_deadline(fd, SOON);
	endpoint_recv(fd, got, strlen(what));
	ck_assert_int_eq(memcmp(got, what, strlen(what)), 0);
}

/* A client that waits for the greeting, and who the log says that it is. */
static void
greeted(const struct endpoint *from, const char *ip, const char *greeting,
    const char *logged)
{
	int fd = from == &front ? endpoint_connect_from(from, ip)
				: endpoint_connect(from);

	hears(fd, greeting);
	endpoint_send(fd, "QUIT\r\n", 6);
	close(fd);
	WAIT_FOR(strstr(child_out(&service), logged) != NULL ||
		strstr(child_err(&service), logged) != NULL,
	    SOON);
}

START_TEST(postfix)
{
	const char *lacks = postfix_lacks();

	if (lacks != NULL)
		SKIP(lacks);
	endpoint_new(&at, ENDPOINT_TCP4);
	postfix_up(
	    &service, &at, "smtpd_upstream_proxy_protocol = haproxy\n");
	up(_i + 1, at.text);
	greeted(&front, "127.0.0.2", "220 mail.test ESMTP",
	    "connect from unknown[127.0.0.2]");
	if (endpoint_has_kind(ENDPOINT_TCP6))
		greeted(&front6, NULL, "220 mail.test ESMTP", "[::1]");
	greeted(&front_unix, NULL, "220 mail.test ESMTP", "[127.0.0.1]");
	/* checks of health are heard, too */
	endpoint_ask(&ctl, "check_interval 0.2;check expect '220 mail.test'\n");
	WAIT_FOR(
	    strstr(endpoint_ask(&ctl, "checks\n"), "result ok") != NULL, SOON);
	pen_down(&pen);
	postfix_down(&service, &at);
}
END_TEST

static const char behind_proxy[] =
    "haproxy_trusted_networks = 127.0.0.0/8\n"
    "service imap-login {\n  inet_listener imap {\n    haproxy = yes\n  }\n}\n";

START_TEST(dovecot)
{
	const char *lacks = dovecot_lacks();

	if (lacks != NULL)
		SKIP(lacks);
	endpoint_new(&at, ENDPOINT_TCP4);
	dovecot_up(&service, &at, behind_proxy);
	up(_i + 1, at.text);
	greeted(&front, "127.0.0.2", "* OK ", "rip=127.0.0.2");
	if (endpoint_has_kind(ENDPOINT_TCP6))
		greeted(&front6, NULL, "* OK ", "rip=::1");
	greeted(&front_unix, NULL, "* OK ", "rip=127.0.0.1");
	pen_down(&pen);
	child_stop(&service, SIGTERM);
}
END_TEST

/* ---- a proxy in front of pen ---- */

/* haproxy -> pen -> nginx: the address goes through both, and pen's own log has
 * it. */
START_TEST(behind_haproxy)
{
	static const char *const sends[] = { "send-proxy", "send-proxy-v2",
		"send-proxy-v2 proxy-v2-options unique-id,crc32c" };
	const char *log = scratch("sessions");
	struct nginx n;
	int fd;

	NEED_PROGRAM("haproxy");
	NEED_PROGRAM("nginx");
	nginx_up_with(&n, "client=$proxy_protocol_addr,$proxy_protocol_port",
	    "proxy_protocol", "");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-C", ctl.text, "-O", "proxy_protocol 1",
	    "-O", "acl edge permit 127.0.0.1", "-O", "accept_proxy edge", "-O",
	    text("session_log %s", log), front.text, n.at.text, NULL);
	endpoint_new(&at, ENDPOINT_TCP4);
	haproxy_start(text("listen l\n  mode tcp\n  bind %s\n"
			   "  unique-id-format %%ci-%%cp\n"
			   "  server s %s check inter 200ms %s\n",
	    at.text, front.text, sends[_i]));
	fd = endpoint_connect_from(&at, "127.0.0.2");
	answers(fd, text("client=127.0.0.2,%d", port_of(fd)));
	WAIT_FOR(file_has(log, "client=127.0.0.2:"), SOON);
	ck_assert_ptr_nonnull(strstr(
	    endpoint_ask(&ctl, "statistics\n"), "closed_proxy_invalid 0\n"));
	pen_down(&pen);
	child_stop(&service, SIGTERM);
	nginx_down(&n);
}
END_TEST

SUITE(test_proxy_programs)
{
	Suite *s = suite_create("proxy_programs");
	TCase *loops = tcase_create("versions");

	tcase_set_timeout(loops, 120);
	tcase_add_loop_test(loops, nginx, 0, 2);
	tcase_add_loop_test(loops, haproxy, 0, 2);
	tcase_add_loop_test(loops, postfix, 0, 2);
	tcase_add_loop_test(loops, dovecot, 0, 2);
	tcase_add_loop_test(loops, behind_haproxy, 0, 3);
	suite_add_tcase(s, loops);
	return s;
}
