/* test_sni_path.c: the name that a TLS client asks for is part of no path. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/backend.h"
#include "support/certdir.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/tlspeer.h"
#include "support/wait.h"

static struct endpoint front;

static void
gets(const char *name, const char *whose)
{
	struct tls_wish w = { .sni = name };
	struct tls_peer *p = tls_peer_open(endpoint_connect(&front), &w);

	ck_assert_msg(p != NULL, "%s: %s", name, tls_peer_error());
	ck_assert_msg(strcmp(tls_peer_subject(p), whose) == 0, "\"%s\" got %s",
	    name, tls_peer_subject(p));
	tls_peer_expect_echo(p, "hello");
	tls_peer_close(p);
}

/* Certificates lie beside the directory, below it and where a link leads; each
 * is what a name would lead to, were it a path. */
START_TEST(sni_path)
{
	static const char *const names[] = { "../evil", "./../evil",
		"sub/../../evil", "sub/evil", "./a.test", "../d/a.test",
		"link/evil", "../../../../../../../../etc/passwd", "..", ".",
		"/", "../evil.pem", "../evil\n", "..\\evil", ".hidden",
		"%2e%2e/evil" };
	struct certdir dir;
	struct backend b;
	struct pen pen;
	size_t i;

	certdir_make(&dir, "d");
	ck_assert_int_eq(mkdir(certdir_file(&dir, "sub"), 0755), 0);
	certdir_put(&dir, "a.test.pem", "a.test");
	certdir_put(&dir, "../evil.pem", "evil");
	certdir_put(&dir, "sub/evil.pem", "evil");
	certdir_put(&dir, ".hidden.pem", "evil");
	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", "-E", cert_write_all(dir.first, "first.pem"),
	    "-O", text("ssl_sni_path %s", dir.path), front.text, b.at.text,
	    NULL);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		gets(names[i], "CN=first.test");
	gets(text("%s/../evil", dir.path), "CN=first.test");
	gets(text("%s/a.test", dir.path), "CN=first.test");
	gets("a.test", "CN=a.test");
	pen_down(&pen);
	backend_stop(&b);
	certdir_forget(&dir);
}
END_TEST

static bool
may_trace(void)
{
	const char *const argv[] = { "strace", "-o", "/dev/null", "true",
		NULL };
	struct child c;

	child_start(&c, argv);
	return child_wait(&c, 10000) == 0;
}

/* As the kernel sees it: nothing is opened or looked at by such a name. */
START_TEST(no_system_call)
{
	const char *trace = scratch("trace"), *calls;
	struct certdir dir;
	struct backend b;
	struct pen pen;

	NEED_PROGRAM("strace");
	if (!pen_is_plain() || !may_trace())
		SKIP("strace may not trace this");
	certdir_make(&dir, "d");
	certdir_put(&dir, "a.test.pem", "a.test");
	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	setenv("PEN_TEST_WRAPPER",
	    text("%s -D -q -e trace=%%file -o %s", child_find("strace"), trace),
	    1);
	pen_up(&pen, &front, "-r", "-E", cert_write_all(dir.first, "first.pem"),
	    "-O", text("ssl_sni_path %s", dir.path), "-O", "ssl_watch 0",
	    front.text, b.at.text, NULL);
	gets("../evil-name", "CN=first.test");
	gets("other-name.test", "CN=first.test");
	gets("a.test", "CN=a.test");
	pen_down(&pen);
	unsetenv("PEN_TEST_WRAPPER");
	WAIT_FOR(file_has(trace, "+++ exited"), 10000);
	calls = contents(trace);
	ck_assert_ptr_nonnull(strstr(calls, "first.pem"));
	ck_assert_ptr_null(strstr(calls, "evil-name"));
	ck_assert_ptr_null(strstr(calls, "other-name"));
	backend_stop(&b);
	certdir_forget(&dir);
}
END_TEST

SUITE(test_sni_path)
{
	Suite *s = suite_create("sni_path");

	SUITE_ADD(s, sni_path, 30);
	SUITE_ADD(s, no_system_call, 60);
	return s;
}
