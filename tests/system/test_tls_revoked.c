/* test_tls_revoked.c: revocation lists, and clients that these refuse. */
#include "config.h"

#include <sys/stat.h>

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

SUITE(test_tls_revoked)
{
	Suite *s = suite_create("tls_revoked");

	SUITE_ADD(s, revoked_in_place, 30);
	return s;
}
