/* test_readme_tls.c: what README.md says of TLS. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/readme_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

#define MAKE_SITE                                            \
	"openssl req -x509 -nodes -newkey rsa:2048 -days 90" \
	" -subj /CN=localhost -keyout site.pem -out site.pem"

static void
file_has_both(void)
{
	ck_assert(file_has("site.pem", "PRIVATE KEY"));
	ck_assert(file_has("site.pem", "BEGIN CERTIFICATE"));
}

static void
clients_talk_tls(void)
{
	const char *page = fetch("https://localhost/", "--cacert", "site.pem",
	    "--connect-to", "localhost:443:front:443");

	ck_assert_int_eq(strncmp(page, "web", 3), 0);
}

static void
plain_http_is_redirected(void)
{
	const char *head = fetch("http://front/a?b", "--head");

	ck_assert_msg(
	    strstr(head, "\r\nLocation: https://front/a?b\r\n") != NULL, "%s",
	    head);
	clients_talk_tls();
	/* curl follows it there */
	head = fetch("http://localhost/", "--location", "--cacert", "site.pem",
	    "--connect-to", "localhost::front:");
	ck_assert_int_eq(strncmp(head, "web", 3), 0);
}

/* A server that talks TLS, with a certificate of its own for that name. */
static struct child *
tls_server(unsigned machine, const char *name)
{
	const char *pem = text("%s.pem", name);
	struct child *c;

	net_fixture_run(&readme_fixture, NET_FIXTURE_HOME, 60000, "openssl",
	    "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-subj",
	    text("/CN=%s", name), "-addext",
	    text("subjectAltName=DNS:%s", name), "-keyout", pem, "-out", pem,
	    NULL);
	c = machine_start(machine, "openssl", "s_server", "-accept", "443",
	    "-cert", pem, "-www", NULL);
	WAIT_FOR(machine_listens(NET_FIXTURE_SERVER + machine, 443) ||
		child_has_ended(c),
	    20000);
	ck_assert_msg(c->running, "%s", child_err(c));
	return c;
}

static struct child *imposter;

static void
one_tls_server_is_an_imposter(void)
{
	const char *path;

	tls_server(WEB1, "web1");
	imposter = tls_server(WEB2, "other");
	path = realpath("web1.pem", NULL);
	setenv("SSL_CERT_FILE", path, 1);
	unsetenv("SSL_CERT_DIR");
	free((char *)(uintptr_t)path);
}

static bool
was_refused(void)
{
	fetch("http://front/", "--interface", "10.0.0.101");
	return strstr(child_err(imposter), "alert") != NULL ||
	    strstr(child_out(imposter), "alert") != NULL;
}

static void
servers_are_verified(void)
{
	ck_assert_ptr_nonnull(strstr(fetch("http://front/"), "s_server"));
	WAIT_FOR(was_refused(), 20000);
}

static const char *
subject(const char *name)
{
	int status;
	const char *s = client_run(&status, "openssl", "s_client", "-connect",
	    "front:443", "-servername", name, NULL);

	s = strstr(s, "subject=");
	ck_assert_ptr_nonnull(s);
	return text("%.*s", (int)strcspn(s, "\n"), s);
}

static void
three_tls_servers(void)
{
	tls_server(WEB1, "web1");
	tls_server(WEB2, "web2");
	tls_server(THIRD, "mail1");
}

static void
by_name(void)
{
	const char *first = subject("www.example.org"),
		   *second = subject("shop.example.org");

	ck_assert_ptr_nonnull(strstr(first, "web"));
	ck_assert_ptr_nonnull(strstr(second, "web"));
	ck_assert_ptr_nonnull(strstr(subject("mail.example.net"), "mail1"));
}

static void
ssh_and_https(void)
{
	machine_serve(FOURTH, 22, backend_say, "SSH-2.0-gate\r\n");
	tls_server(WEB1, "web1");
}

static void
one_port(void)
{
	int fd = client_dial(
	    "10.0.0.100", "10.0.0.9", 443, "SSH-2.0-OpenSSH_9.9\r\n");

	ck_assert_str_eq(client_hears(fd), "SSH-2.0-gate\r\n");
	close(fd);
	ck_assert_ptr_nonnull(strstr(subject("www.example.org"), "web1"));
}

const struct example readme_tls[] = {
	{ .line = MAKE_SITE, .programs = "openssl", .check = file_has_both },
	{ .line = "pen -E site.pem 443 web1:80 web2:80",
	    .programs = "openssl",
	    .before = webs_up,
	    .after = MAKE_SITE,
	    .check = clients_talk_tls },
	{ .line = "pen -E site.pem -H --redirect-https 443 80,443 web1:80 "
		  "web2:80",
	    .programs = "openssl",
	    .before = webs_up,
	    .after = MAKE_SITE,
	    .check = plain_http_is_redirected },
	{ .line = "pen --upstream-tls 80 web1:443 web2:443",
	    .programs = "openssl",
	    .before = one_tls_server_is_an_imposter,
	    .check = servers_are_verified },
	{ .line = "pen 443 web1 web2 mail1 -O \"route sni *.example.org 0,1\" "
		  "-O \"route sni mail.example.net 2\"",
	    .programs = "openssl",
	    .before = three_tls_servers,
	    .check = by_name },
	{ .line = "pen 443 gate:22 web1:443 -O \"route protocol ssh 0\" "
		  "-O \"route default 1\"",
	    .programs = "openssl",
	    .before = ssh_and_https,
	    .check = one_port },
	{ .line = NULL },
};

README_SUITE(test_readme_tls, readme_tls)
