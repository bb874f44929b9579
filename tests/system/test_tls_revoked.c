/* test_tls_revoked.c: revocation lists, and clients that these refuse. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/tlschain.h"
#include "support/wait.h"

static struct tls_chain c;
static struct backend server;
static const char *dir;

/* A directory with the authority. */
static void
begin(void)
{
	tls_chain_begin(&c);
	dir = scratch("authorities");
	ck_assert_int_eq(mkdir(dir, 0755), 0);
	cert_write(c.ca, text("%s/root.pem", dir));
}

static void
up(const char *commands)
{
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	tls_chain_up(&c,
	    text("ssl_cert %s;ssl_ca_dir %s;%s", c.site, dir, commands),
	    server.at.text, NULL);
}

static void
down(void)
{
	tls_chain_down(&c);
	backend_stop(&server);
	tls_chain_end(&c);
}

/* An authority below `ca`, whose revocation list is empty. */
static struct cert *
authority(const struct cert *ca, const char *name)
{
	struct cert_wish wish = { .name = name, .is_ca = true };
	struct cert *below;

	wish.issuer = ca;
	below = cert_new(&wish);
	cert_write_crl(below, NULL, text("%s/%s.crl", dir, name));
	return below;
}

static struct cert *
client(const struct cert *issuer, struct tls_wish *w)
{
	struct cert_wish wish = { .name = "me", .for_client = true };
	struct cert *me;

	wish.issuer = issuer;
	me = cert_new(&wish);
	*w = (struct tls_wish){ .cert = cert_write_all(me, "me.pem") };
	w->key = w->cert;
	return me;
}

static bool
gets_through(const struct tls_wish *w)
{
	struct tls_peer *p = tls_peer_open(endpoint_connect(&c.front), w);
	char byte;
	bool good = p != NULL && tls_peer_write(p, "x", 1) &&
	    tls_peer_read(p, &byte, 1) == 1;

	tls_peer_close(p);
	return good;
}

static void
becomes_revoked(const struct tls_wish *w)
{
	tls_chain_tell(&c, "reload");
	WAIT_FOR(!gets_through(w), 10000);
	ck_assert_ptr_nonnull(
	    strstr(tls_chain_refused(&c, w), "certificate revoked"));
}

/* As openssl(1) writes lists: the directory stays as it was. */
START_TEST(revoked_in_place)
{
	struct tls_wish w;
	struct cert *me;

	begin();
	me = client(c.ca, &w);
	cert_write_crl(c.ca, NULL, text("%s/list.pem", dir));
	up("ssl_require");
	tls_chain_talks(&c, &w);
	cert_write_crl(c.ca, me, text("%s/list.pem", dir));
	becomes_revoked(&w);
	down();
	cert_free(me);
}
END_TEST

/* A CA's certificate and its list are often one file. */
START_TEST(list_in_the_file_of_its_authority)
{
	struct tls_wish w;
	struct cert *me;

	begin();
	me = client(c.ca, &w);
	cert_write_crl(c.ca, me, "list.pem");
	write_file(text("%s/root.pem", dir),
	    text("%s%s", contents(c.ca_file), contents(scratch("list.pem"))));
	up("ssl_require");
	ck_assert_ptr_nonnull(
	    strstr(tls_chain_refused(&c, &w), "certificate revoked"));
	down();
	cert_free(me);
}
END_TEST

/* Puts the beginning of a file in its place, at once. */
static void
cut(const char *path, size_t n)
{
	const char *beside = scratch("cut");

	write_file(beside, text("%.*s", (int)n, contents(path)));
	ck_assert_int_eq(rename(beside, path), 0);
}

/* As while it is copied: the one that was read stays in force. Files that have
 * no lists are none that are cut. */
START_TEST(list_that_is_cut)
{
	struct tls_wish w;
	struct cert *me;
	const char *list;

	begin();
	write_file(text("%s/README", dir), "Files:\n- lists");
	cert_write_key(c.ca, text("%s/root.key", dir));
	me = client(c.ca, &w);
	list = text("%s/list.pem", dir);
	cert_write_crl(c.ca, me, list);
	up("ssl_require");
	ck_assert_ptr_nonnull(
	    strstr(tls_chain_refused(&c, &w), "certificate revoked"));
	/* in its middle, in its first line */
	cut(list,
	    _i == 0 ? strlen(contents(list)) / 2 : strlen("-----BEGIN X509 C"));
	tls_chain_tell(&c, "reload");
	WAIT_FOR(child_has_said(&c.pen.child, "not replaced error="), 10000);
	ck_assert_msg(strstr(child_err(&c.pen.child), " list.pem: ") != NULL,
	    "%s", child_err(&c.pen.child));
	ck_assert_ptr_nonnull(
	    strstr(tls_chain_refused(&c, &w), "certificate revoked"));
	down();
	cert_free(me);
}
END_TEST

/* The second list of a file, which is cut in its first line. */
START_TEST(second_list_that_is_cut)
{
	struct cert *below;
	struct tls_wish w;
	const char *one, *both = scratch("both.pem");

	begin();
	below = authority(c.ca, "below");
	cert_free(client(c.ca, &w));
	one = contents(cert_write_crl(c.ca, NULL, "one.pem"));
	write_file(
	    both, text("%s%s", one, contents(text("%s/below.crl", dir))));
	up(text("ssl_crl %s;ssl_require", both));
	tls_chain_talks(&c, &w);
	cut(both, strlen(one) + 7);
	tls_chain_tell(&c, "reload");
	WAIT_FOR(child_has_said(&c.pen.child, "revocation list 2: "), 10000);
	down();
	cert_free(below);
}
END_TEST

/* Clients are refused then: that is said, at the start and when it comes. */
START_TEST(old_list)
{
	static const char said[] =
	    "revocation list has expired, certificates of its CA are invalid "
	    "issuer=\"/CN=";
	const char *list;
	struct tls_wish w;

	begin();
	cert_free(client(c.ca, &w));
	list = text("%s/list.pem", dir);
	cert_write_crl(c.ca, NULL, list);
	up(text("ssl_crl %s;ssl_require", list));
	tls_chain_talks(&c, &w);
	ck_assert_ptr_null(strstr(child_err(&c.pen.child), said));
	cert_write_old_crl(c.ca, list);
	tls_chain_tell(&c, "reload");
	WAIT_FOR(child_has_said(&c.pen.child, said), 10000);
	WAIT_FOR(!gets_through(&w), 10000);
	/* beside one that has not, it does not count */
	cert_write_crl(c.ca, NULL, text("%s/new.pem", dir));
	tls_chain_tell(&c, "reload");
	WAIT_FOR(gets_through(&w), 10000);
	tls_chain_down(&c);
	unlink(text("%s/new.pem", dir));
	tls_chain_up(&c,
	    text("ssl_cert %s;ssl_ca_dir %s;ssl_request", c.site, dir),
	    server.at.text, NULL);
	WAIT_FOR(child_has_said(&c.pen.child, said), 10000);
	/* clients without a certificate do not need it */
	tls_chain_down(&c);
	tls_chain_up(&c, text("ssl_cert %s;ssl_ca_dir %s", c.site, dir),
	    server.at.text, NULL);
	WAIT_FOR(gets_through(&w), 10000);
	ck_assert_ptr_null(strstr(child_err(&c.pen.child), said));
	down();
}
END_TEST

/* The list of the root is not needed. If it is there it counts. */
START_TEST(authority_revoked)
{
	struct cert *below;
	struct tls_wish w;

	begin();
	below = authority(c.ca, "below");
	cert_free(client(below, &w));
	up("ssl_require");
	tls_chain_talks(&c, &w);
	cert_write_crl(c.ca, below, text("%s/root.crl", dir));
	becomes_revoked(&w);
	down();
	cert_free(below);
}
END_TEST

static void
reports(const struct cert *issuer, const char *verified)
{
	struct tls_peer *p;
	struct tls_wish w;
	const char *answer;

	cert_free(client(issuer, &w));
	p = tls_chain_opens(&c, &w);
	tls_peer_expect_echo(p, "hello");
	answer = tls_chain_connection(&c);
	ck_assert_msg(strstr(answer, text("\"verified\":\"%s\"", verified)),
	    "not \"%s\": %s", verified, answer);
	tls_peer_close(p);
	tls_chain_counts(&c, "sessions", 0);
}

/* That a root has no list hides no other error, and is none. */
START_TEST(reported_without_list_of_root)
{
	struct cert_wish other = { .name = "other", .is_ca = true };
	struct cert *foreign, *below, *strange;

	begin();
	foreign = cert_new(&other);
	below = authority(c.ca, "below");
	strange = authority(foreign, "strange");
	up("ssl_request_any");
	reports(below, "ok");
	reports(strange, "unable to get local issuer certificate");
	down();
	cert_free(strange);
	cert_free(below);
	cert_free(foreign);
}
END_TEST

SUITE(test_tls_revoked)
{
	Suite *s = suite_create("tls_revoked");

	SUITE_ADD(s, revoked_in_place, 30);
	SUITE_ADD(s, list_in_the_file_of_its_authority, 30);
	SUITE_ADD_LOOP(s, list_that_is_cut, 30, 2);
	SUITE_ADD(s, second_list_that_is_cut, 30);
	SUITE_ADD(s, old_list, 30);
	SUITE_ADD(s, authority_revoked, 30);
	SUITE_ADD(s, reported_without_list_of_root, 30);
	return s;
}
