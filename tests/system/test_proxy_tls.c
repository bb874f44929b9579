/* test_proxy_tls.c: PROXY headers and TLS: in front of the handshake on either
 * side, and what servers are told of the client's. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/nginx.h"
#include "support/suite.h"
#include "support/tlschain.h"
#include "support/wait.h"

#define LINE "PROXY TCP4 192.0.2.1 192.0.2.2 40000 443\r\n"

static struct tls_chain c;
static struct backend server;

/* ---- what servers are told ---- */

static bool
has(const char *bytes, size_t n, const char *what, size_t size)
{
	size_t i;

	for (i = 0; i + size <= n; i++)
		if (memcmp(bytes + i, what, size) == 0)
			return true;
	return false;
}

#define TOLD(what) ck_assert(has(bytes, n, what, sizeof(what) - 1))

/* The server gives back the header. */
static size_t
read_header(struct tls_peer *p, char bytes[1024])
{
	size_t n = 0, size = 16;
	ssize_t k;

	while (n < size) {
		k = tls_peer_read(p, bytes + n, size - n);
		ck_assert_int_gt(k, 0);
		n += (size_t)k;
		if (n == 16 && size == 16)
			size += (size_t)((unsigned char)bytes[14] << 8 |
			    (unsigned char)bytes[15]);
		ck_assert_uint_le(size, 1024);
	}
	return n;
}

START_TEST(fields_of_the_client)
{
	struct tls_wish w = { .sni = "a.test", .alpn = "h2,http/1.1" };
	char bytes[1024];
	struct tls_peer *p;
	size_t n;

	tls_chain_begin(&c);
	w.cert = w.key = tls_chain_cert(&c, "client.pem",
	    (struct cert_wish){ .name = "somebody", .for_client = true });
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	tls_chain_up(&c,
	    text("ssl_cert %s;ssl_ca_file %s;ssl_request;ssl_alpn "
		 "http/1.1;proxy_protocol 2",
		c.site, c.ca_file),
	    server.at.text, NULL);
	p = tls_chain_opens(&c, &w);
	n = read_header(p, bytes);
	TOLD("\1\0\x8http/1.1");
	TOLD("\2\0\6a.test");
	TOLD("\x21\0\7TLSv1.3");
	TOLD("\x22\0\x8somebody");
	TOLD("\x23\0\x16TLS_AES_256_GCM_SHA384");
	TOLD("\7\0\0\0\0\x21"); /* TLS, a certificate, which is good */
	tls_peer_expect_echo(p, "hello");
	tls_peer_close(p);
	w.cert = w.key = w.alpn = NULL;
	p = tls_chain_opens(&c, &w);
	n = read_header(p, bytes);
	TOLD("\1\0\0\0\1\x21"); /* TLS, none */
	ck_assert(!has(bytes, n, "somebody", 8));
	ck_assert(!has(bytes, n, "http/1.1", 8));
	tls_peer_close(p);
	tls_chain_down(&c);
	backend_stop(&server);
	tls_chain_end(&c);
}
END_TEST

/* ---- before the client's handshake ---- */

START_TEST(in_front_of_a_client)
{
	struct tls_wish w = { .sni = "a.test" };
	struct tls_peer *p;
	char got[sizeof(LINE)] = "";
	ssize_t k;
	size_t n;
	int fd;

	tls_chain_begin(&c);
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	tls_chain_up(&c,
	    text("ssl_cert %s;acl edge permit 127.0.0.1;accept_proxy "
		 "edge;proxy_protocol 1",
		c.site),
	    server.at.text, NULL);
	fd = endpoint_connect(&c.front);
	endpoint_send(fd, LINE, _i == 0 ? sizeof(LINE) - 1 : 20);
	if (_i == 1) {
		WAIT_FOR(strstr(tls_chain_ask(&c, "connections"), "hello") !=
			NULL,
		    5000);
		endpoint_send(fd, &LINE[20], sizeof(LINE) - 1 - 20);
	}
	p = tls_peer_open(fd, &w);
	ck_assert_ptr_nonnull(p);
	for (n = 0; n < sizeof(LINE) - 1; n += (size_t)k) {
		k = tls_peer_read(p, got + n, sizeof(LINE) - 1 - n);
		ck_assert_int_gt(k, 0);
	}
	ck_assert_str_eq(got, LINE);
	tls_peer_expect_echo(p, "hello");
	tls_peer_close(p);
	/* TLS without a header */
	ck_assert_ptr_null(tls_peer_open(endpoint_connect(&c.front), &w));
	tls_chain_counts(&c, "closed_proxy_invalid", 1);
	tls_chain_down(&c);
	backend_stop(&server);
	tls_chain_end(&c);
}
END_TEST

/* ---- before the handshake with a server ---- */

static struct tls_echo echo;
static backend_fn *talk_tls;
static atomic_int lines;

/* Takes the line; what is behind it is TLS. */
static void
line_first(struct backend *b, int fd)
{
	char head[6], byte = 0;

	if (recv(fd, head, 6, MSG_WAITALL) != 6 ||
	    memcmp(head, "PROXY ", 6) != 0)
		return;
	while (byte != '\n')
		if (recv(fd, &byte, 1, 0) != 1)
			return;
	lines++;
	talk_tls(b, fd);
}

START_TEST(in_front_of_a_server)
{
	int fd, i;

	tls_chain_begin(&c);
	tls_echo_start(&echo, c.site, c.site, NULL);
	talk_tls = echo.backend.serve;
	echo.backend.serve = line_first;
	tls_chain_up(&c,
	    text("ssl_upstream;ssl_upstream_ca %s;proxy_protocol 1%s",
		c.ca_file, _i == 0 ? "" : ";idlers 2"),
	    echo.backend.at.text, NULL);
	for (i = 0; i < 4; i++) { /* later ones resume */
		fd = endpoint_connect(&c.front);
		endpoint_expect_echo(fd, "hello");
		close(fd);
	}
	ck_assert_int_eq(lines, 4);
	(void)tls_chain_ask(&c, "check_interval 0.2;check tls");
	WAIT_FOR(strstr(tls_chain_ask(&c, "checks"), "result ok") != NULL,
	    10000);
	tls_chain_down(&c);
	tls_echo_stop(&echo);
	tls_chain_end(&c);
}
END_TEST

/* nginx with TLS behind. */
START_TEST(nginx_over_tls)
{
	struct nginx n;
	const char *got;
	int fd;

	NEED_PROGRAM("nginx");
	tls_chain_begin(&c);
	nginx_up_with(&n,
	    "client=$proxy_protocol_addr",
	    "ssl proxy_protocol",
	    text("ssl_certificate %s; ssl_certificate_key %s;", c.site,
		c.site));
	tls_chain_up(&c,
	    text("ssl_upstream;ssl_upstream_ca %s;proxy_protocol 2", c.ca_file),
	    n.at.text, NULL);
	fd = endpoint_connect_from(&c.front, "127.0.0.2");
	endpoint_send(fd, "GET / HTTP/1.0\r\n\r\n", 18);
	got = endpoint_recv_all(fd);
	ck_assert_msg(strstr(got, "client=127.0.0.2") != NULL, "%s", got);
	close(fd);
	tls_chain_down(&c);
	nginx_down(&n);
	tls_chain_end(&c);
}
END_TEST

SUITE(test_proxy_tls)
{
	Suite *s = suite_create("proxy_tls");
	TCase *loops = tcase_create("loops");

	tcase_set_timeout(loops, 60);
	tcase_add_loop_test(loops, in_front_of_a_client, 0, 2);
	tcase_add_loop_test(loops, in_front_of_a_server, 0, 2);
	suite_add_tcase(s, loops);
	SUITE_ADD(s, fields_of_the_client, 30);
	SUITE_ADD(s, nginx_over_tls, 60);
	return s;
}
