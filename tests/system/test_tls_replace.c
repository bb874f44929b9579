/* test_tls_replace.c: certificates replaced while clients shake hands. */
#include "config.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <openssl/ssl.h>

#include "support/backend.h"
#include "support/certdir.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/tlspeer.h"
#include "support/wait.h"

enum { CLIENTS = 4, NAME_MAX_ = 40 };

static struct certdir dir;
static struct backend server;
static struct endpoint front;
static struct pen pen;

static void
begin(void)
{
	certdir_make(&dir, "d");
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
}

static void
end(void)
{
	pen_down(&pen);
	backend_stop(&server);
	certdir_forget(&dir);
}

/* ---- clients that go on and on, in threads: no assertions there ---- */

struct crowd {
	pthread_t thread[CLIENTS];
	atomic_bool stopping;
	atomic_long shaken, failed;
	char why[CLIENTS][128];
};

struct one {
	struct crowd *crowd;
	int number;
};

static const char *
talk(SSL *ssl)
{
	char c = 'x', name[] = "a.test";

	if (SSL_set_tlsext_host_name(ssl, name) != 1 || SSL_connect(ssl) != 1)
		return "handshake";
	if (SSL_write(ssl, &c, 1) != 1 || SSL_read(ssl, &c, 1) != 1)
		return "echo";
	return NULL;
}

static const char *
shake(SSL_CTX *ctx)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	SSL *ssl = SSL_new(ctx);
	const char *why = "out of memory";

	if (fd >= 0 && ssl != NULL && SSL_set_fd(ssl, fd) == 1) {
		endpoint_set_deadline(fd, 10000);
		why = connect(fd, (const struct sockaddr *)&front.addr,
			  front.len) == 0
		    ? talk(ssl)
		    : "connection";
	}
	SSL_free(ssl);
	if (fd >= 0)
		endpoint_reset(fd);
	return why;
}

static void *
run_client(void *arg)
{
	struct one one = *(struct one *)arg;
	struct crowd *c = one.crowd;
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	const char *why;

	if (one.number % 2 == 0)
		SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
	while (!c->stopping) {
		why = shake(ctx);
		c->shaken++;
		if (why == NULL)
			continue;
		c->failed++;
		snprintf(c->why[one.number], sizeof(c->why[0]), "%s", why);
	}
	SSL_CTX_free(ctx);
	OPENSSL_thread_stop();
	return NULL;
}

static void
crowd_start(struct crowd *c, struct one one[CLIENTS])
{
	int i;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < CLIENTS; i++) {
		one[i] = (struct one){ c, i };
		ck_assert_int_eq(
		    pthread_create(&c->thread[i], NULL, run_client, &one[i]),
		    0);
	}
}

static void
crowd_stop(struct crowd *c)
{
	int i;

	c->stopping = true;
	for (i = 0; i < CLIENTS; i++)
		pthread_join(c->thread[i], NULL);
	for (i = 0; i < CLIENTS; i++)
		ck_assert_msg(c->failed == 0, "%ld of %ld failed: %s",
		    (long)c->failed, (long)c->shaken, c->why[i]);
	ck_assert_int_gt(c->shaken, 0);
}

/* ---- certificates that come one after the other ---- */

enum kind { OF_ALL, OF_ALL_APART, BY_NAME, BY_NAME_APART, KINDS };

static const char *const cert_file[KINDS] = { "ordinary.pem", "ordinary.crt",
	"d/a.test.pem", "d/a.test.crt" };
static const char *const key_file[KINDS] = { NULL, "ordinary.key", NULL,
	"d/a.test.key" };

struct places {
	char cert[128], key[128], new[128];
};

static void
find_places(struct places *p, enum kind kind)
{
	snprintf(p->cert, sizeof(p->cert), "%s", scratch(cert_file[kind]));
	p->key[0] = '\0';
	if (key_file[kind] != NULL)
		snprintf(p->key, sizeof(p->key), "%s", scratch(key_file[kind]));
	snprintf(p->new, sizeof(p->new), "%s", scratch("renamed"));
}

/* A new certificate with a new key; with two files they differ for a while. */
static void
replace(const struct places *p, long number)
{
	char name[NAME_MAX_];
	struct cert *c;

	snprintf(name, sizeof(name), "n%ld.test", number);
	c = cert_new(&(struct cert_wish){ .name = name });
	if (p->key[0] == '\0') {
		cert_write_all(c, p->new);
	} else {
		cert_write_key(c, p->new);
		if (rename(p->new, p->key) < 0)
			ck_abort_msg("%s", p->key);
		if (number % 2 == 0)
			wait_nap();
		cert_write(c, p->new);
	}
	cert_free(c);
	if (rename(p->new, p->cert) < 0)
		ck_abort_msg("%s", p->cert);
}

static bool
serves(long number)
{
	struct tls_wish w = { .sni = "a.test" };
	struct tls_peer *p = tls_peer_open(endpoint_connect(&front), &w);
	char subject[NAME_MAX_];
	bool same;

	ck_assert_msg(p != NULL, "%s", tls_peer_error());
	snprintf(subject, sizeof(subject), "CN=n%ld.test", number);
	same = strcmp(tls_peer_subject(p), subject) == 0;
	tls_peer_close(p);
	return same;
}

static void
up(const struct places *p, enum kind kind)
{
	const char *ordinary = cert_write_all(dir.first, "first.pem");

	switch (kind) {
	case OF_ALL:
		pen_up(&pen, &front, "-r", "-E", p->cert, "-O",
		    "ssl_watch 0.01", front.text, server.at.text, NULL);
		break;
	case OF_ALL_APART:
		pen_up(&pen, &front, "-r", "-E", p->cert, "-K", p->key, "-O",
		    "ssl_watch 0.01", front.text, server.at.text, NULL);
		break;
	default:
		pen_up(&pen, &front, "-r", "-E", ordinary, "-O",
		    text("ssl_sni_path %s", dir.path), "-O", "ssl_watch 0.01",
		    front.text, server.at.text, NULL);
	}
}

/* No handshake fails meanwhile, and the last one is what is served. */
START_TEST(while_clients_come)
{
	enum kind kind = (enum kind)_i;
	long i, n = suite_amount(300, 50);
	struct one one[CLIENTS];
	struct crowd crowd;
	struct places p;

	begin();
	find_places(&p, kind);
	replace(&p, 0);
	up(&p, kind);
	ck_assert(serves(0));
	crowd_start(&crowd, one);
	for (i = 1; i <= n; i++) {
		replace(&p, i);
		if (i % 4 == 0)
			wait_nap();
	}
	WAIT_FOR(serves(n), 10000);
	crowd_stop(&crowd);
	printf("%s replaced %ld times, %ld handshakes\n", cert_file[kind], n,
	    (long)crowd.shaken);
	end();
}
END_TEST

/* Whoever is there stays, though the file be gone. */
START_TEST(sessions_stay)
{
	struct tls_wish w = { .sni = "a.test" };
	struct tls_peer *old, *first;
	struct places p;

	begin();
	find_places(&p, BY_NAME);
	replace(&p, 0);
	up(&p, BY_NAME);
	old = tls_peer_open(endpoint_connect(&front), &w);
	w.sni = NULL;
	first = tls_peer_open(endpoint_connect(&front), &w);
	ck_assert(old != NULL && first != NULL);
	ck_assert_str_eq(tls_peer_subject(old), "CN=n0.test");
	ck_assert_str_eq(tls_peer_subject(first), "CN=first.test");
	replace(&p, 1);
	WAIT_FOR(serves(1), 10000);
	tls_peer_expect_echo(old, "still here");
	ck_assert_int_eq(unlink(p.cert), 0);
	WAIT_FOR(!serves(1), 10000);
	snprintf(p.cert, sizeof(p.cert), "%s", scratch("first.pem"));
	replace(&p, 2);
	WAIT_FOR(serves(2), 10000);
	tls_peer_expect_echo(old, "still here");
	tls_peer_expect_echo(first, "so am I");
	ck_assert(tls_peer_half_close(old));
	tls_peer_expect_end(old);
	tls_peer_close(old);
	tls_peer_close(first);
	end();
}
END_TEST

SUITE(test_tls_replace)
{
	Suite *s = suite_create("tls_replace");
	TCase *c = tcase_create("while_clients_come");

	tcase_set_timeout(c, 100);
	tcase_add_loop_test(c, while_clients_come, 0, KINDS);
	suite_add_tcase(s, c);
	SUITE_ADD(s, sessions_stay, 30);
	return s;
}
